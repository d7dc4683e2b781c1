package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"

	"github.com/google/go-cmp/cmp"
)

// clip makes a short recording with sound and a picture that changes.
func clip(t testing.TB, to string) {
	t.Helper()
	testenv.Needs(t, "ffmpeg")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=3:s=320x240:r=25", "-f", "lavfi", "-i", "sine=f=440:d=3:r=48000",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", to)
}

// TestKill9 kills a watch at random moments. Whatever the moment: nothing half-made
// is visible, no program survives, and the next run succeeds.
func TestKill9(t *testing.T) {
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	start := time.Now()
	if out, err := command(t, w.dir, "watch", "clip.mp4", "--mode", "timeline", "--json", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	kills := 6
	if testenv.Soak() {
		kills = 100
	}
	for i := range kills {
		if err := os.RemoveAll(filepath.Join(w.dir, w.StageRelative)); err != nil {
			t.Fatal(err)
		}
		c := command(t, w.dir, "watch", "clip.mp4", "--mode", "timeline", "--json", "--quiet")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(rand.Int64N(int64(whole)))
		timer := time.AfterFunc(delay, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		for r, err := range w.Stage.List(t.Context()) {
			if err == nil {
				err = r.Verify(t.Context())
			}
			if err != nil {
				t.Errorf("kill %d after %s: a visible result does not verify: %v", i, delay, err)
			}
		}
		if i%3 == 2 || i == kills-1 {
			w.survives(t, delay)
		}
	}
	if left := waitForNone(w.dir); len(left) > 0 {
		t.Errorf("programs survive: %v", left)
	}
}

// survives runs the same watch again after a kill.
func (w *workspace) survives(t *testing.T, delay time.Duration) {
	t.Helper()
	out, err := command(t, w.dir, "watch", "clip.mp4", "--mode", "timeline", "--json", "--quiet").Output()
	var r media.WatchResult
	if err != nil || json.Unmarshal(out, &r) != nil || r.Status != cutroom.Completed {
		t.Errorf("after a kill at %s the next run says %v: %s", delay, err, out)
	}
}

// waitForNone returns the processes that still have their folder beneath dir, once
// the kernel has had time to end them.
func waitForNone(dir string) []string {
	for range 100 {
		left := inFolder(dir)
		if len(left) == 0 {
			return nil
		}
		<-time.After(50 * time.Millisecond)
	}
	return inFolder(dir)
}

func inFolder(dir string) []string {
	var found []string
	procs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, p := range procs {
		cwd, err := os.Readlink(p)
		if err != nil || !strings.HasPrefix(cwd, dir) {
			continue
		}
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil && id != os.Getpid() {
			found = append(found, p+" → "+cwd)
		}
	}
	return found
}

// TestCancelKillsPrograms: a signal ends the call, what it started, and says so.
func TestCancelKillsPrograms(t *testing.T) {
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	c := command(t, w.dir, "watch", "clip.mp4", "--json")
	var out, words bytes.Buffer
	c.Stdout, c.Stderr = &out, &words
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-time.After(300 * time.Millisecond)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 143 && code != 0 {
		t.Errorf("exit code %d, %s", code, words.String())
	}
	if c.ProcessState.ExitCode() == 143 {
		var f cutroom.Failure
		if err := json.Unmarshal(out.Bytes(), &f); err != nil || f.Error.Code != cutroom.Canceled {
			t.Errorf("%s", out.String())
		}
	}
	if left := waitForNone(w.dir); len(left) > 0 {
		t.Errorf("programs survive: %v", left)
	}
}

// TestTwentyEqualCalls: one runs, nineteen wait and get the same answer.
func TestTwentyEqualCalls(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	in := video.ExtractFramesInput{Source: local("clip.mp4"), TimestampsSeconds: []cutroom.Micros{0, cutroom.Second}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers, ran := map[string]int{}, 0
	for range 20 {
		wg.Go(func() {
			r, err := w.call("video.extract_frames", in)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[string(r.JSON)]++
			if !r.Reused {
				ran++
			}
		})
	}
	wg.Wait()
	if ran != 1 || len(answers) != 1 {
		t.Errorf("%d executions, %d different answers", ran, len(answers))
	}
}

// TestFullDisk: a clear error, and no damage: with room the same call succeeds.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "unshare", "mount")
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := "-m"
	if os.Getuid() != 0 {
		flags = "-Urm"
	}
	stage := filepath.Join(w.dir, ".cutroom")
	if err := os.MkdirAll(stage, 0o700); err != nil {
		t.Fatal(err)
	}
	const script = `mount -t tmpfs -o size=12k none "$1/.cutroom" && "$2" video extract-frames clip.mp4 --interval-seconds 1 --json --quiet; echo "exit $?" >&2
		mount -t tmpfs -o remount,size=8m none "$1/.cutroom" && "$2" video extract-frames clip.mp4 --interval-seconds 1 --json --quiet; echo "exit $?" >&2`
	c := command(t, w.dir)
	c.Path, c.Args = "/usr/bin/unshare", []string{"unshare", flags, "sh", "-c", script, "sh", w.dir, self}
	var out, words bytes.Buffer
	c.Stdout, c.Stderr = &out, &words
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, words.String())
	}
	dec := json.NewDecoder(&out)
	var f cutroom.Failure
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if f.Error.Code != cutroom.Unavailable && f.Error.Code != cutroom.Limit || !strings.Contains(f.Error.Message, "full") {
		t.Errorf("a full disk is answered with %+v", f)
	}
	var r video.ExtractFramesOutput
	if err := dec.Decode(&r); err != nil || len(r.Frames) != 3 {
		t.Errorf("with room again: %v, %d frames (%s)", err, len(r.Frames), words.String())
	}
}

