package rhythm

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

// course is a sound in steps of a tenth of a second.
func course(seconds int, at func(s float64) float64) *Levels {
	l := &Levels{Step: cutroom.Second / 10}
	for i := range 10 * seconds {
		v := float32(at(float64(i) / 10))
		l.RMS, l.Peak = append(l.RMS, v), append(l.Peak, v+3)
	}
	return l
}

func TestPeaks(t *testing.T) {
	t.Parallel()
	l := course(60, func(s float64) float64 {
		switch {
		case s >= 10 && s < 10.5, s >= 40 && s < 40.5:
			return -12
		case s >= 20 && s < 20.5:
			return -6
		case s > 50: // a loud end is no moment
			return -10
		}
		return -40
	})
	var times []float64
	for _, m := range l.Peaks(6, cutroom.Second, 10) {
		times = append(times, math.Round(m.At.Seconds()*2)/2)
	}
	if diff := cmp.Diff([]float64{10.5, 20.5, 40.5}, times); diff != "" {
		t.Error(diff)
	}
	if loudest := l.Peaks(6, cutroom.Second, 1); len(loudest) != 1 || loudest[0].Level != -6 {
		t.Errorf("%v", loudest)
	}
	if rms, peak := l.Between(20*cutroom.Second, 20_500_000); rms != -6 || peak != -3 {
		t.Errorf("%v %v", rms, peak)
	}
	if rms, _ := l.Between(100*cutroom.Second, 101*cutroom.Second); rms != -120 {
		t.Errorf("%v after the end", rms)
	}
}

func TestHighlights(t *testing.T) {
	t.Parallel()
	l := course(60, func(s float64) float64 {
		if s >= 30 && s < 34 || s >= 50 && s < 52 {
			return -10
		}
		return -30
	})
	bounds := []cutroom.Micros{0, 20 * cutroom.Second, 45 * cutroom.Second, 60 * cutroom.Second}
	got := Highlights(bounds, l, HighlightOptions{Count: 2, By: ByAudio, MaxScene: 4 * cutroom.Second})
	want := []Stretch{{30 * cutroom.Second, 34 * cutroom.Second}, {48_000_000, 52_000_000}}
	for i := range want {
		if len(got) != 2 || got[i].End-got[i].Start != 4*cutroom.Second || max(got[i].Start-want[i].Start, want[i].Start-got[i].Start) > 2*cutroom.Second {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if got := Highlights(bounds, l, HighlightOptions{Count: 1, By: ByDuration}); len(got) != 1 || got[0] != (Stretch{bounds[1], bounds[2]}) {
		t.Errorf("%v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		o := HighlightOptions{
			Count: rapid.IntRange(0, 9).Draw(t, "count"), By: rapid.SampledFrom([]Rank{ByAudio, ByDuration}).Draw(t, "by"),
			Target:   cutroom.Micros(rapid.Int64Range(0, 90_000_000).Draw(t, "target")),
			MaxScene: cutroom.Micros(rapid.Int64Range(0, 40_000_000).Draw(t, "most")),
		}
		var sum, last cutroom.Micros
		for _, h := range Highlights(bounds, l, o) {
			if h.Start < last || h.End <= h.Start || h.End > 60*cutroom.Second || o.MaxScene > 0 && h.End-h.Start > o.MaxScene {
				t.Fatalf("%+v: %v", o, h)
			}
			sum, last = sum+h.End-h.Start, h.End
		}
		if o.Target > 0 && sum > o.Target {
			t.Fatalf("%+v: %v together", o, sum)
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	got := Bounds([]Change{{At: 0, Edge: true}, {At: 5}, {At: 5}, {At: 9}, {At: 12}}, 0, 12)
	if diff := cmp.Diff([]cutroom.Micros{0, 5, 9, 12}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPoisonedPictures: whatever frames come, in whatever time, there are changes in
// order.
func TestPoisonedPictures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := NewPictures(PictureOptions{Motion: true, MinScene: cutroom.Micros(rapid.Int64Range(0, 3_000_000).Draw(t, "least"))})
		luma, grey := make([]uint8, Width*Height), make([]uint8, Width*Height/4)
		at := cutroom.Micros(0)
		for range rapid.IntRange(0, 120).Draw(t, "frames") {
			at += cutroom.Micros(rapid.Int64Range(-50_000, 400_000).Draw(t, "step"))
			a, b := rapid.Uint8().Draw(t, "a"), rapid.IntRange(1, 97).Draw(t, "b")
			for i := range luma {
				luma[i] = a + uint8(i%b)
			}
			p.Add(Frame{At: at, Score: rapid.Float64Range(0, 100).Draw(t, "score"), Luma: luma, Cb: grey, Cr: grey})
		}
		last := cutroom.Micros(-1 << 40)
		for _, c := range p.Changes() {
			if c.At < last || c.Start > c.At || c.At > c.End || c.Score < 0 || c.Score > 100 {
				t.Fatalf("%+v", c)
			}
			last = c.At
		}
		p.Shots([]cutroom.Micros{0, cutroom.Second, 3 * cutroom.Second}, Upright{})
	})
}
