package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Layer is one thing that is drawn over the frame: a picture or a video of a source, or
// a script. Layers are drawn in order, over what Burn draws. Times are those of the
// edit; a layer shows on the frames from Start on, and before End.
type Layer struct {
	// Script is an ASS file of the private folder, on a grid of the frame's pixels, with
	// its own times; the other fields count for nothing beside it.
	Script string

	Source   int            // of the graph: its first video stream
	From     cutroom.Micros // public axis of the source: what shows first
	Hold     Hold           // what shows once the source has ended
	Box      Box            // where it stands in the frame, as shown
	Fit      Fit            // how it gets into the box: Stretch when empty
	PadColor string         // of Pad; default black

	Start, End      cutroom.Micros // End 0: to the end of the edit
	FadeIn, FadeOut cutroom.Micros // FadeOut needs End
	Opacity         float64        // 0 to 1; 0 is 1
	Key             *Key
}

// Hold is what a layer shows once its source has ended.
type Hold string

// The choices. A still picture always stays.
const (
	Vanish Hold = "" // nothing
	Freeze Hold = "freeze"
	Again  Hold = "again" // from its beginning
)

// Key takes one colour out of a layer, such as the green of a screen.
type Key struct {
	Color      [3]uint8 // red, green, blue
	Similarity float64  // 0.01 to 1: how far from the colour still goes
	Blend      float64  // 0 to 1: over how much more it fades
	Despill    bool     // the light that the screen throws on what stands before it goes, too
}

// Still reports whether a source's picture is a single one.
func Still(m *ffmpeg.Document) bool {
	v := m.FirstVideo()
	return v != nil && v.Video.StillImage
}

// ends is when a layer's source has been shown to its end, in the edit; 0 is never.
func (l *Layer) ends(s *Source) cutroom.Micros {
	v := s.Media.FirstVideo()
	if v == nil || v.Video.StillImage || l.Hold != Vanish {
		return 0
	}
	length := s.Media.DurationSeconds
	if v.EndSeconds > 0 {
		length = v.EndSeconds
	}
	if length <= 0 {
		return 0
	}
	return l.Start + max(0, length-l.From)
}

// Until is when a layer is gone in an edit of that length, its source's own end counted.
func (l *Layer) Until(s *Source, length cutroom.Micros) cutroom.Micros {
	for _, end := range []cutroom.Micros{l.End, l.ends(s)} {
		if end > 0 && (length <= 0 || end < length) {
			length = end
		}
	}
	return length
}

// transparent reports whether parts of a layer's own picture show what lies beneath.
func (l *Layer) transparent(v *ffmpeg.VideoFacts) bool { return v.Alpha || l.Key != nil }

// fades reports whether a layer is seen through evenly, for a time or always.
func (l *Layer) fades() bool {
	return l.FadeIn > 0 || l.FadeOut > 0 || l.Opacity > 0 && l.Opacity < 1
}

// drawn is what ends the chain of the picture: scripts and layers over the frame, then
// the label v.
func (c *compiler) drawn() (string, error) {
	p := c.g.Picture
	var b strings.Builder
	if len(p.Burn)+len(p.Layers) > 0 {
		b.WriteString(c.watched())
	}
	for _, name := range p.Burn {
		fmt.Fprintf(&b, ",ass=filename=%s", name)
	}
	for i := range p.Layers {
		l := &p.Layers[i]
		if l.Script != "" {
			fmt.Fprintf(&b, ",ass=filename=%s", l.Script)
			continue
		}
		chain, err := c.layer(i, l)
		if err != nil {
			return "", err
		}
		b.WriteString(chain)
	}
	if b.Len() > 0 {
		fmt.Fprintf(&b, ",format=%s%s", c.out.format, c.setColors(c.out))
	}
	return b.String() + "[v]", nil
}

// layer is the part of the chain that lays one source over the frame.
func (c *compiler) layer(i int, l *Layer) (string, error) {
	s := &c.g.Sources[l.Source]
	v, err := s.Media.VideoStream()
	if err != nil {
		return "", err
	}
	if err := c.layerNeeds(l, v.Video); err != nil {
		return "", err
	}
	n, err := c.openLayer(l, s)
	if err != nil {
		return "", err
	}
	c.sayLayer(s, v.Video)
	x, y := l.Box.X, l.Box.Y
	if c.subsampled(c.out.format) {
		x, y = x&^1, y&^1
	}
	enable := ""
	if from, to := l.Start, l.Until(s, 0); from > 0 || to > 0 {
		enable = ":enable='gte(t," + max(0, from-1).String() + ")"
		if to > 0 {
			enable += "*lt(t," + (to - 1).String() + ")"
		}
		enable += "'"
	}
	over, _ := overlayFormat(c.out.format)
	return fmt.Sprintf("[u%d];[%d:%d]%s[l%d];[u%d][l%d]overlay=%d:%d:format=%s%s,settb=%s", i, n, v.Index, c.layerLook(l, v, fmt.Sprintf("l%d", i)), i, i, i,
		x, y, over, enable, c.tick()), nil
}

// tick is the time base of the picture where layers are drawn.
func (c *compiler) tick() ffmpeg.Rational {
	if c.rate.Known() {
		return c.rate.Inverse()
	}
	return c.line.unit
}

