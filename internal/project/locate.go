package project

import (
	"reflect"

	"cutroom"
)

// Locate returns the project with every path in it as at says. The project itself stays
// as it is.
func (p Project) Locate(at func(string) (string, error)) (Project, error) {
	v, err := relocated(reflect.ValueOf(p), at)
	if err != nil {
		return p, err
	}
	return v.Interface().(Project), nil
}

// relocated copies a value, with its paths located.
func relocated(v reflect.Value, at func(string) (string, error)) (reflect.Value, error) {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch path := v.Interface().(type) {
	case cutroom.InPath, cutroom.OutPath:
		if v.String() == "" {
			return out, nil
		}
		text, err := at(reflect.ValueOf(path).String())
		out.SetString(text)
		return out, err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return out, nil
		}
		inner, err := relocated(v.Elem(), at)
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(inner)
		return out, err
	case reflect.Slice:
		if v.IsNil() {
			return out, nil
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			inner, err := relocated(v.Index(i), at)
			if err != nil {
				return out, err
			}
			out.Index(i).Set(inner)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			inner, err := relocated(v.Field(i), at)
			if err != nil {
				return out, err
			}
			out.Field(i).Set(inner)
		}
	}
	return out, nil
}
