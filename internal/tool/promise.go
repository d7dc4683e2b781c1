package tool

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
)

// Role is what a tool is for in a plan: measure, measure and write, write, or verify.
type Role string

// The roles.
const (
	Analysis             Role = "analysis"
	AnalysisAndExecution Role = "analysis_and_execution"
	Execution            Role = "execution"
	Verification         Role = "verification"
)

// Roles are all of them, in the order of a plan.
var Roles = []Role{Analysis, AnalysisAndExecution, Execution, Verification}

// Role derives from the family and from what the tool may do.
func (t *Tool) Role() Role {
	acts := t.Kind != cutroom.Read && t.Kind != cutroom.Preview
	switch {
	case t.family.Name == "review":
		return Verification
	case acts && t.family.Name == "measure":
		return AnalysisAndExecution
	case acts:
		return Execution
	}
	return Analysis
}

// Plannable says whether a dry run of the tool answers what it would do.
func (t *Tool) Plannable() bool {
	if t.family.Spoken {
		return slices.ContainsFunc(fieldsOf(t.in), func(f field) bool { return f.name == "dry_run" }) || t.Kind == cutroom.Read && !t.Actual
	}
	return t.body == BodyPlan
}

// common are the members that mean the same wherever they stand.
var common = []string{"output", "overwrite", "dry_run", "limits", argvKey}

// PromisedInput is the input's schema with what a contract adds: for each member how it
// is given on a command line (cli) and whether it means the same everywhere (common),
// for the whole the order of the positional ones and the groups that exclude each other.
func (t *Tool) PromisedInput() *jsonschema.Schema {
	s := t.InputSchema()
	place, flags := t.Words()
	var order []string
	for _, p := range place {
		order = append(order, strings.Join(p.Path, "."))
		annotate(s, p.Path, strings.Trim(p.Word(), "[]"))
	}
	for _, p := range flags {
		annotate(s, p.Path, p.Spelling())
	}
	for _, name := range common {
		if p := s.Properties[name]; p != nil {
			extra(p)["common"] = true
		}
	}
	if p := s.Properties["dry_run"]; p != nil {
		extra(p)["cli"] = "--dry-run"
	}
	x := extra(s)
	x["positional"] = append([]string{}, order...)
	x["mutually_exclusive"] = append([][]string{}, t.Exclusive...)
	x["one_of_required"] = append([][]string{}, t.OneOf...)
	return s
}

// annotate says at the member of that path how it is written on a command line.
func annotate(s *jsonschema.Schema, path []string, cli string) {
	for _, name := range path {
		if s = s.Properties[name]; s == nil {
			return
		}
	}
	extra(s)["cli"] = cli
}

func extra(s *jsonschema.Schema) map[string]any {
	if s.Extra == nil {
		s.Extra = map[string]any{}
	}
	return s.Extra
}

// Spelling is the flag as it is written: the letter first where there is one.
func (p Param) Spelling() string {
	if letter := p.Letter(); letter != "" {
		return "-" + letter + ", --" + p.Flag
	}
	return "--" + p.Flag
}

// Letter is the one letter that stands for the flag, "" for none.
func (p Param) Letter() string {
	switch {
	case p.Kind == ParamOut && p.Flag == "output":
		return "o"
	case p.Flag == "lufs":
		return "I" // as everyone writes it
	}
	return ""
}

// checkGroups refuses members that exclude each other, and groups of which none is given.
func (t *Tool) checkGroups(v reflect.Value, d *decoder) {
	given := func(group []string) (names []string) {
		for _, f := range fieldsOf(v.Type()) {
			if slices.Contains(group, f.name) && !v.FieldByIndex(f.index).IsZero() {
				names = append(names, f.name)
			}
		}
		return names
	}
	for _, group := range t.Exclusive {
		if names := given(group); len(names) > 1 {
			d.fault("", "%s exclude each other: give one of them", strings.Join(names, " and "))
		}
	}
	for _, group := range t.OneOf {
		if len(given(group)) == 0 {
			d.fault("", "one of %s has to be given", strings.Join(group, ", "))
		}
	}
}

// checkMembers reports names in groups that no member has.
func (t *Tool) checkMembers() error {
	for _, group := range slices.Concat(t.Exclusive, t.OneOf) {
		for _, name := range group {
			if !slices.ContainsFunc(fieldsOf(t.in), func(f field) bool { return f.name == name && f.optional }) {
				return fmt.Errorf("%q of a group is no optional member of its input", name)
			}
		}
		if len(group) < 2 {
			return fmt.Errorf("the group %v relates nothing", group)
		}
	}
	return nil
}
