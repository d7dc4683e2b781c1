package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// windows are the stretches that are searched for a dissolve. One is found when it fills
// between an eighth and nine tenths of a stretch, and the picture rests at its ends: it
// lasts from 0.1 to 6 seconds.
var windows = [...]cutroom.Micros{600_000, 1_200_000, 2_400_000, 4_800_000, 7_000_000}

const (
	tries         = 10   // in the length of a window
	looks         = 24   // frames that are looked at in a window
	leastDissolve = 10.0 // mean difference of the pictures before and after
	leastShare    = 0.45 // of the picture has to change
	blendError    = 0.42 // what a blend leaves unexplained, as a share of the difference
	shortest      = 0.10
	longest       = 0.92
)

// tryWindows tries each window that ends at the latest frame, ten times in its length.
func (p *Pictures) tryWindows() {
	now := p.ring[len(p.ring)-1].at
	for i, w := range windows {
		if now < p.look[i] {
			continue
		}
		p.look[i] = now + w/tries
		if now-p.ring[0].at < w {
			continue
		}
		if c, quality, ok := p.blend(w); ok {
			p.found(blending{c, quality})
		}
	}
	p.settle(false)
}

// blending is a dissolve, and what the blend leaves unexplained of it.
type blending struct {
	Change
	rest float64
}

// found keeps the better of two findings of one dissolve: the one that is explained
// better.
func (p *Pictures) found(b blending) {
	for i := range p.soft {
		if o := &p.soft[i]; b.Start < o.End && o.Start < b.End {
			if b.rest < o.rest {
				*o = b
			}
			return
		}
	}
	p.soft = append(p.soft, b)
}

// blend reports whether the last w of the recording hold one picture, then a blend of it
// with another in which that grows steadily, then the other.
func (p *Pictures) blend(w cutroom.Micros) (Change, float64, bool) {
	end := len(p.ring) - 1
	start := end
	for start > 0 && p.ring[end].at-p.ring[start-1].at <= w {
		start--
	}
	if end-start < 6 {
		return Change{}, 0, false
	}
	a, b := p.ring[start], p.ring[end]
	d := a.distance(b)
	if d < leastDissolve || a.blank() || b.blank() {
		return Change{}, 0, false
	}
	m := newMixture(a, b)
	if m.share < leastShare {
		return Change{}, 0, false
	}
	step := max(1, (end-start)/looks)
	var worst, sum, high float64
	n := 0
	for k := start + step; k < end; k += step {
		alpha, rest := m.of(p.ring[k])
		if alpha < high-0.1 || alpha < -0.15 || alpha > 1.15 {
			return Change{}, 0, false
		}
		high = math.Max(high, alpha)
		if alpha > 0.1 && alpha < 0.9 {
			n++
			sum += rest
		}
		worst = math.Max(worst, rest)
	}
	if worst > blendError || n == 0 {
		return Change{}, 0, false
	}
	c, ok := p.course(m, start, end)
	if !ok || moved(a, b, d) {
		return Change{}, 0, false
	}
	c.Score = math.Round(math.Min(100, d/2.55)*1000) / 1000
	return c, sum / float64(n), true
}

// moved reports whether one picture is the other, moved or lit otherwise.
func moved(a, b *kept, d float64) bool {
	if r, ok := a.likeness(b); ok && r > 0.85 && difference(a.v[keptLuma:], b.v[keptLuma:]) < leastChange {
		return true
	}
	still := difference(a.v[:keptLuma], b.v[:keptLuma])
	best, dx, dy := a.shifted(b, keptWidth/8, keptHeight/8) // farther than that no blend looks like it
	return still > 0.5*d && best < 0.4*still && math.Abs(dx)+math.Abs(dy) > 0
}

