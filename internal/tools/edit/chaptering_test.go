package edit

import (
	"slices"
	"testing"

	"cutroom"
	"cutroom/internal/edl"

	"pgregory.net/rapid"
)

// However the seams lie: chapters begin with 0, are as long as asked, and not too many.
func TestChaptersAreDivided(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length := cutroom.Micros(rapid.Int64Range(1, 4*3600_000_000).Draw(t, "length"))
		least := cutroom.Micros(rapid.Int64Range(1, 600_000_000).Draw(t, "least"))
		most := rapid.IntRange(2, 30).Draw(t, "most")
		var list []seam
		for range rapid.IntRange(0, 40).Draw(t, "seams") {
			list = append(list, seam{cutroom.Micros(rapid.Int64Range(0, int64(length)).Draw(t, "at")), rapid.Float64Range(0, 7).Draw(t, "clear")})
		}
		got := divide(list, length, least, most)
		if got[0] != 0 || len(got) > most || !slices.IsSorted(got) {
			t.Fatalf("%v", got)
		}
		for i := 1; i < len(got); i++ {
			if got[i]-got[i-1] < least || length-got[i] < least {
				t.Fatalf("%v of %v, at least %v", got, length, least)
			}
		}
		marks, err := chapters(numbered(got), length)
		if err != nil || len(marks) != len(got) || marks[len(marks)-1].EndSeconds != length {
			t.Fatalf("%v: %v", marks, err)
		}
	})
}

func TestChaptersOutOfOrderAreNamed(t *testing.T) {
	t.Parallel()
	for _, list := range [][]edl.Mark{
		{{Start: 5, Title: "a"}, {Start: 5, Title: "b"}},
		{{Start: 7, Title: "a"}, {Start: 5, Title: "b"}},
		{{Start: 0, Title: "a"}, {Start: 10, Title: "b"}},
	} {
		if got, err := chapters(list, 10); err == nil {
			t.Errorf("%v: %v", list, got)
		}
	}
}
