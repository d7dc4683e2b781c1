package edl

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

const s = cutroom.Second

// kept is the map of an edit that keeps parts of one source, one behind the other.
func kept(parts ...Range) Map {
	m := Map{Sources: []Source{{Name: "talk.mp4", SHA256: cutroom.DigestOf([]byte("talk"))}}}
	for _, p := range parts {
		m.Segments = append(m.Segments, Segment{SourceStart: p.Start, SourceEnd: p.End, Start: m.Seconds, End: m.Seconds + p.End - p.Start})
		m.Seconds += p.End - p.Start
	}
	return m
}

// anyMap draws a map of up to three sources, with speeds, turned parts and transitions.
func anyMap(t *rapid.T, speeds, transitions bool) Map {
	m := Map{}
	for i := range rapid.IntRange(1, 3).Draw(t, "sources") {
		m.Sources = append(m.Sources, Source{SHA256: cutroom.DigestOf([]byte{byte(i)})})
	}
	for range rapid.IntRange(1, 8).Draw(t, "segments") {
		from := cutroom.Micros(rapid.Int64Range(0, 3_600_000_000).Draw(t, "from"))
		length := cutroom.Micros(rapid.Int64Range(1, 600_000_000).Draw(t, "length"))
		g := Segment{Source: rapid.IntRange(0, len(m.Sources)-1).Draw(t, "source"), SourceStart: from, SourceEnd: from + length, Start: m.Seconds}
		shown := length
		if speeds && rapid.Bool().Draw(t, "fast") {
			shown = cutroom.Micros(rapid.Int64Range(max(1, int64(length)/8), int64(length)*8).Draw(t, "shown"))
			g.Reversed = rapid.Bool().Draw(t, "reversed")
		}
		if transitions && m.Seconds > 0 {
			g.Start -= min(cutroom.Micros(rapid.Int64Range(0, 2_000_000).Draw(t, "over")), shown/3, m.Segments[len(m.Segments)-1].End-m.Segments[len(m.Segments)-1].Start)
		}
		g.End = g.Start + shown
		m.Seconds = max(m.Seconds, g.End)
		m.Segments = append(m.Segments, g)
	}
	return m
}

// What the edit shows at a time is shown there: to the source and back is the same time,
// to within what one microsecond of the slower side can say.
func TestToSourceIsTheInverseOfToEdit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMap(t, true, false)
		at := cutroom.Micros(rapid.Int64Range(0, int64(m.Seconds)-1).Draw(t, "at"))
		n, source, ok := m.ToSource(at)
		if !ok {
			t.Fatalf("the edit shows nothing at %s", at)
		}
		i := slices.IndexFunc(m.Segments, func(g Segment) bool { return g.Start <= at && at < g.End })
		g := m.Segments[i]
		if source < g.SourceStart || source >= g.SourceEnd || n != g.Source {
			t.Fatalf("%s is not in %+v", source, g)
		}
		slack := 1 + (g.End-g.Start)/(g.SourceEnd-g.SourceStart)
		if !slices.ContainsFunc(m.ToEdit(n, source), func(b cutroom.Micros) bool { return b-at <= slack && at-b <= slack }) {
			t.Fatalf("%s shows %s, which shows at %v", at, source, m.ToEdit(n, source))
		}
	})
}

// At its own speed every microsecond of a source maps exactly, and what was cut out has
// no place.
func TestToEditIsExactAtSpeedOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMap(t, false, false)
		g := m.Segments[rapid.IntRange(0, len(m.Segments)-1).Draw(t, "which")]
		in := g.SourceStart + cutroom.Micros(rapid.Int64Range(0, int64(g.SourceEnd-g.SourceStart)-1).Draw(t, "in"))
		places := m.ToEdit(g.Source, in)
		if !slices.Contains(places, g.Start+in-g.SourceStart) {
			t.Fatalf("%s of %+v is at %v", in, g, places)
		}
		for _, at := range places {
			if n, back, ok := m.ToSource(at); !ok || n != g.Source || back != in {
				t.Fatalf("%s shows at %s, which shows %s", in, at, back)
			}
		}
		free := cutroom.Micros(rapid.Int64Range(0, 5_000_000_000).Draw(t, "free"))
		shown := slices.ContainsFunc(m.Segments, func(g Segment) bool { return g.Source == 0 && g.SourceStart <= free && free < g.SourceEnd })
		if got := len(m.ToEdit(0, free)) > 0; got != shown {
			t.Fatalf("%s shows: %v, has places: %v", free, shown, got)
		}
	})
}

