// Package policy decides whether a call may be made: allow, deny or ask.
//
// It promises that deny is the answer where nothing allows, that adding a deny rule or
// narrowing never allows more, that what is not known never helps a call, and that the
// same request gets the same answer everywhere: what is offered, what is checked before
// a call and what the engine asks are one policy. It must never know a tool by more than
// the request says, nor what an answer leads to.
//
// A call is decided in passes, and the strictest answer counts (deny, then ask, then
// allow). The operator's rules are one pass: a deny rule that matches anywhere denies,
// else the first allow or ask rule that matches decides, else the call is denied. A
// principal with a name of its own takes that pass twice, as itself and as the plain
// principal of its role: a name can only narrow, since whoever starts a program can
// choose one. Each further layer, such as the file of a workspace, is a pass of deny and
// ask rules alone.
package policy

import (
	"fmt"
	"path"
	"slices"

	"cutroom"
)

// Effect is what a rule or a decision says.
type Effect string

// The answers.
const (
	Allow Effect = "allow"
	Deny  Effect = "deny"
	Ask   Effect = "ask" // a person has to approve this very call
)

// Effects lists them from the most permissive to the strictest.
var Effects = []Effect{Allow, Ask, Deny}

func (e Effect) strictness() int { return slices.Index(Effects, e) }

// Request is what is asked about: one call, as it would be made.
type Request struct {
	Principal cutroom.Principal
	Tool      string
	Kind      cutroom.Kind
	Risk      string
	Network   bool     // the call can reach a host
	Origins   []string // the hosts, as scheme://host or scheme://host:port; none though Network: not known
	Writes    bool     // the call names an output file
	Overwrite bool     // … and may replace it
	Arguments []byte   // the decoded input as JSON, defaults filled in, in the units of the schema
	Inputs    []string // absolute paths of the files that the call reads, "" for one whose path is not known
	Outputs   []string // absolute paths of the files that it names to be written
	Bytes     *int64   // size of all inputs; nil: not known
	Length    *cutroom.Micros
	Cost      *cutroom.Micros  // in units of the operator's currency; nil: not known
	Used      map[string]int64 // calls of this hour by the key of [Policy.Counters]; what is missing is not known
}

// Decision is the answer with its reason, in words for the caller.
type Decision struct {
	Effect Effect `json:"effect"`
	Reason string `json:"reason"`
	Rule   string `json:"rule,omitempty"` // the rule that decided; "" when none did
}

// Tool is what the allow-lists look at.
type Tool struct{ Name, Scope string }

// Bounds is what one role or principal may see and do at all: its allow-lists and its
// ceiling. Of a role an empty list of tools or kinds is none; elsewhere an empty field
// reduces nothing.
type Bounds struct {
	Tools  []string       `json:"tools,omitempty"`  // globs; what matches none does not exist
	Kinds  []cutroom.Kind `json:"kinds,omitempty"`  // kinds of call it may make
	Scopes []string       `json:"scopes,omitempty"` // globs over the scopes that it holds

	// within holds further bounds that have to hold as well: two lists of globs cannot
	// be intersected into one.
	within []Bounds
}

func (b Bounds) lists(t Tool) bool {
	return (len(b.Tools) == 0 || anyGlob(b.Tools, t.Name)) && (len(b.Scopes) == 0 || anyGlob(b.Scopes, t.Scope)) &&
		!slices.ContainsFunc(b.within, func(w Bounds) bool { return !w.lists(t) })
}

func (b Bounds) reaches(k cutroom.Kind) bool {
	return (len(b.Kinds) == 0 || slices.Contains(b.Kinds, k)) &&
		!slices.ContainsFunc(b.within, func(w Bounds) bool { return !w.reaches(k) })
}

// Principal is a principal with a name of its own.
type Principal struct {
	Name   string
	Role   cutroom.Role
	Bounds Bounds
	Limits Limits
}

// Limits are the largest values that the calls of a principal may ask for; zero bounds
// nothing.
type Limits struct {
	FileBytes       int64          `json:"file_bytes,omitempty"`
	Length          cutroom.Micros `json:"length,omitempty"`
	Frames          int64          `json:"frames,omitempty"`
	TranscriptBytes int64          `json:"transcript_bytes,omitempty"`
	Timeout         cutroom.Micros `json:"timeout,omitempty"`
}

// Policy holds the bounds and the rules. The zero policy allows nothing at all.
type Policy struct {
	Bounds     map[cutroom.Role]Bounds
	Principals []Principal
	Rules      []Rule
	// Layers are narrower rules, each a pass of its own. An allow rule in one is void.
	Layers []Layer
	// Root is the absolute folder that relative roots start from.
	Root string
}

