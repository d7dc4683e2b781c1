package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cutroom"
)

// Redact hides parts of the picture.
type Redact struct {
	Paths    []Path
	Mode     string // blur, pixelate, fill (black); default pixelate
	Strength int    // radius of the blur, or side of a block, in pixels; 0: by the size of what is hidden
}

// Path is a rectangle that moves, in a straight line from point to point. It is hidden from
// the first point to the last; a single point stands for all of the time.
type Path struct {
	Width, Height int // even
	Points        []PathPoint
}

// PathPoint is where a path's upper left corner is at a time of the clip, which its first
// frame begins.
type PathPoint struct {
	At   cutroom.Micros
	X, Y int
}

// MostHidden is how many rectangles can be hidden at once.
const MostHidden = 48

// longestGraph is how long the expressions of a redaction may be together: Linux takes
// 128 KiB in one argument.
const longestGraph = 90 << 10

func (Redact) sized() {}

func (Redact) shaped(w, h int) (int, int) { return w, h }

func (r Redact) needs() []string {
	list := []string{"crop", "overlay"}
	if r.Mode == "blur" {
		list = append(list, "boxblur")
	}
	if r.Mode == "fill" {
		list = append(list, "lutyuv")
	}
	return list
}

// draw lays a changed copy of each lane's rectangle over the picture.
func (r Redact) draw(p *painter) {
	for i, l := range lanes(r.Paths, p.w, p.h) {
		a, b, c := p.link(fmt.Sprintf("ra%d", i)), p.link(fmt.Sprintf("rb%d", i)), p.link(fmt.Sprintf("rc%d", i))
		x, y := l.along(func(q PathPoint) int { return q.X }), l.along(func(q PathPoint) int { return q.Y })
		enable := ""
		if e := l.while(); e != "" {
			enable = ":enable='" + e + "'"
		}
		p.add("split[%s][%s];[%s]crop=w=%d:h=%d:x='%s':y='%s',%s[%s];[%s][%s]overlay=x='%s':y='%s':format=auto%s", a, b, b, l.w, l.h, x, y, r.hide(l.w, l.h), c, a, c, x, y, enable)
	}
}

// hide is the chain that makes w×h pixels unreadable.
func (r Redact) hide(w, h int) string {
	small := min(w, h)
	switch r.Mode {
	case "fill":
		return "lutyuv=y=minval:u=(maxval+minval)/2:v=(maxval+minval)/2"
	case "blur":
		n := cmp.Or(r.Strength, max(8, small/3))
		n = max(1, min(n, small/2-1))
		return fmt.Sprintf("boxblur=lr=%d:lp=4:cr=%d:cp=4", n, max(0, min(n, small/4-1)))
	}
	n := cmp.Or(r.Strength, max(12, small/6))
	across, down := max(1, (w+n-1)/n), max(1, (h+n-1)/n)
	return fmt.Sprintf("scale=%d:%d:flags=area,scale=%d:%d:flags=neighbor", across, down, w, h)
}

// lane are paths one after another that share a size.
type lane struct {
	w, h  int
	paths []Path
}

// lanes puts the paths of a frame of w×h into as few lanes as there are at once, those of
// like size together.
func lanes(paths []Path, w, h int) []lane {
	sorted := slices.Clone(paths)
	slices.SortStableFunc(sorted, func(a, b Path) int { return cmp.Compare(a.Points[0].At, b.Points[0].At) })
	var list []lane
	for _, p := range sorted {
		best, cost := -1, 0
		for i, l := range list {
			if !l.free(p.Points[0].At) {
				continue
			}
			grown := max(l.w, p.Width)*max(l.h, p.Height) - min(l.w*l.h, p.Width*p.Height)
			if best < 0 || grown < cost {
				best, cost = i, grown
			}
		}
		// A lane of another size would hide much more than is asked for.
		if best < 0 || len(list) < MostHidden && cost > p.Width*p.Height {
			list = append(list, lane{})
			best = len(list) - 1
		}
		l := &list[best]
		l.w, l.h = max(l.w, p.Width), max(l.h, p.Height)
		l.paths = append(l.paths, p)
	}
	for i := range list {
		list[i].settle(w, h)
	}
	return list
}

// free reports whether nothing is hidden in the lane from a time on.
func (l lane) free(at cutroom.Micros) bool {
	if len(l.paths) == 0 {
		return true
	}
	last := l.paths[len(l.paths)-1]
	return len(last.Points) > 1 && last.Points[len(last.Points)-1].At < at
}

