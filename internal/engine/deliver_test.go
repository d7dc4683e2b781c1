package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

type making struct {
	tool.Writing
	Input cutroom.InPath  `json:"input" doc:"The file."`
	Side  cutroom.OutPath `json:"side,omitempty" doc:"A second file."`
	Text  string          `json:"text,omitempty" doc:"What is written."`
}

type thing struct {
	tool.Made
	Length int `json:"length" doc:"How long it is."`
}

// maker is an engine over a new workspace whose one tool writes a file. written, when
// set, is called on what the program wrote.
type maker struct {
	*house
	during func() // while the tool works
	refuse bool
}

func makers(t *testing.T) *maker {
	t.Helper()
	m := &maker{house: &house{t: t, dir: t.TempDir()}}
	m.runner = &runner{run: func(_ context.Context, dir string) (argv.Result, error) {
		return argv.Result{}, os.WriteFile(filepath.Join(dir, "out.mp4"), []byte("made"), 0o600)
	}}
	family := tool.NewFamily("engine", "tests", "1.0.0")
	tool.Add(family, tool.Spec[making, thing]{
		Name: "engine.deliver_test", Summary: "Make", Description: "Makes.", Kind: cutroom.Execute, Exact: tool.ContentEquivalent, Revision: 1,
		Timeout: time.Minute, Needs: tool.Needs{Programs: []string{"program"}}, Examples: []making{{Input: "a.mp4"}},
		Names: func(in making) making {
			if in.Output == "" {
				in.Output = tool.NameAfter(in.Input, "made", "")
			}
			return in
		},
		Plan: func(_ tool.Facts, in making) (tool.Plan, error) {
			return tool.Plan{
				Files: []argv.File{{Name: "list.txt", Data: []byte(in.Text)}},
				Steps: []argv.Command{{Step: "one", Program: "program", Inputs: []int{0}, Args: []argv.Atom{argv.Word("-i"), argv.In(0), argv.Out("out.mp4")}}},
				Later: []argv.Command{{Step: "two", Program: "program", Args: []argv.Atom{argv.Hole("level")}}},
			}, nil
		},
		Interpret: func(_ tool.Facts, in making, r tool.Results) (thing, error) {
			var out thing
			if m.during != nil {
				m.during()
			}
			if m.refuse {
				return out, cutroom.Errorf(cutroom.Verification, "it has 3 frames, not 4")
			}
			list, err := r.ReadFile("list.txt", 100)
			if err != nil {
				return out, err
			}
			out.Length = len(list)
			if _, err = r.Deliver("out.mp4", "video/mp4", "output"); err != nil {
				return out, err
			}
			if in.Side == "" {
				return out, nil
			}
			_, err = r.Deliver("list.txt", "text/plain", "side")
			return out, err
		},
	})
	m.settle(family)
	m.write("a.mp4", "content")
	return m
}

func (m *maker) make(input string) (*Reply, error) {
	return m.Invoke(m.t.Context(), Call{Tool: "engine.deliver_test", Input: []byte(input), Principal: cutroom.Operator})
}

