package graph

import (
	"fmt"

	"cutroom/internal/ffmpeg"
)

// Look is a change of the picture. Looks are made in their order on the picture as
// shown, turned and flipped, before it is cropped and fitted; but what works on fields or
// on the samples of the file comes first, whatever its place.
type Look interface {
	// needs are the filters without which it cannot be made.
	needs() []string
	// shaped is the size that it makes of a picture of w×h.
	shaped(w, h int) (int, int)
	// draw adds its filters.
	draw(p *painter)
}

// early is a look that works on the samples as the file has them.
type early interface{ early() }

// colouring is a look that works on red, green and blue, always or as it is asked for.
type colouring interface{ colouring() bool }

// sized is a look that changes the size, or has coordinates: it needs square pixels.
type sized interface{ sized() }

// shapeless is a look that leaves the size as it is.
type shapeless struct{}

func (shapeless) shaped(w, h int) (int, int) { return w, h }

// painter is a picture on its way through the looks.
type painter struct {
	c      *compiler
	v      *ffmpeg.VideoFacts
	f      frame
	tag    string // makes the names of inner links unique
	n      int    // of the look
	w, h   int    // now
	dw, dh int    // with square samples
	chain  []string
	before []string // filters ahead of the looks
	rgb    bool     // it is red, green and blue now
	done   bool     // its samples are those of the frame: range and matrix need no more change
}

func (p *painter) add(format string, args ...any) {
	p.chain = append(p.chain, fmt.Sprintf(format, args...))
}

// begin takes the picture over once it was turned: w and h are its size as shown.
func (p *painter) begin(before []string, w, h, turn int) {
	p.before, p.chain, p.dw, p.dh = before, nil, w, h
	p.w, p.h = p.v.Width, p.v.Height
	if (p.v.Rotation+turn)%180 != 0 {
		p.w, p.h = p.h, p.w
	}
}

// link is the name of an inner link.
func (p *painter) link(s string) string { return fmt.Sprintf("%s%sq%d", s, p.tag, p.n) }

// lookSize is the size that the looks make of a picture of w×h.
func (c *compiler) lookSize(w, h int) (int, int) {
	for _, l := range c.g.Picture.Looks {
		w, h = l.shaped(w, h)
	}
	return w, h
}

// squares reports whether the looks of a picture need its samples square.
func (c *compiler) squares(v *ffmpeg.VideoFacts) bool {
	square := !v.SAR.Known() || v.SAR.Num == v.SAR.Den
	for _, l := range c.g.Picture.Looks {
		if _, ok := l.(sized); !ok {
			continue
		}
		if w, h := l.shaped(v.DisplayWidth, v.DisplayHeight); !square || w != v.DisplayWidth || h != v.DisplayHeight {
			return true
		}
	}
	return false
}

// lookNeeds are the filters that the looks need.
func (c *compiler) lookNeeds() error {
	for _, l := range c.g.Picture.Looks {
		if err := c.a.Missing(l.needs()...); err != nil {
			return err
		}
		if f, ok := l.(interface{ files(*compiler) }); ok {
			f.files(c)
		}
	}
	return nil
}

// earlyLooks are the filters of looks that work on the samples as the file has them.
func (c *compiler) earlyLooks(p *painter) {
	for i, l := range c.g.Picture.Looks {
		if _, ok := l.(early); ok {
			p.n = i
			l.draw(p)
		}
	}
}

// lateLooks are the filters of the other looks.
func (c *compiler) lateLooks(p *painter) {
	for i, l := range c.g.Picture.Looks {
		p.n = i
		_, isEarly := l.(early)
		colours, isColour := l.(colouring)
		_, isSized := l.(sized)
		switch {
		case isEarly:
			continue
		case isColour && colours.colouring():
			p.toRGB()
		default:
			p.toYUV()
		}
		if isSized {
			p.square()
		}
		l.draw(p)
		p.w, p.h = l.shaped(p.w, p.h)
		p.dw, p.dh = l.shaped(p.dw, p.dh)
	}
	if p.rgb && len(c.g.Picture.Looks) > 0 {
		p.toYUV()
	}
}

// square makes the samples square.
func (p *painter) square() {
	if p.w != p.dw || p.h != p.dh {
		p.w, p.h = p.dw, p.dh
		p.add("scale=%d:%d:flags=bicubic,setsar=1", p.w, p.h)
	}
}

// zimg reports whether zscale takes pictures of that size and form.
func (p *painter) zimg(w, h int) bool {
	return w%2 == 0 && h%2 == 0 && p.c.a.Filter("zscale") && !p.f.alpha
}

// zscaled names a matrix in zscale's words; "" is one that it does not know.
func zscaled(m string) string {
	return map[string]string{"bt709": "709", "smpte170m": "170m", "bt470bg": "470bg", "bt2020nc": "2020_ncl", "smpte240m": "240m"}[m]
}

// same tells zscale that neither primaries nor curve are to be changed, and to spread and
// gather the colour of half resolution with a spline, which keeps most of it.
const same = "pin=709:p=709:tin=709:t=709:f=spline36"

// brought brings wide primaries to BT.709.
const brought = "pin=2020:p=709:tin=709:t=709:f=spline36"

// toRGB brings the picture to red, green and blue, exactly where it can be done.
func (p *painter) toRGB() {
	if p.rgb {
		return
	}
	p.rgb = true
	deep := "gbrp16le"
	if p.f.alpha {
		deep = "gbrap16le"
	}
	matrix, rng, keep := p.v.MatrixOr(), "limited", same
	if wide(p.v, p.f) && !p.done {
		keep = brought
	}
	if p.v.FullRange() {
		rng = "full"
	}
	if p.done {
		matrix, rng = p.f.color.matrix, "limited"
	}
	switch m := zscaled(matrix); {
	case p.v.RGB() && !p.done:
		p.add("format=%s", deep)
	case m != "" && p.zimg(p.v.Width, p.v.Height) && p.zimg(p.w, p.h):
		p.add("zscale=min=%s:m=gbr:rin=%s:r=full:%s,format=%s", m, rng, keep, deep)
	default:
		p.add("scale=iw:ih:in_color_matrix=%s:in_range=%s:flags=bicubic+accurate_rnd+full_chroma_int,format=%s", scaleMatrix(matrix), rng, deep)
	}
	p.done = false
}

// toYUV brings a picture of red, green and blue to the samples of the frame.
func (p *painter) toYUV() {
	if !p.rgb || p.f.rgb() {
		return
	}
	p.rgb, p.done = false, true
	format := p.f.format
	if !p.zimg(p.w, p.h) {
		p.add("scale=iw:ih:out_color_matrix=%s:out_range=limited:flags=bicubic+accurate_rnd+full_chroma_int,format=%s", scaleMatrix(p.f.color.matrix), format)
		return
	}
	m := zscaled(p.f.color.matrix)
	if m == "" {
		m = "709"
	}
	p.add("zscale=min=gbr:m=%s:rin=full:r=limited:%s,format=%s", m, same, format)
}

// painted reports whether the looks touch the picture of the edit.
func (c *compiler) painted() bool { return len(c.g.Picture.Looks) > 0 }