// settle moves the corners so that each path lies in the middle of the lane's rectangle,
// inside of the picture, on even pixels.
func (l *lane) settle(w, h int) {
	l.w, l.h = min(l.w, even(w)), min(l.h, even(h))
	for i, p := range l.paths {
		points := make([]PathPoint, len(p.Points))
		for k, q := range p.Points {
			q.X = min(max(q.X-(l.w-p.Width)/2, 0), w-l.w) &^ 1
			q.Y = min(max(q.Y-(l.h-p.Height)/2, 0), h-l.h) &^ 1
			points[k] = q
		}
		l.paths[i].Points = points
	}
}

// while is an expression that is true where something of the lane is hidden; "" is
// always.
func (l lane) while() string {
	var list []string
	for _, p := range l.paths {
		if len(p.Points) < 2 {
			return ""
		}
		list = append(list, fmt.Sprintf("between(t,%s,%s)", p.Points[0].At, p.Points[len(p.Points)-1].At))
	}
	return strings.Join(list, "+")
}

// along is an expression for one coordinate over the time.
func (l lane) along(of func(PathPoint) int) string {
	var pieces []piece
	for _, p := range l.paths {
		if len(p.Points) == 1 {
			return fmt.Sprint(of(p.Points[0]))
		}
		for i := 1; i < len(p.Points); i++ {
			a, b := p.Points[i-1], p.Points[i]
			pieces = append(pieces, piece{a.At, b.At, of(a), of(b)})
		}
	}
	return nest(merged(pieces))
}

// piece is a straight stretch of a path.
type piece struct {
	from, to cutroom.Micros
	a, b     int
}

// merged joins neighbouring pieces that stand still in one place.
func merged(list []piece) []piece {
	var out []piece
	for _, p := range list {
		if n := len(out); n > 0 && p.a == p.b && out[n-1].a == p.a && out[n-1].b == p.a {
			out[n-1].to = p.to
			continue
		}
		out = append(out, p)
	}
	return out
}

// nest is a balanced tree of the pieces.
func nest(list []piece) string {
	if len(list) == 1 {
		p := list[0]
		if p.a == p.b || p.to <= p.from {
			return fmt.Sprint(p.a)
		}
		return fmt.Sprintf("2*floor(%d+%d*clip((t-%s)/%s,0,1))", p.a/2, (p.b-p.a)/2, p.from, p.to-p.from)
	}
	m := len(list) / 2
	return fmt.Sprintf("if(lt(t,%s),%s,%s)", list[m].from, nest(list[:m]), nest(list[m:]))
}

// checkHidden refuses what cannot be drawn.
func (c *compiler) checkHidden(w, h int) error {
	for _, l := range c.g.Picture.Looks {
		r, ok := l.(Redact)
		if !ok {
			continue
		}
		list := lanes(r.Paths, w, h)
		if len(list) > MostHidden {
			return cutroom.Errorf(cutroom.Limit, "%d rectangles are to be hidden at once; %d can be", len(list), MostHidden).WithHint("hide larger parts, or work on shorter stretches")
		}
		n := 0
		for _, l := range list {
			n += 2*len(l.along(func(q PathPoint) int { return q.X })) + 2*len(l.along(func(q PathPoint) int { return q.Y })) + len(l.while())
		}
		if n > longestGraph {
			return cutroom.Errorf(cutroom.Limit, "what is hidden moves too often for one run").WithHint("work on shorter stretches: cut the video first, and join the parts afterwards")
		}
	}
	return nil
}

// At is where the path lies at a time of the clip, and whether it is there.
func (p Path) At(t cutroom.Micros) (Box, bool) {
	q := p.Points
	if len(q) == 1 {
		return Box{q[0].X, q[0].Y, p.Width, p.Height}, true
	}
	if t < q[0].At || t > q[len(q)-1].At {
		return Box{}, false
	}
	for i := 1; i < len(q); i++ {
		a, b := q[i-1], q[i]
		if t <= b.At && b.At > a.At {
			part := float64(t-a.At) / float64(b.At-a.At)
			return Box{a.X + int(part*float64(b.X-a.X)), a.Y + int(part*float64(b.Y-a.Y)), p.Width, p.Height}, true
		}
	}
	last := q[len(q)-1]
	return Box{last.X, last.Y, p.Width, p.Height}, true
}

// Simple is the path without the points between two of the same place.
func (p Path) Simple() Path {
	var list []PathPoint
	for i, q := range p.Points {
		if i > 0 && i+1 < len(p.Points) && q.X == p.Points[i-1].X && q.Y == p.Points[i-1].Y && q.X == p.Points[i+1].X && q.Y == p.Points[i+1].Y {
			continue
		}
		list = append(list, q)
	}
	p.Points = list
	return p
}
