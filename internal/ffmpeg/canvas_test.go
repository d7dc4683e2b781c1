package ffmpeg

import (
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
)

func TestParseTiles(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][2]int{"4x3": {4, 3}, "1X1": {1, 1}, "20x5": {20, 5}, "": {}, "4": {}, "0x3": {}, "4x-1": {}, "21x1": {}, "11x10": {}, "4x3x2": {}, "４x3": {}} {
		c, r, err := ParseTiles(s)
		if c != want[0] || r != want[1] || (err == nil) != (want[0] > 0) {
			t.Errorf("%q: %d, %d, %v", s, c, r, err)
		}
	}
}

func FuzzParseTiles(f *testing.F) {
	for _, s := range []string{"4x3", "x", "1e9x1", "99999999999999999999x1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, r, err := ParseTiles(s)
		if err == nil && (c < 1 || r < 1 || c*r > mostTiles) || err != nil && cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%q: %d, %d, %v", s, c, r, err)
		}
	})
}

func TestSpread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length, n := cutroom.Micros(rapid.Int64Range(0, 1e14).Draw(t, "length")), rapid.IntRange(1, 100).Draw(t, "n")
		times := Spread(length, n)
		if times[0] != 0 || length > 0 && n > 1 && (len(times) != n || times[n-1] != length) {
			t.Fatalf("%d times over %s: %v", n, length, times)
		}
		for i := 1; i < len(times); i++ {
			if times[i] < times[i-1] {
				t.Fatalf("%v", times)
			}
		}
	})
}

// TestSheetWidth: a sheet is as wide as it was asked to be, to a pixel a column.
func TestSheetWidth(t *testing.T) {
	t.Parallel()
	img := image.NewRGBA(image.Rect(0, 0, 320, 180))
	data, err := EncodePicture(img, ".jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{1, 2, 3, 4, 7} {
		frames := make([]SheetFrame, columns*2)
		for i := range frames {
			frames[i].JPEG = data
		}
		sheet, err := DrawSheet(frames, columns, CellWidth(1280, columns), nil)
		if err != nil || sheet.Bounds().Dx() > 1280 || sheet.Bounds().Dx() <= 1280-columns {
			t.Errorf("%d columns: %v, %v", columns, sheet.Bounds(), err)
		}
	}
}

func TestShade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 200).Draw(t, "h")
		part := rapid.Float64Range(0, 0.5)
		s := Insets{part.Draw(t, "top"), part.Draw(t, "bottom"), part.Draw(t, "left"), part.Draw(t, "right")}
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range img.Pix {
			img.Pix[i] = 240
		}
		Shade(img, s)
		in := s.Inside(img.Bounds())
		for y := range h {
			for x := range w {
				c := img.RGBAAt(x, y)
				if inside := image.Pt(x, y).In(in); !inside && c != (color.RGBA{80, 80, 80, 240}) || inside && c != safeLine && c != (color.RGBA{240, 240, 240, 240}) {
					t.Fatalf("%d,%d in %v of %v: %v", x, y, in, img.Bounds(), c)
				}
			}
		}
	})
}

func TestMarkings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(3, 90).Draw(t, "w"), rapid.IntRange(3, 90).Draw(t, "h")
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		n := rapid.IntRange(0, w*h/3).Draw(t, "marks")
		for i := range n {
			img.SetRGBA(i*3%w, i*3/w, color.RGBA{200, 0, 0, 255})
		}
		m := CountMarkings(img)
		pixels, ink := 0, 0
		for _, r := range m.Regions[1:] {
			pixels, ink = pixels+r.Pixels, ink+r.Ink
		}
		if all := m.Regions[0]; all.Pixels != w*h || pixels != all.Pixels || ink != all.Ink || all.Ink != n {
			t.Fatalf("%d of %d pixels, %d of %d in the parts; %d were drawn", all.Ink, all.Pixels, ink, pixels, n)
		}
	})
}

// TestWaveformHolds: whatever was measured, a picture of the asked width comes out.
func TestWaveformHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.SliceOfN(rapid.Float32Range(-120, 20), 0, 50)
		a := &AudioSignals{EndSeconds: cutroom.Micros(rapid.Int64Range(0, 1e10).Draw(t, "end")), Silence: []Span{{-5, 7}, {1e6, 1e12}}}
		peak := level.Draw(t, "peak")
		a.Envelope = &Envelope{Start: cutroom.Micros(rapid.Int64Range(-1e6, 1e7).Draw(t, "start")), Step: cutroom.Micros(rapid.Int64Range(0, 1e6).Draw(t, "step")), Peak: peak, RMS: peak}
		a.Loudness = &Loudness{}
		for _, v := range level.Draw(t, "loud") {
			a.Loudness.Momentary = append(a.Loudness.Momentary, LoudnessAt{Seconds: cutroom.Micros(len(a.Loudness.Momentary)) * 100_000, LUFS: v})
		}
		width := rapid.IntRange(leastWave, 2000).Draw(t, "width")
		if img := Waveform(a, cutroom.Micros(rapid.Int64Range(-1, 1e9).Draw(t, "length")), width); img.Bounds().Dx() != width {
			t.Fatal(img.Bounds())
		}
	})
}

func TestLoudScale(t *testing.T) {
	t.Parallel()
	if y0, y14, y60, low := loudY(0), loudY(-14), loudY(-60), loudY(math.Inf(-1)); y0 >= y14 || y14 >= y60 || y60 != low || y60 >= waveHeight+loudHeight {
		t.Error(y0, y14, y60, low)
	}
}
