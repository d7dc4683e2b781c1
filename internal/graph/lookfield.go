package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Deinterlace makes whole pictures of fields.
type Deinterlace struct {
	shapeless
	Method string // bwdif or yadif; default bwdif
	Fields bool   // a picture of each field: the rate has to be doubled, which Picture.Rate says
	Parity string // tff, bff; "": as each frame says
	Stated bool   // only frames that say that they are interlaced
}

func (Deinterlace) early() {}

func (d Deinterlace) method() string {
	if d.Method != "" {
		return d.Method
	}
	return "bwdif"
}

func (d Deinterlace) needs() []string { return []string{d.method()} }

func (d Deinterlace) draw(p *painter) {
	mode, parity, which := "send_frame", "auto", "all"
	if d.Fields {
		mode = "send_field"
	}
	if d.Parity != "" {
		parity = d.Parity
	}
	if d.Stated {
		which = "interlaced"
	}
	p.add("%s=mode=%s:parity=%s:deint=%s", d.method(), mode, parity, which)
	p.add("setfield=mode=prog")
}

// Denoise takes noise out: of the picture and over time, of luma and colour, in the
// units of ffmpeg's hqdn3d.
type Denoise struct {
	shapeless
	LumaSpatial, ColorSpatial, LumaTemporal, ColorTemporal float64
}

func (Denoise) early() {}

func (Denoise) needs() []string { return []string{"hqdn3d"} }

func (d Denoise) draw(p *painter) {
	p.add("hqdn3d=luma_spatial=%g:chroma_spatial=%g:luma_tmp=%g:chroma_tmp=%g", d.LumaSpatial, d.ColorSpatial, d.LumaTemporal, d.ColorTemporal)
}

// Straighten turns the picture by an angle that is no quarter.
type Straighten struct {
	Degrees float64 // clockwise
	Fill    string  // colour of the corners, as ffmpeg writes it; default black
	// Fit is what becomes of the corners: crop (default) enlarges nothing and cuts the
	// largest rectangle of the picture's aspect out; pad keeps the size and shows Fill;
	// expand enlarges the frame so that nothing is lost.
	Fit string
}

func (Straighten) sized() {}

func (Straighten) needs() []string { return []string{"rotate"} }

// colouring reports whether the corners have a colour, which ffmpeg counts in BT.601
// where the samples are not red, green and blue.
func (s Straighten) colouring() bool {
	rgb, ok := redGreenBlue(s.Fill)
	return ok && rgb != [3]int{}
}

// shaped is the size of what is left.
func (s Straighten) shaped(w, h int) (int, int) {
	switch s.Fit {
	case "pad":
		return w, h
	case "expand":
		a, b := bounding(w, h, s.Degrees)
		return a, b
	}
	return inscribed(w, h, s.Degrees)
}

func (s Straighten) draw(p *painter) {
	fill := s.Fill
	if fill == "" {
		fill = "black"
	}
	w, h := s.shaped(p.w, p.h)
	rad := s.Degrees / 180 * pi
	ow, oh := w, h
	if s.Fit != "expand" {
		ow, oh = p.w, p.h
	}
	if p.rgb { // it takes eight bits only, and would choose YUV
		p.add("format=%s", map[bool]string{true: "gbrap", false: "gbrp"}[p.f.alpha])
	}
	p.add("rotate=angle=%.9f:ow=%d:oh=%d:fillcolor=%s:bilinear=1", rad, ow, oh, fill)
	if s.Fit == "" || s.Fit == "crop" {
		p.add("crop=%d:%d:%d:%d:exact=1", w, h, (p.w-w)/2&^1, (p.h-h)/2&^1)
	}
}

// Sphere shows a flat part of a picture that holds a sphere.
type Sphere struct {
	Input            string  // projection of the picture: equirect, fisheye, dfisheye, cubemap (c3x2), eac, …
	Yaw, Pitch, Roll float64 // degrees of the view
	Across, Down     float64 // degrees that it shows
	InAcross, InDown float64 // degrees of a fisheye lens; 0: 180
	Stereo           string  // sbs, tb: the left eye is shown; "" is one picture
	Interp           string  // near, linear, cubic, lanczos; default linear
	Width, Height    int     // of the view
}

func (Sphere) sized() {}

func (Sphere) needs() []string { return []string{"v360"} }

