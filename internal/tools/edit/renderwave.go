package edit

import (
	"cmp"
	"fmt"

	"cutroom"
	"cutroom/internal/brand"
	"cutroom/internal/caption"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/project"
	"cutroom/internal/tool"
)

// drawable says whether an audiogram contradicts itself.
func drawable(g project.Audiogram) error {
	bad := func(hint, format string, args ...any) error {
		return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("%s", hint)
	}
	switch {
	case g.Image != "" && len(g.Background) > 0:
		return bad("choose one of them", "background and image exclude each other")
	case g.ImageFit != "" && g.ImageFit != "crop" && g.Image == "":
		return bad("add image, or leave image_fit out", "image_fit is given without image")
	case g.Split && g.Style == "bars":
		return bad("leave split_channels out", "bars show all channels together")
	case g.Font != "" && g.Title == "":
		return bad("add title, or leave font out", "font is given without title")
	}
	if g.Platform != "" {
		if _, err := platform.Find(g.Platform); err != nil {
			return err
		}
	}
	if _, err := color("color", g.Color); err != nil {
		return err
	}
	if _, err := (BackgroundInput{Colors: g.Background}).fill(); err != nil {
		return err
	}
	_, err := rate(g.FPS)
	return err
}

// heard is a file of the clips as one whose picture is drawn of its sound, where the
// project is an audiogram.
func (r *rendering) heard(file tool.Input) (tool.Input, error) {
	g := r.p.Audiogram
	if g == nil {
		return file, nil
	}
	if _, err := file.Media.AudioStream(g.AudioStream); err != nil {
		return file, err
	}
	if file.Media.FirstVideo() != nil {
		r.say("the picture of the input is left out")
	}
	width, height := Generated{Width: g.Width, Height: g.Height}.size(16, 9, 0)
	if g.Width == 0 && g.Height == 0 {
		width, height = 1280, 720
		if p, err := platform.PresetOf(r.preset()); err == nil && p.Height > 0 {
			width, height = p.Width, p.Height
		}
	}
	file.Media = graph.Heard(file.AsSource(), width, height, r.waveRate()).Media
	return file, nil
}

func (r *rendering) preset() string {
	if r.p.Export == nil {
		return ""
	}
	return r.p.Export.Preset
}

// waveRate is the frame rate of an audiogram that nobody asked for another of.
func (r *rendering) waveRate() ffmpeg.Rational {
	if fps, err := rate(r.p.Audiogram.FPS); err == nil && fps.Known() {
		return fps
	}
	return ffmpeg.Rational{Num: 25, Den: 1}
}

// waves are what the clips of an audiogram show: one picture for all of them.
func (r *rendering) waves() (*graph.Wave, error) {
	g := r.p.Audiogram
	if g == nil {
		return nil, nil
	}
	if err := drawable(*g); err != nil {
		return nil, part("audiogram", err)
	}
	k, err := kit(r.f, r.p.Brand)
	if err != nil {
		return nil, err
	}
	w := &graph.Wave{Style: cmp.Or(g.Style, "wave"), Stream: g.AudioStream, Split: g.Split, Opaque: g.Opacity, Fit: graph.Fit(cmp.Or(g.ImageFit, "crop"))}
	ink, err := color("color", cmp.Or(g.Color, k.Colors.Primary, "white"))
	if err != nil {
		return nil, err
	}
	if w.Colors = []string{ink}; g.Split {
		w.Colors = append(w.Colors, ink)
	}
	ground := g.Background
	if len(ground) == 0 && k.Colors.Background != "" {
		ground = []string{k.Colors.Background}
	}
	fill, err := (BackgroundInput{Colors: ground, Angle: 90}).fill()
	if err != nil {
		return nil, err
	}
	w.Ground = *fill
	if g.Image == "" {
		return w, nil
	}
	picked, err := r.f.Named(g.Image)
	if err != nil {
		return nil, err
	}
	if _, err := picture(picked); err != nil {
		return nil, err
	}
	w.Image = r.source(picked)
	return w, nil
}

