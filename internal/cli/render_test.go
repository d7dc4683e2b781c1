package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// Whatever a result holds, what is printed for people holds no control character.
func FuzzReadable(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"status":"completed","streams":[{"index":0,"codec":"h264"},{"index":1}]}`,
		`{"text":"\u001b[31mred\u0007","list":[[1],["\u202e"],{"a":{"b":"\r\n"}}],"\u001b]0;x":1}`,
		`{"a":null,"b":"","c":[],"d":{},"e":-0.5e3}`, `{"deep":{"deep":{"deep":{"deep":"\u009b"}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var v map[string]any
		if json.Unmarshal(doc, &v) != nil {
			return
		}
		var b bytes.Buffer
		if err := readable(&b, doc); err != nil {
			return // what one library reads and the other refuses
		}
		for _, r := range b.String() {
			if r != '\n' && unicode.IsControl(r) {
				t.Fatalf("%q holds %q", b.String(), r)
			}
		}
	})
}

func TestTimelineIsOneLinePerEvent(t *testing.T) {
	t.Parallel()
	w, ok := timelineOf([]byte(`{"status":"partial","partial_reasons":["no sound"],"duration_seconds":26,"mode":"timeline","timeline":[
		{"timestamp_seconds":1,"end_seconds":2.5,"kind":"spoken","text":"Hello\nthere \u001b[2J","confidence":"low","speaker":"Ann"},
		{"timestamp_seconds":3.0004,"kind":"screen_text","text":"x","confidence":"high"}],"limitations":["nobody looked"]}`))
	if !ok {
		t.Fatal("not taken for a timeline")
	}
	var b bytes.Buffer
	w.write(&b)
	want := `partial · 0:00:26.000 · timeline

0:00:01.000 – 0:00:02.500  said   Ann: Hello / there ␛[2J  (unsure)
0:00:03.000                text   x

not complete:
  - no sound

to know:
  - nobody looked
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestProgressIsALinePerStage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := (&App{Stderr: &b}).newProgress()
	for _, s := range []cutroom.Progress{
		{Tool: "a.b", Stage: "reading", Total: 9},
		{Tool: "a.b", Stage: "reading", Done: 5, Total: 9},
		{Tool: "a.b"},
		{Tool: "a.b", Stage: "run\x1b[2J"},
		{Tool: "a.b", Stage: "reading"},
	} {
		p.update(s)
	}
	p.finish()
	p.update(cutroom.Progress{Tool: "late", Stage: "after the end"})
	if diff := cmp.Diff("a.b: reading\na.b: run␛[2J\na.b: reading\n", b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	quiet := &App{Stderr: &b}
	quiet.flags.quiet = true
	quiet.newProgress().update(cutroom.Progress{Tool: "a.b", Stage: "reading"})
	if b.Len() > 0 {
		t.Errorf("--quiet says %q", b.String())
	}
}

// parse reads the words of one tool's command into the engine's input.
func parse(t *testing.T, id string, words ...string) (string, error) {
	t.Helper()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := r.Find(id)
	if !ok {
		t.Fatalf("no tool %s", id)
	}
	b, cmd := bind(x), &cobra.Command{Use: "x"}
	b.declare(cmd)
	if err := cmd.ParseFlags(words); err != nil {
		return "", flagError(cmd, err)
	}
	dir := workspace(t)
	in, err := b.input(cmd, cmd.Flags().Args(), reader{paths: paths{dir: dir, root: dir}, stdin: strings.NewReader("piped")})
	return string(in), err
}

func TestWordsBecomeTheInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id    string
		words []string
		want  string
	}{
		{"media.watch", []string{"clip.mp4"}, `{"source":{"kind":"local_file","value":"clip.mp4"}}`},
		{
			"media.watch",
			[]string{"clip.mp4", "--mode", "frames", "--max-frames=3", "--start", "1:02.5", "--question", "--json?"},
			`{"max_frames":3,"mode":"frames","question":"--json?","source":{"kind":"local_file","value":"clip.mp4"},"start":"1:02.5"}`,
		},
		{
			"media.watch",
			[]string{"-", "--limits-max-frames", "9", "--media-type", "text/vtt"},
			`{"limits":{"max_frames":9},"source":{"kind":"transcript","value":"piped","media_type":"text/vtt"}}`,
		},
		{"media.ask", []string{"0123456789abcdef", "what?", "--max", "2"}, `{"max":2,"question":"what?","run":{"run":"0123456789abcdef"}}`},
		{
			"video.extract_frames",
			[]string{"clip.mp4", "--timestamps-seconds", "1", "--timestamps-seconds", "2.5"},
			`{"source":{"kind":"local_file","value":"clip.mp4"},"timestamps_seconds":["1","2.5"]}`,
		},
		{
			"video.inspect_frames",
			[]string{"--frames", `{"relative_path":"a"}`, "--frames", `{"relative_path":"b"}`},
			`{"frames":[{"relative_path":"a"},{"relative_path":"b"}]}`,
		},
	} {
		got, err := parse(t, tt.id, tt.words...)
		if err != nil {
			t.Errorf("%s %q: %v", tt.id, tt.words, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %q:\n%s", tt.id, tt.words, diff)
		}
	}
}

func TestWrongWordsAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id    string
		words []string
		want  string
	}{
		{"media.watch", []string{"clip.mp4", "--max-frames", "0x3"}, "--max-frames"},
		{"media.watch", []string{"clip.mp4", "--max-frames", `"3"`}, "--max-frames"},
		{"media.watch", []string{"clip.mp4", "--mode"}, "--mode needs a value"},
		{"media.watch", []string{"clip.mp4", "--modus", "x"}, "--modus"},
		{"media.watch", []string{"clip.mp4", "-z"}, "-z"},
		{"media.watch", []string{"clip.mp4", "more"}, `"more"`},
		{"media.watch", []string{"bad\xff.mp4"}, "no such file"},
		{"video.inspect_frames", []string{"--frames", "not json"}, "--frames"},
		{"video.inspect_frames", []string{"--frames", "@gone.json"}, "gone.json"},
	} {
		in, err := parse(t, tt.id, tt.words...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %q, %v; want %q", tt.id, tt.words, in, err, tt.want)
		}
	}
}

func TestLengthsOfTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"90": "1m30s", "1.5": "1.5s", "10m": "10m0s", "1h30m": "1h30m0s"} {
		if d, err := deadline(text); err != nil || d.String() != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for text, want := range map[string]string{"30d": "720h0m0s", "2w": "336h0m0s", "12h": "12h0m0s", "0.5d": "12h0m0s"} {
		if d, err := age(text); err != nil || d.String() != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"0", "-1", "x", "NaN", "1e99", "Inf"} {
		if d, err := deadline(text); err == nil {
			t.Errorf("%s was read as %v", text, d)
		}
		if d, err := age(text); err == nil {
			t.Errorf("%s was read as an age of %v", text, d)
		}
	}
}

func TestReadableAnswers(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	a, ok := answerOf([]byte(`{"status":"completed","question":"when?\u001b[2J","relevant":[{"event":{"timestamp_seconds":40.16,
		"end_seconds":40.608,"kind":"spoken","text":"Banana.","confidence":"high"},"score":1,"why":"matches banana"}],
		"frames":[{"relative_path":"s/frame-0001.jpg","sha256":"` + strings.Repeat("0", 64) + `","size_bytes":1,"media_type":"image/jpeg","timestamp_seconds":40}],
		"limitations":["nobody looked"]}`))
	if !ok {
		t.Fatal("not taken for an answer")
	}
	a.write(&b)
	want := `completed · when?␛[2J

0:00:40.160 – 0:00:40.608  said   Banana.
                                  because: matches banana

to know:
  - nobody looked

frames:
  - s/frame-0001.jpg  0:00:40.000
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if _, ok := answerOf([]byte(`{"question":"when?","relevant":[],"timeline":[]}`)); ok {
		t.Error("a watch with a question is taken for an answer")
	}
}

func TestReadableArtifactsAndCues(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := readable(&b, []byte(`{"audio":{"relative_path":"s/audio.wav","sha256":"`+strings.Repeat("0", 64)+`","size_bytes":1,"media_type":"audio/wav"},
		"segments":[{"start_seconds":0.5,"end_seconds":2,"text":"hi\nthere","untrusted_content":true,"speaker":"Ann","unreliable":true}],
		"media":{"untrusted_content":true,"streams":[{"index":0,"deep":{"a":[1]}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `audio     s/audio.wav
segments
  0:00:00.500 – 0:00:02.000  Ann: hi / there  (unsure)
media
  streams
    -
      index  0
      deep
        a
          - 1
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
