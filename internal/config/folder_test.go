package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindWorkspace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		marks []string // files and, with a slash at the end, folders
		open  string   // a folder that everyone may write to
		dir   string
		want  string
	}{
		{"nothing marked", nil, "", "a/b", "a/b"},
		{"results above", []string{"a/.cutroom/"}, "", "a/b", "a"},
		{"config above", []string{"a/cutroom.yaml"}, "", "a/b", "a"},
		{"the nearest", []string{"a/cutroom.yaml", "a/b/.cutroom/"}, "", "a/b", "a/b"},
		{"results in the home folder", []string{"home/.cutroom/"}, "", "home/a/b", "home/a/b"},
		{"results in the home folder itself", []string{"home/.cutroom/"}, "", "home", "home"},
		{"config in the home folder", []string{"home/cutroom.yaml"}, "", "home/a/b", "home"},
		{"config in a folder of all", []string{"pub/cutroom.yaml"}, "pub", "pub/a", "pub/a"},
		{"results in a folder of all", []string{"pub/.cutroom/"}, "pub", "pub/a", "pub/a"},
		{"the folder of all itself", []string{"pub/.cutroom/"}, "pub", "pub", "pub"},
		{"behind a folder of all", []string{"a/.cutroom/", "a/pub/.cutroom/"}, "a/pub", "a/pub/b", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			t.Setenv("HOME", filepath.Join(root, "home"))
			in := func(p string) string { return filepath.Join(root, filepath.FromSlash(p)) }
			if err := os.MkdirAll(in(tt.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, m := range tt.marks {
				mark(t, in(m), m[len(m)-1] == '/')
			}
			if tt.open != "" {
				if err := os.Chmod(in(tt.open), 0o777|os.ModeSticky); err != nil {
					t.Fatal(err)
				}
			}
			if got := FindWorkspace(in(tt.dir)); got != in(tt.want) {
				t.Errorf("from %s: %s, want %s", tt.dir, got, in(tt.want))
			}
		})
	}
}

func mark(t *testing.T, path string, folder bool) {
	t.Helper()
	dir := filepath.Dir(path)
	if folder {
		dir = path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if !folder {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
