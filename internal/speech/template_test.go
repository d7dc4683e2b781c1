package speech

import (
	"errors"
	"testing"

	"cutroom"
	"cutroom/internal/sandbox/argv"

	"github.com/google/go-cmp/cmp"
)

var whisper = Template{
	Name: "whisper", Program: "whisper-cli", Model: "ggml-base.bin", Format: JSON, Suffix: ".json",
	Args: []string{"-m", "{model}", "-f", "{input}", "-l", "{language}", "-t", "2", "--temperature", "-1", "-oj", "-of", "{output}"},
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	c, err := whisper.Command("speech", "speech.wav", "pt-BR")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"transcript.json"}, c.Outputs); diff != "" {
		t.Error(diff)
	}
	grants := argv.GrantsOf(c, map[string]string{"ggml-base.bin": "/models/ggml-base.bin"})
	args, err := argv.Render(c, whisper.Table(), grants)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-m", "/models/ggml-base.bin", "-f", "speech.wav", "-l", "pt-BR", "-t", "2", "--temperature", "-1", "-oj", "-of", "transcript"}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	if err := argv.Check(whisper.Table(), args, grants); err != nil {
		t.Error(err)
	}
	// The checker knows the template's words and no others.
	for i, other := range map[int]string{0: "-config", 1: "/etc/passwd", 3: "/etc/passwd", 7: "64", 11: "../out"} {
		changed := append([]string(nil), args...)
		changed[i] = other
		if argv.Check(whisper.Table(), changed, grants) == nil {
			t.Errorf("%v passed", changed)
		}
	}
	auto, err := whisper.Command("speech", "speech.wav", "")
	if err != nil || auto.Args[5] != argv.Word("auto") {
		t.Errorf("no language is %v, %v", auto.Args[5], err)
	}
}

