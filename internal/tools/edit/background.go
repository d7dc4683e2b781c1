package edit

import (
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Background makes a clip of one colour or of a gradient.
var Background = tool.Add(Family, tool.Spec[BackgroundInput, GeneratedOutput]{
	Name:        "edit.background",
	Summary:     "Make a clip of one colour, or of colours that run into each other",
	Description: "Make a clip out of nothing: one colour, or up to eight that run into each other at an angle or from the middle outwards, as a ground for titles, captions or an audiogram. Colours are exact in BT.709, limited range.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "background",
	Timeout:     1800 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"color"}, Optional: []tool.Optional{{Filter: "gradients", When: "several colours"}}},
	CheckWith:   []string{"measure.probe", "review.look"},
	Examples: []BackgroundInput{
		{Colors: []string{"navy"}},
		{Colors: []string{"#203040", "#80a0c0"}, Angle: 90, Duration: 10 * cutroom.Second, Generated: Generated{Width: 1080, Height: 1920, Audio: "silent"}},
	},
	Names: func(in BackgroundInput) BackgroundInput {
		if in.Output == "" {
			in.Output = "background.mp4"
		}
		return in
	},
	Plan: planBackground,
	Interpret: func(_ tool.Facts, _ BackgroundInput, res tool.Results) (GeneratedOutput, error) {
		return answeredGenerated(res)
	},
})

// BackgroundInput is the request.
type BackgroundInput struct {
	Colors   []string       `json:"colors,omitempty" min:"1" max:"8" doc:"One colour, or several from one end to the other: names such as navy, or #RRGGBB; black without it."`
	Angle    float64        `json:"angle,omitempty" min:"-360" max:"360" unit:"degrees" doc:"Of several colours: 0 runs from left to right, 90 from top to bottom."`
	Radial   bool           `json:"radial,omitempty" doc:"Several colours run from the middle outwards. Excludes angle."`
	Duration cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"How long it lasts; 5 without it."`
	Generated
	Encoding
	tool.Writing
}

// Validate refuses what is no colour, and what contradicts itself.
func (in BackgroundInput) Validate() error {
	if _, err := in.fill(); err != nil {
		return err
	}
	switch {
	case len(in.Colors) < 2 && (in.Radial || in.Angle != 0):
		return cutroom.Errorf(cutroom.Invalid, "angle and radial belong to several colours").WithHint("give two colours or more, or leave them out")
	case in.Radial && in.Angle != 0:
		return cutroom.Errorf(cutroom.Invalid, "angle and radial exclude each other").WithHint("choose one of them")
	}
	_, err := in.rate()
	return err
}

func (in BackgroundInput) fill() (*graph.Fill, error) {
	f := &graph.Fill{Angle: in.Angle, Radial: in.Radial}
	for _, s := range in.Colors {
		c, err := color("colors", s)
		if err != nil {
			return nil, err
		}
		if c == "" {
			return nil, cutroom.Errorf(cutroom.Invalid, "a colour is empty").WithHint("give names such as navy, or #RRGGBB")
		}
		f.Colors = append(f.Colors, c)
	}
	if len(f.Colors) == 0 {
		f.Colors = []string{"black"}
	}
	return f, nil
}

func planBackground(f tool.Facts, in BackgroundInput) (tool.Plan, error) {
	fill, err := in.fill()
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
	w, h := in.ground()
	r := &retiming{graph: graph.Graph{
		Sources: []graph.Source{graph.Blank(w, h, fps)}, Clips: []graph.Clip{{Fill: fill, Hold: length}},
		Picture: &graph.Picture{Rate: fps}, Sound: in.sound(), Keep: graph.Keep{Metadata: graph.NoTags}, Target: target,
	}}
	return r.plan(f)
}

// ground is the size of a frame that nothing else decides.
func (g Generated) ground() (int, int) {
	if g.Width == 0 && g.Height > 0 || g.Width > 0 && g.Height == 0 {
		wide := ffmpeg.Rational{Num: 16, Den: 9}
		return g.size(int(wide.Num), int(wide.Den), 1920)
	}
	return g.size(1920, 1080, 1920)
}
