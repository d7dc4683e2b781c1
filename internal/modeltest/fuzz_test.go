package modeltest

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzRead: whatever a host sends, reading it ends and never panics, and what is
// counted from it stays small.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		messagesBody(false, ""), responsesBody(true, ""), chatBody(false, ""), `{"input":"hi"}`,
		`{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"toolu_t99999999999999999999_0_x"}}]}`,
		`{"messages":[{"role":"tool","content":[[]]}]}`, `{"input":[{"type":"function_call_output","output":{"type":"input_image","image_url":{"url":7}}}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, w := range []Wire{Messages, CountTokens, Responses, Chat, Other} {
			c, err := read(w, []byte(body))
			if err != nil {
				continue
			}
			if n := len(c.past().Turns); n > len(c.entries) {
				t.Errorf("%d turns in %d entries", n, len(c.entries))
			}
			if c.tokens() < 1 {
				t.Error("no tokens")
			}
			Script{Say("x"), Use(Call{Tool: "y"})}.turn(c.past())
		}
	})
}

// However a host splits or joins the messages of its conversation, the turn counted
// from it is the same.
func TestTurnsSurviveRegrouping(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.IntRange(0, 6).Draw(t, "turns")
		var c conversation
		ask := entry{role: user, text: "go on"}
		c.entries = append(c.entries, ask)
		for n := range turns {
			calls := rapid.IntRange(0, 3).Draw(t, "calls")
			if calls == 0 {
				c.entries = append(c.entries, entry{role: assistant, text: "said"}, ask)
				continue
			}
			if rapid.Bool().Draw(t, "talks first") {
				c.entries = append(c.entries, entry{role: assistant, text: "first"})
			}
			apart := rapid.Bool().Draw(t, "apart")
			var results []entry
			for k := range calls {
				id := callID("call_", n, k, "x")
				c.entries = append(c.entries, entry{role: assistant, callID: id, call: &Call{Tool: "t" + strconv.Itoa(k)}})
				result := entry{callID: id, result: &Result{Text: id}}
				if apart {
					c.entries = append(c.entries, result)
				} else {
					results = append(results, result)
				}
			}
			c.entries = append(c.entries, results...)
		}
		p := c.past()
		if len(p.Turns) != turns {
			t.Fatalf("%d turns counted, %d made", len(p.Turns), turns)
		}
		for n, results := range p.Turns {
			for k, r := range results {
				if !strings.HasPrefix(r.Text, "call_t"+strconv.Itoa(n)+"_"+strconv.Itoa(k)) || r.Tool != "t"+strconv.Itoa(k) {
					t.Errorf("turn %d, result %d is %+v", n, k, r)
				}
			}
		}
	})
}
