package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// deedInput is the request of a tool that must not be run twice.
type deedInput struct {
	Input  cutroom.InPath  `json:"input" doc:"The file."`
	Number int             `json:"number,omitzero" doc:"Which deed."`
	Note   string          `json:"note,omitempty" key:"-" doc:"No part of the deed."`
	Output cutroom.OutPath `json:"output,omitempty" doc:"Where."`
}

type deedOutput struct {
	cutroom.Unrecorded
	Key string `json:"key" doc:"The key that the body was given."`
}

// deeds is a house with a tool that must not be run twice; do is its effect.
type deeds struct {
	*house
	do    func(ctx context.Context, key string, in deedInput) error
	times atomic.Int64 // the effect was begun
	now   time.Time
}

func newDeeds(t testing.TB, change func(*tool.Spec[deedInput, deedOutput])) *deeds {
	t.Helper()
	d := &deeds{house: build(t, nil), now: time.Now()}
	spec := tool.Spec[deedInput, deedOutput]{
		Name: "engine.ledger_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Execute, Exact: tool.EnvironmentDependent, Revision: 4,
		Replay: tool.ReplayNever, Live: true, Timeout: time.Minute, Examples: []deedInput{{Input: "a"}},
		Run: func(ctx context.Context, env tool.Env, in deedInput) (deedOutput, error) {
			d.times.Add(1)
			if d.do != nil {
				if err := d.do(ctx, env.Key(), in); err != nil {
					return deedOutput{}, err
				}
			}
			return deedOutput{Key: env.Key()}, nil
		},
	}
	if change != nil {
		change(&spec)
	}
	family := tool.NewFamily("engine", "tests", "1.0.0")
	tool.Add(family, spec)
	d.settle(family)
	d.Now = func() time.Time { return d.now }
	d.log.Now = d.Now
	d.write("a", "content")
	d.write("b", "content")
	d.write("c", "other content")
	return d
}

func (d *deeds) invoke(input string) (*Reply, error) {
	return d.Invoke(d.t.Context(), Call{Tool: "engine.ledger_test", Input: []byte(input), Principal: cutroom.Operator})
}

func (d *deeds) wants(input string, code cutroom.Code, part string) {
	d.t.Helper()
	r, err := d.invoke(input)
	if err == nil {
		d.t.Fatalf("%s answered %s", input, r.JSON)
	}
	if e := cutroom.AsError(err); e.Code != code || !strings.Contains(e.Error(), part) {
		d.t.Fatalf("%s: %s (%v, cause %v), want %s with %q", input, e.Code, e, e.Err, code, part)
	}
}

// TestSameDeedOnce: the same content is the same deed, whatever it is called; other
// content, another number or another place is another.
func TestSameDeedOnce(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	first, err := d.invoke(`{"input":"a"}`)
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	key := first.Output.(*deedOutput).Key
	if !strings.HasPrefix(key, "engine.ledger_test:v4:") || len(key) != len("engine.ledger_test:v4:")+64 {
		t.Errorf("key %q", key)
	}
	for _, same := range []string{`{"input":"a"}`, `{"input":"./b","note":"x"}`, `{"input":"b","number":0}`} {
		r, err := d.invoke(same)
		if err != nil || !r.Reused || string(r.JSON) != string(first.JSON) {
			t.Errorf("%s: %+v, %v", same, r, err)
		}
	}
	if n := d.times.Load(); n != 1 {
		t.Fatalf("it was done %d times", n)
	}
	keys := map[string]bool{key: true}
	for _, other := range []string{`{"input":"c"}`, `{"input":"a","number":1}`, `{"input":"a","output":"x"}`, `{"input":"a","output":"y"}`} {
		r, err := d.invoke(other)
		if err != nil || r.Reused {
			t.Fatalf("%s: %+v, %v", other, r, err)
		}
		keys[r.Output.(*deedOutput).Key] = true
	}
	if len(keys) != 5 {
		t.Errorf("keys %v", keys)
	}
	// A key that a caller brings is no part of any request.
	d.wants(`{"input":"a","key":"mine"}`, cutroom.Invalid, "unknown key")
	d.wants(`{"input":"a","idempotency_key":"mine"}`, cutroom.Invalid, "unknown key")
}

// TestOwnKey: a tool may say itself what one deed is.
func TestOwnKey(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, func(s *tool.Spec[deedInput, deedOutput]) {
		s.Key = func(in deedInput) string { return fmt.Sprint("deed-", in.Number) }
	})
	for i, input := range []string{`{"input":"a","number":1}`, `{"input":"c","number":1}`, `{"input":"a","number":2}`} {
		r, err := d.invoke(input)
		if err != nil || r.Reused != (i == 1) || r.Output.(*deedOutput).Key != "engine.ledger_test:deed-"+[]string{"1", "1", "2"}[i] {
			t.Errorf("%s: %+v, %v", input, r, err)
		}
	}
}