func (s Sphere) shaped(int, int) (int, int) { return s.Width, s.Height }

func (s Sphere) draw(p *painter) {
	o := []string{
		"input=" + s.Input, "output=flat", fmt.Sprintf("w=%d", s.Width), fmt.Sprintf("h=%d", s.Height), fmt.Sprintf("yaw=%g", s.Yaw),
		fmt.Sprintf("pitch=%g", s.Pitch), fmt.Sprintf("roll=%g", s.Roll), fmt.Sprintf("h_fov=%g", s.Across), fmt.Sprintf("v_fov=%g", s.Down),
	}
	if s.InAcross > 0 {
		o = append(o, fmt.Sprintf("ih_fov=%g", s.InAcross), fmt.Sprintf("iv_fov=%g", s.InDown))
	}
	if s.Stereo != "" {
		o = append(o, "in_stereo="+s.Stereo)
	}
	if s.Interp != "" {
		o = append(o, "interp="+s.Interp)
	}
	p.add("v360=%s", strings.Join(o, ":"))
}

// Stabilize takes the shaking of the camera out, with what a run before the encode found
// of it.
type Stabilize struct {
	shapeless
	Shakiness int     // 1 to 10: how far it may shake
	Smoothing int     // frames before and after that a movement is averaged over
	Tripod    bool    // the camera is made to stand still
	Black     bool    // the edges show black; otherwise the frames before
	Zoom      float64 // % of enlargement; 0 with Auto: as much as hides the edges
	Auto      bool
}

// motionFile is what was found of the shaking.
const motionFile = "motion.trf"

func (Stabilize) needs() []string { return []string{"vidstabdetect", "vidstabtransform"} }

func (s Stabilize) draw(p *painter) {
	p.add("format=yuv420p")
	tripod := ""
	if s.Tripod {
		tripod = ":tripod=1"
	}
	// The run before sees the picture as it is here.
	p.c.unshaken = &motionRun{chain: append(append([]string(nil), p.before...), p.chain...), filter: fmt.Sprintf("vidstabdetect=result=%s:shakiness=%d:accuracy=15%s", motionFile, s.Shakiness, tripod)}
	crop, zoom := "keep", "optzoom=0"
	if s.Black {
		crop = "black"
	}
	if s.Auto {
		zoom = "optzoom=1"
	}
	p.add("vidstabtransform=input=%s:smoothing=%d:crop=%s:%s:zoom=%g:interpol=bicubic%s", motionFile, s.Smoothing, crop, zoom, s.Zoom, tripod)
}

// motionRun is what the run looks at that finds the shaking.
type motionRun struct {
	filter string
	chain  []string
}

// shakes plans that run, once the chain of the picture is known.
func (c *compiler) shakes(head string) {
	m := c.unshaken
	if m == nil {
		return
	}
	c.unshaken = nil
	args, granted := c.head()
	args = append(args, argv.Word("-progress"), argv.Pipe(1), argv.Word("-filter_complex"), argv.Graph(strings.Join(append(append([]string{head}, m.chain...), m.filter), ",")+"[shaken]"))
	args = append(args, argv.Words("-map", "[shaken]", "-f", "null")...)
	c.before = append(c.before, argv.Command{
		Step: "motion", Program: "ffmpeg", Inputs: granted, Stage: "finding how the camera shakes", Files: c.files,
		Args: append(args, argv.Word("-")), Consume: []argv.Consumer{nil, argv.Ignore}, Outputs: []string{motionFile},
		Report: &argv.Report{Pipe: 1, Total: c.line.time(c.line.total)},
	})
}

// steady refuses a stabilised picture that cannot be: of several clips, or in more bits
// than the filter takes.
func (c *compiler) steady(f frame) error {
	for _, l := range c.g.Picture.Looks {
		if _, ok := l.(Stabilize); !ok {
			continue
		}
		switch {
		case !c.selecting:
			return cutroom.Errorf(cutroom.Invalid, "the shaking of several clips together cannot be found").WithHint("stabilise each clip first")
		case f.hdr:
			return cutroom.Errorf(cutroom.Invalid, "the stabiliser takes eight bits, and the picture keeps its high dynamic range").WithHint("bring it to standard range first: edit.color with to_sdr")
		}
	}
	return nil
}
