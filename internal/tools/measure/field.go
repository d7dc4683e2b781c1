package measure

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// checkField refuses a field that a description never has: a name at each dot, of a list
// a number, or nothing for its first.
func checkField(field string) error {
	t := reflect.TypeFor[ProbedFile]()
	for i, word := range strings.Split(field, ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Slice {
			t = t.Elem()
			if _, err := strconv.ParseUint(word, 10, 16); err == nil {
				continue
			}
		}
		names := members(t)
		at := slices.IndexFunc(names, func(f reflect.StructField) bool { return spelled(f) == word })
		if at < 0 {
			return noField(field, word, i, names)
		}
		t = names[at].Type
	}
	return nil
}

// noField says what there is in place of a word that is no member.
func noField(field, word string, depth int, names []reflect.StructField) error {
	err := cutroom.Errorf(cutroom.Invalid, "field %q: a description has no %q there", field, word)
	if len(names) == 0 {
		return err.WithHint("leave out what comes behind the dot")
	}
	var list []string
	for _, f := range names {
		list = append(list, spelled(f))
	}
	before := strings.Join(strings.Split(field, ".")[:depth], ".")
	if before != "" {
		before += "."
	}
	if near := tool.Nearest(word, list); near != "" {
		return err.WithHint("ask for %s%s", before, near)
	}
	return err.WithHint("ask for one of %s", before+strings.Join(list, ", "+before))
}

// spelled is how a member is called in JSON.
func spelled(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// members are those of a struct as JSON has them; of anything else there are none.
func members(t reflect.Type) (list []reflect.StructField) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Anonymous && spelled(f) == "":
			list = append(list, members(f.Type)...)
		case spelled(f) != "" && spelled(f) != "-":
			list = append(list, f)
		}
	}
	return list
}

// fieldOf is one value of a description: a text as it is, anything else as JSON, "" for
// what is not there.
func fieldOf(file *ProbedFile, field string) (string, error) {
	raw, err := tool.Encode(file)
	if err != nil {
		return "", err
	}
	for _, word := range strings.Split(field, ".") {
		if list, ok := listOf(raw); ok {
			n, err := strconv.ParseUint(word, 10, 16)
			if n >= uint64(len(list)) {
				return "", nil
			}
			if raw = list[n]; err == nil {
				continue
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil || object[word] == nil {
			return "", nil
		}
		raw = object[word]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	return string(bytes.TrimSpace(raw)), nil
}

func listOf(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	return list, bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil
}
