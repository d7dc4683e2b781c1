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

// Stabilize takes the shaking of the camera out.
var Stabilize = tool.Add(Family, tool.Spec[StabilizeInput, StabilizeOutput]{
	Name:        "edit.stabilize",
	Summary:     "Steady a shaky video",
	Description: "Find how the camera shakes in one pass, and move every frame against it in the encode. What comes in at the edges is hidden by enlarging the picture, or shows the frames before, or black. The shaking is measured before and after and may not grow. A picture of high dynamic range has to be brought to standard range first.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     7200 * time.Second,
	Video:       true,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "vidstabdetect", When: "always: a build of ffmpeg without libvidstab cannot steady anything"},
		{Filter: "vidstabtransform", When: "as vidstabdetect"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples:  []StabilizeInput{{Picturing: Picturing{Input: "walk.mp4"}, Smoothing: 20}},
	Names: func(in StabilizeInput) StabilizeInput {
		in.Output = orNamed(in.Output, in.Input, "steady", "")
		return in
	},
	Plan:      planStabilize,
	Interpret: answerStabilize,
})

// StabilizeInput is the request.
type StabilizeInput struct {
	Picturing
	Shakiness int      `json:"shakiness,omitempty" min:"1" max:"10" default:"5" doc:"How far it shakes: 1 a little, 10 wildly."`
	Smoothing int      `json:"smoothing,omitempty" min:"0" max:"1000" default:"15" doc:"Over how many frames before and after a movement is averaged; more is smoother."`
	Tripod    bool     `json:"tripod,omitempty" doc:"Make the camera stand still, as on a tripod."`
	Crop      string   `json:"crop,omitempty" enum:"keep,black" default:"keep" doc:"What shows at edges that are not hidden: the frames before, or black."`
	Zoom      *float64 `json:"zoom,omitempty" min:"0" max:"50" unit:"%" doc:"Enlarge by this much. Without it as much as hides the edges."`
}

// StabilizeOutput is the answer.
type StabilizeOutput struct {
	tool.Made
	Before float64 `json:"shake_before" unit:"px" doc:"How far the picture of the input jumps from frame to frame against its own movement, in pixels of a frame 1920 wide; of the first 20 s."`
	After  float64 `json:"shake_after" unit:"px" doc:"That of the output."`
}

func planStabilize(f tool.Facts, in StabilizeInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	out := &StabilizeOutput{}
	l.call = out
	look := graph.Stabilize{Shakiness: max(1, in.Shakiness), Smoothing: in.Smoothing, Tripod: in.Tripod, Black: in.Crop == "black", Auto: in.Zoom == nil}
	turn(&look.Zoom, in.Zoom)
	l.graph.Picture.Looks = []graph.Look{look}
	if l.render, err = graph.NewRender(l.graph, f.Abilities); err != nil {
		return tool.Plan{}, err
	}
	t := l.graph.Target
	runs := func(made *ffmpeg.Stream) []argv.Command {
		return []argv.Command{
			ffmpeg.MeasureShake("shake-before", l.file.Format, l.video, l.file.Index),
			ffmpeg.MeasureShake("shake-after", ffmpeg.MadeFormat(t.File, madeBy(t.Container)), made, -1),
		}
	}
	plan, err := tool.Follow(l.render, l, func(tool.Results) (tool.Plan, error) {
		if l.result, err = l.render.Result(); err != nil {
			return tool.Plan{State: l}, err
		}
		return tool.Plan{State: l, Steps: runs(l.result.Probe.FirstVideo()), Then: func(r tool.Results) (tool.Plan, error) {
			before, _ := r.Step("shake-before")
			after, _ := r.Step("shake-after")
			out.Before, _ = argv.Value[float64](before)
			out.After, _ = argv.Value[float64](after)
			most := max(out.Before, 1)
			l.rows = []cutroom.Verified{{
				Check: "shake", Stream: "video", OK: out.After <= most, Expected: fmt.Sprintf("at most %.2f", most), Measured: fmt.Sprintf("%.2f", out.After), Unit: "px",
			}}
			return tool.Plan{State: l}, proof.Failure(l.rows)
		}}, nil
	})
	if err == nil {
		plan.Later = append(plan.Later, runs(l.video)...)
	}
	return plan, err
}

func answerStabilize(_ tool.Facts, _ StabilizeInput, r tool.Results) (StabilizeOutput, error) {
	return looked[StabilizeOutput](r, func(o *StabilizeOutput) *tool.Made { return &o.Made })
}
