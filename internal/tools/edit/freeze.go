package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Freeze holds one frame of a video.
var Freeze = tool.Add(Family, tool.Spec[FreezeInput, FreezeOutput]{
	Name:        "edit.freeze",
	Summary:     "Hold a frame of a video for a while",
	Description: "Hold the frame that is on screen at a time. insert: the video becomes longer by as much, the frame shows in silence, then picture and sound go on where they stopped. replace: the length stays, the frame shows in place of what moves there, and the sound goes on under it. Exact to the frame; the edit map says what shows when.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "freeze",
	Timeout:     1800 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []FreezeInput{
		{Input: "talk.mp4", At: "2.5"},
		{Input: "talk.mp4", At: "00:01:02.5", Hold: 3 * cutroom.Second, Mode: "replace"},
	},
	Names:     func(in FreezeInput) FreezeInput { in.Output = orNamed(in.Output, in.Input, "freeze", ""); return in },
	Plan:      planFreeze,
	Interpret: answerFreeze,
})

// FreezeInput is the request.
type FreezeInput struct {
	Input cutroom.InPath `json:"input" doc:"The video."`
	At    cutroom.Moment `json:"at" doc:"The frame that is on screen then: seconds, hh:mm:ss.mmm or a timecode of the video."`
	Hold  cutroom.Micros `json:"hold,omitempty" min:"0.04" max:"3600" unit:"s" doc:"How long it is held, to the nearest frame; 2 without it."`
	Mode  string         `json:"mode,omitempty" enum:"insert,replace" default:"insert" doc:"insert: the video gets longer, and is silent meanwhile. replace: the length stays, and the sound goes on."`
	Encoding
	tool.Writing
}

// FreezeOutput is the answer.
type FreezeOutput struct {
	tool.Made
	At       cutroom.Micros `json:"at" unit:"s" doc:"Where the frame begins that was held."`
	Hold     cutroom.Micros `json:"hold" unit:"s" doc:"How long it is held."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
}

func planFreeze(f tool.Facts, in FreezeInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, in.Encoding, true)
	if err != nil {
		return tool.Plan{}, err
	}
	at, err := r.moment("at", in.At)
	if err != nil {
		return tool.Plan{}, err
	}
	hold := in.hold()
	until, held := at, graph.Clip{Start: at, Hold: hold}
	if in.Mode == "replace" {
		until = min(r.length, graph.OnFrame(r.file.Media, at+hold))
		if until < at+hold-r.step() {
			r.notes = append(r.notes, fmt.Sprintf("the video ends at %s s: the frame is held until then", r.length))
		}
		held = graph.Clip{Start: at, End: max(until, min(r.length, at+r.step())), Frozen: true}
	}
	if at > 0 {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{End: at})
	}
	r.graph.Clips = append(r.graph.Clips, held)
	if until < r.length {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Start: until})
	}
	return r.plan(f)
}

func (in FreezeInput) hold() cutroom.Micros {
	if in.Hold > 0 {
		return in.Hold
	}
	return 2 * cutroom.Second
}

func answerFreeze(_ tool.Facts, in FreezeInput, res tool.Results) (FreezeOutput, error) {
	out := FreezeOutput{}
	r, err := answered(&out.Made, res)
	if err != nil {
		return out, err
	}
	out.Duration = lasting(&out.Made)
	for _, c := range r.graph.Clips {
		switch {
		case c.Hold > 0:
			out.At, out.Hold = c.Start, c.Hold
		case c.Frozen:
			out.At, out.Hold = c.Start, c.End-c.Start
		}
	}
	return out, nil
}
