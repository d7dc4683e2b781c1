package caption

import (
	"fmt"
	"image"
	"slices"
	"unicode"

	"cutroom"
	"cutroom/internal/sprite"
)

// Pictures draws emoji.
type Pictures struct {
	// Of is the picture of one character as a reader sees it; nil: there is none.
	Of func(cluster string) *image.NRGBA
	// Scale is how high pictures are, in heights of a line; 0 is 1.
	Scale float64
	// Most is how many different ones may be drawn; 0: any number.
	Most int
}

// Bounds of a picture's height.
const (
	LeastEmoji = 0.3
	MostEmoji  = 2
)

// sideBearing is the room beside a picture, on each side, for a height of 1.
const sideBearing = 0.04

// emoji is one picture in a text. Lengths are for a line height of 1.
type emoji struct {
	picture *image.NRGBA
	high    float64 // of the picture
	wide    float64 // of the picture
	ascent  float64 // of the text beside it
}

func (e *emoji) width() float64 { return e.wide + 2*sideBearing*e.high }

// tall is how high the gap is that it stands in: it leaves the line as it is, where the
// picture is not higher.
func (e *emoji) tall() float64 { return max(1, e.high) }

// below is how far the gap reaches below the baseline.
func (e *emoji) below() float64 { return 1 - e.ascent + (e.tall()-1)/2 }

// width is how wide a part of the stretch is, both within it.
func (s *stretch) width(text string, from, to int) float64 {
	switch {
	case s.emoji == nil:
		return s.face.Width(text[from:to])
	case from > s.from: // a part of a character has no width of its own
		return 0
	}
	return s.emoji.width()
}

// gap is the stretch in a script: an empty shape as wide as the picture. libass orders
// it as it does a sign of no direction, and counts its height as that of a letter. The
// character itself stands beside it as a comment.
func (l *Layout) gap(s *stretch, cluster string, size float64) string {
	e := s.emoji
	w, h := decimal(e.width()*size), decimal(e.tall()*size)
	return fmt.Sprintf(`{%s\bord0\shad0\p1\pbo%s}m 0 0 l %s 0 m 0 %s l %s %s{\p0\pbo0\bord%s\shad%s}`, cluster, decimal(e.below()*size), w, h, w, h, decimal(l.edge.outline), decimal(l.edge.shadow))
}

// edge is what letters are drawn with beside a gap, in pixels.
type edge struct{ outline, shadow float64 }

// picture finds the picture of a cluster, which is a picture by itself or that no font
// draws; nil where there is none.
func (p *palette) picture(cluster string) (*emoji, error) {
	if p.o.Pictures == nil {
		return nil, nil
	}
	e, ok := p.pictures[cluster]
	if !ok {
		if img := p.o.Pictures.Of(cluster); img != nil {
			k := orOne(p.o.Pictures.Scale)
			e = &emoji{picture: img, high: k, wide: k * float64(img.Rect.Dx()) / float64(max(1, img.Rect.Dy())), ascent: p.main.Ascent()}
			p.drawn++
			if most := p.o.Pictures.Most; most > 0 && p.drawn > most {
				return nil, cutroom.Errorf(cutroom.Limit, "the text has more than %d different emoji", most).WithHint("raise emoji_max, or take emoji mono")
			}
		} else if presents(cluster) {
			p.name(cluster)
		}
		p.pictures[cluster] = e
	}
	if e != nil {
		p.rep.Emoji.Pictures++
	}
	return e, nil
}

func orOne(v float64) float64 {
	if v <= 0 {
		return 1
	}
	return v
}

// Spot is where a picture stands in a text. Lengths are pixels.
type Spot struct {
	Picture             *image.NRGBA
	Cluster             string
	X, Y, Width, Height float64
}

// spots are where the pictures of an event stand, when its anchor of that alignment
// stands at a point.
func (l *Layout) spots(e *event, alignment int, x, y float64) []Spot {
	var list []Spot
	top := y
	switch {
	case alignment <= 3:
		top = y - e.height
	case alignment <= 6:
		top = y - e.height/2
	}
	for i := range e.lines {
		ln := &e.lines[i]
		up, down := reach(ln.faces)
		if slices.ContainsFunc(ln.faces, func(s stretch) bool { return s.emoji != nil }) {
			left := x
			w := widthOf(ln.text, ln.faces)(0, len(ln.text)) * e.size
			switch alignment % 3 {
			case 2:
				left -= w / 2
			case 0:
				left -= w
			}
			list = append(list, ln.spots(left, top+up*e.size, e.size)...)
		}
		top += max(1, up+down) * e.size
	}
	return list
}

