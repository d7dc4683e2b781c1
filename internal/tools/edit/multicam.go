package edit

import (
	"cmp"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Multicam cuts between cameras that recorded one event.
var Multicam = tool.Add(Family, tool.Spec[MulticamInput, MulticamOutput]{
	Name:        "edit.multicam",
	Summary:     "Align cameras by their sound and cut between them",
	Description: "Cut between two or more cameras, phones and separate recorders of one event. They are aligned by their sound as measure.sync does, then the picture is switched by a list, every so many seconds, or to whoever is loudest; the sound is that of one of them throughout. Cameras are counted from 0, the reference, whose time and length count and which shows wherever another was not running. Without a confident match nothing is written. The cuts can be written out as a list, or as a project.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "multicam",
	Exclusive:   [][]string{{"switch", "auto", "energy", "offsets_only"}, {"offsets_only", "output"}, {"offsets_only", "edl"}, {"offsets_only", "write_project"}, {"offsets", "fix_drift"}},
	OneOf:       [][]string{{"switch", "auto", "energy", "offsets_only"}},
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.sync", "measure.probe", "review.look"},
	Examples: []MulticamInput{
		{Inputs: []cutroom.InPath{"wide.mp4", "close.mp4"}, Switch: []string{"0-4:0", "4-8:1"}},
		{Inputs: []cutroom.InPath{"wide.mp4", "close.mp4", "recorder.wav"}, Energy: true, Audio: 2, FixDrift: true},
		{Inputs: []cutroom.InPath{"wide.mp4", "close.mp4"}, OffsetsOnly: true},
	},
	Names: func(in MulticamInput) MulticamInput {
		if in.Output == "" && len(in.Inputs) > 0 && !in.OffsetsOnly {
			in.Output = tool.NameAfter(in.Inputs[0], "multicam", ".mp4")
		}
		return in
	},
	Plan:      planMulticam,
	Interpret: answerMulticam,
})

// MulticamInput is the request.
type MulticamInput struct {
	Inputs      []cutroom.InPath `json:"inputs" min:"2" max:"16" doc:"The cameras and recorders; the first is the reference, and has a picture."`
	Switch      []string         `json:"switch,omitempty" min:"1" max:"2000" doc:"Which camera shows when, in order: START-END:CAMERA on the reference's time. Camera 0 shows in between."`
	Auto        cutroom.Micros   `json:"auto,omitempty" min:"0.2" max:"3600" unit:"s" doc:"Show the cameras in turn, each for so long. Excludes switch and energy."`
	Energy      bool             `json:"energy,omitempty" doc:"Show whose sound is loudest, each on its own scale, in stretches of a quarter of a second. Excludes switch and auto."`
	MinShot     cutroom.Micros   `json:"min_shot,omitempty" min:"0.25" max:"600" unit:"s" doc:"Shortest shot of energy; 1.5 without it."`
	Audio       int              `json:"audio,omitempty" min:"0" max:"15" doc:"Whose sound is heard, counted from 0."`
	FixDrift    bool             `json:"fix_drift,omitempty" doc:"Correct the clock of that sound by resampling it in an exact ratio. Pictures are placed by the clock of each camera in any case."`
	OffsetsOnly bool             `json:"offsets_only,omitempty" doc:"Say how the recordings lie to each other; nothing is written."`
	EDL         cutroom.OutPath  `json:"edl,omitempty" doc:"Write the cuts to a text file, too: START-END lines as edit.cut takes them, the camera behind a #."`
	Project     cutroom.OutPath  `json:"write_project,omitempty" doc:"Write the cut as a project of edit.render to a .json file, too: to change it, or for an editing program (render with export_timeline)."`
	Offsets     []float64        `json:"offsets,omitempty" max:"15" unit:"s" doc:"Where on the reference's time each of the others begins, when it is known: nothing is listened to then."`
	MaxOffset   cutroom.Micros   `json:"max_offset,omitempty" min:"0" unit:"s" doc:"Largest offset that is accepted, either way; without it, any."`
	Analyze     cutroom.Micros   `json:"analyze_seconds,omitempty" min:"1" max:"900" unit:"s" doc:"How much of each recording is compared from its beginning on; 240 without it."`
	Width       int              `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width of the frame; the reference's without it."`
	Height      int              `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height of the frame."`
	FPS         float64          `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate, exact as in edit.fit; the reference's without it."`
	Fit         string           `json:"fit,omitempty" enum:"pad,crop,blur" default:"pad" doc:"How pictures of another shape get into the frame."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in MulticamInput) Validate() error {
	ways := count(len(in.Switch) > 0, in.Auto > 0, in.Energy)
	bad := func(hint, format string, args ...any) error {
		return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("%s", hint)
	}
	switch {
	case len(in.Inputs) < 2:
		return bad("name the reference, then the others", "there are no two recordings")
	case ways > 1:
		return bad("choose one of them", "switch, auto and energy exclude each other")
	case ways == 0 && !in.OffsetsOnly:
		return bad("give switch, auto or energy, or ask for offsets_only", "nothing says which camera shows when")
	case in.OffsetsOnly && (ways > 0 || in.Output != "" || in.EDL != "" || in.Project != ""):
		return bad("leave switch, auto, energy, edl, write_project and output out", "offsets_only writes nothing")
	case in.MinShot > 0 && !in.Energy:
		return bad("add energy, or leave min_shot out", "min_shot belongs to energy")
	case in.Audio >= len(in.Inputs):
		return bad("cameras are counted from 0", "audio names recording %d of %d", in.Audio, len(in.Inputs))
	case len(in.Offsets) > 0 && len(in.Offsets) != len(in.Inputs)-1:
		return bad("give one for each recording but the reference", "there are %d offsets for %d recordings", len(in.Offsets), len(in.Inputs)-1)
	case len(in.Offsets) > 0 && in.FixDrift:
		return bad("leave offsets out, so that the recordings are listened to", "the drift is not known when offsets are given")
	}
	for _, s := range in.Switch {
		if _, _, camera, err := parseShot(s); err != nil {
			return err
		} else if camera >= len(in.Inputs) {
			return bad("cameras are counted from 0, the reference", "%q names camera %d of %d", s, camera, len(in.Inputs))
		}
	}
	_, err := rate(in.FPS)
	return err
}

// MulticamOutput is the answer.
type MulticamOutput struct {
	tool.Made
	Offsets    []cutroom.Micros `json:"offsets_seconds" unit:"s" doc:"Where on the reference's time each recording begins; the reference's is 0."`
	Confidence []float64        `json:"confidence" doc:"How sure that is: from 0.6 on it is a match. 1 for the reference, and for offsets that were given."`
	Drift      []float64        `json:"drift_ppm" unit:"ppm" doc:"By how many millionths each recording's clock runs fast."`
	Mode       string           `json:"switch_mode,omitempty" enum:"list,auto,energy" doc:"How the cameras were switched."`
	MinShot    cutroom.Micros   `json:"min_shot,omitempty" unit:"s" doc:"Shortest shot of energy."`
	Cuts       []MulticamCut    `json:"cuts" doc:"Which camera shows when."`
}

// MulticamCut is one shot.
type MulticamCut struct {
	Start  cutroom.Micros `json:"start" unit:"s" doc:"Where it begins, on the reference's time and in the written file."`
	End    cutroom.Micros `json:"end" unit:"s" doc:"Where it ends."`
	Camera int            `json:"camera" doc:"Which camera shows."`
}

func planMulticam(f tool.Facts, in MulticamInput) (tool.Plan, error) {
	m := &cameras{in: in, facts: f}
	if err := m.open(); err != nil {
		return tool.Plan{}, err
	}
	return m.plan()
}

func answerMulticam(_ tool.Facts, in MulticamInput, res tool.Results) (MulticamOutput, error) {
	m := res.State().(*cameras)
	out := MulticamOutput{Cuts: []MulticamCut{}}
	for i := range m.files {
		out.Offsets = append(out.Offsets, cutroom.MicrosOf(m.matches[i].Offset))
		out.Confidence = append(out.Confidence, thousandth(m.matches[i].Confidence))
		out.Drift = append(out.Drift, thousandth(m.matches[i].Drift*1e6))
	}
	out.Notes = append(out.Notes, m.notes...)
	if in.OffsetsOnly {
		return out, nil
	}
	rows, err := m.verified()
	if err != nil {
		return out, err
	}
	if err := out.Rendered(res, m.render, m.target); err != nil {
		return out, err
	}
	out.Verified = append(out.Verified, rows...)
	out.Mode = map[bool]string{true: "list"}[len(in.Switch) > 0]
	switch {
	case in.Energy:
		out.Mode, out.MinShot = "energy", m.least()
	case in.Auto > 0:
		out.Mode = "auto"
	}
	for _, s := range m.shots {
		out.Cuts = append(out.Cuts, MulticamCut{s.from, s.to, s.camera})
	}
	if in.EDL != "" {
		if err := handOver(res, "cuts.txt", "text/plain; charset=utf-8", "edl", m.list()); err != nil {
			return out, err
		}
	}
	if in.Project == "" {
		return out, nil
	}
	p, away := m.project()
	for _, name := range away {
		out.Notes = append(out.Notes, fmt.Sprintf("the project looks for %s beside itself: it names no file of another folder", name))
	}
	text, err := projectJSON(p)
	if err != nil {
		return out, err
	}
	return out, handOver(res, projectFile, "application/json", "write_project", text)
}

// handOver delivers a text that goes beside the file.
func handOver(res tool.Results, name, mediaType, field string, text []byte) error {
	if _, err := res.Put(name, mediaType, text, nil); err != nil {
		return err
	}
	_, err := res.Deliver(name, mediaType, field)
	return err
}

// least is the shortest shot of energy.
func (m *cameras) least() cutroom.Micros { return cmp.Or(m.in.MinShot, 1_500_000) }
