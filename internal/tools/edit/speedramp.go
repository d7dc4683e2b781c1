package edit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Speedramp plays parts of a recording faster or slower.
var Speedramp = tool.Add(Family, tool.Spec[SpeedrampInput, SpeedrampOutput]{
	Name:        "edit.speedramp",
	Summary:     "Play parts of a recording faster or slower",
	Description: "Give parts of a recording a speed of their own; what lies between them plays as it was. START-END:2 plays a part in half the time, START-END:0.5 takes twice as long, START-END:1>4 gets faster from 1 to 4, evenly over the part. The pitch of the sound stays, unless it is to change with the speed as of a tape. Lengths are exact to the frame; the edit map has every part, of a changing speed each fifth of a second.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    2,
	Short:       "speedramp",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "atempo", When: "sound that keeps its pitch"}, {Filter: "minterpolate", When: "smooth"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []SpeedrampInput{
		{Input: "ride.mp4", Segments: []string{"4-6:0.25"}},
		{Input: "ride.mp4", Segments: []string{"0-10:4", "10-12:4>1"}, Pitch: "change"},
	},
	Names: func(in SpeedrampInput) SpeedrampInput {
		in.Output = orNamed(in.Output, in.Input, "ramp", "")
		return in
	},
	Plan:      planSpeedramp,
	Interpret: answerSpeedramp,
})

// SpeedrampInput is the request.
type SpeedrampInput struct {
	Input    cutroom.InPath `json:"input" doc:"The recording."`
	Segments []string       `json:"segments" min:"1" max:"18" doc:"Parts with their speeds, in order: START-END:SPEED, or START-END:FROM>TO for a speed that changes. END may be left out for the end of the recording. Speeds are 0.05 to 100."`
	Pitch    string         `json:"pitch,omitempty" enum:"keep,change" default:"keep" doc:"Whether the pitch of the sound stays, or changes with the speed."`
	Smooth   string         `json:"smooth,omitempty" enum:"blend,interpolate" rare:"true" doc:"Make frames in between where it gets slower: blended or with motion. Slow."`
	Encoding
	tool.Writing
}

// Validate refuses what is no part, and parts out of order.
func (in SpeedrampInput) Validate() error {
	for _, s := range in.Segments {
		if _, err := parseRamp(s); err != nil {
			return err
		}
	}
	return nil
}

// SpeedrampOutput is the answer.
type SpeedrampOutput struct {
	tool.Made
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
	Before   cutroom.Micros `json:"input_duration" unit:"s" doc:"Length of the recording."`
}

// ramp is one part as it was written.
type ramp struct {
	text, start, end string // end "": that of the recording
	from, to         float64
}

// parseRamp reads START-END:SPEED or START-END:FROM>TO. A timecode has colons itself: the
// last one counts.
func parseRamp(s string) (ramp, error) {
	bad := func(format string, args ...any) (ramp, error) {
		return ramp{}, cutroom.Errorf(cutroom.Invalid, "segment %q: %s", s, fmt.Sprintf(format, args...)).WithHint("write START-END:SPEED, such as 4-6:0.25, or START-END:FROM>TO")
	}
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return bad("it has no speed")
	}
	r := ramp{text: s}
	var ok bool
	if r.start, r.end, ok = strings.Cut(s[:i], "-"); !ok || strings.TrimSpace(r.start) == "" {
		return bad("it has no START-END")
	}
	r.start, r.end = strings.TrimSpace(r.start), strings.TrimSpace(r.end)
	from, to, both := strings.Cut(s[i+1:], ">")
	if !both {
		to = from
	}
	var err1, err2 error
	r.from, err1 = strconv.ParseFloat(strings.TrimSpace(from), 64)
	r.to, err2 = strconv.ParseFloat(strings.TrimSpace(to), 64)
	if err1 != nil || err2 != nil || !(r.from >= 0.05 && r.from <= 100 && r.to >= 0.05 && r.to <= 100) {
		return bad("a speed is a number from 0.05 to 100")
	}
	return r, nil
}

// speedOf is a speed as a ratio of whole numbers, to a thousandth.
func speedOf(x float64) ffmpeg.Rational {
	return ffmpeg.Rational{Num: max(1, int64(math.Round(x*1000))), Den: 1000}.Reduced()
}

func planSpeedramp(f tool.Facts, in SpeedrampInput) (tool.Plan, error) {
	r, err := retime(f, in.Input, in.Output, in.Encoding, in.Smooth != "")
	if err != nil {
		return tool.Plan{}, err
	}
	if r.graph.Picture != nil {
		r.graph.Picture.Smooth = in.Smooth
	}
	var at cutroom.Micros
	for _, s := range in.Segments {
		if at, err = r.ramped(s, at, in.Pitch == "change"); err != nil {
			return tool.Plan{}, err
		}
	}
	if at < r.length {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Start: at})
	}
	return r.plan(f)
}

// ramped adds a part, and what lies before it, to the clips. It returns where it ends.
func (r *retiming) ramped(text string, at cutroom.Micros, pitch bool) (cutroom.Micros, error) {
	p, err := parseRamp(text)
	if err != nil {
		return at, err
	}
	start, err := r.moment("the start of "+text, cutroom.Moment(p.start))
	if err != nil {
		return at, err
	}
	end := r.length
	if p.end != "" {
		if end, err = r.file.Media.Moment(cutroom.Moment(p.end)); err != nil {
			return at, err
		}
		if end = min(end, r.length); end < r.length && r.video != nil {
			end = graph.OnFrame(r.file.Media, end)
		}
	}
	switch {
	case end <= start:
		return at, cutroom.Errorf(cutroom.Invalid, "segment %q ends before it begins", text).WithHint("give an END behind START")
	case start < at:
		return at, cutroom.Errorf(cutroom.Invalid, "segment %q begins before the one ahead of it ends", text).WithHint("give the segments in order, without overlaps")
	}
	if start > at {
		r.graph.Clips = append(r.graph.Clips, graph.Clip{Start: at, End: start})
	}
	clip := graph.Clip{Start: start, End: end, Speed: speedOf(p.from), Resample: pitch}
	if p.from != p.to {
		clip.Ramp = &graph.Ramp{From: p.from, To: p.to}
		clip.Speed = clip.Ramp.Mean()
	}
	r.graph.Clips = append(r.graph.Clips, clip)
	return end, nil
}

func answerSpeedramp(_ tool.Facts, _ SpeedrampInput, res tool.Results) (SpeedrampOutput, error) {
	out := SpeedrampOutput{}
	r, err := answered(&out.Made, res)
	out.Before, out.Duration = r.length, lasting(&out.Made)
	return out, err
}
