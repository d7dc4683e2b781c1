package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Explanation is a decision with all that led to it.
type Explanation struct {
	Decision
	// Rules are the operator's and every layer's, in the order they are read.
	Rules []Trace `json:"rules"`
	// Change says, one sentence each, what would have to be otherwise for the call to
	// be allowed; none when it is.
	Change []string `json:"change"`
}

// Trace is one rule, tried.
type Trace struct {
	Rule       string  `json:"rule"`
	Effect     Effect  `json:"effect"`
	Reason     string  `json:"reason"`
	Layer      string  `json:"layer,omitempty"` // where it comes from; "" is the operator's own policy
	Line       int     `json:"line,omitempty"`
	As         string  `json:"as"` // the name that the principal is tried under
	Holds      Answer  `json:"holds"`
	Decides    bool    `json:"decides"`
	Conditions []Tried `json:"conditions"`
}

// Tried is one condition of a rule, tried.
type Tried struct {
	Condition string `json:"condition"`
	Holds     Answer `json:"holds"`
	Wants     string `json:"wants"`
	Finds     string `json:"finds"`
}

// Explain decides as [Policy.Decide] does and says why.
func (p Policy) Explain(q Request) Explanation {
	v := view(q, p.Root)
	x := Explanation{Rules: []Trace{}, Change: []string{}}
	decided := false
	for n, s := range p.passes(q.Principal) {
		d := s.decide(v)
		if n == 0 || d.Effect.strictness() > x.Effect.strictness() {
			x.Decision, decided = d, true
			for i := range x.Rules {
				x.Rules[i].Decides = false
			}
		}
		for i := range s.rules {
			t := s.rules[i].trace(v, s)
			t.Decides = decided && d.Rule == t.Rule
			x.Rules = append(x.Rules, t)
		}
		decided = false
	}
	if x.Effect != Allow {
		x.Change = x.change()
	}
	return x
}

func (r *Rule) trace(v *facts, s pass) Trace {
	t := Trace{Rule: r.Name, Effect: r.Effect, Reason: r.reason(), Layer: s.layer, Line: r.Line, As: s.as, Holds: Yes, Conditions: []Tried{}}
	r.try(v, s.as, func(c condition) bool {
		t.Conditions = append(t.Conditions, Tried{c.name, c.holds, c.wants(), c.finds()})
		if c.holds == No || c.holds == Unknown && t.Holds == Yes {
			t.Holds = c.holds
		}
		return true
	})
	return t
}

// fixed are the conditions on what a call is: another value of them is another call.
var fixed = []string{"principals", "roles", "tools", "kinds", "risks", "network"}

// change says what would have to be otherwise, in the call or in the policy.
func (x Explanation) change() []string {
	lines := []string{}
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !slices.Contains(lines, s) {
			lines = append(lines, s)
		}
	}
	for _, t := range x.Rules {
		stands := t.Holds != No && t.Effect.strictness() >= x.Effect.strictness() && (t.Effect == Deny || t.Decides)
		helps := t.Holds != Yes && t.Effect.strictness() < x.Effect.strictness() && t.Layer == ""
		failing := slices.DeleteFunc(slices.Clone(t.Conditions), func(c Tried) bool { return c.Holds == Yes })
		switch {
		case stands:
			if loose := t.loose(); len(loose) > 0 {
				add("the rule %q must not apply: %s would have to be otherwise", t.Rule, strings.Join(loose, " or "))
			} else if t.Effect == Deny {
				add("the rule %q must not apply: it speaks of every such call", t.Rule)
			}
		case helps && !slices.ContainsFunc(failing, func(c Tried) bool { return slices.Contains(fixed, c.Condition) }):
			var parts []string
			for _, c := range failing {
				parts = append(parts, fmt.Sprintf("%s were %s (it is %s)", c.Condition, c.Wants, c.Finds))
			}
			add("the rule %q would %s it, if %s", t.Rule, t.Effect, strings.Join(parts, " and "))
		}
	}
	if x.Rule == "" {
		add("a rule that allows the call would have to stand in the operator's cutroom.yaml")
	}
	if x.Effect == Ask {
		add("a person can approve this very call")
	}
	return lines
}

// loose are the rule's conditions that a call could be made otherwise in.
func (t Trace) loose() []string {
	var all []string
	for _, c := range t.Conditions {
		if !slices.Contains(fixed, c.Condition) {
			all = append(all, fmt.Sprintf("%s (it is %s)", c.Condition, c.Finds))
		}
	}
	return all
}
