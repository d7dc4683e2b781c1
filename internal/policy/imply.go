package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// implies says whether e decides whenever r would, as far as that depends on arguments,
// files and amounts. It may miss that it does, never the other way round.
func (r *Rule) implies(e *Rule, root string) bool {
	m := matcher{v: view(Request{}, root), sure: r.Effect == Allow, need: e.Effect == Allow}
	return m.origins(r, e) && m.roots(r, e) && m.where(r, e) && m.amounts(r.Within, e.Within, r.Over, e.Over)
}

// matcher compares conditions. An allow rule applies when each of several things meets
// its condition for certain; the others when one may.
type matcher struct {
	v          *facts
	sure, need bool // whether the first rule, and the second, is an allow rule
}

// carries says whether "one may" or "each for certain" of the first is as much of the
// second: from one that may, nothing follows for each.
func (m matcher) carries() bool { return m.sure || !m.need }

func (m matcher) origins(r, e *Rule) bool {
	if len(e.Origins) == 0 {
		return true
	}
	return len(r.Origins) > 0 && m.carries() && !slices.ContainsFunc(r.Origins, func(o string) bool {
		return !slices.Contains(e.Origins, o) && (strings.ContainsAny(o, `*?[\`) || !anyGlob(e.Origins, o))
	})
}

func (m matcher) roots(r, e *Rule) bool {
	return m.root(r.Inputs, r.InputsOutside, e.Inputs, e.InputsOutside) && m.root(r.Outputs, r.OutputsOutside, e.Outputs, e.OutputsOutside)
}

// root compares the folders of one direction.
func (m matcher) root(in, out, wantIn, wantOut []string) bool {
	if len(wantIn) > 0 && !(m.carries() && len(in) > 0 && m.allBeneath(in, wantIn)) {
		return false
	}
	if len(wantOut) == 0 {
		return true
	}
	return m.carries() && (len(out) > 0 && m.allBeneath(wantOut, out) || len(in) > 0 && m.apart(in, wantOut))
}

// allBeneath says whether each folder lies in one of the others.
func (m matcher) allBeneath(folders, others []string) bool {
	return !slices.ContainsFunc(folders, func(f string) bool { return !m.v.beneathAny(others, f, false) })
}

// apart says whether no folder of one list shares a file with one of the other.
func (m matcher) apart(a, b []string) bool {
	return !slices.ContainsFunc(a, func(f string) bool {
		return m.v.beneathAny(b, f, false) || slices.ContainsFunc(b, func(g string) bool { return m.v.beneathAny([]string{f}, g, false) })
	})
}

func (m matcher) where(r, e *Rule) bool {
	return !slices.ContainsFunc(e.Where, func(want Where) bool {
		return !slices.ContainsFunc(r.Where, func(has Where) bool { return m.condition(&has, &want) })
	})
}

// condition says whether has implies want.
func (m matcher) condition(has, want *Where) bool {
	if has.At != want.At {
		return false
	}
	if want.Present != nil {
		if has.Present != nil {
			return *has.Present == *want.Present
		}
		return *want.Present // there is something that was tested
	}
	single := !slices.Contains(strings.Split(has.At, "/"), "*")
	if has.Present != nil || !(m.carries() || single && has.certain() && want.certain()) {
		return false
	}
	if values := has.values(); values != nil && !has.Not {
		return !slices.ContainsFunc(values, func(x Value) bool { return want.test(m.v, x.node(), false) != Yes })
	}
	if has.Not != want.Not {
		return false
	}
	if has.Not {
		has, want = want, has
	}
	return m.plain(has, want)
}

// plain says whether the test of has, not turned round, implies that of want.
func (m matcher) plain(has, want *Where) bool {
	bound := func(a, b *Value, ok func(int) bool) bool {
		x, y := a.node().rational(), b.node().rational()
		return x != nil && y != nil && ok(x.Cmp(y))
	}
	switch {
	case has.values() != nil && want.values() != nil:
		return !slices.ContainsFunc(has.values(), func(x Value) bool {
			return !slices.ContainsFunc(want.values(), func(y Value) bool { return same(x.node(), y.node()) })
		})
	case has.AtLeast != nil && want.AtLeast != nil:
		return bound(has.AtLeast, want.AtLeast, func(c int) bool { return c >= 0 })
	case has.AtMost != nil && want.AtMost != nil:
		return bound(has.AtMost, want.AtMost, func(c int) bool { return c <= 0 })
	case has.Glob != "":
		return has.Glob == want.Glob
	case has.Beneath != nil && want.Beneath != nil:
		return m.allBeneath(has.Beneath, want.Beneath)
	}
	return false
}

// values are the only ones that meet the test, nil when there is no such list.
func (w *Where) values() []Value {
	if w.Equals != nil {
		return []Value{*w.Equals}
	}
	return w.In
}

// certain says whether the test always knows.
func (w *Where) certain() bool {
	return w.Equals != nil || w.In != nil || w.Glob != "" || w.Present != nil
}

// amounts compares what calls amount to. Calls by the hour are counted for each rule, so
// nothing follows from one count for another.
func (m matcher) amounts(in, wantIn, over, wantOver Amounts) bool {
	if wantIn.CallsPerHour != nil || wantOver.CallsPerHour != nil {
		return false
	}
	if (wantIn != Amounts{} || wantOver != Amounts{}) && !m.carries() {
		return false
	}
	has, want := in.bounded(m.v, nil), wantIn.bounded(m.v, nil)
	for _, w := range want {
		if !slices.ContainsFunc(has, func(h amount) bool { return h.name == w.name && *h.most <= *w.most }) {
			return false
		}
	}
	has, want = over.bounded(m.v, nil), wantOver.bounded(m.v, nil)
	if len(want) == 0 {
		return true
	}
	// Over is met by any: each way to meet the first has to meet the second.
	return len(has) > 0 && !slices.ContainsFunc(has, func(h amount) bool {
		return !slices.ContainsFunc(want, func(w amount) bool { return h.name == w.name && *h.most >= *w.most })
	})
}

// clash names two conditions of r that no call meets together.
func (r *Rule) clash(root string) (a, b string) {
	v := view(Request{}, root)
	for i := range r.Where {
		for j := range r.Where {
			x, y := &r.Where[i], &r.Where[j]
			if i == j || x.At != y.At || slices.Contains(strings.Split(x.At, "/"), "*") {
				continue
			}
			if x.excludes(v, y, r.Effect == Allow) {
				return x.At + " " + x.String(), x.At + " " + y.String()
			}
		}
	}
	for _, p := range [][2][]string{{r.Inputs, r.InputsOutside}, {r.Outputs, r.OutputsOutside}} {
		m := matcher{v: v}
		if r.Effect == Allow && len(p[0]) > 0 && len(p[1]) > 0 && m.allBeneath(p[0], p[1]) {
			return "beneath " + filepath.ToSlash(p[0][0]), "outside " + filepath.ToSlash(p[1][0])
		}
	}
	return "", ""
}

// excludes says whether no value meets both tests. Only an allow rule is sure of what it
// compares: a value that a comparison does not understand is unknown to both.
func (w *Where) excludes(v *facts, o *Where, sure bool) bool {
	switch {
	case w.Present != nil && !*w.Present:
		return o.Present == nil || *o.Present
	case w.values() != nil && !w.Not && o.Present == nil:
		return !slices.ContainsFunc(w.values(), func(x Value) bool { return o.test(v, x.node(), false) != No })
	case sure && w.AtLeast != nil && o.AtMost != nil && !w.Not && !o.Not:
		x, y := w.AtLeast.node().rational(), o.AtMost.node().rational()
		return x != nil && y != nil && x.Cmp(y) > 0
	}
	return false
}
