package lens

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"cutroom"
)

// schemaNode is a JSON Schema in the subset that strict structured output takes: every
// member is required, what may be absent may be null, and nothing else is allowed.
type schemaNode struct {
	Type       any                    `json:"type"`
	Desc       string                 `json:"description,omitempty"`
	Enum       []string               `json:"enum,omitempty"`
	Items      *schemaNode            `json:"items,omitempty"`
	MinItems   int                    `json:"minItems,omitempty"`
	MaxItems   int                    `json:"maxItems,omitempty"`
	Properties map[string]*schemaNode `json:"properties,omitempty"`
	Required   []string               `json:"required,omitempty"`
	Closed     *bool                  `json:"additionalProperties,omitempty"`
}

// SchemaName names the schema in a request.
const SchemaName = "media_evidence"

// Schema is the JSON Schema of [Findings], derived from the type.
func Schema() []byte {
	raw, err := json.Marshal(schemaOf(reflect.TypeFor[Findings]()))
	if err != nil {
		panic(err) // our own type
	}
	return raw
}

func schemaOf(t reflect.Type) *schemaNode {
	switch {
	case t == reflect.TypeFor[cutroom.Micros]():
		return &schemaNode{Type: "number"}
	case t.Kind() == reflect.Pointer:
		n := schemaOf(t.Elem())
		n.Type = []string{n.Type.(string), "null"}
		return n
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schemaNode{Type: "boolean"}
	case reflect.Float64:
		return &schemaNode{Type: "number"}
	case reflect.Slice:
		return &schemaNode{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Array:
		return &schemaNode{Type: "array", Items: schemaOf(t.Elem()), MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.Struct:
		return objectOf(t)
	}
	return &schemaNode{Type: "string"}
}

func objectOf(t reflect.Type) *schemaNode {
	closed := false
	n := &schemaNode{Type: "object", Properties: map[string]*schemaNode{}, Closed: &closed}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := schemaOf(f.Type)
		member.Desc = f.Tag.Get("doc")
		if e := f.Tag.Get("enum"); e != "" {
			member.Enum = slices.DeleteFunc(strings.Split(e, ","), func(v string) bool { return v == string(cutroom.NotAssessed) })
		}
		if one, ok := member.Type.(string); ok && strings.Contains(options, "omit") {
			member.Type = []string{one, "null"}
		}
		n.Properties[name] = member
		n.Required = append(n.Required, name)
	}
	return n
}
