package grade

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b Color, by float64) bool {
	for k := range a {
		if math.Abs(a[k]-b[k]) > by {
			return false
		}
	}
	return true
}

func anyColor(t *rapid.T) Color {
	f := rapid.Float64Range(0, 1)
	return Color{f.Draw(t, "r"), f.Draw(t, "g"), f.Draw(t, "b")}
}

// A table is read as it was written; at strength 0 it changes nothing; one that says
// nothing new is its input.
func TestTablesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &Cube{Lines: rapid.Bool().Draw(t, "lines"), Size: rapid.IntRange(2, 6).Draw(t, "size"), Max: Color{1, 1, 1}}
		for range c.entries() {
			c.Table = append(c.Table, anyColor(t))
		}
		read, err := ParseCube(c.Text())
		if err != nil {
			t.Fatal(err)
		}
		x := anyColor(t)
		if !near(read.At(x), c.At(x), 1e-5) {
			t.Fatalf("at %v: %v, was %v", x, read.At(x), c.At(x))
		}
		if same := c.Mixed(0); !near(same.At(x), x, 1e-9) {
			t.Fatalf("strength 0 makes %v of %v", same.At(x), x)
		}
		if !near(c.Mixed(1).At(x), c.At(x), 1e-9) {
			t.Fatal("strength 1 is another table")
		}
		half := c.Mixed(0.5).At(x)
		for k, v := range c.At(x) {
			if math.Abs(half[k]-(v+x[k])/2) > 1e-9 {
				t.Fatalf("half of it: %v", half)
			}
		}
	})
}

// Each entry of a table is met at its own place.
func TestEntriesStandWhereTheyShould(t *testing.T) {
	t.Parallel()
	c, err := ParseCube([]byte("LUT_3D_SIZE 2\n0 0 0\n.1 0 0\n0 .2 0\n0 0 .3\n.4 0 0\n0 .5 0\n0 0 .6\n1 1 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[Color]Color{{1, 0, 0}: {.1, 0, 0}, {0, 1, 0}: {0, .2, 0}, {1, 1, 0}: {0, 0, .3}, {0, 0, 1}: {.4, 0, 0}, {0, 1, 1}: {0, 0, .6}} {
		if got := c.At(in); !near(got, want, 1e-12) {
			t.Errorf("%v: %v, want %v", in, got, want)
		}
	}
}

// A correction of nothing changes nothing; each value has its direction; nothing leaves
// the range.
func TestCorrectionsKeepTheirWord(t *testing.T) {
	t.Parallel()
	luma := LumaOf("bt709")
	rapid.Check(t, func(t *rapid.T) {
		curve := rapid.SampledFrom([]Transfer{SDR, PQ, HLG}).Draw(t, "curve")
		x := anyColor(t)
		if got := (Correction{}).For(curve, luma).At(x); !near(got, x, 1e-6) {
			t.Fatalf("nothing makes %v of %v", got, x)
		}
		up := (Correction{Exposure: 1}).For(curve, luma).At(x)
		for k := range x {
			if want := curve.Signal(2 * curve.Light(x[k])); math.Abs(up[k]-want) > 2e-3 {
				t.Fatalf("a stop makes %g of %g, want %g", up[k], x[k], want)
			}
		}
		grey := 0.0
		got := (Correction{Saturation: &grey}).For(curve, luma).At(x)
		if y := luma[0]*x[0] + luma[1]*x[1] + luma[2]*x[2]; !near(got, Color{y, y, y}, 1e-6) {
			t.Fatalf("without saturation %v is %v, its luma is %g", x, got, y)
		}
		f := rapid.Float64Range(-1, 1)
		wild := Correction{Exposure: 3 * f.Draw(t, "e"), Temperature: rapid.Float64Range(2000, 12000).Draw(t, "k"), Tint: f.Draw(t, "t"), Lift: f.Draw(t, "l"), Gamma: rapid.Float64Range(0.1, 10).Draw(t, "gamma"), Gain: f.Draw(t, "gain")}
		for _, v := range wild.For(curve, luma).At(x) {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%+v makes %v", wild, v)
			}
		}
	})
}

// The curves are their own inverses, and have the values of the standards.
func TestTransfers(t *testing.T) {
	t.Parallel()
	for _, c := range []Transfer{SDR, PQ, HLG} {
		for x := 0.0; x <= 1; x += 1.0 / 64 {
			if got := c.Signal(c.Light(x)); math.Abs(got-x) > 1e-6 {
				t.Errorf("%q: %g comes back as %g", c, x, got)
			}
		}
	}
	// SMPTE ST 2084: 100 cd/m² is 0.508; BT.2100: a twelfth of the light is one half in HLG.
	if got := PQ.Signal(0.01); math.Abs(got-0.5081) > 5e-4 {
		t.Errorf("PQ of 100 cd/m²: %g", got)
	}
	if got := HLG.Signal(1.0 / 12); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("HLG: %g", got)
	}
}

// The curve of BT.2390 rises, keeps darks as they are, and ends at its target.
func TestBT2390(t *testing.T) {
	t.Parallel()
	c := BT2390(1000, 100)
	at := func(nits float64) float64 {
		s := PQ.Signal(nits / 10000)
		return 10000 * PQ.Light(c.At(Color{s, s, s})[0])
	}
	for nits, want := range map[float64]float64{0.1: 0.1, 1: 1, 10: 10, 1000: 100, 4000: 100} {
		if got := at(nits); math.Abs(got-want) > 0.02*want {
			t.Errorf("%g cd/m² become %g, want %g", nits, got, want)
		}
	}
	last := -1.0
	for i := range c.Table {
		if v := c.Table[i][0]; v < last {
			t.Fatalf("it falls at %d", i)
		} else {
			last = v
		}
	}
}

// FuzzParseCube: whatever comes, it is a table whose every colour has a value, or an
// error for the caller that repeats nothing of the file.
func FuzzParseCube(f *testing.F) {
	for _, s := range []string{"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n", "TITLE \"x\"\nLUT_3D_SIZE 2\n" + strings.Repeat("0.5 0 1e-3\n", 8), "LUT_3D_SIZE 99999999999\n", "DOMAIN_MIN -1 0 0\nDOMAIN_MAX 2 1 1\nLUT_1D_SIZE 2\n0 0 0\n1 1 1", "\xef\xbb\xbf#\r\n", "LUT_3D_INPUT_RANGE 0 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCube(data)
		if err != nil {
			return
		}
		if again, err := ParseCube(c.Text()); err != nil || again.Size != c.Size || again.Lines != c.Lines {
			t.Fatalf("what was written is not read: %v", err)
		}
		for _, v := range c.At(Color{0.3, 0.6, 2}) {
			if math.IsNaN(v) || v < 0 || v > 1 {
				t.Fatalf("a colour of %g", v)
			}
		}
	})
}
