package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// BeatOptions bound the search. A zero field is its default.
type BeatOptions struct {
	Low, High float64 // beats per minute, 60 and 200; the answer lies between
}

// Beats are the beats of a recording. A recording without a beat has no times, or a low
// confidence: nothing below 0.5 should be acted on.
type Beats struct {
	Tempo      float64          // beats per minute; 0 when there is none
	Confidence float64          // 0–1
	Times      []cutroom.Micros // every beat, those that nothing sounds at included
	Supported  []cutroom.Micros // those at which something begins
	Period     cutroom.Micros   // of the even grid that fits best
	Phase      cutroom.Micros   // a beat of that grid, the first
	Spread     cutroom.Micros   // how far supported beats lie off that grid (root mean square)
}

// The tempi that can be asked for.
const (
	SlowestTempo = 30.0
	FastestTempo = 300.0
)

const (
	tempoCentre  = 120.0 // tempi that people tap most
	tempoWidth   = 0.9   // octaves
	combTeeth    = 4     // periods that have to agree
	tightness    = 180.0 // how much a beat may stray from the period
	analysed     = 3600  // seconds that the tempo is taken from
	leastBeats   = 4
	supportWidth = 0.05 // seconds from a beat to its onset
	supportLevel = 0.2  // of a usual beat's strength
)

// FindBeats finds the beats in an envelope.
func FindBeats(e Envelope, o BeatOptions) Beats {
	if o.Low <= 0 {
		o.Low = 60
	}
	if o.High <= 0 {
		o.High = 200
	}
	o.Low, o.High = max(SlowestTempo, o.Low), min(FastestTempo, o.High)
	x := accents(&e)
	if x == nil || o.High < o.Low || e.steps(60/o.High) < 4 {
		return Beats{}
	}
	t := tracker{e: &e, x: x, low: e.steps(60 / o.High), high: e.steps(60 / o.Low)}
	t.correlate()
	period := t.tempo()
	if period <= 0 {
		return Beats{}
	}
	steps := t.follow(period)
	for range 3 { // at most two octaves off
		better := t.octave(steps, period)
		if better == period {
			break
		}
		period = better
		steps = t.follow(period)
	}
	return t.answer(steps, period)
}

// accents is the envelope less its own surroundings, in units of its deviation, slightly
// smoothed; nil when nothing begins anywhere.
func accents(e *Envelope) []float64 {
	n := len(e.Onset)
	if n < 8 || e.Hop < 1 || e.Rate < 1 {
		return nil
	}
	half := max(1, int(e.steps(0.4)))
	sums := make([]float64, n+1)
	for i, v := range e.Onset {
		if v != v || v < 0 || v > 1e6 {
			v = 0
		}
		sums[i+1] = sums[i] + float64(v)
	}
	x := make([]float64, n)
	var square float64
	for i := range x {
		a, b := max(0, i-half), min(n, i+half+1)
		x[i] = math.Max(0, sums[i+1]-sums[i]-(sums[b]-sums[a])/float64(b-a))
		square += x[i] * x[i]
	}
	scale := math.Sqrt(square / float64(n))
	if scale < 1e-4 {
		return nil
	}
	smooth := make([]float64, n)
	for i := range x {
		v := 0.5 * x[i]
		if i > 0 {
			v += 0.25 * x[i-1]
		}
		if i+1 < n {
			v += 0.25 * x[i+1]
		}
		smooth[i] = math.Min(v/scale, 8)
	}
	return smooth
}

// tracker looks for beats in accents. Periods are in steps.
type tracker struct {
	e         *Envelope
	x         []float64
	low, high float64 // shortest and longest period
	ac        []float64
}

