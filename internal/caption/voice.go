package caption

import (
	"slices"
	"sort"

	"cutroom"
)

// Voice says how speech is spread over time, by the level of the sound.
type Voice struct {
	start, step cutroom.Micros
	sum         []float64 // of the steps before
}

// NewVoice takes the course of the sound: its level in dBFS for each step from start
// on. What lies well above the quiet part of it counts as speech.
func NewVoice(start, step cutroom.Micros, level []float32) *Voice {
	v := &Voice{start: start, step: max(1, step), sum: make([]float64, len(level)+1)}
	if len(level) == 0 {
		return v
	}
	order := slices.Clone(level)
	slices.Sort(order)
	quiet, loud := order[len(order)/10], order[len(order)*95/100]
	bar := quiet + (loud-quiet)*2/5
	for i, l := range level {
		w := 0.02 // time goes on in a pause, too
		if l > bar || loud-quiet < 3 {
			w = 1
		}
		v.sum[i+1] = v.sum[i] + w
	}
	return v
}

// Progress says when a share of the speech between two times is spoken: share 0 is
// start, 1 is end, and it rises with share.
func (v *Voice) Progress(start, end cutroom.Micros, share float64) cutroom.Micros {
	from, to := v.until(start), v.until(end)
	if to <= from {
		return start + cutroom.Micros(share*float64(end-start))
	}
	want := from + share*(to-from)
	i := max(1, sort.Search(len(v.sum), func(i int) bool { return v.sum[i] >= want }))
	if i >= len(v.sum) {
		return end
	}
	part := 0.0
	if d := v.sum[i] - v.sum[i-1]; d > 0 {
		part = (want - v.sum[i-1]) / d
	}
	t := v.start + cutroom.Micros((float64(i-1)+part)*float64(v.step))
	return max(start, min(t, end))
}

// until is how much speech lies before a time.
func (v *Voice) until(t cutroom.Micros) float64 {
	at := float64(t-v.start) / float64(v.step)
	i := int(at)
	switch {
	case at <= 0 || len(v.sum) < 2:
		return 0
	case i >= len(v.sum)-1:
		return v.sum[len(v.sum)-1]
	}
	return v.sum[i] + (at-float64(i))*(v.sum[i+1]-v.sum[i])
}
