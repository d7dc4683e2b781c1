package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// rows are the house's audit, the oldest first, in short.
func (h *house) rows() []string {
	h.t.Helper()
	list, err := h.log.Query(h.t.Context(), cutroom.AuditFilter{Max: 100})
	if err != nil {
		h.t.Fatal(err)
	}
	var rows []string
	for _, e := range list {
		rows = append([]string{strings.TrimSpace(strings.Join([]string{e.Tool, string(e.Kind), e.Decision, e.Outcome, e.Detail}, " "))}, rows...)
	}
	return rows
}

// TestEveryCallIsOneRow: whatever becomes of a call, it is one row that says so.
func TestEveryCallIsOneRow(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.Policy = policy.Shipped().Narrow(cutroom.RoleAgent, policy.Bounds{Tools: []string{"engine.*"}})
	h.call(`{"input":"a"}`)
	h.call(`{"input":"a"}`)                         // answered from the record
	h.call(`{"input":"absent"}`)                    // not found
	h.call(`{"inputs":"a"}`)                        // does not decode
	h.call(`{"input":"a","most":3}`)                // too large
	h.call("{\"input\":\"a\",\"repeat\":\"\x00\"}") // no JSON
	for _, c := range []Call{
		{Tool: "no.such", Input: []byte(`{}`), Principal: cutroom.Agent},
		{Tool: "engine.engine_test", Input: []byte(`{"input":"a","repeat":7}`), Principal: cutroom.Agent, DryRun: true},
		{Tool: "engine.engine_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Principal{Name: "x", Role: "stranger"}},
	} {
		h.Invoke(t.Context(), c)
	}
	h.runner.run = func(context.Context, string) (argv.Result, error) { return argv.Result{}, errors.New("inside") }
	h.call(`{"input":"a","repeat":2}`)
	func() {
		defer func() { recover() }()
		h.runner.run = func(context.Context, string) (argv.Result, error) { panic("broken") }
		h.call(`{"input":"a","repeat":3}`)
	}()
	want := []string{
		"engine.engine_test read allow ok",
		"engine.engine_test read allow ok answered from a record",
		"engine.engine_test read  not_found",
		"engine.engine_test read  invalid",
		"engine.engine_test read  limit",
		"engine.engine_test read  invalid",
		"no.such  deny not_found",
		"engine.engine_test read allow ok dry run",
		"engine.engine_test  deny not_found",
		"engine.engine_test read allow internal",
		"engine.engine_test read allow internal",
	}
	if d := cmp.Diff(want, h.rows()); d != "" {
		t.Error(d)
	}
	if r, err := h.log.Verify(t.Context()); err != nil || !r.Valid {
		t.Errorf("%+v, %v", r, err)
	}
	list, err := h.log.Query(t.Context(), cutroom.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := list[len(list)-1], list[len(list)-2]
	if first.Run == "" || first.Run != second.Run || first.Input != second.Input || first.Output == "" || first.Output != second.Output || first.Call == second.Call || first.Principal != cutroom.Agent {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// TestCallsOfACallAreItsRows: what a body calls is written down under its call.
func TestCallsOfACallAreItsRows(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	family := tool.NewFamily("engine", "tests", "1.0.0")
	inner := tool.Spec[request, answer]{
		Name: "engine.record_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Read, Exact: tool.BitExact, Revision: 1,
		Timeout: 1e9, Examples: []request{{Input: "a"}},
		Run: func(_ context.Context, env tool.Env, _ request) (answer, error) {
			return answer{Text: "inner"}, nil
		},
	}
	tool.Add(family, inner)
	addOuter(family)
	h.settle(family)
	if _, err := h.Invoke(t.Context(), Call{Tool: "engine.outer_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Agent}); err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	list, err := h.log.Query(t.Context(), cutroom.AuditFilter{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	outer, in := list[0], list[1] // the inner one ended first
	if in.Tool != "engine.record_test" || outer.Tool != "engine.outer_test" || in.Parent != outer.Call || outer.Parent != "" {
		t.Errorf("%+v\n%+v", in, outer)
	}
	raw, err := json.Marshal(outer)
	if err != nil || strings.Contains(string(raw), h.dir) {
		t.Errorf("a row names a folder: %s, %v", raw, err)
	}
}
