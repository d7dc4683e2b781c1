package edit

import (
	"cmp"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Waveform shows what a recording sounds like.
var Waveform = tool.Add(Family, tool.Spec[WaveformInput, WaveformOutput]{
	Name:        "edit.waveform",
	Summary:     "Make a video of a sound: waveform, bars or spectrum, with a title",
	Description: "Make an audiogram: a video that shows what a recording sounds like, as a moving waveform, bars of its frequencies or a spectrum that scrolls, over a colour, a gradient or a picture, with a title in any script. The sound is the recording's own. Add captions to it with edit.caption.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "waveform",
	Timeout:     1800 * time.Second,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Fonts: true, Optional: []tool.Optional{
		{Filter: "showwaves", When: "style wave and line"}, {Filter: "showfreqs", When: "style bars"}, {Filter: "showspectrum", When: "style spectrum"}, {Filter: "ass", When: "title"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []WaveformInput{
		{Input: "episode.mp3", Title: "Episode 12"},
		{Input: "episode.mp3", Style: "bars", Image: "cover.jpg", Position: "bottom", Width: 1080, Height: 1080, Color: "#ffcc00"},
	},
	Names: func(in WaveformInput) WaveformInput {
		in.Output = orNamed(in.Output, in.Input, "waveform", ".mp4")
		return in
	},
	Plan:      planWaveform,
	Interpret: answerWaveform,
})

// WaveformInput is the request.
type WaveformInput struct {
	Input       cutroom.InPath `json:"input" doc:"The recording: a sound, or a video whose picture is left out."`
	Style       string         `json:"style,omitempty" enum:"wave,line,bars,spectrum" default:"wave" doc:"wave: filled from the middle. line: the curve itself. bars: how strong each frequency is. spectrum: frequencies over time."`
	Title       string         `json:"title,omitempty" max:"200" doc:"Text at the top, or at the bottom where the sound is drawn at the top."`
	Font        string         `json:"font,omitempty" max:"100" rare:"true" doc:"Font of the title; one that has its letters without it."`
	Color       string         `json:"color,omitempty" doc:"Colour of what is drawn, and of the title: a name or #RRGGBB; white without it. A spectrum has colours of its own."`
	Background  []string       `json:"background,omitempty" min:"1" max:"8" doc:"Colour of the ground, or several that run into each other from top to bottom; black without it. Excludes image."`
	Image       cutroom.InPath `json:"image,omitempty" doc:"A still picture as the ground."`
	ImageFit    string         `json:"image_fit,omitempty" enum:"crop,pad,blur" default:"crop" doc:"How it gets into the frame. Needs image."`
	Opacity     float64        `json:"opacity,omitempty" min:"0.05" max:"1" doc:"How opaque what is drawn is; 1 without it."`
	Position    string         `json:"position,omitempty" enum:"center,top,bottom" default:"center" doc:"Where it is drawn."`
	VisHeight   float64        `json:"vis_height,omitempty" min:"0.05" max:"1" doc:"How high it is, as a share of the frame; 0.4 without it."`
	Split       bool           `json:"split_channels,omitempty" doc:"One curve for each channel. Not with bars."`
	Width       int            `json:"width,omitempty" min:"64" max:"4096" unit:"px" doc:"Width of the frame; 1280 without it, or 16:9 of the height."`
	Height      int            `json:"height,omitempty" min:"64" max:"4096" unit:"px" doc:"Height of the frame."`
	FPS         float64        `json:"fps,omitempty" min:"1" max:"120" unit:"1/s" doc:"Frame rate, exact as in edit.fit; 25 without it."`
	AudioStream int            `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Which audio stream is drawn and heard, counted from 0."`
	OnSilent    string         `json:"on_silent,omitempty" enum:"warn,fail" doc:"Listen first, and say so when there is nothing to hear, or fail."`
	Silence     *float64       `json:"silence_threshold,omitempty" min:"-120" max:"-10" unit:"dBFS" rare:"true" doc:"It is silent when its loudest sample lies below; -50 without it. Needs on_silent."`
	Encoding
	tool.Writing
}

// Validate refuses what contradicts itself.
func (in WaveformInput) Validate() error {
	bad := func(hint, format string, args ...any) error {
		return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("%s", hint)
	}
	switch {
	case in.Image != "" && len(in.Background) > 0:
		return bad("choose one of them", "background and image exclude each other")
	case in.ImageFit != "" && in.ImageFit != "crop" && in.Image == "":
		return bad("add image, or leave image_fit out", "image_fit is given without image")
	case in.Split && in.Style == "bars":
		return bad("leave split_channels out", "bars show all channels together")
	case in.Silence != nil && in.OnSilent == "":
		return bad("add on_silent, or leave silence_threshold out", "silence_threshold is given without on_silent")
	case in.Font != "" && in.Title == "":
		return bad("add title, or leave font out", "font is given without title")
	}
	if _, err := color("color", in.Color); err != nil {
		return err
	}
	if _, err := (BackgroundInput{Colors: in.Background}).fill(); err != nil {
		return err
	}
	_, err := rate(in.FPS)
	return err
}

// WaveformOutput is the answer.
type WaveformOutput struct {
	tool.Made
	Width    int            `json:"width" unit:"px" doc:"Width of the frame."`
	Height   int            `json:"height" unit:"px" doc:"Height of the frame."`
	Duration cutroom.Micros `json:"duration" unit:"s" doc:"Length of the written file."`
	Silent   *bool          `json:"silent,omitempty" doc:"Nothing is to be heard; absent when that was not looked at."`
}

// sounding is an audiogram being planned.
type sounding struct {
	*retiming
	silent *bool
}

func planWaveform(f tool.Facts, in WaveformInput) (tool.Plan, error) {
	s := &sounding{retiming: &retiming{}}
	files, err := s.draw(f, in)
	if err != nil {
		return tool.Plan{}, err
	}
	render := func() (tool.Plan, error) {
		var err error
		if s.render, err = graph.NewRender(s.graph, f.Abilities); err != nil {
			return tool.Plan{}, err
		}
		p, err := tool.Follow(s.render, s, nil)
		p.Files = files
		return p, err
	}
	if in.OnSilent == "" {
		return render()
	}
	m, err := ffmpeg.NewMeasure(s.file.Index, s.file.Format, s.file.Media, ffmpeg.MeasureOptions{Envelope: true, AudioStream: in.AudioStream, Abilities: &f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Follow(m, s, func(tool.Results) (tool.Plan, error) {
		silent := (AudioInput{SilenceThreshold: in.Silence}).silent(m)
		if s.silent = &silent; silent {
			if in.OnSilent == "fail" {
				return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "%s is silent: there is nothing to draw", in.Input).WithHint("choose another audio_stream, or use on_silent warn")
			}
			s.notes = append(s.notes, fmt.Sprintf("%s is silent: nothing moves", in.Input))
		}
		return render()
	})
}

// draw is the audiogram as an edit, and the files that its run needs.
func (s *sounding) draw(f tool.Facts, in WaveformInput) ([]argv.File, error) {
	var err error
	if s.file, err = f.Named(in.Input); err != nil {
		return nil, err
	}
	if _, err := s.file.Media.AudioStream(in.AudioStream); err != nil {
		return nil, err
	}
	if s.file.Media.FirstVideo() != nil {
		s.notes = append(s.notes, "the picture of the input is left out")
	}
	fps := ffmpeg.Rational{Num: 25, Den: 1}
	if in.FPS > 0 {
		if fps, err = rate(in.FPS); err != nil {
			return nil, err
		}
	}
	width, height := Generated{Width: in.Width, Height: in.Height}.size(16, 9, 0)
	if in.Width == 0 && in.Height == 0 {
		width, height = 1280, 720
	}
	target, err := in.target(in.Output)
	if err != nil {
		return nil, err
	}
	w := &graph.Wave{Style: cmp.Or(in.Style, "wave"), Stream: in.AudioStream, Split: in.Split, Opaque: in.Opacity, Fit: graph.Fit(cmp.Or(in.ImageFit, "crop")), Box: in.box(width, height)}
	ink, err := color("color", in.Color)
	if err != nil {
		return nil, err
	}
	w.Colors = []string{cmp.Or(ink, "white")}
	if in.Split {
		w.Colors = append(w.Colors, w.Colors[0])
	}
	ground, err := (BackgroundInput{Colors: in.Background, Angle: 90}).fill()
	if err != nil {
		return nil, err
	}
	w.Ground = *ground
	s.graph = graph.Graph{
		Sources: []graph.Source{graph.Heard(s.file.AsSource(), width, height, fps)}, Clips: []graph.Clip{{Wave: w}},
		Picture: &graph.Picture{Rate: fps, Width: width, Height: height}, Sound: &graph.Sound{Tracks: graph.OneTrack, Stream: in.AudioStream}, Keep: graph.Keep{Chapters: true}, Target: target,
	}
	if in.Image != "" {
		picked, err := f.Named(in.Image)
		if err != nil {
			return nil, err
		}
		if _, err := picture(picked); err != nil {
			return nil, err
		}
		w.Image = len(s.graph.Sources)
		s.graph.Sources = append(s.graph.Sources, picked.AsSource())
	}
	if in.Title == "" {
		return nil, nil
	}
	return s.entitle(f, in, width, height)
}

// box is where the sound is drawn: even, with a margin.
func (in WaveformInput) box(width, height int) graph.Box {
	share := in.VisHeight
	if share == 0 {
		share = 0.4
	}
	b := graph.Box{Width: max(16, width*9/10&^1), Height: min(height&^1, max(16, int(float64(height)*share)&^1))}
	b.X = (width - b.Width) / 2 &^ 1
	switch in.Position {
	case "top":
		b.Y = min(height/20, height-b.Height) &^ 1
	case "bottom":
		b.Y = max(0, height-b.Height-height/20) &^ 1
	default:
		b.Y = (height - b.Height) / 2 &^ 1
	}
	return b
}

// entitle lays the title out as a script over the whole length.
func (s *sounding) entitle(f tool.Facts, in WaveformInput, width, height int) ([]argv.File, error) {
	if f.Fonts == nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this installation has no fonts").WithHint("run `cutroom doctor`")
	}
	c, err := rgb("color", cmp.Or(in.Color, "white"))
	if err != nil {
		return nil, err
	}
	length := s.file.Media.DurationSeconds
	o := caption.Options{
		Width: width, Height: height, MaxLines: 3, Fit: true, MinSize: 8, Length: length,
		Safe:  caption.Insets{Left: 0.06, Right: 0.06, Top: 0.05, Bottom: 0.05},
		Style: caption.Style{Font: in.Font, Size: 26, Color: fmt.Sprintf("%02X%02X%02X", c[0], c[1], c[2]), OutlineBy: "000000", Outline: 1, Bold: true, Position: caption.Top},
	}
	if in.Position == "top" {
		o.Style.Position = caption.Bottom
	}
	lay, err := caption.Lay([]caption.Cue{{End: length, Text: in.Title}}, f.Fonts, o)
	if err != nil {
		return nil, err
	}
	if lay.Report.Split > 0 || !lay.Report.Unchanged {
		return nil, cutroom.Errorf(cutroom.Invalid, "the title does not fit into the frame of %d×%d", width, height).WithHint("shorten it, or make the frame larger")
	}
	const name = "title.ass"
	s.graph.Picture.Layers = []graph.Layer{{Script: name}}
	return []argv.File{{Name: name, Data: lay.ASS()}}, nil
}

func answerWaveform(_ tool.Facts, _ WaveformInput, res tool.Results) (WaveformOutput, error) {
	s := res.State().(*sounding)
	out := WaveformOutput{Silent: s.silent}
	out.Notes = append(out.Notes, s.notes...)
	err := out.Rendered(res, s.render, s.graph.Target)
	if err != nil || out.Probe == nil {
		return out, err
	}
	out.Duration = lasting(&out.Made)
	if v := out.Probe.FirstVideo(); v != nil {
		out.Width, out.Height = v.Video.DisplayWidth, v.Video.DisplayHeight
	}
	return out, nil
}
