package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cutroom/internal/persontest"
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
			"types": types,
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

// person runs a command whose parents are gone ([persontest.Orphan]). Output goes to the files
// person.out and person.err; the exit code is compared with the first argument.
//
//	person CODE cutroom ARGS...
func person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: person CODE PROGRAM ARGS...")
	}
	complaints, err := os.Create(ts.MkAbs("person.err"))
	ts.Check(err)
	defer complaints.Close()
	alone(ts, nil, complaints, func() string { return ts.ReadFile("person.err") }, args)
}

// types runs a command as person does, at a terminal: somebody answers its prompts,
// one after another, with the words up to the first --. What the terminal showed goes
// to the file terminal.out.
//
//	types ANSWERS... -- CODE cutroom ARGS...
func types(ts *testscript.TestScript, neg bool, args []string) {
	at := slices.Index(args, "--")
	if neg || at < 0 || len(args) < at+3 {
		ts.Fatalf("usage: types ANSWERS... -- CODE PROGRAM ARGS...")
	}
	t, err := persontest.NewTerminal(args[:at]...)
	ts.Check(err)
	shown := sync.OnceValue(t.Close)
	defer func() { ts.Check(os.WriteFile(ts.MkAbs("terminal.out"), []byte(shown()), 0o600)) }()
	alone(ts, t.File, t.File, shown, args[at+1:])
}

// alone runs a command as [person] and [types] do; said is what it complained.
func alone(ts *testscript.TestScript, in, complaints *os.File, said func() string, args []string) {
	out, err := os.Create(ts.MkAbs("person.out"))
	ts.Check(err)
	defer out.Close()
	var env []string
	for _, name := range []string{"PATH", "HOME", "CUTROOM_HOME", "TMPDIR", "MEDIA"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	code, err := persontest.Orphan(ts.MkAbs("."), env, in, out, complaints, args[1:]...)
	ts.Check(err)
	if code != args[0] {
		ts.Logf("%s%s", ts.ReadFile("person.out"), said())
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
