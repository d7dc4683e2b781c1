package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// InputSchema returns the JSON Schema (2020-12) of t's input. It has no $schema,
// no union and one type each, because model vendors and hosts refuse or drop
// tools that do; exclusive options are checked by Validate and described.
func (t *Tool) InputSchema() *jsonschema.Schema {
	s := shaper{}.of(t.in, "")
	if t.family.Spoken {
		s.Properties[argvKey] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: argvDoc}
		s.PropertyOrder = append(s.PropertyOrder, argvKey)
	}
	return s
}

// OutputSchema returns the JSON Schema of t's output.
func (t *Tool) OutputSchema() *jsonschema.Schema { return shaper{}.of(t.out, "") }

// OutputShape is OutputSchema with every type that has a name kept apart, once, in
// defs, under package.Name; the schema refers to it as #/$defs/package.Name.
func (t *Tool) OutputShape(defs map[string]*jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	shaper{defs}.members(s, t.out)
	return s
}

// MadeShape is what the answers of all tools that measure, edit and review share.
func MadeShape(defs map[string]*jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	shaper{defs}.members(s, reflect.TypeFor[Made]())
	return s
}

// Shape refers to the schema of a named struct, which is kept in defs with all that it
// names.
func Shape(t reflect.Type, defs map[string]*jsonschema.Schema) *jsonschema.Schema {
	return shaper{defs}.named(t, "")
}

// shaper makes schemas of types. With defs, named structs are kept there.
type shaper struct{ defs map[string]*jsonschema.Schema }

// named refers to a struct, and keeps it.
func (sh shaper) named(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	name := t.String()
	if _, known := sh.defs[name]; !known {
		s := &jsonschema.Schema{}
		sh.defs[name] = s
		sh.members(s, t)
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name, Description: describe(tag)}
}

func (sh shaper) of(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		return sh.of(t.Elem(), tag)
	}
	s := &jsonschema.Schema{Description: describe(tag)}
	switch {
	case t == rawType:
		return s // any JSON
	case t == microsType:
		s.Type = "number"
	case t == momentType:
		s.Type = "string" // hosts drop a list of types; a number is read all the same
	case t == digestType:
		s.Type, s.Pattern = "string", "^[0-9a-f]{64}$"
	case t == ratioType:
		s.Type, s.Pattern = "string", "^-?[0-9]+/[0-9]+$"
	case t == inPathType || t == outPathType:
		s.Type, s.MinLength, s.MaxLength = "string", ptr(1), ptr(4096)
	case t.Kind() == reflect.Struct && sh.defs != nil && t.Name() != "":
		return sh.named(t, tag)
	case t.Kind() == reflect.Struct:
		sh.members(s, t)
		return s
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		s.Type = "array"
		s.Items = sh.of(t.Elem(), elemTag(tag))
		s.Items.Description = ""
		lo, hi := itemBounds(tag)
		s.MinItems, s.MaxItems = lo, hi
		if t.Kind() == reflect.Array {
			s.MinItems, s.MaxItems = ptr(t.Len()), ptr(t.Len())
		}
	case t.Kind() == reflect.Map:
		s.Type, s.AdditionalProperties = "object", sh.of(t.Elem(), "")
	case t.Kind() == reflect.Bool:
		s.Type = "boolean"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64, t.Kind() == reflect.Uint8:
		s.Type = "integer"
	case t.Kind() == reflect.Float64:
		s.Type = "number"
	default:
		s.Type = "string"
	}
	applyTags(s, t, tag)
	return s
}

// members makes s the object of a struct.
func (sh shaper) members(s *jsonschema.Schema, t reflect.Type) {
	s.Type = "object"
	s.Properties = map[string]*jsonschema.Schema{}
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	for _, f := range fieldsOf(t) {
		p := sh.of(f.typ, f.tag)
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
}

// applyTags adds the bounds, the enumeration and the default of a leaf.
func applyTags(s *jsonschema.Schema, t reflect.Type, tag reflect.StructTag) {
	lo, hi := bound(tag, "min"), bound(tag, "max")
	switch s.Type {
	case "integer", "number":
		s.Minimum, s.Maximum = lo, hi
		if s.Type == "integer" && s.Maximum == nil && t.Kind() != reflect.Uint8 {
			s.Maximum = ptr(float64(maxExact))
		}
	case "string":
		if lo != nil {
			s.MinLength = ptr(int(*lo))
		}
		if hi != nil {
			s.MaxLength = ptr(int(*hi))
		}
		if e := tag.Get("enum"); e != "" {
			for v := range strings.SplitSeq(e, ",") {
				s.Enum = append(s.Enum, v)
			}
		}
	}
	if e := tag.Get("enum"); e != "" && s.Type == "integer" {
		for v := range strings.SplitSeq(e, ",") {
			n, err := strconv.Atoi(v)
			if err == nil {
				s.Enum = append(s.Enum, n)
			}
		}
		s.Maximum = nil
	}
	if d, ok := tag.Lookup("default"); ok {
		s.Default = json.RawMessage(defaultJSON(t, d))
	}
}

// maxExact is the largest integer that every JSON reader keeps exact, 2^53-1.
const maxExact = 1<<53 - 1

// describe joins the doc, unit and since tags.
func describe(tag reflect.StructTag) string {
	d := tag.Get("doc")
	if u := tag.Get("unit"); u != "" {
		d += fmt.Sprintf(" Unit: %s.", u)
	}
	if v := tag.Get("since"); v != "" {
		d += fmt.Sprintf(" Since %s.", v)
	}
	return d
}

// elemTag keeps the tags that speak of a list's elements.
func elemTag(tag reflect.StructTag) reflect.StructTag {
	var keep []string
	for _, k := range []string{"enum", "min", "max"} {
		if v, ok := tag.Lookup(k); ok {
			keep = append(keep, k+":"+strconv.Quote(v))
		}
	}
	return reflect.StructTag(strings.Join(keep, " "))
}

// itemBounds reads the items tag, "lo..hi" with either side empty.
func itemBounds(tag reflect.StructTag) (lo, hi *int) {
	a, b, ok := strings.Cut(tag.Get("items"), "..")
	if !ok {
		return nil, nil
	}
	if n, err := strconv.Atoi(a); err == nil {
		lo = &n
	}
	if n, err := strconv.Atoi(b); err == nil {
		hi = &n
	}
	return lo, hi
}

func bound(tag reflect.StructTag, key string) *float64 {
	v, err := strconv.ParseFloat(tag.Get(key), 64)
	if err != nil {
		return nil
	}
	return &v
}

// defaultJSON writes a default tag as JSON of type t.
func defaultJSON(t reflect.Type, d string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && d == "":
		return "[]"
	case t.Kind() == reflect.Slice:
		var items []string
		for v := range strings.SplitSeq(d, ",") {
			items = append(items, defaultJSON(t.Elem(), v))
		}
		return "[" + strings.Join(items, ",") + "]"
	case t.Kind() == reflect.String:
		return strconv.Quote(d)
	}
	return d
}

func ptr[T any](v T) *T { return &v }
