package config

import (
	"reflect"
	"slices"
	"strings"
)

// Key is one key of the config file, for the reference page. Default is what holds when
// the key is left out, as the file would spell it; "" where the description says it.
type Key struct{ Name, Doc, Default string }

// Keys lists the dotted names of all keys.
func Keys() []string {
	var names []string
	for _, k := range Reference() {
		names = append(names, k.Name)
	}
	return names
}

// Reference lists every key with its description, in order of name.
func Reference() []Key {
	keys := keysOf(reflect.TypeFor[Config](), "")
	slices.SortFunc(keys, func(a, b Key) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return keys
}

func keysOf(t reflect.Type, prefix string) []Key {
	var keys []Key
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("yaml")
		if f.Tag.Get("yaml") == "-" {
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, name+".")...)
			continue
		}
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			keys = append(keys, keyOf(name, f))
			keys = append(keys, keysOf(f.Type.Elem(), name+"[].")...)
			continue
		}
		keys = append(keys, keyOf(name, f))
	}
	return keys
}

func keyOf(name string, f reflect.StructField) Key {
	def := f.Tag.Get("default")
	if def != "" && f.Type.Kind() == reflect.Slice {
		def = "[" + strings.ReplaceAll(def, ",", ", ") + "]"
	}
	return Key{name, f.Tag.Get("doc"), def}
}
