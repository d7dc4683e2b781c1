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
// contract and a reference page, and it works. Whatever else happens to a tool's file, an edit or its
// removal, shows in the same places.
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
	inTree(t, tree, "go", "generate", "./internal/docgen")
	inTree(t, tree, "go", "test", "./internal/tools", "./internal/docgen/...", ".")
	change(t, tree)
	inTree(t, tree, "go", "build", "-o", "bin/cutroom", "./cmd/cutroom")
	inTree(t, tree, "go", "generate", "./internal/docgen")

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

	follows(t, tree, "media.length", "Use video.probe for everything else.", "Say how long a recording is")
	follows(t, tree, edited, "Whatever was changed, it follows.", "Jobs in other words")
	gone(t, tree, removed)

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

// The tools whose files are edited and removed in the copy.
const edited, removed = "job.list", "audit.query"

// change edits one tool's file and removes another's.
func change(t *testing.T, tree string) {
	t.Helper()
	file := filepath.Join(tree, "internal", "tools", "job", "list.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"List the jobs of this workspace, the newest first\"", "Jobs in other words\""}, {"in the last seven days.", "in the last seven days. Whatever was changed, it follows."}} {
		if !strings.Contains(string(text), pair[0]) {
			t.Fatalf("job.list does not say %q any more", pair[0])
		}
		text = []byte(strings.Replace(string(text), pair[0], pair[1], 1))
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(tree, "internal", "tools", "audit", "query.go")); err != nil {
		t.Fatal(err)
	}
}

// gone checks that nothing is left of a tool whose file was removed.
func gone(t *testing.T, tree, id string) {
	t.Helper()
	for what, text := range map[string][]byte{
		"contract": inTree(t, tree, "bin/cutroom", "contract", "--static"), "tools/list": listOfTools(t, tree),
		"completion": inTree(t, tree, "bin/cutroom", "__complete", "tool", "show", id[:2]), "docs": inTree(t, tree, "bin/cutroom", "tool", "list"),
	} {
		if bytes.Contains(text, []byte(id)) || bytes.Contains(text, []byte(strings.ReplaceAll(id, ".", "_"))) {
			t.Errorf("%s: the tool that was removed is still there", what)
		}
	}
	if _, err := os.Stat(filepath.Join(tree, "docs", "reference", "tools", id+".md")); !os.IsNotExist(err) {
		t.Errorf("the page of the removed tool: %v", err)
	}
}

// follows checks that what is made of a tool's file says what the file says.
func follows(t *testing.T, tree, id, sentence, summary string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(tree, "docs", "reference", "tools", id+".md"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"contract": inTree(t, tree, "bin/cutroom", "contract", "--static", "--tool", id), "tools/list": listOfTools(t, tree), "page": page,
	} {
		if !bytes.Contains(text, []byte(sentence)) {
			t.Errorf("%s does not say %q", what, sentence)
		}
	}
	if words := inTree(t, tree, "bin/cutroom", "__complete", "tool", "show", id[:len(id)-2]); !bytes.Contains(words, []byte(id+"\t"+summary)) {
		t.Errorf("completion: %s", words)
	}
}

// listOfTools is what a host of the copy gets.
func listOfTools(t *testing.T, tree string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tree, "bin", "cutroom"), "mcp", "--toolsets", "all")
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "CUTROOM_HOME="+filepath.Join(tree, "bin", "host"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(`"inputSchema"`)) {
		t.Fatalf("tools/list: %v\n%s\n%.500s", err, complaints.Bytes(), out)
	}
	return out
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
