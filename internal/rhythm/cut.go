package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// A cut stands out from the frames around it: twelve on each side, as a shot has at
// least, within a second.
const (
	aroundFrames   = 12
	aroundTime     = cutroom.Second
	quietScore     = 0.5
	flashFor       = 500 * cutroom.Second / 1000 // a picture that comes back sooner was never left
	flashShare     = 0.4                         // of the change
	panShare       = 0.35                        // of the change, that is left once one picture is moved onto the other
	sameShape      = 0.93                        // likeness of a picture that only became brighter or darker
	restlessFrames = 6
	restlessRatio  = 1.35 // a cut changes the picture more than its frames do anyway
	darkShare      = 0.4  // of the least score is enough when the new picture is another one altogether
	otherShape     = 0.5  // likeness of pictures that have nothing in common
	leastChange    = 3.0  // of block means: what is less is noise
)

// judgeCuts judges every frame that enough frames came after.
func (p *Pictures) judgeCuts(end bool) {
	for ; p.judged <= p.last(); p.judged++ {
		f := p.frame(p.judged)
		if f == nil {
			continue
		}
		if !end && (p.judged+aroundFrames > p.last() || p.ring[len(p.ring)-1].at < f.at+flashFor) && len(p.ring) < mostRing/2 {
			return
		}
		if p.isCut(p.judged) {
			p.cuts = append(p.cuts, Change{Kind: Cut, Start: f.at, End: f.at, At: f.at, Score: math.Round(p.score(p.judged)*1000) / 1000})
		}
	}
}

// score is how abrupt a frame is, by brightness or by colour. Like the brightness', a
// colour's change counts as far as it is greater than the one before.
func (p *Pictures) score(n int) float64 {
	f, before := p.frame(n), p.frame(n-1)
	if f == nil || before == nil {
		return 0
	}
	colour := math.Min(f.colour, math.Abs(f.colour-before.colour)) * 100 / 128
	return math.Min(100, math.Max(f.score, colour))
}

func (p *Pictures) isCut(n int) bool {
	s := p.score(n)
	if s < darkShare*p.opts.Threshold || p.frame(n-1) == nil {
		return false
	}
	before, f := p.frame(n-1), p.frame(n)
	ratio := p.opts.Ratio
	if s < p.opts.Threshold {
		// Of dark or pale pictures even another one differs little.
		if r, ok := before.likeness(f); ok && r > otherShape || !ok && max(before.dev, f.dev) < 5 {
			return false
		}
		ratio *= 2
	}
	if !p.standsOut(n, s, ratio) {
		return false
	}
	change := before.distance(f)
	if change < leastChange || change < restlessRatio*p.restless(n) || p.returns(n, change) {
		return false
	}
	if r, ok := before.likeness(f); ok && r > sameShape && difference(before.v[keptLuma:], f.v[keptLuma:]) < leastChange {
		return false // the light changed, not the picture
	}
	return !p.swept(n, change)
}

// restless is how much the picture changes from frame to frame anyway: the greater of
// the medians before and after frame n.
func (p *Pictures) restless(n int) float64 {
	var most float64
	for _, side := range [2]int{n - restlessFrames, n + 1} {
		var steps []float64
		for k := side; k < side+restlessFrames; k++ {
			if a, b := p.frame(k-1), p.frame(k); a != nil && b != nil {
				steps = append(steps, a.distance(b))
			}
		}
		if len(steps) > 0 {
			slices.Sort(steps)
			most = max(most, steps[len(steps)/2])
		}
	}
	return most
}

// standsOut reports whether frame n is stronger than its neighbours.
func (p *Pictures) standsOut(n int, s, ratio float64) bool {
	at := p.frame(n).at
	var around []float64
	for k := n - aroundFrames; k <= n+aroundFrames; k++ {
		o := p.frame(k)
		if o == nil || k == n || max(o.at-at, at-o.at) > aroundTime {
			continue
		}
		v := p.score(k)
		if d := k - n; d >= -2 && d <= 2 && (v > s || v == s && k < n) {
			return false
		}
		around = append(around, v)
	}
	median := 0.0
	if len(around) > 0 {
		slices.Sort(around)
		median = around[len(around)/2]
	}
	return s >= ratio*max(median, quietScore)
}

// returns reports whether the picture from before comes back at once, or the new one had
// only been away: a flash, a dropped frame, a flicker.
func (p *Pictures) returns(n int, change float64) bool {
	before, f := p.frame(n-1), p.frame(n)
	for k := n + 1; ; k++ {
		o := p.frame(k)
		if o == nil || o.at-f.at > flashFor {
			break
		}
		if before.distance(o) < flashShare*change {
			return true
		}
	}
	for k := n - 2; ; k-- {
		o := p.frame(k)
		if o == nil || before.at-o.at > flashFor {
			return false
		}
		if f.distance(o) < flashShare*change {
			return true
		}
	}
}

// swept reports whether the new picture is the old one, moved: by a camera in a hurry,
// which moves in the frames beside it, too.
func (p *Pictures) swept(n int, change float64) bool {
	before, f := p.frame(n-1), p.frame(n)
	beside := 0.0
	if o := p.frame(n - 2); o != nil {
		beside = o.distance(before)
	}
	if o := p.frame(n + 1); o != nil {
		beside = max(beside, f.distance(o))
	}
	if beside < 0.25*change || f.dev < 8 || before.dev < 8 {
		return false
	}
	still := difference(before.v[:keptLuma], f.v[:keptLuma])
	moved, dx, dy := before.shifted(f, keptWidth*3/5, keptHeight/3)
	if moved >= panShare*still || dx == 0 && dy == 0 {
		return false
	}
	colour := difference(before.v[keptLuma:], f.v[keptLuma:])
	return before.colourOffset(f, dx, dy) < max(panShare*colour, leastChange)
}
