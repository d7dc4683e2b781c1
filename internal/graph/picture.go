package graph

import (
	"cmp"
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// frame is what the picture of the output is.
type frame struct {
	width, height int             // coded
	sar           ffmpeg.Rational // zero: square
	format        string          // pixel format
	hdr           bool            // kept
	alpha         bool            // kept
	color         colors
	kept          bool // the geometry of the source is kept
}

// colors are the tags of a picture.
type colors struct{ rng, matrix, primaries, transfer string }

// even rounds down to what 4:2:0 sampling can hold.
func even(n int) int { return max(2, n&^1) }

// shape decides the output's frame from the first clip's picture.
func (c *compiler) shape(v *ffmpeg.VideoFacts) (frame, error) {
	p := c.g.Picture
	f := frame{hdr: v.HDR != "" && c.g.Target.Color == KeepColor && c.holdsHDR()}
	f.color = tags(v, f.hdr)
	if c.g.Target.Color == ToSDR {
		f.color = colors{"tv", "bt709", "bt709", "bt709"}
	}
	f.alpha = c.keepsAlpha()
	f.format = c.pixelFormat(v, f.hdr, f.alpha)
	c.sayColors(f)
	if err := c.needs(f); err != nil {
		return f, err
	}
	w, h := v.Width, v.Height
	if v.Rotation%180 != 0 {
		w, h = h, w
	}
	dw, dh := v.DisplayWidth, v.DisplayHeight
	if p.Turn%180 != 0 {
		w, h, dw, dh = h, w, dh, dw
	}
	if err := c.checkHidden(dw, dh); err != nil {
		return f, err
	}
	dw, dh = c.lookSize(dw, dh)
	f.kept = !c.squares(v) && p.Crop == nil && p.Width == 0 && p.Height == 0 && len(p.Burn)+len(p.Layers) == 0 && c.oneSource()
	switch odd := c.subsampled(f.format) && (w%2 != 0 || h%2 != 0); {
	case odd && f.kept && (w < 2 || h < 2):
		f.kept = false
		c.note("the picture of %d×%d is enlarged, since 4:2:0 video is 2 pixels wide and high at least", w, h)
	case odd && f.kept:
		c.note("the size %d×%d is odd: one row or column is cut off, since 4:2:0 video has even sizes", w, h)
	}
	switch {
	case f.kept:
		f.width, f.height = w, h
		if v.SAR.Known() && v.SAR != (ffmpeg.Rational{Num: 1, Den: 1}) {
			f.sar = v.SAR
			if (v.Rotation+p.Turn)%180 != 0 {
				f.sar = v.SAR.Inverse()
			}
		}
	case p.Width > 0 || p.Height > 0:
		f.width, f.height = fill(p.Width, p.Height, dw, dh)
	case p.Crop != nil:
		f.width, f.height = p.Crop.Width, p.Crop.Height
	default:
		f.width, f.height = dw, dh
	}
	if c.subsampled(f.format) {
		f.width, f.height = even(f.width), even(f.height)
	}
	if f.width > 16384 || f.height > 16384 {
		return f, cutroom.Errorf(cutroom.Invalid, "a frame of %d×%d is larger than 16384 pixels", f.width, f.height)
	}
	return f, nil
}

// fill completes a size of which one side is given, keeping the aspect.
func fill(w, h, dw, dh int) (int, int) {
	switch {
	case w == 0:
		w = (h*dw + dh/2) / dh
	case h == 0:
		h = (w*dh + dw/2) / dw
	}
	return max(1, w), max(1, h)
}

// tags are the colour tags of the output: what the source says or, where it says
// nothing, what players assume of it.
func tags(v *ffmpeg.VideoFacts, hdr bool) colors {
	if hdr {
		return colors{"tv", cmp.Or(v.Matrix, "bt2020nc"), cmp.Or(v.Primaries, "bt2020"), v.Transfer}
	}
	m := v.MatrixOr()
	if v.HDR != "" || v.RGB() || m == "bt2020nc" && v.HDR != "" {
		m = "bt709"
	}
	def := "bt709"
	if m == "smpte170m" || m == "bt470bg" {
		def = m
	}
	transfer := def
	if transfer == "bt470bg" {
		transfer = "smpte170m" // BT.601 has one curve for both systems
	}
	c := colors{"tv", m, cmp.Or(v.Primaries, def), cmp.Or(v.Transfer, transfer)}
	if v.HDR != "" || v.RGB() {
		c = colors{"tv", "bt709", "bt709", "bt709"}
	}
	return c
}

// look is the chain that brings one source's decoded picture into the frame. tag makes
// the names of its inner links unique in the graph.
func (c *compiler) look(v *ffmpeg.VideoFacts, f frame, tag string) string {
	p := c.g.Picture
	var chain []string
	add := func(format string, args ...any) { chain = append(chain, fmt.Sprintf(format, args...)) }
	look := &painter{c: c, v: v, f: f, tag: tag}
	c.earlyLooks(look)
	chain = append(chain, look.chain...)
	deep := "gbrp"
	if c.painted() {
		deep = "gbrp16le"
	}
	switch {
	case c.mapped(v, f):
		chain = append(chain, c.toneMap(v, deep)...)
		look.rgb = true
	case raised(v, f):
		chain = append(chain, raise(v, f)...)
		look.rgb = true
	case v.Alpha && !f.alpha:
		chain = append(chain, ffmpeg.OnWhite()...)
		look.rgb = true
	}
	chain = append(chain, v.Turns()...)
	switch p.Turn {
	case 90:
		add("transpose=clock")
	case 180:
		add("hflip,vflip")
	case 270:
		add("transpose=cclock")
	}
	if p.FlipX {
		add("hflip")
	}
	if p.FlipY {
		add("vflip")
	}
	w, h := v.DisplayWidth, v.DisplayHeight
	if p.Turn%180 != 0 {
		w, h = h, w
	}
	conv := c.convert(v, f)
	if c.painted() {
		look.begin(chain, w, h, p.Turn)
		c.lateLooks(look)
		chain = append(chain, look.chain...)
		w, h = c.lookSize(w, h)
		if look.done || look.rgb && f.rgb() {
			conv = ""
		}
	}
	if look.done {
		conv = ""
	} else if z := c.exact(v, f, conv); z != "" {
		add("%s", z)
		conv = ""
	}
	switch {
	case f.kept:
		if conv != "" {
			add("scale=iw:ih%s:flags=bicubic", conv)
		}
		add("format=%s", f.format)
		add("crop=%d:%d:0:0", f.width, f.height)
		if f.sar.Known() {
			add("setsar=%d/%d:max=%d", f.sar.Num, f.sar.Den, max(f.sar.Num, f.sar.Den)) // ffmpeg would round it to terms below 100
		} else {
			add("setsar=1")
		}
		return strings.Join(chain, ",") + c.setColors(f)
	case p.Crop != nil:
		add("scale=%d:%d%s:flags=bicubic", w, h, conv)
		conv = ""
		if full := v.FullChroma(f.alpha); full != "" && !look.rgb && !look.done && ((p.Crop.X|p.Crop.Y)&1 != 0 || v.Gray()) {
			add("format=%s", full) // grey stays full range whatever the filter of sizes is told
		}
		add("crop=%d:%d:%d:%d:exact=1", p.Crop.Width, p.Crop.Height, p.Crop.X, p.Crop.Y)
		w, h = p.Crop.Width, p.Crop.Height
	}
	add("%s", c.fit(w, h, f, conv, tag))
	add("setsar=1")
	return strings.Join(chain, ",") + c.setColors(f)
}

// setColors states on the frames what the encoder tags.
func (c *compiler) setColors(f frame) string {
	if f.rgb() {
		return ""
	}
	return fmt.Sprintf(",setparams=range=%s:color_primaries=%s:color_trc=%s:colorspace=%s", f.color.rng, f.color.primaries, f.color.transfer, f.color.matrix)
}

// convert is what a scale filter has to be told of the samples: how to read them, and
// how they are wanted.
func (c *compiler) convert(v *ffmpeg.VideoFacts, f frame) string {
	switch {
	case f.rgb() && !v.RGB() && (v.HDR == "" || f.hdr) && (!v.Alpha || f.alpha):
		return ":in_color_matrix=" + scaleMatrix(v.MatrixOr()) + ":in_range=" + map[bool]string{true: "full", false: "limited"}[v.FullRange()]
	case f.rgb():
		return ""
	case c.mapped(v, f), v.RGB(), v.Alpha && !f.alpha, raised(v, f):
		return ":out_color_matrix=" + scaleMatrix(f.color.matrix) + ":out_range=limited"
	case v.FullRange():
		m := scaleMatrix(v.MatrixOr())
		return ":in_color_matrix=" + m + ":out_color_matrix=" + scaleMatrix(f.color.matrix) + ":in_range=full:out_range=limited"
	case scaleMatrix(v.MatrixOr()) != scaleMatrix(f.color.matrix):
		return ":in_color_matrix=" + scaleMatrix(v.MatrixOr()) + ":out_color_matrix=" + scaleMatrix(f.color.matrix)
	}
	return ""
}

// exact is zscale in place of a scale filter's conversion between two forms of YUV: that
// is off by up to two code values, which tints grey (measured). "" where zscale is not
// there or does not take the picture: it refuses odd sizes of subsampled formats.
func (c *compiler) exact(v *ffmpeg.VideoFacts, f frame, conv string) string {
	names := map[string]string{"bt709": "709", "smpte170m": "170m", "bt470bg": "470bg", "bt2020nc": "2020_ncl", "smpte240m": "240m"}
	from, to := names[v.MatrixOr()], names[f.color.matrix]
	far := wide(v, f)
	if conv == "" && !far || from == "" || to == "" || v.RGB() || f.rgb() || v.Alpha && !f.alpha || c.mapped(v, f) || raised(v, f) || !strings.HasPrefix(v.PixelFormat, "yuv") {
		return ""
	}
	odd := v.Width%2 != 0 || v.Height%2 != 0
	if odd && !far || !c.a.Filter("zscale") {
		return ""
	}
	rng := "limited"
	if v.FullRange() {
		rng = "full"
	}
	z := fmt.Sprintf("zscale=matrixin=%s:matrix=%s:rangein=%s:range=limited:primariesin=%s:primaries=709:transferin=709:transfer=709", from, to, rng, gamut(far))
	if odd {
		z = "format=yuv444p10le," + z
	}
	return z
}

// scaleMatrix is a matrix in the words of the scale filter.
func scaleMatrix(m string) string {
	switch m {
	case "smpte170m", "bt470bg", "bt601":
		return "bt601"
	case "bt2020nc", "bt2020c":
		return "bt2020"
	case "smpte240m", "fcc":
		return m
	}
	return "bt709"
}

// raised reports whether a picture is brought to the curve of a frame of high dynamic
// range: from standard range, or from the other curve.
func raised(v *ffmpeg.VideoFacts, f frame) bool { return f.hdr && v.Transfer != f.color.transfer }

// raise brings a picture to that curve in linear light. White of standard range lies at
// 203 cd/m², the reference white of ITU-R BT.2408.
func raise(v *ffmpeg.VideoFacts, f frame) []string {
	var chain []string
	in := "tin=709:pin=709:p=709"
	if v.HDR != "" {
		in = "pin=2020:p=2020"
	}
	switch {
	case v.Alpha && !f.alpha:
		chain = ffmpeg.OnWhite()
	case !v.RGB():
		rng := "limited"
		if v.FullRange() {
			rng = "full"
		}
		chain = append(chain, "scale=iw:ih:in_color_matrix="+scaleMatrix(v.MatrixOr())+":in_range="+rng+":flags=bicubic+accurate_rnd+full_chroma_int")
	}
	return append(chain, "format=gbrp12le", "zscale=min=gbr:m=gbr:rin=full:"+in+":t=linear:npl=203", "format=gbrpf32le", "zscale=p=2020",
		"zscale=t="+f.color.transfer+":npl=203", "format=gbrp12le")
}

// fit is the chain that brings a picture of w×h square pixels into the frame.
func (c *compiler) fit(w, h int, f frame, conv, tag string) string {
	p := c.g.Picture
	scale := func(w, h int) string {
		return fmt.Sprintf("scale=%d:%d%s:flags=bicubic,format=%s", w, h, conv, f.format)
	}
	step := 1
	if c.subsampled(f.format) {
		step = 2
	}
	inside := func() (int, int) { return contain(w, h, f.width, f.height, step) }
	x, y := 0.5, 0.5
	if p.Centred {
		x, y = p.CropX, p.CropY
	}
	switch p.Fit {
	case Stretch:
		return scale(f.width, f.height)
	case Cover:
		cw, ch := cover(w, h, f.width, f.height, step)
		return fmt.Sprintf("%s,crop=%d:%d:%d:%d", scale(cw, ch), f.width, f.height, place(cw-f.width, x, step), place(ch-f.height, y, step))
	case Blur:
		iw, ih := inside()
		if iw == f.width && ih == f.height {
			return scale(iw, ih)
		}
		cw, ch := cover(w, h, f.width, f.height, step)
		r := p.BlurRadius
		if r <= 0 {
			r = 20
		}
		r = min(r, f.width/4, f.height/4)
		return fmt.Sprintf("split[ba%s][bb%s];[ba%s]%s,crop=%d:%d:%d:%d,boxblur=%d:2:%d:2[bc%s];[bb%s]%s[bd%s];[bc%s][bd%s]overlay=%d:%d",
			tag, tag, tag, scale(cw, ch), f.width, f.height, place(cw-f.width, 0.5, step), place(ch-f.height, 0.5, step), r, max(1, r/2), tag,
			tag, scale(iw, ih), tag, tag, tag, place(f.width-iw, 0.5, step), place(f.height-ih, 0.5, step)) + ",format=" + f.format
	}
	iw, ih := inside()
	if iw == f.width && ih == f.height {
		return scale(iw, ih)
	}
	return scale(iw, ih) + "," + c.bars(p.PadColor, iw, ih, place(f.width-iw, 0.5, step), place(f.height-ih, 0.5, step), f, tag)
}

// contain is the largest size of aspect w:h inside the frame, a multiple of step.
func contain(w, h, fw, fh, step int) (int, int) {
	iw, ih := fw, (fw*h+w/2)/w
	if ih > fh {
		iw, ih = (fh*w+h/2)/h, fh
	}
	// A pixel or two of bars is rounding, not a bar.
	if fw-iw <= step && fh-ih <= step {
		return fw, fh
	}
	return max(step, iw/step*step), max(step, ih/step*step)
}

// cover is the smallest size of aspect w:h that covers the frame, a multiple of step.
func cover(w, h, fw, fh, step int) (int, int) {
	cw, ch := fw, (fw*h+w-1)/w
	if ch < fh {
		cw, ch = (fh*w+h-1)/h, fh
	}
	up := func(n int) int { return (n + step - 1) / step * step }
	return max(fw, up(cw)), max(fh, up(ch))
}

// place is where something lies in the room that is left, 0 at its start to 1 at its
// end, a multiple of step.
func place(room int, at float64, step int) int {
	n := int(float64(max(0, room))*at + 0.5)
	return n / step * step
}
