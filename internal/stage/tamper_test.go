package stage

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"cutroom"
)

// TestTamper changes a recorded result in every way a writer without the key can.
func TestTamper(t *testing.T) {
	t.Parallel()
	other := func(r *Result) string { return on(r, "..") + "/" + testName("y").Invocation.Short() }
	for what, tamper := range map[string]func(*Result) error{
		"artifact changed, same size": func(r *Result) error { return os.WriteFile(on(r, "frames/1.jpg"), []byte("eno"), 0o600) },
		"artifact longer":             func(r *Result) error { return os.WriteFile(on(r, "a.txt"), []byte("alpha\r\n\n"), 0o600) },
		"artifact missing":            func(r *Result) error { return os.Remove(on(r, "a.txt")) },
		"artifact is a link": func(r *Result) error {
			if err := os.Rename(on(r, "a.txt"), on(r, "../copy")); err != nil {
				return err
			}
			return os.Symlink("../copy", on(r, "a.txt"))
		},
		"artifact's folder is a link": func(r *Result) error {
			if err := os.Rename(on(r, "frames"), on(r, "../frames")); err != nil {
				return err
			}
			return os.Symlink("../frames", on(r, "frames"))
		},
		"file added":           func(r *Result) error { return os.WriteFile(on(r, "added"), nil, 0o600) },
		"hidden file added":    func(r *Result) error { return os.WriteFile(on(r, "frames/deep/.added"), nil, 0o600) },
		"folder added":         func(r *Result) error { return os.Mkdir(on(r, "added"), 0o700) },
		"record missing":       func(r *Result) error { return os.Remove(on(r, resultFile)) },
		"record empty":         func(r *Result) error { return os.WriteFile(on(r, resultFile), nil, 0o600) },
		"record changed":       func(r *Result) error { return edit(r, "clip.mp4", "clap.mp4") },
		"record with space":    func(r *Result) error { return edit(r, "{", "{ ") },
		"record without a MAC": func(r *Result) error { return edit(r, `"mac":"`+r.Manifest.MAC+`",`, "") },
		"record's MAC moved":   func(r *Result) error { return edit(r, `"mac":"x"`, `"mac":"`+r.Manifest.MAC+`"`) },
		"record with unknown":  func(r *Result) error { return edit(r, `{"artifacts"`, `{"added":1,"artifacts"`) },
		"record twice":         func(r *Result) error { return edit(r, `"tool":`, `"tool":"x","tool":`) },
		"record is a link": func(r *Result) error {
			if err := os.Rename(on(r, resultFile), on(r, "../r.json")); err != nil {
				return err
			}
			return os.Symlink("../r.json", on(r, resultFile))
		},
		"consistent forgery": func(r *Result) error {
			if err := os.WriteFile(on(r, "frames/1.jpg"), []byte("eno"), 0o600); err != nil {
				return err
			}
			return edit(r, string(cutroom.DigestOf([]byte("one"))), string(cutroom.DigestOf([]byte("eno"))))
		},
		"forgery under another key": func(r *Result) error {
			m := r.Manifest
			text, err := sealText(bytes.Repeat([]byte("e"), keySize), resultKind, &m)
			if err != nil {
				return err
			}
			return os.WriteFile(on(r, resultFile), text, 0o600)
		},
		"review forged": func(r *Result) error { return os.WriteFile(on(r, reviewedFile), []byte(`{}`), 0o600) },
		"folders exchanged": func(r *Result) error {
			if err := os.Rename(on(r, "."), on(r, "..")+"/t"); err != nil {
				return err
			}
			if err := os.Rename(other(r), on(r, ".")); err != nil {
				return err
			}
			return os.Rename(on(r, "..")+"/t", other(r))
		},
		"folder is a link": func(r *Result) error {
			if err := os.Rename(on(r, "."), on(r, "..")+"/t"); err != nil {
				return err
			}
			return os.Symlink("t", on(r, "."))
		},
		"tool's folder is a link": func(r *Result) error {
			if err := os.Rename(on(r, ".."), on(r, "../..")+"/t"); err != nil {
				return err
			}
			return os.Symlink("t", on(r, ".."))
		},
		"folder is a file": func(r *Result) error {
			if err := os.RemoveAll(on(r, ".")); err != nil {
				return err
			}
			return os.WriteFile(on(r, "."), nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(o *Options) { o.Cache = NewIdentityCache(t.TempDir(), nil) })
			name := testName("x")
			same := testName("y")
			same.Source = name.Source
			r := build(t, s, name)
			build(t, s, same)
			if _, err := s.Lookup(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if err := tamper(r); err != nil {
				t.Fatal(err)
			}
			_, err := s.Lookup(t.Context(), name)
			wantCode(t, err, cutroom.Conflict, r.Folder(), "cutroom prune --invalid")
			if strings.Contains(err.Error(), s.workspace) {
				t.Errorf("%q names a path outside the workspace", err)
			}
			// The way out that the hint names.
			rep, err := s.Prune(t.Context(), PruneOptions{Invalid: true})
			if err != nil || len(rep.Rejected) == 0 {
				t.Fatalf("prune: %+v %v", rep, err)
			}
			if _, err := s.Lookup(t.Context(), name); err != nil {
				t.Fatalf("after the prune: %v", err)
			}
			if _, err := tryBuild(t.Context(), s, name, testFiles); err != nil {
				t.Fatalf("building anew: %v", err)
			}
		})
	}
}

// edit replaces text in the record of r; it must occur.
func edit(r *Result, old, new string) error {
	b, err := os.ReadFile(on(r, resultFile))
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte(old)) {
		return errors.New("the record does not hold " + old)
	}
	return os.WriteFile(on(r, resultFile), bytes.Replace(b, []byte(old), []byte(new), 1), 0o600)
}

func TestOpenRefusesAnArtifactChangedAfterLookup(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := build(t, s, testName("x"))
	if err := os.WriteFile(on(r, "a.txt"), []byte("ALPHA\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := r.Open(t.Context(), "a.txt")
	wantCode(t, err, cutroom.Conflict, "a.txt")
	_, err = r.Open(t.Context(), "../../x")
	wantCode(t, err, cutroom.NotFound)
}
