package edit

import (
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Cut keeps parts of a recording.
var Cut = tool.Add(Family, tool.Spec[CutInput, CutOutput]{
	Name:        "edit.cut",
	Summary:     "Keep one or several parts of a recording, exact to the frame",
	Description: "Cut a part out of a recording, or keep several parts and join them in the order given. A cut is exact to the frame and copies what it can: only the frames between a cut and the nearest group of pictures are encoded anew, with the parameters of the source, and the result is compared with the source before it is published. Sound is exact to the sample, all tracks are kept. The answer says what was copied and encoded and has an edit map.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    3,
	Short:       "cut",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "psnr", When: "mode smart and copy: comparing with the source"},
	}},
	CheckWith: []string{"measure.probe"},
	Examples: []CutInput{
		{Input: "talk.mp4", Start: "2.5", End: "8.5"},
		{Input: "talk.mp4", Segments: []string{"10-25", "61.2-80"}},
		{Input: "talk.mp4", Start: "00:01:00:00", Duration: "30", Mode: "copy", Tolerance: new(-1.0)},
	},
	Names:     func(in CutInput) CutInput { in.Output = orNamed(in.Output, in.Input, "cut", ""); return in },
	Plan:      planCut,
	Interpret: answerCut,
})

// CutInput is the request.
type CutInput struct {
	Input         cutroom.InPath `json:"input" doc:"The recording."`
	Start         cutroom.Moment `json:"start,omitempty" doc:"Where the part begins: seconds, hh:mm:ss.mmm or a timecode of the recording. The beginning without it."`
	End           cutroom.Moment `json:"end,omitempty" doc:"Where it ends: the last frame is the last one that begins before. The end of the recording without it. Excludes duration."`
	Duration      cutroom.Moment `json:"duration,omitempty" doc:"How long the part is, in place of end."`
	Segments      []string       `json:"segments,omitempty" min:"1" max:"500" doc:"Parts to keep, each START-END, joined in the order given; END may be left out for the end of the recording. Excludes start, end and duration."`
	Mode          string         `json:"mode,omitempty" enum:"smart,accurate,copy" default:"smart" doc:"smart: exact to the frame, copies what it can. accurate: encodes everything. copy: encodes nothing, so that parts begin with a key frame; the answer says where."`
	Tolerance     *float64       `json:"tolerance,omitempty" min:"-1" max:"3600" unit:"s" rare:"true" doc:"Mode copy: how much earlier than asked a part may begin; 0.5 without it, -1 for any."`
	Snap          string         `json:"snap,omitempty" enum:"none,beats,scenes,silence" default:"none" doc:"Move each end to the nearest beat of the music, change of scene, or to the nearest silence; one that lies in a silence stays. The notes name each end that was not moved."`
	SnapTolerance cutroom.Micros `json:"snap_tolerance,omitempty" min:"0" max:"60" unit:"s" rare:"true" doc:"How far an end may be moved; 0.12 s for beats, 0.5 s otherwise."`
	MinConfidence *float64       `json:"min_confidence,omitempty" min:"0.01" max:"1" rare:"true" doc:"Snap to beats: the call fails when the beat is less sure; 0.5 without it."`
	Quality       int            `json:"quality,omitempty" min:"1" max:"51" rare:"true" doc:"Mode accurate: quality of the encoded picture on the scale of the codec (CRF), lower is better; 18 for H.264 without it."`
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in CutInput) Validate() error {
	bad := func(hint, format string, args ...any) error {
		return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("%s", hint)
	}
	switch {
	case in.End != "" && in.Duration != "":
		return bad("give one of them", "end and duration exclude each other")
	case len(in.Segments) > 0 && (in.Start != "" || in.End != "" || in.Duration != ""):
		return bad("write the part as another segment", "segments exclude start, end and duration")
	case len(in.Segments) == 0 && in.Start == "" && in.End == "" && in.Duration == "":
		return bad("give start, end, duration or segments", "nothing says which part is kept")
	case in.Quality > 0 && in.Mode != "accurate":
		return bad("add mode accurate, or leave quality out", "quality belongs to mode accurate: mode %s copies what it can", in.Mode)
	case in.Tolerance != nil && in.Mode != "copy":
		return bad("add mode copy, or leave tolerance out", "tolerance belongs to mode copy: mode %s is exact to the frame", in.Mode)
	case in.MinConfidence != nil && in.Snap != "beats":
		return bad("add snap beats, or leave it out", "min_confidence belongs to snap beats")
	case in.SnapTolerance > 0 && (in.Snap == "" || in.Snap == "none"):
		return bad("add snap, or leave it out", "snap_tolerance is given without snap")
	}
	return nil
}