// course follows the blend frame by frame: where it begins and ends, and that it does
// not jump.
func (p *Pictures) course(m *mixture, start, end int) (Change, bool) {
	var levels []float64
	var times []cutroom.Micros
	high, jump, between := 0.0, 0.0, 0
	for k := start; k <= end; k++ {
		alpha, _ := m.of(p.ring[k])
		alpha = math.Max(high, math.Min(1, alpha))
		jump = math.Max(jump, alpha-high)
		if alpha > 0.1 && alpha < 0.9 {
			between++
		}
		high = alpha
		levels, times = append(levels, alpha), append(times, p.ring[k].at)
	}
	if jump > steepest || between < 2 {
		return Change{}, false
	}
	from, to := crossing(levels, times, 0.15), crossing(levels, times, 0.85)
	span := (to - from) / 0.7
	from, to = from-0.15*span, to+0.15*span
	w := float64(times[len(times)-1] - times[0])
	if span < shortest*w || span > longest*w || from < float64(times[0])+0.03*w || to > float64(times[len(times)-1])-0.03*w {
		return Change{}, false
	}
	if !p.rests(m, from, to) {
		return Change{}, false
	}
	return Change{Kind: Dissolve, Start: cutroom.Micros(from), End: cutroom.Micros(to), At: cutroom.Micros((from + to) / 2)}, true
}

// rests reports whether the picture stays about what it was before a blend, and about
// what it is after it, for as long as the blend took. What turns slowly or swings is at
// rest for a shorter time.
func (p *Pictures) rests(m *mixture, from, to float64) bool {
	span := to - from
	for _, k := range p.ring {
		at := float64(k.at)
		before := at > from-restFor*span && at < from
		if after := at > to && at < to+restFor*span; !before && !after {
			continue
		}
		if alpha, _ := m.of(k); before && math.Abs(alpha) > restError || !before && math.Abs(alpha-1) > restError {
			return false
		}
	}
	return true
}

const (
	restFor   = 0.9
	restError = 0.3
)

// settle decides on the findings whose surroundings are known by now: a dissolve changes
// the picture faster than the motion before it and after it does; and the calmer these
// are, the better it has to be explained as a blend.
func (p *Pictures) settle(end bool) {
	now := p.ring[len(p.ring)-1].at
	p.soft = slices.DeleteFunc(p.soft, func(b blending) bool {
		if !end && now < b.End+(b.End-b.Start)+windows[0] {
			return false
		}
		span := (b.End - b.Start) / 4
		within := p.pace(b.Start, b.End, span)
		around := max(p.pace(b.Start-4*span, b.Start, span), p.pace(b.End, b.End+4*span, span))
		ratio := around / math.Max(within, 0.1)
		if ratio <= mostPace && b.rest <= calmError+motionError*ratio {
			p.dissolves = append(p.dissolves, b.Change)
		}
		return true
	})
}

const (
	mostPace    = 0.75
	calmError   = 0.14
	motionError = 0.35
)

// pace is how much the picture usually changes in span, between two times.
func (p *Pictures) pace(from, to, span cutroom.Micros) float64 {
	var d []float64
	k := 0
	for i, f := range p.ring {
		if f.at < from || f.at+span > to {
			continue
		}
		for k = max(k, i); k < len(p.ring)-1 && p.ring[k].at < f.at+span; k++ {
		}
		d = append(d, f.distance(p.ring[k]))
	}
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// mixture explains pictures as blends of two.
type mixture struct {
	a     *kept
	delta [keptSize]float64
	norm  float64
	share float64 // of the picture that differs
}

func newMixture(a, b *kept) *mixture {
	m := &mixture{a: a}
	n := 0
	for i := range m.delta {
		d := float64(b.v[i]) - float64(a.v[i])
		m.delta[i] = d
		m.norm += d * d
		if i < keptLuma && math.Abs(d) > 5 {
			n++
		}
	}
	m.share = float64(n) / keptLuma
	return m
}

// of returns how far a picture is on its way from one to the other, and how much of it
// lies beside that way, as a share of it.
func (m *mixture) of(k *kept) (alpha, rest float64) {
	if m.norm == 0 {
		return 0, 1
	}
	var dot, own float64
	for i, d := range m.delta {
		v := float64(k.v[i]) - float64(m.a.v[i])
		dot += v * d
		own += v * v
	}
	alpha = dot / m.norm
	return alpha, math.Sqrt(math.Max(0, own/m.norm-alpha*alpha))
}
