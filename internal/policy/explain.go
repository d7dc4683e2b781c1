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

// change says what would have to be otherwise.
func (x Explanation) change() []string {
	lines := []string{}
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !slices.Contains(lines, s) {
			lines = append(lines, s)
		}
	}
	decider := slices.IndexFunc(x.Rules, func(t Trace) bool { return t.Decides })
	for i, t := range x.Rules {
		switch {
		case t.Holds != No && t.Effect.strictness() >= x.Effect.strictness() && (t.Effect == Deny || i == decider):
			if len(t.Conditions) == 0 {
				add("the rule %q speaks of every call: %s would have to be taken out", t.Rule, t.Rule)
				continue
			}
			add("the rule %q must not apply: %s would have to be otherwise", t.Rule, t.names(func(a Answer) bool { return true }))
		case t.Holds != Yes && t.Effect.strictness() < x.Effect.strictness() && t.Layer == "":
			add("the rule %q would %s it, if %s", t.Rule, t.Effect, t.missing())
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

func (t Trace) names(keep func(Answer) bool) string {
	var names []string
	for _, c := range t.Conditions {
		if keep(c.Holds) {
			names = append(names, fmt.Sprintf("%s (it is %s)", c.Condition, c.Finds))
		}
	}
	return strings.Join(names, " or ")
}

func (t Trace) missing() string {
	var parts []string
	for _, c := range t.Conditions {
		if c.Holds != Yes {
			parts = append(parts, fmt.Sprintf("%s were %s (it is %s)", c.Condition, c.Wants, c.Finds))
		}
	}
	return strings.Join(parts, " and ")
}
