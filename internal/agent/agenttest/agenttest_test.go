package agenttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/agent/agenttest"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

func says(role provider.Role, text string) provider.Message {
	return provider.Message{Role: role, Parts: []provider.Part{provider.TextPart(text)}}
}

// cut is a script of three steps, with a picture among the results.
func cut() *script.Script {
	return script.Must(script.Entry{
		Goal: "cut it",
		Steps: []script.Step{
			{Say: "I look.", Think: "hm", Calls: []script.Call{script.Do("media.watch", `{"path":"a.mp4"}`), script.Do("bash", `{"command":"ls"}`)}},
			{Calls: []script.Call{script.Do("edit.cut", `{"start":"${steps[0].calls[0].output.at}"}`)}},
			{Calls: []script.Call{script.Do("review.look", `{"path":"${steps[1].calls[0].output.path}"}`)}},
		},
		Final: script.Step{Say: "Cut at ${steps[0].calls[0].output.at} into ${steps[1].calls[0].output.path}."},
	})
}

// play drives a chain until the model makes no more calls.
func play(t *testing.T, stream bool, ask func(provider.Request) provider.Hop) []provider.Message {
	t.Helper()
	messages := []provider.Message{says(provider.RoleSystem, "be brief"), says(provider.RoleUser, "please cut it")}
	client := provider.New(provider.Options{})
	defer client.Close()
	var on func(provider.Delta)
	if stream {
		on = func(provider.Delta) {}
	}
	tools := []provider.Tool{{Name: "media_watch"}, {Name: "edit_cut"}, {Name: "review_look"}}
	for range 10 {
		out, err := provider.Chain{Client: client}.Run(t.Context(), []provider.Hop{ask(provider.Request{Messages: messages, Tools: tools})}, on)
		if err != nil {
			t.Fatalf("%v: %+v", err, out.Attempts)
		}
		messages = append(messages, out.Reply.Message)
		if len(out.Reply.Message.Calls) == 0 {
			return messages
		}
		for i, c := range out.Reply.Message.Calls {
			m := provider.Message{Role: provider.RoleTool, CallID: c.ID, Parts: []provider.Part{provider.TextPart(fmt.Sprintf(`{"at":%d.5,"path":"out %d.mp4"}`, len(messages), i))}}
			if c.Name == "review_look" {
				m.Parts = append(m.Parts, provider.Part{Kind: provider.Image, Type: "image/png", Data: []byte("png")})
			}
			messages = append(messages, m)
		}
	}
	t.Fatal("no end")
	return nil
}

// plain takes out of messages what a wire adds.
func plain(list []provider.Message) []provider.Message {
	var out []provider.Message
	for _, m := range list {
		m.Native = nil
		out = append(out, m)
	}
	return out
}

// TestSameEverywhere: in the process and over HTTP, on each wire, whole and in events, a
// script is the same conversation.
func TestSameEverywhere(t *testing.T) {
	t.Parallel()
	m := &script.Model{Script: cut(), Name: "m"}
	local := play(t, false, func(r provider.Request) provider.Hop {
		return provider.Hop{Endpoint: provider.Endpoint{Name: "script", Model: "m"}, Local: m.Local(r)}
	})
	if last := local[len(local)-1].Text(); last != "Cut at 3.5 into out 0.mp4." || len(local) != 10 {
		t.Fatalf("%d messages, the last one %q", len(local), last)
	}
	for _, wire := range []provider.Wire{provider.Chat, provider.Messages} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s streamed %v", wire, stream), func(t *testing.T) {
				t.Parallel()
				srv := agenttest.New(t, cut())
				got := play(t, stream, func(r provider.Request) provider.Hop {
					return provider.Hop{Endpoint: srv.Endpoint("p", wire, "m", "k"), Request: always(r)}
				})
				if diff := cmp.Diff(plain(local), plain(got)); diff != "" {
					t.Error(diff)
				}
				for _, r := range srv.Requests() {
					if r.Wire != wire || r.Stream != stream {
						t.Errorf("asked on %s, streamed %v", r.Wire, r.Stream)
					}
				}
				if len(srv.Turns()) != 4 || len(srv.Refused()) != 0 {
					t.Errorf("%d turns, refused: %v", len(srv.Turns()), srv.Refused())
				}
			})
		}
	}
}

