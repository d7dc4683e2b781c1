package edit

import (
	"fmt"
	"math"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Straighten turns the picture by a few degrees.
var Straighten = tool.Add(Family, tool.Spec[StraightenInput, StraightenOutput]{
	Name:        "edit.straighten",
	Summary:     "Level a crooked picture: turn it by degrees, and crop, pad or enlarge",
	Description: "Turn the picture clockwise by an angle, to level a horizon. crop keeps the largest part of the picture's own shape that has no empty corner; pad keeps the size and fills the corners; expand makes the frame larger so that nothing is lost. For quarter turns use edit.fit. The written frames are compared with the input, turned.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     1800 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"rotate"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples:    []StraightenInput{{Picturing: Picturing{Input: "sea.mp4"}, Degrees: -2.5}},
	Names: func(in StraightenInput) StraightenInput {
		in.Output = orNamed(in.Output, in.Input, "straight", "")
		return in
	},
	Plan:      planStraighten,
	Interpret: answerStraighten,
})

// StraightenInput is the request.
type StraightenInput struct {
	Picturing
	Degrees   float64 `json:"degrees" min:"-45" max:"45" unit:"degrees" doc:"How far it is turned clockwise; negative is the other way."`
	Fit       string  `json:"fit,omitempty" enum:"crop,pad,expand" default:"crop" doc:"What becomes of the corners."`
	FillColor string  `json:"fill_color,omitempty" max:"20" doc:"Colour of the corners: a name such as black or navy, or #RRGGBB; black without it. Needs fit pad or expand."`
	FPS       float64 `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate; the input's without it."`
}

// Validate refuses an angle of nothing and a colour that is none.
func (in StraightenInput) Validate() error {
	if math.Abs(in.Degrees) < 0.01 {
		return cutroom.Errorf(cutroom.Invalid, "nothing to do: the angle is %g", in.Degrees).WithHint("give degrees, such as 1.5 or -2")
	}
	if in.FillColor != "" && in.Fit != "pad" && in.Fit != "expand" {
		return cutroom.Errorf(cutroom.Invalid, "fill_color is given without fit pad or expand").WithHint("add fit pad, or leave fill_color out")
	}
	if _, err := color("fill_color", in.FillColor); err != nil {
		return err
	}
	_, err := rate(in.FPS)
	return err
}

// StraightenOutput is the answer.
type StraightenOutput struct {
	tool.Made
	Degrees float64 `json:"degrees" unit:"degrees" doc:"How far it was turned."`
	Width   int     `json:"width" unit:"px" doc:"Width of the frame."`
	Height  int     `json:"height" unit:"px" doc:"Height of the frame."`
	Kept    float64 `json:"kept" min:"0" max:"1" doc:"Share of the picture that is still in the frame."`
}

func planStraighten(f tool.Facts, in StraightenInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	fill, err := color("fill_color", in.FillColor)
	if err != nil {
		return tool.Plan{}, err
	}
	if l.graph.Picture.Rate, err = rate(in.FPS); err != nil {
		return tool.Plan{}, err
	}
	out := &StraightenOutput{Degrees: in.Degrees}
	l.call = out
	l.graph.Picture.Looks = []graph.Look{graph.Straighten{Degrees: in.Degrees, Fit: in.Fit, Fill: fill}}
	return l.plan(ffmpeg.BesideOptions{}, func() []cutroom.Verified {
		v, made := l.video.Video, l.result.Probe.FirstVideo().Video
		out.Width, out.Height = made.DisplayWidth, made.DisplayHeight
		out.Kept = 1
		if in.Fit == "crop" || in.Fit == "" {
			out.Kept = math.Round(float64(out.Width*out.Height)/float64(v.DisplayWidth*v.DisplayHeight)*1000) / 1000
			out.Notes = append(out.Notes, fmt.Sprintf("the picture of %d×%d is cropped to %d×%d, where no corner is empty", v.DisplayWidth, v.DisplayHeight, out.Width, out.Height))
		}
		return []cutroom.Verified{l.warped("turned", fmt.Sprintf("the input, turned by %g°", in.Degrees), func(x, y float64) (float64, float64, bool) {
			return turnedFrom(x, y, in.Degrees, v.DisplayWidth, v.DisplayHeight, out.Width, out.Height)
		})}
	})
}

// turnedFrom is where a point of the turned frame lies in the picture, all in parts of
// their sizes: the middles lie on each other.
func turnedFrom(x, y, degrees float64, w, h, fw, fh int) (float64, float64, bool) {
	s, c := math.Sincos(degrees / 180 * math.Pi)
	dx, dy := (x-0.5)*float64(fw), (y-0.5)*float64(fh)
	sx, sy := (dx*c+dy*s)/float64(w)+0.5, (dy*c-dx*s)/float64(h)+0.5
	return sx, sy, sx > 0 && sx < 1 && sy > 0 && sy < 1
}

// warped compares the frames with the input moved about: from tells where a point of the
// made frame lies in the input, in parts of their sizes.
func (l *looking) warped(check, what string, from func(x, y float64) (float64, float64, bool)) cutroom.Verified {
	if l.video.Video.HDR != l.result.Probe.FirstVideo().Video.HDR {
		return cutroom.Verified{Check: check, Stream: "video", OK: true, Expected: what, Measured: "not compared: the colours are others now"}
	}
	mean := l.beside.Moved(from)
	// What detail alone makes: half of how far the picture upside down lies apart.
	most := max(movedApart, l.beside.Moved(func(x, y float64) (float64, float64, bool) { return from(1-x, 1-y) })/2)
	return cutroom.Verified{
		Check: check, Stream: "video", OK: mean <= most, Expected: fmt.Sprintf("%s, within %.1f of 255", what, most), Measured: fmt.Sprintf("%.2f apart in the mean", mean),
	}
}

// movedApart is how far the means of blocks may lie apart where pixels were moved about:
// what lies on a block's edge falls to either side.
const movedApart = 8.0

func answerStraighten(_ tool.Facts, _ StraightenInput, r tool.Results) (StraightenOutput, error) {
	return looked[StraightenOutput](r, func(o *StraightenOutput) *tool.Made { return &o.Made })
}
