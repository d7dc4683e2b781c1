package rhythm

import (
	"math"
	"slices"
	"testing"

	"cutroom"
)

// BenchmarkOnsets is a second of sound at 48 kHz.
func BenchmarkOnsets(b *testing.B) {
	p := newPlayer(48_000, 1, 1)
	p.hiss(0.3)
	o := NewOnsets(p.rate, 0)
	for b.Loop() {
		o.Add(p.x)
	}
}

// BenchmarkPictures is a second of a picture at 25 frames that a hand-held camera shows,
// with the camera followed.
func BenchmarkPictures(b *testing.B) {
	rng := newPlayer(8000, 0, 5).rng
	var frames []Frame
	recorder := func(f Frame) {
		f.Luma, f.Cb, f.Cr = slices.Clone(f.Luma), slices.Clone(f.Cb), slices.Clone(f.Cr)
		frames = append(frames, f)
	}
	filmed(recorder, 20, func(t float64) (x, y, scale float64) {
		return 0.03 * math.Sin(6*t), 0.02 * math.Sin(7.3*t), 1
	}, func() float64 { return 2 * rng.NormFloat64() })
	p := NewPictures(PictureOptions{Motion: true})
	second := 0
	for b.Loop() {
		for i := range 25 {
			f := frames[(second*25+i)%len(frames)]
			f.At = cutroom.Micros(second*25+i) * 40_000
			p.Add(f)
		}
		second++
	}
}
