package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/testenv"
)

// many checks a property on a thousand draws, on thirty times as many when there is
// time.
func many(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rounds := 10
	if testenv.Soak() {
		rounds = 300
	}
	for range rounds {
		rapid.Check(t, property)
	}
}

func TestDecisionIsTheReferences(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p, q := drawPolicy(t), drawRequest(t)
		got, want := p.Decide(q), refDecide(p, q)
		if got.Effect != want {
			t.Fatalf("decided %+v, the reference says %s\n%+v\n%+v", got, want, p, q)
		}
		if got.Reason == "" {
			t.Fatal("a decision without a reason")
		}
	})
}

func TestDenyRuleNeverAllowsMore(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p, q := drawPolicy(t), drawRequest(t)
		before := p.Decide(q).Effect
		at := rapid.IntRange(0, len(p.Rules)).Draw(t, "place")
		more := p
		more.Rules = slices.Insert(slices.Clone(p.Rules), at, drawRule(t, 90, []Effect{Deny}))
		if after := more.Decide(q).Effect; after.strictness() < before.strictness() {
			t.Fatalf("with a deny rule %s became %s", before, after)
		}
	})
}

func TestNarrowingNeverAllowsMore(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p, q := drawPolicy(t), drawRequest(t)
		less := p.WithLayer(Layer{Name: "further", Rules: []Rule{drawRule(t, 91, Effects), drawRule(t, 92, Effects)}}).
			Narrow(q.Principal.Role, Bounds{Tools: few(t, "tools", []string{"edit.*", "*"}), Kinds: few(t, "kinds", cutroom.Kinds), Scopes: few(t, "scopes", []string{"tool:*"})})
		if less.Decide(q).Effect.strictness() < p.Decide(q).Effect.strictness() {
			t.Fatalf("a further layer allows more: %v, then %v", p.Decide(q), less.Decide(q))
		}
		listed := Tool{Name: q.Tool, Scope: "tool:" + q.Tool}
		if less.Lists(q.Principal, listed) && !p.Lists(q.Principal, listed) || less.Ceiling(q.Principal, q.Kind).Effect == Allow && p.Ceiling(q.Principal, q.Kind).Effect != Allow {
			t.Fatal("narrower bounds reach further")
		}
		// A name is narrowing, too.
		bare := q
		bare.Principal.Name = plain(q.Principal.Role)
		if p.Decide(q).Effect.strictness() < p.Decide(bare).Effect.strictness() {
			t.Fatalf("%s may do what %s may not", q.Principal.Name, bare.Principal.Name)
		}
	})
}

// What is found out about a call never makes the answer stricter than not knowing it.
func TestNotKnowingNeverHelps(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p, q := drawPolicy(t), drawRequest(t)
		dark := q
		switch rapid.IntRange(0, 4).Draw(t, "hidden") {
		case 0:
			dark.Bytes = nil
		case 1:
			dark.Length = nil
		case 2:
			dark.Cost = nil
		case 3:
			dark.Used = nil
		default:
			dark.Inputs = make([]string, len(q.Inputs)) // paths that nobody knows
		}
		if p.Decide(dark).Effect.strictness() < p.Decide(q).Effect.strictness() {
			t.Fatalf("known: %v, not known: %v", p.Decide(q), p.Decide(dark))
		}
	})
}

func TestExplanationIsTheDecision(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p, q := drawPolicy(t), drawRequest(t)
		d, x := p.Decide(q), p.Explain(q)
		if x.Decision != d {
			t.Fatalf("decided %+v, explained %+v", d, x.Decision)
		}
		if (d.Effect == Allow) != (len(x.Change) == 0) {
			t.Fatalf("%s with the changes %q", d.Effect, x.Change)
		}
		deciders := 0
		for _, r := range x.Rules {
			if r.Decides {
				deciders++
				if r.Rule != d.Rule || r.Effect != d.Effect || r.Holds == No {
					t.Fatalf("%+v is said to decide %+v", r, d)
				}
			}
			if held := slices.IndexFunc(r.Conditions, func(c Tried) bool { return c.Holds == No }) < 0; held != (r.Holds != No) {
				t.Fatalf("the conditions of %+v do not say why", r)
			}
		}
		if (d.Rule != "") != (deciders == 1) {
			t.Fatalf("%d rules are said to decide %+v", deciders, d)
		}
	})
}

// What check calls unreachable or impossible decides no call: here, none of many.
func TestUnreachableNeverDecides(t *testing.T) {
	t.Parallel()
	found := 0
	many(t, func(t *rapid.T) {
		p := drawPolicy(t)
		dead := map[string]Finding{}
		for _, f := range p.Check(Known{worldTools}) {
			if f.Kind == "unreachable" || f.Kind == "contradiction" || f.Kind == "impossible" {
				dead[f.Rule] = f
			}
		}
		if len(dead) == 0 {
			return
		}
		found++
		for range 60 {
			q := drawRequest(t)
			i := slices.IndexFunc(worldTools, func(k KnownTool) bool { return k.Name == q.Tool })
			if p.Ceiling(q.Principal, q.Kind).Effect != Allow || p.Ceiling(q.Principal, worldTools[i].Kind).Effect != Allow {
				continue // such a call is not asked about
			}
			v := view(q, p.Root)
			for _, s := range p.passes(q.Principal) {
				if f, ok := dead[s.decide(v).Rule]; ok {
					t.Fatalf("%+v decides %+v\n%+v", f, q, p)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no policy had a dead rule: the test tried nothing")
	}
}

// Of rules that speak of nothing but who, what and how, check finds every one that never
// decides: their calls are few enough to try all.
func TestUnreachableIsComplete(t *testing.T) {
	t.Parallel()
	many(t, func(t *rapid.T) {
		p := drawPolicy(t)
		p.Layers = nil
		for i := range p.Rules {
			r := p.Rules[i].outer()
			r.Line = i + 1
			p.Rules[i] = *r
		}
		c := checker{p: p, known: Known{worldTools}}
		decides := map[string]bool{}
		for _, cl := range c.every() {
			for _, s := range p.passes(cl.request().Principal) {
				decides[s.decide(view(cl.request(), p.Root)).Rule] = true
			}
		}
		dead := map[string]bool{}
		for _, f := range p.Check(Known{worldTools}) {
			if f.Kind == "unreachable" || f.Kind == "contradiction" || f.Kind == "impossible" {
				dead[f.Rule] = true
			}
		}
		for _, r := range p.Rules {
			if decides[r.Name] == dead[r.Name] {
				t.Fatalf("%s decides: %v, found dead: %v\n%+v", r.Name, decides[r.Name], dead[r.Name], p)
			}
		}
	})
}
