package script_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
)

const whole = `
# a whole script
- goal: best moment
  steps:
    - say: I look first.
      think: what is there?
      calls:
        - tool: media.watch
          input: {path: clip.mp4, detail: brief}
        - {tool: measure.probe, input: {path: "a: b # c"}}
    - calls:
        - tool: edit.cut
          input:
            path: clip.mp4
            start: ${steps[0].calls[0].output.sections[-1].start}
            end: ${steps[0].calls[0].output.sections[-1].start + 20}
            title: "from ${steps[0].calls[0].output.title} $${not this}"
            all: ["${steps[0].calls[0].output.sections}", 1.50, true, null]
      usage: {input: 1000, output: 10}
      fault: {status: 429, retry_after: 7s, times: 2}
  final: "It is ${steps[1].calls[0].output.path}, from ${steps[0].calls[0].output.sections[-1].start} s."
- goal: /(?i)silen(ce|t)/
  final:
    say: There is none in ${files[1]}.
    usage: {output: 3}
`

const wholeJSON = `[
	{"goal": "best moment", "steps": [
		{"say": "I look first.", "think": "what is there?", "calls": [
			{"tool": "media.watch", "input": {"path": "clip.mp4", "detail": "brief"}},
			{"tool": "measure.probe", "input": {"path": "a: b # c"}}]},
		{"calls": [{"tool": "edit.cut", "input": {
			"path": "clip.mp4",
			"start": "${steps[0].calls[0].output.sections[-1].start}",
			"end": "${steps[0].calls[0].output.sections[-1].start + 20}",
			"title": "from ${steps[0].calls[0].output.title} $${not this}",
			"all": ["${steps[0].calls[0].output.sections}", 1.50, true, null]}}],
		 "usage": {"input": 1000, "output": 10},
		 "fault": {"status": 429, "retry_after": "7s", "times": 2}}],
	 "final": "It is ${steps[1].calls[0].output.path}, from ${steps[0].calls[0].output.sections[-1].start} s."},
	{"goal": "/(?i)silen(ce|t)/", "final": {"say": "There is none in ${files[1]}.", "usage": {"output": 3}}}
]`

