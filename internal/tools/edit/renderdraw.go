package edit

import (
	"fmt"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graphic"
	"cutroom/internal/project"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// draw adds the layers of graphics and overlays, on the frame and in the times of the
// finished edit.
func (r *rendering) draw() ([]argv.File, error) {
	titled := r.p.Audiogram != nil && r.p.Audiogram.Title != ""
	pictured := r.text != nil && r.text.reel != nil
	if len(r.p.Graphics)+len(r.p.Overlays) == 0 && !titled && !pictured {
		return nil, r.watch(nil)
	}
	if !r.video {
		return nil, cutroom.Errorf(cutroom.Invalid, "graphics and overlays need a picture, and the edit has none").WithHint("name an output that ends in .mp4, or leave them out")
	}
	d := r.drawing()
	if pictured { // over the captions, beneath the rest; their file is written with them
		d.reel(r.text.reel)
		d.files = nil
	}
	if err := r.entitle(d); err != nil {
		return nil, err
	}
	for i, g := range r.p.Graphics {
		if err := r.graphic(d, g); err != nil {
			return nil, entry("graphic", i, err)
		}
		d.call(fmt.Sprintf("graphic %d", i+1))
	}
	for i, o := range r.p.Overlays {
		if err := r.overlay(d, o); err != nil {
			return nil, entry("overlay", i, err)
		}
		d.call(fmt.Sprintf("overlay %d", i+1))
	}
	r.stage("graphics", len(r.p.Graphics) > 0)
	r.stage("overlays", len(r.p.Overlays) > 0)
	r.graph.Sources = append(r.graph.Sources[:d.base:d.base], d.sources...)
	r.graph.Picture.Layers = d.layers
	r.out.Emoji = d.emojis
	return d.files, r.watch(d)
}

// call names the marks that have no name yet.
func (d *drawing) call(name string) {
	for i := range d.marks {
		d.marks[i].name = or(d.marks[i].name, name)
	}
}

// entry says which entry of a list an error is about.
func entry(what string, i int, err error) error {
	e := cutroom.AsError(err)
	if e.Code == cutroom.Internal {
		return fmt.Errorf("%s %d: %w", what, i+1, err)
	}
	return cutroom.Errorf(e.Code, "%s %d: %s", what, i+1, e.Msg).WithHint("%s", e.Hint)
}

// drawing is the finished edit as something that is drawn over: a video of the frame's
// size and form, as long as the edit.
func (r *rendering) drawing() *drawing {
	x, total := r.render.Expect().Video, r.render.Map().Seconds
	stream, facts := *r.first().Media.FirstVideo(), *r.first().Media.FirstVideo().Video
	if x.Transfer != "smpte2084" && x.Transfer != "arib-std-b67" {
		facts.HDR = ""
	}
	facts.Width, facts.Height, facts.DisplayWidth, facts.DisplayHeight, facts.Rotation = x.Width, x.Height, x.Width, x.Height, 0
	facts.Matrix, facts.Primaries, facts.Transfer, facts.PixelFormat = x.Matrix, x.Primaries, x.Transfer, x.PixelFormat
	if x.Rate.Known() {
		facts.FrameRate = x.Rate
	}
	stream.Video, stream.StartSeconds, stream.EndSeconds = &facts, 0, total
	media := &ffmpeg.Document{DurationSeconds: total, Streams: []ffmpeg.Stream{stream}}
	return &drawing{
		f: r.f, file: tool.Input{Name: "the edit", Media: media}, video: &stream, target: r.graph.Target, width: x.Width, height: x.Height,
		edit: edl.Map{Seconds: total, Sources: []edl.Source{{Seconds: total}}, Segments: []edl.Segment{{SourceEnd: total, End: total}}},
		base: len(r.files), made: &r.out.Made,
	}
}

func (r *rendering) graphic(d *drawing, g project.Graphic) error {
	input := GraphicsInput{
		Template: g.Template, Name: g.Name, Title: g.Title, Subtitle: g.Subtitle, Text: g.Text, Top: g.Top, Bottom: g.Bottom,
		Start: g.Start, End: g.End, Duration: g.Duration, From: or(g.From, 3), Position: g.Position, Margin: g.Margin, Platform: or(g.Platform, r.exported()),
		Scale: or(g.Scale, 1), Brand: r.p.Brand, Primary: g.Primary, TextColor: g.TextColor, Background: g.Background, Font: g.Font, Lang: g.Lang, EmojiChoice: EmojiChoice{Emoji: or(g.Emoji, "auto")},
	}
	if err := input.Validate(); err != nil {
		return err
	}
	t, err := graphic.Find(g.Template)
	if err != nil {
		return err
	}
	from, to, err := d.graphicTime(t, input)
	if err != nil {
		return err
	}
	_, err = d.graphic(t, input, from, to)
	return err
}

func (r *rendering) overlay(d *drawing, o project.Overlay) error {
	input := OverlayInput{
		Image: o.Image, Video: o.Video, Text: o.Text, Logo: o.Logo, Brand: r.p.Brand, Position: o.Position, Margin: o.Margin, Platform: or(o.Platform, r.exported()),
		Start: o.Start, End: o.End, Fade: o.Fade, Opacity: o.Opacity, Scale: o.Scale, ScalePercent: o.Percent, From: o.From, Ended: or(o.Ended, "vanish"),
		Chromakey: o.Chromakey, Similarity: or(o.Similarity, 0.15), Blend: 0.05,
		EmojiChoice: EmojiChoice{Emoji: or(o.Emoji, "auto")},
		Style:       TextStyle{Font: o.Font, Size: or(o.Size, 42), Color: o.Color, Border: 2, Outlined: o.Outlined, Bold: o.Bold, Box: o.Box, BoxColor: o.BoxColor},
	}
	turn(&input.Blend, o.Blend, &input.Style.Border, o.Border)
	if o.Logo {
		input.LogoFile = r.in.BrandLogo
	}
	if err := input.Validate(); err != nil {
		return err
	}
	from, to, err := d.span(o.Start, o.End)
	if err != nil {
		return err
	}
	_, err = d.overlay(input, from, to)
	return err
}
