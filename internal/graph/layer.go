package graph

import (
	"cmp"
	"fmt"
	"math"
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

// layerLook is the chain that brings a layer's decoded picture to what is laid on the
// frame: its part of the time, its colours, its size, how far it is seen through.
func (c *compiler) layerLook(l *Layer, v *ffmpeg.Stream, tag string) string {
	var chain []string
	add := func(format string, args ...any) { chain = append(chain, fmt.Sprintf(format, args...)) }
	chain = append(chain, c.layerTime(l, v)...)
	still := v.Video.StillImage
	form, _ := overlayFormat(c.out.format)
	clear := l.transparent(v.Video)
	lifted := raised(v.Video, c.out)
	mapped := v.Video.HDR != "" && !c.out.hdr
	if mapped {
		chain = append(chain, c.toneMap(v.Video, "gbrp")...)
	}
	if l.Key != nil {
		chain = append(chain, l.Key.chain(v.Video, mapped || v.Video.RGB())...)
	} else if !mapped && (clear || lifted || l.fades() && still) {
		add("%s", toRGB(v.Video))
	}
	chain = append(chain, v.Video.Turns()...)
	if clear {
		add("premultiply=inplace=1")
	}
	inRGB := mapped || clear || lifted || l.fades() && still || v.Video.RGB()
	add("%s", l.intoBox(v.Video, inRGB, c))
	if clear {
		add("%s", unfringed(tag))
	}
	if still && (l.FadeIn > 0 || l.FadeOut > 0) {
		chain = append(chain, c.repeated(l)...)
	}
	if inRGB {
		chain = append(chain, l.veil("lutrgb", "gbrap")...)
		if lifted {
			chain = append(chain, lift(v.Video, c.out)...)
		}
		if form == "rgb" {
			add("format=rgba")
		} else {
			add("scale=iw:ih:out_color_matrix=%s:out_range=limited:flags=bicubic+accurate_rnd+full_chroma_int,format=%s", scaleMatrix(c.out.color.matrix), layerFormat(form))
		}
		if lifted && clear { // the conversion leaves a trace of what is fully transparent
			add("lutyuv=a='val*gt(val,4)'")
		}
	} else {
		add("format=%s", layerFormat(form))
		chain = append(chain, l.veil("lutyuv", layerFormat(form))...)
	}
	return strings.Join(append(chain, c.layerShift(l, v)...), ",")
}

// layerTime cuts the part of the source out that the layer shows.
func (c *compiler) layerTime(l *Layer, v *ffmpeg.Stream) []string {
	if v.Video.StillImage {
		return []string{"trim=end_frame=1", "setpts=0"}
	}
	s := &c.g.Sources[l.Source]
	from, _ := ffmpeg.TickRange(l.From+s.Media.ZeroSeconds, l.From+s.Media.ZeroSeconds+cutroom.Second, v.TimeBase)
	if l.From == 0 {
		from = min(from, v.StartTicks)
	}
	return []string{fmt.Sprintf("trim=start_pts=%d", from), fmt.Sprintf("setpts=PTS-%d", from)}
}

// layerShift moves a layer to its place in the edit, and gives it the time base of the
// picture, so that laying it on moves no frame of that.
func (c *compiler) layerShift(l *Layer, v *ffmpeg.Stream) []string {
	if v.Video.StillImage && l.FadeIn == 0 && l.FadeOut == 0 {
		return []string{"settb=" + c.tick().String()} // one picture, from the beginning on
	}
	chain := []string{"settb=" + c.tick().String()}
	if l.Start > 0 {
		chain = append(chain, fmt.Sprintf("setpts='PTS+%d/1000000/TB'", int64(l.Start)))
	}
	// What is laid on must not outlast the picture: it would go on with its last frame.
	return append(chain, fmt.Sprintf("trim=end_pts=%d", c.lastTick()+1))
}

// repeated makes a still picture one that moves, so that it can fade.
func (c *compiler) repeated(l *Layer) []string {
	rate := c.rate
	if !rate.Known() {
		rate = nominal(c.g.Sources[c.g.Clips[0].Source].Media.FirstVideo().Video.FrameRate, true)
	}
	length := c.line.time(c.line.total) - l.Start
	if l.End > 0 {
		length = min(length, l.End-l.Start)
	}
	frames := round(int64(max(length, 1)), rate, micro) + 1
	return []string{"loop=loop=-1:size=1:start=0", "settb=" + rate.Inverse().String(), "setpts=N", fmt.Sprintf("trim=end_frame=%d", frames)}
}

// veil makes a layer be seen through evenly. lut is the filter for the format's
// samples, which have alpha.
func (l *Layer) veil(lut, format string) []string {
	if !l.fades() {
		return nil
	}
	chain := []string{"format=" + format}
	if l.FadeIn > 0 {
		chain = append(chain, "fade=t=in:st=0:d="+l.FadeIn.String()+":alpha=1")
	}
	if l.FadeOut > 0 && l.End > 0 {
		chain = append(chain, fmt.Sprintf("fade=t=out:st=%s:d=%s:alpha=1", max(0, l.End-l.Start-l.FadeOut), l.FadeOut))
	}
	if l.Opacity > 0 && l.Opacity < 1 {
		chain = append(chain, lut+"=a=val*"+number(l.Opacity))
	}
	return chain
}

// intoBox scales a layer into its box.
func (l *Layer) intoBox(v *ffmpeg.VideoFacts, rgb bool, c *compiler) string {
	conv := ""
	if !rgb {
		conv = c.convert(v, c.out)
	}
	w, h := l.Box.Width, l.Box.Height
	scale := func(w, h int) string { return fmt.Sprintf("scale=%d:%d%s:flags=bicubic", w, h, conv) }
	dw, dh := v.DisplayWidth, v.DisplayHeight
	switch l.Fit {
	case Cover:
		cw, ch := cover(dw, dh, w, h, 1)
		return fmt.Sprintf("%s,crop=%d:%d:%d:%d:exact=1,setsar=1", scale(cw, ch), w, h, (cw-w)/2, (ch-h)/2)
	case Pad:
		iw, ih := contain(dw, dh, w, h, 2)
		return fmt.Sprintf("%s,pad=%d:%d:%d:%d:color=%s,setsar=1", scale(iw, ih), w, h, (w-iw)/2&^1, (h-ih)/2&^1, cmp.Or(l.PadColor, "black"))
	}
	return scale(w, h) + ",setsar=1"
}

// toRGB brings a picture to planes of red, green, blue and alpha, read by its own
// matrix and range.
func toRGB(v *ffmpeg.VideoFacts) string {
	if v.RGB() {
		return "format=gbrap"
	}
	return readRGB(v.MatrixOr(), v.FullRange())
}

func readRGB(matrix string, full bool) string {
	rng := "limited"
	if full {
		rng = "full"
	}
	return "scale=iw:ih:in_color_matrix=" + scaleMatrix(matrix) + ":in_range=" + rng + ":flags=bicubic+accurate_rnd+full_chroma_int,format=gbrap"
}

// unfringed gives what is transparent the colour of what stands beside it. Colours are
// stored for two or four pixels at once: without it, those at an edge would be mixed with
// the colour of something that is not seen. The picture comes in multiplied by its
// alpha, so that scaling did the same, and goes out as it was.
func unfringed(tag string) string {
	return fmt.Sprintf("split=3[%sa][%sb][%sc];[%sa]alphaextract[%sm];[%sb]gblur=sigma=1,unpremultiply=inplace=1,lutrgb=a=255[%sd];[%sc]unpremultiply=inplace=1[%se];[%sd][%se]overlay=format=gbrp,format=gbrp[%sf];[%sf][%sm]alphamerge",
		tag, tag, tag, tag, tag, tag, tag, tag, tag, tag, tag, tag, tag, tag)
}

// lift brings a layer of standard range, or of the other curve, to the curve of a frame
// of high dynamic range, as [raise] does; alpha goes along.
func lift(v *ffmpeg.VideoFacts, f frame) []string {
	in := "tin=709:pin=709:p=709"
	if v.HDR != "" {
		in = "pin=2020:p=2020"
	}
	return []string{
		"format=gbrap12le", "zscale=min=gbr:m=gbr:rin=full:" + in + ":t=linear:npl=203", "format=gbrapf32le", "zscale=p=2020",
		"zscale=t=" + f.color.transfer + ":npl=203", "format=gbrap12le",
	}
}

// chain takes the colour out of a picture, which comes in as red, green and blue (rgb)
// or as the video holds it, and goes out with alpha. What counts is the colour as the
// video holds it: by its own matrix and range, which the filter itself does not know.
func (k *Key) chain(v *ffmpeg.VideoFacts, rgb bool) []string {
	matrix, full := v.MatrixOr(), v.FullRange()
	into := "format=yuva444p"
	if rgb {
		matrix, full = "bt709", false
		into = "scale=iw:ih:out_color_matrix=bt709:out_range=limited:flags=bicubic+accurate_rnd+full_chroma_int,format=yuva444p"
	}
	y, cb, cr := codeOf(k.Color, matrix, full)
	list := []string{
		into,
		fmt.Sprintf("chromakey=color=0x%02x%02x%02x:similarity=%s:blend=%s:yuv=1", y, cb, cr, number(max(0.01, k.Similarity)), number(k.Blend)),
		readRGB(matrix, full),
	}
	if k.Despill {
		kind := "green"
		if k.Color[2] > k.Color[1] {
			kind = "blue"
		}
		list = append(list, "despill=type="+kind, "format=gbrap")
	}
	return list
}

// codeOf is a colour in eight bits of a matrix and a range.
func codeOf(rgb [3]uint8, matrix string, full bool) (y, cb, cr uint8) {
	kr, kb := 0.2126, 0.0722
	switch scaleMatrix(matrix) {
	case "bt601":
		kr, kb = 0.299, 0.114
	case "bt2020":
		kr, kb = 0.2627, 0.0593
	case "smpte240m":
		kr, kb = 0.212, 0.087
	case "fcc":
		kr, kb = 0.30, 0.11
	}
	r, g, b := float64(rgb[0])/255, float64(rgb[1])/255, float64(rgb[2])/255
	luma := kr*r + (1-kr-kb)*g + kb*b
	u, w := (b-luma)/(2*(1-kb)), (r-luma)/(2*(1-kr))
	code := func(x float64) uint8 { return uint8(math.Round(min(max(x, 0), 255))) }
	if full {
		return code(255 * luma), code(255*u + 128), code(255*w + 128)
	}
	return code(219*luma + 16), code(224*u + 128), code(224*w + 128)
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