func (m *maker) read(name string) string {
	b, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

func (m *maker) refuses(input string, code cutroom.Code, part string) *cutroom.Error {
	m.t.Helper()
	r, err := m.make(input)
	if err == nil {
		m.t.Fatalf("%s answered %s", input, r.JSON)
	}
	e := cutroom.AsError(err)
	if e.Code != code || !strings.Contains(e.Error()+e.Hint, part) {
		m.t.Fatalf("%s: %s (%v; %s), want %s with %q", input, e.Code, e, e.Hint, code, part)
	}
	return e
}

func TestOutputsArePublished(t *testing.T) {
	t.Parallel()
	m := makers(t)
	r, err := m.make(`{"input":"a.mp4","output":"b.mp4","side":"list.txt","text":"abc"}`)
	if err != nil {
		t.Fatal(err)
	}
	out := r.Output.(*thing)
	if m.read("b.mp4") != "made" || m.read("list.txt") != "abc" || out.File == nil || *out.File != "b.mp4" || out.Length != 3 {
		t.Errorf("%q, %q, %s", m.read("b.mp4"), m.read("list.txt"), r.JSON)
	}
	if len(out.Commands) != 1 || out.Commands[0] != "program -i a.mp4 out.mp4" {
		t.Errorf("commands %q", out.Commands)
	}
	if err := os.Remove(filepath.Join(m.dir, "b.mp4")); err != nil {
		t.Fatal(err)
	}
	// Repeated, the missing file is published again; under another name, once more.
	for _, name := range []string{"b.mp4", "c.mp4", "b.mp4"} {
		r, err := m.make(`{"input":"a.mp4","output":"` + name + `","side":"list.txt","text":"abc"}`)
		if err != nil || !r.Reused || m.read(name) != "made" || *r.Output.(*thing).File != name {
			t.Errorf("%s: %v, %q", name, err, m.read(name))
		}
	}
	if m.runner.runs != 1 {
		t.Errorf("%d runs", m.runner.runs)
	}
}

func TestDefaultOutputStandsBesideTheInput(t *testing.T) {
	t.Parallel()
	m := makers(t)
	if _, err := m.make(`{"input":"a.mp4"}`); err != nil || m.read("a_made.mp4") != "made" {
		t.Errorf("%v, %q", err, m.read("a_made.mp4"))
	}
}

func TestOutputsNeverOverwrite(t *testing.T) {
	t.Parallel()
	m := makers(t)
	m.write("b.mp4", "other")
	m.refuses(`{"input":"a.mp4","output":"b.mp4"}`, cutroom.Conflict, "--overwrite")
	if m.read("b.mp4") != "other" || m.runner.runs != 0 {
		t.Errorf("%q after %d runs", m.read("b.mp4"), m.runner.runs)
	}
	if _, err := m.make(`{"input":"a.mp4","output":"b.mp4","overwrite":true}`); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("%v, %q", err, m.read("b.mp4"))
	}
	m.write("b.mp4", "changed since")
	m.refuses(`{"input":"a.mp4","output":"b.mp4"}`, cutroom.Conflict, "exists")
	if _, err := m.make(`{"input":"a.mp4","output":"b.mp4","overwrite":true}`); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("%v, %q", err, m.read("b.mp4"))
	}
}

// TestOutputsReplaceOnlyWhatWasAuthorised: what appears at an output while the call runs,
// or takes the place of what stood there, stays, also with overwrite.
func TestOutputsReplaceOnlyWhatWasAuthorised(t *testing.T) {
	t.Parallel()
	m := makers(t)
	input := `{"input":"a.mp4","output":"b.mp4","overwrite":true,"text":`
	m.during = func() { m.write("b.mp4", "appeared") }
	m.refuses(input+`"1"}`, cutroom.Conflict, "is not what stood there when the call began")
	if m.read("b.mp4") != "appeared" {
		t.Errorf("what appeared is gone: %q", m.read("b.mp4"))
	}
	m.during = func() {
		m.write("c.mp4", "moved there")
		if err := os.Rename(filepath.Join(m.dir, "c.mp4"), filepath.Join(m.dir, "b.mp4")); err != nil {
			t.Error(err)
		}
	}
	m.refuses(input+`"2"}`, cutroom.Conflict, "make the same call again")
	if m.read("b.mp4") != "moved there" {
		t.Errorf("what was moved there is gone: %q", m.read("b.mp4"))
	}
	m.during = nil
	// The same calls again are about what stands there now.
	if r, err := m.make(input + `"2"}`); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("%v, %v, %q", r, err, m.read("b.mp4"))
	}
	m.during = func() { _ = os.Remove(filepath.Join(m.dir, "b.mp4")) }
	if _, err := m.make(input + `"3"}`); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("a file that was taken away: %v, %q", err, m.read("b.mp4"))
	}
}

