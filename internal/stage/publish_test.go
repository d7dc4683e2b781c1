//go:build unix

package stage

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cutroom"
)

// artifact returns an open file to publish and its digest.
func artifact(t testing.TB, text string) (*os.File, cutroom.Digest) {
	t.Helper()
	return openFile(t, write(t, filepath.Join(t.TempDir(), "artifact"), text)), cutroom.DigestOf([]byte(text))
}

// standing is what a caller may replace that was allowed to replace what stands there now.
func standing(path string) Replace {
	r := Replace{Asked: true}
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		r.Identity, _ = IdentityOf(f)
	}
	return r
}

// TestPublishReplacesOnlyWhatStoodThere: what appeared or changed since it was allowed to
// be replaced stays, and a file that was taken away is no hindrance.
func TestPublishReplacesOnlyWhatStoodThere(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before, now string // content; "" for no file
		another     bool   // now is a file of its own, otherwise written in place
		digest      bool   // the content was asked for
		code        cutroom.Code
	}{
		"nothing then, nothing now": {},
		"appeared":                  {now: "new", another: true, code: cutroom.Conflict},
		"the same":                  {before: "old", now: "old", code: ""},
		"gone":                      {before: "old"},
		"moved there":               {before: "old", now: "new", another: true, code: cutroom.Conflict},
		"moved there, alike":        {before: "old", now: "old", another: true, code: cutroom.Conflict},
		"written in place":          {before: "old", now: "new", code: cutroom.Conflict},
		"by content: alike":         {before: "old", now: "old", another: true, digest: true},
		"by content: written":       {before: "old", now: "new", digest: true, code: cutroom.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			root := t.TempDir()
			path := filepath.Join(root, "out")
			if row.before != "" {
				write(t, path, row.before)
			}
			over := standing(path)
			if row.digest {
				over.Digest = cutroom.DigestOf([]byte(row.before))
			}
			switch {
			case row.now == "":
				_ = os.Remove(path)
			case row.another:
				if err := os.Rename(write(t, filepath.Join(root, "other"), row.now), path); err != nil {
					t.Fatal(err)
				}
			case row.now != row.before:
				write(t, path, row.now)
			}
			f, want := artifact(t, "result")
			err := s.Publish(t.Context(), f, want, root, "out", over)
			if row.code != "" {
				wantCode(t, err, row.code)
			} else if err != nil {
				t.Error(err)
			}
			expect := "result"
			if row.code != "" {
				expect = row.now
			}
			if b, _ := os.ReadFile(path); string(b) != expect {
				t.Errorf("there stands %q", b)
			}
			noPrivateFiles(t, root)
		})
	}
}

// TestSwapPutsBack: a file that takes the place in the last moment is put back, whole.
func TestSwapPutsBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := t.TempDir()
	path := filepath.Join(root, "out")
	var lost atomic.Int64
	for n := range 200 {
		write(t, path, "old")
		over := standing(path)
		other := write(t, filepath.Join(root, "other"), "other "+strconv.Itoa(n))
		f, want := artifact(t, "result")
		var wg sync.WaitGroup
		wg.Go(func() { _ = os.Rename(other, path) })
		err := s.Publish(t.Context(), f, want, root, "out", over)
		wg.Wait()
		b, _ := os.ReadFile(path)
		switch {
		case err != nil && cutroom.AsError(err).Code != cutroom.Conflict:
			t.Fatal(err)
		case string(b) != "other "+strconv.Itoa(n): // it came first or last: it stays either way
			lost.Add(1)
			t.Errorf("there stands %q, %v", b, err)
		}
		noPrivateFiles(t, root)
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := inputs(t)
	f, want := artifact(t, "result")
	if _, err := f.Seek(3, 0); err != nil {
		t.Fatal(err)
	}
	for dest, code := range map[string]cutroom.Code{
		"out.mp4": "", "sub/out.mp4": "", filepath.Join(root, "sub/deep/out 日本\n.mp4"): "",
		"clip.mp4": cutroom.Conflict, "sub": cutroom.Conflict, "fifo": cutroom.Conflict,
		"link": cutroom.Denied, "dangling": cutroom.Denied, "link-folder/new": cutroom.Denied, "sub/link-deep/new": cutroom.Denied,
		"../new": cutroom.Denied, "/tmp/new": cutroom.Denied, "nowhere/new": cutroom.NotFound, "clip.mp4/new": cutroom.NotFound,
		".cutroom/new": cutroom.Denied, ".cutroom-x": cutroom.Denied, "": cutroom.Invalid, "new/": cutroom.Invalid,
	} {
		err := s.Publish(t.Context(), f, want, root, dest, Replace{})
		if code != "" {
			wantCode(t, err, code)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", dest, err)
			continue
		}
		p := dest
		if !filepath.IsAbs(p) {
			p = filepath.Join(root, p)
		}
		b, err := os.ReadFile(p)
		if string(b) != "result" || err != nil {
			t.Errorf("%q holds %q, %v", dest, b, err)
		}
		// The same call again is done already, and leaves the file alone.
		st, _ := os.Stat(p)
		if err := s.Publish(t.Context(), f, want, root, dest, Replace{}); err != nil {
			t.Errorf("again: %v", err)
		}
		if again, _ := os.Stat(p); !os.SameFile(st, again) {
			t.Error("the second call wrote the file anew")
		}
	}
	if b, _ := os.ReadFile(filepath.Join(root, "clip.mp4")); string(b) != "clip.mp4" {
		t.Error("an existing file was changed")
	}
	noPrivateFiles(t, root)
}

