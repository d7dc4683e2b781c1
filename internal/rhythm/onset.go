package rhythm

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"cutroom"
)

// Envelope is the strength of onsets: one value for every Hop samples of sound at Rate
// samples a second. A value says how much more energy there is, over all bands of
// frequency, than just before; it is never negative.
type Envelope struct {
	Start     cutroom.Micros // time of the first sample
	Hop, Rate int
	Onset     []float32
}

// seconds returns the time of a step, which may lie between two, after Start.
func (e *Envelope) seconds(step float64) float64 {
	return step * float64(e.Hop) / float64(e.Rate)
}

// at returns the time of a step on the axis of Start.
func (e *Envelope) at(step float64) cutroom.Micros {
	return e.Start + cutroom.Micros(math.Round(e.seconds(step)*1e6))
}

// steps returns how many steps d seconds are.
func (e *Envelope) steps(d float64) float64 { return d * float64(e.Rate) / float64(e.Hop) }

// DefaultStep is the distance of an envelope's values.
const DefaultStep = 10 * cutroom.Second / 1000

// maxSteps bounds an envelope: 24 hours in the default step.
const maxSteps = 24 * 3600 * 100

// Onsets makes an envelope out of sound as it comes: the rise of the logarithm of each
// band's energy (spectral flux), summed up.
type Onsets struct {
	env    Envelope
	fft    *fourier.FFT
	shape  []float64 // window
	ring   []float32 // the samples that the next window needs
	skip   int       // samples to drop before ring begins
	bands  []int     // first bin of each band, and the end of the last
	past   [onsetLag][]float64
	buf    []float64
	coeffs []complex128
	next   int
	talk   talkMeter
	speech [2]int // bins of speech
}

const (
	onsetWindow = 0.0232 // seconds: short enough to tell when, long enough to hear bass
	onsetLag    = 2      // steps back that energy is compared with
	onsetBands  = 24
	onsetLow    = 40.0 // Hz
	onsetHigh   = 14_000.0
	onsetGain   = 1000.0 // magnitudes below −60 dBFS hardly count
)

// NewOnsets returns an empty envelope for sound of rate samples a second, in steps of
// about step, DefaultStep when that is 0.
func NewOnsets(rate int, step cutroom.Micros) *Onsets {
	if step <= 0 {
		step = DefaultStep
	}
	rate = max(1, rate)
	hop := max(1, int(math.Round(float64(rate)*step.Seconds())))
	size := 64
	for float64(size)*math.Sqrt2 < onsetWindow*float64(rate) {
		size *= 2
	}
	o := &Onsets{env: Envelope{Hop: hop, Rate: rate}, fft: fourier.NewFFT(size), buf: make([]float64, size), coeffs: make([]complex128, size/2+1)}
	var sum float64
	for i := range size {
		o.shape = append(o.shape, 0.5-0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(size)))
		sum += o.shape[i]
	}
	for i := range o.shape {
		o.shape[i] *= 2 / sum
	}
	o.bands = bandEdges(size, rate)
	o.speech = [2]int{200 * size / rate, min(size/2, 4000*size/rate)}
	for i := range o.past {
		o.past[i] = make([]float64, len(o.bands)-1)
	}
	o.ring = make([]float32, size/2, 4*size) // silence before the first sample
	return o
}

// bandEdges divides the bins between the lowest and highest frequency in equal
// intervals of pitch, none empty.
func bandEdges(size, rate int) []int {
	high := math.Min(onsetHigh, 0.48*float64(rate))
	edges := []int{max(1, int(onsetLow*float64(size)/float64(rate)))}
	for b := 1; b <= onsetBands; b++ {
		f := onsetLow * math.Pow(high/onsetLow, float64(b)/onsetBands)
		if bin := min(size/2, int(math.Round(f*float64(size)/float64(rate)))); bin > edges[len(edges)-1] {
			edges = append(edges, bin)
		}
	}
	return edges
}

// Add takes the next samples of one channel, −1 to 1.
func (o *Onsets) Add(mono []float32) {
	if n := min(o.skip, len(mono)); n > 0 {
		mono, o.skip = mono[n:], o.skip-n
	}
	o.ring = append(o.ring, mono...)
	size := len(o.shape)
	from := 0
	for from+size <= len(o.ring) {
		o.step(o.ring[from : from+size])
		from += o.env.Hop
	}
	if from > len(o.ring) {
		o.skip, from = from-len(o.ring), len(o.ring)
	}
	o.ring = append(o.ring[:0], o.ring[from:]...)
}

// step measures one window.
func (o *Onsets) step(x []float32) {
	if len(o.env.Onset) >= maxSteps {
		return
	}
	for i, v := range x {
		o.buf[i] = float64(v) * o.shape[i]
	}
	c := o.fft.Coefficients(o.coeffs, o.buf)
	o.listen(c)
	old := o.past[o.next]
	var rise float64
	for b := range len(o.bands) - 1 {
		var energy float64
		for _, v := range c[o.bands[b]:o.bands[b+1]] {
			energy += real(v)*real(v) + imag(v)*imag(v)
		}
		level := math.Log1p(onsetGain * math.Sqrt(energy))
		if len(o.env.Onset) >= onsetLag {
			rise += math.Max(0, level-old[b])
		}
		old[b] = level
	}
	o.next = (o.next + 1) % onsetLag
	o.env.Onset = append(o.env.Onset, float32(rise/float64(len(o.bands)-1)))
}

// listen keeps what tells speech from music.
func (o *Onsets) listen(c []complex128) {
	var total, voice float64
	for i, v := range c[1:] {
		e := real(v)*real(v) + imag(v)*imag(v)
		total += e
		if i+1 >= o.speech[0] && i+1 <= o.speech[1] {
			voice += e
		}
	}
	o.talk.add(total, voice, len(o.env.Onset), int(talkFor*float64(o.env.Rate)/float64(o.env.Hop)))
}

// Envelope ends the sound and returns its envelope; start is the time of the first
// sample.
func (o *Onsets) Envelope(start cutroom.Micros) Envelope {
	o.Add(make([]float32, len(o.shape)/2))
	e := o.env
	e.Start = start
	return e
}
