package policy

import (
	"testing"

	"cutroom"
)

func TestShipped(t *testing.T) {
	t.Parallel()
	rows := []struct {
		who  cutroom.Principal
		tool string
		kind cutroom.Kind
		req  Request
		want Effect
	}{
		{cutroom.Agent, "video.probe", cutroom.Read, Request{}, Allow},
		{cutroom.Operator, "video.probe", cutroom.Read, Request{}, Allow},
		{cutroom.Agent, "video.download", cutroom.Execute, Request{Network: true}, Ask},
		{cutroom.Operator, "video.download", cutroom.Execute, Request{Network: true}, Ask},
		{cutroom.Agent, "edit.cut", cutroom.Execute, Request{Writes: true}, Allow},
		{cutroom.Agent, "edit.cut", cutroom.Execute, Request{Writes: true, Overwrite: true}, Ask},
		{cutroom.Agent, "inventory.scan", cutroom.Execute, Request{}, Ask},
		{cutroom.Operator, "edit.cut", cutroom.Execute, Request{Writes: true, Overwrite: true}, Allow},
	}
	for _, r := range rows {
		r.req.Principal, r.req.Tool, r.req.Kind = r.who, r.tool, r.kind
		if got := Shipped().Decide(r.req); got.Effect != r.want || got.Reason == "" {
			t.Errorf("%s %s: got %v, want %s", r.who.Role, r.tool, got, r.want)
		}
	}
}

func TestNoPolicyRefuses(t *testing.T) {
	t.Parallel()
	for _, k := range cutroom.Kinds {
		q := Request{Principal: cutroom.Operator, Tool: "video.probe", Kind: k}
		if d := (Policy{}).Decide(q); d.Effect != Deny {
			t.Errorf("an empty policy answers %s for %s", d.Effect, k)
		}
	}
	if (Policy{}).Lists(cutroom.Agent, Tool{Name: "video.probe"}) {
		t.Error("an empty policy lists a tool")
	}
	if d := (Policy{}).Ceiling(cutroom.Agent, cutroom.Read); d.Effect != Deny {
		t.Errorf("an empty policy has the ceiling %v", d)
	}
}

func TestNarrowOnlyNarrows(t *testing.T) {
	t.Parallel()
	p := Shipped().Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.*"}, Kinds: []cutroom.Kind{cutroom.Read}})
	if !p.Lists(cutroom.Agent, Tool{Name: "video.probe"}) || p.Lists(cutroom.Agent, Tool{Name: "media.watch"}) || !p.Lists(cutroom.Operator, Tool{Name: "media.watch"}) {
		t.Error("the allow-list of the agent is wrong")
	}
	if p.Ceiling(cutroom.Agent, cutroom.Execute).Effect != Deny || p.Ceiling(cutroom.Agent, cutroom.Read).Effect != Allow {
		t.Error("the ceiling of the agent is wrong")
	}
	again := p.Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"*"}, Kinds: cutroom.Kinds})
	if again.Lists(cutroom.Agent, Tool{Name: "media.watch"}) || again.Ceiling(cutroom.Agent, cutroom.Execute).Effect != Deny {
		t.Error("a second narrowing widened the policy")
	}
	same := p.Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.probe", "media.watch"}})
	if !same.Lists(cutroom.Agent, Tool{Name: "video.probe"}) || same.Lists(cutroom.Agent, Tool{Name: "media.watch"}) {
		t.Error("narrowing a narrowed list is wrong")
	}
}

func TestDigestIsOfWhatDecides(t *testing.T) {
	t.Parallel()
	base := Shipped().Digest()
	if again := Shipped().Digest(); again != base {
		t.Errorf("the shipped policy has the digests %s and %s", base, again)
	}
	seen := map[cutroom.Digest]string{base: "shipped"}
	n, yes := int64(3), true
	for name, p := range map[string]Policy{
		"narrowed":   Shipped().Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.*"}}),
		"twice":      Shipped().Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.*"}}).Narrow(cutroom.RoleAgent, Bounds{Kinds: []cutroom.Kind{cutroom.Read}}),
		"operator":   Shipped().Narrow(cutroom.RoleOperator, Bounds{Tools: []string{"video.*"}}),
		"layer":      Shipped().WithLayer(Layer{Name: "a", Rules: []Rule{{Name: "x", Effect: Deny}}}),
		"where":      Shipped().WithLayer(Layer{Name: "a", Rules: []Rule{{Name: "x", Effect: Deny, Where: []Where{{At: "/a", Present: &yes}}}}}),
		"counted":    Shipped().WithLayer(Layer{Name: "a", Rules: []Rule{{Name: "x", Effect: Deny, Over: Amounts{CallsPerHour: &n}}}}),
		"principal":  {Bounds: Shipped().Bounds, Rules: Shipped().Rules, Principals: []Principal{{Name: "ci", Role: cutroom.RoleAgent}}},
		"other root": {Bounds: Shipped().Bounds, Rules: Shipped().Rules, Root: "/elsewhere"},
		"none":       {},
	} {
		d := p.Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	p := Shipped()
	p.Rules = append([]Rule(nil), p.Rules...)
	p.Rules[0].Reason, p.Rules[0].Line, p.Rules[0].Name = "in other words", 7, "called otherwise"
	if p.Digest() != base {
		t.Error("words that decide nothing change the digest")
	}
}
