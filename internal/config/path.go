package config

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// step is one part of a dotted name: a key, or the place in a list.
type step struct {
	key   string
	index int // of a list when key is ""
}

// pathOf takes a dotted name such as models[0].limits.images apart and returns the type
// of what it names.
func pathOf(name string) ([]step, reflect.Type, error) {
	t := reflect.TypeFor[Config]()
	var path []step
	done := ""
	for part := range strings.SplitSeq(name, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		if _, err := strconv.Atoi(part); err == nil && t.Kind() == reflect.Slice {
			return nil, nil, cutroom.Errorf(cutroom.Invalid, "unknown key %q", short(name)).WithHint("an element of a list is written %s[%s]", done, part)
		}
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			return nil, nil, cutroom.Errorf(cutroom.Invalid, "unknown key %q", short(name)).WithHint("%s is a list: name its element, as in %s[0].%s", done, done, short(part))
		}
		if t.Kind() != reflect.Struct {
			return nil, nil, cutroom.Errorf(cutroom.Invalid, "unknown key %q", short(name)).WithHint("%s has no keys beneath it", done)
		}
		f, names := fieldOf(t, key)
		if f == nil {
			return nil, nil, cutroom.Errorf(cutroom.Invalid, "unknown key %q", short(name)).WithHint("%s", meant(key, strings.TrimPrefix(done+".", "."), names))
		}
		path, t = append(path, step{key: key}), f.Type
		done = strings.TrimPrefix(done+"."+key, ".")
		if !indexed {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
		if err != nil || n < 0 || n > maxModels || rest != strconv.Itoa(n)+"]" || t.Kind() != reflect.Slice {
			return nil, nil, cutroom.Errorf(cutroom.Invalid, "%q is no element of a list", short(part)).WithHint("write it as models[0].id; the first element has the number 0")
		}
		path, t = append(path, step{index: n}), t.Elem()
		done += "[" + strconv.Itoa(n) + "]"
	}
	return path, t, nil
}

// valueOf reads what somebody typed for a key of type t. A text is taken as it is; a list
// of texts may be words with commas between.
func valueOf(t reflect.Type, typed string) (*yaml.Node, error) {
	refuse := func(hint string) (*yaml.Node, error) {
		return nil, cutroom.Errorf(cutroom.Invalid, "the value does not fit the key").WithHint("%s", hint)
	}
	switch {
	case t == reflect.TypeFor[string]():
		return textNode(unquoted(typed)), nil
	case t == reflect.TypeFor[[]string]() && !strings.HasPrefix(strings.TrimSpace(typed), "["):
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for one := range strings.SplitSeq(typed, ",") {
			list.Content = append(list.Content, textNode(unquoted(strings.TrimSpace(one))))
		}
		return list, nil
	}
	root, faults := treeOf([]byte(typed))
	if len(faults) > 0 || root == nil {
		return refuse("write it as YAML or JSON, e.g. true, 600000, [a, b] or {id: a}")
	}
	if t.Kind() == reflect.Slice && root.Kind != yaml.SequenceNode {
		return nil, cutroom.Errorf(cutroom.Invalid, "the value does not fit: a list is expected").WithHint("write it in brackets, as in [a, b], or name one element of it: [0] behind the key is the first")
	}
	if faults := misfits(root, t, ""); len(faults) > 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s", faults[0].Message).WithHint("%s", faults[0].Hint)
	}
	if err := root.Decode(reflect.New(t).Interface()); err != nil {
		if f := typeFaults(err); len(f) > 0 {
			return refuse(f[0].Message)
		}
	}
	clean(root)
	return root, nil
}

// unquoted is a text without the quotes that somebody wrote around it as a file would
// have them: "" is the empty text.
func unquoted(s string) string {
	if n := len(s); n < 2 || s[0] != s[n-1] || s[0] != '"' && s[0] != '\'' {
		return s
	}
	var text string
	if yaml.Unmarshal([]byte(s), &text) != nil {
		return s
	}
	return text
}

// clean takes comments and ways of writing out of a value.
func clean(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	n.Line, n.Column = 0, 0
	if n.Kind == yaml.ScalarNode {
		if n.ShortTag() == "!!str" {
			*n = *textNode(n.Value)
		}
		return
	}
	n.Style = 0
	plain := n.Kind == yaml.SequenceNode
	for _, c := range n.Content {
		clean(c)
		plain = plain && c.Kind == yaml.ScalarNode
	}
	if plain {
		n.Style = yaml.FlowStyle
	}
}

// textNode is a text that reads as one whatever is in it.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}
