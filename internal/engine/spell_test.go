package engine

import (
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/policy"
)

// TestRulesOnPathsHoldForEverySpelling: a rule on a path argument cannot be passed by
// another spelling of it, nor a rule on a folder by a link on its way.
func TestRulesOnPathsHoldForEverySpelling(t *testing.T) {
	t.Parallel()
	value := func(s string) *policy.Value { v := policy.Value(`"` + s + `"`); return &v }
	m := makers(t)
	other := t.TempDir() // a root, by a link and where it lies
	real, link := filepath.Join(other, "real"), filepath.Join(other, "link")
	for _, d := range []string{real, filepath.Join(m.dir, "secret")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{link: real, filepath.Join(m.dir, "slink"): "secret", filepath.Join(other, "ws"): m.dir} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(real, "r.mp4"), []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.write("secret/s.mp4", "hidden")
	m.write("secret.mp4", "hidden, too")
	m.Roots = []string{link}
	deny := func(r policy.Rule) policy.Rule { r.Effect, r.Name = policy.Deny, "no"; return r }
	equals := deny(policy.Rule{Where: []policy.Where{{At: "/input", Equals: value("secret.mp4")}}})
	oneOf := deny(policy.Rule{Where: []policy.Where{{At: "/input", In: []policy.Value{*value("x"), *value("secret.mp4")}}}})
	glob := deny(policy.Rule{Where: []policy.Where{{At: "/output", Glob: "bad*"}}})
	for _, row := range []struct {
		rule          policy.Rule
		input, output string
		who           cutroom.Principal
	}{
		{rule: equals, input: "secret.mp4"},
		{rule: equals, input: "./secret.mp4"},
		{rule: equals, input: m.dir + "/secret.mp4"},
		{rule: equals, input: ".//secret.mp4"},
		{rule: equals, input: other + "/ws/secret.mp4", who: cutroom.Operator},
		{rule: oneOf, input: "./secret.mp4"},
		{rule: oneOf, input: m.dir + "/./secret.mp4"},
		{rule: glob, input: "a.mp4", output: "./bad.mp4"},
		{rule: glob, input: "a.mp4", output: m.dir + "/bad.mp4"},
		{rule: glob, input: "a.mp4", output: "secret/../bad.mp4"},
		{rule: deny(policy.Rule{Inputs: []string{real}}), input: link + "/r.mp4"},
		{rule: deny(policy.Rule{Inputs: []string{"slink"}}), input: "secret/s.mp4"},
		{rule: deny(policy.Rule{Where: []policy.Where{{At: "/input", Beneath: []string{"slink"}}}}), input: "secret/s.mp4"},
	} {
		if row.who.Name == "" {
			row.who = cutroom.Agent
		}
		m.Policy = policy.Shipped()
		m.Policy.Root = m.dir
		m.Policy.Rules = append([]policy.Rule{row.rule, {Name: "all", Effect: policy.Allow}}, m.Policy.Rules...)
		if row.output == "" {
			row.output = "new.mp4"
		}
		_, err := m.Invoke(t.Context(), Call{Tool: "engine.deliver_test", Input: []byte(`{"input":"` + row.input + `","output":"` + row.output + `"}`), Principal: row.who})
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied || e.Msg != `engine.deliver_test: the rule "no" says so` {
			t.Errorf("%s to %s: %v", row.input, row.output, err)
		}
	}
	// A link is made by whoever may write in the workspace: it widens no allow rule.
	m.Policy.Rules = []policy.Rule{{Name: "yes", Effect: policy.Allow, Inputs: []string{"slink"}}}
	if _, err := m.Invoke(t.Context(), Call{Tool: "engine.deliver_test", Input: []byte(`{"input":"secret/s.mp4","output":"new.mp4"}`), Principal: cutroom.Agent}); cutroom.AsError(err).Code != cutroom.Denied {
		t.Errorf("by a link: %v", err)
	}
}
