package smartcut_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"cutroom/internal/smartcut"
	"cutroom/internal/testenv"
)

// browser is a headless Chromium, driven by the WebDriver protocol (W3C WebDriver).
type browser struct {
	t       *testing.T
	session string // address
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	testenv.Needs(t, "chromium", "chromedriver")
	cmd := exec.CommandContext(t.Context(), "chromedriver", "--port=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port := regexp.MustCompile(`started successfully on port (\d+)`)
	lines := bufio.NewScanner(out)
	b := &browser{t: t}
	for b.session == "" && lines.Scan() {
		if m := port.FindStringSubmatch(lines.Text()); m != nil {
			b.session = "http://127.0.0.1:" + m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	var answer struct{ SessionID string }
	b.post("/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:chromeOptions": map[string]any{"binary": "/usr/bin/chromium", "args": []string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "--user-data-dir=" + t.TempDir(),
		}},
		"timeouts": map[string]int{"script": 60_000},
	}}}, &answer)
	b.session += "/session/" + answer.SessionID
	t.Cleanup(func() {
		req, err := http.NewRequest(http.MethodDelete, b.session, nil)
		if err != nil {
			return
		}
		if r, err := http.DefaultClient.Do(req); err == nil {
			r.Body.Close()
		}
	})
	return b
}

// post sends one command and decodes its value.
func (b *browser) post(path string, body, value any) {
	b.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := http.Post(b.session+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s %v: %.600s", path, r.Status, err, text)
	}
	if err := json.Unmarshal(text, &struct{ Value any }{value}); err != nil {
		b.t.Fatal(err)
	}
}

// shots is the script that seeks a video to times and returns the brightness of every
// pixel that is shown then, and at last plays through the rest.
const shots = `
const [times, done] = [arguments[0], arguments[1]], v = document.querySelector('video'), frames = [];
const once = name => new Promise((ok, no) => { v.addEventListener(name, ok, {once: true}); v.addEventListener('error', () => no(v.error && v.error.message), {once: true}); });
(async () => {
  if (v.readyState < 2) await once('loadeddata');
  const c = document.createElement('canvas'); c.width = v.videoWidth; c.height = v.videoHeight;
  const g = c.getContext('2d', {willReadFrequently: true});
  for (const t of times) {
    const seeked = once('seeked'); v.currentTime = t; await seeked;
    await new Promise(ok => setTimeout(ok, 60));
    g.drawImage(v, 0, 0);
    const p = g.getImageData(0, 0, c.width, c.height).data, y = [];
    for (let i = 0; i < p.length; i += 4) y.push(Math.round(0.299*p[i] + 0.587*p[i+1] + 0.114*p[i+2]));
    frames.push(y);
  }
  const ended = once('ended'); v.playbackRate = 4; await v.play(); await ended;
  done({frames, length: v.duration, width: v.videoWidth, height: v.videoHeight, error: v.error ? v.error.message : ''});
})().catch(e => done({error: String(e)}));
`

// TestChromium: a browser seeks to frames on both sides of both seams, shows the
// source's frames there, and plays to the end.
func TestChromium(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"h264", "h264-baseline", "vp9"} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
			l := newLab(t, classes[i].source(t))
			container := filepath.Ext(classes[i].file)[1:]
			if container == "mov" {
				container = "mp4"
			}
			span := smartcut.Span{Start: 1_300_000, End: 7_170_000}
			res, why := l.cut(container, span)
			if res == nil {
				t.Fatal(why)
			}
			l.plays(newBrowser(t), span, res)
		})
	}
}

func (l *lab) plays(b *browser, span smartcut.Span, res *smartcut.Result) {
	l.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<!doctype html><video src="/cut" preload="auto" muted></video>`)
			return
		}
		http.ServeFile(w, r, l.out)
	}))
	defer server.Close()
	out := decode(l.t, l.out, res.Probe)
	tb := res.Probe.FirstVideo().TimeBase.Float()
	// Where the first seam lies is not told: the first two seconds and the last are seen.
	var want []int
	for _, i := range []int{0, 1, 5, 10, 15, 18, 19, 20, 21, 22, 23, 30, 60, 100, 130, 160} {
		if i < len(out.pts) {
			want = append(want, i)
		}
	}
	for i := max(0, len(out.pts)-8); i < len(out.pts); i++ {
		want = append(want, i)
	}
	var times []float64
	for _, i := range want {
		times = append(times, (float64(out.pts[i])+0.4*float64(out.pts[1]-out.pts[0]))*tb)
	}
	b.post("/url", map[string]any{"url": server.URL}, new(any))
	var seen struct {
		Frames        [][]float64
		Length        float64
		Width, Height int
		Error         string
	}
	b.post("/execute/async", map[string]any{"script": shots, "args": []any{times}}, &seen)
	if seen.Error != "" || len(seen.Frames) != len(want) {
		l.t.Fatalf("%d frames of %d are shown: %s", len(seen.Frames), len(want), seen.Error)
	}
	if d := seen.Length - res.Map.Seconds.Seconds(); math.Abs(d) > 0.05 {
		l.t.Errorf("the browser says %.3f s, not %s", seen.Length, res.Map.Seconds)
	}
	v := l.src.Media.FirstVideo()
	a := slices.Index(l.frames.pts, l.want(span).pts[0])
	for k, i := range want {
		best, at := math.Inf(1), 0
		for _, d := range []int{-2, -1, 0, 1, 2} {
			n := a + i + d
			if n < 0 || n >= len(l.frames.data) {
				continue
			}
			var sum float64
			for p, y := range seen.Frames[k] {
				sum += math.Abs(y - (float64(l.frames.data[n][p])-16)*255/219)
			}
			if sum < best {
				best, at = sum, d
			}
		}
		if mean := best / float64(v.Video.Width*v.Video.Height); at != 0 || mean > 8 {
			l.t.Errorf("at %.4f s the browser shows frame %d, off by %d, within %.1f", times[k], i, at, mean)
		}
	}
}
