package ffmpeg

import (
	"math"

	"cutroom"
)

// Loudness is programme loudness by EBU R 128 (ITU-R BS.1770-4, EBU Tech 3341 and
// 3342). A value that does not exist, as of silence, is null: JSON has no infinity.
type Loudness struct {
	Silent       bool           `json:"silent" doc:"Nothing is above the absolute gate of −70 LUFS."`
	TooShort     bool           `json:"too_short,omitempty" doc:"Less than 0.4 s: programme loudness does not exist."`
	Clipped      int64          `json:"clipped,omitempty" min:"0" doc:"Places where three or more samples in a row are at or beyond full scale: the sound was cut off there when it was made."`
	Integrated   *float64       `json:"integrated_lufs,omitempty" unit:"LUFS" doc:"Integrated loudness."`
	Range        *float64       `json:"loudness_range_lu,omitempty" unit:"LU" doc:"Loudness range."`
	TruePeak     *float64       `json:"true_peak_dbtp,omitempty" unit:"dBTP" doc:"True peak, from 4× oversampling below 96 kHz."`
	SamplePeak   *float64       `json:"sample_peak_dbfs,omitempty" unit:"dBFS" doc:"Largest sample."`
	MaxMomentary *float64       `json:"max_momentary_lufs,omitempty" unit:"LUFS" doc:"Loudest 400 ms."`
	MaxShortTerm *float64       `json:"max_short_term_lufs,omitempty" unit:"LUFS" doc:"Loudest 3 s."`
	Threshold    *float64       `json:"threshold_lufs,omitempty" unit:"LUFS" doc:"Relative gate of the integrated loudness."`
	Momentary    []LoudnessAt   `json:"-"` // loudest 400 ms of each step
	MomentaryGap cutroom.Micros `json:"-"`
}

// LoudnessAt is a momentary loudness, −120 for silence.
type LoudnessAt struct {
	Seconds cutroom.Micros
	LUFS    float32
}

// The gates and blocks of BS.1770-4.
const (
	absoluteGate  = -70.0
	relativeGate  = -10.0
	rangeGate     = -20.0
	loudnessShift = -0.691
	shortBlocks   = 30 // of 100 ms
	maxMomentary  = 14_400
)

// loudnessMeter measures interleaved samples in steps of 100 ms. Gating needs the
// loudness of every block; a histogram of fine bins with the exact energy of each
// keeps memory constant.
type loudnessMeter struct {
	channels int
	step, n  int
	weight   []float64
	shelf    []biquad
	high     []biquad
	sum      []float64
	steps    [shortBlocks]float64 // energies of the last 100 ms steps
	count    int64
	blocks   histogram
	short    histogram
	maxM     float64
	maxS     float64
	peak     float32
	clips    int64
	flat     []int // samples in a row at full scale, by channel
	over     []oversampler
	tp       float64
	series   []LoudnessAt
	every    int64
	top      float64
}

func newLoudnessMeter(a *AudioFacts) *loudnessMeter {
	m := &loudnessMeter{channels: a.Channels, step: max(1, a.SampleRate/10), maxM: floorDB, maxS: floorDB, every: 10, top: floorDB}
	m.weight = channelWeights(a)
	factor := 4
	switch {
	case a.SampleRate >= 192_000:
		factor = 1
	case a.SampleRate >= 96_000:
		factor = 2
	}
	taps := phases(factor)
	for range a.Channels {
		s, h := kWeighting(float64(a.SampleRate))
		m.shelf, m.high = append(m.shelf, s), append(m.high, h)
		m.over = append(m.over, oversampler{phases: taps})
	}
	m.sum, m.flat = make([]float64, a.Channels), make([]int, a.Channels)
	return m
}

// channelWeights are 1 for the front, 1.41 for surrounds, 0 for the LFE.
func channelWeights(a *AudioFacts) []float64 {
	w := make([]float64, a.Channels)
	names := layouts[a.Layout]
	for i := range w {
		w[i] = 1
		if i < len(names) && len(names) == a.Channels {
			switch names[i] {
			case "LFE":
				w[i] = 0
			case "BL", "BR", "SL", "SR":
				w[i] = 1.41
			}
		}
	}
	return w
}

