package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/setup"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// TestMain lets the test binary be the sandboxed engines, as the real one is.
func TestMain(m *testing.M) {
	if e := engineOf(filepath.Base(os.Args[0])); e != nil {
		os.Exit(e(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(asCommand) == "1" {
		os.Exit(run())
	}
	os.Exit(inHome(m))
}

// asCommand in the environment makes the test binary the command itself.
const asCommand = "CUTROOM_TEST_COMMAND"

// command is the command line in a process of its own, in dir.
func command(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	pin(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// inHome runs the tests with folders of their own.
func inHome(m *testing.M) int {
	home, err := os.MkdirTemp("", "cutroom-test-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("CUTROOM_HOME", home)
	return m.Run()
}

var pinned sync.Once

// pin sets the programs up, once for all tests of this package.
func pin(t testing.TB) {
	t.Helper()
	testenv.Needs(t, "ffmpeg", "ffprobe", "tesseract")
	models := testenv.Models(t)
	pinned.Do(func() {
		data := filepath.Join(os.Getenv("CUTROOM_HOME"), "data")
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(models, filepath.Join(data, "models")); err != nil {
			t.Fatal(err)
		}
		if _, err := setup.Setup(t.Context(), setup.Options{Dir: data}, func(string) {}); err != nil {
			t.Fatal(err)
		}
	})
}

// workspace is a workspace with an engine over it.
type workspace struct {
	*setup.Installation
	t   testing.TB
	dir string
}

// open makes an engine over dir, or over a new folder when dir is empty.
func open(t testing.TB, dir string) *workspace {
	t.Helper()
	pin(t)
	if dir == "" {
		dir = t.TempDir()
	}
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	i, err := setup.Open(t.Context(), setup.Options{Dir: dir, Root: dir, Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	return &workspace{i, t, dir}
}

// copy puts a file into the workspace. A link would change the file's time for every
// other test that reads it meanwhile, and a file that changes gives no result.
func (w *workspace) copy(file, name string) string {
	w.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// call invokes a tool as an agent.
func (w *workspace) call(id string, in any) (*engine.Reply, error) {
	w.t.Helper()
	raw, err := tool.Encode(in)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.Engine.Invoke(w.ctx(), engine.Call{Tool: id, Input: raw, Principal: cutroom.Agent})
	if err == nil {
		w.conforms(id, r.JSON)
	}
	return r, err
}

// conforms checks an answer against the schema that its tool publishes, by a library
// of its own: what the engine checks is the typed value.
func (w *workspace) conforms(id string, answer []byte) {
	w.t.Helper()
	t, _ := w.Engine.Registry.Find(id)
	schema, err := t.OutputSchema().Resolve(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var instance any
	if err := json.Unmarshal(answer, &instance); err != nil {
		w.t.Fatal(err)
	}
	if err := schema.Validate(instance); err != nil {
		w.t.Errorf("%s answers what its schema does not allow: %v", id, err)
	}
}

func (w *workspace) ctx() context.Context { return w.t.Context() }

// must invokes a tool that has to answer.
func must[Out any](w *workspace, id string, in any) *Out {
	w.t.Helper()
	r, err := w.call(id, in)
	if err != nil {
		w.t.Fatalf("%s: %v", id, err)
	}
	return r.Output.(*Out)
}

// fails invokes a tool that has to refuse.
func (w *workspace) fails(id string, in any, code cutroom.Code) *cutroom.Error {
	w.t.Helper()
	r, err := w.call(id, in)
	if err == nil {
		w.t.Fatalf("%s answered %s", id, r.JSON)
	}
	e := cutroom.AsError(err)
	if e.Code != code {
		w.t.Fatalf("%s: %s (%v), want %s", id, e.Code, err, code)
	}
	return e
}
