package scripts_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// TestAddATool keeps the promise of docs/add-a-tool.md: the example of that page, put
// as one file into a copy of the repository, is a command, a schema, an entry of the
// contract and a reference page, and it works.
func TestAddATool(t *testing.T) {
	t.Parallel()
	tree := copyTree(t, testenv.Root(t))
	page, err := os.ReadFile(filepath.Join(tree, "docs", "add-a-tool.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```go\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatal("docs/add-a-tool.md has no block of Go")
	}
	file := filepath.Join(tree, "internal", "tools", "media", "length.go")
	if err := os.WriteFile(file, []byte(block+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inTree(t, tree, "go", "build", "-o", "bin/cutroom", "./cmd/cutroom")
	inTree(t, tree, "go", "generate", "./internal/docgen")
	inTree(t, tree, "go", "test", "./internal/tools", "./internal/docgen/...", ".")

	reference, err := os.ReadFile(filepath.Join(tree, "docs", "reference", "tools", "media.length.md"))
	if err != nil || !bytes.Contains(reference, []byte("Say how long a recording is")) {
		t.Errorf("reference page: %v %.200q", err, reference)
	}
	if help := inTree(t, tree, "bin/cutroom", "media", "length", "--help"); !bytes.Contains(help, []byte("Say how long a recording is")) &&
		!bytes.Contains(help, []byte("How long a recording lasts")) {
		t.Errorf("help of the command:\n%s", help)
	}
	var contract struct {
		Tools []struct {
			ID     string          `json:"tool_id"`
			Input  json.RawMessage `json:"input_schema"`
			Output json.RawMessage `json:"output_schema"`
		} `json:"tools"`
	}
	text := inTree(t, tree, "bin/cutroom", "contract", "--static", "--tool", "media.length")
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(contract.Tools) != 1 || contract.Tools[0].ID != "media.length" ||
		!bytes.Contains(contract.Tools[0].Input, []byte(`"path"`)) || !bytes.Contains(contract.Tools[0].Output, []byte(`"seconds"`)) {
		t.Errorf("contract of the new tool: %s", text)
	}

	inTree(t, tree, "bin/cutroom", "setup")
	var answer struct {
		Status  string
		Seconds float64
	}
	text = inTree(t, tree, "bin/cutroom", "media", "length", "testdata/media/demo.mp4", "--json")
	if err := json.Unmarshal(text, &answer); err != nil || answer.Status != "completed" || answer.Seconds != 26 {
		t.Errorf("the new tool answers (%v): %s", err, text)
	}
}

// TestDemo runs what `make demo` ends with, in a copy of the repository with a state
// of its own: the timeline has words that are spoken in the clip, the text of each of
// its screens, and the silence.
func TestDemo(t *testing.T) {
	t.Parallel()
	testenv.Models(t)
	tree := copyTree(t, testenv.Root(t))
	inTree(t, tree, "go", "build", "-ldflags", "-s -w", "-o", "bin/cutroom", "./cmd/cutroom")
	inTree(t, tree, "bin/cutroom", "setup")
	timeline := string(inTree(t, tree, "bash", "scripts/demo.sh"))
	for _, want := range []string{
		"The computer was not able to save the file because there was no space left.",
		"The first picture shows how many people came each day from Monday to Friday.",
		"Weekly release review", "349", "error: no space left on disk", "Please wait", "2 disks, 61% free", "silence",
	} {
		if !strings.Contains(timeline, want) {
			t.Errorf("the timeline lacks %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", timeline)
	}
}

// copyTree copies the repository without its history, results and binaries.
func copyTree(t *testing.T, root string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir() && slices.Contains([]string{".git", ".cutroom", ".cache", "bin", "node_modules"}, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// inTree runs a program in the copy and returns its standard output. -trimpath lets
// the build cache serve packages that lie elsewhere and are the same.
func inTree(t *testing.T, tree, program string, args ...string) []byte {
	t.Helper()
	if strings.Contains(program, "/") {
		program = filepath.Join(tree, program)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0",
		"XDG_CONFIG_HOME="+filepath.Join(tree, "bin", "config"), "XDG_STATE_HOME="+filepath.Join(tree, "bin", "state"))
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, complaints.Bytes())
	}
	return out.Bytes()
}
