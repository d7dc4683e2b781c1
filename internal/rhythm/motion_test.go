package rhythm

import (
	"math"
	"testing"

	"cutroom"
)

// scenery is a still picture that a camera can look at: brightness by place.
func scenery(x, y float64) float64 {
	return 120 + 40*math.Sin(7*x+2*math.Sin(3*y)) + 30*math.Sin(11*y+1.3*x) + 25*math.Sin(23*x+17*y)
}

// filmed feeds a camera's frames to an eye: at every time it looks at a place, from some
// distance.
func filmed(add func(Frame), seconds float64, camera func(t float64) (x, y, scale float64), noise func() float64) {
	luma := make([]uint8, Width*Height)
	grey := make([]uint8, Width*Height/4)
	for i := range grey {
		grey[i] = 128
	}
	for n := range int(seconds * 25) {
		t := float64(n) / 25
		cx, cy, scale := camera(t)
		for r := range Height {
			for c := range Width {
				x := cx + ((float64(c)+0.5)/Width-0.5)*scale
				y := cy + ((float64(r)+0.5)/Height-0.5)*scale*9/16
				luma[r*Width+c] = uint8(math.Max(16, math.Min(235, scenery(x, y)+noise())))
			}
		}
		add(Frame{At: cutroom.Micros(n) * 40_000, Luma: luma, Cb: grey, Cr: grey})
	}
}

func TestCameras(t *testing.T) {
	t.Parallel()
	rng := newPlayer(8000, 0, 5).rng
	type camera = func(t float64) (x, y, scale float64)
	for _, c := range []struct {
		name  string
		move  camera
		turn  Upright
		label Label
		flow  float64
	}{
		{"still", func(float64) (float64, float64, float64) { return 0, 0, 1 }, Upright{}, Static, 0},
		{"right", func(t float64) (float64, float64, float64) { return 0.2 * t, 0, 1 }, Upright{}, PanRight, 0.2},
		{"left, slowly", func(t float64) (float64, float64, float64) { return -0.03 * t, 0, 1 }, Upright{}, PanLeft, 0.03},
		{"right, in a hurry", func(t float64) (float64, float64, float64) { return 1.2 * t, 0, 1 }, Upright{}, PanRight, 1.2},
		{"up", func(t float64) (float64, float64, float64) { return 0, -0.1 * t, 1 }, Upright{}, TiltUp, 0.1 * 16 / 9},
		{"down", func(t float64) (float64, float64, float64) { return 0, 0.1 * t, 1 }, Upright{}, TiltDown, 0.1 * 16 / 9},
		{"in", func(t float64) (float64, float64, float64) { return 0, 0, math.Exp(-0.1 * t) }, Upright{}, ZoomIn, 0},
		{"out", func(t float64) (float64, float64, float64) { return 0, 0, math.Exp(0.08 * t) }, Upright{}, ZoomOut, 0},
		{"by hand", func(t float64) (float64, float64, float64) {
			return 0.03 * math.Sin(6*t), 0.02 * math.Sin(7.3*t), 1
		}, Upright{}, Handheld, 0.2},
		{"a phone held upright, down", func(t float64) (float64, float64, float64) { return 0.2 * t, 0, 1 }, Upright{Turn: 90}, TiltDown, 0.2},
		{"a phone on its head, right", func(t float64) (float64, float64, float64) { return -0.2 * t, 0, 1 }, Upright{Turn: 180}, PanRight, 0.2},
	} {
		p := NewPictures(PictureOptions{Motion: true})
		filmed(p.Add, 4, c.move, func() float64 { return 2 * rng.NormFloat64() })
		p.Changes()
		s := p.Shots([]cutroom.Micros{0, 4 * cutroom.Second}, c.turn)[0]
		if s.Label != c.label || c.flow > 0 && math.Abs(s.Flow/c.flow-1) > 0.2+0.008/c.flow {
			t.Errorf("%s: %+v, want %s at %.2f", c.name, s, c.label, c.flow)
		}
	}
}

// TestSubjectsThatMove: something moves before a camera that stands still.
func TestSubjectsThatMove(t *testing.T) {
	t.Parallel()
	p := NewPictures(PictureOptions{Motion: true})
	luma := make([]uint8, Width*Height)
	grey := make([]uint8, Width*Height/4)
	for n := range 100 {
		for i := range luma {
			x, y := float64(i%Width)/Width, float64(i/Width)/Width
			luma[i] = uint8(scenery(x, y))
			dx, dy := x-0.5-0.35*math.Sin(float64(n)/9), y-0.3-0.2*math.Cos(float64(n)/7)
			if dx*dx+dy*dy < 0.01 {
				luma[i] = 230
			}
		}
		p.Add(Frame{At: cutroom.Micros(n) * 40_000, Luma: luma, Cb: grey, Cr: grey})
	}
	if c := p.Changes(); len(c) > 0 {
		t.Errorf("%+v", c)
	}
	if s := p.Shots([]cutroom.Micros{0, 4 * cutroom.Second}, Upright{})[0]; s.Label != Motion || s.Activity < 0.6 {
		t.Errorf("%+v", s)
	}
}
