package evidence

import (
	"cmp"
	"slices"

	"cutroom"
)

// BlockMeans returns the mean of each of cols × rows blocks of a grey picture of
// w × h bytes: the grid of a [Sample]. It returns nil when the picture is smaller
// than the grid or than w × h says.
func BlockMeans(grey []byte, w, h, cols, rows int) []byte {
	if cols <= 0 || rows <= 0 || w < cols || h < rows || len(grey) < w*h {
		return nil
	}
	out := make([]byte, cols*rows)
	for by := range rows {
		y0, y1 := by*h/rows, (by+1)*h/rows
		for bx := range cols {
			x0, x1 := bx*w/cols, (bx+1)*w/cols
			sum := 0
			for y := y0; y < y1; y++ {
				for _, v := range grey[y*w+x0 : y*w+x1] {
					sum += int(v)
				}
			}
			n := (y1 - y0) * (x1 - x0)
			out[by*cols+bx] = byte((sum + n/2) / n)
		}
	}
	return out
}

// blockDifference is how much of b is new to a: the sum, over the blocks that
// differ by more than tolerance, of the difference. 0 means a near-duplicate.
// Grids of different sizes are wholly different.
func blockDifference(a, b []byte, tolerance int) int {
	if len(a) != len(b) {
		return 255 * max(len(a), len(b))
	}
	sum := 0
	for i := range a {
		if d := abs(int(a[i]) - int(b[i])); d > tolerance {
			sum += d
		}
	}
	return sum
}

// novelty is how much sample s differs from the nearer in content of its chosen
// neighbours.
func (c *chooser) novelty(s int, before, after *picked) int {
	best := -1
	for _, p := range []*picked{before, after} {
		if p != nil && p.sample >= 0 {
			if d := blockDifference(c.samples[p.sample].Grid, c.samples[s].Grid, c.Tolerance); best < 0 || d < best {
				best = d
			}
		}
	}
	if best < 0 {
		return 1
	}
	return best
}

// fillGaps halves the longest gap until none is longer than the floor. In a gap
// the frame is taken at a new shot near its middle, else at the sample in its
// middle half that shows the most; a gap where nothing changes stays.
func (c *chooser) fillGaps() {
	closed := map[cutroom.Micros]bool{} // starts of gaps where nothing changes
	for !c.full() {
		best := -1
		for i := range len(c.picked) - 1 {
			gap := c.picked[i+1].At - c.picked[i].At
			if gap > c.Floor && !closed[c.picked[i].At] && (best < 0 || gap > c.picked[best+1].At-c.picked[best].At) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		from, to := c.picked[best], c.picked[best+1]
		if !c.fillGap(from, to) {
			closed[from.At] = true
		}
	}
}

func (c *chooser) fillGap(from, to picked) bool {
	quarter := (to.At - from.At) / 4
	for _, cut := range c.strongest(from.At+quarter, to.At-quarter) {
		if c.offer(c.settled(cut.At), "scene") {
			return true
		}
	}
	if len(c.samples) == 0 {
		return c.offer(from.At+2*quarter, "floor")
	}
	if t, ok := c.newest(from, to, from.At+quarter, to.At-quarter); ok {
		c.pick(t, "floor")
		return true
	}
	if t, ok := c.newest(from, to, from.At, to.At); ok {
		c.pick(t, "floor")
		return true
	}
	c.dropped++
	return false
}

// newest returns the time of the sample in [lo, hi] that differs most from both
// ends of the gap; of equals the one nearest to the gap's middle.
func (c *chooser) newest(from, to picked, lo, hi cutroom.Micros) (at cutroom.Micros, ok bool) {
	middle := from.At + (to.At-from.At)/2
	best := 0
	first, _ := slices.BinarySearchFunc(c.samples, lo, func(s Sample, t cutroom.Micros) int { return cmp.Compare(s.At, t) })
	for i := first; i < len(c.samples) && c.samples[i].At <= hi; i++ {
		t := c.samples[i].At
		if t-from.At < c.MinGap || to.At-t < c.MinGap {
			continue
		}
		n := c.novelty(i, &from, &to)
		if n > best || n == best && n > 0 && gapTo(t, middle) < gapTo(at, middle) {
			best, at = n, t
		}
	}
	return at, best > 0
}

func gapTo(a, b cutroom.Micros) cutroom.Micros { return max(a-b, b-a) }

// strongest returns the cuts in [lo, hi], strongest first, the earlier of equals.
func (c *chooser) strongest(lo, hi cutroom.Micros) []Cut {
	var out []Cut
	for _, cut := range c.cuts {
		if cut.At >= lo && cut.At <= hi {
			out = append(out, cut)
		}
	}
	slices.SortStableFunc(out, func(a, b Cut) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// settled returns the time to show a shot at: the second sample of it when there
// is one within half a second, since the first frames of a shot can still hold
// some of a dissolve; never beyond the next cut.
func (c *chooser) settled(cut cutroom.Micros) cutroom.Micros {
	const soon = cutroom.Second / 2
	limit := min(cut+soon, c.End)
	for _, next := range c.cuts {
		if next.At > cut {
			limit = min(limit, next.At-1)
			break
		}
	}
	i, _ := slices.BinarySearchFunc(c.samples, cut, func(s Sample, t cutroom.Micros) int { return cmp.Compare(s.At, t) })
	if i+1 < len(c.samples) && c.samples[i+1].At <= limit {
		return c.samples[i+1].At
	}
	if i < len(c.samples) && c.samples[i].At <= limit {
		return c.samples[i].At
	}
	return cut
}

// shots picks a frame of each shot, strongest cut first.
func (c *chooser) shots() {
	for _, cut := range c.strongest(c.Start, c.End) {
		if c.full() {
			return
		}
		c.offer(c.settled(cut.At), "scene")
	}
}

// changes picks, while there is room, the sample that differs most from its
// chosen neighbours.
func (c *chooser) changes() {
	type found struct {
		at  cutroom.Micros
		n   int
		set bool
	}
	known := map[cutroom.Micros]found{} // best of the gap that begins here
	for !c.full() {
		var best found
		for i := range len(c.picked) - 1 {
			from, to := c.picked[i], c.picked[i+1]
			f := known[from.At]
			if !f.set {
				f.set = true
				if at, ok := c.newest(from, to, from.At, to.At); ok {
					f.at, f.n = at, c.novelty(c.nearest(at), &from, &to)
				}
				known[from.At] = f
			}
			if f.n > best.n {
				best = f
			}
		}
		if best.n == 0 {
			return
		}
		if before, _, _ := c.room(best.at); before != nil {
			delete(known, before.At)
		}
		c.pick(best.at, "change")
	}
}

// even picks even steps, the middle among them: as many as Max allows, fewer when
// the caller's floor asks for no more.
func (c *chooser) even() {
	length := c.End - c.Start
	steps := cutroom.Micros(c.Max - 1)
	if c.step > 0 {
		steps = min(steps, (length+c.step-1)/c.step+1)
	}
	steps -= steps % 2
	for i := cutroom.Micros(1); i < steps && !c.full(); i++ {
		t := c.Start + length*i/steps
		if _, _, ok := c.room(t); ok {
			c.pick(t, "floor")
		}
	}
}
