package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Reverse plays a recording backwards.
var Reverse = tool.Add(Family, tool.Spec[ReverseInput, ReverseOutput]{
	Name:        "edit.reverse",
	Summary:     "Play a video or a sound backwards",
	Description: "Play a video backwards, its sound too, or a sound alone. It is turned in pieces, the last first, so that the memory it takes does not grow with the length. Exact to the frame; the edit map says where each time of the source went, and chapters go with it.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "reverse",
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"reverse", "areverse"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples:    []ReverseInput{{Input: "jump.mp4"}, {Input: "jump.mp4", NoAudio: true}},
	Names:       func(in ReverseInput) ReverseInput { in.Output = orNamed(in.Output, in.Input, "reverse", ""); return in },
	Plan:        planReverse,
	Interpret:   answerReverse,
})

// ReverseInput is the request.
type ReverseInput struct {
	Input   cutroom.InPath `json:"input" doc:"The recording."`
	NoAudio bool           `json:"no_audio,omitempty" doc:"Leave the sound out."`
	Encoding
	tool.Writing
}

// ReverseOutput is the answer.
type ReverseOutput struct {
	tool.Made
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
}

func planReverse(f tool.Facts, in ReverseInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, in.Encoding, in.NoAudio)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.NoAudio {
		r.graph.Sound = nil
	}
	r.graph.Clips = []graph.Clip{{Reverse: true}}
	return r.plan(f)
}

func answerReverse(_ tool.Facts, _ ReverseInput, res tool.Results) (ReverseOutput, error) {
	out := ReverseOutput{}
	_, err := answered(&out.Made, res)
	out.Duration = lasting(&out.Made)
	return out, err
}
