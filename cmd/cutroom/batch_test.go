package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// shoot puts n different recordings of a fifth of a second into a folder.
func (w *workspace) shoot(folder string, n int) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, folder), 0o700); err != nil {
		w.t.Fatal(err)
	}
	args := []string{"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='0.3*sin(2*PI*(300+7*floor(t/0.2))*t)':s=8000:d=%g", float64(n)*0.2), "-f", "segment", "-segment_time", "0.2", filepath.Join(w.dir, folder, "n%03d.wav")}
	testenv.FFmpeg(w.t, args...)
	for i := range n {
		name := filepath.Join(w.dir, folder, fmt.Sprintf("n%03d.wav", i))
		if _, err := os.Stat(name); err != nil {
			w.t.Fatal(err)
		}
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

// eventually waits for something that another goroutine or process does.
func eventually(t *testing.T, most time.Duration, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(most)
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("it did not happen within %s", most)
		}
	}
}

// Show 5: a second run does no work, whatever stood there of the first.
func TestBatchRunsOnce(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	r := &stepper{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	n := 12
	if testenv.Soak() {
		n = 200
	}
	w.shoot("in", n)
	put(t, filepath.Join(w.dir, "louder.yaml"), "name: '{stem}_loud.flac'\nsteps:\n  - {tool: edit.audio, with: {gain: 3}}\n  - {tool: edit.audio, with: {fade_out: 0.05}}\n")
	in := edit.BatchInput{Folder: "in", Recipe: "louder.yaml", Out: "out", Jobs: 2}
	out := must[edit.BatchOutput](w, "edit.batch", in)
	if out.Total != n || out.Done != n || out.Reused != 0 || out.Failures != 0 {
		t.Fatalf("%d of %d done, %d before, %d failed: %+v", out.Done, out.Total, out.Reused, out.Failures, out.Results)
	}
	if got := files(t, filepath.Join(w.dir, "out")); len(got) != n || got[0] != "n000_loud.flac" {
		t.Errorf("%v", got)
	}
	if names := slices.IsSortedFunc(out.Results, func(a, b edit.BatchItem) int { return strings.Compare(a.File, b.File) }); !names {
		t.Error("the results are not in order")
	}
	if err := os.Remove(filepath.Join(w.dir, "out", "n003_loud.flac")); err != nil {
		t.Fatal(err)
	}
	r.since()
	again := must[edit.BatchOutput](w, "edit.batch", in)
	if again.Done != n || again.Reused != n || again.Failures != 0 {
		t.Errorf("again: %d done, %d before, %d failed", again.Done, again.Reused, again.Failures)
	}
	if len(r.steps) != 0 {
		t.Errorf("a second run started %v", r.steps)
	}
	if got := files(t, filepath.Join(w.dir, "out")); len(got) != n {
		t.Errorf("%d results are there, one was removed before", len(got))
	}
	w.shoot("more", 1)
	if err := os.Rename(filepath.Join(w.dir, "more", "n000.wav"), filepath.Join(w.dir, "in", "z.wav")); err != nil {
		t.Fatal(err)
	}
	if next := must[edit.BatchOutput](w, "edit.batch", in); next.Total != n+1 || next.Failures != 0 || next.Done != n+1 {
		t.Errorf("with one more: %+v", next)
	}
}

// Everything that stands in the way is named before anything is done.
func TestBatchNamesAllThatIsBad(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	r := &stepper{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	w.shoot("in", 3)
	put(t, filepath.Join(w.dir, "in", "a.wav"), "this is no sound")
	put(t, filepath.Join(w.dir, "in", "b.mp3"), "")
	put(t, filepath.Join(w.dir, "in", "notes.txt"), "not taken at all")
	w.copy(filepath.Join(w.dir, "in", "n001.wav"), "in/n001.ogg")
	text := "name: '{stem}.flac'\nsteps: [{tool: edit.audio, with: {gain: 3}}]"
	e := w.fails("edit.batch", edit.BatchInput{Folder: "in", Text: text}, cutroom.Invalid)
	for _, want := range []string{"in/a.wav: ", "in/b.mp3: ", "in/n001.ogg and in/n001.wav would both be in/done/n001.flac", "3 of 6"} {
		if !strings.Contains(e.Msg, want) {
			t.Errorf("%q does not say %q", e.Msg, want)
		}
	}
	if n := r.since("encode"); n != 0 {
		t.Errorf("%d encodes ran all the same", n)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "in", "done")); err == nil {
		t.Error("a folder was made")
	}
	if err := os.Remove(filepath.Join(w.dir, "in", "n001.ogg")); err != nil {
		t.Fatal(err)
	}
	out := must[edit.BatchOutput](w, "edit.batch", edit.BatchInput{Folder: "in", Text: text, OnBad: "skip"})
	if len(out.Bad) != 2 || out.Done != 3 || out.Failures != 0 {
		t.Errorf("%+v", out)
	}
	for text, want := range map[string]string{
		"steps: [{tool: edit.audoi}]":                    "did you mean edit.audio",
		"steps: [{tool: edit.audio, with: {gian: 3}}]":   `did you mean "gain"`,
		"steps: [{tool: edit.audio, with: {output: x}}]": "the batch's to say",
		"steps: [{tool: edit.batch}]":                    "cannot call",
		"steps: [{tool: video.download}]":                "cannot call",
		"stps: [{tool: edit.audio}]":                     `unknown key "stps"`,
		"steps: [{tool: edit.audio, wiht: {}}]":          "did you mean with",
		"steps: []":                                      "1 to 20",
		"name: x.mp4\nsteps: [{tool: edit.fit}]":         "no name for many files",
		"clips: [{src: a.mp4}]":                          "$INPUT",
	} {
		e := w.fails("edit.batch", edit.BatchInput{Folder: "in", Text: text}, cutroom.Invalid)
		if !strings.Contains(e.Error()+e.Hint, want) {
			t.Errorf("%s: %v", text, e)
		}
	}
	w.fails("edit.batch", edit.BatchInput{Folder: "nothing", Text: text}, cutroom.NotFound)
	w.fails("edit.batch", edit.BatchInput{Folder: "../..", Text: text}, cutroom.Denied)
}

// A project over a folder: each file takes its place, and costs one encode.
func TestBatchOfAProject(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	r := &stepper{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	if err := os.Mkdir(filepath.Join(w.dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.stairs("in/a.mp4")
	w.stairs("in/b.mp4", "-metadata", "title=other")
	w.stairs("intro.mp4", "-t", "0.4")
	put(t, filepath.Join(w.dir, "p.yaml"), "clips: [{src: intro.mp4}, {src: $INPUT, in: 0.4, out: 1}]\nexport: {crf: 12}\n")
	out := must[edit.BatchOutput](w, "edit.batch", edit.BatchInput{Folder: "in/*.mp4", Recipe: "p.yaml", Out: "out"})
	if out.Done != 2 || out.Failures > 0 || out.Results[1].Output != "out/b_render.mp4" {
		t.Fatalf("%+v", out)
	}
	if n := r.since("encode"); n != 2 {
		t.Errorf("%d encodes of 2 files", n)
	}
	if got := w.steps("out/b_render.mp4"); got != "0..24" {
		t.Errorf("it shows %s", got)
	}
}

// A batch that watches takes what comes, once, and what is being copied when it is whole.
func TestBatchWatches(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.shoot("in", 1)
	whole := filepath.Join(t.TempDir(), "long.mp3") // of which any part is a recording
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "sine=440:d=6", whole)
	raw, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	text := "steps: [{tool: edit.audio, with: {gain: 3}}]"
	done := make(chan *edit.BatchOutput, 1)
	go func() {
		done <- must[edit.BatchOutput](w, "edit.batch", edit.BatchInput{Folder: "in", Text: text, Out: "out", Watch: 1500_000, Idle: 8 * cutroom.Second})
	}()
	first := filepath.Join(w.dir, "out", "n000_audio.wav")
	eventually(t, time.Minute, func() bool { _, err := os.Stat(first); return err == nil })
	f, err := os.Create(filepath.Join(w.dir, "in", "long.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.dir, "in", "never.mp3"), "this is no sound")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for part := range slices.Chunk(raw, len(raw)/60+1) {
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
		<-tick.C
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if out.Done != 2 || out.Total != 3 || out.Failures != 0 || len(out.Bad) != 1 || out.Bad[0].File != "in/never.mp3" {
		t.Errorf("%+v", out)
	}
	if info, err := os.Stat(filepath.Join(w.dir, "out", "long_audio.mp3")); err != nil || info.Size() < int64(len(raw))*9/10 {
		t.Errorf("it took a part of what was copied: %v, %+v", err, info)
	}
}

// Folders below are taken when it is asked for; what is hidden is left alone, what is a
// link is named. What lies between two steps goes when it is asked for, and nothing else.
func TestBatchOfATree(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	r := &stepper{Runner: w.Engine.Runner}
	w.Engine.Runner = r
	w.shoot("in/day 2/deep", 2)
	odd := filepath.Join(w.dir, "in", "day [it's] 100%")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(w.dir, "in", "day 2", "deep", "n001.wav"), filepath.Join(odd, "n001.wav")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.dir, "in", "day 2", "._n000.wav"), "what another system leaves")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.dir, "in", "day 2", "x.wav")); err != nil {
		t.Fatal(err)
	}
	text := "steps: [{tool: edit.audio, with: {gain: 3}}, {tool: edit.audio, with: {fade_out: 0.05}}, {tool: edit.audio, with: {gain: -1}}]"
	in := edit.BatchInput{Folder: "in", Text: text, Recursive: true, Tidy: true}
	if e := w.fails("edit.batch", in, cutroom.Invalid); !strings.Contains(e.Msg, "1 of 3") || !strings.Contains(e.Msg, "in/day 2/x.wav: it is a link") {
		t.Errorf("%q", e.Msg)
	}
	if e := w.fails("edit.batch", edit.BatchInput{Folder: "in", Text: text, Recursive: true, Out: "in", OnBad: "skip"}, cutroom.Invalid); !strings.Contains(e.Msg, "would be a file of the next run") {
		t.Errorf("%q", e.Msg)
	}
	in.OnBad = "skip"
	work := filepath.Join(w.dir, "in", "done", ".work", "day 2")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, "mine.wav"), "of somebody")
	results := []string{"in/done/day 2/deep/n000_audio.wav", "in/done/day [it's] 100%/n001_audio.wav"}
	for i := range 2 {
		out := must[edit.BatchOutput](w, "edit.batch", in)
		if out.Done != 2 || out.Total != 3 || out.Reused != 2*i || len(out.Bad) != 1 || out.Results[0].Output != results[0] || out.Results[1].Output != results[1] {
			t.Fatalf("%+v", out)
		}
		if n := r.since("encode"); n != 6-6*i {
			t.Errorf("run %d: %d encodes", i+1, n)
		}
		var left []string
		err := filepath.WalkDir(filepath.Join(w.dir, "in", "done", ".work"), func(path string, _ os.DirEntry, err error) error {
			left = append(left, filepath.Base(path))
			return err
		})
		if diff := cmp.Diff([]string{".work", "day 2", "mine.wav"}, left); err != nil || diff != "" {
			t.Errorf("%v: between the steps there is %v", err, left)
		}
	}
}

