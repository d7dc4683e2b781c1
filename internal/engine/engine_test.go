package engine

import (
	"bytes"
	"context"
	"database/sql"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/audit"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/stage"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/tool"
)

type request struct {
	Input  cutroom.InPath   `json:"input" doc:"The file."`
	Extra  []cutroom.InPath `json:"extra,omitempty" doc:"More files."`
	Note   string           `json:"note,omitempty" key:"-" doc:"Not part of the result."`
	Most   int64            `json:"most,omitzero" key:"-" min:"1" default:"1000" doc:"Largest file."`
	Repeat int              `json:"repeat,omitzero" doc:"Part of the result."`
}

func (r request) Bounds() tool.Bounds { return tool.Bounds{FileBytes: r.Most} }

type answer struct {
	cutroom.Output
	Text  string `json:"text" max:"20" doc:"The text."`
	Later bool   `json:"later,omitzero" doc:"Whether it may be there later."`
}

func (a *answer) Transient() bool { return a.Later }

// runner stands for the sandbox: run says what the program does in its folder.
type runner struct {
	run  func(ctx context.Context, dir string) (argv.Result, error)
	runs int
}

func (r *runner) Run(ctx context.Context, _ argv.Command, g sandbox.Grant) (argv.Result, error) {
	r.runs++
	return r.run(ctx, g.Dir)
}

type toolchain struct{}

func (toolchain) Fingerprint(p string) cutroom.Digest {
	if p == "absent" {
		return ""
	}
	return cutroom.DigestOf([]byte(p))
}
func (toolchain) Version(p string) string { return p + " 1.0" }

// house is an engine over a new workspace with one tool.
type house struct {
	*Engine
	t      testing.TB
	dir    string
	runner *runner
	log    *audit.Log
}

func build(t testing.TB, change func(*tool.Spec[request, answer])) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), runner: &runner{run: func(context.Context, string) (argv.Result, error) { return argv.Result{}, nil }}}
	spec := tool.Spec[request, answer]{
		Name: "engine.engine_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Read, Exact: tool.BitExact, Revision: 1,
		Timeout: time.Minute, Needs: tool.Needs{Programs: []string{"program"}}, Examples: []request{{Input: "a"}},
		Plan: func(tool.Facts, request) (tool.Plan, error) {
			return tool.Plan{Steps: []argv.Command{{Step: "one", Program: "program", Inputs: []int{0}}}}, nil
		},
		Interpret: func(tool.Facts, request, tool.Results) (answer, error) { return answer{Text: "done"}, nil },
	}
	if change != nil {
		change(&spec)
	}
	family := tool.NewFamily("engine", "tests", "1.0.0")
	tool.Add(family, spec)
	h.settle(family)
	h.write("a", "content")
	return h
}

// settle makes the engine over the house's folder and runner, with one family.
func (h *house) settle(family *tool.Family) {
	h.t.Helper()
	registry, err := tool.NewRegistry(family)
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := stage.Open(filepath.Join(h.dir, ".cutroom", "stage"), stage.Options{Key: bytes.Repeat([]byte{1}, 32), Workspace: h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	db := storetest.At(h.t, filepath.Join(h.t.TempDir(), store.Name))
	h.log = audit.New(audit.Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }})
	h.Engine = New(Options{
		Audit: h.log, Ledger: h.log,
		Registry: registry, Workspace: h.dir, Stage: s, StageRoot: ".cutroom/stage", Facts: h.t.TempDir(), Runner: h.runner,
		Toolchain: toolchain{}, Abilities: func() ffmpeg.Abilities { return ffmpeg.Abilities{} }, Policy: policy.Shipped(),
	})
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) call(input string) (*Reply, error) {
	return h.Invoke(h.t.Context(), Call{Tool: "engine.engine_test", Input: []byte(input), Principal: cutroom.Agent})
}

