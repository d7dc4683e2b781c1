package rhythm

import (
	"cmp"
	"math"
	"slices"

	"cutroom"
)

// Levels is the course of the sound: levels in dBFS for each step from Start.
type Levels struct {
	Start, Step cutroom.Micros
	RMS, Peak   []float32
}

// Moment is a time at which the sound is louder than around it.
type Moment struct {
	At    cutroom.Micros
	Level float64 // dBFS, of half a second
}

// silentDB is the level of nothing.
const silentDB = -120

// Between returns the level of a stretch, and its largest sample, in dBFS; −120 for
// silence and for what was not measured.
func (l *Levels) Between(from, to cutroom.Micros) (rms, peak float64) {
	rms, peak = silentDB, silentDB
	if l.Step <= 0 {
		return rms, peak
	}
	a := int(max(0, (from-l.Start)/l.Step))
	b := int(min(cutroom.Micros(len(l.RMS)), (to-l.Start+l.Step-1)/l.Step))
	var sum float64
	n := 0
	for i := a; i < b; i++ {
		sum += math.Pow(10, float64(l.RMS[i])/10)
		n++
		if i < len(l.Peak) {
			peak = math.Max(peak, float64(l.Peak[i]))
		}
	}
	if n > 0 && sum > 0 {
		rms = math.Max(silentDB, 10*math.Log10(sum/float64(n)))
	}
	return round1(rms), round1(peak)
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// halves is the level of every half second, in steps of the envelope.
func (l *Levels) halves() []float64 {
	w := max(1, int(500*cutroom.Second/1000/max(1, l.Step)))
	sums := make([]float64, len(l.RMS)+1)
	for i, v := range l.RMS {
		sums[i+1] = sums[i] + math.Pow(10, float64(v)/10)
	}
	out := make([]float64, len(l.RMS))
	for i := range out {
		a := max(0, i-w/2)
		b := min(len(l.RMS), a+w)
		out[i] = silentDB
		if e := (sums[b] - sums[a]) / float64(b-a); e > 0 {
			out[i] = math.Max(silentDB, 10*math.Log10(e))
		}
	}
	return out
}

// Peaks are the moments that stand out: at least above dB louder than half of the time
// around them (ten seconds on either side), the loudest within apart. They come in order
// of time; at most most of them, the loudest.
func (l *Levels) Peaks(above float64, apart cutroom.Micros, most int) []Moment {
	if l.Step <= 0 || len(l.RMS) == 0 {
		return []Moment{}
	}
	h := l.halves()
	reach := max(1, int(apart/l.Step))
	around := max(1, int(10*cutroom.Second/l.Step))
	found := []Moment{}
	for i, v := range h {
		if v <= -70 || slices.ContainsFunc(h[max(0, i-reach):i], func(o float64) bool { return o >= v }) ||
			slices.ContainsFunc(h[i+1:min(len(h), i+1+reach)], func(o float64) bool { return o > v }) {
			continue
		}
		near := slices.Clone(h[max(0, i-around):min(len(h), i+around+1)])
		slices.Sort(near)
		if v-near[len(near)/2] >= above {
			found = append(found, Moment{l.Start + cutroom.Micros(i)*l.Step + l.Step/2, round1(v)})
		}
	}
	slices.SortStableFunc(found, func(a, b Moment) int { return cmp.Compare(b.Level, a.Level) })
	found = found[:min(len(found), most)]
	slices.SortFunc(found, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	return found
}

// Loudest returns where in a stretch the length d is loudest.
func (l *Levels) Loudest(from, to, d cutroom.Micros) cutroom.Micros {
	if d >= to-from || l.Step <= 0 {
		return from
	}
	best, at := math.Inf(-1), from
	step := max(l.Step, d/20)
	for t := from; t+d <= to; t += step {
		if rms, _ := l.Between(t, t+d); rms > best+0.05 {
			best, at = rms, t
		}
	}
	return at
}
