package sprite

import (
	"fmt"
	"image"
	"math"
	"slices"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"

	"cutroom"
)

// maxSteps bounds the frames that motion makes: what moves much is drawn in larger steps.
const maxSteps = 3000

// Draw draws shows over a frame of a size; nil: nothing of them is to be seen.
func Draw(list []Show, width, height int) (*Reel, error) {
	shows := make([]timed, 0, len(list))
	area := image.Rectangle{}
	for _, s := range list {
		t := timed{Show: s, from: centi(s.Start), to: centi(s.End)}
		if s.Picture == nil || s.Picture.Rect.Empty() || t.to <= t.from || s.Width < 0.5 || s.Height < 0.5 {
			continue
		}
		if math.IsNaN(s.X + s.Y + s.Width + s.Height) {
			return nil, fmt.Errorf("a picture stands nowhere")
		}
		shows = append(shows, t)
		area = area.Union(t.extent(width, height))
	}
	if len(shows) == 0 || area.Empty() {
		return nil, nil
	}
	area = image.Rect(area.Min.X&^1, area.Min.Y&^1, (area.Max.X+1)&^1, (area.Max.Y+1)&^1)
	slices.SortStableFunc(shows, func(a, b timed) int { return int(a.from - b.from) })
	f := film{area: area, still: map[sized]*image.RGBA{}}
	if err := f.play(shows); err != nil {
		return nil, err
	}
	last := int64(0)
	for _, s := range shows {
		last = max(last, s.to)
	}
	return &Reel{
		PNG: f.a.end(), X: area.Min.X, Y: area.Min.Y, Width: area.Dx(), Height: area.Dy(), Frames: f.a.frames, End: cutroom.Micros(last * 10_000),
	}, nil
}

// centi is a time in hundredths of a second, the nearest.
func centi(t cutroom.Micros) int64 { return (int64(t) + 5000) / 10_000 }

// timed is a show in hundredths of a second.
type timed struct {
	Show
	from, to int64
}

// comes and goes are how long it moves at its beginning and its end.
func (s *timed) comes() int64 {
	m := s.Motion
	return min(s.to-s.from, centi(max(m.FadeIn, m.Lasts, m.Wipe)))
}
func (s *timed) goes() int64 { return min(s.to-s.from, centi(s.Motion.FadeOut)) }

// moves reports whether it changes between two hundredths.
func (s *timed) moves(a int64) bool { return a < s.from+s.comes() || a >= s.to-s.goes() }

// extent is the part of a frame that it ever touches.
func (s *timed) extent(width, height int) image.Rectangle {
	r := image.Rectangle{}
	for _, share := range []float64{0, 1} {
		r = r.Union(bounds(s.place(share, image.Rect(0, 0, 1, 1)), image.Rect(0, 0, 1, 1)))
	}
	return r.Intersect(image.Rect(0, 0, width, height))
}

// place maps the pixels of its picture, scaled to some size, to those of the frame, when
// a share of its coming is done.
func (s *timed) place(share float64, size image.Rectangle) f64.Aff3 {
	m := f64.Aff3{s.Width / float64(size.Dx()), 0, s.X, 0, s.Height / float64(size.Dy()), s.Y}
	k := s.Motion
	if g := k.Grow; g > 0 && share < 1 {
		g += (1 - g) * share
		m = f64.Aff3{g * m[0], 0, k.AtX + g*(m[2]-k.AtX), 0, g * m[4], k.AtY + g*(m[5]-k.AtY)}
	}
	m[2] += k.DX * (1 - share)
	m[5] += k.DY * (1 - share)
	if k.Turn != 0 {
		sin, cos := math.Sincos(k.Turn * math.Pi / 180)
		x, y := m[2]-k.TurnX, m[5]-k.TurnY
		m = f64.Aff3{cos * m[0], sin * m[4], k.TurnX + cos*x + sin*y, -sin * m[0], cos * m[4], k.TurnY - sin*x + cos*y}
	}
	return m
}

