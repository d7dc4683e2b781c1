package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

var testKey = bytes.Repeat([]byte("k"), keySize)

// newStage opens a stage in a fresh workspace.
func newStage(t testing.TB, change ...func(*Options)) *Stage {
	t.Helper()
	return openStage(t, filepath.Join(t.TempDir(), ".cutroom", "stage"), change...)
}

func openStage(t testing.TB, root string, change ...func(*Options)) *Stage {
	t.Helper()
	opt := Options{Key: testKey}
	for _, f := range change {
		f(&opt)
	}
	s, err := Open(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testName(seed string) Name {
	return Name{Source: cutroom.DigestOf([]byte("source " + seed)), Tool: "video.probe", Invocation: cutroom.DigestOf([]byte("invocation " + seed))}
}

// files of the result that make builds.
var testFiles = map[string]string{"a.txt": "alpha\r\n", "frames/1.jpg": "one", "frames/2.jpg": "", "frames/deep/3.jpg": "three "}

func testManifest() Manifest {
	at := 3 * cutroom.Second
	return Manifest{
		ContractVersion: "1.2.0", Revision: 1,
		Sources:   []Source{{Kind: cutroom.LocalFile, SHA256: cutroom.DigestOf([]byte("s")), Size: 1, Locator: "clip.mp4", Duration: &at}},
		Request:   json.RawMessage(`{"z":1,"a":[1.50,"é"]}`),
		Toolchain: map[string]Program{"ffprobe": {Fingerprint: cutroom.DigestOf([]byte("f")), Version: "ffprobe version 5.1.9"}},
		Output:    json.RawMessage(`{"mac":"x","text":"a \"mac\":\"b\" c"}`),
		Principal: cutroom.Agent,
	}
}

// build makes and seals a result of testFiles.
func build(t testing.TB, s *Stage, name Name) *Result {
	t.Helper()
	r, err := tryBuild(t.Context(), s, name, testFiles)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryBuild(ctx context.Context, s *Stage, name Name, files map[string]string) (*Result, error) {
	lock, err := s.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	b, err := s.Begin(ctx, lock)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	var keep []Keep
	for p, text := range files {
		if err := b.Put(p, []byte(text)); err != nil {
			return nil, err
		}
		keep = append(keep, Keep{Path: p, MediaType: "text/plain"})
	}
	return b.Seal(ctx, testManifest(), keep)
}

// on returns the file system path of p inside r.
func on(r *Result, p string) string {
	return filepath.Join(r.stage.workspace, filepath.FromSlash(r.Folder()), filepath.FromSlash(p))
}

func wantCode(t testing.TB, err error, code cutroom.Code, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	e, ok := errors.AsType[*cutroom.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("error %v (%+v), want code %s", err, e, code)
	}
	for _, p := range parts {
		if !strings.Contains(e.Error(), p) {
			t.Errorf("error %q does not say %q", e, p)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := testName("x")
	if r, err := s.Lookup(t.Context(), name); r != nil || err != nil {
		t.Fatalf("empty stage answers %v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(s.workspace, ".cutroom")); !os.IsNotExist(err) {
		t.Fatal("looking made the root")
	}
	made := build(t, s, name)
	got, err := s.Lookup(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made.Manifest, got.Manifest); diff != "" {
		t.Errorf("what Seal answered and what Lookup answers differ:\n%s", diff)
	}
	if got.Manifest.Sources[0].Duration.String() != "3" || got.Manifest.Toolchain["ffprobe"].Version == "" {
		t.Errorf("manifest lost fields: %+v", got.Manifest)
	}
	for p, text := range testFiles {
		f, err := got.Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(on(got, p))
		if string(b) != text {
			t.Errorf("%s holds %q, want %q", p, b, text)
		}
		f.Close()
		a, _ := got.Artifact(p)
		if a.SHA256 != cutroom.DigestOf([]byte(text)) || a.Size != int64(len(text)) {
			t.Errorf("%s is recorded as %+v", p, a)
		}
	}
	for _, ref := range got.Refs() {
		if !strings.HasPrefix(ref.RelativePath, ".cutroom/stage/") {
			t.Errorf("ref %q is not relative to the workspace", ref.RelativePath)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := build(t, s, testName("x"))
	if b, err := os.ReadFile(filepath.Join(s.workspace, ".cutroom", ".gitignore")); string(b) != "*\n" || err != nil {
		t.Errorf(".gitignore holds %q, %v", b, err)
	}
	for _, p := range []string{".cutroom", ".cutroom/stage", r.Folder(), r.Folder() + "/frames"} {
		st, err := os.Stat(filepath.Join(s.workspace, p))
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", p, st.Mode(), err)
		}
	}
	for _, p := range []string{buildingFolder, lockFolder} {
		left, err := os.ReadDir(filepath.Join(s.workspace, s.rel, p))
		if err != nil || len(left) != 0 {
			t.Errorf("%s still holds %v, %v", p, left, err)
		}
	}
	text, err := os.ReadFile(on(r, resultFile))
	if err != nil {
		t.Fatal(err)
	}
	again, err := canonical(json.RawMessage(text))
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("result.json is not canonical JSON: %s %v", text, err)
	}
}

func TestSealKeepsOnlyWhatIsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	lock, err := s.Acquire(t.Context(), testName("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	b, err := s.Begin(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	for _, p := range []string{"keep/a", "keep/temp", "other/deep/temp", "log"} {
		if err := b.Put(p, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	r, err := b.Seal(t.Context(), testManifest(), []Keep{{Path: "keep/a", MediaType: "text/plain"}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	filepath.WalkDir(on(r, "."), func(p string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			rel, _ := filepath.Rel(on(r, "."), p)
			found = append(found, rel)
		}
		return nil
	})
	if diff := cmp.Diff([]string{"keep/a", "result.json"}, found); diff != "" {
		t.Error(diff)
	}
	if b, _ := os.ReadFile(outside); string(b) != "precious" {
		t.Error("a file outside was touched through a link")
	}
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make func(dir string) error
		keep string
		code cutroom.Code
	}{
		"missing":   {func(string) error { return nil }, "a", cutroom.Verification},
		"link":      {func(d string) error { return os.Symlink(precious, filepath.Join(d, "a")) }, "a", cutroom.Verification},
		"hard link": {func(d string) error { return os.Link(precious, filepath.Join(d, "a")) }, "a", cutroom.Verification},
		"folder":    {func(d string) error { return os.Mkdir(filepath.Join(d, "a"), 0o700) }, "a", cutroom.Verification},
		"link on the way": {func(d string) error {
			return os.Symlink(filepath.Dir(precious), filepath.Join(d, "a"))
		}, "a/precious", cutroom.Verification},
		"escape":     {func(string) error { return nil }, "../a", cutroom.Verification},
		"absolute":   {func(string) error { return nil }, precious, cutroom.Verification},
		"our record": {func(d string) error { return os.WriteFile(filepath.Join(d, "result.json"), nil, 0o600) }, "result.json", cutroom.Verification},
		"folder exchanged": {func(d string) error {
			if err := os.Rename(d, d+".away"); err != nil {
				return err
			}
			return os.Mkdir(d, 0o700)
		}, "a", cutroom.Conflict},
		"call's lock gone": {func(d string) error {
			return os.Remove(filepath.Join(filepath.Dir(filepath.Dir(d)), lockFolder, testName("x").Invocation.Short()))
		}, "", cutroom.Conflict},
		"locks gone": {func(d string) error {
			return os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(d)), lockFolder))
		}, "", cutroom.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			lock, err := s.Acquire(t.Context(), testName("x"))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Release()
			b, err := s.Begin(t.Context(), lock)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Discard()
			if err := c.make(b.Dir()); err != nil {
				t.Fatal(err)
			}
			var keep []Keep
			if c.keep != "" {
				keep = []Keep{{Path: c.keep}}
			}
			_, err = b.Seal(t.Context(), testManifest(), keep)
			wantCode(t, err, c.code)
			if r, err := s.Lookup(t.Context(), testName("x")); r != nil || err != nil {
				t.Errorf("a refused result is visible: %v %v", r, err)
			}
		})
	}
}

func TestForeignFolderInPlaceIsConflict(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := testName("x")
	lock, err := s.Acquire(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	b, err := s.Begin(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	foreign := filepath.Join(s.workspace, s.rel, filepath.FromSlash(name.folder()))
	if err := os.MkdirAll(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = b.Seal(t.Context(), testManifest(), nil)
	wantCode(t, err, cutroom.Conflict, name.folder())
}

func TestHostileWorkspaceNames(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"with space", `q"u'o`, "%d%s", "new\nline", "日本語 é", "-dash", `back\slash`, "$(x)`y`", ".cutroom-0123456789abcdef", strings.Repeat("l", 255)} {
		t.Run(w, func(t *testing.T) {
			t.Parallel()
			workspace := filepath.Join(t.TempDir(), w)
			if err := os.Mkdir(workspace, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, root := range []string{".cutroom/stage", "ops/staging/watch"} {
				s := openStage(t, filepath.Join(workspace, root), func(o *Options) { o.Workspace = workspace })
				r := build(t, s, testName("x"))
				if !strings.HasPrefix(r.Folder(), root+"/") {
					t.Errorf("folder %q", r.Folder())
				}
				if _, err := s.Lookup(t.Context(), testName("x")); err != nil {
					t.Error(err)
				}
				f, err := r.Open(t.Context(), "a.txt")
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := s.Publish(t.Context(), f, cutroom.DigestOf([]byte(testFiles["a.txt"])), workspace, "out of "+filepath.Base(root), Replace{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRootThroughALinkIsDenied(t *testing.T) {
	t.Parallel()
	workspace, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(workspace, ".cutroom")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(workspace, ".cutroom/stage"), Options{Key: testKey})
	wantCode(t, err, cutroom.Denied, ".cutroom/stage")
	late := openStage(t, filepath.Join(t.TempDir(), "ops/stage"))
	late.workspace, late.rel = workspace, ".cutroom/stage" // the link came after Open
	_, err = late.Acquire(t.Context(), testName("x"))
	wantCode(t, err, cutroom.Denied, ".cutroom/stage")
	if left, _ := os.ReadDir(elsewhere); len(left) != 0 {
		t.Errorf("something was written through the link: %v", left)
	}
	if _, err := Open(filepath.Join(workspace, "..", "x"), Options{Key: testKey, Workspace: workspace}); err == nil {
		t.Error("a root outside the workspace was taken")
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	lock, err := s.Acquire(t.Context(), testName("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Acquire(ctx, testName("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a lock ended with %v", err)
	}
}
