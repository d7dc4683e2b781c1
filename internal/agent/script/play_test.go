package script_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
)

// anyScript draws a script whose later steps need results of earlier ones, and a goal.
func anyScript(t *rapid.T) *script.Script {
	steps := rapid.IntRange(1, 12).Draw(t, "steps")
	var e script.Entry
	e.Goal = "the goal"
	ref := func(n int) string {
		step := rapid.IntRange(0, n-1).Draw(t, "step")
		call := rapid.IntRange(0, len(e.Steps[step].Calls)-1).Draw(t, "call")
		path := rapid.SampledFrom([]string{"output.n", "output.list[-1].x", "output.list", "output", "text", "output.n + 0.5", "run"}).Draw(t, "path")
		return fmt.Sprintf("${steps[%d].calls[%d].%s}", step, call, path)
	}
	for n := range steps {
		var st script.Step
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			input := `{"file":"${files[1]}","plain":"` + rapid.SampledFrom([]string{"a", "$", "}{", "日本"}).Draw(t, "plain") + `"}`
			if n > 0 && rapid.Bool().Draw(t, "refers") {
				input = fmt.Sprintf(`{"a":"%s","b":{"c":["x %s y"]}}`, ref(n), ref(n))
			}
			st.Calls = append(st.Calls, script.Do("t.x", input))
		}
		e.Steps = append(e.Steps, st)
	}
	e.Final = script.Step{Say: "done: " + ref(steps)}
	return script.Must(e)
}

// result is what the tool answers: it depends on the call alone.
func result(c provider.ToolCall) string {
	return fmt.Sprintf(`{"n":%d.25,"list":[{"x":"%s"},{"x":[%d]}],"run_id":"%s"}`, len(c.Input), c.ID, len(c.ID), c.ID)
}

// runner is a small loop over a script: between two requests it may do something to what
// it keeps.
type runner struct {
	s     *script.Script
	calls []provider.ToolCall
	final string
}

func (r *runner) run(messages []provider.Message, between func([]provider.Message) ([]provider.Message, error)) error {
	for range 100 {
		t, err := r.s.Turn(provider.Request{Messages: messages, Tools: offer("t_x")})
		if err != nil {
			return err
		}
		m := provider.Message{Role: provider.RoleAssistant, Calls: t.Calls}
		if t.Say != "" {
			m.Parts = []provider.Part{provider.TextPart(t.Say)}
		}
		messages = append(messages, m)
		if len(t.Calls) == 0 {
			r.final = t.Say
			return nil
		}
		r.calls = append(r.calls, t.Calls...)
		for _, c := range t.Calls {
			messages = append(messages, provider.Message{Role: provider.RoleTool, CallID: c.ID, Parts: []provider.Part{provider.TextPart(result(c))}})
		}
		if messages, err = between(messages); err != nil {
			return err
		}
	}
	return errors.New("no end")
}

// compacted is a conversation of which all but the last turns became a summary, placed in
// one of the ways in which agents do that.
func (r *runner) compacted(messages []provider.Message, keep int, way string) ([]provider.Message, error) {
	cut := len(messages)
	for n := 0; n < keep && cut > 2; {
		cut--
		if messages[cut].Role == provider.RoleAssistant {
			n++
		}
	}
	ask := append(append([]provider.Message{}, messages[:cut]...), says(provider.RoleUser, "Sum up what was done for the goal so far."))
	if way == "written out" { // as the agent asks
		var b strings.Builder
		for _, m := range messages[2:cut] {
			line, err := json.Marshal(m)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%s\n", line)
		}
		ask = []provider.Message{says(provider.RoleSystem, "Sum these up."), says(provider.RoleUser, b.String())}
		if cut == 2 {
			return messages, nil
		}
	}
	t, err := r.s.Turn(provider.Request{Messages: ask})
	if err != nil {
		return nil, err
	}
	if !t.Summary && cut > 2 {
		return nil, errors.New("that was no summary: " + t.Say)
	}
	if !t.Summary {
		return messages, nil
	}
	var out []provider.Message
	switch way {
	case "behind the goal", "written out":
		out = []provider.Message{messages[0], messages[1], says(provider.RoleUser, "So far:\n"+t.Say)}
	case "within the instructions":
		out = []provider.Message{says(provider.RoleSystem, messages[0].Text()+"\n\n"+t.Say+"\n"), messages[1]}
	case "as the model's own":
		out = []provider.Message{messages[0], messages[1], says(provider.RoleAssistant, t.Say), says(provider.RoleUser, "Go on.")}
	default:
		out = []provider.Message{messages[0], says(provider.RoleUser, messages[1].Text()+"\n\n"+t.Say)}
	}
	return append(out, messages[cut:]...), nil
}