// Killed half-way, run again: what was finished is not done again, and the rest is.
func TestBatchAfterKill9(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	n := 8
	if testenv.Soak() {
		n = 200
	}
	w.shoot("in", n)
	put(t, filepath.Join(w.dir, "r.yaml"), "steps: [{tool: edit.audio, with: {gain: 3}}]")
	args := []string{"batch", "in", "--recipe", "r.yaml", "--out", "out", "--json", "--quiet"}
	c := command(t, w.dir, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(w.dir, "out")
	eventually(t, 2*time.Minute, func() bool { e, _ := os.ReadDir(out); return len(e) >= n/2 })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	before := map[string]time.Time{}
	for _, name := range files(t, out) {
		info, err := os.Stat(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = info.ModTime()
	}
	if len(before) >= n {
		t.Fatalf("it was killed too late: %d results", len(before))
	}
	text, err := command(t, w.dir, args...).Output()
	var got edit.BatchOutput
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.Done != n || got.Failures != 0 || got.Reused < len(before)-1 || got.Reused == n {
		t.Errorf("%d of %d done, %d before (%d results stood there), %d failed", got.Done, n, got.Reused, len(before), got.Failures)
	}
	for name, at := range before {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || !info.ModTime().Equal(at) {
			t.Errorf("%s was written again", name)
		}
	}
	if diff := cmp.Diff(n, len(files(t, out))); diff != "" {
		t.Error(diff)
	}
}
