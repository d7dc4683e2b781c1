package ocr

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom/internal/picture"
)

// bar paints a rectangle of text probability, turned by angle around its middle.
func bar(probs []float32, w int, cx, cy, long, high, angle float64) {
	c, s := math.Cos(angle), math.Sin(angle)
	for i := range probs {
		x, y := float64(i%w)+0.5-cx, float64(i/w)+0.5-cy
		if math.Abs(x*c+y*s) <= long/2 && math.Abs(-x*s+y*c) <= high/2 {
			probs[i] = 0.95
		}
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	const w, h = 320, 192
	probs := make([]float32, w*h)
	bar(probs, w, 100, 40, 120, 10, 0)
	bar(probs, w, 160, 120, 200, 10, 10*math.Pi/180)
	probs[w*180+300] = 0.9 // a speck
	for x := range 40 {    // too faint to be text
		probs[w*20+240+x], probs[w*21+240+x], probs[w*22+240+x] = 0.4, 0.4, 0.4
	}
	rs := regions(probs, w, h, 2*w, 2*h)
	if len(rs) != 2 {
		t.Fatalf("%+v", rs)
	}
	if rs[0].rect.along.x != 1 {
		rs[0], rs[1] = rs[1], rs[0]
	}
	// Straight: 120x10 grown by 1.6 x area / perimeter = 7.4 a side, times two.
	if diff := cmp.Diff(Box{64, 54, 272, 52}, rs[0].box, cmp.Comparer(func(a, b int) bool { return a-b < 4 && b-a < 4 })); diff != "" {
		t.Error(diff)
	}
	if a := math.Atan2(rs[1].rect.along.y, rs[1].rect.along.x) * 180 / math.Pi; math.Abs(a-10) > 1 || math.Abs(rs[1].rect.h-2*(11+2*7.6)) > 6 {
		t.Errorf("angle %.1f, rect %+v", a, rs[1].rect)
	}
}

func TestRegionsOfAnyMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
		pw, ph := rapid.IntRange(1, 400).Draw(t, "pw"), rapid.IntRange(1, 400).Draw(t, "ph")
		probs := make([]float32, w*h)
		for i := range probs {
			probs[i] = rapid.SampledFrom([]float32{0, 0.2, 0.5, 0.9, 1}).Draw(t, "p")
		}
		for _, s := range spans(regions(probs, w, h, pw, ph)) {
			for _, r := range s {
				if err := r.box.check(pw, ph); err != nil {
					t.Fatal(err)
				}
				if r.score < textRegion || r.rect.w <= 0 || r.rect.h <= 0 {
					t.Fatalf("%+v", r)
				}
			}
			if r := s.rect(); !(r.w > 0 && r.h > 0) {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func TestEncloseHoldsItsPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Float64Range(0, 500)
		n := rapid.IntRange(1, 40).Draw(t, "n")
		pts := make([]point, n)
		for i := range pts {
			pts[i] = point{coordinate.Draw(t, "x"), coordinate.Draw(t, "y")}
		}
		all := append([]point(nil), pts...)
		r := enclose(hull(pts))
		if math.Abs(r.along.dot(r.along)-1) > 1e-9 || r.along.x < math.Abs(r.along.y)-1e-9 {
			t.Fatalf("axis %+v", r.along)
		}
		for _, p := range all {
			d := p.minus(r.origin)
			a, b := d.dot(r.along), d.dot(r.across())
			if a < -1e-6 || b < -1e-6 || a > r.w+1e-6 || b > r.h+1e-6 {
				t.Fatalf("%+v is outside of %+v", p, r)
			}
		}
	})
}

func TestReadingOrder(t *testing.T) {
	t.Parallel()
	in := []Box{
		{300, 12, 90, 20}, // the first row, a little lower
		{10, 10, 200, 24},
		{10, 40, 80, 20},
		{60, 46, 10, 10}, // inside of the one before: a row of its own
		{200, 38, 80, 22},
	}
	got := readingOrder(in, func(b Box) Box { return b })
	want := [][]Box{{in[1], in[0]}, {in[2], in[4]}, {in[3]}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadingOrderKeepsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		in := make([]Box, n)
		count := map[Box]int{}
		for i := range in {
			in[i] = Box{rapid.IntRange(0, 99).Draw(t, "x"), rapid.IntRange(0, 99).Draw(t, "y"), rapid.IntRange(1, 50).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")}
			count[in[i]]++
		}
		for _, row := range readingOrder(in, func(b Box) Box { return b }) {
			for i, b := range row {
				count[b]--
				if i > 0 && (b.X < row[i-1].X || !b.sameRow(row[i-1])) {
					t.Fatalf("row %v", row)
				}
			}
		}
		for b, c := range count {
			if c != 0 {
				t.Fatalf("%v: %d", b, c)
			}
		}
	})
}

func TestMapSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, picture.MaxPixels).Draw(t, "w"), rapid.IntRange(1, picture.MaxPixels).Draw(t, "h")
		side := rapid.IntRange(minSideOption, maxSideOption).Draw(t, "side")
		mw, mh := mapSize(w, h, side)
		if mw%32 != 0 || mh%32 != 0 || mw < 32 || mh < 32 || mw > side+16 || mh > side+16 {
			t.Fatalf("%dx%d", mw, mh)
		}
	})
	if w, h := mapSize(1920, 1080, 960); w != 960 || h != 544 {
		t.Errorf("%dx%d", w, h)
	}
}
