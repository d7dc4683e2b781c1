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

// Sphere makes a flat view out of a 360° video.
var Sphere = tool.Add(Family, tool.Spec[SphereInput, SphereOutput]{
	Name:        "edit.sphere",
	Summary:     "Make a flat view out of a 360° video: yaw, pitch, roll, field of view",
	Description: "Look into a video that holds a whole sphere (equirectangular, fisheye, two fisheyes, cube map, equi-angular cube map) from its middle, and write what is seen as an ordinary flat video. yaw turns to the right, pitch up, roll tilts. Of a stereo recording the left eye is shown. A view of an equirectangular video is compared with where its points lie on the sphere.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     3600 * time.Second,
	Video:       true,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"v360"}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples:    []SphereInput{{Picturing: Picturing{Input: "sphere.mp4"}, Yaw: 90, Across: 100}},
	Names:       func(in SphereInput) SphereInput { in.Output = orNamed(in.Output, in.Input, "flat", ""); return in },
	Plan:        planSphere,
	Interpret:   answerSphere,
})

// SphereInput is the request.
type SphereInput struct {
	Picturing
	Projection string  `json:"input_projection,omitempty" enum:"equirect,fisheye,dfisheye,c3x2,c6x1,c1x6,eac,hequirect,barrel,cylindrical" default:"equirect" doc:"How the sphere lies in the picture."`
	Yaw        float64 `json:"yaw,omitempty" min:"-180" max:"180" unit:"degrees" doc:"Turn to the right."`
	Pitch      float64 `json:"pitch,omitempty" min:"-90" max:"90" unit:"degrees" doc:"Look up."`
	Roll       float64 `json:"roll,omitempty" min:"-180" max:"180" unit:"degrees" doc:"Tilt."`
	Across     float64 `json:"h_fov,omitempty" min:"10" max:"170" unit:"degrees" doc:"How much is seen from left to right; 90 without it."`
	Down       float64 `json:"v_fov,omitempty" min:"5" max:"170" unit:"degrees" doc:"How much is seen from top to bottom; what fits the frame without it."`
	LensAcross float64 `json:"lens_h_fov,omitempty" min:"10" max:"360" unit:"degrees" rare:"true" doc:"What a fisheye lens sees from left to right; 180 without it."`
	LensDown   float64 `json:"lens_v_fov,omitempty" min:"10" max:"360" unit:"degrees" rare:"true" doc:"What it sees from top to bottom; as h without it."`
	Stereo     string  `json:"stereo,omitempty" enum:"none,sbs,tb" default:"none" doc:"Two eyes in one picture: beside each other, or one above the other."`
	Interp     string  `json:"interp,omitempty" enum:"near,linear,cubic,lanczos" default:"cubic" rare:"true" doc:"How pixels are mixed."`
	Width      int     `json:"width,omitempty" min:"16" max:"8192" unit:"px" doc:"Width of the view; 1280 without it, or less for a small recording."`
	Height     int     `json:"height,omitempty" min:"16" max:"8192" unit:"px" doc:"Height of the view; 9/16 of the width without it."`
	FPS        float64 `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" rare:"true" doc:"Frame rate; the input's without it."`
}

// Validate refuses what belongs to a fisheye, without one.
func (in SphereInput) Validate() error {
	if (in.LensAcross > 0 || in.LensDown > 0) && in.Projection != "fisheye" && in.Projection != "dfisheye" {
		return cutroom.Errorf(cutroom.Invalid, "lens_h_fov and lens_v_fov are given without a fisheye").WithHint("add input_projection fisheye or dfisheye, or leave them out")
	}
	_, err := rate(in.FPS)
	return err
}

// SphereOutput is the answer.
type SphereOutput struct {
	tool.Made
	Width  int     `json:"width" unit:"px" doc:"Width of the frame."`
	Height int     `json:"height" unit:"px" doc:"Height of the frame."`
	Across float64 `json:"h_fov" unit:"degrees" doc:"How much is seen from left to right."`
	Down   float64 `json:"v_fov" unit:"degrees" doc:"How much is seen from top to bottom."`
}

