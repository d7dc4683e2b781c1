// Package policy answers one question: may this principal make this call? The
// answer is allow, deny or ask, always with a reason.
//
// It promises to be pure and to refuse what no rule speaks of. It knows the nouns
// and must never know an engine, a store or a door.
package policy

import (
	"fmt"
	"path"
	"slices"

	"cutroom"
)

// Effect is an answer.
type Effect string

// The answers.
const (
	Allow Effect = "allow"
	Deny  Effect = "deny"
	Ask   Effect = "ask" // a person has to approve this very call
)

// Request is what is asked about.
type Request struct {
	Principal cutroom.Principal
	Tool      string
	Kind      cutroom.Kind
	Network   bool // the call can reach a host
	Writes    bool // the call names an output file
	Overwrite bool // … and may replace it
}

// Decision is the answer with its reason, in words for the caller.
type Decision struct {
	Effect Effect
	Reason string
}

// Rule decides for the requests it matches; the first rule that matches wins.
type Rule struct {
	Role      cutroom.Role   // "" matches every role
	Tools     []string       // globs over tool ids; none matches every tool
	Kinds     []cutroom.Kind // none matches every kind
	Network   *bool
	Overwrite *bool
	Effect    Effect
	Reason    string
}

func (r Rule) matches(q Request) bool {
	return (r.Role == "" || r.Role == q.Principal.Role) &&
		(len(r.Tools) == 0 || anyGlob(r.Tools, q.Tool)) &&
		(len(r.Kinds) == 0 || slices.Contains(r.Kinds, q.Kind)) &&
		(r.Network == nil || *r.Network == q.Network) &&
		(r.Overwrite == nil || *r.Overwrite == q.Overwrite)
}

// Bounds is what one role may see and do at all: its allow-list and its ceiling.
type Bounds struct {
	Tools []string       // globs; what matches none does not exist for the role
	Kinds []cutroom.Kind // kinds of call it may make

	// within holds further lists that a tool has to match as well: two lists of
	// globs cannot be intersected into one.
	within [][]string
}

// Policy holds the bounds of each role and the rules.
type Policy struct {
	Bounds map[cutroom.Role]Bounds
	Rules  []Rule
}

// Shipped is the policy of an installation that configured none: the operator may
// do everything but reach the network unasked; an agent may look at anything in
// the workspace, and write new files with the editing families.
func Shipped() Policy {
	yes, no := true, false
	return Policy{
		Bounds: map[cutroom.Role]Bounds{
			cutroom.RoleOperator: {Tools: []string{"*"}, Kinds: cutroom.Kinds},
			cutroom.RoleAgent:    {Tools: []string{"*"}, Kinds: []cutroom.Kind{cutroom.Read, cutroom.Preview, cutroom.Propose, cutroom.Execute}},
		},
		Rules: []Rule{
			{Network: &yes, Effect: Ask, Reason: "the call reaches the network; a person has to approve this very destination"},
			{Kinds: []cutroom.Kind{cutroom.Read, cutroom.Preview}, Effect: Allow, Reason: "looking is allowed"},
			{Role: cutroom.RoleOperator, Effect: Allow, Reason: "the operator decides"},
			{Role: cutroom.RoleAgent, Tools: []string{"measure.*", "edit.*", "review.*"}, Kinds: []cutroom.Kind{cutroom.Execute}, Overwrite: &no, Effect: Allow, Reason: "an agent may write new files"},
			{Role: cutroom.RoleAgent, Tools: []string{"job.*"}, Kinds: []cutroom.Kind{cutroom.Execute}, Effect: Allow, Reason: "an agent may stop agents' jobs"},
			{Role: cutroom.RoleAgent, Effect: Ask, Reason: "an agent needs a person's approval for this"},
		},
	}
}

// Narrow returns p with the bounds of role reduced to those that b has too; empty
// fields of b reduce nothing.
func (p Policy) Narrow(role cutroom.Role, b Bounds) Policy {
	bounds := make(map[cutroom.Role]Bounds, len(p.Bounds))
	for r, old := range p.Bounds {
		bounds[r] = old
	}
	old := bounds[role]
	if len(b.Kinds) > 0 {
		old.Kinds = slices.DeleteFunc(slices.Clone(old.Kinds), func(k cutroom.Kind) bool { return !slices.Contains(b.Kinds, k) })
	}
	if len(b.Tools) > 0 {
		old.within = append(slices.Clone(old.within), b.Tools)
	}
	bounds[role] = old
	return Policy{Bounds: bounds, Rules: p.Rules}
}

// Lists says whether the tool exists for the principal.
func (p Policy) Lists(who cutroom.Principal, tool string) bool {
	b := p.Bounds[who.Role]
	return anyGlob(b.Tools, tool) && !slices.ContainsFunc(b.within, func(globs []string) bool { return !anyGlob(globs, tool) })
}

// Ceiling says whether the principal may make calls of that kind at all.
func (p Policy) Ceiling(who cutroom.Principal, kind cutroom.Kind) Decision {
	if slices.Contains(p.Bounds[who.Role].Kinds, kind) {
		return Decision{Allow, "the kind is within the ceiling"}
	}
	return Decision{Deny, fmt.Sprintf("calls of kind %s are above the ceiling of %s", kind, who.Role)}
}

// Decide answers by the first rule that matches. What no rule speaks of is denied
// when it proposes, approves or executes, and so is everything else.
func (p Policy) Decide(q Request) Decision {
	for _, r := range p.Rules {
		if r.matches(q) {
			return Decision{r.Effect, r.Reason}
		}
	}
	return Decision{Deny, "no rule of the policy allows it"}
}

func anyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return err == nil && ok
	})
}
