package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// Answer is whether a condition holds.
type Answer string

// The three answers. What is unknown is decided against the call.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// Rule decides for the requests that meet all of its conditions. A condition that is
// not set holds for every request.
//
// A condition on several things (origins, inputs, outputs, the elements of a list) asks
// of an allow rule that there is one and each meets it, and of the others that one does.
type Rule struct {
	Name   string `json:"-"`
	Effect Effect `json:"effect"`
	Reason string `json:"-"`
	Line   int    `json:"-"` // in the file it stands in; 0 for none
	Space  string `json:"-"` // what its calls are counted in: rules of two files may have one name

	Principals     []string       `json:"principals,omitempty"` // names
	Roles          []cutroom.Role `json:"roles,omitempty"`
	Tools          []string       `json:"tools,omitempty"` // globs over tool ids
	Kinds          []cutroom.Kind `json:"kinds,omitempty"`
	Risks          []string       `json:"risks,omitempty"`
	Network        *bool          `json:"network,omitempty"`
	Writes         *bool          `json:"writes,omitempty"`
	Overwrite      *bool          `json:"overwrite,omitempty"`
	Origins        []string       `json:"origins,omitempty"` // globs over scheme://host[:port]
	Inputs         []string       `json:"inputs,omitempty"`  // folders: beneath one of them
	InputsOutside  []string       `json:"inputs_outside,omitempty"`
	Outputs        []string       `json:"outputs,omitempty"`
	OutputsOutside []string       `json:"outputs_outside,omitempty"`
	Where          []Where        `json:"where,omitempty"`
	Within         Amounts        `json:"within,omitzero"` // at most; all of them
	Over           Amounts        `json:"over,omitzero"`   // more than; any of them
}

// Amounts are quantities of a call; nil is not asked.
type Amounts struct {
	Bytes        *int64          `json:"bytes,omitempty"` // of all inputs
	Length       *cutroom.Micros `json:"length,omitempty"`
	Cost         *cutroom.Micros `json:"cost,omitempty"`
	CallsPerHour *int64          `json:"calls_per_hour,omitempty"` // this call among them
}

// condition is one condition of a rule, tried.
type condition struct {
	name         string // as the config calls it
	holds        Answer
	wants, finds func() string
}

func (r *Rule) reason() string {
	if r.Reason != "" {
		return r.Reason
	}
	return fmt.Sprintf("the rule %q says so", r.Name)
}

// holds says whether every condition holds when the principal is called as. An unknown
// one leaves the rule unknown unless another fails.
func (r *Rule) holds(v *facts, as string) Answer {
	all := Yes
	r.try(v, as, func(c condition) bool {
		switch c.holds {
		case No:
			all = No
		case Unknown:
			all = Unknown
		}
		return c.holds != No
	})
	return all
}

// try tries the conditions in order until visit returns false.
func (r *Rule) try(v *facts, as string, visit func(condition) bool) {
	q := &v.Request
	_ = member("principals", r.Principals, as, visit) &&
		member("roles", r.Roles, q.Principal.Role, visit) &&
		(len(r.Tools) == 0 || visit(condition{"tools", known(anyGlob(r.Tools, q.Tool)), list(r.Tools), text(q.Tool)})) &&
		member("kinds", r.Kinds, q.Kind, visit) &&
		member("risks", r.Risks, q.Risk, visit) &&
		flag("network", r.Network, q.Network, visit) &&
		flag("writes", r.Writes, q.Writes, visit) &&
		flag("overwrite", r.Overwrite, q.Overwrite, visit) &&
		r.tryOrigins(q, visit) && r.tryRoots(v, visit) && r.tryWhere(v, visit) && r.tryAmounts(v, as, visit)
}

