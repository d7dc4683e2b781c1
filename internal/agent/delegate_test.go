package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/agent/script"
	"cutroom/internal/run"
)

// delegating is a run that may delegate.
func delegating(goal string) agent.Spec {
	s := spec(goal)
	s.Settings.SubagentsEnabled = true
	return s
}

// says is an entry without steps.
func says(goal, text string) script.Entry {
	return script.Entry{Goal: goal, Final: script.Step{Say: text}}
}

// kids are the runs that a run delegated to.
func (h *house) kids(t *testing.T, id string) []run.Info {
	t.Helper()
	list, err := h.log.Children(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDelegate: another run does a task, and its last word is the answer; asked for the
// whole of it, it gets no more than its parent has.
func TestDelegate(t *testing.T) {
	t.Parallel()
	h := small(t, scripted(
		t,
		script.Entry{Goal: "boss", Steps: []script.Step{
			calls("agent.delegate", `{"goal":"work, worker","tools":["*"],"kinds":["read","execute","propose"],"max_steps":9}`),
		}, Final: script.Step{Say: "It said: ${steps[0].calls[0].output.text}"}},
		script.Entry{Goal: "worker", Steps: []script.Step{
			calls("agent.look_test", `{"at":1,"says":"a hat"}`), calls("agent.deed_test", `{"number":1}`), calls("approval.decide", `{}`),
		}, Final: script.Step{Say: "a hat at 1 s"}},
	))
	s := delegating("be the boss")
	s.Capabilities = []string{"agent.look_test", "agent.delegate"}
	s.Actor.Kinds = []cutroom.Kind{cutroom.Read}
	x := h.create(t, s)
	if o := prompt(t, x); o.State != run.Completed || o.Text != "It said: a hat at 1 s" || o.Spent.Steps != 2+4 || o.Usage.Turns != 2 {
		t.Fatalf("%+v, %+v", o, h.events(t, x.ID()))
	}
	kids := h.kids(t, x.ID())
	if len(kids) != 1 {
		t.Fatalf("%d children", len(kids))
	}
	kid := kids[0]
	if got := kid.Spec; !slices.Equal(got.Tools, []string{"agent.delegate", "agent.look_test"}) || !slices.Equal(got.Actor.Kinds, []cutroom.Kind{cutroom.Read}) || got.Depth != 1 || got.Actor.Principal != cutroom.Agent {
		t.Errorf("%+v", got)
	}
	if ends := of[run.End](h.events(t, x.ID())); len(ends) != 1 || ends[0].Child != kid.ID {
		t.Errorf("%+v", ends)
	}
	list := h.events(t, kid.ID)
	if no := of[run.Rejected](list); len(no) != 2 || no[0].Tool != "agent_deed_test" || no[1].Tool != "approval_decide" {
		t.Errorf("%+v", no)
	}
	if rows := h.rows(t, "agent.deed_test"); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	if rows := h.rows(t, "agent_deed_test"); len(rows) != 1 || rows[0].Decision != "deny" {
		t.Errorf("%+v", rows)
	}
}

// TestDelegateDepthAndWidth: a run delegates twice over at most, and to so many others.
func TestDelegateDepthAndWidth(t *testing.T) {
	t.Parallel()
	down := func(goal, next string) script.Entry {
		return script.Entry{Goal: goal, Steps: []script.Step{calls("agent.delegate", `{"goal":"`+next+`"}`)}, Final: script.Step{Say: goal + " done"}}
	}
	wide := script.Entry{Goal: "wide", Final: script.Step{Say: "done"}}
	for n := range 6 {
		wide.Steps = append(wide.Steps, calls("agent.delegate", fmt.Sprintf(`{"goal":"leaf %d"}`, n)))
	}
	all := script.Entry{Goal: "flood", Steps: []script.Step{{}}, Final: script.Step{Say: "done"}}
	for n := range 20 {
		all.Steps[0].Calls = append(all.Steps[0].Calls, calls("agent.delegate", fmt.Sprintf(`{"goal":"leaf %d"}`, n)).Calls...)
	}
	h := small(t, scripted(t, down("level 0", "level 1"), down("level 1", "level 2"), down("level 2", "level 3"), says("level 3", "too deep"), wide, all, says("leaf", "leaf done")))

	x := h.create(t, delegating("level 0"))
	if o := prompt(t, x); o.State != run.Completed {
		t.Fatalf("%+v", o)
	}
	deepest := h.kids(t, h.kids(t, x.ID())[0].ID)[0]
	if len(h.kids(t, deepest.ID)) != 0 || slices.Contains(deepest.Spec.Tools, "agent.delegate") || deepest.Spec.Depth != 2 {
		t.Errorf("%+v", deepest)
	}
	if no := of[run.Rejected](h.events(t, deepest.ID)); len(no) != 1 || no[0].Code != cutroom.NotFound {
		t.Errorf("%+v", no)
	}

	for goal, width := range map[string]int{"wide": 0, "flood": 7} {
		s := delegating(goal)
		s.Settings.Width = width
		x := h.create(t, s)
		prompt(t, x)
		want := max(width, 4)
		if width == 0 {
			want = 4
		}
		failed := 0
		for _, e := range of[run.End](h.events(t, x.ID())) {
			if e.Status == run.CallFailed {
				if failed++; e.Code != cutroom.Limit {
					t.Errorf("%+v", e)
				}
			}
		}
		if n := len(h.kids(t, x.ID())); n != want || failed == 0 {
			t.Errorf("%s: %d children, %d refused", goal, n, failed)
		}
	}

	// Without the switch it is not there, asked for or not.
	if _, err := h.CreateRun(t.Context(), agent.Spec{Goal: "x", Capabilities: []string{"agent.delegate"}, Actor: run.Actor{Principal: cutroom.Agent}}); cutroom.AsError(err).Code != cutroom.NotFound {
		t.Errorf("%v", err)
	}
	if i, err := h.create(t, spec("x")).Info(t.Context()); err != nil || slices.Contains(i.Spec.Tools, "agent.delegate") {
		t.Errorf("%v, %v", i.Spec.Tools, err)
	}
	if _, err := h.engine.Offered(cutroom.Agent, "agent.delegate"); cutroom.AsError(err).Code != cutroom.NotFound {
		t.Errorf("%v", err)
	}
}

// TestDelegateBudget: what runs delegate is spent from one purse, whoever spends it and at
// once; a child has no more than it was given.
func TestDelegateBudget(t *testing.T) {
	t.Parallel()
	boss := script.Entry{Goal: "boss", Steps: []script.Step{{}}, Final: script.Step{Say: "done"}}
	for n := range 4 {
		boss.Steps[0].Calls = append(boss.Steps[0].Calls, calls("agent.delegate", fmt.Sprintf(`{"goal":"walk %d"}`, n)).Calls...)
	}
	given := script.Entry{Goal: "given", Steps: []script.Step{calls("agent.delegate", `{"goal":"walk 9","max_steps":3}`)}, Final: script.Step{Say: "done"}}
	greedy := script.Entry{Goal: "greedy", Steps: []script.Step{calls("agent.delegate", `{"goal":"walk 9","max_steps":1000}`)}, Final: script.Step{Say: "done"}}
	w := &weighed{}
	h := small(t, w.model(scripted(t, boss, given, greedy, walk("walk", 30, 10))))

	s := delegating("boss")
	s.Settings.Budget.Steps = 21
	x := h.create(t, s)
	o := prompt(t, x)
	if o.Reason != run.Budget || o.Spent.Steps != 21 || len(w.took) != 21 {
		t.Errorf("%+v after %d requests", o, len(w.took))
	}
	sum := int64(1)
	for _, k := range h.kids(t, x.ID()) {
		if sum += k.Spent.Steps; k.State != run.Failed || k.Reason != run.Budget {
			t.Errorf("%s %s", k.State, k.Reason)
		}
	}
	if sum != 21 {
		t.Errorf("they spent %d", sum)
	}

	x = h.create(t, delegating("given"))
	if o = prompt(t, x); o.State != run.Completed || o.Spent.Steps != 2+3 || h.kids(t, x.ID())[0].Reason != run.Budget {
		t.Errorf("%+v", o)
	}
	s = delegating("greedy")
	s.Settings.Budget.Steps = 5
	x = h.create(t, s)
	if o = prompt(t, x); o.Reason != run.Budget || o.Spent.Steps != 5 || h.kids(t, x.ID())[0].Spent.Steps != 4 {
		t.Errorf("%+v", o)
	}

	// One that is resumed by itself still spends from its parent's.
	kid, err := h.Open(t.Context(), cutroom.Agent, h.kids(t, x.ID())[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer kid.Close(t.Context())
	if o, err = kid.Resume(t.Context()); err != nil || o.Reason != run.Budget || o.Spent.Steps != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	if text := h.kids(t, x.ID())[0].Spec.SystemPrompt; !strings.Contains(text, "walk 9") {
		t.Errorf("%q", text)
	}
}
