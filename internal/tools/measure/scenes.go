package measure

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/rhythm"
	"cutroom/internal/tool"
)

// Scenes finds where pictures change, how the camera moves, and where the beat lies.
var Scenes = tool.Add(Family, tool.Spec[ScenesInput, ScenesOutput]{
	Name:        "measure.scenes",
	Summary:     "Find scenes, dissolves and fades, camera moves, beats, loud moments and highlights",
	Description: "Find out how a recording moves in time, from one decode: hard cuts (flashes, pans and noise do not count), dissolves and fades with their start and end, how loud each scene is, and when asked how the camera moves in each, the beats of the music with a confidence, the loudest moments, how much is speech, and which stretches make good highlights. Can write the stretches as lines for edit.cut and a contact sheet with one frame of each scene.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Short:       "scenes",
	Timeout:     2 * time.Hour,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"scdet"}},
	Examples: []ScenesInput{
		{Input: "talk.mp4"},
		{Input: "talk.mp4", Highlights: 5, Target: 60 * cutroom.Second, EDL: "highlights.txt"},
		{Input: "talk.mp4", Beats: true, Shots: true, Speech: true, Sheet: "scenes.jpg"},
	},
	Plan:      planScenes,
	Interpret: readScenes,
})

// ScenesInput is the request.
type ScenesInput struct {
	Input     cutroom.InPath `json:"input" doc:"The recording."`
	Threshold float64        `json:"threshold,omitzero" min:"1" max:"100" default:"8" doc:"Least strength of a cut, 0 to 100. Of dark pictures less is enough, when the new one has nothing of the old."`
	Ratio     float64        `json:"ratio,omitzero" min:"1" max:"50" default:"3" doc:"How many times stronger than the frames around it a cut has to be."`
	MinScene  cutroom.Micros `json:"min_scene,omitzero" min:"0.02" max:"3600" default:"1" unit:"s" doc:"Least distance of a cut from the change before it."`

	Highlights int             `json:"highlights,omitzero" min:"0" max:"1000" doc:"How many highlights to choose; without it, none."`
	RankBy     string          `json:"rank_by,omitempty" enum:"audio,duration" default:"audio" doc:"What makes a highlight: audio takes the loudest scenes, duration the longest."`
	Target     cutroom.Micros  `json:"target,omitzero" min:"0" unit:"s" doc:"Length of all highlights together, at most. Needs highlights."`
	MaxScene   cutroom.Micros  `json:"max_scene,omitzero" min:"0.1" max:"86400" default:"15" unit:"s" doc:"Length of one highlight, at most: of a longer scene the loudest part is taken."`
	EDL        cutroom.OutPath `json:"edl,omitempty" cli:"flag" doc:"Write the highlights, or without any all scenes, to this file: one START-END line each, as edit.cut takes them."`

	Shots         bool            `json:"shots,omitempty" doc:"Say how the camera moves in each scene."`
	Beats         bool            `json:"beats,omitempty" doc:"Find the beats of the music."`
	BeatStep      cutroom.Micros  `json:"beat_step,omitzero" min:"0.004" max:"0.05" default:"0.01" unit:"s" doc:"How fine onsets are looked for."`
	BeatRange     string          `json:"beat_range,omitempty" default:"60-200" doc:"Slowest and fastest tempo in beats a minute, 30 to 300."`
	MinConfidence *float64        `json:"min_confidence,omitempty" min:"0" max:"1" doc:"Least confidence of the beats, 0 to 1; 0.5 without it. Below it none are given."`
	AudioPeaks    bool            `json:"audio_peaks,omitempty" doc:"List every moment that is louder than its surroundings."`
	Speech        bool            `json:"speech,omitempty" doc:"Say how much the sound is like speech, every 4 s."`
	AudioStream   int             `json:"audio_stream,omitzero" min:"0" max:"255" doc:"Which audio stream, counted from 0."`
	Sheet         cutroom.OutPath `json:"sheet,omitempty" cli:"flag" doc:"Write a contact sheet to this file, .jpg or .png: the middle frame of each scene. Of very many scenes, evenly chosen ones."`
	NoTimecode    bool            `json:"no_timecode,omitempty" doc:"No times below the pictures of the sheet."`
	Overwrite     bool            `json:"overwrite,omitempty" key:"-" doc:"Replace files that exist already."`
	DryRun        bool            `json:"dry_run,omitempty" key:"-" cli:"-" doc:"Answer what would run; nothing runs and nothing is written."`
	Limits        Limits          `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Intent is what the call says about writing.
func (in ScenesInput) Intent() tool.Writing {
	return tool.Writing{Overwrite: in.Overwrite, DryRun: in.DryRun}
}

// Bounds are the limits of the call.
func (in ScenesInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// Validate refuses ranges that are none and files that cannot be what they are called.
func (in ScenesInput) Validate() error {
	if _, err := in.tempi(); err != nil {
		return err
	}
	if in.Target > 0 && in.Highlights == 0 {
		return cutroom.Errorf(cutroom.Invalid, "target is given without highlights").WithHint("add highlights, or leave target out")
	}
	if in.Sheet != "" && sheetType(in.Sheet) == "" {
		return cutroom.Errorf(cutroom.Invalid, "the sheet is a JPEG or a PNG").WithHint("give it a name that ends in .jpg or .png")
	}
	return nil
}

// tempi reads the range of tempi.
func (in ScenesInput) tempi() (o rhythm.BeatOptions, err error) {
	if in.BeatRange == "" {
		return o, nil
	}
	low, high, ok := strings.Cut(strings.TrimSpace(in.BeatRange), "-")
	o.Low, err = strconv.ParseFloat(strings.TrimSpace(low), 64)
	high = strings.TrimSpace(high)
	if err == nil {
		o.High, err = strconv.ParseFloat(high, 64)
	}
	if !ok || err != nil || !(o.Low >= rhythm.SlowestTempo && o.High <= rhythm.FastestTempo && o.Low < o.High) {
		return o, cutroom.Errorf(cutroom.Invalid, "%q is no range of tempi", in.BeatRange).
			WithHint("write the slowest and the fastest in beats a minute, between %g and %g, like 60-200", rhythm.SlowestTempo, rhythm.FastestTempo)
	}
	return o, nil
}

// ScenesOutput is the answer.
type ScenesOutput struct {
	tool.Made
	Name            string           `json:"file" doc:"The recording, safe to show."`
	Duration        cutroom.Micros   `json:"duration" unit:"s" doc:"Length of the recording."`
	SceneCount      int              `json:"scene_count" doc:"Number of scenes."`
	Scenes          []Scene          `json:"scenes" doc:"The scenes, in order, without gaps. None when the recording has no moving pictures."`
	Transitions     []Transition     `json:"transitions" doc:"Every change that was found, the fades at the beginning and the end included."`
	AudioPeaks      []AudioPeak      `json:"audio_peaks" doc:"The loudest moments, at most 10, in order of time."`
	Highlights      []Highlight      `json:"highlights" doc:"The highlights, in order of time."`
	HighlightsTotal cutroom.Micros   `json:"highlights_total" unit:"s" doc:"Length of all highlights together."`
	HighlightsBy    string           `json:"highlights_rank_by,omitempty" doc:"What they were chosen by."`
	Shots           []Shot           `json:"shots,omitempty" doc:"How the camera moves in each scene, when asked for."`
	AudioPeaksDB    []AudioLevel     `json:"audio_peaks_db,omitempty" doc:"Every moment at least 6 dB louder than half of the 20 s around it, when asked for."`
	Speech          []SpeechRatio    `json:"speech,omitempty" doc:"How much the sound is like speech, when asked for. Silent stretches are left out."`
	Beats           []cutroom.Micros `json:"beats,omitempty" unit:"s" doc:"The beats, when asked for and found with enough confidence."`
	BeatGrid        *BeatGrid        `json:"beat_grid,omitempty" doc:"The tempo, when beats were asked for."`
	SheetScenes     int              `json:"sheet_scenes,omitempty" doc:"How many scenes are on the contact sheet."`
}

// Scene is a stretch of pictures between two changes.
type Scene struct {
	Index    int            `json:"index" min:"1" doc:"Number, from 1."`
	Start    cutroom.Micros `json:"start" unit:"s" doc:"First frame; of a gradual change its middle."`
	End      cutroom.Micros `json:"end" unit:"s" doc:"First frame of the next scene."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length."`
	Begins   string         `json:"begins" enum:"start,cut,dissolve,fade" doc:"How it begins."`
	RMS      *float64       `json:"audio_rms,omitempty" unit:"dBFS" doc:"Mean level of the sound; −120 for silence."`
	Peak     *float64       `json:"audio_peak,omitempty" unit:"dBFS" doc:"Largest sample."`
}

