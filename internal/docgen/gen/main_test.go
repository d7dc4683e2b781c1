package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"cutroom/internal/testenv"
)

// What `make generate` would write has to be what is committed.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	root := testenv.Root(t)
	files, err := documents(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("only %d files are generated", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current; run `make generate` (%v)", name, err)
		}
	}
	pages, err := os.ReadDir(filepath.Join(root, reference, "tools"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if _, ok := files[reference+"tools/"+p.Name()]; !ok {
			t.Errorf("%stools/%s is of no tool; run `make generate`", reference, p.Name())
		}
	}
}