// kWeighting returns the two stages of BS.1770's pre-filter at any rate: a shelf for
// the head, then a high pass. The constants are those of the analogue prototypes
// that give the standard's table at 48 kHz.
func kWeighting(rate float64) (shelf, high biquad) {
	k := math.Tan(math.Pi * 1681.974450955533 / rate)
	const q = 0.7071752369554196
	vh := math.Pow(10, 3.999843853973347/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/q + k*k
	shelf = biquad{b0: (vh + vb*k/q + k*k) / a0, b1: 2 * (k*k - vh) / a0, b2: (vh - vb*k/q + k*k) / a0, a1: 2 * (k*k - 1) / a0, a2: (1 - k/q + k*k) / a0}
	k = math.Tan(math.Pi * 38.13547087602444 / rate)
	const q2 = 0.5003270373238773
	a0 = 1 + k/q2 + k*k
	high = biquad{b0: 1, b1: -2, b2: 1, a1: 2 * (k*k - 1) / a0, a2: (1 - k/q2 + k*k) / a0}
	return shelf, high
}

func (m *loudnessMeter) feed(x []float32) {
	for len(x) > 0 {
		n := min(len(x)/m.channels, m.step-m.n)
		part := x[:n*m.channels]
		x = x[n*m.channels:]
		for c := range m.channels {
			m.channel(part, c)
		}
		if m.n += n; m.n == m.step {
			m.endStep()
		}
	}
}

// channel runs one channel of a stretch through its filters.
func (m *loudnessMeter) channel(x []float32, c int) {
	s, h := &m.shelf[c], &m.high[c]
	sb0, sb1, sb2, sa1, sa2, sz1, sz2 := s.b0, s.b1, s.b2, s.a1, s.a2, s.z1, s.z2
	ha1, ha2, hz1, hz2 := h.a1, h.a2, h.z1, h.z2
	var sum float64
	var peak float32
	for i := c; i < len(x); i += m.channels {
		v := x[i]
		if v > peak {
			peak = v
		} else if -v > peak {
			peak = -v
		}
		in := float64(v)
		y := sb0*in + sz1
		sz1 = sb1*in - sa1*y + sz2
		sz2 = sb2*in - sa2*y
		z := y + hz1
		hz1 = -2*y - ha1*z + hz2
		hz2 = y - ha2*z
		sum += z * z
	}
	if sz1 > -1e-30 && sz1 < 1e-30 { // denormals are slow
		sz1, sz2 = 0, 0
	}
	if hz1 > -1e-30 && hz1 < 1e-30 {
		hz1, hz2 = 0, 0
	}
	s.z1, s.z2, h.z1, h.z2 = sz1, sz2, hz1, hz2
	m.sum[c] += sum
	m.peak = max(m.peak, peak)
	m.clipped(x, c, peak)
	m.tp = m.over[c].feed(x, c, m.channels, m.tp)
}

// fullScale is the largest sample of 16 bits, the coarsest that recordings have.
const fullScale = 32767.0 / 32768

// clipped counts the places where the sound stands at full scale; peak is the stretch's.
func (m *loudnessMeter) clipped(x []float32, c int, peak float32) {
	if peak < fullScale {
		m.flat[c] = 0
		return
	}
	run := m.flat[c]
	for i := c; i < len(x); i += m.channels {
		if v := x[i]; v < fullScale && v > -fullScale {
			run = 0
			continue
		}
		if run++; run == 3 {
			m.clips++
		}
	}
	m.flat[c] = run
}

// endStep closes 100 ms: momentary loudness is the mean of 4 steps, short-term of 30.
func (m *loudnessMeter) endStep() {
	var e float64
	for c, s := range m.sum {
		e += m.weight[c] * s / float64(m.step)
		m.sum[c] = 0
	}
	m.n = 0
	m.steps[m.count%shortBlocks] = e
	m.count++
	if m.count >= 4 {
		e4 := m.mean(4)
		l := lufs(e4)
		m.blocks.add(l, e4)
		m.maxM, m.top = max(m.maxM, l), max(m.top, l)
	}
	if m.count >= shortBlocks {
		e30 := m.mean(shortBlocks)
		l := lufs(e30)
		m.short.add(l, e30)
		m.maxS = max(m.maxS, l)
	}
	if m.count%m.every == 0 {
		m.record()
	}
}

// record keeps the series short: when it is full every second value goes.
func (m *loudnessMeter) record() {
	m.series = append(m.series, LoudnessAt{cutroom.Micros(m.count-m.every) * 100_000, float32(m.top)})
	m.top = floorDB
	if len(m.series) < maxMomentary {
		return
	}
	half := m.series[:0]
	for i := 0; i+1 < len(m.series); i += 2 {
		half = append(half, LoudnessAt{m.series[i].Seconds, max(m.series[i].LUFS, m.series[i+1].LUFS)})
	}
	m.series, m.every = half, 2*m.every
}

func (m *loudnessMeter) mean(n int64) float64 {
	var e float64
	for i := range n {
		e += m.steps[(m.count-1-i)%shortBlocks]
	}
	return e / float64(n)
}

func (m *loudnessMeter) finish() {
	for c := range m.over {
		m.tp = m.over[c].flush(m.tp)
	}
}

func lufs(energy float64) float64 {
	if energy <= 1e-13 {
		return floorDB
	}
	return max(floorDB, loudnessShift+10*math.Log10(energy))
}

func (m *loudnessMeter) result(start cutroom.Micros) *Loudness {
	l := &Loudness{MomentaryGap: cutroom.Micros(m.every) * 100_000}
	for _, s := range m.series {
		l.Momentary = append(l.Momentary, LoudnessAt{s.Seconds + start, s.LUFS})
	}
	exists := func(v float64) *float64 {
		if v <= floorDB || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		v = math.Round(v*100) / 100
		return &v
	}
	l.SamplePeak = exists(decibels(float64(m.peak)))
	l.TruePeak = exists(decibels(max(m.tp, float64(m.peak))))
	l.MaxMomentary, l.MaxShortTerm = exists(m.maxM), exists(m.maxS)
	l.TooShort, l.Clipped = m.count < 4, m.clips
	ungated, ok := m.blocks.above(absoluteGate)
	if !ok {
		l.Silent = !l.TooShort || m.peak == 0
		return l
	}
	gate := lufs(ungated) + relativeGate
	if gated, ok := m.blocks.above(max(gate, absoluteGate)); ok {
		l.Integrated, l.Threshold = exists(lufs(gated)), exists(gate)
	}
	if shortMean, ok := m.short.above(absoluteGate); ok {
		gate := max(absoluteGate, lufs(shortMean)+rangeGate)
		l.Range = exists(m.short.percentile(gate, 0.95) - m.short.percentile(gate, 0.10))
	}
	return l
}

// histogram counts blocks by loudness in bins of 0.02 LU, with their exact energy.
type histogram struct {
	count  [binCount]int64
	energy [binCount]float64
}

const (
	binsPerLU = 50
	binTop    = 30 // LUFS
	binCount  = (binTop - int(absoluteGate)) * binsPerLU
)

func bin(l float64) int {
	return min(binCount-1, int((l-absoluteGate)*binsPerLU))
}

func (h *histogram) add(l, energy float64) {
	if l < absoluteGate {
		return
	}
	b := bin(l)
	h.count[b]++
	h.energy[b] += energy
}

// above returns the mean energy of the blocks at or above a gate.
func (h *histogram) above(gate float64) (float64, bool) {
	var n int64
	var e float64
	for b := max(0, bin(gate)); b < binCount; b++ {
		n += h.count[b]
		e += h.energy[b]
	}
	return e / float64(max(1, n)), n > 0
}

// percentile returns the loudness below which share p of the gated blocks lies.
func (h *histogram) percentile(gate, p float64) float64 {
	var n int64
	from := max(0, bin(gate))
	for b := from; b < binCount; b++ {
		n += h.count[b]
	}
	rank := int64(math.Round(p * float64(n-1)))
	for b := from; b < binCount; b++ {
		if rank -= h.count[b]; rank < 0 {
			return absoluteGate + (float64(b)+0.5)/binsPerLU
		}
	}
	return absoluteGate
}