// CutOutput is the answer.
type CutOutput struct {
	tool.Made
	Mode              string         `json:"mode" enum:"smart,accurate,copy" doc:"How the cut was made: accurate where a smart one was not possible."`
	Precision         string         `json:"precision" enum:"frame,sample,packet" doc:"How exact the ends are: to the frame of the picture, to the sample of the sound, or to what a packet holds."`
	Reencoded         bool           `json:"reencoded" doc:"Whether the whole picture, or all sound of a file without one, was encoded anew. false: packets were copied, but for the encoded_frames of the segments."`
	ReencodeReason    string         `json:"reencode_reason,omitempty" doc:"Why it was, or why a part was, where copying was wanted."`
	RequestedStart    cutroom.Micros `json:"requested_start" unit:"s" doc:"Where the first part was to begin, as asked for: snap may have moved it."`
	RequestedEnd      cutroom.Micros `json:"requested_end" unit:"s" doc:"Where the last part was to end, as asked for."`
	RequestedDuration cutroom.Micros `json:"requested_duration" unit:"s" doc:"Length of all parts that were asked for."`
	OutputDuration    cutroom.Micros `json:"output_duration" unit:"s" doc:"Length of the output."`
	DurationError     cutroom.Micros `json:"duration_error" unit:"s" doc:"What it has more than was asked for: whole frames cannot be cut."`
	Segments          []CutSegment   `json:"segments" doc:"The parts, in order of the output."`
	KeyframeSnapped   bool           `json:"keyframe_snapped" doc:"Mode copy: whether a part begins earlier than asked, with a key frame. Never so in the other modes."`
	NearestKeyframes  []KeyframePair `json:"nearest_keyframes,omitempty" doc:"For each part, the key frames around its beginning: what mode copy would begin with, and the frames up to the second of them are what mode smart encodes."`
	Lossless          string         `json:"lossless_alternative,omitempty" doc:"How to ask for nearly the same without encoding a frame at the beginning."`
	Snapped           []SnappedEnd   `json:"snap,omitempty" doc:"Ends that were moved by snap."`
}

// CutSegment is one part of the output.
type CutSegment struct {
	RequestedStart cutroom.Micros `json:"requested_start" unit:"s" doc:"Where it was to begin, as asked for."`
	RequestedEnd   cutroom.Micros `json:"requested_end" unit:"s" doc:"Where it was to end, as asked for."`
	Start          cutroom.Micros `json:"start" unit:"s" doc:"Time of its first frame in the recording."`
	End            cutroom.Micros `json:"end" unit:"s" doc:"End of its last frame there."`
	Frames         int            `json:"frames,omitempty" doc:"Frames of the picture."`
	Copied         int            `json:"copied_frames,omitempty" doc:"Those whose packets are the recording's."`
	Encoded        int            `json:"encoded_frames,omitempty" doc:"Those that were encoded anew."`
	Reason         string         `json:"reason,omitempty" doc:"Why none was copied."`
}

// KeyframePair are the key frames around a time.
type KeyframePair struct {
	Before *cutroom.Micros `json:"before,omitempty" unit:"s" doc:"The one at or before the beginning."`
	After  *cutroom.Micros `json:"after,omitempty" unit:"s" doc:"The next one."`
}

// SnappedEnd is one end of a part that was moved.
type SnappedEnd struct {
	From cutroom.Micros `json:"from" unit:"s" doc:"Where it was asked for."`
	To   cutroom.Micros `json:"to" unit:"s" doc:"Where it came to lie."`
}

// Brief says how the cut was made, and each part in a line.
func (o *CutOutput) Brief() []string {
	how := fmt.Sprintf("mode      %s, exact to the %s; %s s asked for", o.Mode, o.Precision, o.RequestedDuration)
	if o.ReencodeReason != "" {
		how += "; encoded because " + o.ReencodeReason
	}
	lines := []string{how}
	for _, s := range o.Snapped {
		lines = append(lines, fmt.Sprintf("snapped   %s → %s s", s.From, s.To))
	}
	for i, s := range o.Segments {
		line := fmt.Sprintf("part %-4d %s – %s s", i+1, s.Start, s.End)
		if s.Frames > 0 {
			line += fmt.Sprintf("  %d frames: %d copied, %d encoded", s.Frames, s.Copied, s.Encoded)
		}
		lines = append(lines, line)
	}
	if o.Lossless != "" {
		lines = append(lines, "or        "+o.Lossless)
	}
	return lines
}

func planCut(f tool.Facts, in CutInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	t, err := tool.Target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	c := &cutting{facts: f, in: in, file: file, target: t}
	if c.parts, err = in.parts(file.Media); err != nil {
		return tool.Plan{}, err
	}
	c.asked = slices.Clone(c.parts)
	return c.plan()
}

func answerCut(_ tool.Facts, in CutInput, r tool.Results) (CutOutput, error) {
	c, ok := r.State().(*cutting)
	if !ok {
		return CutOutput{}, fmt.Errorf("the plan was no cut")
	}
	out := CutOutput{Mode: in.Mode, Precision: "frame", ReencodeReason: c.why, Snapped: c.moved, Segments: []CutSegment{}}
	out.RequestedStart, out.RequestedEnd = c.asked[0].Start, c.end(c.asked[len(c.asked)-1])
	var moved cutroom.Micros // what snap made the output longer
	for i, p := range c.asked {
		out.RequestedDuration += c.end(p) - p.Start
		moved += c.end(c.parts[i]) - c.parts[i].Start - (c.end(p) - p.Start)
	}
	var err error
	if c.render != nil {
		err = c.encoded(&out)
	} else {
		err = c.copied(&out)
	}
	if err != nil {
		return out, err
	}
	out.OutputDuration = out.EditMap.Seconds
	out.DurationError = out.OutputDuration - out.RequestedDuration - moved
	out.Notes = append(out.Notes, c.notes...)
	_, err = r.Deliver(c.target.File, graph.MediaType(c.target.Container), "output")
	return out, err
}