func parse(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func says(role provider.Role, text string) provider.Message {
	return provider.Message{Role: role, Parts: []provider.Part{provider.TextPart(text)}}
}

// offer are the tools of a request, as the agent names them on the wire.
func offer(names ...string) []provider.Tool {
	var list []provider.Tool
	for _, n := range names {
		list = append(list, provider.Tool{Name: n})
	}
	return list
}

// TestWhole plays a script, YAML and JSON, step by step.
func TestWhole(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"YAML": whole, "JSON": wholeJSON} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, text)
			if diff := cmp.Diff([]string{"media.watch", "measure.probe", "edit.cut"}, s.Tools()); diff != "" {
				t.Error(diff)
			}
			r := provider.Request{Tools: offer("media_watch", "edit_cut"), Messages: []provider.Message{
				says(provider.RoleSystem, "You work on media."), says(provider.RoleUser, "Find the best moment of clip.mp4"),
			}}
			first, err := s.Turn(r)
			if err != nil {
				t.Fatal(err)
			}
			want := []provider.ToolCall{
				{ID: "call_0_0_0_0", Name: "media_watch", Input: `{"path":"clip.mp4","detail":"brief"}`},
				{ID: "call_0_0_0_1", Name: "measure_probe", Input: `{"path":"a: b # c"}`},
			}
			if diff := cmp.Diff(want, first.Calls); diff != "" || first.Say != "I look first." || first.Think != "what is there?" {
				t.Errorf("%s%+v", diff, first)
			}
			r.Messages = append(
				r.Messages, provider.Message{Role: provider.RoleAssistant, Calls: first.Calls},
				provider.Message{Role: provider.RoleTool, CallID: "call_0_0_0_1", Parts: []provider.Part{provider.TextPart(`{}`)}},
				provider.Message{Role: provider.RoleTool, CallID: "call_0_0_0_0", Parts: []provider.Part{provider.TextPart("It says:\n{broken\n" +
					`{"title":"a \"b\"","sections":[{"start":1},{"start":12.25}]}` + "\nend")}},
			)
			second, err := s.Turn(r)
			if err != nil {
				t.Fatal(err)
			}
			want = []provider.ToolCall{{ID: "call_0_0_1_0", Name: "edit_cut", Input: `{"path":"clip.mp4","start":12.25,"end":32.25,` +
				`"title":"from a \"b\" ${not this}","all":[[{"start":1},{"start":12.25}],1.50,true,null]}`}}
			if diff := cmp.Diff(want, second.Calls); diff != "" {
				t.Error(diff)
			}
			if second.Usage != (provider.Usage{Input: 1000, Output: 10}) || second.Fault == nil || second.Fault.Times != 2 {
				t.Errorf("%+v %+v", second.Usage, second.Fault)
			}
			r.Messages = append(r.Messages, provider.Message{Role: provider.RoleAssistant, Calls: second.Calls}, provider.Message{
				Role: provider.RoleTool, CallID: "call_0_0_1_0", Parts: []provider.Part{provider.TextPart(`{"path":"out.mp4"}`)},
			})
			last, err := s.Turn(r)
			if err != nil || last.Say != "It is out.mp4, from 12.25 s." || len(last.Calls) > 0 || last.Step != 2 {
				t.Errorf("%+v %v", last, err)
			}
			// The next prompt begins its own entry.
			r.Messages = append(r.Messages, says(provider.RoleAssistant, last.Say), says(provider.RoleUser, "Is anything SILENT?\n\nFiles:\n- a.mp4\n- b c.mp4\n"))
			next, err := s.Turn(r)
			if err != nil || next.Say != "There is none in b c.mp4." || next.Entry != 1 {
				t.Errorf("%+v %v", next, err)
			}
			// So does the same prompt, once it was answered.
			r.Messages = append(r.Messages, says(provider.RoleAssistant, next.Say), says(provider.RoleUser, "Another best moment"))
			again, err := s.Turn(r)
			if err != nil || len(again.Calls) != 2 || again.Calls[0].ID != "call_2_0_0_0" {
				t.Errorf("%+v %v", again, err)
			}
		})
	}
}

