package policy

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
)

// Known is what a policy is checked against: the tools that there are.
type Known struct{ Tools []KnownTool }

// KnownTool is a tool as far as rules can speak of it.
type KnownTool struct {
	Tool
	Kind    cutroom.Kind
	Risk    string
	Network bool
	Writes  bool // a call can name a file to write
	// Member says what a JSON pointer into the input points at: text, path, number,
	// time, truth, list or object. "" is nothing; nil knows no tool's members.
	Member func(pointer string) string
}

// Finding is something in a policy that is probably not meant.
type Finding struct {
	Kind    string `json:"kind"` // unreachable, contradiction, impossible, no_tool, no_member, no_principal, void
	Layer   string `json:"layer,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Line    int    `json:"line,omitempty"`
	Fault   bool   `json:"fault"` // false: it may be meant
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Check finds what is probably not meant in the rules that stand in a file, those with a
// line, and in the bounds. What it calls unreachable or impossible never decides a call;
// a rule that only several others together leave nothing for may go unfound.
func (p Policy) Check(known Known) []Finding {
	c := checker{p: p, known: known}
	c.bounds()
	c.ruleSet("", p.Rules)
	for _, l := range p.Layers {
		c.ruleSet(l.Name, l.Rules)
	}
	return c.found
}

type checker struct {
	p     Policy
	known Known
	found []Finding
}

func (c *checker) add(layer string, r *Rule, f Finding, format string, args ...any) {
	f.Layer, f.Message = layer, fmt.Sprintf(format, args...)
	if r != nil {
		f.Rule, f.Line = r.Name, r.Line
	}
	c.found = append(c.found, f)
}

// bounds looks at the globs of roles and principals.
func (c *checker) bounds() {
	var look func(who string, b Bounds)
	look = func(who string, b Bounds) {
		c.globs("", nil, who+".tools", b.Tools, func(t KnownTool) string { return t.Name })
		c.globs("", nil, who+".scopes", b.Scopes, func(t KnownTool) string { return t.Scope })
		for _, w := range b.within {
			look(who, w)
		}
	}
	for _, role := range []cutroom.Role{cutroom.RoleOperator, cutroom.RoleAgent} {
		look(string(role), c.p.Bounds[role])
	}
	for _, n := range c.p.Principals {
		look(n.Name, n.Bounds)
	}
}

func (c *checker) globs(layer string, r *Rule, key string, globs []string, name func(KnownTool) string) {
	for _, g := range globs {
		if !slices.ContainsFunc(c.known.Tools, func(t KnownTool) bool { return glob(g, name(t)) }) {
			c.add(layer, r, Finding{Kind: "no_tool", Fault: true, Hint: "`cutroom tool list` shows the tools"}, "%s: %q is no tool of this version", key, g)
		}
	}
}

func (c *checker) ruleSet(layer string, rules []Rule) {
	for i := range rules {
		r := &rules[i]
		if r.Line == 0 {
			continue
		}
		c.globs(layer, r, "tools", r.Tools, func(t KnownTool) string { return t.Name })
		c.principals(layer, r)
		c.members(layer, r)
		if layer != "" && r.Effect == Allow {
			c.add(layer, r, Finding{Kind: "void", Fault: true, Hint: "use deny or ask"}, "an allow rule has no effect here: the file can only narrow")
			continue
		}
		if c.impossible(layer, r) {
			continue
		}
		c.reach(layer, rules, i)
	}
}

// principals looks at the names, and at what a name can be allowed.
func (c *checker) principals(layer string, r *Rule) {
	own := len(r.Principals) > 0
	for _, name := range r.Principals {
		if name == cutroom.Agent.Name || name == cutroom.Operator.Name {
			own = false
			continue
		}
		if !slices.ContainsFunc(c.p.Principals, func(p Principal) bool { return p.Name == name }) {
			c.add(layer, r, Finding{Kind: "no_principal", Fault: true, Hint: "name it among principals"}, "there is no principal %q", name)
		}
	}
	if own && r.Effect == Allow {
		c.add(layer, r, Finding{Kind: "void", Hint: "allow it to the role, and deny it to the others"},
			"a name can only narrow: %s may do what the plain principal of the role may, and no more", strings.Join(r.Principals, ", "))
	}
}

// members looks whether the tools that a rule speaks of have what its conditions ask for.
func (c *checker) members(layer string, r *Rule) {
	for i := range r.Where {
		w := &r.Where[i]
		var with, without []string
		wrong := ""
		for _, t := range c.spoken(r) {
			kind := t.Member(w.At)
			switch {
			case kind == "":
				without = append(without, t.Name)
			case !w.fits(kind):
				wrong = fmt.Sprintf("%s of %s is a %s", w.At, t.Name, kind)
			default:
				with = append(with, t.Name)
			}
		}
		at := *r
		at.Line = max(w.Line, r.Line)
		switch {
		case len(with) == 0 && wrong != "":
			c.add(layer, &at, Finding{Kind: "no_member", Fault: true, Hint: "`cutroom tool show ID` says what it takes"}, "%s: %s is no test of it", wrong, w)
		case len(with) == 0 && len(without) > 0:
			c.add(layer, &at, Finding{Kind: "no_member", Fault: true, Hint: "`cutroom tool show ID` shows the input"}, "no tool that the rule speaks of has %s", w.At)
		case len(without) > 0 && r.Effect != Allow:
			c.add(layer, &at, Finding{Kind: "no_member", Hint: "write a rule for those that have it"},
				"the rule does not speak of %s: they have no %s", strings.Join(without[:min(len(without), 5)], ", "), w.At)
		}
	}
}

// spoken are the tools that a rule can apply to.
func (c *checker) spoken(r *Rule) []KnownTool {
	var all []KnownTool
	for _, cl := range c.cells(r) {
		if cl.tool.Member != nil && !slices.ContainsFunc(all, func(t KnownTool) bool { return t.Name == cl.tool.Name }) {
			all = append(all, cl.tool)
		}
	}
	return all
}

// fits says whether the test can ever hold for a member of that kind.
func (w *Where) fits(kind string) bool {
	node := func(v Value) bool {
		switch v.node().kind {
		case textNode:
			return kind == "text" || kind == "path" || kind == "time"
		case numberNode:
			return kind == "number" || kind == "time"
		}
		return kind == "truth"
	}
	switch {
	case w.Present != nil:
		return true
	case w.Equals != nil:
		return node(*w.Equals)
	case w.In != nil:
		return slices.ContainsFunc(w.In, node)
	case w.AtLeast != nil || w.AtMost != nil:
		return kind == "number" || kind == "time"
	}
	return kind == "text" || kind == "path"
}

// cell is a set of calls that differ in nothing but their arguments, files and amounts.
type cell struct {
	as        string
	role      cutroom.Role
	tool      KnownTool
	kind      cutroom.Kind
	writes    bool
	overwrite bool
}

func (cl cell) request() Request {
	return Request{
		Principal: cutroom.Principal{Name: cl.as, Role: cl.role}, Tool: cl.tool.Name, Kind: cl.kind, Risk: cl.tool.Risk,
		Network: cl.tool.Network, Writes: cl.writes, Overwrite: cl.overwrite,
	}
}

// every is all cells whose calls get as far as the rules.
func (c *checker) every() []cell {
	who := []cutroom.Principal{cutroom.Operator, cutroom.Agent}
	for _, n := range c.p.Principals {
		who = append(who, cutroom.Principal{Name: n.Name, Role: n.Role})
	}
	var all []cell
	for _, w := range who {
		for _, t := range c.known.Tools {
			for _, way := range []cell{{kind: t.Kind}, {writes: true}, {writes: true, overwrite: true}} {
				if way.writes && !t.Writes {
					continue
				}
				if way.writes {
					way.kind = t.Kind
					if way.kind == cutroom.Read || way.kind == cutroom.Preview {
						way.kind = cutroom.Execute
					}
				}
				if c.p.Ceiling(w, t.Kind).Effect != Allow || c.p.Ceiling(w, way.kind).Effect != Allow {
					continue
				}
				way.as, way.role, way.tool = w.Name, w.Role, t
				all = append(all, way)
			}
		}
	}
	return all
}

// cells are those that a rule speaks of, whatever it asks of the rest.
func (c *checker) cells(r *Rule) []cell {
	var mine []cell
	outer := r.outer()
	for _, cl := range c.every() {
		if outer.holds(view(cl.request(), c.p.Root), cl.as) == Yes {
			mine = append(mine, cl)
		}
	}
	return mine
}

// outer is the rule without what a cell does not fix.
func (r *Rule) outer() *Rule {
	return &Rule{
		Name: r.Name, Effect: r.Effect, Principals: r.Principals, Roles: r.Roles, Tools: r.Tools, Kinds: r.Kinds, Risks: r.Risks,
		Network: r.Network, Writes: r.Writes, Overwrite: r.Overwrite,
	}
}

// impossible finds a rule that no call can meet.
func (c *checker) impossible(layer string, r *Rule) bool {
	if a, b := r.clash(c.p.Root); a != "" {
		c.add(layer, r, Finding{Kind: "impossible", Fault: true, Hint: "take one of the conditions out"}, "no call can meet %s and %s", a, b)
		return true
	}
	if len(c.cells(r)) == 0 {
		c.add(layer, r, Finding{Kind: "impossible", Fault: true, Hint: "`cutroom policy show` lists ceilings, `cutroom tool list` the tools"},
			"no call can meet its conditions: no tool of that kind, risk and reach, or it is above every ceiling")
		return true
	}
	return false
}

// reach finds a rule that others leave nothing for.
func (c *checker) reach(layer string, rules []Rule, n int) {
	r := &rules[n]
	var by []*Rule
	for _, cl := range c.cells(r) {
		e := c.cover(rules, n, cl)
		if e == nil {
			return
		}
		if !slices.Contains(by, e) {
			by = append(by, e)
		}
	}
	names := make([]string, len(by))
	against := false
	for i, e := range by {
		names[i] = fmt.Sprintf("%q", e.Name)
		if e.Line > 0 {
			names[i] += fmt.Sprintf(" (line %d)", e.Line)
		}
		against = against || e.Effect != r.Effect && (e.Effect == Deny || c.same(r, e))
	}
	if against {
		c.add(layer, r, Finding{Kind: "contradiction", Fault: true, Hint: "take one of them out, or make this one speak of other calls"},
			"the rule says %s, but every call that it speaks of is decided otherwise by %s", r.Effect, strings.Join(names, " and "))
		return
	}
	c.add(layer, r, Finding{Kind: "unreachable", Fault: true, Hint: "move it before them, or take it out"},
		"it never decides: every call that it speaks of is decided by %s", strings.Join(names, " and "))
}

// same says whether both rules speak of the same calls.
func (c *checker) same(a, b *Rule) bool {
	within := func(a, b *Rule) bool {
		for _, cl := range c.cells(a) {
			if b.outer().holds(view(cl.request(), c.p.Root), cl.as) != Yes {
				return false
			}
		}
		return a.implies(b, c.p.Root)
	}
	return within(a, b) && within(b, a)
}

// cover is a rule that decides every call of the cell that rule n speaks of, before it.
func (c *checker) cover(rules []Rule, n int, cl cell) *Rule {
	v := view(cl.request(), c.p.Root)
	for i := range rules {
		e := &rules[i]
		first := i < n && (rules[n].Effect != Deny || e.Effect == Deny) || e.Effect == Deny && rules[n].Effect != Deny
		if i != n && first && e.outer().holds(v, cl.as) == Yes && rules[n].implies(e, c.p.Root) {
			return e
		}
	}
	return nil
}
