package project_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/project"
	"cutroom/internal/timeline"
)

func decoded(t *testing.T, text string) project.Project {
	t.Helper()
	p, err := project.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProjectOfManySections(t *testing.T) {
	t.Parallel()
	p := decoded(t, `
# an edit
frame: {aspect: 16:9, height: 720, fps: 29.97}
clips:
  - {src: a.mp4, in: "00:05", out: 12.5}
  - {src: b.mp4, speed: 1.5, transition: {type: wipeleft}}
transition: {type: fade, duration: 0.4}
silence: {}
captions: {cues: [{start: 1, end: 2, text: "100% it's: {ok}"}]}
audio: {music: song.mp3, duck: true}
loudness: {lufs: -16}
chapters: [{at: 0, title: Start}]
`)
	want := project.Project{
		Frame:      &project.Frame{Aspect: "16:9", Height: 720, FPS: 29.97},
		Clips:      []project.Clip{{Src: "a.mp4", In: "5", Out: "12.5"}, {Src: "b.mp4", Speed: 1.5, Transition: &project.Transition{Type: "wipeleft", Duration: cutroom.Second / 2}}},
		Transition: &project.Transition{Type: "fade", Duration: 400_000},
		Silence:    &project.Silence{Threshold: -35, Least: 600_000, Margin: 150_000},
		Captions:   &project.Captions{Cues: []project.Cue{{Start: "1", End: "2", Text: "100% it's: {ok}"}}},
		Audio:      &project.Audio{Music: "song.mp3", Duck: true},
		Loudness:   &project.Loudness{LUFS: -16, TruePeak: -1},
		Chapters:   []project.Chapter{{At: "0", Title: "Start"}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestAnUnknownKeyNamesTheNearest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"clips: [{scr: a.mp4}]":                          `unknown key "scr"; did you mean "src"?`,
		"transitions: {type: fade}":                      `unknown key "transitions"; did you mean "transition"?`,
		"clips: [{src: a.mp4}]\nloudness: {luf: -9}":     `loudness: unknown key "luf"; did you mean "lufs"?`,
		"clips: [{src: a.mp4, transition: {type: fad}}]": `"fad" is not one of`,
		"clips: [{src: a.mp4}]\nloudness: {lufs: 3}":     "3 is more than -5",
		"clips: [{in: 3}]":                               `key "src" is missing`,
	} {
		_, err := project.Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsNoPlainDocumentIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "empty",
		"- a":                      "mapping",
		"a: &x 1\nb: *x":           "line 1: anchors",
		"a: 1\na: 2":               `already defined`,
		"a: !!python/object x":     "line 1: the tag",
		"a: 1\n---\nb: 2":          "more than one document",
		"a: [1":                    "neither YAML nor JSON",
		"a: .nan":                  "no number",
		"? [a]\n: b":               "plain text",
		strings.Repeat("a: {", 40): "neither",
		"a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40): "too deep",
	} {
		if _, err := project.JSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%q: %v", text, err)
		} else if cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNumbersStayAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	raw, err := project.JSON([]byte("a: 23.976\nb: 010\nc: 12:30\nd: 9007199254740993\ne: +5\nf: 2024-01-02\ng: yes\nh: ~\ni: 1_000\nj: \"é\\n<&\""))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":23.976,"b":"010","c":"12:30","d":9007199254740993,"e":5,"f":"2024-01-02","g":"yes","h":null,"i":1000,"j":"é\n<&"}`, string(raw)); diff != "" {
		t.Error(diff)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, tpl := range project.Templates() {
		p, err := project.Fill(tpl.Name, map[string]string{"INPUT": "it's $a: b.mp4"})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Clips) != 1 || p.Clips[0].Src != "it's $a: b.mp4" || p.Captions != nil || p.ChapterSet != "" {
			t.Errorf("%s: %+v", tpl.Name, p)
		}
		if p.Audio != nil && p.Audio.Music != "" {
			t.Errorf("%s has music that nobody gave", tpl.Name)
		}
		if _, err := project.Fill(tpl.Name, nil); err == nil {
			t.Errorf("%s without a recording", tpl.Name)
		}
		for _, alias := range tpl.Aliases {
			if again, err := project.Fill(alias, map[string]string{"INPUT": "it's $a: b.mp4"}); err != nil || cmp.Diff(p, again) != "" {
				t.Errorf("%s: %v", alias, err)
			}
		}
	}
	p, err := project.Fill("tiktok", map[string]string{"INPUT": "a.mp4", "SRT": "a.srt", "MUSIC": "m.mp3"})
	if err != nil || p.Captions.SRT != "a.srt" || p.Captions.Text != "" || p.Audio.Music != "m.mp3" {
		t.Errorf("%v %+v", err, p)
	}
	if p.Brand != "" || len(p.Graphics)+len(p.Overlays) > 0 {
		t.Errorf("parts that nobody gave: %+v", p)
	}
	p, err = project.Fill("yt", map[string]string{"INPUT": "a.mp4", "TITLE": "$SRT: {x}", "LOGO": "l.png", "BRAND": "b.yaml"})
	if err != nil || p.Graphics[0].Title != "$SRT: {x}" || p.Overlays[0].Image != "l.png" || p.Brand != "b.yaml" || p.Captions != nil {
		t.Errorf("%v %+v", err, p)
	}
	p, err = project.Fill("audiogram", map[string]string{"INPUT": "a.mp3", "TITLE": "Two"})
	if err != nil || p.Audiogram == nil || p.Audiogram.Title != "Two" || p.Audiogram.Image != "" || p.Audiogram.Width != 1080 {
		t.Errorf("%v %+v", err, p)
	}
	if _, err := project.Fill("tiktoc", nil); err == nil || !strings.Contains(cutroom.AsError(err).Hint, "tiktok") {
		t.Error(err)
	}
}

func TestAProjectOverATemplate(t *testing.T) {
	t.Parallel()
	p := decoded(t, "template: tiktok\nclips: [{src: a.mp4}, {src: b.mp4}]\nfit: {fit: blur}")
	if len(p.Clips) != 2 || p.Fit.Fit != "blur" || p.Export == nil || p.Export.Preset != "tiktok" || p.Captions != nil || p.Audio != nil {
		t.Errorf("%+v", p)
	}
}

func TestAProjectThatStopsEarly(t *testing.T) {
	t.Parallel()
	whole := project.Project{
		Clips: []project.Clip{{Src: "a", Transition: &project.Transition{}}}, Transition: &project.Transition{}, Silence: &project.Silence{}, Fit: &project.Fit{},
		Captions: &project.Captions{}, Graphics: []project.Graphic{{}}, Overlays: []project.Overlay{{}}, Audio: &project.Audio{}, Loudness: &project.Loudness{}, Export: &project.Export{}, Check: &project.Check{}, Chapters: []project.Chapter{{}},
	}
	present := func(p project.Project) (s string) {
		for _, x := range []struct {
			name string
			on   bool
		}{
			{"T", p.Transition != nil},
			{"t", p.Clips[0].Transition != nil},
			{"S", p.Silence != nil},
			{"F", p.Fit != nil},
			{"C", p.Captions != nil},
			{"G", p.Graphics != nil},
			{"O", p.Overlays != nil},
			{"A", p.Audio != nil},
			{"L", p.Loudness != nil},
			{"E", p.Export != nil},
			{"K", p.Check != nil || p.Chapters != nil},
		} {
			if x.on {
				s += x.name
			}
		}
		return s
	}
	for stage, want := range map[string]string{
		"clips": "", "join": "Tt", "silence": "TtS", "fit": "TtSF", "captions": "TtSFC", "graphics": "TtSFCG", "overlays": "TtSFCGO", "audio": "TtSFCGOA", "loudness": "TtSFCGOAL", "export": "TtSFCGOALEK", "": "TtSFCGOALEK",
	} {
		if got := present(whole.Until(stage)); got != want {
			t.Errorf("%s leaves %s, want %s", stage, got, want)
		}
	}
	if whole.Clips[0].Transition == nil {
		t.Error("the project itself was changed")
	}
}

func TestFromATimeline(t *testing.T) {
	t.Parallel()
	film := ffmpeg.Rational{Num: 24000, Den: 1001}
	tl := &timeline.Timeline{
		Rate: film, Width: 1920, Height: 1080, Sources: []timeline.Source{{Path: "a.mov", Start: 86400}, {Path: "/Volumes/x/b.mov"}, {Path: "m.mp3"}},
		Clips: []timeline.Clip{{In: 86424, Length: 48}, {Source: 1, In: 24, Length: 48, Speed: ffmpeg.Rational{Num: 2, Den: 1}, Enter: timeline.Transition{Kind: "fade", Length: 12}}},
		Beds:  []timeline.Bed{{Source: 2, At: 24}}, Marks: []timeline.Mark{{At: 24, Title: "One"}},
	}
	p, lost := project.FromTimeline(tl, false)
	zero := 0.0
	want := project.Project{
		Frame: &project.Frame{Width: 1920, Height: 1080, FPS: 23.976},
		Clips: []project.Clip{
			{Src: "a.mov", In: "1.001", Out: "3.003"},
			{Src: "b.mov", In: "1.001", Out: "5.005", Speed: 2, Transition: &project.Transition{Type: "fade", Duration: 500_500}},
		},
		Audio:    &project.Audio{Music: "m.mp3", MusicVolume: &zero, MusicOffset: 1_001_000},
		Chapters: []project.Chapter{{At: "1.001", Title: "One"}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(timeline.Lost{"b.mov is looked for beside the timeline: it names another folder"}, lost); diff != "" {
		t.Error(diff)
	}
	p, _ = project.FromTimeline(tl, true)
	if p.Clips[1].In != "00:00:01:00" || p.Clips[1].Out != "00:00:05:00" || p.Clips[0].In != "1.001" {
		t.Errorf("%+v", p.Clips)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte("clips:\n  - src: a.mp4\n    in: 00:01:02.5"))
	f.Add([]byte(`{"clips":[{"src":"a"}]}`))
	f.Add([]byte("a: 0x1F\nb: 1e400\nc: !!binary aGk="))
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, err := project.JSON(text)
		if err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("%q became %q", text, raw)
		}
		again, err := project.JSON(raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if string(again) != string(raw) {
			t.Fatalf("%q, then %q", raw, again)
		}
	})
}

// Whoever knows projects of another tool finds the same keys.
func TestKeysOfAProject(t *testing.T) {
	t.Parallel()
	type schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	var root schema
	if err := json.Unmarshal(project.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	for part, keys := range map[string]string{
		"":           "output frame clips transition silence brand captions graphics overlays audio loudness fit export check chapters audiogram template snap",
		"clips":      "src in out speed snap",
		"frame":      "aspect width height fps fit",
		"transition": "type duration",
		"silence":    "threshold min_silence margin",
		"captions":   "text srt ass font size color position margin animate highlight_color outline karaoke bold box lang offset max_lines min_duration fit_size min_size fit_size_scope",
		"graphics":   "template name title subtitle start end position from scale primary text_color lang text top bottom duration margin platform",
		"overlays":   "logo image text position start end fade opacity scale font_size font margin box platform",
		"audio":      "music replace music_volume fade_in fade_out music_fade_out gain duck duck_amount duck_threshold duck_attack duck_release voice denoise music_loop stereo mono downmix stereo_widen effects effects_volume stems",
		"loudness":   "lufs tp",
		"fit":        "duration method aspect fit width height fps smooth",
		"export":     "preset fit crf normalize",
		"check":      "platform",
		"snap":       "to tolerance min_confidence source",
		"chapters":   "at title",
		"audiogram":  "image image_fit style position vis_height opacity platform title color background width height fps",
	} {
		s := root
		if part != "" {
			s = schema{}
			if err := json.Unmarshal(root.Properties[part], &s); err != nil {
				t.Fatal(part, err)
			}
		}
		if len(s.Items) > 0 {
			if err := json.Unmarshal(s.Items, &s); err != nil {
				t.Fatal(part, err)
			}
		}
		for _, key := range strings.Fields(keys) {
			if s.Properties[key] == nil {
				t.Errorf("%s has no %s", part, key)
			}
		}
	}
}