// TestWorkspaceNames: a workspace may be called anything.
func TestWorkspaceNames(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "clip.mp4")
	clip(t, source)
	for _, name := range []string{"with space", `qu"ote's`, "100%d", "new\nline", "ünïcødé 日本", "-dash", "$(echo)", "[a]:b,c;d"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		w := open(t, dir)
		file := w.copy(source, name+" %03d.mp4")
		r := must[video.ExtractFramesOutput](w, "video.extract_frames", video.ExtractFramesInput{Source: local(file), TimestampsSeconds: []cutroom.Micros{0, 3 * cutroom.Second}})
		if len(r.Frames) != 2 {
			t.Errorf("%q: %d frames", name, len(r.Frames))
		}
		for _, f := range r.Frames {
			if _, err := os.Stat(filepath.Join(dir, f.RelativePath)); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

// TestPathsStayInside: what leads out of the workspace is denied.
func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	out := t.TempDir()
	clip(t, filepath.Join(out, "clip.mp4"))
	for name, to := range map[string]string{"link.mp4": filepath.Join(out, "clip.mp4"), "folder": out} {
		if err := os.Symlink(to, filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(w.dir, "fifo.mp4"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := map[string]cutroom.Code{
		"link.mp4": cutroom.Denied, "folder/clip.mp4": cutroom.Denied, "../clip.mp4": cutroom.Denied,
		filepath.Join(out, "clip.mp4"): cutroom.Denied, "/etc/passwd": cutroom.Denied, "fifo.mp4": cutroom.Invalid,
		"none.mp4": cutroom.NotFound, "folder": cutroom.Denied, ".": cutroom.Invalid, "/dev/zero": cutroom.Denied, "/proc/self/environ": cutroom.Denied,
	}
	for path, code := range rows {
		e := w.fails("video.probe", video.ProbeInput{Source: local(path)}, code)
		if strings.Contains(e.Error(), out) && !strings.HasPrefix(path, out) {
			t.Errorf("%s: %q tells where the link leads", path, e)
		}
	}
}

// TestTampering: what was changed after it was recorded is refused.
func TestTampering(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	in := video.ExtractFramesInput{Source: local("clip.mp4"), TimestampsSeconds: []cutroom.Micros{0}}
	r := must[video.ExtractFramesOutput](w, "video.extract_frames", in)
	frame := filepath.Join(w.dir, r.Frames[0].RelativePath)
	good, err := os.ReadFile(frame)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(file string, data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replace(frame, append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1))
	e := w.fails("video.extract_frames", in, cutroom.Conflict)
	if !strings.Contains(e.Hint, "prune --invalid") {
		t.Errorf("hint %q", e.Hint)
	}
	w.fails("video.ocr_frames", video.OCRFramesInput{Frames: r.Frames}, cutroom.Conflict)
	replace(frame, good)
	manifest := filepath.Join(filepath.Dir(frame), "result.json")
	record, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	replace(manifest, bytes.Replace(record, []byte("clip.mp4"), []byte("clap.mp4"), 1))
	w.fails("video.extract_frames", in, cutroom.Conflict)
	replace(manifest, record)
	must[video.ExtractFramesOutput](w, "video.extract_frames", in)
	invented := r.Frames[0]
	invented.SHA256 = cutroom.DigestOf([]byte("invented"))
	w.fails("video.ocr_frames", video.OCRFramesInput{Frames: []cutroom.ArtifactRef{invented}}, cutroom.Denied)
}

// TestTamperingBelowAWatch: a watch answers with the frames of another result, so
// what was done to those counts too: changed is refused, pruned is made anew.
func TestTamperingBelowAWatch(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	in := media.WatchInput{Source: local("clip.mp4"), Mode: media.Frames, MaxFrames: 2}
	first := must[media.WatchResult](w, "media.watch", in)
	frame := filepath.Join(w.dir, first.Frames[0].RelativePath)
	good, err := os.ReadFile(frame)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(frame, append(bytes.Clone(good), 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	e := w.fails("media.watch", in, cutroom.Conflict)
	if !strings.Contains(e.Error(), "video.extract_frames") || !strings.Contains(e.Hint, "prune --invalid") {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
	if err := os.RemoveAll(filepath.Dir(frame)); err != nil { // what a prune does
		t.Fatal(err)
	}
	again := must[media.WatchResult](w, "media.watch", in)
	if data, err := os.ReadFile(frame); err != nil || !bytes.Equal(data, good) {
		t.Errorf("the frame was not made anew: %d bytes, %v", len(data), err)
	}
	if diff := cmp.Diff(first.Frames, again.Frames); diff != "" {
		t.Errorf("frames (-first +again):\n%s", diff)
	}
}

// TestChangedSource: a file that was overwritten gives a new result, and the old
// result is not readable under its name any more.
func TestChangedSource(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	file := filepath.Join(w.dir, "talk.srt")
	for i, text := range []string{"first words", "other words"} {
		if err := os.WriteFile(file, []byte("1\n00:00:01,000 --> 00:00:02,000\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local("talk.srt"), Mode: media.Timeline})
		if len(r.Timeline) != 1 || r.Timeline[0].Text != text {
			t.Errorf("version %d says %v", i, r.Timeline)
		}
		if i == 0 {
			defer func() {
				w.fails("media.ask", media.AskInput{Run: cutroom.Ref{Run: r.RunID}, Question: "words?"}, cutroom.Conflict)
			}()
		}
	}
}

// TestAnIDIsNoPermission: a result is read only by who could open its sources now.
func TestAnIDIsNoPermission(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	outside := filepath.Join(t.TempDir(), "talk.srt")
	text := []byte("1\n00:00:01,000 --> 00:00:02,000\nnot for everybody\n")
	if err := os.WriteFile(outside, text, 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(media.WatchInput{Source: local(outside), Mode: media.Timeline})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: "media.watch", Input: raw, Principal: cutroom.Operator})
	if err != nil {
		t.Fatal(err)
	}
	question := media.AskInput{Run: cutroom.Ref{Run: string(r.Run)}, Question: "everybody?"}
	if e := w.fails("media.ask", question, cutroom.Denied); strings.Contains(e.Error(), filepath.Dir(outside)) {
		t.Errorf("%q tells where the file lies", e)
	}
	inside := filepath.Join(w.dir, "talk.srt")
	if err := os.WriteFile(inside, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := must[media.WatchResult](w, "media.watch", media.WatchInput{Source: local("talk.srt"), Mode: media.Timeline})
	question.Run.Run = mine.RunID
	if a := must[media.AskResult](w, "media.ask", question); len(a.Relevant) != 1 {
		t.Errorf("%+v", a)
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	question.Max = 3 // another call: the first is recorded
	w.fails("media.ask", question, cutroom.NotFound)
}
