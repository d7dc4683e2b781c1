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
	if (Policy{}).Lists(cutroom.Agent, "video.probe") {
		t.Error("an empty policy lists a tool")
	}
	if d := (Policy{}).Ceiling(cutroom.Agent, cutroom.Read); d.Effect != Deny {
		t.Errorf("an empty policy has the ceiling %v", d)
	}
}

func TestNarrowOnlyNarrows(t *testing.T) {
	t.Parallel()
	p := Shipped().Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.*"}, Kinds: []cutroom.Kind{cutroom.Read}})
	if !p.Lists(cutroom.Agent, "video.probe") || p.Lists(cutroom.Agent, "media.watch") || !p.Lists(cutroom.Operator, "media.watch") {
		t.Error("the allow-list of the agent is wrong")
	}
	if p.Ceiling(cutroom.Agent, cutroom.Execute).Effect != Deny || p.Ceiling(cutroom.Agent, cutroom.Read).Effect != Allow {
		t.Error("the ceiling of the agent is wrong")
	}
	again := p.Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"*"}, Kinds: cutroom.Kinds})
	if again.Lists(cutroom.Agent, "media.watch") || again.Ceiling(cutroom.Agent, cutroom.Execute).Effect != Deny {
		t.Error("a second narrowing widened the policy")
	}
	same := p.Narrow(cutroom.RoleAgent, Bounds{Tools: []string{"video.probe", "media.watch"}})
	if !same.Lists(cutroom.Agent, "video.probe") || same.Lists(cutroom.Agent, "media.watch") {
		t.Error("narrowing a narrowed list is wrong")
	}
}