// Transition is how one picture gives way to another.
type Transition struct {
	Kind  string         `json:"kind" enum:"cut,dissolve,fade" doc:"cut: from one frame to the next. dissolve: both are seen together. fade: to black or white, from it, or through it."`
	Time  cutroom.Micros `json:"time" unit:"s" doc:"Where the new scene begins."`
	Start cutroom.Micros `json:"start" unit:"s" doc:"Where the change begins."`
	End   cutroom.Micros `json:"end" unit:"s" doc:"Where it ends; of a cut its start."`
	Score float64        `json:"score" min:"0" max:"100" doc:"Strength."`
	Edge  bool           `json:"edge,omitempty" doc:"A fade at the beginning or the end of the recording: it separates no scenes."`
}

// AudioPeak is a loud moment.
type AudioPeak struct {
	Time cutroom.Micros `json:"time" unit:"s" doc:"Its middle."`
	RMS  float64        `json:"rms" unit:"dBFS" doc:"Level of half a second."`
}

// AudioLevel is a loud moment.
type AudioLevel struct {
	Time  cutroom.Micros `json:"time" unit:"s" doc:"Its middle."`
	Level float64        `json:"level" unit:"dBFS" doc:"Level of half a second."`
}

// Highlight is a stretch that stands out.
type Highlight struct {
	Start    cutroom.Micros `json:"start" unit:"s" doc:"Start."`
	End      cutroom.Micros `json:"end" unit:"s" doc:"End."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length."`
}

