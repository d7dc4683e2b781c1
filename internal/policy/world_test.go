package policy

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"cutroom"
)

// The small world that random policies and requests are made of.
var (
	worldTools = []KnownTool{
		{Tool: Tool{"video.probe", "tool:video.probe"}, Kind: cutroom.Read, Risk: "low", Network: false, Writes: false},
		{Tool: Tool{"review.look", "tool:review.look"}, Kind: cutroom.Read, Risk: "low", Network: false, Writes: true},
		{Tool: Tool{"edit.cut", "tool:edit.cut"}, Kind: cutroom.Execute, Risk: "medium", Network: false, Writes: true},
		{Tool: Tool{"edit.export", "tool:edit.export"}, Kind: cutroom.Execute, Risk: "medium", Network: false, Writes: true},
		{Tool: Tool{"video.download", "net:video"}, Kind: cutroom.Execute, Risk: "high", Network: true, Writes: false},
		{Tool: Tool{"approval.decide", "tool:approval.decide"}, Kind: cutroom.Approve, Risk: "high", Network: false, Writes: false},
	}
	worldPrincipals = []cutroom.Principal{cutroom.Operator, cutroom.Agent, {Name: "ci", Role: cutroom.RoleAgent}, {Name: "boss", Role: cutroom.RoleOperator}}
	worldNumbers    = []string{"0", "1.5", "2", "10"}
	worldTexts      = []string{`"out/a.mp4"`, `"raw/b.mp4"`, `"a"`, `"1.5"`, `"00:01:02:03"`}
	worldFolders    = []string{"out", "out/deep", "raw", "/elsewhere"}
	worldPaths      = []string{"/w/out/a.mp4", "/w/out/deep/a.mp4", "/w/raw/b.mp4", "/w/c.mp4", "/elsewhere/d.mp4", ""}
	worldOrigins    = []string{"https://a.example.com", "https://b.example.com", "http://a.example.com:81"}
	worldPointers   = []string{"/start", "/output", "/list/*", "/list/0", "/deep/flag", "/nowhere"}
)

func some1[T any](t *rapid.T, name string, from []T) T { return rapid.SampledFrom(from).Draw(t, name) }

func few[T any](t *rapid.T, name string, from []T) []T {
	if rapid.IntRange(0, 3).Draw(t, name+" set") > 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.SampledFrom(from), 1, 2).Draw(t, name)
}

func maybe[T any](t *rapid.T, name string, from []T) *T {
	if rapid.IntRange(0, 3).Draw(t, name+" set") > 0 {
		return nil
	}
	v := some1(t, name, from)
	return &v
}

func drawWhere(t *rapid.T) Where {
	w := Where{At: some1(t, "at", worldPointers)}
	values := make([]Value, 0, 9)
	for _, s := range slices.Concat(worldNumbers, worldTexts, []string{"true"}) {
		values = append(values, Value(s))
	}
	v, n, yes := some1(t, "value", values), Value(some1(t, "number", worldNumbers)), rapid.Bool().Draw(t, "present")
	switch rapid.IntRange(0, 6).Draw(t, "test") {
	case 0:
		w.Equals = &v
	case 1:
		w.In = rapid.SliceOfN(rapid.SampledFrom(values), 1, 3).Draw(t, "in")
	case 2:
		w.AtLeast = &n
	case 3:
		w.AtMost = &n
	case 4:
		w.Glob = some1(t, "glob", []string{"*", "out/*", "a", "*.mp4"})
	case 5:
		w.Beneath = []string{some1(t, "beneath", worldFolders)}
	default:
		w.Present = &yes
		return w
	}
	w.Not = rapid.Bool().Draw(t, "not")
	return w
}

func drawAmounts(t *rapid.T, name string) Amounts {
	sizes, lengths, calls := []int64{0, 5, 10}, []cutroom.Micros{0, 5, 10}, []int64{1, 2, 3}
	return Amounts{
		Bytes: maybe(t, name+" bytes", sizes), Length: maybe(t, name+" length", lengths),
		Cost: maybe(t, name+" cost", lengths), CallsPerHour: maybe(t, name+" calls", calls),
	}
}

