package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Insert makes a clip of a still picture.
var Insert = tool.Add(Family, tool.Spec[InsertInput, GeneratedOutput]{
	Name:        "edit.insert",
	Summary:     "Make a clip of a still picture, with a slow zoom or pan",
	Description: "Make a clip of a photograph or a drawing, to be joined with others: standing still, or with a slow zoom or pan over it, placed to a fraction of a pixel so that nothing trembles. The picture is turned as its camera says; what is transparent lies on white.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "insert",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "perspective", When: "zoom and pan"}, {Filter: "boxblur", When: "fit blur"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []InsertInput{
		{Input: "photo.jpg"},
		{Input: "photo.jpg", Duration: 8 * cutroom.Second, Zoom: "in", Pan: "right", Fit: "crop", Generated: Generated{Width: 1920, Height: 1080, Audio: "silent"}},
	},
	Names: func(in InsertInput) InsertInput { in.Output = orNamed(in.Output, in.Input, "clip", ".mp4"); return in },
	Plan:  planInsert,
	Interpret: func(_ tool.Facts, _ InsertInput, res tool.Results) (GeneratedOutput, error) {
		return answeredGenerated(res)
	},
})

// InsertInput is the request.
type InsertInput struct {
	Input      cutroom.InPath `json:"input" doc:"The picture: JPEG, PNG, WebP or BMP."`
	Duration   cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"How long it shows; 5 without it."`
	Zoom       string         `json:"zoom,omitempty" enum:"none,in,out" default:"none" doc:"Come closer, or move away, evenly over the whole time."`
	ZoomAmount float64        `json:"zoom_amount,omitempty" min:"1.01" max:"4" doc:"How close it is at its closest: 2 shows half the width; 1.2 without it. Needs zoom or pan."`
	Pan        string         `json:"pan,omitempty" enum:"none,left,right,up,down" default:"none" doc:"Where the view moves over the picture. Without zoom it stays as close as zoom_amount says."`
	Fit        string         `json:"fit,omitempty" enum:"pad,crop,blur" default:"pad" doc:"How a picture of another shape gets into the frame: bars, a crop, or the picture itself, blurred, behind it."`
	PadColor   string         `json:"pad_color,omitempty" doc:"Colour of the bars: a name or #RRGGBB; black without it. Needs fit pad."`
	Generated
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in InsertInput) Validate() error {
	moves := in.Zoom == "in" || in.Zoom == "out" || in.Pan != "" && in.Pan != "none"
	switch {
	case in.ZoomAmount > 0 && !moves:
		return cutroom.Errorf(cutroom.Invalid, "zoom_amount is given without zoom or pan").WithHint("add zoom in, zoom out or a pan, or leave it out")
	case in.PadColor != "" && in.Fit != "" && in.Fit != "pad":
		return cutroom.Errorf(cutroom.Invalid, "pad_color is given without fit pad").WithHint("add fit pad, or leave pad_color out")
	}
	if _, err := in.rate(); err != nil {
		return err
	}
	_, err := color("pad_color", in.PadColor)
	return err
}

// motion is how the view moves; nil where it stands still.
func (in InsertInput) motion() *graph.Motion {
	most := in.ZoomAmount
	if most == 0 {
		most = 1.2
	}
	m := &graph.Motion{From: graph.View{Zoom: 1, X: 0.5, Y: 0.5}, To: graph.View{Zoom: most, X: 0.5, Y: 0.5}}
	pan := in.Pan != "" && in.Pan != "none"
	switch {
	case in.Zoom == "out":
		m.From.Zoom, m.To.Zoom = most, 1
	case in.Zoom == "in":
	case pan:
		m.From.Zoom = most
	default:
		return nil
	}
	switch in.Pan {
	case "right":
		m.From.X, m.To.X = 0, 1
	case "left":
		m.From.X, m.To.X = 1, 0
	case "down":
		m.From.Y, m.To.Y = 0, 1
	case "up":
		m.From.Y, m.To.Y = 1, 0
	}
	return m
}

func planInsert(f tool.Facts, in InsertInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	v, err := picture(file)
	if err != nil {
		return tool.Plan{}, err
	}
	fps, err := in.rate()
	if err != nil {
		return tool.Plan{}, err
	}
	target, err := in.target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	length := in.Duration
	if length == 0 {
		length = 5 * cutroom.Second
	}
	p := &graph.Picture{Rate: fps, Fit: graph.Fit(in.Fit)}
	p.Width, p.Height = in.size(v.Video.DisplayWidth, v.Video.DisplayHeight, 1920)
	if p.PadColor, err = color("pad_color", in.PadColor); err != nil {
		return tool.Plan{}, err
	}
	r := &retiming{file: file, graph: graph.Graph{
		Sources: []graph.Source{file.AsSource()}, Clips: []graph.Clip{{Hold: length, Motion: in.motion()}},
		Picture: p, Sound: in.sound(), Keep: graph.Keep{Metadata: graph.NoTags}, Target: target,
	}}
	return r.plan(f)
}
