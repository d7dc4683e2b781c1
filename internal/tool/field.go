package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// field is one JSON member of a struct, with its tags read.
type field struct {
	index    []int
	name     string
	typ      reflect.Type
	optional bool // may be absent: has a default, omitempty or omitzero
	tag      reflect.StructTag
}

var (
	momentType  = reflect.TypeFor[cutroom.Moment]()
	microsType  = reflect.TypeFor[cutroom.Micros]()
	digestType  = reflect.TypeFor[cutroom.Digest]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	inPathType  = reflect.TypeFor[cutroom.InPath]()
	outPathType = reflect.TypeFor[cutroom.OutPath]()
	sourceType  = reflect.TypeFor[cutroom.Source]()
	refType     = reflect.TypeFor[cutroom.Ref]()
	frameType   = reflect.TypeFor[cutroom.ArtifactRef]()
	ratioType   = reflect.TypeFor[ffmpeg.Rational]()
)

// fieldsOf returns the JSON members of a struct type in order, embedded structs
// flattened.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" || !sf.IsExported() {
			continue
		}
		if sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct {
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
			continue
		}
		_, hasDefault := sf.Tag.Lookup("default")
		fields = append(fields, field{
			index: []int{i}, name: name, typ: sf.Type, tag: sf.Tag,
			optional: hasDefault || strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero"),
		})
	}
	return fields
}

// Rare are the members of the input that are rarely wanted (tagged rare:"true"), and the
// bounds that a call may set itself: lists for models leave them out.
func (t *Tool) Rare() []string {
	list := []string{}
	for _, f := range fieldsOf(t.in) {
		if f.tag.Get("rare") == "true" || t.family.Spoken && f.name == "limits" {
			list = append(list, f.name)
		}
	}
	return list
}

// JSONName is the JSON name of a struct's field.
func JSONName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// checkType refuses what cannot be described to every host: an untyped value, a
// member without a JSON name or a description.
func checkType(t reflect.Type) error {
	return checkShape(t, nil)
}

func checkShape(t reflect.Type, seen []reflect.Type) error {
	for _, s := range seen {
		if s == t {
			return fmt.Errorf("type %s contains itself", t)
		}
	}
	if t == ratioType {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return checkShape(t.Elem(), seen)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("map keys of %s are not strings", t)
		}
		return checkShape(t.Elem(), seen)
	case reflect.Struct:
		seen = append(seen, t)
		for _, f := range fieldsOf(t) {
			if f.name == "" || f.tag.Get("doc") == "" {
				return fmt.Errorf("a field of %s lacks a json name or a doc tag (%q)", t, f.name)
			}
			if k := f.typ.Kind(); !f.optional && (k == reflect.Pointer || f.typ == ratioType) {
				return fmt.Errorf("%s of %s can be null: it has to be left out then (omitempty, omitzero)", f.name, t)
			}
			if err := checkShape(f.typ, seen); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		return nil
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint8:
		return nil
	}
	return fmt.Errorf("type %s cannot be part of an input or output", t)
}

// Param is one leaf of an input as a command line sees it.
type Param struct {
	Path     []string // JSON members from the top
	Flag     string   // flag name, "-" for "_"
	Kind     ParamKind
	Repeat   bool // a list: the flag repeats
	Required bool
	ByFlag   bool // an input that is given by flag (cli:"flag")
	Place    bool // stands by position though it may be left out (cli:"place")
	Default  string
	Enum     []string
	Doc      string
	Unit     string
	Since    string
}

// ParamKind is how the text of a flag becomes JSON.
type ParamKind string

// The kinds of parameter.
const (
	ParamText   ParamKind = "text"
	ParamInt    ParamKind = "int"
	ParamNumber ParamKind = "number"
	ParamBool   ParamKind = "bool"
	ParamTime   ParamKind = "time"
	ParamIn     ParamKind = "in"     // path read
	ParamOut    ParamKind = "out"    // path written
	ParamSource ParamKind = "source" // a video source
	ParamRef    ParamKind = "ref"    // a recorded result
	ParamJSON   ParamKind = "json"   // a structure; only as JSON
)

// Positional says whether the parameter is given by position: inputs are, unless they
// are marked cli:"flag".
func (p Param) Positional() bool { return (p.Kind == ParamIn || p.Kind == ParamSource) && !p.ByFlag }

// Params lists the leaves of t's input in declared order. Members of nested
// structs get flags of their own name.
func (t *Tool) Params() []Param { return paramsOf(t.in, nil, true) }

func paramsOf(t reflect.Type, path []string, required bool) []Param {
	var params []Param
	for _, f := range fieldsOf(t) {
		if f.tag.Get("cli") == "-" {
			continue
		}
		at := append(append([]string{}, path...), f.name)
		typ, repeat := f.typ, false
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8 {
			typ, repeat = typ.Elem(), true
		}
		kind := paramKind(typ)
		if kind == "" && repeat {
			kind = ParamJSON // flags cannot tell the members of one entry from those of the next
		}
		if kind == "" {
			params = append(params, paramsOf(typ, at, required && !f.optional)...)
			continue
		}
		p := Param{
			Path: at, Flag: strings.ReplaceAll(f.name, "_", "-"), Kind: kind, Repeat: repeat,
			Required: required && !f.optional, Place: f.tag.Get("cli") == "place", ByFlag: f.tag.Get("cli") == "flag", Default: f.tag.Get("default"),
			Doc: f.tag.Get("doc"), Unit: f.tag.Get("unit"), Since: f.tag.Get("since"),
		}
		if e := f.tag.Get("enum"); e != "" {
			p.Enum = strings.Split(e, ",")
		}
		params = append(params, p)
	}
	return params
}

// paramKind returns "" for a struct whose members are parameters of their own.
func paramKind(t reflect.Type) ParamKind {
	switch t {
	case microsType, momentType:
		return ParamTime
	case inPathType:
		return ParamIn
	case outPathType:
		return ParamOut
	case sourceType:
		return ParamSource
	case refType:
		return ParamRef
	case frameType:
		return ParamJSON
	}
	switch t.Kind() {
	case reflect.Bool:
		return ParamBool
	case reflect.Int, reflect.Int64:
		return ParamInt
	case reflect.Float64:
		return ParamNumber
	case reflect.String:
		return ParamText
	case reflect.Struct:
		for _, f := range fieldsOf(t) {
			if k := f.typ.Kind(); k == reflect.Struct || k == reflect.Slice {
				return ParamJSON
			}
		}
		return ""
	}
	return ParamJSON
}
