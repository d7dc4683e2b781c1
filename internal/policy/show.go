package policy

import (
	"encoding/json"
	"slices"

	"cutroom"
)

// Shown is a policy as people and programs read it.
type Shown struct {
	Digest     cutroom.Digest   `json:"digest"` // what an approval is bound to
	Roles      []ShownPrincipal `json:"roles"`
	Principals []ShownPrincipal `json:"principals"`
	Rules      []ShownRule      `json:"rules"` // in the order they are read
}

// ShownPrincipal is what a role or a principal may see and do at all.
type ShownPrincipal struct {
	Name   string         `json:"name"`
	Role   cutroom.Role   `json:"role"`
	Kinds  []cutroom.Kind `json:"kinds"`
	Tools  [][]string     `json:"tools"`  // lists of globs; a tool has to match one of each
	Scopes [][]string     `json:"scopes"` // as tools
	Limits *Limits        `json:"limits,omitempty"`
}

// ShownRule is one rule.
type ShownRule struct {
	Rule       string          `json:"rule"`
	Layer      string          `json:"layer,omitempty"` // "" is the operator's own policy
	Line       int             `json:"line,omitempty"`  // 0: the rule is a shipped one
	Effect     Effect          `json:"effect"`
	Reason     string          `json:"reason"`
	Conditions json.RawMessage `json:"conditions"`
}

// Show writes the policy out.
func (p Policy) Show() Shown {
	s := Shown{Digest: p.Digest(), Roles: []ShownPrincipal{}, Principals: []ShownPrincipal{}, Rules: []ShownRule{}}
	for _, who := range []cutroom.Principal{cutroom.Operator, cutroom.Agent} {
		s.Roles = append(s.Roles, p.shown(who))
	}
	for _, n := range p.Principals {
		one := p.shown(cutroom.Principal{Name: n.Name, Role: n.Role})
		if n.Limits != (Limits{}) {
			one.Limits = &n.Limits
		}
		s.Principals = append(s.Principals, one)
	}
	add := func(layer string, rules []Rule) {
		for _, r := range rules {
			s.Rules = append(s.Rules, ShownRule{r.Name, layer, r.Line, r.Effect, r.reason(), r.conditions()})
		}
	}
	add("", p.Rules)
	for _, l := range p.Layers {
		add(l.Name, l.Rules)
	}
	return s
}

func (p Policy) shown(who cutroom.Principal) ShownPrincipal {
	s := ShownPrincipal{Name: who.Name, Role: who.Role, Kinds: []cutroom.Kind{}, Tools: [][]string{}, Scopes: [][]string{}}
	for _, k := range cutroom.Kinds {
		if p.Ceiling(who, k).Effect == Allow {
			s.Kinds = append(s.Kinds, k)
		}
	}
	var add func(b Bounds)
	add = func(b Bounds) {
		if len(b.Tools) > 0 && !slices.Equal(b.Tools, []string{"*"}) {
			s.Tools = append(s.Tools, b.Tools)
		}
		if len(b.Scopes) > 0 {
			s.Scopes = append(s.Scopes, b.Scopes)
		}
		for _, w := range b.within {
			add(w)
		}
	}
	all, _ := p.bounds(who)
	for _, b := range all {
		add(b)
	}
	return s
}

// conditions are the conditions that the rule states, as JSON.
func (r Rule) conditions() json.RawMessage {
	r.Effect = ""
	raw, err := json.Marshal(struct {
		Rule
		Effect string `json:"effect,omitempty"` // said already
	}{Rule: r})
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return raw
}

// Named returns the principal of that name: a plain one, or one that the policy names.
func (p Policy) Named(name string) (cutroom.Principal, bool) {
	for _, who := range []cutroom.Principal{cutroom.Operator, cutroom.Agent} {
		if who.Name == name {
			return who, true
		}
	}
	for _, n := range p.Principals {
		if n.Name == name {
			return cutroom.Principal{Name: n.Name, Role: n.Role}, true
		}
	}
	return cutroom.Principal{}, false
}
