package testenv

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ModelFile is one line of scripts/models.lock.
type ModelFile struct {
	Path   string // relative to the folder of models, forward slashes
	SHA256 string
	Size   int64 // bytes
}

// ModelFiles returns the files that scripts/models.lock pins.
func ModelFiles(t testing.TB) []ModelFile {
	t.Helper()
	f, err := os.Open(filepath.Join(Root(t), "scripts", "models.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files []ModelFile
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || len(fields) < 4 {
			t.Fatalf("scripts/models.lock: %q is not a line of sha256, size, path, package", lines.Text())
		}
		files = append(files, ModelFile{Path: fields[2], SHA256: fields[0], Size: size})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("scripts/models.lock pins nothing")
	}
	return files
}

// Models returns the folder of models: $CUTROOM_MODELS, else cutroom/models in the
// user's data folder (XDG Base Directory). It fails the test when a pinned file is
// absent or has another size; hashing them is the installer's work.
func Models(t testing.TB) string {
	t.Helper()
	dir := modelsDir(t)
	for _, f := range ModelFiles(t) {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		switch {
		case err != nil:
			t.Fatalf("model not installed: %v; run scripts/models.sh", err)
		case info.Size() != f.Size:
			t.Fatalf("model %s has %d bytes, not %d; run scripts/models.sh", f.Path, info.Size(), f.Size)
		}
	}
	return dir
}

func modelsDir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("CUTROOM_MODELS"); dir != "" {
		return dir
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // the specification says to ignore a relative one
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "cutroom", "models")
}
