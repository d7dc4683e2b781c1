// Package testenv is what tests share: where the repository, the models and the
// test inputs are, and whether a program that a test needs is installed.
//
// It promises that something missing fails the test and says how to install it; two
// things may skip a test: the absence of the folder of real media beside the
// repository, and a machine on which the programs of others cannot be installed. Only test files, and packages made for them, may import it; it
// must never know a part that it helps to test.
package testenv

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Soak reports whether the long versions of tests were asked for
// (CUTROOM_SOAK=1, what `make soak` sets).
func Soak() bool { return os.Getenv("CUTROOM_SOAK") == "1" }

// Root returns the absolute path of the repository: the nearest folder at or above
// the test's own that holds go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod at or above the test's folder")
		}
		dir = up
	}
}

// Shared returns the folder of real media and reference texts beside the
// repository, and skips the test where there is none.
func Shared(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(Root(t)), "shared")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skip("../shared is not here: its real media files are not part of the repository")
	}
	return dir
}

// Needs fails the test when one of programs is not on PATH.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	var missing []string
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		t.Fatalf("not installed: %s; run scripts/setup.sh --test", strings.Join(missing, ", "))
	}
}

// FFmpeg runs ffmpeg in the foreground to make a test input, quietly and
// overwriting, and fails the test with what it printed.
func FFmpeg(t testing.TB, args ...string) {
	t.Helper()
	Needs(t, "ffmpeg")
	Run(t, "", "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
}

// Run runs a program in dir ("" is the test's folder) and returns its standard
// output. Any exit code but 0 fails the test.
func Run(t testing.TB, dir, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, complaints.Bytes())
	}
	return out.Bytes()
}
