package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cutroom/internal/agent/agenttest"
	"cutroom/internal/agent/script"
	"cutroom/internal/persontest"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/measure"
	"cutroom/internal/tools/review"
)

// recipe is a page of docs/recipes: its command, and the script that plays its model.
type recipe struct {
	name  string
	words []string // of the command, behind `cutroom`
	input string   // the file that it names
	media []string // how that file is made out of the sample clip
	check func(t *testing.T, w *workspace, said string)
}

// small is how pictures and sound of the tests' inputs are encoded.
var small = strings.Fields("-c:v libx264 -preset veryfast -crf 28 -c:a aac -b:a 48k -ac 1")

func recipes() []recipe {
	scaled := func(size, more string) []string {
		return append(append(strings.Fields(more), "-vf", "scale="+size+",setsar=1"), small...)
	}
	return []recipe{
		{name: "clip", input: "talk.mp4", media: scaled("342:192", ""), check: checkClip},
		{name: "silences", input: "lecture.mp4", media: scaled("160:90", "-t 13"), check: checkSilences},
		{name: "bug", input: "bug.mp4", media: scaled("320:180", "-ss 9.8 -t 5"), check: checkBug},
		{name: "podcast", input: "episode.m4a", media: strings.Fields("-t 18 -vn -af volume=0.3 -c:a aac"), check: checkPodcast},
		{name: "delivery", input: "promo.mp4", media: append(strings.Fields("-t 1 -af volume=0.2"), scaled("160:90", "")...), check: checkDelivery},
	}
}

// TestRecipes runs the command of each recipe as its page has it, in a process of its own,
// with the real tools, and with its model behind real HTTP: on one wire first, where
// everything is made, then on the other, where the record answers.
func TestRecipes(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract")
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.read(t)
			dir := t.TempDir()
			r.make(t, dir)
			for _, wire := range []provider.Wire{provider.Chat, provider.Messages} {
				if wire == provider.Messages && testenv.Soak() { // otherwise the stage's record answers
					dir = t.TempDir()
					r.make(t, dir)
				}
				r.run(t, dir, wire)
			}
		})
	}
}

var (
	commandLine = regexp.MustCompile("(?m)^cutroom (agent run .*)$")
	shellWord   = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)
)

// read takes the command out of the page.
func (r *recipe) read(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "recipes", r.name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := commandLine.FindAllStringSubmatch(string(page), -1)
	if len(lines) != 1 {
		t.Fatalf("the page has %d commands", len(lines))
	}
	for _, m := range shellWord.FindAllStringSubmatch(lines[0][1], -1) {
		r.words = append(r.words, m[1]+m[2]+m[3])
	}
	if r.words[2] != r.input {
		t.Fatalf("the command reads %s, and the test makes %s", r.words[2], r.input)
	}
}

func (r *recipe) make(t *testing.T, dir string) {
	t.Helper()
	clip := filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4")
	args := slices.Concat([]string{"-v", "error", "-nostdin", "-i", clip}, r.media, []string{filepath.Join(dir, r.input)})
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// run runs the recipe in dir with a model on a wire, and checks what it did and said.
func (r *recipe) run(t *testing.T, dir string, wire provider.Wire) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "recipes", r.name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	srv := agenttest.New(t, s)
	l := newLab(t, fmt.Sprintf("models:\n  - {id: m, provider: played, wire: %s, base_url: %s, modalities: [text, image]}\nlens: {models: {image: \"\", audio: \"\", video: \"\"}}\n", wire, srv.URL), nil)
	events := r.person(t, l.home, dir, wire)
	said := r.judge(t, events)
	if faults := srv.Refused(); len(faults) > 0 {
		t.Errorf("%s: the service refused: %v", wire, faults)
	}
	for _, q := range srv.Requests() {
		if q.Wire != wire || !q.Stream {
			t.Errorf("asked on %s, streamed %v", q.Wire, q.Stream)
		}
	}
	w := l.reopen(t, dir)
	r.cited(t, w, events, said)
	r.check(t, w, said)
	if seen := slices.ContainsFunc(srv.Requests(), func(q providertest.Request) bool { return bytes.Contains(q.Body, []byte("image/jpeg")) }); r.name == "bug" && !seen {
		t.Errorf("%s: a model that takes pictures was shown none", wire)
	}
}

// happened is what the test reads of an event.
type happened struct {
	Seq    int64    `json:"seq"`
	Type   string   `json:"type"`
	Tool   string   `json:"tool"`
	Kind   string   `json:"kind"`
	Status string   `json:"status"`
	Output string   `json:"output"`
	Text   string   `json:"text"`
	Files  []string `json:"files"`
	Reason string   `json:"reason"`
}

// person runs the command as somebody at a terminal would, and returns its events.
func (r *recipe) person(t *testing.T, home, dir string, wire provider.Wire) []happened {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "events"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{asCommand + "=1", "CUTROOM_HOME=" + home, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir()}
	args := slices.Concat([]string{self}, r.words, []string{"--model", "played/m", "--json"})
	code, err := persontest.Orphan(dir, env, nil, out, out, args...)
	raw, readErr := os.ReadFile(out.Name())
	if err != nil || readErr != nil || code != "0" {
		t.Fatalf("%s: exit code %s, %v, %v\n%s", wire, code, err, readErr, raw)
	}
	var events []happened
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e happened
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		events = append(events, e)
	}
	return events
}