// TestGoesOn: whatever is kept of a conversation, however often it was summed up and read
// again, the calls and the final text are the same, each call once.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyScript(t)
		begin := []provider.Message{says(provider.RoleSystem, "be good"), says(provider.RoleUser, script.WithFiles("please reach the goal now", []string{"a.mp4", "b c.mp4"}))}
		plain := &runner{s: s}
		if err := plain.run(begin, func(m []provider.Message) ([]provider.Message, error) { return m, nil }); err != nil {
			t.Fatal(err)
		}
		way := rapid.SampledFrom([]string{"behind the goal", "within the instructions", "as the model's own", "with the goal", "written out"}).Draw(t, "way")
		other := &runner{s: s}
		err := other.run(begin, func(m []provider.Message) ([]provider.Message, error) {
			doc, err := json.Marshal(m)
			if err != nil {
				return nil, err
			}
			var back []provider.Message
			if err := json.Unmarshal(doc, &back); err != nil {
				return nil, err
			}
			if !rapid.Bool().Draw(t, "compact") {
				return back, nil
			}
			return other.compacted(back, rapid.IntRange(0, 3).Draw(t, "keep"), way)
		})
		if err != nil {
			t.Fatal(way, err)
		}
		if diff := cmp.Diff(plain.calls, other.calls); diff != "" || plain.final != other.final {
			t.Fatalf("%s: %s\n%q\n%q", way, diff, plain.final, other.final)
		}
	})
}

// TestByInstructions: a run that has its goal in the instructions alone begins with it.
func TestByInstructions(t *testing.T) {
	t.Parallel()
	s := parse(t, whole)
	turn, err := s.Turn(provider.Request{Tools: offer("x"), Messages: []provider.Message{says(provider.RoleSystem, "Goal: the best moment"), says(provider.RoleUser, "Begin.")}})
	if err != nil || len(turn.Calls) != 2 || turn.Calls[1].ID != "call_0_0_0_1" {
		t.Errorf("%+v %v", turn, err)
	}
}

// TestPicturesAreNoPrompt: what tools answer besides text comes as the user on a wire that
// has no other place, and begins nothing.
func TestPicturesAreNoPrompt(t *testing.T) {
	t.Parallel()
	s := script.Must(
		script.Entry{Goal: "tools returned", Final: script.Step{Say: "fooled"}},
		script.Entry{Goal: "look", Steps: []script.Step{{Calls: []script.Call{script.Do("a", "")}}}, Final: script.Step{Say: "seen"}},
	)
	turn, err := s.Turn(provider.Request{Tools: offer("a"), Messages: []provider.Message{
		says(provider.RoleUser, "look"),
		{Role: provider.RoleAssistant, Calls: []provider.ToolCall{{ID: "call_0_1_0_0", Name: "a", Input: "{}"}}},
		{Role: provider.RoleTool, CallID: "call_0_1_0_0", Parts: []provider.Part{provider.TextPart("```script-state\n{\"entry\":0}\n```")}},
		{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("What the tools returned"), {Kind: provider.Image, Type: "image/png", Data: []byte("x")}}},
	}})
	if err != nil || turn.Say != "seen" {
		t.Errorf("%+v %v", turn, err)
	}
}

func faulty(f script.Fault) *script.Model {
	return &script.Model{Name: "m", Script: script.Must(script.Entry{Goal: "", Final: script.Step{Say: "ok", Fault: &f}})}
}

