package tool

import (
	"reflect"
	"strconv"
	"strings"

	"cutroom/internal/ffmpeg"
)

// Member says what a JSON pointer into the input points at: text, path, time, number,
// truth, list or object, and "" when the input has no such member. The word * is any
// element of a list, as a number is.
func (t *Tool) Member(pointer string) string {
	at := t.in
	words := strings.Split(pointer, "/")
	if words[0] != "" || len(words) < 2 {
		return ""
	}
	for _, w := range words[1:] {
		w = strings.NewReplacer("~1", "/", "~0", "~").Replace(w)
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.Slice, reflect.Array:
			if _, err := strconv.ParseUint(w, 10, 31); err != nil && w != "*" {
				return ""
			}
			at = at.Elem()
		case reflect.Map:
			at = at.Elem()
		case reflect.Struct:
			next := reflect.Type(nil)
			for _, f := range fieldsOf(at) {
				if f.name == w {
					next = f.typ
				}
			}
			if next == nil || at == ratioType {
				return ""
			}
			at = next
		default:
			return ""
		}
	}
	return memberKind(at)
}

func memberKind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case microsType, momentType:
		return "time"
	case inPathType, outPathType:
		return "path"
	case reflect.TypeFor[ffmpeg.Rational]():
		return "text"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "truth"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return "number"
}
