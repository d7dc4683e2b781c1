package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/edl"
)

// A ramp's steps follow each other without a gap, begin and end where the clip does, and
// each is as fast as the ramp is there.
func TestRampsAreWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Ramp{rapid.Float64Range(0.05, 100).Draw(t, "from"), rapid.Float64Range(0.05, 100).Draw(t, "to")}
		long := cutroom.Micros(rapid.Int64Range(400_000, 3_600_000_000).Draw(t, "length"))
		mean := r.Mean().Float()
		if lo, hi := min(r.From, r.To), max(r.From, r.To); mean < lo-1e-6 || mean > hi+1e-6 {
			t.Fatalf("%+v has a mean of %v", r, mean)
		}
		whole := edl.Segment{SourceStart: 7, SourceEnd: 7 + long, Start: 11, End: 11 + stretched(long, r.Mean())}
		list := r.segments(whole)
		at, shown := whole.SourceStart, whole.Start
		for i, s := range list {
			if s.SourceStart != at || s.Start != shown {
				t.Fatalf("step %d begins at %v, %v, and the last one ended at %v, %v", i, s.SourceStart, s.Start, at, shown)
			}
			at, shown = s.SourceEnd, s.End
			x := (s.SourceStart - whole.SourceStart + (s.SourceEnd-s.SourceStart)/2).Seconds() / long.Seconds()
			want, got := r.From+(r.To-r.From)*x, (s.SourceEnd-s.SourceStart).Seconds()/(s.End-s.Start).Seconds()
			if slack := want/4 + 2e-6*got/(s.End-s.Start).Seconds(); len(list) > 50 && i > 0 && i < len(list)-1 && math.Abs(r.To-r.From) < 4*min(r.From, r.To) && math.Abs(got-want) > slack {
				t.Fatalf("step %d of %d plays at %v, want %v", i, len(list), got, want)
			}
		}
		if at != whole.SourceEnd || shown != whole.End {
			t.Fatalf("the steps end at %v, %v of %+v", at, shown, whole)
		}
	})
}