func noPrivateFiles(t *testing.T, root string) {
	t.Helper()
	filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), privatePrefix) {
			t.Errorf("%s stayed", p)
		}
		return nil
	})
}

func TestPublishOverwrites(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := inputs(t)
	f, want := artifact(t, "result")
	old := openFile(t, filepath.Join(root, "clip.mp4"))
	if err := s.Publish(t.Context(), f, want, root, "clip.mp4", standing(filepath.Join(root, "clip.mp4"))); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(root, "clip.mp4")); string(b) != "result" {
		t.Errorf("it holds %q", b)
	}
	b := make([]byte, 20)
	if n, _ := old.Read(b); string(b[:n]) != "clip.mp4" {
		t.Errorf("a reader of the old file now reads %q", b[:n])
	}
	for dest, code := range map[string]cutroom.Code{"sub": cutroom.Conflict, "fifo": cutroom.Conflict, "link": cutroom.Denied} {
		wantCode(t, s.Publish(t.Context(), f, want, root, dest, Replace{Asked: true}), code)
	}
	noPrivateFiles(t, root)
}

// TestPublishRace lets many callers publish different content to one path: one
// wins, and its content is whole.
func TestPublishRace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := t.TempDir()
	var wg sync.WaitGroup
	var won atomic.Int64
	for i := range 8 {
		text := strings.Repeat(string(rune('a'+i)), 100_000)
		f, want := artifact(t, text)
		wg.Go(func() {
			err := s.Publish(t.Context(), f, want, root, "out", Replace{})
			if err == nil {
				won.Add(1)
			} else if cutroom.AsError(err).Code != cutroom.Conflict {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, _ := os.ReadFile(filepath.Join(root, "out"))
	if won.Load() != 1 || len(b) != 100_000 || strings.Trim(string(b), string(b[0])) != "" {
		t.Errorf("%d callers won, the file has %d bytes", won.Load(), len(b))
	}
	noPrivateFiles(t, root)
	if left, err := s.Pending(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("a live private file was swept: %+v %v", left, err)
	}
}

// TestPublishSweepsACrash: a private file that nobody holds is set aside.
func TestPublishSweepsACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	half := write(t, filepath.Join(s.workspace, privatePrefix+"0123456789abcdef"), "half")
	users := write(t, filepath.Join(s.workspace, privatePrefix+"notes"), "the user's own")
	f, want := artifact(t, "result")
	if err := s.Publish(t.Context(), f, want, s.workspace, "out", Replace{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the leftover stays: %v", err)
	}
	if _, err := os.Stat(users); err != nil {
		t.Errorf("a file that is not ours was taken: %v", err)
	}
	left, err := s.Pending(t.Context())
	if err != nil || len(left) != 1 || left[0].Bytes != 4 || !left[0].Recorded {
		t.Fatalf("%+v %v", left, err)
	}
}

// TestSettleWithoutRename walks the fall-backs for file systems that cannot rename
// without replacing.
func TestSettleWithoutRename(t *testing.T) {
	t.Parallel()
	d, err := openRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, name := range []string{"new", "new"} {
		temp, private, err := privateFile(d)
		if err != nil {
			t.Fatal(err)
		}
		defer temp.Close()
		if _, err := temp.WriteString("whole"); err != nil {
			t.Fatal(err)
		}
		err = copyTo(t.Context(), temp, d, private, name)
		if b, _ := os.ReadFile(filepath.Join(d.f.Name(), name)); string(b) != "whole" {
			t.Errorf("it holds %q (%v)", b, err)
		}
		if err != nil && !os.IsExist(err) {
			t.Error(err)
		}
	}
}

// What was published is withdrawn as long as it is that; anything else stays.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := inputs(t)
	f, want := artifact(t, "result")
	for name, row := range map[string]struct {
		now  string // what stands there then; "" for what was published
		code cutroom.Code
	}{"as it was": {}, "written by another": {"mine", cutroom.Conflict}} {
		dest := "sub/" + name
		if err := s.Publish(t.Context(), f, want, root, dest, Replace{}); err != nil {
			t.Fatal(err)
		}
		if row.now != "" {
			write(t, filepath.Join(root, dest), row.now)
		}
		err := s.Withdraw(t.Context(), root, dest, want)
		if row.code != "" {
			wantCode(t, err, row.code)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(root, dest)); (err == nil) != (row.code != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for dest, code := range map[string]cutroom.Code{"nothing": "", "link": cutroom.Denied, "sub/link-deep/x": cutroom.Denied, "../x": cutroom.Denied, ".cutroom/x": cutroom.Denied, "fifo": cutroom.Conflict} {
		if err := s.Withdraw(t.Context(), root, dest, want); code != "" {
			wantCode(t, err, code)
		} else if err != nil {
			t.Errorf("%s: %v", dest, err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "bare"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dest, stays := range map[string]bool{"bare": false, "sub": true, "clip.mp4": true, "gone": false} {
		if err := s.DropFolder(root, dest); err != nil {
			t.Errorf("%s: %v", dest, err)
		}
		if _, err := os.Lstat(filepath.Join(root, dest)); (err == nil) != stays {
			t.Errorf("%s: %v", dest, err)
		}
	}
}
