package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Crop cuts a rectangle out of the picture.
var Crop = tool.Add(Family, tool.Spec[CropInput, CropOutput]{
	Name:        "edit.crop",
	Summary:     "Cut an exact rectangle of pixels out of a video's picture",
	Description: "Keep a rectangle of the picture, exact to the pixel of what is shown: turned upright, with square pixels. measure.cropdetect finds black bars. Sizes become even, since 4:2:0 video has even sizes; that is said. For another aspect, or to keep people in the frame, use edit.fit. The written frames are compared with that rectangle of the input.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     1800 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples:    []CropInput{{Picturing: Picturing{Input: "screen.mp4"}, X: 20, Y: 10, Width: 240, Height: 160}},
	Names:       func(in CropInput) CropInput { in.Output = orNamed(in.Output, in.Input, "crop", ""); return in },
	Plan:        planCrop,
	Interpret:   answerCrop,
})

// Picturing is what every tool has that changes the picture alone: it is embedded.
type Picturing struct {
	Input       cutroom.InPath `json:"input" doc:"The video."`
	AudioStream *int           `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Keep only this audio stream, counted from 0. All stay without it."`
	Encoding
	tool.Writing
}

// looking opens the edit.
func (in Picturing) looking(f tool.Facts) (*looking, error) {
	return newLooking(f, in.Input, in.Output, in.Encoding, in.AudioStream)
}

// CropInput is the request.
type CropInput struct {
	Picturing
	X      int     `json:"x,omitempty" min:"0" max:"16382" unit:"px" doc:"Left edge in the picture as shown."`
	Y      int     `json:"y,omitempty" min:"0" max:"16382" unit:"px" doc:"Top edge."`
	Width  int     `json:"width" min:"2" max:"16384" unit:"px" doc:"Width of the rectangle."`
	Height int     `json:"height" min:"2" max:"16384" unit:"px" doc:"Height of the rectangle."`
	FPS    float64 `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate; the input's without it."`
}

// Validate refuses a rate that is none.
func (in CropInput) Validate() error {
	_, err := rate(in.FPS)
	return err
}

// CropOutput is the answer.
type CropOutput struct {
	tool.Made
	X      int `json:"x" unit:"px" doc:"Left edge of what was kept."`
	Y      int `json:"y" unit:"px" doc:"Top edge."`
	Width  int `json:"width" unit:"px" doc:"Width of the frame."`
	Height int `json:"height" unit:"px" doc:"Height of the frame."`
}

func planCrop(f tool.Facts, in CropInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	v := l.video.Video
	if in.X+in.Width > v.DisplayWidth || in.Y+in.Height > v.DisplayHeight {
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the rectangle reaches out of the picture, which is %d×%d as shown", v.DisplayWidth, v.DisplayHeight).
			WithHint("x plus width is at most %d, y plus height at most %d", v.DisplayWidth, v.DisplayHeight)
	}
	out := &CropOutput{X: in.X, Y: in.Y, Width: in.Width &^ 1, Height: in.Height &^ 1}
	if out.Width != in.Width || out.Height != in.Height {
		out.Notes = append(out.Notes, fmt.Sprintf("sizes are even: %d×%d is kept", out.Width, out.Height))
	}
	p := l.graph.Picture
	p.Crop = &graph.Box{X: in.X, Y: in.Y, Width: out.Width, Height: out.Height}
	if p.Rate, err = rate(in.FPS); err != nil {
		return tool.Plan{}, err
	}
	l.call = out
	return l.plan(ffmpeg.BesideOptions{X: in.X, Y: in.Y, Width: out.Width, Height: out.Height}, func() []cutroom.Verified {
		return []cutroom.Verified{l.alike("rectangle", "that rectangle of the input")}
	})
}

// alike compares the frames as they are.
func (l *looking) alike(check, what string) cutroom.Verified {
	mean, worst := l.beside.Apart(func(p [3]float64) [3]float64 { return p })
	if l.video.Video.HDR != l.result.Probe.FirstVideo().Video.HDR {
		return cutroom.Verified{Check: check, Stream: "video", OK: true, Expected: what, Measured: "not compared: the colours are others now"}
	}
	return cutroom.Verified{
		Check: check, Stream: "video", OK: mean <= colorsApart && worst <= 2*colorsApart, Expected: fmt.Sprintf("%s, within %g of 255", what, colorsApart),
		Measured: fmt.Sprintf("%.2f apart in the mean, %.2f in the worst frame", mean, worst),
	}
}

func answerCrop(_ tool.Facts, _ CropInput, r tool.Results) (CropOutput, error) {
	return looked[CropOutput](r, func(o *CropOutput) *tool.Made { return &o.Made })
}

// looked fills in the answer that the plan began, and delivers the file.
func looked[Out any](r tool.Results, made func(*Out) *tool.Made) (Out, error) {
	var none Out
	l, ok := r.State().(*looking)
	if !ok {
		return none, fmt.Errorf("the picture was not rendered")
	}
	out, ok := l.call.(*Out)
	if !ok {
		return none, fmt.Errorf("another call's state")
	}
	err := l.rendered(made(out), r)
	return *out, err
}
