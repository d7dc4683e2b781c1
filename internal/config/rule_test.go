package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const wholeRule = `
principals:
  - name: reader
    kinds: [read, preview]
    scopes: ["tool:*"]
    limits: {max_file_bytes: 1000}
policy:
  rules:
    - name: exports stay in out
      effect: deny
      reason: exports go to ./out
      roles: [agent]
      tools: [edit.export]
      outputs_outside: [out]
    - effect: allow
      principals: [agent]
      network: true
      overwrite: any
      origins: ["https://*.example.com"]
      where:
        - {at: /start, at_least: 1.50}
        - at: /list/*/path
          beneath: raw
          not: true
        - {at: /preset, in: [a, 2, true, "3"]}
        - {at: /absent, present: false}
      within: {bytes: 1000, seconds: 600.5, cost: 0.25, calls_per_hour: 20}
`

func TestWholeRuleIsRead(t *testing.T) {
	t.Parallel()
	c, faults := Check([]byte(wholeRule))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []Rule{
		{Name: "exports stay in out", Effect: "deny", Reason: "exports go to ./out", Roles: []string{"agent"}, Tools: []string{"edit.export"}, OutputsOutside: []string{"out"}, Line: 9},
		{
			Name: "rule 2", Effect: "allow", Principals: []string{"agent"}, Network: "true", Overwrite: "any", Origins: []string{"https://*.example.com"}, Line: 15,
			Where: []Where{
				{At: "/start", AtLeast: "1.50", Line: 21},
				{At: "/list/*/path", Beneath: "raw", Not: true, Line: 22},
				{At: "/preset", In: []Scalar{`"a"`, "2", "true", `"3"`}, Line: 25},
				{At: "/absent", Present: "false", Line: 26},
			},
			Within: Amounts{Bytes: "1000", Seconds: "600.5", Cost: "0.25", CallsPerHour: "20"},
		},
	}
	if d := cmp.Diff(want, c.Policy.Rules); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Principal{{Name: "reader", Role: "agent", Kinds: []string{"read", "preview"}, Scopes: []string{"tool:*"}, Limits: Limits{MaxFileBytes: 1000}, Line: 3}}, c.Principals); d != "" {
		t.Error(d)
	}
	if w := c.Policy.Rules[1].Within; *w.Seconds.Micros() != 600_500_000 || *w.Bytes.Whole() != 1000 {
		t.Errorf("amounts are read as %v and %v", *w.Seconds.Micros(), *w.Bytes.Whole())
	}
}