// Layer is rules that only narrow.
type Layer struct {
	Name  string // where they come from
	Rules []Rule
}

// plain is the principal of a role that has no name of its own.
func plain(r cutroom.Role) string {
	if r == cutroom.RoleOperator {
		return cutroom.Operator.Name
	}
	return cutroom.Agent.Name
}

// bounds are those that a principal has: of its role and, when it has a name of its own,
// of that. A name that the policy gives to another role has none.
func (p Policy) bounds(who cutroom.Principal) (b []Bounds, known bool) {
	role, known := p.Bounds[who.Role]
	known = known && len(role.Tools) > 0 && len(role.Kinds) > 0
	b = []Bounds{role}
	for _, n := range p.Principals {
		if n.Name == who.Name {
			known = known && n.Role == who.Role
			b = append(b, n.Bounds)
		}
	}
	return b, known
}

// Lists says whether the tool exists for the principal.
func (p Policy) Lists(who cutroom.Principal, t Tool) bool {
	all, known := p.bounds(who)
	return known && !slices.ContainsFunc(all, func(b Bounds) bool { return !b.lists(t) })
}

// Ceiling says whether the principal may make calls of that kind at all.
func (p Policy) Ceiling(who cutroom.Principal, kind cutroom.Kind) Decision {
	all, known := p.bounds(who)
	if known && !slices.ContainsFunc(all, func(b Bounds) bool { return !b.reaches(kind) }) {
		return Decision{Effect: Allow, Reason: "the kind is within the ceiling"}
	}
	return Decision{Effect: Deny, Reason: fmt.Sprintf("calls of kind %s are above the ceiling of %s", kind, called(who))}
}

// called names a principal for people.
func called(who cutroom.Principal) string {
	if who.Name == "" || who.Name == plain(who.Role) {
		return string(who.Role)
	}
	return fmt.Sprintf("%s (%s)", who.Name, who.Role)
}

// Limits are the largest values that the principal's calls may ask for.
func (p Policy) Limits(who cutroom.Principal) Limits {
	for _, n := range p.Principals {
		if n.Name == who.Name && n.Role == who.Role {
			return n.Limits
		}
	}
	return Limits{}
}

// Decide answers for one call whose tool is listed and whose kind is within the ceiling.
func (p Policy) Decide(q Request) Decision {
	v := view(q, p.Root)
	worst := Decision{Effect: Allow, Reason: "nothing speaks against it"}
	for n, pass := range p.passes(q.Principal) {
		d := pass.decide(v)
		if n == 0 || d.Effect.strictness() > worst.Effect.strictness() {
			worst = d
		}
	}
	return worst
}

// pass is one reading of some rules.
type pass struct {
	as    string // name of the principal
	layer string // "" for the operator's own rules
	rules []Rule
}

// passes are the readings that a call of who takes, those as itself first.
func (p Policy) passes(who cutroom.Principal) []pass {
	names := []string{who.Name}
	if own := plain(who.Role); own != who.Name {
		names = append(names, own)
	}
	var all []pass
	for _, as := range names {
		all = append(all, pass{as: as, rules: p.Rules})
	}
	for _, l := range p.Layers {
		for _, as := range names {
			all = append(all, pass{as: as, layer: l.Name, rules: l.Rules})
		}
	}
	return all
}

// narrows says whether the pass has no opinion on what its rules do not speak of.
func (s pass) narrows() bool { return s.layer != "" }

// decide reads the rules. What is not known counts against the call: a deny or ask rule
// that may match does, an allow rule that may match does not.
func (s pass) decide(v *facts) Decision {
	for i := range s.rules {
		if r := &s.rules[i]; r.Effect == Deny && r.holds(v, s.as) != No {
			return Decision{Deny, r.reason(), r.Name}
		}
	}
	var floor *Rule // an ask that may match: the answer is no better than that
	for i := range s.rules {
		r := &s.rules[i]
		if r.Effect == Deny || r.Effect == Allow && s.narrows() {
			continue
		}
		switch r.holds(v, s.as) {
		case Yes:
			if floor != nil {
				r = floor
			}
			return Decision{r.Effect, r.reason(), r.Name}
		case Unknown:
			if r.Effect == Ask && floor == nil {
				floor = r
			}
		}
	}
	switch {
	case s.narrows() && floor != nil:
		return Decision{floor.Effect, floor.reason(), floor.Name}
	case s.narrows():
		return Decision{Effect: Allow, Reason: "nothing in " + s.layer + " speaks against it"}
	}
	return Decision{Effect: Deny, Reason: "no rule of the policy allows it"}
}

func anyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return glob(g, name) })
}

func glob(g, name string) bool {
	ok, err := path.Match(g, name)
	return err == nil && ok
}