func TestOutputsAreNoInputs(t *testing.T) {
	t.Parallel()
	m := makers(t)
	for link, make := range map[string]func(string, string) error{"hard.mp4": os.Link, "soft.mp4": os.Symlink} {
		if err := make(filepath.Join(m.dir, "a.mp4"), filepath.Join(m.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(m.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.mp4", "./a.mp4", "sub/../a.mp4", "hard.mp4", "soft.mp4", m.dir + "/a.mp4"} {
		m.refuses(`{"input":"a.mp4","output":"`+name+`","overwrite":true}`, cutroom.Invalid, "an input is never written over")
	}
	m.refuses(`{"input":"a.mp4","output":"sub"}`, cutroom.Invalid, "is a folder")
	m.refuses(`{"input":"a.mp4","output":"none/b.mp4"}`, cutroom.NotFound, "does not exist")
	m.refuses(`{"input":"a.mp4","output":"b.mp4","side":"./b.mp4"}`, cutroom.Invalid, "two outputs")
	if m.read("a.mp4") != "content" || m.runner.runs != 0 {
		t.Errorf("%q after %d runs", m.read("a.mp4"), m.runner.runs)
	}
}

func TestAgentsWriteInTheWorkspaceOnly(t *testing.T) {
	t.Parallel()
	m := makers(t)
	for _, name := range []string{"/tmp/cutroom-never.mp4", "../never.mp4", "/etc/never.mp4"} {
		_, err := m.Invoke(t.Context(), Call{Tool: "engine.deliver_test", Input: []byte(`{"input":"a.mp4","output":"` + name + `"}`), Principal: cutroom.Agent})
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusedFilesAreKeptAndNotPublished(t *testing.T) {
	t.Parallel()
	m := makers(t)
	m.refuse = true
	e := m.refuses(`{"input":"a.mp4","output":"b.mp4"}`, cutroom.Verification, "it has 3 frames")
	if !strings.HasPrefix(m.read("b.mp4"), "(") {
		t.Errorf("published %q", m.read("b.mp4"))
	}
	left, err := m.Stage.Pending(t.Context())
	if err != nil || len(left) != 1 || !strings.Contains(e.Hint, left[0].Folder) || !strings.Contains(strings.Join(left[0].Files, " "), "out.mp4") {
		t.Errorf("%+v, %v; hint %q", left, err, e.Hint)
	}
	m.refuse = false
	if _, err := m.make(`{"input":"a.mp4","output":"b.mp4"}`); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("%v, %q", err, m.read("b.mp4"))
	}
}

func TestPlansRunAsPlannedOrNotAtAll(t *testing.T) {
	t.Parallel()
	m := makers(t)
	input := `{"input":"a.mp4","output":"b.mp4"}`
	dry, err := m.make(`{"input":"a.mp4","output":"b.mp4","dry_run":true}`)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		DryRun   bool     `json:"dry_run"`
		Output   string   `json:"output"`
		Commands []string `json:"commands"`
	}
	if err := json.Unmarshal(dry.JSON, &p); err != nil || !p.DryRun || p.Output != "b.mp4" || len(p.Commands) != 2 || p.Commands[1] != "program '<measured>'" {
		t.Errorf("%v, %s", err, dry.JSON)
	}
	if m.runner.runs != 0 || !strings.HasPrefix(m.read("b.mp4"), "(") {
		t.Errorf("a dry run ran")
	}
	apply := func() error {
		_, err := m.Invoke(t.Context(), Call{Tool: "engine.deliver_test", Input: []byte(input), Principal: cutroom.Operator, Planned: &Planned{Run: dry.Run, Sources: dry.Plan.Sources, Request: dry.Plan.Request}})
		return err
	}
	m.write("a.mp4", "changed")
	if e := cutroom.AsError(apply()); e == nil || e.Code != cutroom.Conflict || !strings.Contains(e.Msg, "a.mp4") {
		t.Errorf("a changed input: %v", e)
	}
	m.write("a.mp4", "content")
	if err := apply(); err != nil || m.read("b.mp4") != "made" {
		t.Errorf("%v, %q", err, m.read("b.mp4"))
	}
	overwritten := input
	input = strings.Replace(input, "b.mp4", "c.mp4", 1)
	if e := cutroom.AsError(apply()); e == nil || e.Code != cutroom.Conflict || !strings.Contains(e.Msg, "an argument is another") {
		t.Errorf("another output: %v", e)
	}
	if input == overwritten {
		t.Error("the output was not changed")
	}
	input = `{"input":"a.mp4","output":"c.mp4","text":"more"}`
	if e := cutroom.AsError(apply()); e == nil || e.Code != cutroom.Conflict {
		t.Errorf("another request: %v", e)
	}
}
