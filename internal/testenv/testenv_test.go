package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder is a test that notes how it ended instead of ending the real one.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Fatal(args ...any) { r.failed = fmt.Sprint(args...); runtime.Goexit() }

func (r *recorder) Fatalf(f string, args ...any) {
	r.failed = fmt.Sprintf(f, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) { r.skipped = fmt.Sprint(args...); runtime.Goexit() }

func record(t *testing.T, body func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	var wg sync.WaitGroup
	wg.Go(func() { body(r) })
	wg.Wait()
	return r
}

func TestRootHoldsThisModule(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "module cutroom\n") {
		t.Errorf("the root is not the module cutroom: %.40q", text)
	}
}

func TestNeedsFailsAndNeverSkips(t *testing.T) {
	t.Parallel()
	r := record(t, func(t testing.TB) { Needs(t, "sh", "no-such-program-of-cutroom") })
	if r.failed == "" || r.skipped != "" {
		t.Errorf("a missing program: failed %q, skipped %q", r.failed, r.skipped)
	}
	r = record(t, func(t testing.TB) { Needs(t, "sh") })
	if r.failed != "" || r.skipped != "" {
		t.Errorf("sh is there: failed %q, skipped %q", r.failed, r.skipped)
	}
}

func TestModelsFailWhenAbsentOrCut(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CUTROOM_MODELS", dir)
	if r := record(t, func(t testing.TB) { Models(t) }); r.failed == "" {
		t.Error("an empty folder of models passed")
	}
	for _, f := range ModelFiles(t) {
		p := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(p, f.Size); err != nil {
			t.Fatal(err)
		}
	}
	if r := record(t, func(t testing.TB) { Models(t) }); r.failed != "" {
		t.Errorf("files of the right sizes: %s", r.failed)
	}
	first := ModelFiles(t)[0]
	if err := os.Truncate(filepath.Join(dir, first.Path), first.Size-1); err != nil {
		t.Fatal(err)
	}
	if r := record(t, func(t testing.TB) { Models(t) }); r.failed == "" {
		t.Error("a model cut short passed")
	}
}

func TestFFmpegMakesAFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "tone.wav")
	FFmpeg(t, "-f", "lavfi", "-i", "sine=d=0.1", out)
	if info, err := os.Stat(out); err != nil || info.Size() < 8000 {
		t.Errorf("no tone: %v %v", info, err)
	}
	if r := record(t, func(t testing.TB) { FFmpeg(t, "-i", out+".absent", out) }); r.failed == "" {
		t.Error("a failing ffmpeg passed")
	}
}

func TestCasesAreBuiltOnceForAll(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	dirs := make([]string, 2)
	Shared(t) // skips here, not in the goroutines
	for i := range dirs {
		wg.Go(func() { dirs[i] = Cases(t) })
	}
	wg.Wait()
	if dirs[0] == "" || dirs[0] != dirs[1] {
		t.Fatalf("two folders: %q", dirs)
	}
	for _, name := range []string{"base.mp4", "b12_huge.srt", "b34_sparsekf.mkv", "b28_clip.wav"} {
		if info, err := os.Stat(filepath.Join(dirs[0], name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
