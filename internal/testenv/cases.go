package testenv

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// minCases is how many inputs make.sh has to leave behind; fewer means that a
// program it calls is broken.
const minCases = 40

// Real returns the folder of real media files, and skips the test where the
// repository stands alone.
func Real(t testing.TB) string {
	t.Helper()
	return filepath.Join(Shared(t), "cases", "real")
}

// Cases returns a folder with the generated inputs of ../shared/cases/make.sh, and
// skips the test where the repository stands alone. They are built once per version
// of the script and kept in the user's cache folder: read them, never change them.
func Cases(t testing.TB) string {
	t.Helper()
	script := filepath.Join(Shared(t), "cases", "make.sh")
	Needs(t, "bash", "ffmpeg", "sox", "python3")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(cacheDir(t), "cases-"+hex.EncodeToString(sum[:6]))
	unlock := lock(t, dir+".lock")
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	buildCases(t, script, dir)
	return dir
}

// buildCases builds beside dir and renames, so that a killed build leaves nothing
// under the final name.
func buildCases(t testing.TB, script, dir string) {
	t.Helper()
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	Run(t, "", "bash", script, tmp)
	made, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) < minCases {
		t.Fatalf("make.sh left %d inputs, not at least %d", len(made), minCases)
	}
	if err := os.Rename(tmp, dir); err != nil {
		t.Fatal(err)
	}
}

func cacheDir(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil { // no HOME: a folder that lasts as long as the machine is up
		base = os.TempDir()
	}
	dir := filepath.Join(base, "cutroom-test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