func known(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

func text(s string) func() string { return func() string { return s } }

func list[T ~string](l []T) func() string {
	return func() string {
		words := make([]string, len(l))
		for i, s := range l {
			words[i] = string(s)
		}
		return strings.Join(words, ", ")
	}
}

func member[T ~string](name string, set []T, is T, visit func(condition) bool) bool {
	return len(set) == 0 || visit(condition{name, known(slices.Contains(set, is)), list(set), text(string(is))})
}

func flag(name string, want *bool, is bool, visit func(condition) bool) bool {
	return want == nil || visit(condition{name, known(*want == is), text(strconv.FormatBool(*want)), text(strconv.FormatBool(is))})
}

// each quantifies: an allow rule speaks of all, of at least one; the others of any.
func (r *Rule) each(n int, holds func(int) Answer) Answer {
	all, any := Yes, No
	for i := range n {
		switch holds(i) {
		case Yes:
			any = Yes
		case No:
			all = No
		case Unknown:
			if all == Yes {
				all = Unknown
			}
			if any == No {
				any = Unknown
			}
		}
	}
	switch {
	case r.Effect != Allow:
		return any
	case n == 0:
		return No
	}
	return all
}

func (r *Rule) tryOrigins(q *Request, visit func(condition) bool) bool {
	if len(r.Origins) == 0 {
		return true
	}
	holds := r.each(len(q.Origins), func(i int) Answer { return known(anyGlob(r.Origins, q.Origins[i])) })
	if q.Network && len(q.Origins) == 0 {
		holds = Unknown
	}
	return visit(condition{"origins", holds, list(r.Origins), func() string {
		if q.Network && len(q.Origins) == 0 {
			return "a host that is not known"
		}
		return some(q.Origins)
	}})
}

// some writes what was found, or that there was none.
func some(l []string) string {
	if len(l) == 0 {
		return "none"
	}
	return list(l)()
}

func (r *Rule) tryRoots(v *facts, visit func(condition) bool) bool {
	roots := func(name string, folders, paths []string, inside bool) bool {
		if len(folders) == 0 {
			return true
		}
		holds := r.each(len(paths), func(i int) Answer {
			if paths[i] == "" {
				return Unknown
			}
			return known(v.beneathAny(folders, paths[i], (r.Effect != Allow) == inside) == inside)
		})
		return visit(condition{name, holds, list(folders), func() string { return some(v.shown(paths)) }})
	}
	return roots("inputs", r.Inputs, v.Inputs, true) && roots("inputs_outside", r.InputsOutside, v.Inputs, false) &&
		roots("outputs", r.Outputs, v.Outputs, true) && roots("outputs_outside", r.OutputsOutside, v.Outputs, false)
}

func (r *Rule) tryWhere(v *facts, visit func(condition) bool) bool {
	for i := range r.Where {
		w := &r.Where[i]
		found := v.arguments().find(w.At)
		holds := known((len(found) > 0) == (w.Present != nil && *w.Present))
		if w.Present == nil {
			holds = r.each(len(found), func(i int) Answer { return w.test(v, found[i], (r.Effect != Allow) != w.Not) })
		}
		if !visit(condition{"where " + w.At, holds, w.String, func() string { return shownNodes(found) }}) {
			return false
		}
	}
	return true
}

// amount is one quantity that a rule bounds.
type amount struct {
	name     string
	most, is *int64
	show     func(int64) string
}

func (a Amounts) bounded(v *facts, used *int64) []amount {
	all := []amount{
		{"bytes", a.Bytes, v.Bytes, number},
		{"seconds", (*int64)(a.Length), (*int64)(v.Length), micros},
		{"cost", (*int64)(a.Cost), (*int64)(v.Cost), micros},
		{"calls_per_hour", a.CallsPerHour, used, number},
	}
	return slices.DeleteFunc(all, func(x amount) bool { return x.most == nil })
}

func (x amount) exceeded() Answer {
	if x.is == nil {
		return Unknown
	}
	return known(*x.is > *x.most)
}

func (x amount) finds() string {
	if x.is == nil {
		return "not known"
	}
	return x.show(*x.is)
}

// tryAmounts tries what a call may at most amount to, and what it has to exceed: of
// that, one is enough.
func (r *Rule) tryAmounts(v *facts, as string, visit func(condition) bool) bool {
	used := v.calls(r, as)
	for _, x := range r.Within.bounded(v, used) {
		holds := x.exceeded()
		switch holds {
		case Yes:
			holds = No
		case No:
			holds = Yes
		}
		if !visit(condition{"within." + x.name, holds, func() string { return "at most " + x.show(*x.most) }, x.finds}) {
			return false
		}
	}
	over := r.Over.bounded(v, used)
	if len(over) == 0 {
		return true
	}
	best := condition{holds: No}
	for n, x := range over {
		if is := x.exceeded(); n == 0 || is == Yes || is == Unknown && best.holds == No {
			best = condition{"over." + x.name, is, func() string { return "more than " + x.show(*x.most) }, x.finds}
		}
	}
	return visit(best)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
func micros(n int64) string { return cutroom.Micros(n).String() + " s" }
