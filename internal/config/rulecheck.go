package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// Bounds of a policy: larger ones are a mistake, or meant to be slow.
const (
	maxRules = 200
	maxList  = 100
	maxText  = 500
	maxWhere = 20
)

// namePattern is how principals are called.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// faults lists what is wrong with a config that could be read.
func (c *Config) faults(lines places) []Fault {
	k := &checker{lines: lines}
	c.check(k)
	all := append(k.all, c.lensFaults(lines)...)
	all = append(all, c.principalFaults()...)
	if n := len(c.Policy.Rules); n > maxRules {
		return append(all, Fault{c.Policy.Rules[maxRules].Line, fmt.Sprintf("there are %d rules, more than %d", n, maxRules), "one rule may speak of many tools"})
	}
	names := map[string]int{}
	for i := range c.Policy.Rules {
		r := &c.Policy.Rules[i]
		if r.Name == "" {
			r.Name = "rule " + strconv.Itoa(i+1)
		}
		all = append(all, r.faults()...)
		if line, ok := names[r.Name]; ok {
			all = append(all, Fault{r.Line, fmt.Sprintf("the name %q is taken by the rule of line %d", short(r.Name), line), "name each rule differently"})
		}
		names[r.Name] = r.Line
	}
	return all
}

func (c *Config) principalFaults() []Fault {
	var all []Fault
	seen := map[string]bool{}
	for i := range c.Principals {
		p := &c.Principals[i]
		fault := func(hint, format string, args ...any) {
			all = append(all, Fault{p.Line, fmt.Sprintf(format, args...), hint})
		}
		if p.Role == "" {
			p.Role = string(cutroom.RoleAgent)
		}
		switch {
		case !namePattern.MatchString(p.Name):
			fault("use lower-case letters, digits, - and _", "%q is not a name of a principal", short(p.Name))
		case p.Name == cutroom.Agent.Name || p.Name == cutroom.Operator.Name:
			fault("its bounds are the keys agent and operator", "%q is the plain principal of its role", p.Name)
		case seen[p.Name]:
			fault("name each differently", "the principal %q is there twice", p.Name)
		}
		seen[p.Name] = true
		if p.Role != string(cutroom.RoleAgent) && p.Role != string(cutroom.RoleOperator) {
			fault("use operator or agent", "unknown role %q", short(p.Role))
		}
		all = append(all, kindFaults(p.Line, p.Kinds)...)
		all = append(all, globFaults(p.Line, "tools", p.Tools)...)
		all = append(all, globFaults(p.Line, "scopes", p.Scopes)...)
		if l := p.Limits; min(l.MaxFileBytes, l.MaxDurationSeconds, l.MaxFrames, l.MaxTranscriptBytes, l.TimeoutSeconds) < 0 {
			fault("leave it out for the default", "a limit is negative")
		}
	}
	return all
}

func kindFaults(line int, kinds []string) []Fault {
	return wordFaults(line, "kind", kinds, cutroom.Kinds)
}

// wordFaults lists the words that are not among the known ones.
func wordFaults[T ~string](line int, what string, words []string, known []T) []Fault {
	var all []Fault
	for _, w := range words {
		if !slices.Contains(known, T(w)) {
			var names []string
			for _, k := range known {
				names = append(names, string(k))
			}
			all = append(all, Fault{line, fmt.Sprintf("unknown %s %q", what, short(w)), "use " + strings.Join(names, ", ")})
		}
	}
	return all
}

func globFaults(line int, key string, globs []string) []Fault {
	var all []Fault
	for _, g := range globs {
		if _, err := path.Match(g, "x"); err != nil || g == "" {
			all = append(all, Fault{line, fmt.Sprintf("%s: %q is not a glob", key, short(g)), "use a name or a pattern such as video.*"})
		}
	}
	return all
}

