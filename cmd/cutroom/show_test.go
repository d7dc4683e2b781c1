package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/mcpserver"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"
)

// host connects a client to the server of a workspace, as an agent's host does.
func (w *workspace) host() *mcp.ClientSession {
	w.t.Helper()
	s, err := mcpserver.New(mcpserver.Options{Engine: w.Engine, Jobs: w.Jobs, Patience: 10 * time.Minute})
	if err != nil {
		w.t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := s.Connect(w.ctx(), far, nil); err != nil {
		w.t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(w.ctx(), near, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// toHost is what a host gets of a call, checked against what every host takes.
func (w *workspace) toHost(c *mcp.ClientSession, name string, in any) (text string, pictures int) {
	w.t.Helper()
	raw, err := tool.Encode(in)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := c.CallTool(w.ctx(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(raw)})
	if err != nil {
		w.t.Fatal(err)
	}
	size := 0
	for _, content := range r.Content {
		switch x := content.(type) {
		case *mcp.TextContent:
			text += x.Text
		case *mcp.ImageContent:
			pictures++
			size += base64.StdEncoding.EncodedLen(len(x.Data))
			img, err := jpeg.Decode(bytes.NewReader(x.Data))
			if err != nil || max(img.Bounds().Dx(), img.Bounds().Dy()) > 1568 {
				w.t.Errorf("%s: picture %d: %v, %v", name, pictures, img.Bounds(), err)
			}
		}
	}
	if r.IsError || r.StructuredContent != nil || utf8.RuneCountInString(text) > 10_000 || pictures > 12 || size > 1_500_000 {
		w.t.Errorf("%s: error %v, structured %v, %d characters, %d pictures of %d bytes\n%s", name, r.IsError, r.StructuredContent, utf8.RuneCountInString(text), pictures, size, text)
	}
	w.t.Logf("%s: %d characters, %d pictures of %d bytes as base64", name, utf8.RuneCountInString(text), pictures, size)
	return text, pictures
}

// long makes a recording of two hours with 3,000 captions beside it, several of
// them at one time.
func long(t *testing.T, dir string) (cues int) {
	t.Helper()
	part := filepath.Join(t.TempDir(), "part.mp4")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=1:duration=120", "-g", "30", "-c:v", "libx264", "-preset", "ultrafast", part)
	testenv.FFmpeg(t, "-stream_loop", "59", "-i", part, "-c", "copy", filepath.Join(dir, "long.mp4"))
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for i := range 3000 {
		at := cutroom.Micros(i/3*7+1) * cutroom.Second
		fmt.Fprintf(&b, "\n0%s --> 0%s\ncue number %d speaks of topic%d\n", at.Clock(), (at + 2*cutroom.Second).Clock(), i, i%97)
	}
	if err := os.WriteFile(filepath.Join(dir, "long.vtt"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return 3000
}

// TestTwoHoursReachAModelWhole: whatever the mode, an answer fits a host, and a model
// that follows what it is told reads every piece of evidence once.
func TestTwoHoursReachAModelWhole(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cues := long(t, w.dir)
	c := w.host()
	for _, mode := range []media.Mode{media.Timeline, media.Summary, media.Automation, media.Frames, media.Transcript} {
		in := media.WatchInput{Source: local("long.mp4"), Mode: mode}
		text, pictures := w.toHost(c, "media_watch", in)
		if fact := `"long.mp4": completed, lasts 2:00:00.000, mode ` + string(mode) + ", run_id "; !strings.HasPrefix(text, fact) {
			t.Errorf("%s: no %q in\n%s", mode, fact, text)
		}
		if (pictures > 0) != (mode != media.Transcript) {
			t.Errorf("%s: %d pictures", mode, pictures)
		}
		if mode == media.Frames || mode == media.Summary {
			continue
		}
		if !strings.Contains(text, "a caption file beside the recording") || !strings.Contains(text, "cue number 0 speaks") || !strings.Contains(text, "goes on with the evidence") {
			t.Errorf("%s reads\n%s", mode, text)
		}
	}
	w.showsFast(media.WatchInput{Source: local("long.mp4"), Mode: media.Timeline})
	w.readsAll(c, cues)
	w.asks(c)
}

// showsFast checks that what is shown costs nothing beside what it took to find.
func (w *workspace) showsFast(in media.WatchInput) {
	w.t.Helper()
	r := must[media.WatchResult](w, "media.watch", in)
	started := time.Now()
	const times = 20
	for range times {
		r.Show(tool.Room{Text: 8500})
	}
	w.t.Logf("%d pieces are shown in %v", len(r.Timeline), time.Since(started)/times)
}

// readsAll pages as a model does: by the calls that the texts name.
func (w *workspace) readsAll(c *mcp.ClientSession, cues int) {
	w.t.Helper()
	in := media.WatchInput{Source: local("long.mp4"), Mode: media.Timeline}
	text, _ := w.toHost(c, "media_watch", in)
	call := regexp.MustCompile(`media_ask (\{.*?\}) goes on`).FindStringSubmatch(text)
	if call == nil {
		w.t.Fatalf("no call to go on with in\n%s", text)
	}
	var ask media.AskInput
	if err := json.Unmarshal([]byte(call[1]), &ask); err != nil {
		w.t.Fatal(err)
	}
	spoken, more := regexp.MustCompile(`cue number (\d+) speaks`), regexp.MustCompile(`"from":(\d+) goes on`)
	seen, calls := map[string]int{}, 0
	for {
		for _, m := range spoken.FindAllStringSubmatch(text, -1) {
			seen[m[1]]++
		}
		if calls > 0 {
			m := more.FindStringSubmatch(text)
			if m == nil {
				break
			}
			if _, err := fmt.Sscan(m[1], &ask.From); err != nil {
				w.t.Fatal(err)
			}
		}
		calls++
		text, _ = w.toHost(c, "media_ask", ask)
	}
	for i := range cues {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			w.t.Errorf("cue %d was read %d times", i, n)
		}
	}
	w.t.Logf("%d cues in %d calls", len(seen), calls)
}

// asks checks that a question gets its evidence with the frames beside it, and a
// range of time what is in it.
func (w *workspace) asks(c *mcp.ClientSession) {
	w.t.Helper()
	text, pictures := w.toHost(c, "media_watch", media.WatchInput{Source: local("long.mp4"), Mode: media.Timeline, Question: "what about topic42?"})
	if !strings.Contains(text, "cue number 42 speaks of topic42") || !strings.Contains(text, "picture 1: frame-") || pictures < 3 {
		w.t.Errorf("%d pictures, the answer to a question reads\n%s", pictures, text)
	}
	run := cutroom.Ref{Run: regexp.MustCompile(`run_id ([0-9a-f]{16})`).FindStringSubmatch(text)[1]}
	text, pictures = w.toHost(c, "media_ask", media.AskInput{Run: run, Question: "what about topic42?", Range: video.Range{Start: 3600 * cutroom.Second}})
	if strings.Contains(text, "\n0:") || !strings.Contains(text, "\n1:") || !strings.Contains(text, "contact sheet of") || pictures == 0 {
		w.t.Errorf("%d pictures, the second hour's answer reads\n%s", pictures, text)
	}
	end := 3610 * cutroom.Second
	text, _ = w.toHost(c, "media_ask", media.AskInput{Run: run, Range: video.Range{Start: 3600 * cutroom.Second, End: &end}})
	if n := strings.Count(text, "cue number"); n < 3 || n > 9 || strings.Contains(text, "goes on") {
		w.t.Errorf("%d cues in ten seconds:\n%s", n, text)
	}
}

// TestASampleReadsWell: the sample clip's words and text are in what a model reads.
func TestASampleReadsWell(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.copy(filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4"), "demo.mp4")
	c := w.host()
	for _, mode := range []media.Mode{media.Timeline, media.Summary, media.Transcript, media.Automation, media.Frames} {
		in := media.WatchInput{Source: local("demo.mp4"), Mode: mode}
		text, _ := w.toHost(c, "media_watch", in)
		r := must[media.WatchResult](w, "media.watch", in)
		if mode == media.Timeline {
			t.Log(text)
		}
		for _, e := range r.Timeline {
			// Steps say what became of the text on the screen.
			if mode != media.Automation && !strings.Contains(text, e.Line()) {
				t.Errorf("%s: no %q", mode, e.Line())
			}
		}
	}
}
