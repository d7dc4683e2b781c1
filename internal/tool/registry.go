package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cutroom"
)

// Family is the tools of one folder.
type Family struct {
	Name     string // the folder's name
	Summary  string
	Contract string // contract version of its tools
	Spoken   bool   // its tools also take their own command-line words (argv)
	tools    []*Tool
}

// NewFamily returns an empty family; its tools add themselves by [Add].
func NewFamily(name, summary, contract string) *Family {
	return &Family{Name: name, Summary: summary, Contract: contract}
}

// WithWords makes the family's tools take their own command-line words, too.
func (f *Family) WithWords() *Family {
	f.Spoken = true
	return f
}

// Tools returns the family's tools in order of name, but for those that runs of agents
// alone are offered.
func (f *Family) Tools() []*Tool {
	return slices.SortedFunc(slices.Values(slices.DeleteFunc(slices.Clone(f.tools), isInner)), byName)
}

// Inner returns the family's tools that runs of agents alone are offered.
func (f *Family) Inner() []*Tool {
	return slices.SortedFunc(slices.Values(slices.DeleteFunc(slices.Clone(f.tools), func(t *Tool) bool { return !t.Inner })), byName)
}

func isInner(t *Tool) bool { return t.Inner }

func byName(a, b *Tool) int { return strings.Compare(a.Name, b.Name) }

// scopeForm is how the scope of a token is written.
var scopeForm = regexp.MustCompile(`^[a-z][a-z_]*:[a-z][a-z0-9_.]*$`)

// Registry is a checked set of families.
type Registry struct {
	families []*Family
	byName   map[string]*Tool
	sorted   []*Tool
}

// NewRegistry checks every tool of the families and reports every fault at once,
// with the source file.
func NewRegistry(families ...*Family) (*Registry, error) {
	r := &Registry{families: families, byName: map[string]*Tool{}}
	var faults []error
	shorts := map[string]*Tool{}
	for _, f := range families {
		for _, t := range f.tools {
			fault := func(format string, args ...any) {
				faults = append(faults, fmt.Errorf("%s: %s: %w", t.file, t.Name, fmt.Errorf(format, args...)))
			}
			t.check(fault)
			if other := r.byName[t.Name]; other != nil {
				fault("the name is taken by %s", other.file)
			}
			if other := shorts[t.Short]; t.Short != "" && other != nil {
				fault("the short command %q is taken by %s", t.Short, other.Name)
			}
			r.byName[t.Name], shorts[t.Short] = t, t
		}
	}
	for _, t := range r.byName {
		if !t.Inner {
			r.sorted = append(r.sorted, t)
		}
	}
	slices.SortFunc(r.sorted, byName)
	faults = append(faults, r.checkCalls()...)
	return r, errors.Join(faults...)
}

// check reports what is wrong with one spec.
func (t *Tool) check(fault func(string, ...any)) {
	if t.fault != nil {
		fault("%w", t.fault)
		return
	}
	if want := t.family.Name + "." + strings.TrimSuffix(filepath.Base(t.file), ".go"); t.Name != want {
		fault("the name has to be folder.file: %s", want)
	}
	if dir := filepath.Base(filepath.Dir(t.file)); dir != t.family.Name {
		fault("the folder %q is not its family %q", dir, t.family.Name)
	}
	if !slices.Contains(cutroom.Kinds, t.Kind) {
		fault("kind %q is unknown", t.Kind)
	}
	if !slices.Contains([]Risk{LowRisk, MediumRisk, HighRisk}, t.Risk) || !slices.Contains([]Replay{ReplaySafe, ReplayNever}, t.Replay) {
		fault("risk %q or replay %q is unknown", t.Risk, t.Replay)
	}
	if !scopeForm.MatchString(t.Scope) {
		fault("the scope %q is not of the form word:word", t.Scope)
	}
	if t.Kind == cutroom.Approve && t.Replay == ReplaySafe {
		fault("a decision is never made twice: it cannot be replay safe")
	}
	if t.Summary == "" || strings.HasSuffix(t.Summary, ".") || t.Description == "" {
		fault("it needs a summary without full stop and a description")
	}
	if t.Exact == "" || t.Revision < 1 || t.Timeout <= 0 || t.Contract == "" {
		fault("it needs Exact, Revision ≥ 1, Timeout and a contract version")
	}
	if t.Live && t.body != BodyRun {
		fault("only a Run body can be Live")
	}
	if t.body != BodyCompose && len(t.Calls) > 0 {
		fault("only a Compose body has Calls")
	}
	if _, ok := t.NewOutput().(cutroom.Recordable); !ok {
		fault("the output type has to embed cutroom.Output")
	}
	for what, typ := range map[string]reflect.Type{"input": t.in, "output": t.out} {
		if err := checkType(typ); err != nil {
			fault("%s: %w", what, err)
		}
	}
	if err := t.checkMembers(); err != nil {
		fault("%w", err)
	}
	if len(t.Examples) == 0 {
		fault("it needs an example")
	}
	for i, e := range t.Examples {
		if err := Validate(e); err != nil {
			fault("example %d: %w", i+1, err)
		}
	}
}

