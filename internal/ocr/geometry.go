package ocr

import (
	"math"
	"slices"
)

// point is a place in a picture, in pixels.
type point struct{ x, y float64 }

func (p point) minus(q point) point       { return point{p.x - q.x, p.y - q.y} }
func (p point) plus(q point) point        { return point{p.x + q.x, p.y + q.y} }
func (p point) times(f float64) point     { return point{p.x * f, p.y * f} }
func (p point) dot(q point) float64       { return p.x*q.x + p.y*q.y }
func cross(o, a, b point) float64         { return (a.x-o.x)*(b.y-o.y) - (a.y-o.y)*(b.x-o.x) }
func (p point) scaled(x, y float64) point { return point{p.x * x, p.y * y} }

// rect is a rectangle that may be turned: it starts at origin and spans w along
// the unit vector along, h across it (clockwise by 90 degrees, as y points down).
type rect struct {
	origin point
	along  point
	w, h   float64
}

func (r rect) across() point { return point{-r.along.y, r.along.x} }

// grown returns r with d more on every side.
func (r rect) grown(d float64) rect {
	r.origin = r.origin.minus(r.along.times(d)).minus(r.across().times(d))
	r.w += 2 * d
	r.h += 2 * d
	return r
}

// corners returns the corners clockwise from the origin.
func (r rect) corners() [4]point {
	right, down := r.along.times(r.w), r.across().times(r.h)
	return [4]point{r.origin, r.origin.plus(right), r.origin.plus(right).plus(down), r.origin.plus(down)}
}

// upright returns the smallest upright box around r inside a picture of w by h.
func (r rect) upright(w, h int) Box {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range r.corners() {
		x0, x1 = min(x0, c.x), max(x1, c.x)
		y0, y1 = min(y0, c.y), max(y1, c.y)
	}
	l, t := clamp(int(math.Floor(x0)), 0, w), clamp(int(math.Floor(y0)), 0, h)
	return Box{l, t, clamp(int(math.Ceil(x1)), l, w) - l, clamp(int(math.Ceil(y1)), t, h) - t}
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// hull returns the convex hull of pts, anticlockwise as seen with y pointing down
// (Andrew's monotone chain). It reorders pts.
func hull(pts []point) []point {
	slices.SortFunc(pts, func(a, b point) int {
		if a.x != b.x {
			return cmpFloat(a.x, b.x)
		}
		return cmpFloat(a.y, b.y)
	})
	pts = slices.Compact(pts)
	if len(pts) < 3 {
		return pts
	}
	half := func(seq func(yield func(point) bool)) []point {
		var h []point
		for p := range seq {
			for len(h) >= 2 && cross(h[len(h)-2], h[len(h)-1], p) <= 0 {
				h = h[:len(h)-1]
			}
			h = append(h, p)
		}
		return h[:len(h)-1]
	}
	lower := half(slices.Values(pts))
	upper := half(func(yield func(point) bool) {
		for _, p := range slices.Backward(pts) {
			if !yield(p) {
				return
			}
		}
	})
	return append(lower, upper...)
}

func unit(p point) point {
	if n := math.Hypot(p.x, p.y); n > 0 {
		return p.times(1 / n)
	}
	return point{1, 0}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// tilted is how much smaller than the upright rectangle a turned one must be to
// be believed: below it the tilt comes from the letters' shapes.
const tilted = 0.8

// enclose returns the smallest rectangle around a convex polygon, turned only when
// that is clearly smaller. Its along axis points within 45 degrees of rightwards.
func enclose(h []point) rect {
	best := along(h, point{1, 0})
	limit := best.w * best.h * tilted
	for i, p := range h {
		d := h[(i+1)%len(h)].minus(p)
		n := math.Hypot(d.x, d.y)
		if n < 1e-9 {
			continue
		}
		if r := along(h, rightwards(d.times(1/n))); r.w*r.h < limit {
			best, limit = r, r.w*r.h
		}
	}
	return best
}

// rightwards turns u by quarter turns until it points within 45 degrees of
// rightwards.
func rightwards(u point) point {
	if math.Abs(u.y) > math.Abs(u.x) {
		u = point{u.y, -u.x}
	}
	if u.x < 0 {
		u = u.times(-1)
	}
	return u
}

// along returns the smallest rectangle around h whose long axis is parallel to u.
func along(h []point, u point) rect {
	v := point{-u.y, u.x}
	a0, a1, b0, b1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range h {
		a, b := p.dot(u), p.dot(v)
		a0, a1 = min(a0, a), max(a1, a)
		b0, b1 = min(b0, b), max(b1, b)
	}
	return rect{origin: u.times(a0).plus(v.times(b0)), along: u, w: a1 - a0, h: b1 - b0}
}