// TestWhatFailedIsNotDoneAgain: an error of the body is the outcome, unless the body says
// that nothing was done, or nobody knows.
func TestWhatFailedIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	refused := cutroom.Errorf(cutroom.Conflict, "the other side said no").WithHint("ask `cutroom doctor`")
	d.do = func(context.Context, string, deedInput) error { return refused }
	d.wants(`{"input":"a"}`, cutroom.Conflict, "said no")
	d.wants(`{"input":"a"}`, cutroom.Conflict, "said no (so it ended at ")
	if n := d.times.Load(); n != 1 {
		t.Errorf("what failed was done %d times", n)
	}
	d.do = func(context.Context, string, deedInput) error { return tool.Undone(refused) }
	d.wants(`{"input":"a","number":2}`, cutroom.Conflict, "said no")
	d.wants(`{"input":"a","number":2}`, cutroom.Conflict, "said no")
	d.do = nil
	if r, err := d.invoke(`{"input":"a","number":2}`); err != nil || r.Reused {
		t.Errorf("what was not done cannot be done: %+v, %v", r, err)
	}
	// Nobody knows: a fault of ours, a time that ran out, a caller who left, a panic.
	for n, do := range map[int]func(ctx context.Context) error{
		11: func(context.Context) error { return errors.New("broken pipe") },
		12: func(context.Context) error { return context.DeadlineExceeded },
		13: func(ctx context.Context) error { return context.Canceled },
		14: func(context.Context) error { panic("broken") },
	} {
		d.do = func(ctx context.Context, _ string, _ deedInput) error { return do(ctx) }
		before := d.times.Load()
		input := fmt.Sprintf(`{"input":"a","number":%d}`, n)
		func() {
			defer func() { _ = recover() }()
			if _, err := d.invoke(input); err == nil {
				t.Errorf("%s answered", input)
			}
		}()
		d.do = nil
		d.wants(input, cutroom.Precondition, "outcome unknown")
		if d.times.Load() != before+1 {
			t.Errorf("%s was done again", input)
		}
	}
	if r, err := d.log.Verify(t.Context()); err != nil || !r.Valid {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRefusedIsNoDeed: what did not come to its body leaves nothing in the ledger.
func TestRefusedIsNoDeed(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	d.wants(`{"input":"absent"}`, cutroom.NotFound, "absent")
	if _, err := d.Invoke(t.Context(), Call{Tool: "engine.ledger_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Agent}); cutroom.AsError(err).Code != cutroom.NeedsApproval {
		t.Errorf("%v", err)
	}
	if _, err := d.Invoke(t.Context(), Call{Tool: "engine.ledger_test", Input: []byte(`{"input":"a"}`), Principal: cutroom.Operator, DryRun: true}); err != nil {
		t.Errorf("%v", err)
	}
	if list, err := d.log.Operations(t.Context(), true, 10); err != nil || len(list) != 0 || d.times.Load() != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestManyAtOnce: of equal calls at one time one does it; the others get its outcome or
// are told that it is not known yet.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	d.do = func(context.Context, string, deedInput) error { <-time.After(20 * time.Millisecond); return nil }
	var wait sync.WaitGroup
	for range 12 {
		wait.Go(func() {
			r, err := d.invoke(`{"input":"a"}`)
			if err != nil && (cutroom.AsError(err).Code != cutroom.Precondition || !strings.Contains(err.Error(), "outcome unknown")) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wait.Wait()
	if n := d.times.Load(); n != 1 {
		t.Errorf("it was done %d times", n)
	}
	if r, err := d.invoke(`{"input":"a"}`); err != nil || !r.Reused {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSettling: a person finds out what became of a deed, once it can be known.
func TestSettling(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	d.do = func(context.Context, string, deedInput) error { return errors.New("the process might have ended here") }
	for n := 1; n <= 2; n++ {
		d.wants(fmt.Sprintf(`{"input":"a","number":%d}`, n), cutroom.Internal, "")
	}
	d.do = nil
	open, err := d.log.Operations(t.Context(), false, 10)
	if err != nil || len(open) != 2 {
		t.Fatalf("%+v, %v", open, err)
	}
	settle := func(id string, happened bool) error {
		_, err := d.log.Settle(t.Context(), id, happened, "I looked\x1b[31m", cutroom.Operator)
		return err
	}
	if err := settle(open[0].Call, true); cutroom.AsError(err).Code != cutroom.Precondition {
		t.Errorf("one that may be at work was settled: %v", err)
	}
	d.now = d.now.Add(time.Hour)
	d.wants(`{"input":"a","number":1}`, cutroom.Precondition, "cutroom operations settle "+callOf(t, d, 1))
	if err := settle("nothing", true); cutroom.AsError(err).Code != cutroom.NotFound {
		t.Errorf("%v", err)
	}
	if err := errors.Join(settle(callOf(t, d, 1), true), settle(callOf(t, d, 2), false)); err != nil {
		t.Fatal(err)
	}
	if err := settle(open[0].Call, true); err == nil {
		t.Error("an operation was settled twice")
	}
	d.wants(`{"input":"a","number":1}`, cutroom.Conflict, "as a person found out")
	if r, err := d.invoke(`{"input":"a","number":2}`); err != nil || r.Reused {
		t.Errorf("%+v, %v", r, err)
	}
	if n := d.times.Load(); n != 3 {
		t.Errorf("%d deeds", n)
	}
	rows, err := d.log.Query(t.Context(), cutroom.AuditFilter{Type: cutroom.AuditOperationSettled})
	if err != nil || len(rows) != 2 || rows[0].Detail != "it did not happen: I looked[31m" || rows[1].Detail != "it happened: I looked[31m" || rows[0].Principal != cutroom.Operator {
		t.Errorf("%+v, %v", rows, err)
	}
}

// callOf is the id of the call that began the deed of a number.
func callOf(t *testing.T, d *deeds, number int) string {
	t.Helper()
	rows, err := d.log.Query(t.Context(), cutroom.AuditFilter{Outcome: "internal"})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	return rows[2-number].Call
}