func (h *house) fails(input string, code cutroom.Code, part string) {
	h.t.Helper()
	r, err := h.call(input)
	if err == nil {
		h.t.Fatalf("%s answered %s", input, r.JSON)
	}
	if e := cutroom.AsError(err); e.Code != code || !strings.Contains(e.Error(), part) {
		h.t.Fatalf("%s: %s (%v, cause %v), want %s with %q", input, e.Code, e, e.Err, code, part)
	}
	for r, err := range h.Stage.List(h.t.Context()) {
		h.t.Errorf("a failed call left %v, %v", r, err)
	}
}

func TestSameCallIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	first, err := h.call(`{"input":"a"}`)
	if err != nil {
		t.Fatal(err)
	}
	h.write("b", "content") // the same content under another name is the same call
	for _, same := range []string{`{"input":"a"}`, `{"input":"./a","note":"x"}`, `{"input":"b","most":500}`} {
		r, err := h.call(same)
		if err != nil || !r.Reused || r.Run != first.Run {
			t.Errorf("%s: %+v, %v", same, r, err)
		}
	}
	for _, other := range []string{`{"input":"a","repeat":1}`, `{"input":"a","extra":["b"]}`} {
		r, err := h.call(other)
		if err != nil || r.Reused || r.Run == first.Run {
			t.Errorf("%s: %+v, %v", other, r, err)
		}
	}
	if h.runner.runs != 3 {
		t.Errorf("the program ran %d times", h.runner.runs)
	}
}

