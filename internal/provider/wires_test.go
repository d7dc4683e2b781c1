package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

func wires() []provider.Wire {
	return []provider.Wire{provider.Chat, provider.Responses, provider.Messages}
}

// asked is a request that says something.
func asked(parts ...provider.Part) provider.Request {
	return provider.Request{Messages: []provider.Message{
		{Role: provider.RoleSystem, Parts: []provider.Part{provider.TextPart("be brief")}},
		{Role: provider.RoleUser, Parts: append([]provider.Part{provider.TextPart("what is this?")}, parts...)},
	}}
}

// gathered puts deltas together as a reply has them.
type gathered struct {
	text, thinking string
	calls          []provider.ToolCall
}

func (g *gathered) add(d provider.Delta) {
	g.text += d.Text
	g.thinking += d.Thinking
	if c := d.Call; c != nil {
		for len(g.calls) <= c.Index {
			g.calls = append(g.calls, provider.ToolCall{})
		}
		at := &g.calls[c.Index]
		at.ID += c.ID
		at.Name += c.Name
		at.Input += c.Input
	}
}

// TestAnswers: whatever the wire and the way, the same answer is the same reply, its
// pieces make up the whole, and its native form reads as itself.
func TestAnswers(t *testing.T) {
	t.Parallel()
	two := []provider.ToolCall{{ID: "call_a", Name: "look", Input: `{"at":12.5,"why":"a \"sign\" – ü"}`}, {ID: "call_b", Name: "hear", Input: `{}`}}
	usage := provider.Usage{Input: 1200, Output: 34, Cached: 1000}
	thoughtful := usage
	thoughtful.Thinking = 7
	for _, c := range []struct {
		name string
		step providertest.Step
		stop provider.Stop
	}{
		{"text", providertest.Step{Text: "It is a cat – \"ümlaut\" \u0000 <b>&\n日本語 🐈", Usage: usage}, provider.StopEnd},
		{"calls", providertest.Step{Calls: two, Usage: usage}, provider.StopTools},
		{"text and calls", providertest.Step{Text: "Let me look.", Calls: two, Usage: usage, Size: 1}, provider.StopTools},
		{"thought", providertest.Step{Thinking: "hmm, a cat?", Text: "A cat.", Calls: two[:1], Usage: usage}, provider.StopTools},
		{"too long", providertest.Step{Text: "It is a", Stop: provider.StopLength, Usage: usage}, provider.StopLength},
		{"refused", providertest.Step{Refusal: "I cannot help with that.", Usage: usage}, provider.StopRefused},
		{"filtered", providertest.Step{Text: "It is", Stop: provider.StopRefused, Usage: usage}, provider.StopRefused},
		{"no usage", providertest.Step{Text: "x"}, provider.StopEnd},
		{"long", providertest.Step{Text: strings.Repeat("0123456789 ", 30_000), Size: 1000}, provider.StopEnd},
	} {
		for _, w := range wires() {
			srv := providertest.New(t, c.step)
			client, e := provider.New(provider.Options{}), srv.Endpoint("p", w, "m", "k")
			t.Cleanup(client.Close)
			whole, err := client.Complete(t.Context(), e, "k", asked(), nil)
			if err != nil {
				t.Errorf("%s %s: %v", w, c.name, err)
				continue
			}
			var g gathered
			streamed, err := client.Complete(t.Context(), e, "k", asked(), g.add)
			if err != nil {
				t.Errorf("%s %s, streamed: %v", w, c.name, err)
				continue
			}
			for i, r := range []provider.Reply{whole, streamed} {
				text := c.step.Text
				if w == provider.Messages {
					text += c.step.Refusal
				}
				if r.Message.Text() != text || r.Stop != c.stop || r.Model != "m" || r.ID == "" || r.Sent < 50 || c.step.Refusal != r.Refusal && c.step.Text == "" {
					t.Errorf("%s %s %d: %+v", w, c.name, i, r)
				}
				if diff := cmp.Diff(c.step.Calls, r.Message.Calls, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s %s %d: %s", w, c.name, i, diff)
				}
				if diff := cmp.Diff(c.step.Usage, r.Usage); diff != "" {
					t.Errorf("%s %s %d: %s", w, c.name, i, diff)
				}
				if n := r.Message.Native; n == nil || n.Wire != w || n.By != "p/m" {
					t.Errorf("%s %s %d: native %+v", w, c.name, i, n)
					continue
				}
				again, err := r.Message.Native.Message()
				if diff := cmp.Diff(r.Message, again, cmpopts.IgnoreFields(provider.Message{}, "Native")); err != nil || diff != "" {
					t.Errorf("%s %s %d: %v %s", w, c.name, i, err, diff)
				}
			}
			if diff := cmp.Diff(whole.Message.Calls, g.calls, cmpopts.EquateEmpty()); diff != "" || g.text != whole.Message.Text() || g.thinking != c.step.Thinking {
				t.Errorf("%s %s: pieces %q, %q, %s", w, c.name, g.text, g.thinking, diff)
			}
		}
	}
}

// TestNativeIsSentAgain: what a service said goes back to it as it said it, thoughts and
// signatures included, streamed or not; another one gets what it can read.
func TestNativeIsSentAgain(t *testing.T) {
	t.Parallel()
	step := providertest.Step{Thinking: "a thought", Text: "Let me look.", Calls: []provider.ToolCall{{ID: "functions.look:0", Name: "look", Input: `{"at":1}`}}}
	for _, w := range wires() {
		for _, stream := range []bool{false, true} {
			name := fmt.Sprintf("%s, streamed %v", w, stream)
			srv := providertest.New(t, step, providertest.Say("done"))
			client := provider.New(provider.Options{})
			t.Cleanup(client.Close)
			var on func(provider.Delta)
			if stream {
				on = func(provider.Delta) {}
			}
			first, err := client.Complete(t.Context(), srv.Endpoint("p", w, "m"), "", asked(), on)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			next := asked()
			next.Messages = append(next.Messages, first.Message,
				provider.Message{Role: provider.RoleTool, CallID: first.Message.Calls[0].ID, Parts: []provider.Part{provider.TextPart("a cat")}})
			if _, err := client.Complete(t.Context(), srv.Endpoint("p", w, "m"), "", next, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			body := string(srv.Requests()[1].Body)
			if !strings.Contains(body, "a thought") || strings.Count(body, `"functions.look:0"`) != 2 {
				t.Errorf("%s: %s", name, body)
			}
			for _, other := range wires() {
				e := srv.Endpoint("other", other, "m")
				if _, err := client.Complete(t.Context(), e, "", next, nil); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				list := srv.Requests()
				body := string(list[len(list)-1].Body)
				if strings.Contains(body, "a thought") || strings.Contains(body, "functions.look") || strings.Count(body, "call_") < 2 || !strings.Contains(body, "Let me look.") || !strings.Contains(body, "a cat") {
					t.Errorf("%s to %s: %s", name, other, body)
				}
			}
		}
	}
}