// TestParseFaults: each fault is named with its line and what to do.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	entry := "- goal: x\n  steps:\n    - calls:\n        - tool: a.b\n          input: {p: %s}\n  final: done\n"
	with := func(v string) string { return strings.Replace(entry, "%s", v, 1) }
	for _, c := range []struct{ name, text, says, hint string }{
		{"empty", "", "the file is empty", "docs/agent.md"},
		{"mapping", "goal: x", "line 1: the file holds a mapping of keys, and not a list of entries", "- goal:"},
		{"no YAML", "- goal: [", "line 1: this is not YAML", "indentation"},
		{"two documents", "- goal: x\n  final: y\n---\n- goal: z\n", "more than one document", "---"},
		{"an alias", "- goal: &a x\n  final: *a\n", "line 1: this refers to another part", "write the lines out"},
		{"an anchored key", "- &a goal: x\n  final: y\n", "line 1: a key is no plain word", "docs/agent.md"},
		{"a list as key", "- [a]: x\n", "line 1: a key is no plain word", "docs/agent.md"},
		{"unknown key", "- gaol: x\n  final: y\n", `line 1: an entry has no key "gaol"`, "did you mean goal?"},
		{"unknown key of a step", "- goal: x\n  steps:\n  - cals: []\n  final: y", `line 3: a step has no key "cals"`, "did you mean calls?"},
		{"unknown key of a call", "- goal: x\n  steps:\n  - calls: [{tool: a, arguments: {}}]\n  final: y", `line 3: a call has no key "arguments"`, "known keys here: input, tool"},
		{"twice", "- goal: x\n  final: y\n  goal: z\n", `line 3: the key "goal" stands twice`, "line 1"},
		{"no goal", "- final: y\n", "line 1: the entry has no goal", "goal:"},
		{"no final", "- goal: x\n", "line 1: the entry has no final text", "final:"},
		{"no calls", "- goal: x\n  steps: [{say: hm}]\n  final: y\n", "line 2: the step has no calls", "final"},
		{"goal is a list", "- goal: [x]\n  final: y\n", "line 1: goal is a list", "a text"},
		{"final is a number", "- goal: x\n  final: 3\n", "line 2: a step is a number", "mapping"},
		{"no regular expression", "- goal: /(/\n  final: y\n", "line 1: the goal", "regexp/syntax"},
		{"no tool", "- goal: x\n  steps: [{calls: [{input: {}}]}]\n  final: y", "line 2: the call has no tool", "cutroom tool list"},
		{"bad tool", "- goal: x\n  steps: [{calls: [{tool: rm -rf}]}]\n  final: y", `"rm -rf" is no name of a tool`, "cutroom tool list"},
		{"input is a text", "- goal: x\n  steps: [{calls: [{tool: a, input: b}]}]\n  final: y", "line 2: input is a text", "fields"},
		{"octal", with("0o17"), `line 5: "0o17" is no number as JSON writes one`, "decimal"},
		{"infinite", with(".inf"), `".inf" is no number`, "quotes"},
		{"open reference", with(`"${steps[0]"`), "line 3: a reference is not closed", "$${"},
		{"unknown reference", with(`"${goal}"`), "the reference ${goal} is none that is known", "${steps[0].calls[0].output"},
		{"own step", with(`"${steps[0].calls[0].output.x}"`), "refers to a step that is not before this one", "of a step before"},
		{"no such call", with("1") + "", "", ""},
		{"broken path", "- goal: x\n  steps: [{calls: [{tool: a}]}]\n  final: '${steps[0].calls[0].output.x[y]}'", `is broken at "[y]"`, "FIELD"},
		{"call out of range", "- goal: x\n  steps: [{calls: [{tool: a}]}]\n  final: '${steps[0].calls[1].output.x}'", "refers to a call that its step does not have", "FIELD"},
		{"after text", "- goal: x\n  steps: [{calls: [{tool: a}]}]\n  final: '${steps[0].calls[0].text.x}'", "goes on after .text, which is whole", "FIELD"},
		{"two faults", "- goal: x\n  final: {say: y, fault: {cut: true, status: 500}}", "line 2: the fault is several at once", "keep one"},
		{"no fault", "- goal: x\n  final: {say: y, fault: {times: 2}}", "the fault is none", "set one"},
		{"status 200", "- goal: x\n  final: {say: y, fault: {status: 200}}", "the fault's status is 200", "400"},
		{"slow number", "- goal: x\n  final: {say: y, fault: {slow: 3}}", "slow is no time", "300ms"},
		{"negative usage", "- goal: x\n  final: {say: y, usage: {input: -3}}", "input is negative", "from 0"},
		{"half a token", "- goal: x\n  final: {say: y, usage: {input: 1.5}}", "input is no whole number", "digits"},
		{"JSON twice", "[\n{\"goal\": \"x\",\n \"goal\": \"y\"}]", "line 3: a key stands twice", "keep one"},
		{"no JSON", "[\n{\"goal\": \"x\",}]", "line 2: this is not JSON", "commas"},
		{"JSON and more", "[{\"goal\": \"x\", \"final\": \"y\"}]\n[]", "line 2: something follows", "take it out"},
		{"binary", "- goal: \x00", "not text in UTF-8", "UTF-8"},
		{"Latin-1", "- goal: \xe9", "not text in UTF-8", "UTF-8"},
		{"deep", "- goal: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), "nested too deeply", "40"},
		{"deep JSON", strings.Repeat("[", 60) + strings.Repeat("]", 60), "nested too deeply", "40"},
		{"long", "- goal: x" + strings.Repeat(" ", script.MaxFile), "larger than", "split"},
		{"no entries", "[]", "it has 0 entries", "with a goal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := script.Parse([]byte(c.text))
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e, ok := errors.AsType[*cutroom.Error](err)
			if !ok || !strings.Contains(e.Msg, c.says) || !strings.Contains(e.Hint, c.hint) || !strings.HasPrefix(e.Msg, "script") {
				t.Errorf("got %v, want %q with the hint %q", err, c.says, c.hint)
			}
		})
	}
}

