package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// home is a user's file and a workspace's, a clock that stands still, and what a live
// config warned of.
type home struct {
	t               *testing.T
	user, workspace string
	now             time.Time
	reads           int
	warned          []string
}

func newHome(t *testing.T) *home {
	dir := t.TempDir()
	return &home{t: t, user: filepath.Join(dir, "user.yaml"), workspace: filepath.Join(dir, "workspace.yaml"), now: time.Now()}
}

func (h *home) read(path string) func() (File, error) {
	return func() (File, error) {
		h.reads++
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return File{Path: path}, nil
		}
		return File{path, text}, err
	}
}

func (h *home) live() *Live {
	h.t.Helper()
	l, err := NewLive(LiveOptions{
		User: h.read(h.user), Workspace: h.read(h.workspace),
		Now: func() time.Time { return h.now }, Warn: func(err error) { h.warned = append(h.warned, err.Error()) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return l
}

func (h *home) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// TestLive: a change of either file is seen by the next who asks, and one that is wrong
// changes nothing and is told of once.
func TestLive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	l := h.live()
	upload := func(want bool) {
		t.Helper()
		if got := l.Get().Config.Lens.AllowUpload; got != want {
			t.Errorf("allow_upload is %v", got)
		}
	}
	upload(false)
	h.write(h.user, "lens: {allow_upload: true}")
	upload(true)
	h.write(h.workspace, "lens: {allow_upload: false}")
	upload(false)
	h.write(h.user, "lens: {allow_upload: tru}")
	for range 3 {
		upload(false)
	}
	h.write(h.workspace, "# nothing\n") // the user's file is still wrong
	upload(false)
	if len(h.warned) != 1 || !strings.Contains(h.warned[0], "user.yaml") || !strings.Contains(h.warned[0], "line 1") {
		t.Errorf("warned of %q", h.warned)
	}
	h.write(h.user, "lens: {allow_upload: true}")
	upload(true)
	h.write(h.user, "lens: {allow_upload: tru}")
	upload(true)
	if len(h.warned) != 2 {
		t.Errorf("what is wrong again is not told: %q", h.warned)
	}
	if err := os.Remove(h.user); err != nil {
		t.Fatal(err)
	}
	upload(false)
}

// TestLiveWhileAFileIsWritten: a file that was emptied just now is about to be written, and
// no setting of it, strictLocalOnly the least, is off in between; one that stays empty says
// nothing any more.
func TestLiveWhileAFileIsWritten(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*home) string{
		"user": func(h *home) string { return h.user }, "workspace": func(h *home) string { return h.workspace },
	} {
		h := newHome(t)
		h.write(path(h), "lens: {strictLocalOnly: true}")
		l := h.live()
		strict := func(want bool) {
			t.Helper()
			if got := l.Get().Config.Lens.StrictLocalOnly; got != want {
				t.Errorf("%s: strictLocalOnly is %v", name, got)
			}
		}
		strict(true)
		for _, text := range []string{"", " \n"} {
			h.write(path(h), text)
			strict(true)
		}
		h.write(path(h), "lens: {strictLocalOnly: tru}")
		strict(true)
		h.write(path(h), "lens: {strictLocalOnly: false}")
		strict(false)
		h.write(path(h), "lens: {strictLocalOnly: true}")
		strict(true)
		h.write(path(h), "")
		strict(true)
		h.now = h.now.Add(time.Minute)
		strict(false)
	}
}

// TestLiveSeesWhatLooksTheSame: same length, same time, other text, written just now.
func TestLiveSeesWhatLooksTheSame(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, "lens: {cooldownMs: 1000}")
	for _, path := range []string{h.user} {
		if err := os.Chtimes(path, h.now, h.now); err != nil {
			t.Fatal(err)
		}
	}
	l := h.live()
	h.write(h.user, "lens: {cooldownMs: 2000}")
	if err := os.Chtimes(h.user, h.now, h.now); err != nil {
		t.Fatal(err)
	}
	if got := l.Get().Config.Lens.CooldownMs; got != 2000 {
		t.Errorf("cooldownMs is %d", got)
	}
	// A file put in another's place with that one's size and time is another file.
	h.now = h.now.Add(time.Hour)
	l.Get()
	info, err := os.Stat(h.user)
	if err != nil {
		t.Fatal(err)
	}
	next := h.user + ".next"
	h.write(next, "lens: {cooldownMs: 3000}")
	if err := errors.Join(os.Chtimes(next, info.ModTime(), info.ModTime()), os.Rename(next, h.user)); err != nil {
		t.Fatal(err)
	}
	if got := l.Get().Config.Lens.CooldownMs; got != 3000 {
		t.Errorf("cooldownMs is %d", got)
	}
}

// TestLiveRestsWhenNothingChanges: an old file is looked at and not read.
func TestLiveRestsWhenNothingChanges(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, "lens: {cooldownMs: 1000}")
	l := h.live()
	h.now = h.now.Add(time.Minute)
	l.Get()
	before := h.reads
	for range 100 {
		l.Get()
	}
	if h.reads != before {
		t.Errorf("%d reads of files that nobody changed", h.reads-before)
	}
}