// TestFaults: each fault happens as often as it should, as a chain sees it.
func TestFaults(t *testing.T) {
	t.Parallel()
	ask := provider.Request{Messages: []provider.Message{says(provider.RoleUser, "x")}}
	for _, c := range []struct {
		fault script.Fault
		class provider.Class
		times int
	}{
		{script.Fault{Status: 429, RetryAfter: 7 * time.Second}, provider.RateLimited, 1},
		{script.Fault{Status: 401, Times: 2}, provider.Auth, 2},
		{script.Fault{Status: 402}, provider.Quota, 1},
		{script.Fault{Status: 500}, provider.Unavailable, 1},
		{script.Fault{Status: 504}, provider.TimedOut, 1},
		{script.Fault{Status: 422}, provider.BadRequest, 1},
		{script.Fault{Cut: true, Times: 3}, provider.Unavailable, 3},
		{script.Fault{Cut: true, Model: "other"}, "", 0},
	} {
		m := faulty(c.fault)
		for range c.times {
			_, err := m.Reply(t.Context(), ask)
			f, ok := errors.AsType[*provider.Fault](err)
			if !ok || f.Class != c.class || f.RetryAfter != c.fault.RetryAfter {
				t.Errorf("%+v: %v %+v", c.fault, err, f)
			}
		}
		if r, err := m.Reply(t.Context(), ask); err != nil || r.Message.Text() != "ok" || r.Stop != provider.StopEnd {
			t.Errorf("%+v: %+v %v", c.fault, r, err)
		}
	}
	always := faulty(script.Fault{Status: 500, Times: -1})
	for range 5 {
		if _, err := always.Reply(t.Context(), ask); err == nil {
			t.Error("a fault that always comes did not")
		}
	}
}

// TestSlow: what is slow comes late, and not at all to somebody who left.
func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ask := provider.Request{Messages: []provider.Message{says(provider.RoleUser, "x")}}
		m, begun := faulty(script.Fault{Slow: time.Minute}), time.Now()
		if r, err := m.Reply(t.Context(), ask); err != nil || r.Message.Text() != "ok" || time.Since(begun) != time.Minute {
			t.Errorf("%+v %v after %s", r, err, time.Since(begun))
		}
	})
}

// FuzzParse: no file is read into a script that cannot be played, and every complaint
// says what to do.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(wholeJSON))
	f.Add([]byte("- goal: x\n  final: '${steps[0].calls[0].output.a[1].b - 0.5}'"))
	f.Add([]byte("- {goal: /x/, steps: [{calls: [{tool: a, input: {b: '$${'}}], fault: {hang: true}}], final: y}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "script") || !strings.HasSuffix(err.Error(), ")") {
				t.Errorf("no complaint of ours, or one without a hint: %v", err)
			}
			return
		}
		for _, goal := range s.Goals() {
			_, _ = s.Turn(provider.Request{Messages: []provider.Message{says(provider.RoleUser, goal)}, Tools: offer("a")})
		}
	})
}

// FuzzTurn: no conversation makes the model panic or say something that is none of its
// script's.
func FuzzTurn(f *testing.F) {
	f.Add("best moment", "call_0_0_0_0", `{"title":"x","sections":[{"start":1}]}`, "assistant")
	f.Add("best", "call_0_0_1_0", "```script-state\n{\"entry\":0,\"round\":0,\"steps\":2,\"finished\":false,\"values\":{\"steps[1].calls[0].output.path\":1}}\n```", "user")
	f.Add("x", "call_9_9_9_9", "```script-state\n{}\n```", "system")
	f.Fuzz(func(t *testing.T, prompt, id, text, role string) {
		s := parse(t, whole)
		turn, err := s.Turn(provider.Request{Tools: offer("media_watch"), Messages: []provider.Message{
			says(provider.RoleUser, prompt),
			{Role: provider.RoleAssistant, Calls: []provider.ToolCall{{ID: id}}},
			{Role: provider.RoleTool, CallID: id, Parts: []provider.Part{provider.TextPart(text)}},
			says(provider.Role(role), text),
		}})
		if err == nil && turn.Step > 2 || turn.Entry > 1 {
			t.Errorf("%+v", turn)
		}
	})
}
