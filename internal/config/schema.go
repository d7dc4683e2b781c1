package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// schema is a JSON Schema (2020-12) of one part, its members in a readable order.
type schema struct {
	Dialect     string      `json:"$schema,omitempty"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Type        string      `json:"type,omitempty"`
	Enum        []string    `json:"enum,omitempty"`
	Pattern     string      `json:"pattern,omitempty"`
	Default     any         `json:"default,omitempty"`
	Properties  *properties `json:"properties,omitempty"`
	Additional  *bool       `json:"additionalProperties,omitempty"`
	Items       *schema     `json:"items,omitempty"`
	AnyOf       []schema    `json:"anyOf,omitempty"`
}

// properties keep the order of the fields.
type properties struct {
	names []string
	of    []schema
}

// MarshalJSON writes the properties in their order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range p.names {
		if i > 0 {
			b.WriteByte(',')
		}
		raw, err := json.Marshal(p.of[i])
		if err != nil {
			return nil, err
		}
		b.WriteString(quote(name) + ":")
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// secretPattern is what a reference looks like; more than one has commas between.
const secretPattern = `^$|^\s*(env:[A-Za-z0-9_]+|file:/[^,]*|keyring:[^,]+)(\s*,\s*(env:[A-Za-z0-9_]+|file:/[^,]*|keyring:[^,]+))*\s*$`

// Schema is the JSON Schema of a config file, for editors. What holds between keys is
// for [Check] to say.
func Schema() []byte {
	s := schemaOf(reflect.TypeFor[Config]())
	s.Dialect, s.Title = "https://json-schema.org/draft/2020-12/schema", "cutroom.yaml"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		panic(err) // types of ours
	}
	return b.Bytes()
}

func schemaOf(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[Scalar]():
		return schema{AnyOf: []schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	case reflect.TypeFor[Choice]():
		return schema{AnyOf: []schema{{Type: "boolean"}, {Type: "string", Enum: []string{"true", "false", "any"}}}}
	case reflect.TypeFor[ASREndpoint]():
		return schema{AnyOf: []schema{{Type: "string"}, object(t)}}
	}
	switch t.Kind() {
	case reflect.Struct:
		return object(t)
	case reflect.Slice:
		items := schemaOf(t.Elem())
		return schema{Type: "array", Items: &items}
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Int64:
		return schema{Type: "integer"}
	}
	return schema{Type: "string"}
}

// object is the schema of a mapping. Its fields' tags add what their types do not say:
// enum (words), as (secret or number), default.
func object(t reflect.Type) schema {
	closed := false
	p := &properties{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "-" {
			continue
		}
		s := schemaOf(f.Type)
		switch f.Tag.Get("as") {
		case "secret":
			s.Pattern = secretPattern
		case "number":
			s = schema{Type: "number"}
		}
		if words := f.Tag.Get("enum"); words != "" {
			list := strings.Split(words, ",")
			if s.Items != nil {
				s.Items.Enum = list
			} else {
				s.Enum = list
			}
		}
		s.Description, s.Default = f.Tag.Get("doc"), defaultOf(f)
		p.names, p.of = append(p.names, name), append(p.of, s)
	}
	return schema{Type: "object", Properties: p, Additional: &closed}
}

// defaultOf is a field's default as JSON has it, nil when it has none.
func defaultOf(f reflect.StructField) any {
	text, ok := f.Tag.Lookup("default")
	switch {
	case !ok:
		return nil
	case f.Type.Kind() == reflect.Slice:
		return strings.Split(text, ",")
	case text == "true", text == "false":
		return text == "true"
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}
