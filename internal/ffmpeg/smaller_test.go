package ffmpeg

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

// The parts of a recording cover all of it in order, each overlaps the next, none is much
// longer than asked for, and a silence near enough is where it is cut.
func TestCutAtSilence(t *testing.T) {
	t.Parallel()
	s := cutroom.Second
	parts := CutAtSilence(0, 100*s, 30*s, 2*s, []Span{{28 * s, 30 * s}, {61 * s, 63 * s}})
	want := []Span{{0, 30 * s}, {28 * s, 63 * s}, {61 * s, 92 * s}, {90 * s, 100 * s}}
	if d := cmp.Diff(want, parts); d != "" {
		t.Fatal(d)
	}
	rapid.Check(t, func(rt *rapid.T) {
		start := cutroom.Micros(rapid.Int64Range(0, 1_000_000_000).Draw(rt, "start"))
		end := start + cutroom.Micros(rapid.Int64Range(1, 20_000_000_000).Draw(rt, "length"))
		about := cutroom.Micros(rapid.Int64Range(10_000_000, 600_000_000).Draw(rt, "about"))
		overlap := cutroom.Micros(rapid.Int64Range(0, 4_000_000).Draw(rt, "overlap"))
		var silences []Span
		for range rapid.IntRange(0, 20).Draw(rt, "silences") {
			at := start + cutroom.Micros(rapid.Int64Range(0, int64(end-start)).Draw(rt, "at"))
			silences = append(silences, Span{at, min(end, at+s)})
		}
		parts := CutAtSilence(start, end, about, overlap, silences)
		if parts[0].StartSeconds != start || parts[len(parts)-1].EndSeconds != end {
			rt.Fatalf("%v does not cover %v to %v", parts, start, end)
		}
		for i, p := range parts {
			if p.EndSeconds <= p.StartSeconds || p.EndSeconds-p.StartSeconds > about+about/2+overlap {
				rt.Fatalf("part %d is %v", i, p)
			}
			if i > 0 && (p.StartSeconds > parts[i-1].EndSeconds || p.StartSeconds <= parts[i-1].StartSeconds) {
				rt.Fatalf("there is a hole before part %d: %v", i, parts)
			}
		}
	})
}

// A bit rate fits the copy into its bound, or says that it cannot.
func TestSmallerBitRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := SmallerOptions{MaxBytes: rapid.Int64Range(10_000, 1_000_000_000).Draw(rt, "bytes")}
		length := cutroom.Micros(rapid.Int64Range(1, 40_000_000_000).Draw(rt, "length"))
		sound := rapid.Bool().Draw(rt, "sound")
		rate, err := o.bitRate(length, sound)
		if err != nil {
			if cutroom.AsError(err).Code != cutroom.Limit {
				rt.Fatal(err)
			}
			return
		}
		total := rate
		if sound {
			total += soundBitRate
		}
		if rate < leastBitRate || float64(total)/8*length.Seconds() > float64(o.MaxBytes) {
			rt.Fatalf("%d bit/s over %s s are more than %d bytes", rate, length, o.MaxBytes)
		}
	})
}