// What moves forward and back is what was shown of it; nothing else comes back.
func TestForwardAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMap(t, false, false)
		a := cutroom.Micros(rapid.Int64Range(0, 4_200_000_000).Draw(t, "a"))
		r := Range{a, a + cutroom.Micros(rapid.Int64Range(1, 900_000_000).Draw(t, "long"))}
		source := rapid.IntRange(0, len(m.Sources)-1).Draw(t, "source")
		var shown []Range
		for _, g := range m.Segments {
			if g.Source == source {
				shown = append(shown, Range{max(r.Start, g.SourceStart), min(r.End, g.SourceEnd)})
			}
		}
		var back []Range
		for _, p := range m.Forward(source)(r) {
			back = append(back, m.Back(source)(p)...)
		}
		if got, want := Total(intersect(Merge(back), r)), Total(Merge(shown)); got != want {
			t.Fatalf("%s of %s came back", got, want)
		}
	})
}

func intersect(list []Range, r Range) []Range {
	var out []Range
	for _, x := range list {
		out = append(out, Range{max(x.Start, r.Start), min(x.End, r.End)})
	}
	return Merge(out)
}

func TestWithoutAndMergeCover(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := Range{0, cutroom.Micros(rapid.Int64Range(1, 1000).Draw(t, "whole"))}
		var list []Range
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			a := cutroom.Micros(rapid.Int64Range(0, 1100).Draw(t, "a"))
			list = append(list, Range{a, a + cutroom.Micros(rapid.Int64Range(0, 200).Draw(t, "l"))})
		}
		rest := Without(whole, list)
		for at := range whole.End {
			in := func(rs []Range) bool {
				return slices.ContainsFunc(rs, func(r Range) bool { return r.Start <= at && at < r.End })
			}
			if in(list) == in(rest) || in(list) != in(Merge(list)) {
				t.Fatalf("%d is in both or in neither: %v %v", at, list, rest)
			}
		}
	})
}

func TestCutList(t *testing.T) {
	t.Parallel()
	got, err := ParseCuts("\ufeff# kept\r\n0.5-1.250\n 00:01:02.5 - 1:04 # talk\n\n90 --> 91.1234567\n95-\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Range{{500_000, 1_250_000}, {62_500_000, 64_000_000}, {90 * s, 91_123_457}, {95 * s, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text := FormatCuts(got); text != "0.500-1.250\n62.500-64.000\n90.000-91.123457\n95.000-\n" {
		t.Errorf("%q", text)
	}
	for text, part := range map[string]string{
		"1-2\n3": "line 2", "2-1": "does not lie after", "a-b": `"a" is not a time`, "-3": "is not a time", "01:00:00:05-01:00:01:00": "timecode", "1--2": "before the beginning",
	} {
		if _, err := ParseCuts(text, nil); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v", text, err)
		}
	}
	code := func(m cutroom.Moment) (cutroom.Micros, error) { return 7 * s, nil }
	if got, err := ParseCuts("1-01:00:00:05", code); err != nil || got[0].End != 7*s {
		t.Errorf("%v %v", got, err)
	}
}

func TestCutListRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []Range
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			a := cutroom.Micros(rapid.Int64Range(0, int64(cutroom.MaxMicros)/2).Draw(t, "a"))
			list = append(list, Range{a, a + cutroom.Micros(rapid.Int64Range(1, 1e12).Draw(t, "l"))})
		}
		got, err := ParseCuts(FormatCuts(list), nil)
		if err != nil || !slices.Equal(got, list) {
			t.Fatalf("%v %v, not %v", err, got, list)
		}
	})
}

func FuzzParseCuts(f *testing.F) {
	for _, seed := range []string{"0-1", "1:00-2:00\n#x\n3-", "1 --> 2", "-", "9e9-9e99", "\ufeff0.1-0.2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseCuts(text, nil)
		if err != nil {
			return
		}
		for _, r := range list {
			if r.Start < 0 || r.End != 0 && r.End <= r.Start {
				t.Fatalf("%+v", r)
			}
		}
		again, err := ParseCuts(FormatCuts(list), nil)
		if err != nil || !slices.Equal(list, again) {
			t.Fatalf("%v: %v, then %v", err, list, again)
		}
	})
}
