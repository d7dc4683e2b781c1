package graph

import (
	"testing"

	"pgregory.net/rapid"

	"cutroom"
)

// Whatever moves, at every point of its path it lies within what its lane hides there, and
// no two paths of a lane are hidden at once.
func TestLanesHideTheirPaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := 2*rapid.IntRange(20, 400).Draw(t, "w"), 2*rapid.IntRange(20, 400).Draw(t, "h")
		var paths []Path
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			p := Path{Width: 2 * rapid.IntRange(1, w/2).Draw(t, "pw"), Height: 2 * rapid.IntRange(1, h/2).Draw(t, "ph")}
			at := cutroom.Micros(rapid.IntRange(0, 100).Draw(t, "at")) * cutroom.Second
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				p.Points = append(p.Points, PathPoint{At: at, X: 2 * rapid.IntRange(0, (w-p.Width)/2).Draw(t, "x"), Y: 2 * rapid.IntRange(0, (h-p.Height)/2).Draw(t, "y")})
				at += cutroom.Micros(rapid.IntRange(1, 5).Draw(t, "step")) * cutroom.Second
			}
			paths = append(paths, p)
		}
		n := 0
		for _, l := range lanes(paths, w, h) {
			for i, p := range l.paths {
				n++
				if i > 0 {
					last := l.paths[i-1].Points
					if len(last) < 2 || last[len(last)-1].At >= p.Points[0].At {
						t.Fatalf("two at once in one lane: %+v", l)
					}
				}
				if !coversOne(paths, p, l) {
					t.Fatalf("%+v in a lane of %d×%d covers none of the paths", p, l.w, l.h)
				}
			}
		}
		if n != len(paths) {
			t.Fatalf("%d of %d paths are hidden", n, len(paths))
		}
	})
}

// coversOne reports whether a path of a lane covers one of the paths that were asked for.
func coversOne(paths []Path, moved Path, l lane) bool {
	for _, p := range paths {
		if len(p.Points) != len(moved.Points) || p.Width != moved.Width || p.Height != moved.Height {
			continue
		}
		all := true
		for i, q := range p.Points {
			m := moved.Points[i]
			all = all && q.At == m.At && m.X <= q.X && m.Y <= q.Y && m.X+l.w >= q.X+p.Width && m.Y+l.h >= q.Y+p.Height
		}
		if all {
			return true
		}
	}
	return false
}

// A rectangle cut out of a turned picture lies wholly inside of it.
func TestInscribedIsInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(16, 2000).Draw(t, "w"), rapid.IntRange(16, 2000).Draw(t, "h")
		a := rapid.Float64Range(-45, 45).Draw(t, "angle")
		iw, ih := inscribed(w, h, a)
		bw, bh := bounding(iw, ih, a)
		// Turned back it fits into the picture, but for the rounding of its bounds to even.
		if (bw > w+3 || bh > h+3) && iw > 2 && ih > 2 {
			t.Fatalf("%d×%d at %g°: %d×%d needs %d×%d", w, h, a, iw, ih, bw, bh)
		}
	})
}