// faults lists what is wrong with one rule.
func (r *Rule) faults() []Fault {
	all := wordFaults(r.Line, "effect", []string{r.Effect}, []string{"allow", "deny", "ask"})
	all = append(all, wordFaults(r.Line, "role", r.Roles, []cutroom.Role{cutroom.RoleOperator, cutroom.RoleAgent})...)
	all = append(all, kindFaults(r.Line, r.Kinds)...)
	all = append(all, wordFaults(r.Line, "risk", r.Risks, []string{"low", "medium", "high"})...)
	all = append(all, globFaults(r.Line, "tools", r.Tools)...)
	all = append(all, globFaults(r.Line, "origins", r.Origins)...)
	for _, l := range r.lists() {
		if len(l.words) > maxList {
			all = append(all, Fault{r.Line, fmt.Sprintf("%s has %d entries, more than %d", l.key, len(l.words), maxList), "use globs, or folders that hold more"})
		}
		for _, s := range l.words {
			if s == "" || len(s) > maxText || strings.ContainsRune(s, 0) {
				all = append(all, Fault{r.Line, fmt.Sprintf("%s: %q is empty or too long", l.key, short(s)), "take the entry out"})
			}
		}
	}
	if len(r.Name) > maxText || len(r.Reason) > maxText {
		all = append(all, Fault{r.Line, "the name or the reason is too long", fmt.Sprintf("use at most %d bytes", maxText)})
	}
	if len(r.Where) > maxWhere {
		all = append(all, Fault{r.Line, fmt.Sprintf("where has %d conditions, more than %d", len(r.Where), maxWhere), "make two rules of it"})
	}
	for i := range r.Where {
		all = append(all, r.Where[i].faults()...)
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return a.Line - b.Line })
	return append(all, append(r.Within.faults(r.Line, "within"), r.Over.faults(r.Line, "over")...)...)
}

// words are the entries of one key.
type words struct {
	key   string
	words []string
}

func (r *Rule) lists() []words {
	return []words{
		{"principals", r.Principals},
		{"roles", r.Roles},
		{"tools", r.Tools},
		{"kinds", r.Kinds},
		{"risks", r.Risks},
		{"origins", r.Origins},
		{"inputs", r.Inputs},
		{"inputs_outside", r.InputsOutside},
		{"outputs", r.Outputs},
		{"outputs_outside", r.OutputsOutside},
	}
}

// faults lists what is wrong with one condition on the arguments.
func (w Where) faults() []Fault {
	var all []Fault
	fault := func(hint, format string, args ...any) {
		all = append(all, Fault{w.Line, fmt.Sprintf(format, args...), hint})
	}
	if len(w.At) > maxText || !strings.HasPrefix(w.At, "/") || badEscape(w.At) {
		fault("write it as /member or /list/*/member; ~ is ~0 and / is ~1 in a name", "at: %q is not a JSON pointer", short(w.At))
	}
	tests := 0
	for _, set := range []bool{w.Equals != "", w.In != nil, w.AtLeast != "", w.AtMost != "", w.Glob != "", w.Beneath != "", w.Present != ""} {
		if set {
			tests++
		}
	}
	if tests != 1 {
		fault("one of equals, in, at_least, at_most, glob, beneath, present", "a condition has exactly one test; this has %d", tests)
	}
	for _, s := range []Scalar{w.AtLeast, w.AtMost} {
		if s != "" && !s.isNumber() {
			fault("times are in seconds", "at_least and at_most take a number, not %s", short(string(s)))
		}
	}
	if len(w.In) > maxList || len(w.Equals) > maxText || slices.ContainsFunc(w.In, func(s Scalar) bool { return len(s) > maxText }) {
		fault("use a glob", "the values are too many or too long")
	}
	if slices.Contains(w.In, "") || w.In != nil && len(w.In) == 0 {
		fault("use present: false for what is not there", "a value of in is missing")
	}
	if w.Glob != "" {
		all = append(all, globFaults(w.Line, "glob", []string{w.Glob})...)
	}
	if len(w.Glob) > maxText || len(w.Beneath) > maxText || strings.ContainsRune(w.Beneath, 0) {
		fault("use a shorter one", "the pattern or folder is too long")
	}
	if w.Present == "any" || w.Present != "" && w.Not {
		fault("write present: true or present: false", "present is neither any nor turned round")
	}
	return all
}

func badEscape(pointer string) bool {
	for i := range len(pointer) {
		if pointer[i] == '~' && (i+1 == len(pointer) || pointer[i+1] != '0' && pointer[i+1] != '1') {
			return true
		}
	}
	return false
}

func (a Amounts) faults(line int, key string) []Fault {
	var all []Fault
	check := func(name string, s Scalar, whole bool) {
		switch {
		case s == "":
		case whole && (s.Whole() == nil || *s.Whole() < 0):
			all = append(all, Fault{line, fmt.Sprintf("%s.%s is no whole number from 0", key, name), "write digits alone"})
		case !whole && (!s.isNumber() || s.Micros() == nil || *s.Micros() < 0):
			all = append(all, Fault{line, fmt.Sprintf("%s.%s is no number from 0", key, name), "write it as 600 or 0.5"})
		}
	}
	check("bytes", a.Bytes, true)
	check("seconds", a.Seconds, false)
	check("cost", a.Cost, false)
	check("calls_per_hour", a.CallsPerHour, true)
	return all
}
