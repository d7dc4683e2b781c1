package evidence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cutroom"

	"github.com/google/go-cmp/cmp"
)

// brief is an event in one line, for comparing.
func brief(e Event) string {
	s := fmt.Sprintf("%s %s %q", clockRange(e.TimestampSeconds, e.EndSeconds), e.Kind, e.Text)
	if e.Note != "" {
		s += " // " + e.Note
	}
	return s
}

func briefs(events []Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, brief(e))
	}
	return out
}

func line(text string, x, y int) ScreenLine {
	score := 0.9
	return ScreenLine{Text: text, Box: &Box{x, y, 10 * len(text), 20}, Confidence: cutroom.High, Score: &score}
}

func frame(at float64) *cutroom.ArtifactRef {
	v := sec(at)
	return &cutroom.ArtifactRef{RelativePath: fmt.Sprintf("frames/%05.1f.png", at), MediaType: "image/png", TimestampSeconds: &v}
}

func screen(at float64, lines ...ScreenLine) Screen {
	return Screen{At: sec(at), Frame: frame(at), Lines: lines, Source: "ocr"}
}

func TestMergeOrdersAndMarks(t *testing.T) {
	t.Parallel()
	in := Inputs{
		Segments: []Segment{
			seg(9, 14, "past the end"), seg(1, 3, "hello"),
			{Start: sec(4), End: secp(5), Text: "gracias", Unreliable: true},
			{Start: sec(5), End: secp(6), Text: "and and", Loop: true},
			seg(7, 6.5, "backwards"), seg(20, 21, "beyond"),
		},
		SegmentSource: "speech", Machine: true,
		Scenes:   []Cut{{At: sec(5), Score: 40}, {At: sec(2.5), Score: 12}},
		Silences: []Span{{Start: sec(6), End: secp(7)}, {Start: sec(9.5)}},
		Black:    []Span{{Start: 0, End: secp(0.5)}},
		Freeze:   []Span{{Start: sec(8), End: secp(9)}},
		Visuals:  []Observation{{At: sec(3), Text: "a person", Confidence: cutroom.Medium, Source: "vision"}, {At: sec(3), Text: "  "}},
		Duration: sec(10),
	}
	events, notes := Merge(in)
	want := []string{
		`0:00:00.000–0:00:02.500 scene "scene 1 of 3"`,
		`0:00:00.000–0:00:00.500 visual "black picture"`,
		`0:00:01.000–0:00:03.000 spoken "hello"`,
		`0:00:02.500–0:00:05.000 scene "scene 2 of 3"`,
		`0:00:03.000 visual "a person"`,
		`0:00:04.000–0:00:05.000 uncertain "gracias" // the speech engine does not vouch for these words`,
		`0:00:05.000–0:00:10.000 scene "scene 3 of 3"`,
		`0:00:05.000–0:00:06.000 uncertain "and and" // the speech engine repeated itself`,
		`0:00:06.000–0:00:07.000 silence "silence"`,
		`0:00:07.000 spoken "backwards"`,
		`0:00:08.000–0:00:09.000 visual "the picture hardly changes"`,
		`0:00:09.000–0:00:10.000 spoken "past the end" // time set to the length of the clip`,
		`0:00:09.500–0:00:10.000 silence "silence"`,
		`0:00:10.000–0:00:10.000 spoken "beyond" // time set to the length of the clip`,
	}
	if diff := cmp.Diff(want, briefs(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wantNotes := []string{
		"3 times beyond the end of the clip were set to the end",
		"1 event ended before it began; its end was left out",
		"1 stretch of speech repeats itself and is marked uncertain",
		"1 stretch of speech is unreliable and is marked uncertain",
	}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	for _, e := range events {
		if !e.UntrustedContent || e.Confidence == "" {
			t.Errorf("%s: untrusted %v, confidence %q", brief(e), e.UntrustedContent, e.Confidence)
		}
	}
	if in.Scenes[0].At != sec(5) {
		t.Error("the input was changed")
	}
}

func TestMergeIsIndependentOfOrder(t *testing.T) {
	t.Parallel()
	var in Inputs
	for i := range 40 {
		in.Segments = append(in.Segments, seg(float64(i/4), float64(i/4+1), fmt.Sprint("s", i)))
		in.Scenes = append(in.Scenes, Cut{At: sec(float64(i)), Score: float64(i % 7)})
	}
	want, _ := Merge(in)
	shuffled := Inputs{Segments: slices.Clone(in.Segments), Scenes: slices.Clone(in.Scenes)}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(shuffled.Segments), func(i, j int) {
		shuffled.Segments[i], shuffled.Segments[j] = shuffled.Segments[j], shuffled.Segments[i]
	})
	r.Shuffle(len(shuffled.Scenes), func(i, j int) {
		shuffled.Scenes[i], shuffled.Scenes[j] = shuffled.Scenes[j], shuffled.Scenes[i]
	})
	got, _ := Merge(shuffled)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("another order gives other events:\n%s", diff)
	}
}

