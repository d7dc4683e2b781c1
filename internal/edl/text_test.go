package edl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

// The case of captions made before the cut: base.mp4 cut to 2–3 s, a cue at 2.2 s.
func TestCaptionsMadeBeforeTheCut(t *testing.T) {
	t.Parallel()
	m := kept(Range{2 * s, 3 * s})
	srt := "1\n00:00:00,500 --> 00:00:01,000\ngone\n\n2\n00:00:02,200 --> 00:00:02,600\n<i>stays</i>\n- as it is\n\n3\n00:00:02,900 --> 00:00:04,000\noverhangs\n"
	got, moved, err := MoveCues(srt, m.Forward(0))
	if err != nil {
		t.Fatal(err)
	}
	want := "1\n00:00:00,200 --> 00:00:00,600\n<i>stays</i>\n- as it is\n\n2\n00:00:00,900 --> 00:00:01,000\noverhangs\n\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if moved != (Moved{Kept: 2, Dropped: 1}) {
		t.Errorf("%+v", moved)
	}
	back, _, err := MoveCues(got, m.Back(0))
	if err != nil || !strings.Contains(back, "00:00:02,200 --> 00:00:02,600") || !strings.Contains(back, "00:00:02,900 --> 00:00:03,000") {
		t.Errorf("%v %s", err, back)
	}
}

// A cue over a part that was cut out stays one; one over parts that moved apart is two.
func TestCuesOverACut(t *testing.T) {
	t.Parallel()
	m := kept(Range{0, 2 * s}, Range{4 * s, 6 * s})
	vtt := "WEBVTT - talk\nKind: captions\n\nNOTE gone\n\nfirst\n00:01.000 --> 00:05.000 line:90% align:start\n<v Ann>one <00:03.000>two <00:04.500>three\n"
	got, _, err := MoveCues(vtt, m.Forward(0))
	if err != nil {
		t.Fatal(err)
	}
	if want := "first\n00:00:01.000 --> 00:00:03.000 line:90% align:start\n<v Ann>one <00:00:02.000>two <00:00:02.500>three\n\n"; !strings.HasPrefix(got, "WEBVTT - talk\nKind: captions\n") || !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	apart := kept(Range{4 * s, 6 * s}, Range{10 * s, 11 * s}, Range{0, 2 * s})
	got, moved, err := MoveCues(vtt, apart.Forward(0))
	if err != nil || moved.Split != 1 || strings.Count(got, "-->") != 2 {
		t.Errorf("%v %+v %s", err, moved, got)
	}
	if _, _, err := MoveCues("hello", m.Forward(0)); err == nil {
		t.Error("text without a cue was taken")
	}
}

func TestChapters(t *testing.T) {
	t.Parallel()
	m := kept(Range{10 * s, 20 * s}, Range{60 * s, 90 * s})
	list := ParseMarks("Chapters\n0:00 Intro\n0:15 – Setup\n00:40 gone\n1:10 | The end\n")
	if len(list) != 4 || list[1] != (Mark{15 * s, "Setup"}) {
		t.Fatalf("%+v", list)
	}
	out, moved := MoveMarks(list, 90*s, m.Forward(0))
	if got := FormatMarks(out); got != "0:00 Intro\n0:05 Setup\n0:10 gone\n0:20 The end\n" {
		t.Errorf("%q %+v", got, moved)
	}
	cut := kept(Range{10 * s, 20 * s}, Range{70 * s, 90 * s})
	out, moved = MoveMarks(list, 90*s, cut.Forward(0))
	if got := FormatMarks(out); got != "0:00 Intro\n0:05 Setup\n0:10 The end\n" || moved.Dropped != 1 {
		t.Errorf("%q %+v", got, moved)
	}
}

func TestTimelineDocument(t *testing.T) {
	t.Parallel()
	m := kept(Range{0, 2 * s}, Range{4 * s, 6 * s})
	doc := `{"schema":"x","duration_seconds":10,"events":[
	 {"kind":"spoken","timestamp_seconds":1.5,"end_seconds":4.25,"text":"<b>&","words":[{"start_seconds":1.5,"text":"a"},{"start_seconds":3,"text":"cut"},{"start_seconds":4.1,"end_seconds":4.2,"text":"b"}]},
	 {"kind":"scene","timestamp_seconds":3},{"kind":"scene","timestamp_seconds":5.0}],"limitations":["none"]}`
	got, moved, err := MoveJSON([]byte(doc), m.Forward(0), m.Seconds)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"x","duration_seconds":4,"events":[{"kind":"spoken","timestamp_seconds":1.5,"end_seconds":2.25,"text":"<b>&","words":[{"start_seconds":1.5,"text":"a"},{"start_seconds":2.1,"end_seconds":2.2,"text":"b"}]},{"kind":"scene","timestamp_seconds":3}],"limitations":["none"]}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if moved != (Moved{Kept: 2, Dropped: 1}) {
		t.Errorf("%+v", moved)
	}
	for _, bad := range []string{"", "{", `{"a":1}`, `[1,2]`, `[] x`, strings.Repeat("[", 200)} {
		if _, _, err := MoveJSON([]byte(bad), m.Forward(0), 0); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzMoveCues(f *testing.F) {
	f.Add("1\n00:00:01,000 --> 00:00:02,000\nhello\n")
	f.Add("WEBVTT\n\n00:01.000 --> 00:02.000 line:1\n<00:01.500>x\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := kept(Range{0, 2 * s}, Range{4 * s, 3600 * s})
		got, moved, err := MoveCues(text, m.Forward(0))
		if err != nil || moved.Kept == 0 {
			return
		}
		for line := range strings.Lines(got) {
			if p := timing.FindStringSubmatch(strings.TrimRight(line, "\n")); p != nil && clockOf(p[5:9]) < clockOf(p[1:5]) {
				t.Fatalf("a cue ends before it begins: %s", line)
			}
		}
	})
}

func FuzzMoveJSON(f *testing.F) {
	f.Add(`[{"start":1,"end":2},{"start_seconds":5}]`)
	f.Add(`{"events":[{"timestamp_seconds":1e3}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		m := kept(Range{0, 2 * s}, Range{4 * s, 3600 * s})
		got, _, err := MoveJSON([]byte(doc), m.Forward(0), m.Seconds)
		if err == nil && !json.Valid(got) {
			t.Fatalf("%s", got)
		}
	})
}

func FuzzParseMarks(f *testing.F) {
	f.Add("0:00 Intro\n1:02:03 End")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ParseMarks(text) {
			if m.Start < 0 || m.Start > cutroom.MaxMicros {
				t.Fatal(m)
			}
		}
	})
}

// A hostile map that shows one long cue everywhere ends with an error, not with all memory.
func TestCuesAreNotRepeatedWithoutBound(t *testing.T) {
	t.Parallel()
	everywhere := func(Range) []Range {
		list := make([]Range, 20_000)
		for i := range list {
			list[i] = Range{cutroom.Micros(i) * cutroom.Second, cutroom.Micros(i+1) * cutroom.Second}
		}
		return list
	}
	text := "1\n00:00:00,000 --> 00:00:01,000\n" + strings.Repeat("x", 8<<10) + "\n"
	_, _, err := MoveCues(text, everywhere)
	if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Limit || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if out, moved, err := MoveCues(text[:60], everywhere); err != nil || moved.Split != 1 || strings.Count(out, "-->") != 20_000 {
		t.Errorf("%v, %+v", err, moved)
	}
}