// TestLiveUnreadable: what cannot be read is told of once, and followed once it can be.
func TestLiveUnreadable(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, "lens: {allow_upload: true}")
	l := h.live()
	if err := errors.Join(os.Remove(h.user), os.Mkdir(h.user, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !l.Get().Config.Lens.AllowUpload {
			t.Error("what cannot be read changed something")
		}
	}
	if len(h.warned) != 1 {
		t.Errorf("warned of %q", h.warned)
	}
	if err := os.Remove(h.user); err != nil {
		t.Fatal(err)
	}
	h.write(h.user, "lens: {allow_upload: false}")
	if l.Get().Config.Lens.AllowUpload {
		t.Error("the file is not followed")
	}
}

func TestLiveIsRightAtFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, "lenses: {}")
	if _, err := NewLive(LiveOptions{User: h.read(h.user), Workspace: h.read(h.workspace)}); err == nil {
		t.Error("a wrong file is no beginning")
	}
}

// TestLiveUnderChange: while files are replaced, everyone who asks gets one that was
// whole, and in the end the last.
func TestLiveUnderChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, "lens: {cooldownMs: 0, budget: {bytes_per_call: 0}}")
	l := h.live()
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				c := l.Get().Config.Lens
				if n := c.Budget.BytesPerCall.Whole(); n == nil || *n != c.CooldownMs {
					t.Errorf("cooldownMs is %d and bytes_per_call %v", c.CooldownMs, c.Budget.BytesPerCall)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		h.write(h.user+".next", "lens: {cooldownMs: "+n+", budget: {bytes_per_call: "+n+"}}")
		if err := os.Rename(h.user+".next", h.user); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	if got := l.Get().Config.Lens.CooldownMs; got != 9 || len(h.warned) > 0 {
		t.Errorf("cooldownMs is %d, warned of %q", got, h.warned)
	}
}

func BenchmarkLive(b *testing.B) {
	h := &home{user: filepath.Join(b.TempDir(), "user.yaml"), now: time.Now().Add(time.Hour)}
	h.workspace = h.user + "2"
	if err := os.WriteFile(h.user, []byte(wholeLens), 0o600); err != nil {
		b.Fatal(err)
	}
	l, err := NewLive(LiveOptions{User: h.read(h.user), Workspace: h.read(h.workspace), Now: func() time.Time { return h.now }})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.Get()
	}
}

// TestEveryLensKeyIsLive: each key of lens and models, set as the command sets it, is
// what the next who asks gets.
func TestEveryLensKeyIsLive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.user, wholeLens)
	l := h.live()
	changed := map[string]string{
		"lens.models.image": "auto", "lens.models.audio": "here/local/vl", "lens.models.video": "", "lens.providers.openai.apiKey": "env:OTHER", "lens.providers.openai.baseUrl": "https://other.example.com/v1",
		"lens.asr.command": "other {input}", "lens.asr.endpoints": "[]", "models": "[{id: gpt-5, provider: openai, modalities: [text]}]",
		"lens.limits.video.reencode_bytes": "7", "lens.budget.bytes_per_call": "999", "lens.budget.bytes_per_day": "998", "lens.budget.cost_per_call": "0.5", "lens.budget.cost_per_day": "0.75",
	}
	for _, k := range Reference() {
		if !strings.HasPrefix(k.Name, "lens.") && k.Name != "models" || strings.Contains(k.Name, "[]") {
			continue
		}
		value, ok := changed[k.Name]
		switch {
		case ok:
		case k.Default == "false":
			value = "true"
			if before, err := At([]byte(wholeLens), k.Name); err == nil && string(before) == "true" {
				value = "false"
			}
		case strings.HasSuffix(k.Name, "overlap_seconds"):
			value = "3"
		case strings.HasPrefix(k.Name, "lens.limits.") || k.Name == "lens.cooldownMs":
			value = "4"
			if strings.Contains(k.Name, "segment") {
				value = "123"
			}
		default:
			value = "something-else"
		}
		text, err := Set([]byte(wholeLens), k.Name, value)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		if k.Name == "models" { // nobody may name what is gone
			if text, err = Set(text, "lens.models.image", "auto"); err != nil {
				t.Fatal(err)
			}
		}
		before := l.Get().Config
		h.write(h.user, string(text))
		if after := l.Get().Config; cmp.Equal(before.Lens, after.Lens) && cmp.Equal(before.Models, after.Models) {
			t.Errorf("%s: %q changes nothing; warned of %q", k.Name, value, h.warned)
		}
		h.write(h.user, wholeLens)
		if back := l.Get().Config; !cmp.Equal(before, back) {
			t.Errorf("%s: %s", k.Name, cmp.Diff(before, back))
		}
	}
	if len(h.warned) > 0 {
		t.Errorf("warned of %q", h.warned)
	}
}
