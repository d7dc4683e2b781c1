package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Deinterlace makes whole pictures of fields.
var Deinterlace = tool.Add(Family, tool.Spec[DeinterlaceInput, DeinterlaceOutput]{
	Name:        "edit.deinterlace",
	Summary:     "Make progressive pictures of interlaced video",
	Description: "Take the combs out of interlaced video: one picture of each frame, or with mode field one of each field at twice the rate, which keeps all of the motion. Before and after it is measured how many frames are interlaced. A video that is progressive by its own word and by measurement is refused, unless forced.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     3600 * time.Second,
	Video:       true,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"idet"}, Optional: []tool.Optional{
		{Filter: "bwdif", When: "method bwdif, which is the default"}, {Filter: "yadif", When: "method yadif"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples:  []DeinterlaceInput{{Picturing: Picturing{Input: "tape.mov"}, Mode: "field"}},
	Names: func(in DeinterlaceInput) DeinterlaceInput {
		in.Output = orNamed(in.Output, in.Input, "progressive", "")
		return in
	},
	Plan:      planDeinterlace,
	Interpret: answerDeinterlace,
})

// DeinterlaceInput is the request.
type DeinterlaceInput struct {
	Picturing
	Mode   string `json:"mode,omitempty" enum:"frame,field" default:"frame" doc:"A picture of each frame, or of each field at twice the rate."`
	Parity string `json:"parity,omitempty" enum:"auto,tff,bff" default:"auto" doc:"Which field is first: tff the top one, bff the bottom one; auto takes what is measured, else what is stated."`
	Method string `json:"method,omitempty" enum:"bwdif,yadif" default:"bwdif" rare:"true" doc:"The filter."`
	Only   bool   `json:"only_interlaced,omitempty" doc:"Leave frames alone that say they are progressive."`
	Force  bool   `json:"force,omitempty" doc:"Work on a video that is progressive, too."`
}

// DeinterlaceOutput is the answer.
type DeinterlaceOutput struct {
	tool.Made
	Parity       string           `json:"parity" doc:"Which field was taken to be the first."`
	Measurements InterlacedBefore `json:"measurements" doc:"How many frames are interlaced."`
}

// InterlacedBefore is what was measured before and after.
type InterlacedBefore struct {
	Input  ffmpeg.Interlaced `json:"input" doc:"Of the first 500 frames of the input."`
	Output ffmpeg.Interlaced `json:"output" doc:"Of the first 500 frames of the output."`
}

func planDeinterlace(f tool.Facts, in DeinterlaceInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	out := &DeinterlaceOutput{}
	l.call = out
	if err := f.Abilities.Missing("idet"); err != nil {
		return tool.Plan{}, err
	}
	look := ffmpeg.CountInterlaced("interlaced", l.file.Format, l.video, l.file.Index)
	shown, err := in.render(l, out)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Steps: []argv.Command{look}, Later: append(shown.Steps, shown.Later...), Then: func(r tool.Results) (tool.Plan, error) {
		step, _ := r.Step(look.Step)
		out.Measurements.Input, _ = argv.Value[ffmpeg.Interlaced](step)
		m, v := out.Measurements.Input, l.video.Video
		stated := v.FieldOrder != "" && v.FieldOrder != "progressive" && v.FieldOrder != "unknown"
		if !in.Force && !stated && m.TopFirst+m.BottomFirst <= m.Progressive/4 {
			return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the video is progressive: %d of %d frames that were looked at are interlaced", m.TopFirst+m.BottomFirst, m.Frames).
				WithHint("nothing is to be done; add force to do it all the same")
		}
		return in.render(l, out)
	}}, nil
}

// render plans the edit with what was measured by now, and the measuring of what it makes.
func (in DeinterlaceInput) render(l *looking, out *DeinterlaceOutput) (tool.Plan, error) {
	m, p := out.Measurements.Input, l.graph.Picture
	look := graph.Deinterlace{Method: in.Method, Fields: in.Mode == "field", Stated: in.Only}
	switch stated := l.video.Video.FieldOrder; {
	case in.Parity == "tff" || in.Parity == "bff":
		look.Parity = in.Parity
	case m.TopFirst > 4*m.BottomFirst+4:
		look.Parity = "tff"
	case m.BottomFirst > 4*m.TopFirst+4:
		look.Parity = "bff"
	case stated == "tt" || stated == "tb":
		look.Parity = "tff"
	case stated == "bb" || stated == "bt":
		look.Parity = "bff"
	}
	if out.Parity = look.Parity; look.Parity == "" {
		out.Parity = "as each frame says"
	}
	if r := l.video.Video.FrameRate; look.Fields {
		if !r.Known() || l.video.Video.VFR.Variable {
			return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the frames are unevenly spaced: they have no rate that could be doubled").WithHint("use mode frame")
		}
		p.Rate = ffmpeg.Rational{Num: 2 * r.Num, Den: r.Den}.Reduced()
	}
	p.Looks = []graph.Look{look}
	var err error
	if l.render, err = graph.NewRender(l.graph, l.facts.Abilities); err != nil {
		return tool.Plan{}, err
	}
	t := l.graph.Target
	made := func(v *ffmpeg.Stream) argv.Command {
		return ffmpeg.CountInterlaced("interlaced-after", ffmpeg.MadeFormat(t.File, madeBy(t.Container)), v, -1)
	}
	plan, err := tool.Follow(l.render, l, func(tool.Results) (tool.Plan, error) {
		if l.result, err = l.render.Result(); err != nil {
			return tool.Plan{State: l}, err
		}
		cmd := made(l.result.Probe.FirstVideo())
		return tool.Plan{State: l, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
			step, _ := r.Step(cmd.Step)
			out.Measurements.Output, _ = argv.Value[ffmpeg.Interlaced](step)
			l.rows = judgeFields(out.Measurements)
			return tool.Plan{State: l}, proof.Failure(l.rows)
		}}, nil
	})
	if err == nil {
		plan.Later = append(plan.Later, made(l.video))
	}
	return plan, err
}

// judgeFields demands that hardly a frame is interlaced any more.
func judgeFields(m InterlacedBefore) []cutroom.Verified {
	o := m.Output
	left := o.TopFirst + o.BottomFirst
	// Fine horizontal lines look like fields to a measurement.
	most := max(2, o.Frames/20, (m.Input.TopFirst+m.Input.BottomFirst)/5)
	return []cutroom.Verified{{
		Check: "progressive", Stream: "video", OK: o.Frames > 0 && left <= most, Expected: fmt.Sprintf("at most %d of %d frames interlaced", most, o.Frames), Measured: fmt.Sprint(left),
	}}
}

func answerDeinterlace(_ tool.Facts, _ DeinterlaceInput, r tool.Results) (DeinterlaceOutput, error) {
	return looked[DeinterlaceOutput](r, func(o *DeinterlaceOutput) *tool.Made { return &o.Made })
}