// insets are what the platform of an audiogram draws over.
func (r *rendering) insets() (s platform.Insets) {
	name := cmp.Or(r.p.Audiogram.Platform, r.exported())
	if p, err := platform.Find(name); name != "" && err == nil {
		s = p.Safe
	}
	return s
}

// waveBox is where the sound is drawn: even, with a margin, and where the platform draws
// nothing itself.
func (r *rendering) waveBox(width, height int) graph.Box {
	g, s := r.p.Audiogram, r.insets()
	top, bottom := max(height/20, int(s.Top*float64(height))), max(height/20, int(s.Bottom*float64(height)))
	left, right := max(width/20, int(s.Left*float64(width))), max(width/20, int(s.Right*float64(width)))
	b := graph.Box{Width: max(16, (width-left-right)&^1), Height: min(height&^1, max(16, int(float64(height)*or(g.VisHeight, 0.4))&^1))}
	b.X = min(left, width-b.Width) &^ 1
	switch g.Position {
	case "top":
		b.Y = min(top, height-b.Height) &^ 1
	case "bottom":
		b.Y = max(0, height-b.Height-bottom) &^ 1
	default:
		b.Y = (height - b.Height) / 2 &^ 1
	}
	return b
}

// entitle lays the title of an audiogram out as a script over the whole length.
func (r *rendering) entitle(d *drawing) error {
	g := r.p.Audiogram
	if g == nil || g.Title == "" {
		return nil
	}
	if r.f.Fonts == nil {
		return cutroom.Errorf(cutroom.MissingDependency, "this installation has no fonts").WithHint("run `cutroom doctor`")
	}
	k, err := kit(r.f, r.p.Brand)
	if err != nil {
		return err
	}
	pictures, mode, err := EmojiChoice{}.drawn(r.f.Fonts)
	if err != nil {
		return err
	}
	lay, err := r.title(d, k, pictures)
	if err != nil {
		return err
	}
	if lay.Report.Split > 0 || !lay.Report.Unchanged {
		return cutroom.Errorf(cutroom.Invalid, "the title does not fit into the frame of %d×%d", d.width, d.height).WithHint("shorten it, or make the frame larger")
	}
	d.script(lay.ASS())
	d.emojis = d.emojis.more(EmojiChoice{}.report(lay.Report.Emoji, mode, r.f.Fonts))
	if err := d.emoji(lay.Sprites()); err != nil {
		return err
	}
	x, y, w, h := lay.Area()
	d.marks = append(d.marks, mark{box: graph.Box{X: x, Y: y, Width: w, Height: h}, end: d.length(), name: "title"})
	return nil
}

func (r *rendering) title(d *drawing, k brand.Kit, pictures *caption.Pictures) (*caption.Layout, error) {
	g, s := r.p.Audiogram, r.insets()
	c, err := rgb("color", cmp.Or(g.Color, k.Colors.Text, "white"))
	if err != nil {
		return nil, err
	}
	o := caption.Options{
		Width: d.width, Height: d.height, MaxLines: 3, Fit: true, MinSize: 8, Length: d.length(), Pictures: pictures,
		Safe: caption.Insets{Left: max(0.06, s.Left), Right: max(0.06, s.Right), Top: max(0.05, s.Top), Bottom: max(0.05, s.Bottom)},
		Style: caption.Style{
			Font: cmp.Or(g.Font, k.Fonts.Heading), Size: 26, Color: fmt.Sprintf("%02X%02X%02X", c[0], c[1], c[2]), OutlineBy: "000000", Outline: 1, Bold: true, Position: caption.Top,
		},
	}
	if g.Position == "top" {
		o.Style.Position = caption.Bottom
	}
	return caption.Lay([]caption.Cue{{End: d.length(), Text: g.Title}}, r.f.Fonts, o)
}

// part says which part of a project an error is about.
func part(name string, err error) error {
	e := cutroom.AsError(err)
	return cutroom.Errorf(e.Code, "%s: %s", name, e.Msg).WithHint("%s", e.Hint)
}
