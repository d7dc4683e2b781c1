package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Loop repeats a recording.
var Loop = tool.Add(Family, tool.Spec[LoopInput, LoopOutput]{
	Name:        "edit.loop",
	Summary:     "Repeat a video or a sound, or play it there and back",
	Description: "Repeat a recording so many times, or until it is so long; boomerang plays each pass there and back, without showing the frames at the two turns twice. Frames are counted, so that picture and sound do not drift however often it is repeated. One encode; the edit map has every pass.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "loop",
	Timeout:     2 * time.Hour,
	Exclusive:   [][]string{{"times", "duration"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"loop", "aloop"}, Optional: []tool.Optional{
		{Filter: "reverse", When: "boomerang"}, {Filter: "areverse", When: "boomerang with sound"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []LoopInput{
		{Input: "waves.mp4", Times: 3},
		{Input: "waves.mp4", Duration: 30 * cutroom.Second, Boomerang: true, NoAudio: true},
	},
	Names:     func(in LoopInput) LoopInput { in.Output = orNamed(in.Output, in.Input, "loop", ""); return in },
	Plan:      planLoop,
	Interpret: answerLoop,
})

// LoopInput is the request.
type LoopInput struct {
	Input     cutroom.InPath `json:"input" doc:"The recording."`
	Times     int            `json:"times,omitempty" min:"1" max:"10000" doc:"How often it is played. Excludes duration."`
	Duration  cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"How long the result is; the last pass may be cut off. Excludes times."`
	Boomerang bool           `json:"boomerang,omitempty" doc:"Play each pass there and back; once without times and duration."`
	NoAudio   bool           `json:"no_audio,omitempty" doc:"Leave the sound out."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself, and a call that asks for nothing.
func (in LoopInput) Validate() error {
	switch {
	case in.Times > 0 && in.Duration > 0:
		return cutroom.Errorf(cutroom.Invalid, "times and duration exclude each other").WithHint("give one of them")
	case in.Duration == 0 && in.Times < 2 && !in.Boomerang:
		return cutroom.Errorf(cutroom.Invalid, "nothing to do").WithHint("give times from 2 on, duration, or boomerang")
	}
	return nil
}

// LoopOutput is the answer.
type LoopOutput struct {
	tool.Made
	Passes   float64        `json:"passes" doc:"How often it is played; a boomerang there and back is one."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
}

func planLoop(f tool.Facts, in LoopInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, in.Encoding, in.NoAudio)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.NoAudio {
		r.graph.Sound = nil
	}
	r.graph.Clips = []graph.Clip{{}}
	if in.Boomerang {
		step := r.step()
		if r.length < 3*step {
			return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the recording of %s s is too short to be played back", r.length).WithHint("give one of three frames or more")
		}
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Start: step, End: r.length - step, Reverse: true})
	}
	r.graph.Repeat = graph.Repeat{Times: in.Times, Length: in.Duration}
	if in.Duration > 0 && in.Duration < r.length {
		r.notes = append(r.notes, fmt.Sprintf("the recording is %s s long: less than one pass is played", r.length))
	}
	return r.plan(f)
}

func answerLoop(_ tool.Facts, _ LoopInput, res tool.Results) (LoopOutput, error) {
	out := LoopOutput{}
	r, err := answered(&out.Made, res)
	out.Duration = lasting(&out.Made)
	var once cutroom.Micros
	for _, c := range r.graph.Clips {
		once += c.Length(r.length)
	}
	if once > 0 {
		out.Passes = float64(int64(100*out.Duration.Seconds()/once.Seconds()+0.5)) / 100
	}
	return out, err
}