// view decides the size and the field of view.
func (in SphereInput) view(v *ffmpeg.VideoFacts) SphereOutput {
	o := SphereOutput{Width: in.Width, Height: in.Height, Across: in.Across, Down: in.Down}
	if o.Across == 0 {
		o.Across = 90
	}
	if o.Width == 0 {
		o.Width = min(1280, max(64, v.DisplayWidth/2))
		if o.Height > 0 {
			o.Width = o.Height * 16 / 9
		}
	}
	if o.Height == 0 {
		o.Height = o.Width * 9 / 16
	}
	o.Width, o.Height = max(16, o.Width&^1), max(16, o.Height&^1)
	if o.Down == 0 {
		half := math.Atan(math.Tan(o.Across/360*math.Pi) * float64(o.Height) / float64(o.Width))
		o.Down = math.Round(half*360/math.Pi*1000) / 1000
	}
	return o
}

func planSphere(f tool.Facts, in SphereInput) (tool.Plan, error) {
	l, err := in.looking(f)
	if err != nil {
		return tool.Plan{}, err
	}
	if l.graph.Picture.Rate, err = rate(in.FPS); err != nil {
		return tool.Plan{}, err
	}
	out := in.view(l.video.Video)
	l.call = &out
	look := graph.Sphere{
		Input: in.Projection, Yaw: in.Yaw, Pitch: in.Pitch, Roll: in.Roll, Across: out.Across, Down: out.Down, Interp: in.Interp, Width: out.Width, Height: out.Height,
		InAcross: in.LensAcross, InDown: in.LensDown,
	}
	if look.Input == "" {
		look.Input = "equirect"
	}
	if look.Interp == "" {
		look.Interp = "cubic"
	}
	if look.InAcross == 0 {
		look.InAcross = look.InDown
	}
	if look.InDown == 0 {
		look.InDown = look.InAcross
	}
	if in.Stereo == "sbs" || in.Stereo == "tb" {
		look.Stereo = in.Stereo
	}
	if a, w := float64(l.video.Video.DisplayWidth), float64(2*l.video.Video.DisplayHeight); look.Input == "equirect" && look.Stereo == "" && math.Abs(a-w) > 0.02*w {
		out.Notes = append(out.Notes, fmt.Sprintf("a whole sphere is twice as wide as high, and this picture is %d×%d: straight lines may bend", l.video.Video.DisplayWidth, l.video.Video.DisplayHeight))
	}
	l.graph.Picture.Looks = []graph.Look{look}
	return l.plan(ffmpeg.BesideOptions{}, func() []cutroom.Verified {
		if look.Input != "equirect" || look.Stereo != "" || in.Roll != 0 {
			return nil
		}
		return []cutroom.Verified{l.warped("view", fmt.Sprintf("what lies at yaw %g, pitch %g", in.Yaw, in.Pitch), func(x, y float64) (float64, float64, bool) {
			sx, sy := onSphere(x, y, in.Yaw, in.Pitch, out.Across, out.Down)
			return sx, sy, true
		})}
	})
}

// onSphere is where a point of a flat view lies in an equirectangular picture, both in
// parts of their sizes.
func onSphere(x, y, yaw, pitch, across, down float64) (float64, float64) {
	const rad = math.Pi / 180
	X, Y, Z := math.Tan(across/2*rad)*(2*x-1), -math.Tan(down/2*rad)*(2*y-1), 1.0
	s, c := math.Sincos(pitch * rad)
	Y, Z = Y*c+Z*s, Z*c-Y*s
	s, c = math.Sincos(yaw * rad)
	X, Z = X*c+Z*s, Z*c-X*s
	sx := math.Atan2(X, Z)/(2*math.Pi) + 0.5
	sy := 0.5 - math.Atan2(Y, math.Hypot(X, Z))/math.Pi
	return sx, sy
}

func answerSphere(_ tool.Facts, _ SphereInput, r tool.Results) (SphereOutput, error) {
	return looked[SphereOutput](r, func(o *SphereOutput) *tool.Made { return &o.Made })
}