// Every fault is found with its line, and says what would be right.
func TestFaultsOfRules(t *testing.T) {
	t.Parallel()
	rule := func(lines string) string { return "policy:\n  rules:\n    - " + lines }
	rows := map[string]struct{ text, fault, hint string }{
		"a key of a rule":       {rule("{efect: deny}"), `line 3: unknown key "policy.rules[0].efect"`, "did you mean policy.rules[0].effect?"},
		"a key of a condition":  {rule("effect: deny\n      where:\n        - {at: /a, equal: 1}"), `line 5: unknown key "policy.rules[0].where[0].equal"`, "policy.rules[0].where[0].equals"},
		"a far key":             {rule("{zzzzzzzz: deny}"), `line 3: unknown key`, "known keys here: name, effect"},
		"a key at the top":      {"polcy: {}", `line 1: unknown key "polcy"`, "did you mean policy?"},
		"no effect":             {rule("{name: x}"), `line 3: unknown effect ""`, "use allow, deny, ask"},
		"effect":                {rule("{effect: permit}"), `line 3: unknown effect "permit"`, "use allow, deny, ask"},
		"role":                  {rule("{effect: deny, roles: [root]}"), `line 3: unknown role "root"`, "operator, agent"},
		"kind":                  {rule("{effect: deny, kinds: [write]}"), `unknown kind "write"`, "read, preview, propose, approve, execute"},
		"risk":                  {rule("{effect: deny, risks: [huge]}"), `unknown risk "huge"`, "low, medium, high"},
		"glob":                  {rule(`{effect: deny, tools: ["a[", ""]}`), `tools: "a[" is not a glob`, "pattern"},
		"empty glob":            {rule(`{effect: deny, tools: [""]}`), `tools: "" is not a glob`, "pattern"},
		"empty folder":          {rule(`{effect: deny, inputs: [""]}`), `inputs: "" is empty`, ""},
		"NUL":                   {rule(`{effect: deny, inputs: ["a\0b"]}`), `inputs: "a\x00b" is empty or too long`, ""},
		"choice":                {rule("{effect: deny, network: maybe}"), `line 3: policy.rules[0].network: "maybe" is not true, false or any`, ""},
		"yes is no choice":      {rule("{effect: deny, network: yes}"), `"yes" is not true, false or any`, ""},
		"two names":             {rule("{name: a, effect: deny}\n    - {name: a, effect: ask}"), `line 4: the name "a" is taken by the rule of line 3`, ""},
		"name of a default":     {rule("{name: rule 2, effect: deny}\n    - {effect: ask}"), `line 4: the name "rule 2" is taken`, ""},
		"no pointer":            {rule("{effect: deny, where: [{at: a, equals: 1}]}"), `at: "a" is not a JSON pointer`, "/member"},
		"no escape":             {rule("{effect: deny, where: [{at: /a~2, equals: 1}]}"), `at: "/a~2" is not a JSON pointer`, "~0"},
		"no test":               {rule("{effect: deny, where: [{at: /a}]}"), "exactly one test; this has 0", "equals"},
		"two tests":             {rule("{effect: deny, where: [{at: /a, equals: 1, glob: x}]}"), "exactly one test; this has 2", "equals"},
		"text to compare":       {rule("{effect: deny, where: [{at: /a, at_most: five}]}"), "take a number", "seconds"},
		"present and not":       {rule("{effect: deny, where: [{at: /a, present: true, not: true}]}"), "present is neither", "present: false"},
		"null alone":            {rule("{effect: deny, where: [{at: /a, equals: null}]}"), "exactly one test", ""},
		"a list to be equal to": {rule("{effect: deny, where: [{at: /a, equals: [1]}]}"), "line 3: policy.rules[0].where[0].equals: this is a list or a mapping", ""},
		"null":                  {rule("{effect: deny, where: [{at: /a, in: [null]}]}"), "a value of in is missing", ""},
		"hexadecimal":           {rule("{effect: deny, where: [{at: /a, equals: 0x10}]}"), "decimal digits", ""},
		"exponent":              {rule("{effect: deny, where: [{at: /a, equals: 1e4}]}"), "decimal digits", ""},
		"negative bytes":        {rule("{effect: deny, over: {bytes: -1}}"), "over.bytes is no whole number", ""},
		"half a call":           {rule("{effect: deny, over: {calls_per_hour: 0.5}}"), "over.calls_per_hour is no whole number", ""},
		"time as text":          {rule(`{effect: deny, over: {seconds: "00:01"}}`), "over.seconds is no number", "600"},
		"rules as a mapping":    {"policy:\n  rules:\n    effect: deny", "the value does not fit: a list is expected", ""},
		"anchor":                {"a: &x [1]\nb: *x", "refers to another part", "write the lines out"},
		"merge":                 {rule("{<<: {effect: deny}}"), `unknown key "policy.rules[0].<<"`, ""},
		"a key twice":           {rule("{effect: deny, effect: allow}"), `"effect" already defined`, ""},
		"two documents":         {"limits: {}\n---\nlimits: {}\n", "more than one document", ""},
		"deep":                  {"policy: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested too deeply", ""},
		"no YAML":               {"a: [", "is not YAML", "indentation"},
		"a name in capitals":    {"principals: [{name: CI}]", `line 1: "CI" is not a name of a principal`, "lower-case"},
		"the plain principal":   {"principals: [{name: agent}]", `"agent" is the plain principal`, ""},
		"a principal twice":     {"principals: [{name: a}, {name: a}]", `the principal "a" is there twice`, ""},
		"kind of a principal":   {"principals: [{name: a, kinds: [all]}]", `unknown kind "all"`, ""},
		"role of a principal":   {"principals: [{name: a, role: root}]", `unknown role "root"`, ""},
		"limits of a principal": {"principals: [{name: a, limits: {max_frames: -1}}]", "a limit is negative", ""},
		"too many conditions":   {rule("effect: deny\n      where:\n" + strings.Repeat("        - {at: /a, equals: 1}\n", 21)), "where has 21 conditions, more than 20", ""},
		"too long a list":       {rule("{effect: deny, tools: [" + strings.Repeat("a, ", 101) + "a]}"), "tools has 102 entries, more than 100", ""},
		"too long a text":       {rule("{effect: deny, reason: " + strings.Repeat("a", 501) + "}"), "the reason is too long", ""},
		"too many rules":        {"policy:\n  rules:\n" + strings.Repeat("    - {effect: deny}\n", 201), "there are 201 rules, more than 200", ""},
	}
	for name, r := range rows {
		_, faults := Check([]byte(r.text))
		if len(faults) == 0 {
			t.Errorf("%s: nothing is found", name)
			continue
		}
		ok := false
		for _, f := range faults {
			ok = ok || strings.Contains(f.text(), r.fault) && strings.Contains(f.Hint, r.hint)
		}
		if !ok {
			t.Errorf("%s: found %+v, want %q with %q", name, faults, r.fault, r.hint)
		}
		if _, err := Parse([]byte(r.text)); err == nil {
			t.Errorf("%s: the file is read all the same", name)
		}
	}
}

