package align

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"cutroom"
)

// Rate is the sampling rate of what is compared, in Hz: voices and most of music lie
// below half of it.
const Rate = 8000

// MaxLength is the longest stretch of a recording that is compared as a whole.
const MaxLength = 900 * cutroom.Second

// Sound is a stretch of one recording as it is compared.
type Sound struct {
	start  cutroom.Micros // of the first sample, on the recording's public axis
	pcm    []int16
	course [bands][]float32 // of the spectrum: one value per band and frame
	loud   bool             // there is something to hear
	varied bool             // and it changes
}

// A frame of the course is 20 ms; its spectrum is taken over 32 ms.
const (
	hop   = Rate / 50
	frame = 256
	bands = 8
)

// edges are the bands' limits as numbers of spectral lines 31.25 Hz apart: 125 to
// 3688 Hz, each a little wider than the one below.
var edges = [bands + 1]int{4, 8, 13, 19, 27, 38, 54, 78, 118}

// Listen returns a consumer of mono 16-bit little-endian samples at Rate, which keeps
// those of the first length seconds and returns them as a *Sound. The first sample lies
// at start.
func Listen(start, length cutroom.Micros) func(io.Reader) (any, error) {
	most := int(min(length, MaxLength).Seconds() * Rate)
	return func(r io.Reader) (any, error) {
		s := &Sound{start: start}
		buf := make([]byte, 64<<10)
		for {
			n, err := io.ReadFull(r, buf)
			for i := 0; i+1 < n && len(s.pcm) < most; i += 2 {
				s.pcm = append(s.pcm, int16(binary.LittleEndian.Uint16(buf[i:])))
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return s, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// Samples returns sound of the samples pcm at Rate, of which the first lies at start.
func Samples(start cutroom.Micros, pcm []int16) *Sound { return &Sound{start: start, pcm: pcm} }

// Start is where the sound begins on its recording's public axis.
func (s *Sound) Start() cutroom.Micros { return s.start }

// Length is how long the sound is.
func (s *Sound) Length() cutroom.Micros { return cutroom.MicrosOf(float64(len(s.pcm)) / Rate) }

// listen takes the course of the spectrum, once.
func (s *Sound) listen() {
	if s.course[0] != nil {
		return
	}
	n := max(1, (len(s.pcm)+hop/2)/hop)
	energy := s.energies(n)
	for b := range s.course {
		s.course[b] = level(energy[b])
		for _, v := range s.course[b] {
			s.varied = s.varied || v != 0
		}
	}
	for _, v := range s.pcm {
		s.loud = s.loud || v > 8 || v < -8 // −72 dBFS: less is the noise of codecs and converters
	}
}

// energies returns the energy of each band in each frame.
func (s *Sound) energies(n int) (energy [bands][]float32) {
	fft := fourier.NewFFT(frame)
	window := make([]float64, frame)
	for i := range window {
		window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/frame)
	}
	for b := range energy {
		energy[b] = make([]float32, n)
	}
	x, lines := make([]float64, frame), make([]complex128, frame/2+1)
	for k := range n {
		from := k*hop + hop/2 - frame/2
		for i := range x {
			x[i] = 0
			if j := from + i; j >= 0 && j < len(s.pcm) {
				x[i] = float64(s.pcm[j]) * window[i]
			}
		}
		fft.Coefficients(lines, x)
		for b := range energy {
			var sum float64
			for _, c := range lines[edges[b]:edges[b+1]] {
				sum += real(c)*real(c) + imag(c)*imag(c)
			}
			energy[b][k] = float32(sum)
		}
	}
	return energy
}

// level turns energies into a course with zero mean and unit variance that neither
// gain nor equaliser changes: logarithm over a floor, minus its own mean over a second.
// A band in which nothing changes is zero.
func level(e []float32) []float32 {
	var mean float64
	for _, v := range e {
		mean += float64(v)
	}
	mean /= float64(len(e))
	// 40 dB below the mean, what is left is each recording's own noise. The constant is
	// that of 16 bits.
	floor := 1e-4*mean + 200
	x := make([]float64, len(e))
	for i, v := range e {
		x[i] = math.Log(float64(v) + floor)
	}
	const half = 25
	out := make([]float32, len(x))
	var sum, square float64
	from, to := 0, 0
	for i := range x {
		for ; to < min(len(x), i+half+1); to++ {
			sum += x[to]
		}
		for ; from < i-half; from++ {
			sum -= x[from]
		}
		v := x[i] - sum/float64(to-from)
		square += v * v
		out[i] = float32(v)
	}
	deviation := math.Sqrt(square / float64(len(x)))
	if deviation < 0.03 { // an eighth of a decibel: a steady tone through a codec
		return make([]float32, len(x))
	}
	for i, v := range out {
		out[i] = float32(max(-3, min(3, float64(v)/deviation)))
	}
	return out
}
