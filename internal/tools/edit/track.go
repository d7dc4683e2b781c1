package edit

import (
	"cmp"
	"slices"

	"cutroom"
	"cutroom/internal/graph"
)

// sighting is something that was found in a frame.
type sighting struct {
	kind string
	box  graph.Box
}

// track is one thing as it was found from frame to frame.
type track struct {
	kind string
	at   []int // numbers of the frames
	box  []graph.Box
}

// patience is in how many frames in a row a thing may be missed and still be the same.
const patience = 2

// follow joins what was found in frame after frame: the pairs that overlap most, or lie
// nearest, first. What is missed in between is the same thing when it comes back soon.
func follow(frames [][]sighting) []track {
	var list []track
	for n, found := range frames {
		type pair struct {
			track, found int
			score        float64
		}
		var pairs []pair
		for i, t := range list {
			if n-t.at[len(t.at)-1] > patience+1 {
				continue
			}
			for k, s := range found {
				if score := likeness(t.box[len(t.box)-1], s.box); s.kind == t.kind && score > 0 {
					pairs = append(pairs, pair{i, k, score})
				}
			}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
		taken, gone := map[int]bool{}, map[int]bool{}
		for _, p := range pairs {
			if taken[p.found] || gone[p.track] {
				continue
			}
			taken[p.found], gone[p.track] = true, true
			t := &list[p.track]
			t.at, t.box = append(t.at, n), append(t.box, found[p.found].box)
		}
		for k, s := range found {
			if !taken[k] {
				list = append(list, track{s.kind, []int{n}, []graph.Box{s.box}})
			}
		}
	}
	return list
}

// likeness is how much two boxes can be the same thing: 1 and more by what they share, below
// 1 by how near they lie, 0 where they cannot.
func likeness(a, b graph.Box) float64 {
	w := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	h := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	if w > 0 && h > 0 {
		shared := float64(w * h)
		return 1 + shared/(float64(a.Width*a.Height)+float64(b.Width*b.Height)-shared)
	}
	// They do not touch: at most their own size apart, and of like size.
	dx, dy := a.X+a.Width/2-b.X-b.Width/2, a.Y+a.Height/2-b.Y-b.Height/2
	reach := max(a.Width, a.Height, b.Width, b.Height) * 3 / 2
	small, large := min(a.Width*a.Height, b.Width*b.Height), max(a.Width*a.Height, b.Width*b.Height)
	if d := dx*dx + dy*dy; d < reach*reach && 3*small > large {
		return 1 - float64(d)/float64(reach*reach)
	}
	return 0
}

// rest is how far a box may be off and still stand still.
const rest = 3

// path is where a track is hidden: from the frame before it was first seen to the one
// after it was last seen, in one size that holds it in all of them. margin nil is a tenth
// of its size.
func (t track) path(times []cutroom.Micros, length cutroom.Micros, w, h int, margin *int) graph.Path {
	var p graph.Path
	for _, b := range t.box {
		p.Width, p.Height = max(p.Width, b.Width), max(p.Height, b.Height)
	}
	more := max(6, max(p.Width, p.Height)/10)
	if margin != nil {
		more = *margin
	}
	more += rest
	p.Width, p.Height = min((p.Width+2*more+1)&^1, w&^1), min((p.Height+2*more+1)&^1, h&^1)
	corner := func(b graph.Box) (int, int) {
		x, y := b.X+b.Width/2-p.Width/2, b.Y+b.Height/2-p.Height/2
		return min(max(x, 0), w-p.Width), min(max(y, 0), h-p.Height)
	}
	before, after := cutroom.Micros(0), length+cutroom.Second
	if n := t.at[0]; n > 0 {
		before = times[n-1]
	}
	if n := t.at[len(t.at)-1]; n+1 < len(times) {
		after = times[n+1]
	}
	x, y := corner(t.box[0])
	p.Points = append(p.Points, graph.PathPoint{At: before, X: x, Y: y})
	for i, b := range t.box {
		nx, ny := corner(b)
		if abs(nx-x) <= rest && abs(ny-y) <= rest {
			nx, ny = x, y
		}
		p.Points = append(p.Points, graph.PathPoint{At: times[t.at[i]], X: nx, Y: ny})
		x, y = nx, ny
	}
	p.Points = append(p.Points, graph.PathPoint{At: after, X: x, Y: y})
	return p.Simple()
}

func abs(n int) int { return max(n, -n) }
