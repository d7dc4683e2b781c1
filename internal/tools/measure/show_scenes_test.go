package measure

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/tool"
)

func scenes(n int) *ScenesOutput {
	o := &ScenesOutput{Name: "a/talk\n.mp4", Duration: cutroom.Micros(n) * cutroom.Second, SceneCount: n}
	quiet := -20.5
	for i := range n {
		at := cutroom.Micros(i) * cutroom.Second
		o.Scenes = append(o.Scenes, Scene{Index: i + 1, Start: at, End: at + cutroom.Second, Duration: cutroom.Second, Begins: "cut", RMS: &quiet})
		o.Shots = append(o.Shots, Shot{Start: at, End: at + cutroom.Second, Label: "pan-left"})
		o.Beats = append(o.Beats, at)
	}
	return o
}

func TestScenesReadWell(t *testing.T) {
	t.Parallel()
	o := scenes(2)
	o.Highlights, o.HighlightsTotal, o.HighlightsBy = []Highlight{{Start: 0, End: cutroom.Second, Duration: cutroom.Second}}, cutroom.Second, "audio"
	o.Transitions = []Transition{{Kind: "dissolve", Start: 900_000, End: 1_100_000}, {Kind: "cut"}}
	o.BeatGrid = &BeatGrid{BPM: 120, Confidence: 0.9}
	o.Artifacts = []cutroom.ArtifactRef{{RelativePath: "sheet.jpg", MediaType: "image/jpeg"}, {RelativePath: "edl.txt", MediaType: "text/plain"}}
	show := o.Show(tool.Room{Text: 4000})
	for _, want := range []string{
		"2 s, 2 scenes\n", "1 highlights, 1 s together, chosen by audio\n", "highlight 0 to 1 s\n", "scene 2: 1 to 2 s, begins with cut, -20.5 dBFS, pan-left\n",
		"dissolve 0.9 to 1.1 s\n", "tempo 120.0 beats a minute, confidence 0.90, 2 beats\n", "beats at 0 1 s\n",
	} {
		if !strings.Contains(show.Text, want) {
			t.Errorf("no %q in\n%s", want, show.Text)
		}
	}
	if len(show.Pictures) != 1 || show.Pictures[0].Ref.RelativePath != "sheet.jpg" {
		t.Errorf("%+v", show.Pictures)
	}
}

func TestScenesKeepTheirRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(1000, 6000).Draw(t, "room")
		n := rapid.IntRange(0, 400).Draw(t, "scenes")
		text := scenes(n).Show(tool.Room{Text: room}).Text
		if got := utf8.RuneCountInString(text); got > room {
			t.Fatalf("%d characters in room for %d", got, room)
		}
		if strings.Count(text, "scene ") < n && !strings.Contains(text, "Left out here") {
			t.Fatalf("scenes are missing without a word:\n%s", text)
		}
	})
}
