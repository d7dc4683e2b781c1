package edit

import (
	"slices"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/graph"
)

// watch says what of the captions, graphics and overlays has to be seen in the written
// file, and where.
func (r *rendering) watch(d *drawing) error {
	p := r.graph.Picture
	if p == nil {
		return nil
	}
	p.Sights, p.Drawn = nil, nil
	if c := r.text; c != nil {
		open, err := r.uncovered(d)
		if err != nil {
			return err
		}
		p.Sights = c.sights(open)
		p.Drawn = append(p.Drawn, c.area())
	}
	if d != nil {
		p.Sights = append(p.Sights, d.sights()...)
		for _, m := range d.marks {
			p.Drawn = append(p.Drawn, m.box)
		}
	}
	return nil
}

// uncovered are the captions that no opaque overlay stands on: what changes where one does
// is not the text. Overlays that hide some are named; one caption at least has to be left
// for somebody to read.
func (r *rendering) uncovered(d *drawing) ([]caption.Shown, error) {
	c := r.text
	if d == nil || c.layout == nil {
		return c.shown, nil
	}
	left := slices.Clone(c.shown)
	var last string
	for _, m := range d.marks {
		hidden := func(s caption.Shown) bool {
			return m.opaque && s.Start < m.end && s.End > m.start && 2*shared(m.box, graph.Box{X: s.X, Y: s.Y, Width: s.Width, Height: s.Height}) >= s.Width*s.Height
		}
		if n := len(slices.DeleteFunc(slices.Clone(c.shown), func(s caption.Shown) bool { return !hidden(s) })); n > 0 {
			r.say("%s stands on %d captions, which it hides", m.name, n)
			last = m.name
		}
		left = slices.DeleteFunc(left, hidden)
	}
	if len(left) == 0 && len(c.shown) > 0 {
		return nil, cutroom.Errorf(cutroom.Verification, "captions_visible of captions: %s stands on all of them, and nobody could read any", last).
			WithHint("move it or the captions by position, or give it another time; `cutroom render --dry-run` tries that without encoding")
	}
	return left, nil
}

// shared is how many pixels two boxes have in common.
func shared(a, b graph.Box) int {
	w := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	h := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	return max(0, w) * max(0, h)
}

// mostSights is how many marks are looked for at most.
const mostSights = 24

// sights are moments of each mark while it is there whole.
func (d *drawing) sights() (list []graph.Sight) {
	n := 3
	if len(d.marks) > 4 {
		n = 1
	}
	for _, m := range d.marks[:min(len(d.marks), mostSights)] {
		if m.unlike {
			continue
		}
		for _, at := range m.moments(n) {
			s := graph.Sight{Check: "drawn_visible", What: m.name, At: at, Box: m.box, Least: m.step(), Hue: true, Share: leastSeen, Once: m.any}
			list = append(list, s)
		}
	}
	return list
}

// captionStep is by how many code values text differs from what it stands on.
const captionStep = 64

// sights are the middles of captions spread over the edit.
func (c *captioning) sights(open []caption.Shown) (list []graph.Sight) {
	floor := leastInk
	if c.layout == nil {
		floor /= 50 // anywhere in the frame
	}
	n := min(looks, len(open))
	for i := range n {
		s := open[i*(len(open)-1)/max(1, n-1)]
		list = append(list, graph.Sight{
			Check: "captions_visible", What: "captions", At: (s.Start + s.End) / 2, Box: graph.Box{X: s.X, Y: s.Y, Width: s.Width, Height: s.Height}, Least: captionStep, Share: floor,
		})
	}
	return list
}

// area is the part of the frame that captions are drawn on.
func (c *captioning) area() graph.Box {
	if c.layout == nil {
		return graph.Box{Width: c.width, Height: c.height}
	}
	x, y, w, h := c.layout.Area()
	return graph.Box{X: x, Y: y, Width: w, Height: h}
}