// TestNoAnswer: what a script cannot answer is a fault that says why.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := parse(t, whole)
	begun := []provider.Message{says(provider.RoleUser, "best moment"), {Role: provider.RoleAssistant, Calls: []provider.ToolCall{{ID: "call_0_0_0_0"}, {ID: "call_0_0_0_1"}}}}
	result := func(text string) []provider.Message {
		return append(append([]provider.Message{}, begun...), provider.Message{Role: provider.RoleTool, CallID: "call_0_0_0_0", Parts: []provider.Part{provider.TextPart(text)}})
	}
	for _, c := range []struct {
		name     string
		messages []provider.Message
		says     string
	}{
		{"no goal", []provider.Message{says(provider.RoleUser, "make coffee")}, `no entry is for this goal; its goals are "best moment", "/(?i)silen(ce|t)/"`},
		{"no result", begun, "${steps[0].calls[0].output.sections[-1].start} in line 11: the conversation no longer holds that result"},
		{"failed", result("error: the file is not there"), `holds no JSON object; it begins with "error: the file`},
		{"empty list", result(`{"title":"x","sections":[]}`), "output.sections has no [-1]"},
		{"no member", result(`{"title":"x"}`), "output has no .sections"},
		{"no number", result(`{"title":"x","sections":[{"start":"one"}]}`), "it is no number, so nothing can be added"},
		{"no file", []provider.Message{says(provider.RoleUser, "silence?\n\nFiles:\n- a.mp4")}, "${files[1]} in line 24: the prompt names fewer files"},
		{"vast number", result(`{"title":"x","sections":[{"start":1e999999999}]}`), "it is no number, so nothing can be added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Turn(provider.Request{Messages: c.messages, Tools: offer("media_watch")})
			f, ok := errors.AsType[*provider.Fault](err)
			if !ok || f.Class != provider.BadRequest || !strings.Contains(f.Message, c.says) {
				t.Errorf("got %v %s, want %q", err, f.Message, c.says)
			}
		})
	}
}

// TestCutResult: of a result that was cut off, what stands before the cut is still there.
func TestCutResult(t *testing.T) {
	t.Parallel()
	const doc = `{"a":"x","list":[{"s":1},{"s":2},{"s":3}],"o":{"p":{"q":"deep","z":1},"run_id":"r"},"end":true}`
	cases := map[string]string{"a": "x", "list[0].s": "1", "list[2].s": "3", "list[-1].s": "3", "list[-3].s": "1", "o.p.q": "deep", "end": "true", "list[1].s + 3720.0625 as time": "1:02:02.063", "list[1].s - 2": "0", "list[0].s + 9": "10"}
	for path, want := range cases {
		s := script.Must(script.Entry{Steps: []script.Step{{Calls: []script.Call{script.Do("t", "")}}}, Final: script.Step{Say: "${steps[0].calls[0].output." + path + "}"}})
		found := 0
		for n := range len(doc) + 1 {
			turn, err := s.Turn(provider.Request{Tools: offer("t"), Messages: []provider.Message{
				says(provider.RoleUser, "x"),
				{Role: provider.RoleAssistant, Calls: []provider.ToolCall{{ID: "call_0_0_0_0"}}},
				{Role: provider.RoleTool, CallID: "call_0_0_0_0", Parts: []provider.Part{provider.TextPart(doc[:n])}},
			}})
			if err == nil {
				found++
			}
			if err == nil && turn.Say != want {
				t.Errorf("%s of %s is %q", path, doc[:n], turn.Say)
			}
		}
		if whole := len(doc) + 1 - strings.Index(doc, `"deep"`); found == 0 || path != "end" && !strings.Contains(path, "[-") && !strings.Contains(path, " ") && found < whole/2 {
			t.Errorf("%s was found in %d of %d beginnings", path, found, len(doc)+1)
		}
	}
}
