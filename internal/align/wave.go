package align

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Sizes of the comparison of waveforms, in samples.
const (
	reach    = 1280               // how far from the expected lag is looked: 160 ms, as far as answers lie apart
	waveSize = 8192               // of a transform
	longest  = waveSize - 2*reach // of a window: 0.9 s, in which no clock slips by more than its waves bear
	shortest = 1024
	windows  = 24 // per pair of stretches
)

// window is one stretch of the second recording held against the reference.
type window struct {
	middle float64   // sample of the second recording in its middle
	base   float64   // lag that curve[reach] stands for, samples
	curve  []float32 // correlation by lag, unit variance
}

// comparer correlates waveforms; it holds what the transforms need.
type comparer struct {
	fft      *fourier.FFT
	x        []float64
	xs, ys   []complex128
	low, top int // lines that count
}

func newComparer() *comparer {
	return &comparer{
		fft: fourier.NewFFT(waveSize), x: make([]float64, waveSize),
		xs: make([]complex128, waveSize/2+1), ys: make([]complex128, waveSize/2+1),
		low: 100 * waveSize / Rate, top: 3700 * waveSize / Rate,
	}
}

// line is where the second recording lies: sample t of it is sample
// offset + (1+slope)·t of the reference.
type line struct{ offset, slope float64 }

func (l line) at(t float64) float64 { return l.offset + (1+l.slope)*t }

// windowsAlong returns at most so many windows spread over the overlap of a and b along
// l, in each part of it where the second recording is loudest.
func (c *comparer) windowsAlong(a, b []int16, l line, most int) []window {
	from := max(0, int(math.Ceil(-l.offset/(1+l.slope))))
	to := min(len(b), int((float64(len(a))-l.offset)/(1+l.slope)))
	size := min(longest, to-from)
	if size < shortest {
		return nil
	}
	parts := max(1, min(most, (to-from)/size))
	var list []window
	for p := range parts {
		lo, hi := from+(to-from)*p/parts, from+(to-from)*(p+1)/parts
		at, loud := loudest(b, lo, hi, size)
		if loud {
			list = append(list, c.compare(a, b, at, size, l))
		}
	}
	return list
}

// loudest returns where between lo and hi the window of that size with the most energy
// begins, and whether there is any.
func loudest(b []int16, lo, hi, size int) (at int, loud bool) {
	const step = 512
	var sums []float64
	for i := lo; i < hi; i += step {
		var sum float64
		for _, v := range b[i:min(hi, i+step)] {
			sum += float64(v) * float64(v)
		}
		sums = append(sums, sum)
	}
	span := (size + step - 1) / step
	best, energy := 0, -1.0
	for i := 0; i == 0 || i+span <= len(sums) && lo+i*step+size <= hi; i++ {
		var sum float64
		for _, v := range sums[i:min(len(sums), i+span)] {
			sum += v
		}
		if sum > energy {
			best, energy = i, sum
		}
	}
	return lo + best*step, energy > float64(size) // one step of 16 bits
}

// compare correlates b[at:at+size] with the reference around where l says it lies.
// Every frequency counts nearly alike (phase transform), so that neither equaliser nor
// tone makes the peak wide.
func (c *comparer) compare(a, b []int16, at, size int, l line) window {
	middle := float64(at) + float64(size)/2
	start := int(math.Round(l.at(middle) - float64(size)/2))
	spectrum := func(out []complex128, pcm []int16, from, n int) {
		clear(c.x)
		for i := range n {
			if j := from + i; j >= 0 && j < len(pcm) {
				c.x[i] = float64(pcm[j])
			}
		}
		c.fft.Coefficients(out, c.x)
	}
	spectrum(c.xs, a, start-reach, size+2*reach)
	spectrum(c.ys, b, at, size)
	for i := range c.xs {
		if i < c.low || i >= c.top {
			c.xs[i] = 0
			continue
		}
		x, y := c.xs[i], c.ys[i]
		re, im := real(x)*real(y)+imag(x)*imag(y), imag(x)*real(y)-real(x)*imag(y)
		// Divided by its magnitude to the power of 3/4: wholly white, lines with nothing but
		// noise would count as much as those with sound.
		root := math.Sqrt(math.Sqrt(re*re+im*im) + 1e-6)
		g := 1 / (root * math.Sqrt(root))
		c.xs[i] = complex(re*g, im*g)
	}
	c.fft.Sequence(c.x, c.xs)
	w := window{middle: middle, base: float64(start - at), curve: make([]float32, 2*reach+1)}
	var square float64
	for _, v := range c.x[:2*reach+1] {
		square += v * v
	}
	if square > 0 {
		scale := 1 / math.Sqrt(square/(2*reach+1))
		for i, v := range c.x[:2*reach+1] {
			w.curve[i] = float32(v * scale)
		}
	}
	return w
}

// lag of w that element i of its curve stands for.
func (w *window) lag(i float64) float64 { return w.base + i - reach }

// index of w's curve for a lag.
func (w *window) index(lag float64) float64 { return lag - w.base + reach }

// stack finds the line on which the windows' curves add up to the most, among those
// whose slopes differ from l's by at most wide, and how many standard deviations above
// chance that sum lies. A recording with reversed polarity counts as well: sign is −1
// then.
func stack(list []window, l line, wide float64) (best line, score, sign float64) {
	var centre, first, last float64
	for i, w := range list {
		centre += w.middle / float64(len(list))
		if i == 0 || w.middle < first {
			first = w.middle
		}
		last = max(last, w.middle)
	}
	half := max(centre-first, last-centre)
	steps := int(math.Ceil(wide * half / 2)) // two samples at the ends
	sum := make([]float32, 2*reach+1)
	var peak float32
	for d := -steps; d <= steps; d++ {
		slope := l.slope
		if steps > 0 {
			slope += wide * float64(d) / float64(steps)
		}
		if math.Abs(slope) > maxDrift {
			continue
		}
		clear(sum)
		for _, w := range list {
			expected := l.at(centre) - centre + slope*(w.middle-centre)
			add(sum, w.curve, -int(math.Round(w.index(expected)))+reach)
		}
		for i := 1; i < len(sum)-1; i++ {
			// Within a window and between two steps, clocks slip by some samples.
			v := sum[i-1] + 2*sum[i] + sum[i+1]
			if v*v > peak*peak {
				peak = v
				at := l.at(centre) - centre + float64(i-reach)
				best = line{offset: at - slope*centre, slope: slope}
			}
		}
	}
	// Curves have unit variance; three neighbours weighed 1, 2, 1 have the sum of the
	// squares, and more as neighbours are alike.
	score = math.Abs(float64(peak)) / (3 * math.Sqrt(float64(max(1, len(list)))))
	return best, score, math.Copysign(1, float64(peak))
}