// bounds is the rectangle that a picture fills, a pixel larger on each side.
func bounds(m f64.Aff3, r image.Rectangle) image.Rectangle {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range []image.Point{r.Min, {r.Max.X, r.Min.Y}, {r.Min.X, r.Max.Y}, r.Max} {
		x, y := m[0]*float64(p.X)+m[1]*float64(p.Y)+m[2], m[3]*float64(p.X)+m[4]*float64(p.Y)+m[5]
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	lim := func(v float64) int { return int(min(max(v, -1<<20), 1<<20)) }
	return image.Rect(lim(math.Floor(x0))-1, lim(math.Floor(y0))-1, lim(math.Ceil(x1))+1, lim(math.Ceil(y1))+1)
}

// film is an animation while it is drawn.
type film struct {
	area   image.Rectangle
	a      apng
	last   image.Rectangle // what the frame before showed
	canvas *image.RGBA
	still  map[sized]*image.RGBA
}

// sized is a picture at a size.
type sized struct {
	p    *image.NRGBA
	size image.Point
}

// play draws every state after the other.
func (f *film) play(shows []timed) error {
	f.canvas = image.NewRGBA(f.area)
	f.a.begin(f.area.Dx(), f.area.Dy())
	at := breaks(shows)
	var active []int
	next, held := 0, ""
	for i, a := range at {
		active = slices.DeleteFunc(active, func(k int) bool { return shows[k].to <= a })
		for ; next < len(shows) && shows[next].from <= a; next++ {
			if shows[next].to > a {
				active = append(active, next)
			}
		}
		length := int64(100) // of the last one, which is empty
		if i+1 < len(at) {
			length = at[i+1] - a
		}
		state, moving := "", false
		for _, k := range active {
			state += fmt.Sprintf("%d,", k)
			moving = moving || shows[k].moves(a)
		}
		if i > 0 && !moving && state == held {
			f.a.longer(length)
			continue
		}
		held = state
		if moving {
			held = "moving"
		}
		if err := f.frame(shows, active, float64(a)+float64(length)/2, length); err != nil {
			return err
		}
	}
	return nil
}

// breaks are the times at which something changes, the first 0.
func breaks(shows []timed) []int64 {
	total := int64(0)
	for i := range shows {
		total += shows[i].comes() + shows[i].goes()
	}
	step := max(1, (total+maxSteps-1)/maxSteps)
	at := []int64{0}
	for i := range shows {
		s := &shows[i]
		at = append(at, s.from, s.to)
		for t := s.from + step; t <= s.from+s.comes(); t += step {
			at = append(at, t)
		}
		for t := s.to - s.goes(); t < s.to; t += step {
			at = append(at, t)
		}
		at = append(at, s.from+s.comes())
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// frame draws what is to be seen at a time, and adds what differs from before.
func (f *film) frame(shows []timed, active []int, now float64, length int64) error {
	blank(f.canvas, f.last)
	drawn := image.Rectangle{}
	for _, k := range active {
		drawn = drawn.Union(f.draw(&shows[k], now))
	}
	region := f.last.Union(drawn)
	if f.a.frames == 0 {
		region = f.area // the first one is whole
	}
	f.last = drawn
	if region.Empty() {
		region = image.Rectangle{Min: f.area.Min, Max: f.area.Min.Add(image.Pt(1, 1))}
	}
	return f.a.frame(f.canvas, region, region.Min.Sub(f.area.Min), length)
}

// draw draws one picture and returns what it touched.
func (f *film) draw(s *timed, now float64) image.Rectangle {
	m := s.Motion
	since, left := now-float64(s.from), float64(s.to)-now
	alpha := part(since, centi(m.FadeIn)) * part(left, centi(m.FadeOut))
	if s.Opacity > 0 {
		alpha *= min(1, s.Opacity)
	}
	clip := f.area
	if m.Wipe > 0 {
		edge := int(math.Round(m.WipeFrom + (m.WipeTo-m.WipeFrom)*part(since, centi(m.Wipe))))
		clip = clip.Intersect(image.Rect(int(math.Floor(m.WipeFrom)), clip.Min.Y, edge, clip.Max.Y)) // in either direction
	}
	p := f.scaled(&s.Show)
	share := part(since, centi(m.Lasts))
	if share < 1 && (m.Grow > 0 || m.DX != 0 || m.DY != 0) || m.Turn != 0 {
		to := s.place(share, p.Rect)
		touched := bounds(to, p.Rect).Intersect(clip)
		if touched.Empty() || math.Abs(to[0]*to[4]-to[1]*to[3]) < 1e-4 { // too small to be seen
			return image.Rectangle{}
		}
		moved := image.NewRGBA(touched)
		draw.ApproxBiLinear.Transform(moved, to, p, p.Rect, draw.Src, nil)
		over(f.canvas, moved, touched, touched.Min, alpha)
		return touched
	}
	rest := p.Rect.Add(image.Pt(int(math.Round(s.X)), int(math.Round(s.Y))))
	touched := rest.Intersect(clip)
	over(f.canvas, p, touched, touched.Min.Sub(rest.Min), alpha)
	return touched
}

// scaled is a picture at the size at which it rests, its colours multiplied by alpha.
func (f *film) scaled(s *Show) *image.RGBA {
	size := image.Pt(max(1, int(math.Round(s.Width))), max(1, int(math.Round(s.Height))))
	k := sized{s.Picture, size}
	p := f.still[k]
	if p == nil {
		p = image.NewRGBA(image.Rectangle{Max: size})
		draw.CatmullRom.Scale(p, p.Rect, s.Picture, s.Picture.Rect, draw.Src, nil)
		f.still[k] = p
	}
	return p
}

// over lays a part of a picture over the canvas, seen through evenly.
func over(canvas, p *image.RGBA, r image.Rectangle, from image.Point, alpha float64) {
	a := uint32(math.Round(alpha * 256))
	for y := range r.Dy() {
		dst := canvas.Pix[canvas.PixOffset(r.Min.X, r.Min.Y+y):]
		src := p.Pix[p.PixOffset(from.X, from.Y+y):]
		for i := 0; i < 4*r.Dx(); i += 4 {
			rest := 255*256 - uint32(src[i+3])*a
			for k := range 4 {
				v := uint32(src[i+k])*a + uint32(dst[i+k])*rest/255
				dst[i+k] = uint8(min(255, (v+128)/256))
			}
		}
	}
}

// part is how much of a length is over, 1 where there is none.
func part(since float64, length int64) float64 {
	if length <= 0 {
		return 1
	}
	return min(max(since/float64(length), 0), 1)
}

// blank makes a part of the canvas transparent.
func blank(p *image.RGBA, r image.Rectangle) {
	r = r.Intersect(p.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := p.Pix[p.PixOffset(r.Min.X, y):p.PixOffset(r.Max.X, y)]
		for i := range row {
			row[i] = 0
		}
	}
}
