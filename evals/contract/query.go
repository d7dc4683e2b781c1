package main

import (
	"fmt"
	"strings"
)

// find follows a path through a decoded JSON document. Its steps are joined by slashes:
//
//	name        the member of an object
//	name=value  of a list, the one element whose member has that value
//	*a.b=value  of a list, all elements whose member has that value
//	@name       of each element of a list, that member
//	#           how many elements a list has
//	?text       whether a list of texts holds that one
func find(doc any, path string) (any, error) {
	for step := range strings.SplitSeq(path, "/") {
		next, err := follow(doc, step)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		doc = next
	}
	return doc, nil
}

func follow(doc any, step string) (any, error) {
	list, isList := doc.([]any)
	key, value, pairs := strings.Cut(step, "=")
	switch {
	case step == "#" && isList:
		return float64(len(list)), nil
	case strings.HasPrefix(step, "?") && isList:
		return len(those(list, "", step[1:])) > 0, nil
	case strings.HasPrefix(step, "@") && isList:
		var all []any
		for _, e := range list {
			v, err := follow(e, step[1:])
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	case strings.HasPrefix(step, "*") && isList && pairs:
		return those(list, key[1:], value), nil
	case isList && pairs:
		if found := those(list, key, value); len(found) == 1 {
			return found[0], nil
		}
		return nil, fmt.Errorf("not exactly one element has %s", step)
	}
	object, ok := doc.(map[string]any)
	if v, has := object[step]; ok && has {
		return v, nil
	}
	return nil, fmt.Errorf("nothing is at %q", step)
}

// those are the elements whose member at a dotted key reads as value; with no key, that
// are value.
func those(list []any, key, value string) []any {
	found := []any{}
	for _, e := range list {
		at := e
		for name := range strings.SplitSeq(key, ".") {
			if m, ok := at.(map[string]any); ok {
				at = m[name]
			}
		}
		if fmt.Sprint(at) == value {
			found = append(found, e)
		}
	}
	return found
}