func drawRule(t *rapid.T, n int, effects []Effect) Rule {
	truths := []bool{true, false}
	r := Rule{
		Name: fmt.Sprintf("rule %d", n), Line: n + 1, Effect: some1(t, "effect", effects),
		Principals: few(t, "principals", []string{"agent", "operator", "ci", "boss"}),
		Roles:      few(t, "roles", []cutroom.Role{cutroom.RoleAgent, cutroom.RoleOperator}),
		Tools:      few(t, "tools", []string{"*", "edit.*", "edit.cut", "video.*", "review.look"}),
		Kinds:      few(t, "kinds", cutroom.Kinds), Risks: few(t, "risks", []string{"low", "medium", "high"}),
		Network: maybe(t, "network", truths), Writes: maybe(t, "writes", truths), Overwrite: maybe(t, "overwrite", truths),
		Origins: few(t, "origins", []string{"https://*.example.com", "https://a.example.com"}),
	}
	if rapid.IntRange(0, 2).Draw(t, "more") == 0 {
		r.Inputs, r.InputsOutside = few(t, "inputs", worldFolders), few(t, "inputs outside", worldFolders)
		r.Outputs, r.OutputsOutside = few(t, "outputs", worldFolders), few(t, "outputs outside", worldFolders)
		for range rapid.IntRange(0, 2).Draw(t, "where") {
			r.Where = append(r.Where, drawWhere(t))
		}
		r.Within, r.Over = drawAmounts(t, "within"), drawAmounts(t, "over")
	}
	return r
}

func drawPolicy(t *rapid.T) Policy {
	p := Policy{Root: "/w", Bounds: Shipped().Bounds, Principals: []Principal{
		{Name: "ci", Role: cutroom.RoleAgent, Bounds: Bounds{Kinds: few(t, "ci kinds", cutroom.Kinds), Tools: few(t, "ci tools", []string{"edit.*", "video.*"})}},
		{Name: "boss", Role: cutroom.RoleOperator},
	}}
	n := 0
	for range rapid.IntRange(0, 6).Draw(t, "rules") {
		p.Rules = append(p.Rules, drawRule(t, n, Effects))
		n++
	}
	for range rapid.IntRange(0, 2).Draw(t, "layers") {
		l := Layer{Name: fmt.Sprintf("layer %d", n)}
		for range rapid.IntRange(0, 2).Draw(t, "layer rules") {
			l.Rules = append(l.Rules, drawRule(t, n, []Effect{Deny, Ask}))
			n++
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

func drawRequest(t *rapid.T) Request {
	k := some1(t, "tool", worldTools)
	q := Request{
		Principal: some1(t, "principal", worldPrincipals), Tool: k.Name, Kind: k.Kind, Risk: k.Risk, Network: k.Network,
		Inputs: rapid.SliceOfN(rapid.SampledFrom(worldPaths), 0, 2).Draw(t, "inputs"),
		Bytes:  maybe(t, "bytes", []int64{0, 5, 7, 11}), Length: maybe(t, "length", []cutroom.Micros{0, 5, 7, 11}), Cost: maybe(t, "cost", []cutroom.Micros{0, 5, 11}),
	}
	if k.Network {
		q.Origins = rapid.SliceOfN(rapid.SampledFrom(worldOrigins), 0, 2).Draw(t, "origins")
	}
	if k.Writes && rapid.Bool().Draw(t, "writes") {
		q.Writes, q.Overwrite, q.Kind = true, rapid.Bool().Draw(t, "overwrite"), cutroom.Execute
		q.Outputs = rapid.SliceOfN(rapid.SampledFrom(worldPaths[:5]), 1, 2).Draw(t, "outputs")
	}
	values := slices.Concat(worldNumbers, worldTexts, []string{"true", "null"})
	q.Arguments = fmt.Appendf(nil, `{"start":%s,"output":%s,"list":[%s],"deep":{"flag":%s}}`, some1(t, "start", values), some1(t, "output", worldTexts),
		strings.Join(rapid.SliceOfN(rapid.SampledFrom(values), 0, 3).Draw(t, "list"), ","), some1(t, "flag", []string{"true", "false"}))
	if rapid.Bool().Draw(t, "counted") {
		q.Used = map[string]int64{}
		for i := range 10 {
			for _, w := range worldPrincipals {
				q.Used[fmt.Sprintf("%s/rule %d", w.Name, i)] = rapid.Int64Range(0, 3).Draw(t, "used")
			}
		}
	}
	return q
}