// piece is a part of a line that has one direction and one face.
type piece struct {
	stretch
	level int
	width float64
}

// spots are where the pictures of a line stand that begins at left, on a baseline.
func (ln *line) spots(left, baseline, size float64) (list []Spot) {
	for _, p := range ordered(ln.pieces()) {
		if e := p.emoji; e != nil {
			h := e.high * size
			list = append(list, Spot{
				Picture: e.picture, Cluster: ln.text[p.from:p.to],
				X: left + sideBearing*h, Y: baseline - e.ascent*size + size/2 - h/2, Width: e.wide * size, Height: h,
			})
		}
		left += p.width * size
	}
	return list
}

// pieces takes a line apart in its logical order.
func (ln *line) pieces() (list []piece) {
	level := ln.levels()
	for _, s := range ln.faces {
		for from := s.from; from < s.to; {
			to := from + 1
			for to < s.to && (s.emoji != nil || level[to] == level[from]) {
				to++
			}
			p := piece{stretch: s, level: level[from]}
			p.from, p.to = from, to
			p.width = s.width(ln.text, from, to)
			list = append(list, p)
			from = to
		}
	}
	return list
}

// Sprites are the pictures of all captions, as they come, stand and go.
func (l *Layout) Sprites() (list []sprite.Show) {
	k := l.o.Style.Position.alignment()
	for i := range l.events {
		e := &l.events[i]
		m := l.motionOf(e)
		for _, s := range l.spots(e, k, e.x, e.y) {
			list = append(list, sprite.Show{
				Picture: s.Picture, X: s.X, Y: s.Y, Width: s.Width, Height: s.Height, Start: e.start, End: e.end, Opacity: l.o.Opacity, Motion: m,
			})
		}
	}
	return list
}

// motionOf is how the pictures of an event come and go: as its letters do.
func (l *Layout) motionOf(e *event) sprite.Motion {
	quarter := (e.end - e.start) / 4
	least := func(ms int) cutroom.Micros { return min(cutroom.Micros(ms)*1000, quarter) }
	switch {
	case l.o.FadeIn > 0 || l.o.FadeOut > 0:
		return sprite.Motion{FadeIn: l.o.FadeIn, FadeOut: l.o.FadeOut}
	case l.o.Animate == Fade:
		return sprite.Motion{FadeIn: least(200), FadeOut: least(200)}
	case l.o.Animate == Pop:
		return sprite.Motion{FadeIn: least(80), FadeOut: least(80), Lasts: least(140), Grow: 0.7, AtX: e.x, AtY: e.y}
	case l.o.Animate == Slide:
		dy := -e.size / 2
		if l.o.Style.Position.alignment() >= 7 {
			dy = e.size / 2
		}
		return sprite.Motion{FadeIn: least(160), FadeOut: least(160), Lasts: least(220), DY: dy}
	}
	return sprite.Motion{}
}

// presents reports whether a cluster is shown as a picture unless somebody asks for
// text: by the selectors of Unicode, as a flag, a key, a sequence, or by itself.
func presents(cluster string) bool {
	base := firstRune(cluster)
	key := base >= '0' && base <= '9' || base == '#' || base == '*'
	regional, selected := 0, false
	for _, r := range cluster {
		switch {
		case r == 0xFE0E:
			return false
		case r == 0x20E3 && key:
			return true
		case r == 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF:
			selected = true
		case r >= 0x1F1E6 && r <= 0x1F1FF:
			regional++
		}
	}
	return unicode.Is(byDefault, base) || regional == 2 || selected && !key && mayPicture(base)
}

// mayPicture reports whether a character may be a picture: what else a selector stands
// behind stays what it is.
func mayPicture(r rune) bool {
	switch {
	case r >= 0x1F000 && r < 0x1FB00, r >= 0x2600 && r < 0x27C0, r >= 0x2190 && r < 0x2400, r >= 0x24C2 && r < 0x2600, r >= 0x2900 && r < 0x2C00:
		return true
	}
	return slices.Contains([]rune{0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299}, r)
}