// judge checks the course of a run, and returns its last words.
func (r *recipe) judge(t *testing.T, events []happened) string {
	t.Helper()
	kinds := map[string]string{}
	last := ""
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
		switch e.Type {
		case "tool_call_start":
			kinds[e.Tool] = e.Kind
		case "tool_call_end":
			if e.Status != "succeeded" {
				t.Errorf("%s %s: %s", e.Tool, e.Status, e.Output)
			}
			last = e.Tool
		case "tool_call_rejected", "run_failed":
			t.Errorf("%s %s %s %s", e.Type, e.Tool, e.Reason, e.Text)
		}
	}
	end := events[len(events)-1]
	if end.Type != "run_completed" || kinds[last] == "execute" {
		t.Fatalf("the run ends with %s after %s (%s), not with a check", end.Type, last, kinds[last])
	}
	return end.Text
}

var (
	citedFile   = regexp.MustCompile(`[A-Za-z0-9_./-]+\.(?:mp4|m4a|jpg)\b`)
	citedSecond = regexp.MustCompile(`\b(\d+(?:\.\d+)?) s\b`)
)

// cited checks that every artifact of the last words exists and is the run's own or its
// input, and that every second lies within the recording.
func (r *recipe) cited(t *testing.T, w *workspace, events []happened, said string) {
	t.Helper()
	own := []string{r.input}
	for _, e := range events {
		own = append(own, e.Files...)
	}
	files := citedFile.FindAllString(said, -1)
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(w.dir, f)); err != nil || !slices.Contains(own, f) {
			t.Errorf("%q is cited: %v, of the run: %v", f, err, slices.Contains(own, f))
		}
	}
	length := seconds(t, w, r.input)
	cited := citedSecond.FindAllStringSubmatch(said, -1)
	for _, m := range cited {
		if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 0 || v > length {
			t.Errorf("%s s is cited, and %s has %.3f s", m[1], r.input, length)
		}
	}
	if len(files) < 2 || len(cited) == 0 {
		t.Errorf("cites %d files and %d seconds: %s", len(files), len(cited), said)
	}
}

// passes checks a file against a platform, with sound and all.
func passes(t *testing.T, w *workspace, file, platform string) {
	t.Helper()
	out := must[review.CheckOutput](w, "review.check", map[string]string{"input": file, "platform": platform})
	if !out.OK || out.Failures > 0 {
		t.Errorf("%s for %s: %d rows fail: %+v", file, platform, out.Failures, out.Checks)
	}
}

// probed is what a file is.
func probed(t *testing.T, w *workspace, file string) measure.ProbedFile {
	t.Helper()
	return must[measure.ProbeOutput](w, "measure.probe", map[string][]string{"inputs": {file}}).Files[0]
}

// seconds is how long a file is.
func seconds(t *testing.T, w *workspace, file string) float64 {
	t.Helper()
	return float64(*probed(t, w, file).Duration) / 1e6
}

func checkClip(t *testing.T, w *workspace, _ string) {
	passes(t, w, "best_clip.mp4", "tiktok")
	f := probed(t, w, "best_clip.mp4")
	if v := f.Video[0]; v.Width*16 != v.Height*9 {
		t.Errorf("%dx%d is not 9:16", v.Width, v.Height)
	}
	if s := seconds(t, w, "best_clip.mp4"); s < 18 || s > 20 {
		t.Errorf("the clip has %.2f s", s)
	}
}

func checkSilences(t *testing.T, w *workspace, _ string) {
	before, after := seconds(t, w, "lecture.mp4"), seconds(t, w, "tight.mp4")
	if after > before-1.5 || after < before/2 {
		t.Errorf("%.2f s became %.2f s", before, after)
	}
	left := must[measure.SilenceOutput](w, "measure.silence", map[string]string{"input": "tight.mp4"})
	if left.RemovedTotal != 0 {
		t.Errorf("%v of silence is left", left.RemovedTotal)
	}
}

// checkBug: the terminal with the error is on the screen of the sample clip from 12.2 s on,
// and the recording begins at 9.8 s of it.
func checkBug(t *testing.T, _ *workspace, said string) {
	m := citedSecond.FindStringSubmatch(said)
	at, err := strconv.ParseFloat(m[1], 64)
	if err != nil || at < 2.3 || at > 3.2 || !strings.Contains(said, "no space left on disk") {
		t.Errorf("the error is said to be at %s s: %s", m[1], said)
	}
}

func checkPodcast(t *testing.T, w *workspace, said string) {
	passes(t, w, "episode_final.m4a", "podcast")
	loud := must[measure.LoudnessOutput](w, "measure.loudness", map[string]string{"input": "episode_final.m4a"})
	if i := loud.Measured.Integrated; i == nil || *i < -16.6 || *i > -15.4 {
		t.Errorf("the loudness is %+v", loud.Measured)
	}
	if a, b := seconds(t, w, "episode.m4a"), seconds(t, w, "episode_final.m4a"); b < a-0.1 || b > a+0.1 {
		t.Errorf("%.2f s became %.2f s: the chapters would be elsewhere", a, b)
	}
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", "chapter=start_time:chapter_tags=title", "-of", "csv=p=0", filepath.Join(w.dir, "episode_final.m4a")).Output()
	chapters := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(chapters) != 3 || !strings.HasPrefix(chapters[1], "5.") || !strings.Contains(chapters[1], "The first picture") {
		t.Errorf("chapters %q, %v", chapters, err)
	}
	for _, c := range chapters {
		at, _, _ := strings.Cut(c, ",")
		if v, err := strconv.ParseFloat(at, 64); err != nil || !strings.Contains(said, strconv.FormatFloat(v, 'f', -1, 64)+" s ") {
			t.Errorf("the chapter at %s is not what is said: %s", at, said)
		}
	}
}

func checkDelivery(t *testing.T, w *workspace, _ string) {
	passes(t, w, "delivery.mp4", "reels")
	before := must[review.CheckOutput](w, "review.check", map[string]string{"input": "promo.mp4", "platform": "reels"})
	if before.OK {
		t.Error("there was nothing to mend")
	}
}
