package agent_test

import (
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
)

// TestLongLine: what a model says and thinks without an end of a line is stored whole, in
// pieces that cut no character in two.
func TestLongLine(t *testing.T) {
	t.Parallel()
	for _, pad := range []string{"", "a", "bb"} {
		text, mind := pad+strings.Repeat("映画", 25_000), pad+strings.Repeat("思う", 25_000)
		s := providertest.New(t, providertest.Step{Text: text, Thinking: mind, Size: 4000, Calls: []provider.ToolCall{{ID: "a", Name: "agent_look_test", Input: `{"at":1}`}}}, providertest.Say("done"))
		h := small(t, model(s, "eye", provider.Messages, "m"))
		x := h.create(t, spec("speak"))
		if o := prompt(t, x); o.State != run.Completed {
			t.Fatalf("%+v %+v", o, o.Error)
		}
		var said, thought strings.Builder
		for _, b := range h.events(t, x.ID()) {
			switch b := b.(type) {
			case run.Text:
				if b.Turn == 1 {
					said.WriteString(b.Text)
				}
			case run.Thinking:
				thought.WriteString(b.Text)
			}
		}
		if said.String() != text || thought.String() != mind {
			t.Errorf("%d and %d bytes of %d and %d", said.Len(), thought.Len(), len(text), len(mind))
		}
	}
}

// TestAbortReachesChildren: aborting a run that waits, or whose process ended, aborts those
// that it delegated to, which wait with it.
func TestAbortReachesChildren(t *testing.T) {
	t.Parallel()
	h := small(t, scripted(t,
		script.Entry{Goal: "boss", Steps: []script.Step{calls("agent.delegate", `{"goal":"middle"}`)}, Final: script.Step{Say: "done"}},
		script.Entry{Goal: "middle", Steps: []script.Step{calls("agent.delegate", `{"goal":"worker"}`)}, Final: script.Step{Say: "done"}},
		script.Entry{Goal: "worker", Steps: []script.Step{calls("agent.asked_test", `{"number":1}`)}, Final: script.Step{Say: "done"}},
	))
	x := h.create(t, delegating("the boss"))
	o := prompt(t, x)
	if o.State != run.Waiting {
		t.Fatalf("%+v", o)
	}
	if err := x.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	kids := h.kids(t, x.ID())
	kids = append(kids, h.kids(t, kids[0].ID)...)
	if len(kids) != 2 {
		t.Fatalf("%+v", kids)
	}
	for _, k := range kids {
		if k.State != run.Failed || k.Reason != run.Aborted || k.Held {
			t.Errorf("the child is %s %s %v", k.State, k.Reason, k.Held)
		}
	}
	h.approve(t, o.Approvals[0])
	if h.done("asked") != "" {
		t.Error("it was done all the same")
	}
	if o = resume(t, x); o.State != run.Completed || h.done("asked") != "" {
		t.Errorf("%+v, %q", o, h.done("asked"))
	}
}

// TestSpoiltRow: one row that cannot be read does not hide the other runs.
func TestSpoiltRow(t *testing.T) {
	t.Parallel()
	h := small(t, scripted(t, says("", "done")))
	good, bad := h.create(t, spec("good")), h.create(t, spec("bad"))
	if _, err := h.db.ExecContext(t.Context(), `update run set spec = 'no JSON' where id = $1`, bad.ID()); err != nil {
		t.Fatal(err)
	}
	list, err := h.List(t.Context(), spec("").Actor.Principal, 10)
	if err != nil || len(list) != 2 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	if o := prompt(t, good); o.State != run.Completed {
		t.Errorf("%+v", o)
	}
	if o, err := bad.Prompt(t.Context(), ""); err == nil {
		t.Errorf("%+v", o)
	}
}

// TestNothingButRefusals: a model that asks for nothing but what there is not is stopped,
// though nobody set a bound.
func TestNothingButRefusals(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	n := 0
	s.Answer(func(providertest.Request) providertest.Step {
		if n++; n > 200 {
			return providertest.Say("I give up.")
		}
		return providertest.Call("a", "bash", `{"command":"id"}`)
	})
	h := small(t, model(s, "eye", provider.Chat, "m"))
	p := spec("look")
	p.Settings.OnApproval = agent.Tell
	o := prompt(t, h.create(t, p))
	if o.State != run.Failed || o.Reason != run.Error || o.Error.Code != cutroom.Limit || n != 30 {
		t.Errorf("%d requests, %+v %+v", n, o, o.Error)
	}
}

// TestChildByItself: a delegated run that is opened by itself has no more time than the run
// that delegated it.
func TestChildByItself(t *testing.T) {
	t.Parallel()
	h := small(t, scripted(t,
		script.Entry{Goal: "boss", Steps: []script.Step{calls("agent.delegate", `{"goal":"worker"}`)}, Final: script.Step{Say: "done"}},
		script.Entry{Goal: "worker", Steps: []script.Step{calls("agent.asked_test", `{"number":1}`), calls("agent.deed_test", `{"number":1,"pause":60000}`)}, Final: script.Step{Say: "done"}},
	))
	s := delegating("the boss")
	s.Settings.Budget.Time = 2_000_000
	x := h.create(t, s)
	o := prompt(t, x)
	if o.State != run.Waiting {
		t.Fatalf("%+v", o)
	}
	h.approve(t, o.Approvals[0])
	kid, err := h.Open(t.Context(), cutroom.Agent, h.kids(t, x.ID())[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer kid.Close(t.Context())
	if o = resume(t, kid); o.State != run.Failed || o.Reason != run.Budget || h.done("asked") != "1" {
		t.Errorf("%+v", o)
	}
}