// byDefault has the property Emoji_Presentation of Unicode 16, without the regional
// indicators, of which only pairs are flags.
var byDefault = &unicode.RangeTable{
	R16: ranges16(
		0x231A, 0x231B, 0x23E9, 0x23EC, 0x23F0, 0x23F0, 0x23F3, 0x23F3, 0x25FD, 0x25FE, 0x2614, 0x2615, 0x2648, 0x2653, 0x267F, 0x267F, 0x2693, 0x2693, 0x26A1, 0x26A1,
		0x26AA, 0x26AB, 0x26BD, 0x26BE, 0x26C4, 0x26C5, 0x26CE, 0x26CE, 0x26D4, 0x26D4, 0x26EA, 0x26EA, 0x26F2, 0x26F3, 0x26F5, 0x26F5, 0x26FA, 0x26FA, 0x26FD, 0x26FD,
		0x2705, 0x2705, 0x270A, 0x270B, 0x2728, 0x2728, 0x274C, 0x274C, 0x274E, 0x274E, 0x2753, 0x2755, 0x2757, 0x2757, 0x2795, 0x2797, 0x27B0, 0x27B0, 0x27BF, 0x27BF,
		0x2B1B, 0x2B1C, 0x2B50, 0x2B50, 0x2B55, 0x2B55),
	R32: ranges32(
		0x1F004, 0x1F004, 0x1F0CF, 0x1F0CF, 0x1F18E, 0x1F18E, 0x1F191, 0x1F19A, 0x1F201, 0x1F201, 0x1F21A, 0x1F21A, 0x1F22F, 0x1F22F, 0x1F232, 0x1F236, 0x1F238, 0x1F23A,
		0x1F250, 0x1F251, 0x1F300, 0x1F320, 0x1F32D, 0x1F335, 0x1F337, 0x1F37C, 0x1F37E, 0x1F393, 0x1F3A0, 0x1F3CA, 0x1F3CF, 0x1F3D3, 0x1F3E0, 0x1F3F0, 0x1F3F4, 0x1F3F4,
		0x1F3F8, 0x1F43E, 0x1F440, 0x1F440, 0x1F442, 0x1F4FC, 0x1F4FF, 0x1F53D, 0x1F54B, 0x1F54E, 0x1F550, 0x1F567, 0x1F57A, 0x1F57A, 0x1F595, 0x1F596, 0x1F5A4, 0x1F5A4,
		0x1F5FB, 0x1F64F, 0x1F680, 0x1F6C5, 0x1F6CC, 0x1F6CC, 0x1F6D0, 0x1F6D2, 0x1F6D5, 0x1F6D7, 0x1F6DC, 0x1F6DF, 0x1F6EB, 0x1F6EC, 0x1F6F4, 0x1F6FC, 0x1F7E0, 0x1F7EB,
		0x1F7F0, 0x1F7F0, 0x1F90C, 0x1F93A, 0x1F93C, 0x1F945, 0x1F947, 0x1F9FF, 0x1FA70, 0x1FA7C, 0x1FA80, 0x1FA89, 0x1FA8F, 0x1FAC6, 0x1FACE, 0x1FADC, 0x1FADF, 0x1FAE9,
		0x1FAF0, 0x1FAF8),
}

func ranges16(edges ...uint16) (list []unicode.Range16) {
	for i := 0; i+1 < len(edges); i += 2 {
		list = append(list, unicode.Range16{Lo: edges[i], Hi: edges[i+1], Stride: 1})
	}
	return list
}

func ranges32(edges ...uint32) (list []unicode.Range32) {
	for i := 0; i+1 < len(edges); i += 2 {
		list = append(list, unicode.Range32{Lo: edges[i], Hi: edges[i+1], Stride: 1})
	}
	return list
}

// Clusters returns the characters of a text that may be shown as pictures, each once.
func Clusters(text string) (list []string) {
	at := clusters(text)
	for i := range len(at) - 1 {
		if c := text[at[i]:at[i+1]]; isEmoji(c) && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}
