package tool

import "reflect"

// Extension is a member that a contract did not have from the start. Answers hold
// it only when the request used an extension.
type Extension struct {
	Part  string // input or output
	Path  string // members from the top, with dots; [] stands for the items of a list
	Since string // contract version that added it
}

// Extensions lists the members that carry a since tag, in declared order. What lies
// inside an extension is part of it and not listed again.
func (t *Tool) Extensions() []Extension {
	return append(extensionsOf("input", "", t.in), extensionsOf("output", "", t.out)...)
}

func extensionsOf(part, prefix string, t reflect.Type) []Extension {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			prefix += "[]"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var found []Extension
	for _, f := range fieldsOf(t) {
		at := f.name
		if prefix != "" {
			at = prefix + "." + f.name
		}
		if since := f.tag.Get("since"); since != "" {
			found = append(found, Extension{part, at, since})
			continue
		}
		found = append(found, extensionsOf(part, at, f.typ)...)
	}
	return found
}
