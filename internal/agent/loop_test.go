package agent_test

import (
	"strings"
	"testing"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
)

// TestLoop: a run from its goal to its last word, on each wire, with what it stored.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, wire := range []provider.Wire{provider.Chat, provider.Responses, provider.Messages} {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			s := providertest.New(t,
				providertest.Step{Text: "I look.", Thinking: "Where is it?", Calls: []provider.ToolCall{
					{ID: "a", Name: "agent_look_test", Input: `{"at":3,"says":"a door"}`}, {ID: "b", Name: "agent_look_test", Input: `{"at":4,"says":"a key"}`},
				}, Usage: provider.Usage{Input: 100, Output: 20}},
				providertest.Call("c", "agent_deed_test", `{"number":1}`),
				providertest.Say("A door at 3 s, a key at 4 s."),
			)
			h := small(t, model(s, "eye", wire, "m"))
			x := h.create(t, spec("find the door"))
			o := prompt(t, x)
			if o.State != run.Completed || o.Text != "A door at 3 s, a key at 4 s." || o.Usage.Calls != 3 || o.Usage.Turns != 3 {
				t.Fatalf("%+v", o)
			}
			list := h.events(t, x.ID())
			if n := len(of[run.Start](list)); n != 3 || len(of[run.End](list)) != n {
				t.Errorf("%d calls began, %d ended", n, len(of[run.End](list)))
			}
			for _, e := range of[run.End](list) {
				if e.Status != run.Succeeded {
					t.Errorf("%+v", e)
				}
			}
			var text strings.Builder
			for _, d := range of[run.Text](list) {
				text.WriteString(d.Text)
			}
			if text.String() != "I look.A door at 3 s, a key at 4 s." {
				t.Errorf("streamed %q", text.String())
			}
			sent := s.Requests()
			if len(sent) != 3 || !strings.Contains(string(sent[1].Body), "a door") || !strings.Contains(string(sent[2].Body), "a key") {
				t.Errorf("%d requests", len(sent))
			}
			if rows := h.rows(t, "agent.*"); len(rows) != 3 {
				t.Errorf("%d rows of the audit", len(rows))
			}
		})
	}
}