func TestMergeFoldsLoops(t *testing.T) {
	t.Parallel()
	var loop, refrain []Segment
	for i := range 6434 {
		loop = append(loop, seg(float64(i), float64(i+1), "Thank you for watching!"))
	}
	for i := range 5 {
		refrain = append(refrain, seg(float64(i), float64(i+1), "Let it be"))
	}
	inside := []Segment{seg(0, 9, strings.Repeat("I wouldn't start from here, Sonny. ", 40)), seg(9, 10, "no no no no"), seg(10, 12, "very, very, very good")}
	for _, tt := range []struct {
		name    string
		in      Inputs
		count   int
		uncertn int
	}{
		{"an engine's loop", Inputs{Segments: loop, Machine: true}, 1, 1},
		{"a loop in a file", Inputs{Segments: loop}, 1, 1},
		{"a refrain in a file", Inputs{Segments: refrain}, 5, 0},
		{"a refrain of an engine", Inputs{Segments: refrain, Machine: true}, 1, 1},
		{"loops inside", Inputs{Segments: inside, Machine: true}, 3, 1},
		{"the same from a person", Inputs{Segments: inside}, 3, 0},
	} {
		events, _ := Merge(tt.in)
		n := 0
		for _, e := range events {
			if e.Kind == Uncertain {
				n++
			}
		}
		if len(events) != tt.count || n != tt.uncertn {
			t.Errorf("%s: %d events, %d uncertain; want %d, %d", tt.name, len(events), n, tt.count, tt.uncertn)
		}
	}
}

func TestScreenTextMerges(t *testing.T) {
	t.Parallel()
	screens := []Screen{
		screen(15, line("Thank you", 0, 0)),
		screen(0, line("Quarterly report", 10, 10), line("Revenue by region", 10, 40), line("01:00:00:00", 500, 400)),
		screen(5, line("Quarterly rep0rt", 12, 10), line("Revenue by region.", 10, 41), line("01:00:05:00", 500, 400)),
		screen(10, line("Quarterly report", 11, 10), line("01:00:10:00", 500, 400), line("   ", 0, 0)),
	}
	got, _ := Merge(Inputs{Screens: screens})
	want := []string{
		`0:00:00.000 screen_text "01:00:00:00"`,
		`0:00:00.000–0:00:10.000 screen_text "Quarterly report"`,
		`0:00:00.000–0:00:05.000 screen_text "Revenue by region"`,
		`0:00:05.000 screen_text "01:00:05:00"`,
		`0:00:10.000 screen_text "01:00:10:00"`,
		`0:00:15.000 screen_text "Thank you"`,
	}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if *got[1].Box != (Box{10, 10, 160, 20}) || got[1].Frame.RelativePath != "frames/000.0.png" {
		t.Errorf("box %v, frame %v", got[1].Box, got[1].Frame)
	}
}

func TestScreenLinesThatLiveTogetherAreOneEvent(t *testing.T) {
	t.Parallel()
	low := line("third", 10, 60)
	low.Confidence = cutroom.Low
	got, _ := Merge(Inputs{Screens: []Screen{
		screen(0, line("first line", 10, 10), line("second", 30, 35), low),
		screen(2, line("first line", 10, 10), line("second", 30, 35), low),
	}})
	if len(got) != 1 || got[0].Text != "first line\nsecond\nthird" || got[0].Confidence != cutroom.Low || *got[0].Box != (Box{10, 10, 100, 70}) {
		t.Errorf("%v", briefs(got))
	}
}

func TestLineSimilarity(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Open settings", "Open settings", true},
		{"Open  settings ", "open settings", true},
		{"Open settings", "Open sett1ngs", true},
		{"file1name.txt", "file0name.txt", false},
		{"version10", "version11", false},
		{"Wedeployed the new release", "We deployed the new release", true},
		{"01:00:05:00", "01:00:06:00", false},
		{"O1:00:05:00", "01:00:05:00", true},
		{"cat", "car", false},
		{"Item 1", "Item 2", false},
		{"Save file", "Open file", false},
	} {
		if got := newLineKey(tt.a).similar(newLineKey(tt.b)); got != tt.want {
			t.Errorf("%q, %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestAutomate(t *testing.T) {
	t.Parallel()
	got := Automate([]Screen{
		screen(0, line("File", 0, 0), line("Total: 10", 100, 100), line("Old notice", 300, 300)),
		screen(2, line("File", 0, 0), line("Total: 12", 100, 100), line("Saved", 400, 200)),
		screen(3, line("File", 0, 0), line("Total: 12", 100, 101), line("Saved", 400, 200)),
		screen(5, line("File", 0, 80), line("Total: 12", 100, 180), line("Saved", 400, 280)),
		screen(6, line("File", 200, 80), line("Total: 12", 100, 180), line("Saved", 400, 280)),
	})
	var lines []string
	for _, a := range got {
		since := "-"
		if a.SinceSeconds != nil {
			since = a.SinceSeconds.String()
		}
		lines = append(lines, fmt.Sprintf("%d %s<%s %s %q %q %v", a.Step, since, a.TimestampSeconds, a.Change, a.Before, a.Text, *a.Box))
	}
	want := []string{
		`1 -<0 appeared "" "File" [0 0 40 20]`,
		`1 -<0 appeared "" "Total: 10" [100 100 90 20]`,
		`1 -<0 appeared "" "Old notice" [300 300 100 20]`,
		`2 0<2 changed "Total: 10" "Total: 12" [100 100 90 20]`,
		`2 0<2 appeared "" "Saved" [400 200 50 20]`,
		`2 0<2 disappeared "" "Old notice" [300 300 100 20]`,
		`3 3<5 scrolled "" "3 lines by 0, 80 pixels" [0 80 450 220]`,
		`4 5<6 moved "" "File" [200 80 40 20]`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHostileScreensAreBounded merges frames of 300 long lines that almost match:
// without a bound this takes minutes.
func TestHostileScreensAreBounded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var screens []Screen
	for i := range 12 {
		var lines []ScreenLine
		for y := range 300 {
			b := make([]byte, 150)
			for j := range b {
				b[j] = "ab"[r.IntN(2)]
			}
			lines = append(lines, line(string(b), 0, y*25))
		}
		screens = append(screens, screen(float64(i), lines...))
	}
	if events, _ := Merge(Inputs{Screens: screens}); len(events) != 12 {
		t.Errorf("%d events", len(events))
	}
}
