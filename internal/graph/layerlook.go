package graph

import (
	"fmt"
	"math/big"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

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
	add("%s", l.intoBox(v.Video, inRGB, c, tag))
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

// layerShift moves a layer to its place in the edit, and ends it with the picture, which
// otherwise would go on with its last frame. It keeps its own time base: of two frames
// that are due, the later one shows.
func (c *compiler) layerShift(l *Layer, v *ffmpeg.Stream) []string {
	tick := v.TimeBase
	if v.Video.StillImage {
		if l.FadeIn == 0 && l.FadeOut == 0 {
			return nil // one picture, from the beginning on
		}
		tick = c.stillRate().Inverse()
	}
	var chain []string
	if l.Start > 0 {
		chain = append(chain, fmt.Sprintf("setpts='PTS+%d/1000000/TB'", int64(l.Start)))
	}
	last := new(big.Rat).Mul(rat(c.tick()), new(big.Rat).SetInt64(c.lastTick()))
	last.Quo(last, rat(tick))
	end := new(big.Int).Quo(last.Num(), last.Denom())
	return append(chain, fmt.Sprintf("trim=end_pts=%d", end.Int64()+1))
}

func rat(r ffmpeg.Rational) *big.Rat { return big.NewRat(r.Num, r.Den) }

// stillRate is the rate at which a still picture moves that fades.
func (c *compiler) stillRate() ffmpeg.Rational {
	if c.rate.Known() {
		return c.rate
	}
	return nominal(c.g.Sources[c.g.Clips[0].Source].Media.FirstVideo().Video.FrameRate, true)
}

// repeated makes a still picture one that moves, so that it can fade.
func (c *compiler) repeated(l *Layer) []string {
	rate := c.stillRate()
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
func (l *Layer) intoBox(v *ffmpeg.VideoFacts, rgb bool, c *compiler, tag string) string {
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
		return fmt.Sprintf("%s,crop=%d:%d:%d:%d:exact=1,setsar=1", scale(cw, ch), w, h, (cw-w)/2&^1, (ch-h)/2&^1)
	case Pad:
		iw, ih := contain(dw, dh, w, h, 2)
		box := c.out
		box.width, box.height = w, h
		if box.format = "gbrap"; !rgb {
			form, _ := overlayFormat(c.out.format)
			box.format = layerFormat(form)
		}
		return fmt.Sprintf("%s,format=%s,%s,setsar=1", scale(iw, ih), box.format, c.bars(l.PadColor, iw, ih, (w-iw)/2&^1, (h-ih)/2&^1, box, tag))
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