// correlate compares the accents with themselves, some periods later.
func (t *tracker) correlate() {
	x := t.x
	if most := int(t.e.steps(analysed)); len(x) > most {
		from := (len(x) - most) / 2
		x = x[from : from+most]
	}
	var mean float64
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	centred := make([]float64, len(x))
	var zero float64
	for i, v := range x {
		centred[i] = v - mean
		zero += centred[i] * centred[i]
	}
	lags := min(len(x)-1, int(t.high*combTeeth)+3)
	t.ac = make([]float64, lags+1)
	for lag := 1; lag <= lags; lag++ {
		var sum float64
		for i, v := range centred[lag:] {
			sum += v * centred[i]
		}
		// Less overlap must not look like less agreement.
		t.ac[lag] = sum / zero * float64(len(x)) / float64(len(x)-lag)
	}
}

// agreement is how well the accents agree with themselves a period later, at best a
// step beside it.
func (t *tracker) agreement(lag float64) float64 {
	best := 0.0
	for k := int(lag) - 1; k <= int(lag)+2; k++ {
		if k > 0 && k < len(t.ac) && math.Abs(float64(k)-lag) <= 1.5 {
			best = math.Max(best, t.ac[k])
		}
	}
	return best
}

// comb is the mean agreement over some periods.
func (t *tracker) comb(period float64) float64 {
	var sum, weight float64
	for m := 1; m <= combTeeth; m++ {
		lag := float64(m) * period
		if int(lag)+1 >= len(t.ac) {
			break
		}
		w := 1 / math.Sqrt(float64(m))
		sum += w * t.agreement(lag)
		weight += w
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// tempo returns the most likely period, 0 when there is none.
func (t *tracker) tempo() float64 {
	best, found := 0.0, 0.0
	for p := t.low; p <= t.high*1.0001; p *= 1.005 {
		octaves := math.Log2(60 / t.e.seconds(p) / tempoCentre)
		score := t.comb(p) * math.Exp(-0.5*octaves*octaves/(tempoWidth*tempoWidth))
		if score > best {
			best, found = score, p
		}
	}
	return found
}

// octave checks a period against its double and its half, by what sounds at the beats
// and between them.
func (t *tracker) octave(beats []int, period float64) float64 {
	if len(beats) < leastBeats {
		return period
	}
	var even, odd, between float64
	for i, b := range beats {
		v := t.strength(float64(b))
		if i%2 == 0 {
			even += v
		} else {
			odd += v
		}
		if i > 0 {
			between += t.strength(float64(b+beats[i-1]) / 2)
		}
	}
	n := float64(len(beats))
	even, odd, between = even/math.Ceil(n/2), odd/math.Floor(n/2), between/(n-1)
	all := (even + odd) / 2
	switch {
	case math.Min(even, odd) < 0.15*math.Max(even, odd) && 2*period <= t.high*1.02:
		return 2 * period
	case between > 0.75*all && period/2 >= t.low*0.98:
		return period / 2
	}
	return period
}

// strength is the strongest accent near a step.
func (t *tracker) strength(step float64) float64 {
	w := t.e.steps(supportWidth)
	best := 0.0
	for k := max(0, int(math.Ceil(step-w))); k < len(t.x) && float64(k) <= step+w; k++ {
		best = math.Max(best, t.x[k])
	}
	return best
}

// follow places beats about a period apart where accents are strongest: the best sum of
// accents less what straying from the period costs (D. Ellis, Beat Tracking by Dynamic
// Programming, 2007).
func (t *tracker) follow(period float64) []int {
	n := len(t.x)
	near, far := max(1, int(period/2)), int(period*2)
	cost := make([]float64, far+1)
	for d := near; d <= far; d++ {
		l := math.Log(float64(d) / period)
		cost[d] = tightness * l * l
	}
	total, from := make([]float64, n), make([]int32, n)
	for i := range n {
		best, at := 0.0, int32(-1)
		for d := near; d <= min(far, i); d++ {
			if v := total[i-d] - cost[d]; v > best {
				best, at = v, int32(i-d)
			}
		}
		total[i], from[i] = best+t.x[i], at
	}
	end, top := n-1, math.Inf(-1)
	for i := max(0, n-int(period)); i < n; i++ {
		if total[i] > top {
			end, top = i, total[i]
		}
	}
	var beats []int
	for i := int32(end); i >= 0; i = from[i] {
		beats = append(beats, int(i))
	}
	slices.Reverse(beats)
	return beats
}
