package edit

import (
	"cmp"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/brand"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Overlay lays a picture, a video or text over a video.
var Overlay = tool.Add(Family, tool.Spec[OverlayInput, OverlayOutput]{
	Name:        "edit.overlay",
	Summary:     "Lay an image, a logo, text or a second video over a video",
	Description: "Put a picture (logo, sticker), text, or a second video (picture in picture, green screen) on a video: at one of nine places or at a point, inside what a platform leaves free, for a part of the time, with fades and opacity. Transparency is kept: PNG, VP9 and VP8 with alpha, ProRes 4444, animated GIF. The written file is compared with the input: what was laid on is to be seen in its time and place, and nothing else has changed. The second video's sound is not used; edit.audio mixes sound.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "overlay",
	Timeout:     1800 * time.Second,
	Video:       true,
	Exclusive:   [][]string{{"image", "video", "text"}, {"scale", "scale_percent"}},
	OneOf:       [][]string{{"image", "video", "text", "brand"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"overlay"}, Fonts: true, Optional: []tool.Optional{
		{Filter: "ass", When: "text"},
		{Filter: "chromakey", When: "chromakey"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []OverlayInput{
		{Input: "talk.mp4", Image: "logo.png", Opacity: 0.8, ScalePercent: 12},
		{Input: "talk.mp4", Logo: true, Brand: "brand.yaml"},
		{Input: "talk.mp4", Text: "100% it's: {ok}", Position: "bottom-left", Start: "1", End: "4", Fade: 300_000},
		{Input: "talk.mp4", Video: "presenter.mp4", Chromakey: "#00ff00", Position: "bottom-right", ScalePercent: 30},
	},
	Names:     func(in OverlayInput) OverlayInput { in.Output = orNamed(in.Output, in.Input, "overlay", ""); return in },
	Expand:    expandOverlay,
	Plan:      planOverlay,
	Interpret: overlaid,
})

// OverlayInput is the request.
type OverlayInput struct {
	Input cutroom.InPath `json:"input" doc:"The video that is drawn over."`
	Image cutroom.InPath `json:"image,omitempty" cli:"flag" doc:"A picture: PNG, JPEG, WebP, GIF … Exactly one of image, video, text and logo is needed."`
	Video cutroom.InPath `json:"video,omitempty" cli:"flag" doc:"A second video, from its beginning or from. Its sound is not used."`
	Text  string         `json:"text,omitempty" max:"2000" doc:"Text in any script, as it is: nothing in it is markup. Line ends are kept where they fit."`

	Logo  bool           `json:"logo,omitempty" doc:"The logo of the brand file, as that says: place, width and opacity."`
	Brand cutroom.InPath `json:"brand,omitempty" cli:"flag" probe:"-" doc:"Brand file, YAML or JSON: its logo, fonts, colours and margin."`

	Position     string         `json:"position,omitempty" max:"20" doc:"One of top-left, top, top-right, left, center, right, bottom-left, bottom, bottom-right, or X,Y in pixels of the frame; a negative number counts from the far edge. top-right without it, or where the brand's logo stands."`
	Margin       int            `json:"margin,omitempty" min:"1" max:"4000" unit:"px" doc:"Least distance to the frame's edges, for the nine places; without it the brand's, or 24."`
	Platform     string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over: tiktok, reels, shorts, youtube, x, linkedin, facebook …"`
	Start        cutroom.Moment `json:"start,omitempty" doc:"When it comes; the beginning without it."`
	End          cutroom.Moment `json:"end,omitempty" doc:"When it goes; the end without it."`
	Fade         cutroom.Micros `json:"fade,omitempty" min:"0" max:"30" unit:"s" doc:"How long it takes to come and go. It fades out only with end."`
	Opacity      float64        `json:"opacity,omitzero" min:"0.02" max:"1" doc:"How much of it covers what lies beneath: 1 without it, or what the brand says of its logo."`
	Scale        int            `json:"scale,omitempty" min:"2" max:"16384" unit:"px" doc:"Width of the picture or second video; its own without it, smaller where it does not fit."`
	ScalePercent float64        `json:"scale_percent,omitempty" min:"1" max:"100" unit:"%" doc:"Width as a share of the frame's."`

	From       cutroom.Moment `json:"from,omitempty" rare:"true" doc:"Where the second video begins."`
	Ended      string         `json:"ended,omitempty" enum:"vanish,freeze,loop" default:"vanish" rare:"true" doc:"What shows once the second video, or an animation, has ended: nothing, its last frame, or it again from its beginning."`
	Chromakey  string         `json:"chromakey,omitempty" max:"20" doc:"Colour of the second video, or picture, that becomes transparent: a name such as lime, or #RRGGBB."`
	Similarity float64        `json:"chromakey_similarity,omitempty" min:"0.01" max:"1" default:"0.15" rare:"true" doc:"How far from that colour still goes."`
	Blend      float64        `json:"chromakey_blend" min:"0" max:"1" default:"0.05" rare:"true" doc:"Over how much more it fades."`
	KeepSpill  bool           `json:"keep_spill,omitempty" rare:"true" doc:"Keep the green or blue light that such a screen throws on what stands before it."`

	Style TextStyle `json:"style,omitzero" rare:"true" doc:"How text looks."`
	EmojiChoice

	AudioStream *int `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Keep only this audio stream of the video, counted from 0. All stay without it."`
	Encoding
	tool.Writing

	// LogoFile is the logo's file, once the brand file was read.
	LogoFile cutroom.InPath `json:"-"`
}

// TextStyle is how text on a video looks. Lengths are pixels of the frame.
type TextStyle struct {
	Font     string  `json:"font,omitempty" max:"100" doc:"Font family; without it the brand's, or one chosen by the script of the text."`
	Size     int     `json:"font_size,omitzero" min:"4" max:"2000" default:"42" unit:"px" doc:"Height of a line."`
	Color    string  `json:"font_color,omitempty" max:"20" doc:"Colour of the letters: a name, or #RRGGBB; without it the brand's, or white."`
	Border   float64 `json:"border" min:"0" max:"100" default:"2" unit:"px" doc:"Width of the outline."`
	Outlined string  `json:"border_color,omitempty" max:"20" doc:"Colour of the outline; without it the brand's, or black."`
	Bold     bool    `json:"bold,omitempty" doc:"Bold letters."`
	Box      bool    `json:"box,omitempty" doc:"A box behind the text, in place of the outline."`
	BoxColor string  `json:"box_color,omitempty" max:"20" doc:"Colour of the box; without it the brand's, or black."`
	Language string  `json:"language,omitempty" max:"35" doc:"Language of the text, such as en or ja, where the form of letters depends on it."`
}

// Validate refuses what contradicts itself.
func (in OverlayInput) Validate() error {
	n := 0
	for _, given := range []bool{in.Image != "", in.Video != "", in.Text != "", in.Logo} {
		if given {
			n++
		}
	}
	if n != 1 {
		return cutroom.Errorf(cutroom.Invalid, "exactly one of image, video, text and logo is needed, not %d", n).WithHint("call once for each thing that is laid on")
	}
	for _, d := range []dial{
		{"chromakey", "video or image", in.Chromakey != "", in.Text == ""},
		{"logo", "brand", in.Logo, in.Brand != ""},
		{"from", "video", in.From != "", in.Video != ""},
		{"scale", "video or image", in.Scale > 0, in.Text == ""},
		{"scale_percent", "video or image", in.ScalePercent > 0, in.Text == ""},
	} {
		if d.given && !d.on {
			return cutroom.Errorf(cutroom.Invalid, "%s is given without %s", d.name, d.needs).WithHint("add %s, or leave %s out", d.needs, d.name)
		}
	}
	if in.Scale > 0 && in.ScalePercent > 0 {
		return cutroom.Errorf(cutroom.Invalid, "scale and scale_percent are given at once").WithHint("leave one of them out")
	}
	if err := in.checkEmoji(); err != nil {
		return err
	}
	if in.Position != "" {
		if _, err := parseSpot(in.Position); err != nil {
			return err
		}
	}
	if _, err := rgb("chromakey", in.Chromakey); err != nil {
		return err
	}
	return in.Style.check()
}

// check refuses colours that are none.
func (s TextStyle) check() error {
	for _, c := range []struct{ name, value string }{{"font_color", s.Color}, {"border_color", s.Outlined}, {"box_color", s.BoxColor}} {
		if _, err := rgb(c.name, c.value); err != nil {
			return err
		}
	}
	return nil
}

// rgb reads a colour that may be left out, as three bytes.
func rgb(name, s string) ([3]uint8, error) {
	var c [3]uint8
	text, err := color(name, s)
	if err != nil || text == "" {
		return c, err
	}
	if _, err := fmt.Sscanf(text, "0x%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
		return c, cutroom.Errorf(cutroom.Invalid, "%s: %q cannot be used here", name, s).WithHint("write #RRGGBB, such as #00ff00")
	}
	return c, nil
}

// OverlayOutput is the answer.
type OverlayOutput struct {
	tool.Made
	Overlay Placed       `json:"overlay" doc:"What was laid on."`
	Emoji   *EmojiReport `json:"emoji,omitempty" doc:"What became of emoji, when there are any."`
}

// Placed is where and when something stands on a video.
type Placed struct {
	Kind    string         `json:"kind" enum:"image,video,text" doc:"What it is."`
	X       int            `json:"x" unit:"px" doc:"Left edge of its place, in pixels of the frame as shown; negative where it overhangs."`
	Y       int            `json:"y" unit:"px" doc:"Top edge."`
	Width   int            `json:"width" unit:"px" doc:"Width of its place."`
	Height  int            `json:"height" unit:"px" doc:"Height of its place."`
	Start   cutroom.Micros `json:"start" unit:"s" doc:"When it comes, in the written file."`
	End     cutroom.Micros `json:"end" unit:"s" doc:"When it is gone."`
	Opacity float64        `json:"opacity" doc:"How much of it covers what lies beneath."`
	Fonts   []string       `json:"fonts,omitempty" doc:"Families that draw the text."`
	Lines   int            `json:"lines,omitempty" doc:"Lines of the text."`
	SizePx  float64        `json:"size_px,omitempty" unit:"px" doc:"Height of a line, as drawn."`
}

// overlaying is one call while it is worked on.
type overlaying struct {
	*drawing
	out OverlayOutput
}

// expandOverlay finds the logo that a brand file names.
func expandOverlay(in OverlayInput, r tool.Reading) (OverlayInput, error) {
	var err error
	if in.EmojiChoice, err = in.expanded(r, in.Text); err != nil || !in.Logo {
		return in, err
	}
	text, err := r.Read(in.Brand, brand.MaxText)
	if err != nil {
		return in, err
	}
	k, err := brand.Parse(text)
	if err != nil {
		return in, err
	}
	if in.LogoFile = k.LogoBeside(in.Brand); in.LogoFile == "" {
		return in, cutroom.Errorf(cutroom.Invalid, "the brand file names no logo").WithHint("add logo: {file: logo.png} to it, or give image")
	}
	return in, nil
}

func planOverlay(f tool.Facts, in OverlayInput) (tool.Plan, error) {
	o := &overlaying{}
	var err error
	if o.drawing, err = newDrawing(f, in.Input, in.Output, in.Encoding, &o.out.Made); err != nil {
		return tool.Plan{}, err
	}
	if in.AudioStream != nil {
		if o.sound, err = (FitInput{AudioStream: in.AudioStream}).sound(o.file.Media, o.target, graph.Clip{}); err != nil {
			return tool.Plan{}, err
		}
	}
	from, to, err := o.span(in.Start, in.End)
	if err != nil {
		return tool.Plan{}, err
	}
	if o.out.Overlay, err = o.overlay(in, from, to); err != nil {
		return tool.Plan{}, err
	}
	o.out.Emoji = o.emojis
	return o.plan(o)
}

// overlay adds what an overlay lays on, between two times of the edit. Of the input only
// what is about that counts.
func (d *drawing) overlay(in OverlayInput, from, to cutroom.Micros) (Placed, error) {
	k, err := kit(d.f, in.Brand)
	if err != nil {
		return Placed{}, err
	}
	if in.Text != "" {
		return d.overlayText(in, k, from, to)
	}
	return d.overlayPicture(in, k, from, to)
}

// spot is where an overlay stands.
func (in OverlayInput) spot(k brand.Kit) string {
	if in.Logo {
		return cmp.Or(in.Position, k.Logo.Position, "top-right")
	}
	return cmp.Or(in.Position, "top-right")
}

// opacity is how much of it covers.
func (in OverlayInput) opacity(k brand.Kit) float64 {
	if in.Logo {
		return cmp.Or(in.Opacity, k.Logo.Opacity, 1)
	}
	return cmp.Or(in.Opacity, 1)
}

// margin is its least distance to the edges.
func (in OverlayInput) margin(k brand.Kit, d *drawing) int {
	return cmp.Or(in.Margin, k.MarginOf(d.width, d.height, 24))
}

// overlayPicture adds the layer of a picture or a second video.
func (d *drawing) overlayPicture(in OverlayInput, k brand.Kit, from, to cutroom.Micros) (none Placed, err error) {
	path, kind := cmp.Or(in.Image, in.LogoFile), "image"
	if in.Video != "" {
		path, kind = in.Video, "video"
	}
	file, err := d.f.Named(path)
	if err != nil || file.Media == nil {
		return none, fmt.Errorf("the overlay was not probed: %w", err)
	}
	v := file.Media.FirstVideo()
	switch {
	case v == nil:
		return none, cutroom.Errorf(cutroom.Invalid, "%s: the overlay has no picture", file.Name).WithHint("give an image or a video")
	case kind == "video" && v.Video.StillImage:
		return none, cutroom.Errorf(cutroom.Invalid, "%s is a still picture", file.Name).WithHint("give it as image")
	}
	if _, err := file.Media.VideoStream(); err != nil {
		return none, err
	}
	l := graph.Layer{Source: d.source(file), Start: from, Opacity: in.opacity(k), Hold: hold(in.Ended), FadeIn: in.Fade}
	if to < d.length() {
		l.End = to
	}
	if in.End != "" {
		l.End, l.FadeOut = to, in.Fade
	}
	if l.FadeIn+l.FadeOut > to-from {
		return none, cutroom.Errorf(cutroom.Invalid, "fades of %s s do not fit into %s s", in.Fade, to-from).WithHint("shorten fade")
	}
	if in.From != "" {
		if l.From, err = begins(file, in.From); err != nil {
			return none, err
		}
		if l.Hold == graph.Again {
			return none, cutroom.Errorf(cutroom.Invalid, "a video that is shown again begins at its beginning").WithHint("leave from out, or cut it first")
		}
	}
	if in.Chromakey != "" {
		c, _ := rgb("chromakey", in.Chromakey)
		l.Key = &graph.Key{Color: c, Similarity: in.Similarity, Blend: in.Blend, Despill: !in.KeepSpill && screened(c)}
	}
	if l.Box, err = d.place(in, k, v.Video); err != nil {
		return none, err
	}
	if kind == "video" && len(file.Media.AudioStreams()) > 0 {
		d.say("the sound of %s is not used", file.Name)
	}
	until := l.Until(&d.sources[len(d.sources)-1], to)
	d.layers = append(d.layers, l)
	d.marks = append(d.marks, mark{box: inside(l.Box, d.width, d.height), start: from, end: until, fadeIn: l.FadeIn, fadeOut: l.FadeOut, opacity: l.Opacity, any: l.Key != nil || kind == "video", opaque: l.Key == nil && !v.Video.Alpha && l.Opacity == 1})
	return Placed{Kind: kind, X: l.Box.X, Y: l.Box.Y, Width: l.Box.Width, Height: l.Box.Height, Start: from, End: until, Opacity: l.Opacity}, nil
}

// begins is where a second video begins.
func begins(file tool.Input, from cutroom.Moment) (cutroom.Micros, error) {
	at, err := file.Media.Moment(from)
	if err != nil {
		return 0, err
	}
	if l := lengthOf(file); l > 0 && at >= l {
		return 0, cutroom.Errorf(cutroom.Invalid, "%s is %s s long: it cannot begin at %s s", file.Name, l, at).WithHint("lower from")
	}
	return at, nil
}

// hold is what shows once a layer has ended.
func hold(s string) graph.Hold {
	switch s {
	case "freeze":
		return graph.Freeze
	case "loop":
		return graph.Again
	}
	return graph.Vanish
}

// screened reports whether a colour is one of a screen that throws its light.
func screened(c [3]uint8) bool {
	return c[1] > c[0] && c[1] > c[2] || c[2] > c[0] && c[2] > c[1]
}

// place is where a picture stands, and how large it is.
func (d *drawing) place(in OverlayInput, k brand.Kit, v *ffmpeg.VideoFacts) (graph.Box, error) {
	x0, y0, x1, y1, err := d.free(in.Platform, in.margin(k, d))
	if err != nil {
		return graph.Box{}, err
	}
	p, err := parseSpot(in.spot(k))
	if err != nil {
		return graph.Box{}, err
	}
	w := v.DisplayWidth
	asked := in.Scale > 0 || in.ScalePercent > 0
	switch {
	case in.Scale > 0:
		w = in.Scale
	case in.ScalePercent > 0:
		w = int(in.ScalePercent*float64(d.width)/100 + 0.5)
	case in.Logo:
		w = int(cmp.Or(k.Logo.Width, 12)*float64(d.width)/100 + 0.5)
	}
	w = max(2, w)
	h := max(2, (w*v.DisplayHeight+v.DisplayWidth/2)/max(1, v.DisplayWidth))
	if room := p.room(d.width, d.height, x0, y0, x1, y1); w > room.Width || h > room.Height {
		if asked && p.at {
			if w > 4*d.width || h > 4*d.height {
				return graph.Box{}, cutroom.Errorf(cutroom.Invalid, "%d×%d pixels are far larger than the frame of %d×%d", w, h, d.width, d.height).WithHint("lower scale")
			}
			return p.box(w, h, d.width, d.height, x0, y0, x1, y1), nil // it overhangs, as was asked
		}
		if asked && w <= d.width && h <= d.height && in.Platform == "" {
			// As large as it was asked to be, nearer to the edge than the margin.
			x0, y0, x1, y1 = min(x0, (d.width-w)/2), min(y0, (d.height-h)/2), max(x1, d.width-(d.width-w)/2), max(y1, d.height-(d.height-h)/2)
			d.say("%d×%d pixels do not leave the margin", w, h)
			return p.box(w, h, d.width, d.height, x0, y0, x1, y1), nil
		}
		f := min(float64(room.Width)/float64(w), float64(room.Height)/float64(h))
		d.say("the overlay of %d×%d is made smaller, to fit into %d×%d", w, h, room.Width, room.Height)
		w, h = max(2, int(float64(w)*f)), max(2, int(float64(h)*f))
	}
	b := p.box(w, h, d.width, d.height, x0, y0, x1, y1)
	if seen := inside(b, d.width, d.height); seen.Width < 2 || seen.Height < 2 {
		return b, cutroom.Errorf(cutroom.Invalid, "the place %s lies outside of the frame of %d×%d", in.spot(k), d.width, d.height).WithHint("choose a point within it")
	}
	return b, nil
}

// room is what there is for something at a spot: the free part for the nine places, the
// frame for a point.
func (p spot) room(width, height, x0, y0, x1, y1 int) graph.Box {
	if !p.at {
		return graph.Box{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0}
	}
	return graph.Box{Width: width, Height: height}
}

// inside is the part of a box that lies in a frame.
func inside(b graph.Box, width, height int) graph.Box {
	x0, y0 := max(0, b.X), max(0, b.Y)
	x1, y1 := min(width, b.X+b.Width), min(height, b.Y+b.Height)
	return graph.Box{X: x0, Y: y0, Width: max(0, x1-x0), Height: max(0, y1-y0)}
}

// overlaid delivers the file.
func overlaid(_ tool.Facts, _ OverlayInput, r tool.Results) (OverlayOutput, error) {
	o, ok := r.State().(*overlaying)
	if !ok {
		return OverlayOutput{}, fmt.Errorf("the overlay was not rendered")
	}
	return o.out, o.deliver(r)
}