// Shot is how the camera moves in a scene.
type Shot struct {
	Start    cutroom.Micros `json:"start" unit:"s" doc:"Start."`
	End      cutroom.Micros `json:"end" unit:"s" doc:"End."`
	Label    string         `json:"label" enum:"static,pan-left,pan-right,tilt-up,tilt-down,zoom-in,zoom-out,handheld,motion" doc:"Where the camera turns to. handheld: it moves to and fro. motion: the picture changes, and not as a whole."`
	Flow     float64        `json:"flow_magnitude" doc:"How fast the picture moves as a whole, in picture widths a second."`
	Activity float64        `json:"activity" min:"0" max:"1" doc:"Share of the change that the camera does not explain."`
}

// SpeechRatio is how much four seconds of sound are like speech.
type SpeechRatio struct {
	Time  cutroom.Micros `json:"time" unit:"s" doc:"Start of the 4 s."`
	Ratio float64        `json:"speech_music_ratio" min:"0" max:"1" doc:"0 is music or noise, 1 is speech: an estimate from pauses, syllables and frequencies."`
}

// BeatGrid is the tempo.
type BeatGrid struct {
	BPM        float64          `json:"bpm" doc:"Beats a minute; 0 when there is no beat."`
	Confidence float64          `json:"confidence" min:"0" max:"1" doc:"How sure that is: below 0.5 nothing should be cut by it."`
	Period     cutroom.Micros   `json:"period" unit:"s" doc:"Distance of the beats of the even grid that fits best."`
	Offset     cutroom.Micros   `json:"offset" unit:"s" doc:"First beat of that grid."`
	Spread     cutroom.Micros   `json:"spread" unit:"s" doc:"How far the beats lie off that grid: great when the tempo drifts."`
	Supported  []cutroom.Micros `json:"supported_beats" unit:"s" doc:"Beats at which something begins to sound."`
}

func planScenes(f tool.Facts, in ScenesInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	w, err := newWatching(&f, file, in)
	if err != nil {
		return tool.Plan{}, err
	}
	plan, err := tool.Follow(w.measure, w, w.takeFrames)
	if in.Sheet != "" {
		plan.Later = append(plan.Later, w.plannedFrames())
	}
	return plan, err
}

func readScenes(f tool.Facts, in ScenesInput, r tool.Results) (ScenesOutput, error) {
	w := r.State().(*watching)
	file, err := f.Named(in.Input)
	if err != nil {
		return ScenesOutput{}, err
	}
	out := w.answer()
	out.Name, out.Duration = file.Locator, file.Media.DurationSeconds
	for _, p := range w.measure.Signals().Problems {
		out.AddReason(p)
	}
	if in.EDL != "" {
		if _, err := r.Put("edl.txt", "text/plain", out.lines(), nil); err != nil {
			return out, err
		}
		if _, err := r.Deliver("edl.txt", "text/plain", "edl"); err != nil {
			return out, err
		}
	}
	if in.Sheet != "" {
		err = w.draw(&out, r)
	}
	return out, err
}

// lines are the highlights, or all scenes, as a cut list.
func (o *ScenesOutput) lines() []byte {
	var b strings.Builder
	if len(o.Highlights) > 0 {
		for _, h := range o.Highlights {
			fmt.Fprintf(&b, "%s-%s\n", h.Start, h.End)
		}
		return []byte(b.String())
	}
	for _, s := range o.Scenes {
		fmt.Fprintf(&b, "%s-%s\n", s.Start, s.End)
	}
	return []byte(b.String())
}

// Locate names the file of a recorded answer as this call does.
func (o *ScenesOutput) Locate(files []string) {
	if len(files) > 0 {
		o.Name = files[0]
	}
}
