package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"cutroom"
)

// ---- a second evaluator, slow and plain, by the words of the package comment ----

// The three values as numbers: 0 no, 1 unknown, 2 yes.
func refAll(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return slices.Min(list)
}

func refAny(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

func refBool(b bool) int {
	if b {
		return 2
	}
	return 0
}

func refBeneath(folders []string, p string) bool {
	for _, f := range folders {
		if f[0] != '/' {
			f = "/w/" + f
		}
		if p[0] != '/' {
			p = "/w/" + p
		}
		if p == f || strings.HasPrefix(p, f+"/") {
			return true
		}
	}
	return false
}

func refFind(v any, words []string) []any {
	if len(words) == 0 {
		if v == nil {
			return nil
		}
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		return refFind(v[words[0]], words[1:])
	case []any:
		var all []any
		for i, item := range v {
			if words[0] == "*" || words[0] == fmt.Sprint(i) {
				all = append(all, refFind(item, words[1:])...)
			}
		}
		return all
	}
	return nil
}

func refValue(raw []byte) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}

func refTest(w Where, x any) int {
	compare := func(bound Value, ok func(a, b float64) bool) int {
		b := refValue([]byte(bound)).(float64)
		switch x := x.(type) {
		case float64:
			return refBool(ok(x, b))
		case string:
			if x == "1.5" {
				return refBool(ok(1.5, b))
			}
		}
		return 1
	}
	got := 0
	text, isText := x.(string)
	switch {
	case w.Equals != nil:
		got = refBool(x == refValue([]byte(*w.Equals)))
	case len(w.In) > 0:
		for _, v := range w.In {
			if x == refValue([]byte(v)) {
				got = 2
			}
		}
	case w.AtLeast != nil:
		got = compare(*w.AtLeast, func(a, b float64) bool { return a >= b })
	case w.AtMost != nil:
		got = compare(*w.AtMost, func(a, b float64) bool { return a <= b })
	case w.Glob != "":
		if isText {
			ok, _ := path.Match(w.Glob, text)
			got = refBool(ok)
		}
	case w.Beneath != nil:
		got = 1
		if isText {
			got = refBool(refBeneath(w.Beneath, text))
		}
	}
	if w.Not {
		got = 2 - got
	}
	return got
}

func refRule(r Rule, q Request, as string) int {
	quantify := func(list []int) int {
		if r.Effect == Allow {
			return refAll(list)
		}
		return refAny(list)
	}
	var all []int
	add := func(stated bool, holds int) {
		if stated {
			all = append(all, holds)
		}
	}
	matches := func(globs []string, s string) bool {
		for _, g := range globs {
			if ok, _ := path.Match(g, s); ok {
				return true
			}
		}
		return false
	}
	add(len(r.Principals) > 0, refBool(slices.Contains(r.Principals, as)))
	add(len(r.Roles) > 0, refBool(slices.Contains(r.Roles, q.Principal.Role)))
	add(len(r.Tools) > 0, refBool(matches(r.Tools, q.Tool)))
	add(len(r.Kinds) > 0, refBool(slices.Contains(r.Kinds, q.Kind)))
	add(len(r.Risks) > 0, refBool(slices.Contains(r.Risks, q.Risk)))
	for want, is := range map[*bool]bool{r.Network: q.Network, r.Writes: q.Writes, r.Overwrite: q.Overwrite} {
		if want != nil {
			add(true, refBool(*want == is))
		}
	}
	var origins []int
	for _, o := range q.Origins {
		origins = append(origins, refBool(matches(r.Origins, o)))
	}
	if q.Network && len(q.Origins) == 0 {
		add(len(r.Origins) > 0, 1)
	} else {
		add(len(r.Origins) > 0, quantify(origins))
	}
	for _, roots := range []struct {
		folders, paths []string
		inside         bool
	}{{r.Inputs, q.Inputs, true}, {r.InputsOutside, q.Inputs, false}, {r.Outputs, q.Outputs, true}, {r.OutputsOutside, q.Outputs, false}} {
		var list []int
		for _, p := range roots.paths {
			if p == "" {
				list = append(list, 1)
			} else {
				list = append(list, refBool(refBeneath(roots.folders, p) == roots.inside))
			}
		}
		add(len(roots.folders) > 0, quantify(list))
	}
	for _, w := range r.Where {
		found := refFind(refValue(q.Arguments), strings.Split(w.At, "/")[1:])
		if w.Present != nil {
			add(true, refBool((len(found) > 0) == *w.Present))
			continue
		}
		var list []int
		for _, x := range found {
			list = append(list, refTest(w, x))
		}
		add(true, quantify(list))
	}
	var used *int64
	if n, ok := q.Used[as+"/"+r.Name]; ok {
		n++
		used = &n
	}
	more := func(most, is *int64) int {
		if is == nil {
			return 1
		}
		return refBool(*is > *most)
	}
	var over []int
	for i, most := range []*int64{r.Within.Bytes, (*int64)(r.Within.Length), (*int64)(r.Within.Cost), r.Within.CallsPerHour} {
		is := []*int64{q.Bytes, (*int64)(q.Length), (*int64)(q.Cost), used}[i]
		if most != nil {
			add(true, 2-more(most, is))
		}
		if most := []*int64{r.Over.Bytes, (*int64)(r.Over.Length), (*int64)(r.Over.Cost), r.Over.CallsPerHour}[i]; most != nil {
			over = append(over, more(most, is))
		}
	}
	add(len(over) > 0, refAny(over))
	if len(all) == 0 {
		return 2
	}
	return slices.Min(all)
}

// refDecide follows the package comment: denial anywhere, else the first that decides,
// the strictest of all passes; of what is unknown it tries both ways and takes the
// stricter.
func refDecide(p Policy, q Request) Effect {
	names := []string{q.Principal.Name}
	if q.Principal.Role == cutroom.RoleAgent {
		names = append(names, "agent")
	} else {
		names = append(names, "operator")
	}
	var first func(rules []Rule, as string, none Effect) Effect
	first = func(rules []Rule, as string, none Effect) Effect {
		for i, r := range rules {
			holds := refRule(r, q, as)
			if r.Effect == Deny || holds == 0 {
				continue
			}
			if holds == 2 {
				return r.Effect
			}
			return refStricter(r.Effect, first(rules[i+1:], as, none))
		}
		return none
	}
	worst := Allow
	for _, as := range names {
		sets := [][]Rule{p.Rules}
		for _, l := range p.Layers {
			sets = append(sets, l.Rules)
		}
		for n, rules := range sets {
			for _, r := range rules {
				if r.Effect == Deny && refRule(r, q, as) > 0 {
					return Deny
				}
			}
			none := Allow
			if n == 0 {
				none = Deny
			}
			worst = refStricter(worst, first(rules, as, none))
		}
	}
	return worst
}

func refStricter(a, b Effect) Effect {
	for _, e := range []Effect{Deny, Ask} {
		if a == e || b == e {
			return e
		}
	}
	return Allow
}