func TestTemplateRefuses(t *testing.T) {
	t.Parallel()
	with := func(change func(*Template)) Template {
		w := whisper
		w.Args = append([]string(nil), w.Args...)
		change(&w)
		return w
	}
	arg := func(a ...string) Template { return with(func(w *Template) { w.Args = append(w.Args, a...) }) }
	for name, w := range map[string]Template{
		"empty":               {},
		"no name":             with(func(w *Template) { w.Name = "" }),
		"no program":          with(func(w *Template) { w.Program = "" }),
		"no input":            with(func(w *Template) { w.Args = []string{"-m", "{model}"} }),
		"two inputs":          arg("{input}"),
		"unknown placeholder": arg("{home}"),
		"inside a word":       arg("--file={input}"),
		"a path":              arg("--config", "/etc/x"),
		"empty argument":      arg(""),
		"a control character": arg("a\nb"),
		"model without name":  with(func(w *Template) { w.Model = "" }),
		"unknown format":      with(func(w *Template) { w.Format = "docx" }),
		"a path as suffix":    with(func(w *Template) { w.Suffix = "/../x" }),
		"suffix without file": with(func(w *Template) { w.Args = w.Args[:6] }),
		"too many":            with(func(w *Template) { w.Args = append(w.Args, make([]string, 100)...) }),
	} {
		_, err := w.Command("s", "a.wav", "")
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.Invalid || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, language := range []string{"e", "en us", "-x", "en/../..", "$(id)", "english"} {
		if _, err := whisper.Command("s", "a.wav", language); err == nil {
			t.Errorf("language %q passed", language)
		}
	}
	german := with(func(w *Template) { w.Languages = []string{"de", "nl"} })
	if _, err := german.Command("s", "a.wav", "de-CH"); err != nil {
		t.Error(err)
	}
	_, err := german.Command("s", "a.wav", "fr")
	if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.Unavailable {
		t.Errorf("French: %v", err)
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	score := -0.25
	for name, c := range map[string]struct {
		input string
		want  Transcript
	}{
		"whisper.cpp": {
			`{"systeminfo":"AVX","result":{"language":"de"},"transcription":[
			  {"timestamps":{"from":"00:00:00,000","to":"00:00:02,500"},"offsets":{"from":0,"to":2500},"text":" Guten Tag."},
			  {"offsets":{"from":2500,"to":99000},"text":" Ja.","tokens":[{"text":"[_BEG_]","p":0.01},{"text":" Ja","p":0.25},{"text":".","p":1}]}]}`,
			Transcript{Language: "de", SpeechSeconds: 10 * second, Segments: []Segment{
				{End: 2500000, Text: "Guten Tag."},
				{Start: 2500000, End: 10 * second, Text: "Ja.", Score: -0.6931471805599453, Tokens: 2},
			}},
		},
		"verbose_json": {
			`{"task":"transcribe","language":"english","duration":4.5,"text":"Hi there.","segments":[
			  {"id":0,"seek":0,"start":0.5,"end":1.25,"text":" Hi","tokens":[50364],"avg_logprob":-0.25,"compression_ratio":0.9,"no_speech_prob":0.01},
			  {"id":1,"start":1.25,"end":2.0000004,"text":" there.","avg_logprob":-1.2}]}`,
			Transcript{Language: "en", SpeechSeconds: 1500000, Reasons: []Reason{SomeUnreliable}, Segments: []Segment{
				{Start: 500000, End: 1250000, Text: "Hi", Score: score},
				{Start: 1250000, End: 2 * second, Text: "there.", Score: -1.2, Unreliable: true},
			}},
		},
		"a list, out of order": {
			` [{"start":3,"end":2,"text":"b"},{"start":"0:01.5","end":2,"text":"a"},{"start":4,"end":5,"text":"  "}]`,
			Transcript{SpeechSeconds: 500000, Segments: []Segment{{Start: 1500000, End: 2 * second, Text: "a"}, {Start: 3 * second, End: 3 * second, Text: "b"}}},
		},
		"a loop": {
			`{"segments":[{"start":0,"end":1,"text":"x"},{"start":1,"end":2,"text":"Thanks."},{"start":2,"end":3,"text":"Thanks."},{"start":3,"end":4,"text":"Thanks. "},{"start":4,"end":5,"text":"Thanks."}]}`,
			Transcript{SpeechSeconds: 5 * second, Reasons: []Reason{SomeUnreliable}, Segments: []Segment{
				{End: second, Text: "x"},
				{Start: second, End: 2 * second, Text: "Thanks.", Loop: true, Unreliable: true},
				{Start: 2 * second, End: 3 * second, Text: "Thanks.", Loop: true, Unreliable: true},
				{Start: 3 * second, End: 4 * second, Text: "Thanks.", Loop: true, Unreliable: true},
				{Start: 4 * second, End: 5 * second, Text: "Thanks.", Loop: true, Unreliable: true},
			}},
		},
		"nothing said": {`{"text":"","segments":[]}`, Transcript{}},
	} {
		c.want.Model, c.want.Duration = "whisper", 10*second
		d, err := whisper.Read([]byte(c.input), 10*second)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, d.Transcript); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, bad := range []string{"", "null?", "{", `{"text":"words without times"}`, `{"segments":[{"start":"noon"}]}`, `[1]`, "1\n00:00:01,000 --> 00:00:02,000\nHi"} {
		_, err := ReadJSON("whisper", []byte(bad), 0)
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.ToolFailed {
			t.Errorf("%q: %v", bad, err)
		}
	}
	srt := whisper
	srt.Format = SRT
	d, err := srt.Read([]byte("1\n"), 0)
	if err != nil || string(d.Captions) != "1\n" || d.Format != SRT || d.Transcript.Segments != nil {
		t.Errorf("captions: %+v, %v", d, err)
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"result":{"language":"en"},"transcription":[{"offsets":{"from":0,"to":2500},"text":" a","tokens":[{"text":"a","p":0.5}]}]}`), int64(second))
	f.Add([]byte(`{"language":"english","duration":4.5,"segments":[{"start":0.5,"end":1e9,"text":"a","avg_logprob":-3}]}`), int64(0))
	f.Add([]byte(`[{"start":-1,"end":-9007199254.740991,"text":"\ud800"}]`), int64(1))
	f.Fuzz(func(t *testing.T, data []byte, length int64) {
		got, err := ReadJSON("x", data, cutroom.Micros(max(length, 0)))
		if err == nil {
			checkTranscript(t, got)
		}
	})
}
