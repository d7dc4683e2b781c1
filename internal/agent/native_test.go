package agent_test

import (
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
)

// TestNative: what a service wrote goes back to it as it was, in another process, too.
func TestNative(t *testing.T) {
	t.Parallel()
	step := providertest.Call("odd id/1", "agent_look_test", `{"at":1,  "says":"a moon"}`)
	step.Thinking = "hm"
	s := providertest.New(t, step, providertest.Say("first"), providertest.Say("second"))
	h := small(t, model(s, "one", provider.Messages, "m"))
	x := h.create(t, spec("look"))
	prompt(t, x)
	if err := x.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	y, err := h.Open(t.Context(), cutroom.Agent, x.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close(t.Context())
	if o, err := y.Prompt(t.Context(), "and then?"); err != nil || o.Text != "second" {
		t.Fatalf("%+v, %v", o, err)
	}
	for i, r := range s.Requests() {
		if body := string(r.Body); i > 0 && (!strings.Contains(body, `"signature":"c2ln"`) || !strings.Contains(body, `"odd id/1"`)) {
			t.Errorf("request %d: %s", i, body)
		}
	}
	if thought := of[run.Thinking](h.events(t, x.ID())); len(thought) != 1 || thought[0].Text != "hm" {
		t.Errorf("%+v", thought)
	}
}

// TestReadsLess: a model that reads less at once than anybody says is given a shorter
// conversation, and the run goes on.
func TestReadsLess(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	refused, n := 0, 0
	s.Answer(func(r providertest.Request) providertest.Step {
		if len(r.Body) > 30_000 {
			refused++
			return providertest.Fail(400, "This model's maximum context length is 8192 tokens.")
		}
		if strings.Contains(string(r.Body), "Summarise the work") {
			return providertest.Say("there were things")
		}
		if n++; n > 12 {
			return providertest.Say("done")
		}
		return providertest.Call("c", "agent_look_test", `{"at":1,"size":4000}`)
	})
	h := small(t, model(s, "one", provider.Chat, "m"))
	x := h.create(t, spec("look"))
	if o := prompt(t, x); o.State != run.Completed || o.Usage.Calls != 12 {
		t.Fatalf("%+v", o)
	}
	var ends int
	for _, c := range of[run.Compacted](h.events(t, x.ID())) {
		if c.Phase == run.CompactionEnd {
			ends++
		}
	}
	if refused == 0 || ends == 0 || ends > 6 {
		t.Errorf("%d refusals, %d summaries", refused, ends)
	}
}

// TestNobodySummarises: where no model puts the past into words, the program lists it, and
// what was found stays readable.
func TestNobodySummarises(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	n := 0
	s.Answer(func(r providertest.Request) providertest.Step {
		if strings.Contains(string(r.Body), "Summarise the work") {
			return providertest.Fail(500, "no")
		}
		if n++; n > 20 {
			return providertest.Say("done")
		}
		return providertest.Call("c", "agent_look_test", `{"at":`+strings.Repeat("1", n%5+1)+`,"size":4000}`)
	})
	m := model(s, "one", provider.Chat, "m")
	m.Context = 16_000
	h := small(t, m)
	x := h.create(t, spec("look"))
	if o := prompt(t, x); o.State != run.Completed {
		t.Fatalf("%+v", o)
	}
	list := h.events(t, x.ID())
	first := string(of[run.End](list)[0].Run)
	for _, c := range of[run.Compacted](list) {
		if c.Phase == run.CompactionEnd && (c.By != "cutroom" || !strings.Contains(c.Summary, first)) {
			t.Errorf("%+v", c)
		}
	}
	sent := s.Requests()
	if last := string(sent[len(sent)-1].Body); !strings.Contains(last, first) {
		t.Error("what was found first is not named any more")
	}
}
