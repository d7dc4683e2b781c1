package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// damager breaks what the encoder wrote before anything looks at it.
type damager struct {
	engine.Runner
	damage func(file string) error
}

func (d damager) Run(ctx context.Context, c argv.Command, g sandbox.Grant) (argv.Result, error) {
	res, err := d.Runner.Run(ctx, c, g)
	if err != nil {
		return res, err
	}
	for _, out := range c.Outputs {
		if err := d.damage(filepath.Join(g.Dir, out)); err != nil {
			return res, err
		}
	}
	return res, nil
}

// TestDamagedOutputIsNeverPublished: whatever an encoder leaves behind with exit code
// 0, only what was planned appears at the caller's path.
func TestDamagedOutputIsNeverPublished(t *testing.T) {
	t.Parallel()
	ffmpeg := func(file string, args ...string) error {
		tmp := file + ".x.mp4"
		line := append([]string{"-v", "error", "-nostdin", "-y", "-i", file}, args...)
		if out, err := exec.Command("ffmpeg", append(line, tmp)...).CombinedOutput(); err != nil {
			return errors.New(string(out))
		}
		return os.Rename(tmp, file)
	}
	damages := map[string]func(string) error{
		"a frame less": func(f string) error { return ffmpeg(f, "-c", "copy", "-frames:v", "74") },
		"sound cut short": func(f string) error {
			return ffmpeg(f, "-map", "0:v", "-map", "0:a", "-c:v", "copy", "-af", "atrim=end=2.5")
		},
		"no sound": func(f string) error { return ffmpeg(f, "-an", "-c", "copy") },
		"black":    func(f string) error { return ffmpeg(f, "-vf", "drawbox=t=fill", "-c:a", "copy") },
		"frozen": func(f string) error {
			return ffmpeg(f, "-vf", "select=eq(n\\,0),loop=74:1,setpts=N/25/TB", "-c:a", "copy")
		},
		"another size": func(f string) error { return ffmpeg(f, "-vf", "scale=160:120", "-c:a", "copy") },
		"cut off": func(f string) error {
			info, err := os.Stat(f)
			return errors.Join(err, os.Truncate(f, info.Size()*2/3))
		},
		"one block zeroed": zero,
		"empty":            func(f string) error { return os.Truncate(f, 0) },
		"gone":             os.Remove,
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "")
			clip(t, filepath.Join(w.dir, "clip.mp4"))
			w.Engine.Runner = damager{w.Engine.Runner, damage}
			_, err := w.Engine.Invoke(t.Context(), engine.Call{Tool: "edit.fit", Input: []byte(`{"input":"clip.mp4","aspect":"1:1","output":"out.mp4"}`), Principal: cutroom.Operator})
			if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Verification && e.Code != cutroom.ToolFailed {
				t.Errorf("%v (%v)", err, e)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "out.mp4")); err == nil {
				t.Error("it was published")
			}
		})
	}
}

// zero wipes a block in the middle of the media.
func zero(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, size/8), size/2)
	return err
}

// TestStoppedEditsLeaveNothing: an edit that is told to stop ends soon, with no
// program left and nothing at its output's path.
func TestStoppedEditsLeaveNothing(t *testing.T) {
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=40:s=1280x720:r=30", "-f", "lavfi", "-i", "sine=d=40", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "long.mp4"))
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		c := command(t, w.dir, "edit", "fit", "long.mp4", "--aspect", "9:16", "-o", "out.mp4", "--json", "--quiet")
		var out bytes.Buffer
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if !within(20*time.Second, func() bool { return len(inFolder(w.dir)) > 1 }) {
			t.Fatal("no program was seen")
		}
		time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Second))), func() { _ = c.Process.Signal(sig) })
		err := c.Wait()
		if err == nil {
			t.Fatalf("%s: it finished: %s", sig, &out)
		}
		want := map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGKILL: -1}[sig]
		if got := c.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d: %s", sig, got, want, &out)
		}
		if left := waitForNone(w.dir); len(left) > 0 {
			t.Errorf("%s: programs left: %q", sig, left)
		}
		names, err := filepath.Glob(filepath.Join(w.dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		hidden, _ := filepath.Glob(filepath.Join(w.dir, ".*"))
		for _, n := range append(names, hidden...) {
			if b := filepath.Base(n); !slices.Contains([]string{"long.mp4", ".cutroom"}, b) && !strings.HasPrefix(b, "..") {
				t.Errorf("%s: %s was left", sig, b)
			}
		}
	}
}

// within polls a condition until it holds or the time is over.
func within(d time.Duration, holds func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(d)
	for !holds() {
		select {
		case <-end:
			return false
		case <-tick.C:
		}
	}
	return true
}
