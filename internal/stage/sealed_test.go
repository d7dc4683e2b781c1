package stage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

func sealedManifest(t testing.TB) (Manifest, []byte) {
	t.Helper()
	m := testManifest()
	if err := m.complete(testName("x"), []Artifact{{Path: "a", SHA256: cutroom.DigestOf(nil), MediaType: "text/plain"}}, time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	text, err := sealText(testKey, resultKind, &m)
	if err != nil {
		t.Fatal(err)
	}
	var read Manifest
	if err := unsealText(testKey, resultKind, text, &read); err != nil {
		t.Fatal(err)
	}
	return read, text
}

func TestSealedTextIsBoundToItsKind(t *testing.T) {
	t.Parallel()
	_, text := sealedManifest(t)
	var m Manifest
	if err := unsealText(testKey, "cutroom.other/1", text, &m); err == nil {
		t.Error("a record was taken for another kind")
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if err := unsealText(testKey, resultKind, changed, &m); err == nil {
			t.Fatalf("the record passes with byte %d changed: %s", i, changed)
		}
	}
}

// FuzzUnseal: whatever passes says what was sealed.
func FuzzUnseal(f *testing.F) {
	want, text := sealedManifest(f)
	f.Add(text)
	mac := `"mac":"` + want.MAC + `",`
	bare := strings.Replace(string(text), mac, "", 1)
	f.Add([]byte(bare))
	f.Add([]byte("{" + mac + bare[1:]))
	f.Add([]byte(strings.Replace(bare, `"output":{`, `"output":{`+mac, 1)))
	f.Add([]byte(strings.Replace(bare, `[`, `[`+strings.TrimSuffix(mac, ","), 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got Manifest
		if unsealText(testKey, resultKind, b, &got) != nil {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", b, diff)
		}
	})
}

func TestNumbersThatCanonicalFormWouldChange(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for text, ok := range map[string]bool{
		`{"n":9007199254740992}`: true, `{"n":-9007199254740991,"f":0.1,"e":1e300}`: true,
		`{"n":9007199254740993}`: false, `[-18014398509481985]`: false, `{"n":1`: false, `{"a":1,"a":2}`: false,
	} {
		lock, err := s.Acquire(t.Context(), testName(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Begin(t.Context(), lock)
		if err != nil {
			t.Fatal(err)
		}
		m := testManifest()
		m.Output = json.RawMessage(text)
		if _, err = b.Seal(t.Context(), m, nil); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		b.Discard()
		lock.Release()
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	good := testName("x")
	for _, n := range []Name{
		{},
		{Source: good.Source, Tool: good.Tool},
		{Source: good.Source, Tool: "../x", Invocation: good.Invocation},
		{Source: good.Source, Tool: ".lock", Invocation: good.Invocation},
		{Source: good.Source, Tool: "a/b", Invocation: good.Invocation},
		{Source: "../../../../../../x", Tool: good.Tool, Invocation: good.Invocation},
	} {
		if _, err := s.Lookup(t.Context(), n); err == nil {
			t.Errorf("%+v was looked up", n)
		}
		if _, err := s.Acquire(t.Context(), n); err == nil {
			t.Errorf("%+v was locked", n)
		}
	}
	for p, ok := range map[string]bool{
		"a": true, "a/b/c.jpg": true, "é 日.png": true, "x/result.json": true,
		"": false, ".": false, "..": false, "a/../b": false, "/a": false, "a//b": false, "a/": false, ".hidden": false, "a/.b": false,
		"result.json": false, "reviewed.json": false, "a\\b": false, "a\x00": false, "\xff": false, strings.Repeat("a", 1025): false,
	} {
		if artifactPath(p) != ok {
			t.Errorf("artifactPath(%q) = %t", p, !ok)
		}
	}
}

// TestAnotherWriter meets a writer in the build's folder between the hashing and
// the last look.
func TestAnotherWriter(t *testing.T) {
	t.Parallel()
	for what, interfere := range map[string]func(dir string) error{
		"changed":   func(d string) error { return os.WriteFile(filepath.Join(d, "x/a"), []byte("eno"), 0o600) },
		"added":     func(d string) error { return os.WriteFile(filepath.Join(d, "x/b"), nil, 0o600) },
		"removed":   func(d string) error { return os.Remove(filepath.Join(d, "x/a")) },
		"linked":    func(d string) error { return os.Link(filepath.Join(d, "x/a"), filepath.Join(d, "../x")) },
		"exchanged": func(d string) error { return os.Rename(filepath.Join(d, resultFile), filepath.Join(d, "x/a")) },
		"moved away": func(d string) error {
			if err := os.Rename(d, d+".away"); err != nil {
				return err
			}
			return os.CopyFS(d, os.DirFS(d+".away"))
		},
	} {
		t.Run(what, func(t *testing.T) {
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
			if err := b.Put("x/a", []byte("one")); err != nil {
				t.Fatal(err)
			}
			kept, err := b.collect(t.Context(), []Keep{{Path: "x/a"}})
			if err != nil {
				t.Fatal(err)
			}
			m := testManifest()
			if err := m.complete(lock.Name(), kept.artifacts, later()); err != nil {
				t.Fatal(err)
			}
			if err := b.write(&m, kept); err != nil {
				t.Fatal(err)
			}
			if err := interfere(b.Dir()); err != nil {
				t.Fatal(err)
			}
			trees := tree(kept.paths())
			trees["."] = append(trees["."], resultFile)
			wantCode(t, b.recheck(trees, kept), cutroom.Conflict)
		})
	}
}

// TestThingsInTheWay puts what is no file of ours where the stage keeps its own.
func TestThingsInTheWay(t *testing.T) {
	t.Parallel()
	name := testName("x")
	for _, p := range []string{lockFolder, buildingFolder, lockFolder + "/" + name.Invocation.Short()} {
		for what, put := range map[string]func(string) error{
			"folder": func(p string) error { return os.MkdirAll(p, 0o700) },
			"file":   func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) },
			"link":   func(p string) error { return os.Symlink(os.TempDir(), p) },
		} {
			s := newStage(t)
			at := filepath.Join(s.workspace, s.rel, p)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := put(at); err != nil {
				t.Fatal(err)
			}
			_, err := tryBuild(t.Context(), s, name, testFiles)
			harmless := what == "folder" && !strings.Contains(p, "/") || what == "file" && strings.Contains(p, "/")
			if harmless {
				if err != nil {
					t.Errorf("%s as %s: %v", p, what, err)
				}
				continue
			}
			wantCode(t, err, cutroom.Denied, ".cutroom/stage/.")
		}
	}
}

func TestMACStandsInCanonicalOrder(t *testing.T) {
	t.Parallel()
	for bare, want := range map[string]string{
		`{}`:                        `{"mac":"M"}`,
		`{"a":1}`:                   `{"a":1,"mac":"M"}`,
		`{"z":1}`:                   `{"mac":"M","z":1}`,
		`{"a":{"z":[1]},"n":"\"m"}`: `{"a":{"z":[1]},"mac":"M","n":"\"m"}`,
	} {
		got, err := withMAC([]byte(bare), "M")
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, %v", bare, got, err)
		}
	}
	if _, err := withMAC([]byte(`[1]`), "M"); err == nil {
		t.Error("an array was sealed")
	}
}

// TestStageRemoved is `rm -rf .cutroom` in the middle of a build.
func TestStageRemoved(t *testing.T) {
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
	if err := os.RemoveAll(filepath.Join(s.workspace, ".cutroom")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Put("a", nil), cutroom.Conflict, ".cutroom/stage")
	_, err = b.Seal(t.Context(), testManifest(), nil)
	wantCode(t, err, cutroom.Conflict)
	build(t, s, testName("x"))
}
