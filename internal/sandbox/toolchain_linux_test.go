//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

func TestToolchainIsSavedAndSealed(t *testing.T) {
	t.Parallel()
	pin, err := PinProgram("true", "/usr/bin/true", PinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pin.Seal("true 9.1", map[string][]string{"filters": {"scale"}})
	want, key := NewToolchain(pin), []byte("a key of the user")
	path := filepath.Join(t.TempDir(), "toolchain.json")
	if err := want.Save(path, key); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", st.Mode(), err)
	}
	got, err := LoadToolchain(path, key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := LoadToolchain(path, []byte("another key")); code(err) != cutroom.Denied {
		t.Errorf("another key: %v", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseToolchain(bytes.Replace(raw, []byte("/usr/bin/true"), []byte("/usr/bin/evil"), 1), key); code(err) != cutroom.Denied {
		t.Errorf("changed: %v", err)
	}
	if _, err := LoadToolchain(path+".not", key); code(err) != cutroom.MissingDependency {
		t.Errorf("absent: %v", err)
	}
	foreign := *want
	foreign.Arch = "pdp11"
	body, err := json.Marshal(foreign)
	if err != nil {
		t.Fatal(err)
	}
	raw, err = json.Marshal(sealed{MAC: macOf(key, body), Toolchain: body})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseToolchain(raw, key); code(err) != cutroom.MissingDependency {
		t.Errorf("another machine's: %v", err)
	}
}

func TestFingerprintFollowsContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pin := func(model string) Pin {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "m"), []byte(model), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := PinProgram("true", "/usr/bin/true", PinOptions{Data: map[string]string{"model": filepath.Join(dir, "m"), "all": dir}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b, again := pin("one"), pin("two"), pin("one")
	if a.Fingerprint == b.Fingerprint || a.Fingerprint != again.Fingerprint {
		t.Error("a model's content is not in the fingerprint")
	}
	if a.Folders["all"] != dir || a.Data["all/m"].SHA256 != cutroom.DigestOf([]byte("one")) {
		t.Errorf("%+v", a.Data)
	}
	one, two := NewToolchain(a), NewToolchain(b)
	if one.Fingerprint("true") == two.Fingerprint("true") || one.Fingerprint("x") != two.Fingerprint("x") || one.Fingerprint() != one.Fingerprint("true") {
		t.Error("the toolchain's fingerprint does not follow its pins")
	}
}

// TestObjectsAreWhatTheLoaderLoads compares our reading with what the loader itself
// does.
func TestObjectsAreWhatTheLoaderLoads(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"/usr/bin/ffmpeg", "/usr/bin/tesseract", "/usr/bin/true"} {
		out, err := exec.CommandContext(t.Context(), "ldd", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		got, err := sharedObjects(program)
		if err != nil {
			t.Fatal(err)
		}
		libs := regexp.MustCompile(`(/\S+) \(0x`).FindAllSubmatch(out, -1)
		if len(libs) == 0 {
			t.Errorf("ldd %s printed %s", program, out)
		}
		for _, m := range libs {
			real, err := filepath.EvalSymlinks(string(m[1]))
			if err != nil || !slices.Contains(got, real) {
				t.Errorf("%s loads %s, which is not pinned (%v)", program, real, err)
			}
		}
		if len(got) > len(libs)+10 {
			t.Errorf("%s: %d objects are pinned, %d are loaded", program, len(got), len(libs))
		}
	}
}

// copyOfTrue is a program that a test may change.
func copyOfTrue(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "true")
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAChangedProgramNeverStarts(t *testing.T) {
	t.Parallel()
	path := copyOfTrue(t)
	data := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(data, []byte("model"), 0o644); err != nil {
		t.Fatal(err)
	}
	pin, err := PinProgram("true", path, PinOptions{Data: map[string]string{"m": data}})
	if err != nil {
		t.Fatal(err)
	}
	box := newBox(t, func(o *Options) { o.Toolchain = NewToolchain(pin) })
	run := func() error {
		_, err := box.Run(t.Context(), argv.Command{Program: "true"}, Grant{Dir: t.TempDir()})
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	rewrite := func(file string, content []byte, mode os.FileMode) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, mode); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 1
	rewrite(path, bad, 0o755)
	if err := run(); code(err) != cutroom.MissingDependency || !strings.Contains(cutroom.AsError(err).Hint, "cutroom setup") || strings.Contains(cutroom.AsError(err).Msg, path) {
		t.Errorf("changed program: %v", err)
	}
	rewrite(path, good, 0o755)
	if err := run(); err != nil {
		t.Errorf("the same content under a new identity: %v", err)
	}
	rewrite(data, []byte("MODEL"), 0o644)
	if err := run(); code(err) != cutroom.MissingDependency {
		t.Errorf("changed model: %v", err)
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if err := run(); code(err) != cutroom.MissingDependency {
		t.Errorf("removed model: %v", err)
	}
}

// TestIdentityIsBelievedOnlyWhenSettled: a file changed within the clock tick of its
// hashing keeps its identity, so a young identity is read again.
func TestIdentityIsBelievedOnlyWhenSettled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := hashObject(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := o
	forged.SHA256 = cutroom.DigestOf([]byte("other"))
	forged.Hashed = o.Identity.Ctime + int64(settled) - 1
	if err := (&verifier{}).check("p", forged); code(err) != cutroom.MissingDependency {
		t.Errorf("a young identity was believed: %v", err)
	}
	forged.Hashed = o.Identity.Ctime + int64(3*time.Second)
	if err := (&verifier{}).check("p", forged); err != nil {
		t.Errorf("a settled identity was not believed: %v", err)
	}
}

func TestFindReturnsRealPrograms(t *testing.T) {
	t.Parallel()
	if got := Find("ffmpeg"); !slices.Contains(got, "/usr/bin/ffmpeg") {
		t.Errorf("ffmpeg: %v", got)
	}
	for _, name := range []string{"", "../bin/true", "no-such-program-here"} {
		if got := Find(name); got != nil {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestNewRefusesStrangePins(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{Toolchain: NewToolchain(Pin{Name: "sh", Path: "/bin/sh"})},
		{Toolchain: NewToolchain(Pin{Name: "speech", Path: "/bin/sh"})}, // one of our own children
		{Toolchain: NewToolchain(Pin{Name: "ffmpeg"})},                  // not ours
		{Tables: []argv.Table{argv.Plain("ffmpeg", nil, nil)}},
	} {
		if _, err := New(o); code(err) != cutroom.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzLoaderCache(f *testing.F) {
	raw, err := os.ReadFile(loaderCache)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw[:min(len(raw), 4096)])
	f.Add([]byte("glibc-ld.so.cache1.1\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, paths := range parseLoaderCache(raw) {
			if name == "" || len(paths) == 0 || !filepath.IsAbs(paths[0]) {
				t.Errorf("%q: %q", name, paths)
			}
		}
	})
}
