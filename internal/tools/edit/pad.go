package edit

import (
	"cmp"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Pad puts black and silence before and behind a recording.
var Pad = tool.Add(Family, tool.Spec[PadInput, PadOutput]{
	Name:        "edit.pad",
	Summary:     "Show a colour before or behind a video",
	Description: "Show a colour, black without one, before a video, behind it, or both: a head or a tail without sound. A sound alone is held back, or lengthened. In the form of the recording: size, rate, tracks, layouts, high dynamic range. Chapters move along; the edit map says where the recording begins now.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "pad",
	Timeout:     1800 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []PadInput{
		{Input: "talk.mp4", Start: cutroom.Second, End: 2 * cutroom.Second},
		{Input: "talk.mp4", End: 5 * cutroom.Second, Color: "#102030"},
	},
	Names:     func(in PadInput) PadInput { in.Output = orNamed(in.Output, in.Input, "pad", ""); return in },
	Plan:      planPad,
	Interpret: answerPad,
})

// PadInput is the request.
type PadInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording."`
	Start cutroom.Micros `json:"start,omitempty" min:"0" max:"3600" unit:"s" doc:"How long it shows before, to the nearest frame."`
	End   cutroom.Micros `json:"end,omitempty" min:"0" max:"3600" unit:"s" doc:"How long it shows behind."`
	Color string         `json:"color,omitempty" doc:"A name such as black or navy, or #RRGGBB; black without it."`
	Encoding
	tool.Writing
}

// Validate refuses what is no colour, and a call that asks for nothing.
func (in PadInput) Validate() error {
	if in.Start <= 0 && in.End <= 0 {
		return cutroom.Errorf(cutroom.Invalid, "nothing to do").WithHint("give start, end or both")
	}
	_, err := color("color", in.Color)
	return err
}

// PadOutput is the answer.
type PadOutput struct {
	tool.Made
	Begins   cutroom.Micros `json:"begins" unit:"s" doc:"Where the recording begins."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
}

func planPad(f tool.Facts, in PadInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, in.Encoding, in.Color != "")
	if err != nil {
		return tool.Plan{}, err
	}
	c, err := color("color", in.Color)
	if err != nil {
		return tool.Plan{}, err
	}
	fill := &graph.Fill{Colors: []string{cmp.Or(c, "black")}}
	if in.Start > 0 {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Fill: fill, Hold: in.Start})
	}
	r.graph.Clips = append(r.graph.Clips, graph.Clip{})
	if in.End > 0 {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Fill: fill, Hold: in.End})
	}
	return r.plan(f)
}

func answerPad(_ tool.Facts, _ PadInput, res tool.Results) (PadOutput, error) {
	out := PadOutput{}
	_, err := answered(&out.Made, res)
	out.Duration = lasting(&out.Made)
	if m := out.EditMap; m != nil && len(m.Segments) > 0 {
		out.Begins = m.Segments[0].Start
	}
	return out, err
}
