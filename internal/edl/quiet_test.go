package edl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

func TestTighten(t *testing.T) {
	t.Parallel()
	q := Quiet{Whole: Range{0, 20 * s}, MinSilence: 600_000, Margin: 150_000, MinKeep: 200_000}
	q.Spans = []Range{{0, s}, {3 * s, 3*s + 300_000}, {5 * s, 8 * s}, {8*s + 100_000, 10 * s}, {19 * s, 20 * s}}
	got := q.Tighten()
	want := []Range{{850_000, 5*s + 150_000}, {10*s - 150_000, 19*s + 150_000}}
	// The click between two silences has margins that make it long enough to stay.
	want = []Range{want[0], {8*s - 150_000, 8*s + 250_000}, want[1]}
	if diff := cmp.Diff(want, got.Keep); diff != "" {
		t.Error(diff)
	}
	if len(got.Silences) != 4 || len(got.Breaths) != 1 {
		t.Errorf("%+v", got)
	}
	q.Voices = []Range{{6 * s, 7 * s}}
	if got := q.Tighten(); Total(got.Keep) <= Total(want) {
		t.Errorf("a voice was cut out: %v", got.Keep)
	}
}

// What stays lies in the recording in order, holds every voice, and with what went makes
// up the whole.
func TestTightenKeepsVoices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, n int) (list []Range) {
			for range rapid.IntRange(0, n).Draw(t, name) {
				a := cutroom.Micros(rapid.Int64Range(0, 20_000_000).Draw(t, "a"))
				list = append(list, Range{a, min(20*s, a+cutroom.Micros(rapid.Int64Range(0, 4_000_000).Draw(t, "l")))})
			}
			return list
		}
		q := Quiet{Whole: Range{0, 20 * s}, Spans: draw("spans", 8), Voices: draw("voices", 4), MinSilence: 500_000, Margin: 100_000, MinKeep: 200_000}
		got := q.Tighten()
		for i, r := range got.Keep {
			if r.End <= r.Start || r.Start < 0 || r.End > 20*s || i > 0 && r.Start <= got.Keep[i-1].End {
				t.Fatalf("%v", got.Keep)
			}
		}
		if Total(got.Keep)+got.Silent+got.Worded != 20*s {
			t.Fatalf("%+v", got)
		}
		for _, v := range Merge(q.Voices) {
			if Total(intersect(got.Keep, v)) != v.End-v.Start {
				t.Fatalf("%v lacks a part of the voice %v", got.Keep, v)
			}
		}
	})
}
