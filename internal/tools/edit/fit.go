package edit

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/object"
	"cutroom/internal/tool"
)

// Fit brings a video to an aspect, a size, a length or a frame rate.
var Fit = tool.Add(Family, tool.Spec[FitInput, FitOutput]{
	Name:        "edit.fit",
	Summary:     "Fit a video to an aspect, size, duration or frame rate; turn or flip it",
	Description: "Bring a video to another aspect (16:9, 9:16, 1:1 …) with bars, a crop or a blurred background, to a size, to a length by speed or by trimming, or to an exact frame rate; turn and flip it. An aspect without a size never gives a frame larger than the input's. Sizes are those of the picture as shown, and even. A crop can keep in the frame what boxes name (subjects) or what a local model finds (keep): one place for the whole video, it does not follow what moves. What was changed is said in notes.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "fit",
	Timeout:     1800 * time.Second,
	Video:       true,
	Exclusive:   [][]string{{"keep", "crop_x"}, {"keep", "crop_y"}, {"subjects", "crop_x"}, {"subjects", "crop_y"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "boxblur", When: "fit blur"},
		{Filter: "minterpolate", When: "smooth"},
		{Program: object.Program, When: "keep"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []FitInput{
		{Input: "talk.mp4", Aspect: "9:16", Fit: "blur"},
		{Input: "talk.mp4", Aspect: "1:1", Fit: "crop", Subjects: []Subject{{X: 180, Y: 20, Width: 120, Height: 140}}},
		{Input: "talk.mp4", Aspect: "9:16", Fit: "crop", Keep: []string{"person"}},
		{Input: "talk.mp4", Duration: 30 * cutroom.Second, FPS: 29.97},
	},
	Names:     func(in FitInput) FitInput { in.Output = orNamed(in.Output, in.Input, "fit", ""); return in },
	Plan:      planFit,
	Interpret: answerFit,
})

// FitInput is the request.
type FitInput struct {
	Input cutroom.InPath `json:"input" doc:"The video."`

	Aspect   string    `json:"aspect,omitempty" doc:"Aspect of the frame: 16:9, 9:16, 1:1, 4:5, 4:3, 21:9 or any W:H in whole numbers."`
	Width    int       `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width of the frame. Without height or aspect the height keeps the picture's shape."`
	Height   int       `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height of the frame."`
	Fit      string    `json:"fit,omitempty" enum:"pad,crop,blur" default:"pad" doc:"How a picture of another shape gets into the frame. pad: bars. crop: what overhangs is cut off. blur: the picture itself, blurred, behind it."`
	PadColor string    `json:"pad_color,omitempty" doc:"Colour of the bars: a name such as black or navy, or #RRGGBB; black without it. Needs fit pad."`
	PadBlur  int       `json:"pad_blur,omitempty" min:"1" max:"200" unit:"px" rare:"true" doc:"Radius of the blur; 20 without it. Needs fit blur."`
	CropX    *float64  `json:"crop_x,omitempty" min:"0" max:"1" doc:"Where a crop lies from left (0) to right (1); 0.5 without it. Needs fit crop."`
	CropY    *float64  `json:"crop_y,omitempty" min:"0" max:"1" doc:"Where a crop lies from top (0) to bottom (1); 0.5 without it. Needs fit crop."`
	Subjects []Subject `json:"subjects,omitempty" max:"1000" rare:"true" doc:"Boxes that a crop keeps in the frame as far as they fit, such as faces or the boxes of recognised text. Excludes crop_x and crop_y. Needs fit crop."`
	Keep     []string  `json:"keep,omitempty" items:"..8" doc:"Kinds of objects that a crop keeps in the frame, as media.objects names them: person, dog, car … A local model looks for them in six frames; their boxes count as subjects. Excludes crop_x and crop_y. Needs fit crop."`

	Duration   cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"Length to reach."`
	Method     string         `json:"method,omitempty" enum:"speed,trim" default:"speed" doc:"How: play faster or slower (the pitch of the sound stays), or cut off the end."`
	FromCenter bool           `json:"from_center,omitempty" rare:"true" doc:"Keep the middle instead of the beginning. Needs method trim."`
	MaxSpeed   float64        `json:"max_speed,omitempty" min:"1" max:"100" default:"4" rare:"true" doc:"Most that it may be made faster, or slower."`
	Smooth     string         `json:"smooth,omitempty" enum:"blend,interpolate" rare:"true" doc:"Make frames in between where it gets slower or fps is higher: blended or with motion. Slow."`
	FPS        float64        `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate; 23.976, 29.97 and 59.94 are exact (24000/1001 …). Without it the input's stays."`

	Rotate int    `json:"rotate,omitempty" min:"0" max:"270" unit:"degrees" doc:"Turn the picture clockwise by 90, 180 or 270, before all else."`
	Flip   string `json:"flip,omitempty" enum:"h,v,hv" doc:"Mirror the picture left to right (h), top to bottom (v) or both, after it was turned."`

	AudioStream *int `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Keep only this audio stream, counted from 0. All stay without it."`
	Encoding
	tool.Writing
}

// Subject is a box that a crop keeps.
type Subject struct {
	X      int `json:"x" min:"0" max:"16384" unit:"px" doc:"Left edge in the picture as shown, before it is turned."`
	Y      int `json:"y" min:"0" max:"16384" unit:"px" doc:"Top edge."`
	Width  int `json:"width" min:"1" max:"16384" unit:"px" doc:"Width."`
	Height int `json:"height" min:"1" max:"16384" unit:"px" doc:"Height."`
}

// Validate refuses what contradicts itself, what is no aspect, colour or rate, and a
// call that asks for nothing.
func (in FitInput) Validate() error {
	framed := in.Aspect != "" || in.Width > 0 || in.Height > 0
	if !framed && in.Duration == 0 && in.FPS == 0 && in.Rotate == 0 && in.Flip == "" {
		return cutroom.Errorf(cutroom.Invalid, "nothing to do").WithHint("give aspect, width, height, duration, fps, rotate or flip")
	}
	for _, d := range in.dials(framed) {
		if d.given && !d.on {
			return cutroom.Errorf(cutroom.Invalid, "%s is given without %s", d.name, d.needs).WithHint("add %s, or leave %s out", d.needs, d.name)
		}
	}
	switch {
	case in.Rotate%90 != 0:
		return cutroom.Errorf(cutroom.Invalid, "rotate is %d", in.Rotate).WithHint("use 90, 180 or 270")
	case in.Aspect != "" && in.Width > 0 && in.Height > 0:
		return cutroom.Errorf(cutroom.Invalid, "aspect, width and height are given at once").WithHint("leave one of them out")
	case len(in.Subjects)+len(in.Keep) > 0 && (in.CropX != nil || in.CropY != nil):
		return cutroom.Errorf(cutroom.Invalid, "subjects and keep exclude crop_x and crop_y").WithHint("choose one of them")
	}
	if err := checkKinds(in.Keep); err != nil {
		return err
	}
	if in.Aspect != "" {
		if _, err := graph.ParseAspect(in.Aspect); err != nil {
			return err
		}
	}
	if _, err := rate(in.FPS); err != nil {
		return err
	}
	_, err := color("pad_color", in.PadColor)
	return err
}

// dials are the fields that work only beside another.
func (in FitInput) dials(framed bool) []dial {
	crop := in.Fit == "crop" && framed
	return []dial{
		{"fit " + in.Fit, "aspect, width or height", in.Fit != "" && in.Fit != "pad", framed},
		{"pad_color", "fit pad and aspect, width or height", in.PadColor != "", framed && in.Fit != "crop" && in.Fit != "blur"},
		{"pad_blur", "fit blur", in.PadBlur > 0, in.Fit == "blur"},
		{"crop_x", "fit crop", in.CropX != nil, crop},
		{"crop_y", "fit crop", in.CropY != nil, crop},
		{"subjects", "fit crop", len(in.Subjects) > 0, crop},
		{"keep", "fit crop", len(in.Keep) > 0, crop},
		{"from_center", "duration and method trim", in.FromCenter, in.Duration > 0 && in.Method == "trim"},
		{"method trim", "duration", in.Method == "trim", in.Duration > 0},
		{"smooth", "duration by speed, or fps", in.Smooth != "", in.Duration > 0 && in.Method != "trim" || in.FPS > 0},
	}
}

// FitOutput is the answer.
type FitOutput struct {
	tool.Made
	Width    int             `json:"width" unit:"px" doc:"Width of the frame as shown."`
	Height   int             `json:"height" unit:"px" doc:"Height of the frame as shown."`
	FPS      ffmpeg.Rational `json:"fps,omitzero" doc:"Exact frame rate, as num/den; absent where frames are unevenly spaced."`
	Speed    float64         `json:"speed" doc:"How much faster it plays: 1 is as before."`
	Subjects *float64        `json:"subjects_kept,omitempty" min:"0" max:"1" doc:"Share of the area of the subjects that is in the frame."`
}

// fitted is what a plan decided.
type fitted struct {
	render *graph.Render
	answer FitOutput
}

func planFit(f tool.Facts, in FitInput) (tool.Plan, error) {
	if len(in.Keep) > 0 {
		return planKeeping(f, in)
	}
	return planFitted(f, in, nil)
}

// planFitted plans the edit itself. notes are what was decided before.
func planFitted(f tool.Facts, in FitInput, notes []string) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	v, err := moving(file.Media)
	if err != nil {
		return tool.Plan{}, err
	}
	t, err := in.target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	g := graph.Graph{
		Sources: []graph.Source{file.AsSource()}, Target: t,
		Keep: graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
	}
	state := fitted{answer: FitOutput{Speed: 1}}
	state.answer.Notes = notes
	clip, err := in.clip(v, file.Media, &state.answer)
	if err != nil {
		return tool.Plan{}, err
	}
	g.Clips = []graph.Clip{clip}
	if g.Picture, err = in.picture(v.Video, &state.answer); err != nil {
		return tool.Plan{}, err
	}
	if g.Sound, err = in.sound(file.Media, t, clip); err != nil {
		return tool.Plan{}, err
	}
	if state.render, err = graph.NewRender(g, f.Abilities); err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(state.render, state, nil)
}

func answerFit(_ tool.Facts, in FitInput, r tool.Results) (FitOutput, error) {
	s := r.State().(fitted)
	out := s.answer
	t, err := in.target(in.Output)
	if err != nil {
		return out, err
	}
	if err := out.Rendered(r, s.render, t); err != nil {
		return out, err
	}
	if v := out.Probe.FirstVideo(); v != nil {
		out.Width, out.Height = v.Video.DisplayWidth, v.Video.DisplayHeight
		if !v.Video.VFR.Variable {
			out.FPS = v.Video.FrameRate
		}
	}
	return out, nil
}

// moving returns the video that an edit shows. Cover art and still pictures are none.
func moving(d *ffmpeg.Document) (*ffmpeg.Stream, error) {
	v := d.FirstVideo()
	if v == nil || v.Video.StillImage {
		return nil, cutroom.Errorf(cutroom.Invalid, "input has no video stream").WithHint("give a video; cover art and still pictures are none")
	}
	return d.VideoStream()
}

// say notes a choice.
func (o *FitOutput) say(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}
