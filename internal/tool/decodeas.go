package tool

import (
	"bytes"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"cutroom"
)

// DecodeAs reads a document of the type T as strictly as a request: unknown keys are
// refused, naming the nearest known one, defaults are filled in, bounds are checked. what
// names the document in errors.
func DecodeAs[T any](what string, raw []byte) (T, error) {
	var out T
	v := reflect.ValueOf(&out).Elem()
	if len(raw) > MaxInput {
		return out, cutroom.Errorf(cutroom.Limit, "%s has %d bytes, more than %d", what, len(raw), MaxInput)
	}
	n, err := parse(bytes.TrimSpace(raw))
	if err != nil {
		return out, cutroom.Errorf(cutroom.Invalid, "%s is not one JSON document: %s", what, err)
	}
	var d decoder
	if d.value(v, n, "", ""); d.count == 0 {
		check(v, &d)
	}
	if d.count > 0 {
		e := cutroom.AsError(d.err(what))
		return out, e.WithHint("mend what is named there")
	}
	return out, nil
}

// SchemaOf is the JSON Schema of documents of the type T.
func SchemaOf[T any]() *jsonschema.Schema { return shaper{}.of(reflect.TypeFor[T](), "") }