func TestEmptyFilesAreRight(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "policy:\n", "policy: {rules: []}\n", "{}"} {
		if _, faults := Check([]byte(text)); len(faults) > 0 {
			t.Errorf("%q: %v", text, faults)
		}
	}
}

func TestWorkspaceRulesOnlyNarrow(t *testing.T) {
	t.Parallel()
	user := File{Path: "user", Text: []byte("policy: {rules: [{effect: allow, tools: [edit.*]}]}")}
	for text, part := range map[string]string{
		"policy: {rules: [{effect: allow}]}": `line 1: the rule "rule 1" allows, but a workspace can only narrow`,
		"principals: [{name: ci}]":           "names principals",
	} {
		_, _, err := Load(user, File{Path: "workspace", Text: []byte(text)})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c, w, err := Load(user, File{Path: "workspace", Text: []byte("policy: {rules: [{effect: deny}, {effect: ask}]}")})
	if err != nil || len(c.Policy.Rules) != 1 || len(w.Policy.Rules) != 2 {
		t.Errorf("%+v, %+v, %v", c.Policy, w.Policy, err)
	}
}

// FuzzCheck: whatever the bytes, reading ends, never panics, and what is read is whole:
// every rule has an effect, a name of its own and a line.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(wholeRule))
	f.Add([]byte("policy: {rules: [{effect: deny, where: [{at: /a/*, in: [1, x]}]}]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte(wholeLens))
	f.Add([]byte("lens: {asr: {endpoints: [a, {url: b}]}}\nmodels: [{id: a}, {provider: b}]"))
	f.Add([]byte("principals: [{name: a}]\nagent: {tools: [x]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, faults := Check(data)
		if len(faults) > 0 {
			for _, x := range faults {
				if x.Message == "" || x.Line < 0 {
					t.Fatalf("a fault that says nothing: %+v", x)
				}
			}
			return
		}
		for _, m := range c.Models {
			if m.ID == "" || m.Provider == "" || m.Wire == "" || m.BaseURL == "" || m.Name == "" || m.Line < 1 {
				t.Fatalf("%+v", m)
			}
		}
		for _, e := range c.Lens.ASR.All() {
			if _, err := e.Words(); e.Command != "" && err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Show(File{Text: data}, File{}); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, r := range c.Policy.Rules {
			if r.Name == "" || names[r.Name] || r.Effect != "allow" && r.Effect != "deny" && r.Effect != "ask" || r.Line < 1 {
				t.Fatalf("%+v", r)
			}
			names[r.Name] = true
			for _, w := range r.Where {
				if w.At == "" || w.Line < 1 {
					t.Fatalf("%+v", w)
				}
			}
		}
	})
}
