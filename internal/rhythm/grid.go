package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// answer turns steps into beats: refined, without those before and after the music.
func (t *tracker) answer(steps []int, period float64) Beats {
	usual := t.usual(steps)
	var places []float64
	var supported []bool
	for _, s := range steps {
		place, ok := t.peak(s, usual)
		places, supported = append(places, place), append(supported, ok)
	}
	first, last := slices.Index(supported, true), len(supported)-1
	for last >= 0 && !supported[last] {
		last--
	}
	if first < 0 || last-first+1 < leastBeats {
		return Beats{}
	}
	places, supported = places[first:last+1], supported[first:last+1]
	var b Beats
	slope, origin, spread := t.line(places, supported)
	for i, p := range places {
		at := t.time(p)
		b.Times = append(b.Times, at)
		if supported[i] {
			b.Supported = append(b.Supported, at)
		}
	}
	b.Tempo = math.Round(60/t.e.seconds(slope)*100) / 100
	b.Period = cutroom.Micros(math.Round(t.e.seconds(slope) * 1e6))
	b.Phase = t.time(origin)
	b.Spread = cutroom.Micros(math.Round(t.e.seconds(spread) * 1e6))
	b.Confidence = t.confidence(places, supported, period, slope)
	return b
}

func (t *tracker) time(step float64) cutroom.Micros {
	return max(t.e.Start, t.e.at(step))
}

// usual is the strength that most beats have.
func (t *tracker) usual(steps []int) float64 {
	var v []float64
	for _, s := range steps {
		v = append(v, t.strength(float64(s)))
	}
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)*2/3]
}

// peak returns where near a step the accent is, between two steps, and whether there is
// one to speak of.
func (t *tracker) peak(step int, usual float64) (float64, bool) {
	w := int(t.e.steps(supportWidth))
	best := step
	for k := max(0, step-w); k <= min(len(t.x)-1, step+w); k++ {
		if t.x[k] > t.x[best] {
			best = k
		}
	}
	if t.x[best] < supportLevel*usual || t.x[best] <= 0 {
		return float64(step), false
	}
	if best == 0 || best == len(t.x)-1 {
		return float64(best), true
	}
	a, b, c := t.x[best-1], t.x[best], t.x[best+1]
	if d := a - 2*b + c; d < 0 {
		return float64(best) + math.Max(-0.5, math.Min(0.5, 0.5*(a-c)/d)), true
	}
	return float64(best), true
}

// line fits an even grid through the supported beats: its period, its first beat and how
// far they lie off it.
func (t *tracker) line(places []float64, supported []bool) (slope, origin, spread float64) {
	var n, sx, sy, sxx, sxy float64
	for i, p := range places {
		if supported[i] {
			k := float64(i)
			n, sx, sy, sxx, sxy = n+1, sx+k, sy+p, sxx+k*k, sxy+k*p
		}
	}
	det := n*sxx - sx*sx
	if n < 2 || det <= 0 {
		return (places[len(places)-1] - places[0]) / float64(max(1, len(places)-1)), places[0], 0
	}
	slope = (n*sxy - sx*sy) / det
	origin = (sy - slope*sx) / n
	for i, p := range places {
		if d := p - origin - slope*float64(i); supported[i] {
			spread += d * d
		}
	}
	return slope, origin, math.Sqrt(spread / n)
}

// confidence is made of three things that music with a beat has and speech or noise has
// not: the accents agree with themselves a period later; most beats are supported; and
// accents at beats are stronger than elsewhere, with even distances.
func (t *tracker) confidence(places []float64, supported []bool, period, slope float64) float64 {
	agree := ramp(t.comb(slope), 0.04, 0.30)
	share := 0.0
	for _, ok := range supported {
		if ok {
			share++
		}
	}
	share = ramp(share/float64(len(supported)), 0.4, 0.9)
	var off float64
	for i := 1; i < len(places); i++ {
		d := (places[i]-places[i-1])/period - 1
		off += d * d
	}
	even := 1 - ramp(math.Sqrt(off/float64(len(places)-1)), 0.02, 0.12)
	few := ramp(float64(len(places)), 3, 8)
	c := agree * (0.5 + 0.25*share + 0.25*even) * few
	return math.Round(c*1000) / 1000
}

// ramp is 0 below low, 1 above high.
func ramp(v, low, high float64) float64 {
	return math.Max(0, math.Min(1, (v-low)/(high-low)))
}
