package align

import (
	"math"
	"slices"
)

// point is one measured lag: sample t of the second recording is sample t+lag of the
// reference.
type point struct{ t, lag, weight float64 }

// near is how far from the line a window's own peak may lie: 1.5 ms.
const near = 12

// points takes the peak of each window near l, to a fraction of a sample.
func points(list []window, l line, sign float64) []point {
	var out []point
	for _, w := range list {
		middle := int(math.Round(w.index(l.at(w.middle) - w.middle)))
		lo, hi := max(1, middle-near), min(len(w.curve)-2, middle+near)
		best, peak := -1, 0.0
		for i := lo; i <= hi; i++ {
			if v := sign * float64(w.curve[i]); v > peak {
				best, peak = i, v
			}
		}
		if best < 0 || peak < 4 || best == lo || best == hi {
			continue
		}
		shift := vertex(sign*float64(w.curve[best-1]), peak, sign*float64(w.curve[best+1]))
		out = append(out, point{w.middle, w.lag(float64(best) + shift), peak * peak})
	}
	return out
}

// fitted is a line through points.
type fitted struct {
	line
	agree     int     // points within a millisecond of it
	rms       float64 // of those, samples
	deviation float64 // of the slope
}

// agreeing is how far from the line a point may lie: a millisecond.
const agreeing = Rate / 1000

// fit lays a line through the points by least squares, points far off counting little.
// Scale is how far off they lie at first, in samples. A slope that the points leave open stays near 0: clocks seldom differ by more than
// 100 millionths.
func fit(list []point, start line, scale float64) fitted {
	f := fitted{line: start}
	for range 12 {
		var sw, st, sl float64
		weights := make([]float64, len(list))
		for i, p := range list {
			r := (p.lag - (f.at(p.t) - p.t)) / (3 * scale)
			if r*r < 1 {
				weights[i] = p.weight * (1 - r*r) * (1 - r*r)
			}
			sw, st, sl = sw+weights[i], st+weights[i]*p.t, sl+weights[i]*p.lag
		}
		if sw == 0 {
			break
		}
		mt, ml := st/sw, sl/sw
		var stt, stl float64
		for i, p := range list {
			stt += weights[i] * (p.t - mt) * (p.t - mt)
			stl += weights[i] * (p.t - mt) * (p.lag - ml)
		}
		// The prior is one more point whose weight is that of all, at the time at which
		// 500 millionths make up the scatter.
		prior := sw / float64(max(1, len(list))) * square(max(scale, 0.2)/500e-6)
		f.slope = stl / (stt + prior)
		f.offset = ml - f.slope*mt
		f.deviation = max(scale, 0.1) / math.Sqrt((stt+prior)/(sw/float64(len(list))))
		scale = max(0.3, 1.5*middling(list, f.line))
	}
	var sum float64
	for _, p := range list {
		if r := p.lag - (f.at(p.t) - p.t); math.Abs(r) <= agreeing {
			f.agree++
			sum += r * r
		}
	}
	f.rms = math.Sqrt(sum / float64(max(1, f.agree)))
	return f
}

func square(v float64) float64 { return v * v }

// middling is the median distance of the points from l.
func middling(list []point, l line) float64 {
	var r []float64
	for _, p := range list {
		r = append(r, math.Abs(p.lag-(l.at(p.t)-p.t)))
	}
	slices.Sort(r)
	if len(r) == 0 {
		return 0
	}
	return r[len(r)/2]
}
