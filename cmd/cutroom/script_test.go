package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cutroom/internal/testenv"
)

// TestScripts runs the sessions of testdata/script with the real binary, real
// programs and real models.
func TestScripts(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract", "sh")
	bin := build(t)
	home := prepare(t, bin)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(testenv.Root(t), "testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(bin)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("CUTROOM_HOME", home)
			e.Setenv("MEDIA", filepath.Join(testenv.Root(t), "testdata", "media"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"onedoc": oneDocument,
			"person": person,
			"postgres": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 0 {
					ts.Fatalf("usage: postgres")
				}
				ts.Setenv("DATABASE", testenv.Postgres(t))
			},
		},
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
	})
}

// build makes the binary as `make build` does.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cutroom")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// prepare sets a home up that all sessions share, as all calls of one user do.
func prepare(t *testing.T, bin string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.Models(t), filepath.Join(home, "data", "models")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "setup", "--json")
	cmd.Env = append(os.Environ(), "CUTROOM_HOME="+home)
	cmd.Dir = home
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("setup: %v\n%s%s", err, complaints.Bytes(), out)
	}
	return home
}

// oneDocument checks that what the last command printed is exactly one JSON object
// on one line.
//
//	onedoc
func oneDocument(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: onedoc")
	}
	text := ts.ReadFile("stdout")
	dec := json.NewDecoder(strings.NewReader(text))
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("stdout is not a JSON object: %v\n%s", err, text)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("something follows the document:\n%s", text)
	}
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("the document is not one line:\n%s", text)
	}
}

// person runs a command whose parents are gone, as a terminal of the operator's own
// would: so a test is the same whoever started it. Output goes to the files
// person.out and person.err; the exit code is compared with the first argument.
//
//	person CODE cutroom ARGS...
func person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: person CODE PROGRAM ARGS...")
	}
	ended, endedW, err := os.Pipe()
	ts.Check(err)
	goR, goW, err := os.Pipe()
	ts.Check(err)
	out, err := os.Create(ts.MkAbs("person.out"))
	ts.Check(err)
	complaints, err := os.Create(ts.MkAbs("person.err"))
	ts.Check(err)
	// The inner shell waits until the outer one, its parent, has ended.
	cmd := exec.Command("sh", append([]string{"-c", `(read go <&4; "$@"; echo $? >&3) &`, "sh"}, args[1:]...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, complaints
	cmd.ExtraFiles = []*os.File{endedW, goR}
	for _, name := range []string{"PATH", "HOME", "CUTROOM_HOME", "TMPDIR", "MEDIA"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	err = cmd.Run()
	endedW.Close()
	goR.Close()
	ts.Check(err)
	_, err = goW.WriteString("go\n")
	ts.Check(err)
	goW.Close()
	code, err := io.ReadAll(ended)
	ts.Check(err)
	if got := strings.TrimSpace(string(code)); got != args[0] {
		ts.Logf("%s%s", ts.ReadFile("person.out"), ts.ReadFile("person.err"))
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
