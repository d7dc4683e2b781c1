package docgen

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// planned makes the schema of a tool's answers that of its dry runs, too: where dry_run
// is true, the answer is the plan, a type of its own in defs; otherwise all stands in it
// that the tool answers.
func planned(s *jsonschema.Schema, defs map[string]*jsonschema.Schema) *jsonschema.Schema {
	plan := tool.Shape(reflect.TypeFor[engine.Preview](), defs)
	isTrue := any(true)
	s.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"dry_run": {Const: &isTrue}}, Required: []string{"dry_run"}}
	s.Then = plan
	s.Else = &jsonschema.Schema{Required: s.Required}
	of := defs[reflect.TypeFor[engine.Preview]().String()]
	s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return !slices.Contains(of.Required, name) })
	for name, p := range s.Properties { // what the two call alike and mean otherwise is each one's own
		if other := of.Properties[name]; other != nil && (other.Type != p.Type || other.Ref != p.Ref || !reflect.DeepEqual(other.Items, p.Items)) {
			if s.Else.Properties == nil {
				s.Else.Properties = map[string]*jsonschema.Schema{}
			}
			s.Else.Properties[name] = p
			delete(s.Properties, name)
			s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(n string) bool { return n == name })
		}
	}
	s.AdditionalProperties, s.UnevaluatedProperties = nil, &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return s
}