func TestFileLimitHoldsForReuseToo(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.fails(`{"input":"a","most":3}`, cutroom.Limit, "7 bytes")
	if _, err := h.call(`{"input":"a"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.call(`{"input":"a","most":3}`); cutroom.AsError(err).Code != cutroom.Limit {
		t.Errorf("a recorded result passes the limit: %v", err)
	}
}

func TestInputChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.runner.run = func(context.Context, string) (argv.Result, error) {
		h.write("a", "other content")
		return argv.Result{}, nil
	}
	h.fails(`{"input":"a"}`, cutroom.Conflict, "changed while it was read")
}

func TestPictureIsProved(t *testing.T) {
	t.Parallel()
	keep := func(s *tool.Spec[request, answer]) {
		s.Plan = func(tool.Facts, request) (tool.Plan, error) {
			return tool.Plan{
				Steps:  []argv.Command{{Step: "one", Program: "program"}},
				Expect: []tool.Expectation{{File: "p.jpg", Width: 8, Height: 8}},
			}, nil
		}
		s.Interpret = func(_ tool.Facts, _ request, r tool.Results) (answer, error) {
			_, err := r.Keep("p.jpg", "image/jpeg", nil)
			return answer{}, err
		}
	}
	picture := func(w int) []byte {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, 8)), nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	rows := map[string][]byte{"cut": picture(8)[:200], "not a picture": []byte("text"), "other size": picture(16), "empty": {}}
	for name, data := range rows {
		h := build(t, keep)
		h.runner.run = func(_ context.Context, dir string) (argv.Result, error) {
			return argv.Result{}, os.WriteFile(filepath.Join(dir, "p.jpg"), data, 0o600)
		}
		t.Log(name)
		h.fails(`{"input":"a"}`, cutroom.Verification, "p.jpg")
	}
	h := build(t, keep)
	h.fails(`{"input":"a"}`, cutroom.NotFound, "p.jpg")
	h = build(t, keep)
	h.runner.run = func(_ context.Context, dir string) (argv.Result, error) {
		return argv.Result{}, os.Symlink("/etc/passwd", filepath.Join(dir, "p.jpg"))
	}
	h.fails(`{"input":"a"}`, cutroom.Denied, "p.jpg")
	h = build(t, keep)
	h.runner.run = func(_ context.Context, dir string) (argv.Result, error) {
		return argv.Result{}, os.WriteFile(filepath.Join(dir, "p.jpg"), picture(8), 0o600)
	}
	r, err := h.call(`{"input":"a"}`)
	if err != nil || len(r.Record.Artifacts) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDeadlineAndCancel(t *testing.T) {
	t.Parallel()
	h := build(t, func(s *tool.Spec[request, answer]) { s.Timeout = 20 * time.Millisecond })
	h.runner.run = func(ctx context.Context, _ string) (argv.Result, error) {
		<-ctx.Done()
		return argv.Result{}, ctx.Err()
	}
	h.fails(`{"input":"a"}`, cutroom.Timeout, "did not finish")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Invoke(ctx, Call{Tool: "engine.engine_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Agent})
	if cutroom.AsError(err).Code != cutroom.Canceled {
		t.Errorf("%v", err)
	}
}

func TestOutputHasToFitItsSchema(t *testing.T) {
	t.Parallel()
	h := build(t, func(s *tool.Spec[request, answer]) {
		s.Interpret = func(tool.Facts, request, tool.Results) (answer, error) {
			return answer{Text: strings.Repeat("x", 21)}, nil
		}
	})
	h.fails(`{"input":"a"}`, cutroom.Internal, "internal fault")
}

func TestPlanRunsOnlyWhatItsSpecNames(t *testing.T) {
	t.Parallel()
	h := build(t, func(s *tool.Spec[request, answer]) { s.Needs.Programs = []string{"other"} })
	h.fails(`{"input":"a"}`, cutroom.Internal, "internal fault")
	if h.runner.runs != 0 {
		t.Error("a program ran that the spec does not name")
	}
	h = build(t, func(s *tool.Spec[request, answer]) { s.Needs.Programs = []string{"absent"} })
	h.fails(`{"input":"a"}`, cutroom.MissingDependency, "absent")
}

func TestTransientAnswerIsNotKept(t *testing.T) {
	t.Parallel()
	h := build(t, func(s *tool.Spec[request, answer]) {
		s.Interpret = func(_ tool.Facts, _ request, r tool.Results) (answer, error) {
			_, err := r.Put("x.txt", "text/plain", []byte("x"), nil)
			return answer{Later: true}, err
		}
	})
	for range 2 {
		r, err := h.call(`{"input":"a"}`)
		if err != nil || r.Reused || len(r.Record.Artifacts) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestPolicyComesBeforeWork(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.Policy = h.Policy.Narrow(cutroom.RoleAgent, policy.Bounds{Tools: []string{"video.*"}})
	h.fails(`{"input":"a"}`, cutroom.NotFound, "no tool")
	h = build(t, nil)
	h.Policy = h.Policy.Narrow(cutroom.RoleAgent, policy.Bounds{Kinds: []cutroom.Kind{cutroom.Preview}})
	h.fails(`{"input":"a"}`, cutroom.Denied, "ceiling")
	h = build(t, nil)
	h.Policy = policy.Policy{Bounds: h.Policy.Bounds}
	h.fails(`{"input":"a"}`, cutroom.Denied, "no rule")
	if h.runner.runs != 0 {
		t.Error("a program ran")
	}
}

func TestRootsBesideTheWorkspace(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	more := t.TempDir()
	file := filepath.Join(more, "b")
	if err := os.WriteFile(file, []byte("elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.fails(`{"input":"`+file+`"}`, cutroom.Denied, "outside the workspace")
	h.Roots = []string{more}
	r, err := h.call(`{"input":"` + file + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	if at := r.Record.Provenance.SourceIdentity.SafeLocator; strings.Contains(at, more) || h.located(at) != file {
		t.Errorf("the locator is %q", at)
	}
	h.refuses(`{"input":"`+more+`/../`+filepath.Base(h.dir)+`x"}`, cutroom.Denied)
}

func (h *house) refuses(input string, code cutroom.Code) {
	h.t.Helper()
	if _, err := h.call(input); cutroom.AsError(err).Code != code {
		h.t.Errorf("%s: %v", input, err)
	}
}

func TestDryRunStartsNothing(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	r, err := h.Invoke(t.Context(), Call{Tool: "engine.engine_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Agent, DryRun: true})
	if err != nil || r.Plan == nil || len(r.Plan.Steps) != 1 || h.runner.runs != 0 {
		t.Errorf("%+v, %v, %d runs", r, err, h.runner.runs)
	}
	if _, err := os.Stat(filepath.Join(h.dir, ".cutroom")); err == nil {
		t.Error("a dry run made the stage")
	}
}