// TestFaults: what the script wants to go wrong is the fault that a chain sees, and then
// the next service goes on.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]script.Fault{
		"429": {Status: 429, RetryAfter: 7 * time.Second}, "500": {Status: 500, Slow: time.Millisecond}, "cut": {Cut: true}, "hang": {Hang: true},
	} {
		for _, wire := range []provider.Wire{provider.Chat, provider.Messages} {
			t.Run(name+" "+string(wire), func(t *testing.T) {
				t.Parallel()
				f.Model = "first"
				srv := agenttest.New(t, script.Must(script.Entry{Goal: "", Final: script.Step{Say: "here is the answer", Fault: &f}}))
				client := provider.New(provider.Options{})
				defer client.Close()
				r := always(provider.Request{Messages: []provider.Message{says(provider.RoleUser, "x")}})
				timeout := time.Duration(0)
				if f.Hang {
					timeout = 50 * time.Millisecond
				}
				out, err := provider.Chain{Client: client}.Run(t.Context(), []provider.Hop{
					{Endpoint: srv.Endpoint("a", wire, "first", "k"), Request: r, Timeout: timeout}, {Endpoint: srv.Endpoint("b", wire, "second", "k"), Request: r},
				}, func(provider.Delta) {})
				want := map[string]provider.Class{"429": provider.RateLimited, "500": provider.Unavailable, "cut": provider.Unavailable, "hang": provider.TimedOut}[name]
				if err != nil || out.Hop != 1 || len(out.Attempts) != 2 || out.Attempts[0].Class != want || out.Reply.Message.Text() != "here is the answer" {
					t.Errorf("%v %+v", err, out)
				}
			})
		}
	}
}

// TestStrict: what a service would refuse is refused.
func TestStrict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wire       provider.Wire
		body, says string
	}{
		"no JSON":           {provider.Chat, `{`, "no request of this wire"},
		"unanswered":        {provider.Chat, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"y"}]}`, "must be followed by an answer"},
		"unanswered at end": {provider.Chat, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"t","arguments":"{}"}}]}]}`, "must be followed by an answer"},
		"answers nothing":   {provider.Chat, `{"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"y"}]}`, "answers no call"},
		"twice":             {provider.Chat, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{}},{"id":"a","function":{}}]}]}`, "stands twice"},
		"no user":           {provider.Chat, `{"messages":[{"role":"system","content":"x"}]}`, "no message of the user"},
		"no role":           {provider.Chat, `{"messages":[{"role":"robot","content":"x"}]}`, "no role"},
		"empty":             {provider.Chat, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null}]}`, "is empty"},
		"no bound":          {provider.Messages, `{"messages":[{"role":"user","content":"x"}]}`, "max_tokens"},
		"roles":             {provider.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}`, "alternate"},
		"blank":             {provider.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`, "non-whitespace"},
		"order":             {provider.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"text","text":"y"},{"type":"tool_result","tool_use_id":"a","content":"z"}]}]}`, "have to stand first"},
		"no object":         {provider.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":"{}"}]}]}`, "no object"},
		"other wire":        {provider.Responses, `{}`, "not spoken here"},
	} {
		if _, err := agenttest.Read(providertest.Request{Wire: c.wire, Body: []byte(c.body)}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	srv := agenttest.New(t, cut())
	client := provider.New(provider.Options{})
	defer client.Close()
	_, err := client.Complete(t.Context(), srv.Endpoint("p", provider.Chat, "m"), "", provider.Request{Messages: []provider.Message{says(provider.RoleUser, "bake")}}, nil)
	if err == nil || len(srv.Refused()) != 1 || !strings.Contains(srv.Refused()[0], "no entry is for this goal") {
		t.Errorf("%v, refused %v", err, srv.Refused())
	}
}

func always(r provider.Request) func(context.Context) (provider.Request, error) {
	return func(context.Context) (provider.Request, error) { return r, nil }
}

// FuzzRead: no body makes the service panic, and a conversation that it takes is one in
// which calls and answers belong together.
func FuzzRead(f *testing.F) {
	f.Add(true, []byte(`{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}]}`))
	f.Add(false, []byte(`{"max_tokens":1,"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"media_type":"image/png","data":"eA=="}}]}]}]}`))
	f.Fuzz(func(t *testing.T, chat bool, body []byte) {
		wire := provider.Messages
		if chat {
			wire = provider.Chat
		}
		r, err := agenttest.Read(providertest.Request{Wire: wire, Body: body})
		if err != nil {
			return
		}
		calls, answers := 0, 0
		for _, m := range r.Messages {
			calls += len(m.Calls)
			if m.Role == provider.RoleTool {
				answers++
			}
		}
		if calls != answers {
			t.Errorf("%d calls have %d answers", calls, answers)
		}
		_, _ = cut().Turn(r)
	})
}
