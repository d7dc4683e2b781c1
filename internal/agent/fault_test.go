package agent_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/cooldown"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
)

// TestFaults: the fault matrix in the middle of a run: what went wrong is known for what it
// is, the key rests where it is at fault, and the next model goes on with the conversation
// in its own form; all of that is in the events.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range providertest.Faults() {
		if f.Class == "" {
			continue // those are answers
		}
		for _, wires := range [][2]provider.Wire{{provider.Chat, provider.Messages}, {provider.Messages, provider.Chat}} {
			t.Run(fmt.Sprint(f.Name, "/", wires[0]), func(t *testing.T) {
				t.Parallel()
				failsOver(t, f, wires[0], wires[1])
			})
		}
	}
}

func failsOver(t *testing.T, f providertest.Fault, first, second provider.Wire) {
	s := providertest.New(t)
	s.ForModel("a", providertest.Step{Text: "I begin.", Calls: []provider.ToolCall{{ID: "odd id/1", Name: "agent_look_test", Input: `{"at":1,"says":"a moon"}`}}}, f.Step)
	s.ForModel("b", providertest.Call("b1", "agent_look_test", `{"at":2}`), providertest.Say("A moon at 1 s."))
	h := small(t, model(s, "one", first, "a"), model(s, "two", second, "b"))
	book := cooldown.Book{Open: func(context.Context) (*sql.DB, error) { return h.db, nil }}
	h.models.cooldowns = book
	x := h.create(t, spec("look at the moon"))
	if o := prompt(t, x); o.State != run.Completed || o.Text != "A moon at 1 s." {
		t.Fatalf("%+v", o)
	}
	var answers []run.Answer
	text := map[int]string{}
	list := h.events(t, x.ID())
	for _, d := range of[run.Text](list) {
		if d.Again {
			text[d.Turn] = ""
		}
		text[d.Turn] += d.Text
		if d.Answer != nil {
			answers = append(answers, *d.Answer)
		}
	}
	if len(answers) != 3 || text[1] != "I begin." || text[2] != "" || text[3] != "A moon at 1 s." {
		t.Fatalf("%+v, %v", answers, text)
	}
	a := answers[1]
	if a.Provider != "agent:two" || a.From != "agent:one/a" || a.Converted != 1 || len(a.Attempts) != 2 || a.Attempts[0].Class != f.Class || !a.Attempts[1].OK || len(a.Warnings) == 0 {
		t.Errorf("%+v", a)
	}
	rests, err := book.Resting(t.Context(), []provider.Target{{Provider: "one", Model: "a", Key: provider.Fingerprint(s.URL, "k-one")}})
	if err != nil || (len(rests) == 1) != f.Cools {
		t.Errorf("%d rest, %v", len(rests), err)
	}
	late := answers[2]
	if f.Cools == (len(late.Attempts) > 1) { // who rests is asked last; who does not, first
		t.Errorf("%+v", late)
	}
	for _, r := range s.Requests() {
		if r.Model == "b" && (!strings.Contains(string(r.Body), "a moon") || !strings.Contains(string(r.Body), "I begin.")) {
			t.Errorf("the second model does not know what the first one did: %s", r.Body)
		}
	}
	// The next process knows it, too.
	n := len(s.Requests())
	y := h.create(t, spec("look at the moon again"))
	s.ForModel("a", providertest.Say("from a"))
	s.ForModel("b", providertest.Say("from b"))
	want := "from a"
	if f.Cools {
		want = "from b"
	}
	if o := prompt(t, y); o.Text != want || len(s.Requests()) != n+1 {
		t.Errorf("%+v", o)
	}
}

// TestNobodyAnswers: a run of which no model answers has failed, says what was tried, and
// goes on when one does.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Call("a", "agent_look_test", `{"at":1}`), providertest.Fail(500, "down, "+secret))
	m := model(s, "one", provider.Chat, "a")
	h := small(t, m)
	x := h.create(t, spec("look"))
	o := prompt(t, x)
	if o.State != run.Failed || o.Reason != run.Error || o.Error.Code != cutroom.Unavailable {
		t.Fatalf("%+v", o)
	}
	list := h.events(t, x.ID())
	b, ok := list[len(list)-1].(run.Broken)
	if !ok || len(b.Attempts) != 1 || b.Attempts[0].Class != provider.Unavailable || b.Attention {
		t.Errorf("%+v", list[len(list)-1])
	}
	h.noSecrets(t, x.ID())
	if _, err := x.Prompt(t.Context(), "go on"); cutroom.AsError(err).Code != cutroom.Precondition {
		t.Errorf("%v", err)
	}
	s.ForModel("a", providertest.Say("done"))
	if o, err := x.Resume(t.Context()); err != nil || o.State != run.Completed || o.Text != "done" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := x.Resume(t.Context()); cutroom.AsError(err).Code != cutroom.Precondition {
		t.Errorf("%v", err)
	}
	if n := len(of[run.End](h.events(t, x.ID()))); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestAnswerCutOff: an answer that its own length cut off goes on.
func TestAnswerCutOff(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Step{Text: "one ", Stop: provider.StopLength}, providertest.Step{Text: "two ", Stop: provider.StopLength}, providertest.Say("three"))
	h := small(t, model(s, "one", provider.Chat, "a"))
	if o := prompt(t, h.create(t, spec("count"))); o.State != run.Completed || o.Text != "three" || o.Usage.Turns != 3 {
		t.Errorf("%+v", o)
	}
}