// checkCalls reports calls of unknown tools, cycles, and a callee with more
// authority than its caller.
func (r *Registry) checkCalls() []error {
	var faults []error
	for _, t := range r.sorted {
		for _, callee := range r.Callees(t) {
			if slices.Index(cutroom.Kinds, callee.Kind) > slices.Index(cutroom.Kinds, t.Kind) && !slices.Contains(t.Calls, callee.Name) {
				faults = append(faults, fmt.Errorf("%s: %s (%s) calls %s, which takes more authority (%s)", t.file, t.Name, t.Kind, callee.Name, callee.Kind))
			}
		}
		for _, id := range t.Calls {
			callee := r.byName[id]
			switch {
			case strings.HasSuffix(id, ".*"):
			case callee == nil:
				faults = append(faults, fmt.Errorf("%s: %s calls %s, which does not exist", t.file, t.Name, id))
			case slices.Index(cutroom.Kinds, callee.Kind) > slices.Index(cutroom.Kinds, t.Kind):
				faults = append(faults, fmt.Errorf("%s: %s (%s) calls %s, which takes more authority (%s)", t.file, t.Name, t.Kind, id, callee.Kind))
			case r.reaches(callee, t, map[*Tool]bool{}):
				faults = append(faults, fmt.Errorf("%s: %s and %s call each other", t.file, t.Name, id))
			}
		}
	}
	return faults
}

func (r *Registry) reaches(from, to *Tool, seen map[*Tool]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, next := range r.Callees(from) {
		if !seen[next] && r.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// Families returns the families in the order given.
func (r *Registry) Families() []*Family { return r.families }

// Tools returns every tool in order of name.
func (r *Registry) Tools() []*Tool { return r.sorted }

// Find returns the tool of that name; the MCP spelling is accepted.
func (r *Registry) Find(name string) (*Tool, bool) {
	if t, ok := r.byName[name]; ok {
		return t, true
	}
	i := slices.IndexFunc(r.sorted, func(t *Tool) bool { return t.MCPName() == name })
	if i < 0 {
		return nil, false
	}
	return r.sorted[i], true
}

// Callees are the tools that t's body may call. "edit.*" in its Calls is every tool of
// that family that plans runs: those call nobody.
func (r *Registry) Callees(t *Tool) []*Tool {
	var list []*Tool
	for _, id := range t.Calls {
		family, all := strings.CutSuffix(id, "*")
		if !all {
			if callee := r.byName[id]; callee != nil {
				list = append(list, callee)
			}
			continue
		}
		for _, callee := range r.sorted {
			if strings.HasPrefix(callee.Name, family) && callee.body == BodyPlan {
				list = append(list, callee)
			}
		}
	}
	return list
}

// Reads says whether t or a tool it calls may show media to models.
func (r *Registry) Reads(t *Tool) bool {
	return t.Needs.Readers || slices.ContainsFunc(r.Callees(t), r.Reads)
}

// Nearest returns the known name most like name, or "".
func (r *Registry) Nearest(name string) string {
	names := make([]string, len(r.sorted))
	for i, t := range r.sorted {
		names[i] = t.Name
	}
	return nearest(name, names)
}

// Programs returns every program that t or a tool it calls may run.
func (r *Registry) Programs(t *Tool) []string {
	set := map[string]bool{}
	var walk func(*Tool)
	walk = func(t *Tool) {
		for _, p := range t.Needs.AllPrograms() {
			set[p] = true
		}
		for _, callee := range r.Callees(t) {
			walk(callee)
		}
	}
	walk(t)
	var names []string
	for p := range set {
		names = append(names, p)
	}
	slices.Sort(names)
	return names
}
