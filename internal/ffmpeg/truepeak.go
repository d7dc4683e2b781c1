package ffmpeg

import "math"

// The interpolation filter of the true peak: twelve taps for each phase, as the
// example in BS.1770-4 annex 2 has.
const tpTaps = 12

// phases returns the filters of the points between two samples, for a factor of
// oversampling. Each sums to one.
func phases(factor int) [][tpTaps]float32 {
	var all [][tpTaps]float32
	for p := 1; p < factor; p++ {
		var h [tpTaps]float64
		var sum float64
		frac := float64(p) / float64(factor)
		for k := range h {
			// Tap k weighs the sample k-5 places from the one before the point.
			x := frac - float64(k-(tpTaps/2-1))
			h[k] = sinc(x) * window(x/(tpTaps/2+0.5))
			sum += h[k]
		}
		var f [tpTaps]float32
		for k := range h {
			f[k] = float32(h[k] / sum)
		}
		all = append(all, f)
	}
	return all
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// window is a Kaiser window (β = 6) over −1 … 1.
func window(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(6*math.Sqrt(1-x*x)) / bessel(6)
}

func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1; k < 30; k++ {
		term *= x / 2 / float64(k)
		sum += term * term
	}
	return sum
}

// overshoot bounds how far the interpolation can exceed the largest sample it sees;
// stretches that cannot exceed the peak found so far are not interpolated.
const overshoot = 2.0

// oversampler finds the largest value between the samples of one channel.
type oversampler struct {
	phases [][tpTaps]float32
	tail   [tpTaps - 1]float32 // the samples before the next stretch
	buf    []float32
}

// feed looks at channel c of interleaved samples; peak is the largest value so far.
func (o *oversampler) feed(x []float32, c, channels int, peak float64) float64 {
	if len(o.phases) == 0 {
		return peak
	}
	o.buf = append(o.buf[:0], o.tail[:]...)
	for i := c; i < len(x); i += channels {
		o.buf = append(o.buf, x[i])
	}
	copy(o.tail[:], o.buf[len(o.buf)-len(o.tail):])
	best := float32(peak)
	const stretch = 64
	n := len(o.buf) - tpTaps + 1 // points with all their taps
	for i := 0; i < n; i += stretch {
		end := min(n, i+stretch)
		var top float32
		for _, v := range o.buf[i : end+tpTaps-1] {
			if v > top {
				top = v
			} else if -v > top {
				top = -v
			}
		}
		if top*overshoot > best {
			best = o.interpolate(i, end, best)
		}
	}
	return float64(best)
}

func (o *oversampler) interpolate(from, to int, best float32) float32 {
	for i := from; i < to; i++ {
		w := (*[tpTaps]float32)(o.buf[i:])
		for p := range o.phases {
			h := &o.phases[p]
			y := w[0]*h[0] + w[1]*h[1] + w[2]*h[2] + w[3]*h[3] + w[4]*h[4] + w[5]*h[5] +
				w[6]*h[6] + w[7]*h[7] + w[8]*h[8] + w[9]*h[9] + w[10]*h[10] + w[11]*h[11]
			if y < 0 {
				y = -y
			}
			if y > best {
				best = y
			}
		}
	}
	return best
}

// flush looks at the points after the last sample, as if silence followed.
func (o *oversampler) flush(peak float64) float64 {
	return o.feed(make([]float32, tpTaps), 0, 1, peak)
}
