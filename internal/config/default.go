package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Default is a config that no file says anything in.
func Default() Config {
	var c Config
	fill(reflect.ValueOf(&c.Lens).Elem())
	return c
}

// fill sets every field that has a default in its tag.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if field.Kind() == reflect.Struct {
			fill(field)
			continue
		}
		text, ok := tag.Lookup("default")
		if !ok {
			continue
		}
		switch field.Kind() {
		case reflect.Bool:
			field.SetBool(text == "true")
		case reflect.Int64:
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				panic(fmt.Sprintf("the default of %s is no number", tag.Get("yaml"))) // our own tag
			}
			field.SetInt(n)
		case reflect.String:
			field.SetString(text)
		case reflect.Slice:
			field.Set(reflect.ValueOf(strings.Split(text, ",")))
		default:
			panic(fmt.Sprintf("a default of %s is not known how to set", tag.Get("yaml")))
		}
	}
}