// lastTick is when the last frame of the picture shows, in that time base.
func (c *compiler) lastTick() int64 {
	if c.selecting && !c.rate.Known() {
		return c.line.total - int64(c.line.parts[len(c.line.parts)-1].rest)
	}
	return c.frames() - 1
}

// layerNeeds refuses a layer that the frame cannot take, or that needs filters that are
// not there.
func (c *compiler) layerNeeds(l *Layer, v *ffmpeg.VideoFacts) error {
	need := []string{"overlay"}
	if l.transparent(v) {
		need = append(need, "premultiply", "unpremultiply", "gblur", "alphaextract", "alphamerge")
	}
	if l.Key != nil {
		need = append(need, "chromakey")
		if l.Key.Despill {
			need = append(need, "despill")
		}
	}
	if v.HDR != "" && !c.out.hdr || raised(v, c.out) {
		need = append(need, "zscale", "tonemap")
	}
	if l.Box.Width < 2 || l.Box.Height < 2 {
		return cutroom.Errorf(cutroom.Invalid, "a layer of %d×%d pixels is too small to be seen", l.Box.Width, l.Box.Height).WithHint("make it larger")
	}
	return c.a.Missing(need...)
}

// sayLayer notes what is done to a layer's colours.
func (c *compiler) sayLayer(s *Source, v *ffmpeg.VideoFacts) {
	switch {
	case v.HDR != "" && !c.out.hdr:
		c.note("the high dynamic range of %s (%s) is tone-mapped to standard range", s.Name, v.HDR)
	case raised(v, c.out):
		c.note("%s is brought to the curve %s of the picture that it is laid on", s.Name, c.out.color.transfer)
	}
	if _, exact := overlayFormat(c.out.format); !exact {
		c.note("layers are drawn in another pixel format than %s, which costs some precision of colour", c.out.format)
	}
}

// openLayer opens a layer's source as an input of the run.
func (c *compiler) openLayer(l *Layer, s *Source) (int, error) {
	in, err := c.opened(l.Source, l.From)
	if err != nil {
		return 0, err
	}
	if l.Hold == Again && !Still(s.Media) {
		in.atoms = append(argv.Words("-stream_loop", "-1"), in.atoms...)
	}
	c.inputs = append(c.inputs, in)
	return len(c.inputs) - 1, nil
}

// overlayFormat is the form in which ffmpeg's overlay draws on a pixel format, and
// whether that is the format itself.
func overlayFormat(format string) (form string, exact bool) {
	switch format {
	case "yuv420p", "yuva420p":
		return "yuv420", true
	case "yuv420p10le":
		return "yuv420p10", true
	case "yuv422p":
		return "yuv422", true
	case "yuv422p10le":
		return "yuv422p10", true
	case "yuv444p", "yuva444p":
		return "yuv444", true
	case "yuv444p10le", "yuva444p10le", "yuv444p12le", "yuva444p12le":
		return "yuv422p10", false
	case "rgb24", "gbrp", "pal8", "bgra", "rgb8":
		return "rgb", true
	}
	return "yuv420", false
}

// layerFormat is the format of a layer that is drawn in that form.
func layerFormat(form string) string {
	switch form {
	case "yuv420p10", "yuv422p10":
		return "yuva" + strings.TrimPrefix(form, "yuv") + "le"
	case "rgb":
		return "rgba"
	}
	return "yuva" + strings.TrimPrefix(form, "yuv") + "p"
}

// checkLayers refuses layers that name what is not there.
func (c *compiler) checkLayers() error {
	if c.g.Picture == nil {
		return nil
	}
	for _, l := range c.g.Picture.Layers {
		if l.Script == "" && (l.Source < 0 || l.Source >= len(c.g.Sources)) {
			return fmt.Errorf("a layer names source %d of %d", l.Source, len(c.g.Sources))
		}
		if l.End > 0 && l.End <= l.Start {
			return cutroom.Errorf(cutroom.Invalid, "a layer ends at %s s, not after its start at %s s", l.End, l.Start).WithHint("give an end behind the start")
		}
	}
	if c.g.Picture.Copy && len(c.g.Picture.Layers) > 0 {
		return fmt.Errorf("a copied picture cannot have layers")
	}
	return nil
}

// Contained is the part of a box that a picture of w×h takes in it, as a layer with bars.
func Contained(w, h int, b Box) Box {
	iw, ih := contain(w, h, b.Width, b.Height, 2)
	return Box{X: b.X + (b.Width-iw)/2&^1, Y: b.Y + (b.Height-ih)/2&^1, Width: iw, Height: ih}
}

// Framed is the chain that brings a picture of w×h into a box as a layer of that fit is;
// with bars it is stretched into the part between them.
func Framed(f Fit, w, h, bw, bh int) []string {
	switch f {
	case Cover:
		cw, ch := cover(w, h, bw, bh, 1)
		return []string{fmt.Sprintf("scale=%d:%d:flags=bicubic", cw, ch), fmt.Sprintf("crop=%d:%d:%d:%d:exact=1", bw, bh, (cw-bw)/2&^1, (ch-bh)/2&^1)}
	}
	return []string{fmt.Sprintf("scale=%d:%d:flags=bicubic", bw, bh)}
}
