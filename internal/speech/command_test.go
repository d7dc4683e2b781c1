package speech

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

const second = cutroom.Second

// lines writes messages as the child does.
func lines(messages ...message) string {
	var b strings.Builder
	for _, m := range messages {
		if err := json.NewEncoder(&b).Encode(m); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func spoken(start, end cutroom.Micros, text string, score float64) message {
	return message{Segment: &Segment{Start: start, End: end, Text: text, Score: score, Tokens: 3, Unreliable: score < unreliableBelow}}
}

func done(duration cutroom.Micros, segments int) message {
	return message{Summary: &summary{Duration: duration, Segments: segments}}
}

func TestConsume(t *testing.T) {
	t.Parallel()
	sure, unsure := spoken(second, 3*second, "Hello.", -0.1), spoken(4*second, 5*second, "Ummm.", -0.9)
	for name, c := range map[string]struct {
		options Options
		input   string
		reasons []Reason
		text    string
		model   string
	}{
		"nothing said":    {Options{}, lines(done(9*second, 0)), nil, "", "moonshine-base"},
		"sure":            {Options{Model: Tiny}, lines(sure, done(9*second, 1)), nil, "Hello.", "moonshine-tiny"},
		"partly":          {Options{}, lines(sure, unsure, done(9*second, 2)), []Reason{SomeUnreliable}, "Hello.", "moonshine-base"},
		"mostly unsure":   {Options{}, lines(spoken(0, second, "Yes.", -0.2), unsure, spoken(5*second, 8*second, "Oh.", -1), done(9*second, 3)), []Reason{NotEnglish}, "", "moonshine-base"},
		"known English":   {Options{Language: "en"}, lines(unsure, done(9*second, 1)), []Reason{SomeUnreliable}, "", "moonshine-base"},
		"not its tongue":  {Options{Language: "de"}, lines(spoken(0, second, "", 0), done(9*second, 1)), []Reason{LanguageNotSpoken}, "", "silero-vad-v6"},
		"voice only":      {Options{VADOnly: true}, lines(spoken(0, second, "", 0), done(9*second, 1)), nil, "", "silero-vad-v6"},
		"truncated input": {Options{}, lines(message{Summary: &summary{Truncated: true}}), []Reason{RecordingTruncated}, "", "moonshine-base"},
	} {
		v, err := Command("s", "a.wav", c.options).Consume[0](strings.NewReader(c.input))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := v.(Transcript)
		if diff := cmp.Diff(c.reasons, got.Reasons); diff != "" || got.Text() != c.text || got.Model != c.model {
			t.Errorf("%s: %q by %s, %s", name, got.Text(), got.Model, diff)
		}
		if len(got.Languages) != 1 || got.Languages[0] != "en" {
			t.Errorf("%s: languages %v", name, got.Languages)
		}
	}
}

func TestConsumeRefuses(t *testing.T) {
	t.Parallel()
	one := spoken(second, 2*second, "a", -0.1)
	refused := cutroom.Errorf(cutroom.UnreadableMedia, "the recording is not a WAV file").WithHint("give WAV").Failure()
	strange := cutroom.FailureDetail{Code: "made_up", Message: "?"}
	for name, c := range map[string]struct {
		input string
		want  cutroom.Code
	}{
		"nothing":             {"", cutroom.ToolFailed},
		"no summary":          {lines(one), cutroom.ToolFailed},
		"cut line":            {lines(one)[:30], cutroom.ToolFailed},
		"no JSON":             {"Segmentation fault\n", cutroom.ToolFailed},
		"overlap":             {lines(one, spoken(second, 3*second, "b", 0), done(9*second, 2)), cutroom.ToolFailed},
		"backwards":           {lines(spoken(2*second, second, "b", 0), done(9*second, 1)), cutroom.ToolFailed},
		"before the start":    {lines(spoken(-second, second, "b", 0), done(9*second, 1)), cutroom.ToolFailed},
		"after the end":       {lines(one, done(second, 1)), cutroom.ToolFailed},
		"wrong count":         {lines(one, done(9*second, 2)), cutroom.ToolFailed},
		"more after the end":  {lines(done(9*second, 0), done(9*second, 0)), cutroom.ToolFailed},
		"a line without end":  {`{"segment":{"text":"` + strings.Repeat("a", maxLine), cutroom.ToolFailed},
		"its own failure":     {lines(one, message{Failure: &refused}), cutroom.UnreadableMedia},
		"an unknown failure":  {lines(message{Failure: &cutroom.Failure{Error: strange}}), cutroom.Internal},
		"times out of bounds": {`{"segment":{"start_seconds":1,"end_seconds":1e300}}`, cutroom.ToolFailed},
	} {
		_, err := Command("s", "a.wav", Options{}).Consume[0](strings.NewReader(c.input))
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []argv.Result{{}, {Values: []any{nil}}, {Values: []any{"text"}}} {
		if _, err := Result(r); err == nil {
			t.Errorf("a transcript of %+v", r)
		}
	}
}

func FuzzConsume(f *testing.F) {
	f.Add(lines(spoken(0, second, "Hello.", -0.1), spoken(2*second, 4*second, "No.", -0.7), done(9*second, 2)))
	f.Add(`{"failure":{"status":"failed","error":{"code":"limit","message":"m"}}}`)
	f.Add("{\"segment\":{\"text\":\"\xff\"}}\n{}")
	f.Fuzz(func(t *testing.T, input string) {
		got, err := consume(strings.NewReader(input), Options{})
		if err != nil {
			if _, ok := errors.AsType[*cutroom.Error](err); !ok {
				t.Fatal(err)
			}
			return
		}
		checkTranscript(t, got)
	})
}

// checkTranscript fails when a transcript is impossible.
func checkTranscript(t *testing.T, got Transcript) {
	t.Helper()
	var at, sum cutroom.Micros
	for _, s := range got.Segments {
		if s.Start < at || s.End < s.Start || (got.Duration > 0 && s.End > got.Duration) {
			t.Fatalf("impossible times: %+v", got)
		}
		at = s.Start
		sum += s.End - s.Start
	}
	if sum != got.SpeechSeconds {
		t.Fatalf("%v instead of %v", got.SpeechSeconds, sum)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Fatal(err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	if l := Command("s", "a.wav", Options{}).Limits; l.Wall != 0 || l.Memory < 2<<30 {
		t.Errorf("%+v", l)
	}
	hours := Command("s", "a.wav", Options{Length: 7200 * second, Threads: 8}).Limits
	if hours.Wall < 2*time.Hour || hours.Wall > 5*time.Hour || hours.Memory != 4<<30 {
		t.Errorf("%+v", hours)
	}
}

func TestSupports(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]bool{
		"": true, "en": true, "EN": true, "en-GB": true, "en_US": true, "eng": true, "English": true,
		"es": false, "de-AT": false, "enm": false, "zh-Hans": false, "und": false,
	} {
		if Supports(language) != want {
			t.Errorf("%q: %v", language, !want)
		}
	}
	for _, r := range []Reason{LanguageNotSpoken, NotEnglish, SomeUnreliable, RecordingTruncated} {
		if s := r.Sentence(); s == string(r) || s == "" {
			t.Errorf("%s has no sentence", r)
		}
	}
}

// TestChildFails: every failure is one typed line and the exit code of its kind.
func TestChildFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.wav")
	if err := os.WriteFile(text, []byte("this is no recording, whatever its name"), 0o600); err != nil {
		t.Fatal(err)
	}
	silence := convert(t, "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "1")
	good := func(wav string) []string {
		return render(t, Command("s", filepath.Base(wav), Options{}), filepath.Dir(wav))
	}
	with := func(name, value string) []string {
		args := good(silence)
		for i, a := range args {
			if a == name {
				args[i+1] = value
			}
		}
		return args
	}
	for name, c := range map[string]struct {
		args []string
		want cutroom.Code
	}{
		"no arguments":      {nil, cutroom.Invalid},
		"unknown option":    {append(good(silence), "--shell"), cutroom.Invalid},
		"too many threads":  {with("--threads", "1000"), cutroom.Invalid},
		"no recording":      {good(filepath.Join(dir, "absent.wav")), cutroom.NotFound},
		"not a recording":   {good(text), cutroom.UnreadableMedia},
		"no library":        {with("--lib", filepath.Join(dir, "absent.so")), cutroom.MissingDependency},
		"another library":   {with("--lib", text), cutroom.MissingDependency},
		"no detector":       {with("--vad", filepath.Join(dir, "absent")), cutroom.MissingDependency},
		"broken encoder":    {with("--encoder", text), cutroom.MissingDependency},
		"no vocabulary":     {with("--vocabulary", filepath.Join(dir, "absent")), cutroom.MissingDependency},
		"broken vocabulary": {with("--vocabulary", text), cutroom.MissingDependency},
		"swapped models":    {with("--decoder", filepath.Join(testenv.Models(t), DataFiles(Base)[2])), cutroom.Internal},
	} {
		var stdout, stderr bytes.Buffer
		code := Child(c.args, nil, &stdout, &stderr)
		_, err := consume(bytes.NewReader(stdout.Bytes()), Options{})
		e, ok := errors.AsType[*cutroom.Error](err)
		if !ok || e.Code != c.want || code != c.want.Facts().Exit || bytes.Count(stdout.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%s: exit %d, %v, %s", name, code, err, stdout.Bytes())
		}
		if strings.Contains(stdout.String(), dir) {
			t.Errorf("%s: tells a path: %s", name, stdout.Bytes())
		}
		if stderr.Len() == 0 {
			t.Errorf("%s: nothing for the log", name)
		}
	}
}

// TestChildReadsPipe: a recording may come on standard input with a header that was
// never finished.
func TestChildReadsPipe(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte{1, 0}, 2*SampleRate)
	wav := io.MultiReader(bytes.NewReader(riff("RIFF", 1<<32-1, chunk("fmt ", 16, ours), chunk("data", 1<<32-1, nil))), bytes.NewReader(body))
	args := render(t, Command("s", "x.wav", Options{VADOnly: true}), "")
	args[1] = "-"
	var stdout, stderr bytes.Buffer
	if code := Child(args, wav, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.Bytes())
	}
	if want := `"duration_seconds":2,`; !strings.Contains(stdout.String(), want) {
		t.Errorf("%s has no %s", stdout.Bytes(), want)
	}
}

// TestChildStops: when nobody reads its lines any more, the child gives up instead
// of transcribing the rest.
func TestChildStops(t *testing.T) {
	t.Parallel()
	wav := filepath.Join(testenv.Real(t), "two_cities_16k.wav")
	args := render(t, Command("s", filepath.Base(wav), Options{Model: Tiny, Threads: 1}), filepath.Dir(wav))
	w := &deafWriter{}
	var stderr bytes.Buffer
	if code := Child(args, nil, w, &stderr); code == 0 || w.writes > 2 {
		t.Errorf("exit %d after %d writes", code, w.writes)
	}
}

// deafWriter fails every write.
type deafWriter struct{ writes int }

func (w *deafWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, fmt.Errorf("write %d: broken pipe", w.writes)
}
