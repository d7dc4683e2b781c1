package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// editable is the tree of a file; a file without one is an empty mapping.
func editable(text []byte) (*yaml.Node, error) {
	root, faults := treeOf(text)
	switch {
	case len(faults) > 0:
		return nil, asError(faults)
	case root == nil:
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
	case root.Kind != yaml.MappingNode:
		return nil, cutroom.Errorf(cutroom.Invalid, "the file is no mapping of keys").WithHint("see docs/reference/config.md")
	}
	return root, nil
}

// same says whether a text means what a tree means.
func same(text []byte, tree *yaml.Node) bool {
	got, faults := treeOf(text)
	if got == nil {
		return len(faults) == 0 && len(tree.Content) == 0
	}
	return len(faults) == 0 && equal(got, tree)
}

// equal says whether two trees mean the same. A key with nothing beneath it means an
// empty mapping.
func equal(a, b *yaml.Node) bool {
	if isEmpty(a) && isEmpty(b) {
		return true
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func isEmpty(n *yaml.Node) bool {
	return isNothing(n) || n.Kind == yaml.MappingNode && len(n.Content) == 0
}

// errGap is of an element behind the end of its list.
var errGap = errors.New("the list has no such element")

// put is the tree with a value at path. What it passes is copied.
func put(n *yaml.Node, path []step, value *yaml.Node) (*yaml.Node, error) {
	if len(path) == 0 {
		out := *value
		out.HeadComment, out.LineComment, out.FootComment = n.HeadComment, n.LineComment, n.FootComment
		return &out, nil
	}
	out, s := *n, path[0]
	out.Content = append([]*yaml.Node{}, n.Content...)
	if s.key == "" {
		if n.Kind != yaml.SequenceNode {
			out = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		}
		if s.index > len(out.Content) {
			return nil, errGap
		}
		if s.index == len(out.Content) {
			out.Content = append(out.Content, &yaml.Node{})
		}
		next, err := put(out.Content[s.index], path[1:], value)
		out.Content[s.index] = next
		return &out, err
	}
	if n.Kind != yaml.MappingNode {
		out = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	i := keyAt(&out, s.key)
	if i < 0 {
		i = len(out.Content)
		out.Content = append(out.Content, textNode(s.key), &yaml.Node{})
	}
	next, err := put(out.Content[i+1], path[1:], value)
	out.Content[i+1] = next
	return &out, err
}

// without is the tree without what path names.
func without(n *yaml.Node, path []step) (*yaml.Node, bool) {
	out, s := *n, path[0]
	at, width := -1, 1
	if s.key == "" {
		if n.Kind == yaml.SequenceNode && s.index < len(n.Content) {
			at = s.index
		}
	} else if n.Kind == yaml.MappingNode {
		at, width = keyAt(n, s.key), 2
	}
	if at < 0 {
		return n, false
	}
	if len(path) == 1 {
		out.Content = append(append([]*yaml.Node{}, n.Content[:at]...), n.Content[at+width:]...)
		return &out, true
	}
	next, found := without(n.Content[at+width-1], path[1:])
	out.Content = append([]*yaml.Node{}, n.Content...)
	out.Content[at+width-1] = next
	return &out, found
}

// keyAt is the place of a key in a mapping's content, -1 when it is not there.
func keyAt(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// At is what a file's text says for a key, as JSON; null when it says nothing.
func At(text []byte, key string) (json.RawMessage, error) {
	path, _, err := pathOf(key)
	if err != nil {
		return nil, err
	}
	n, err := editable(text)
	if err != nil {
		return nil, err
	}
	for _, s := range path {
		at := s.index
		if s.key != "" {
			at = keyAt(n, s.key) + 1
		}
		if s.key != "" && at == 0 || s.key == "" && (n.Kind != yaml.SequenceNode || at >= len(n.Content)) {
			return json.RawMessage("null"), nil
		}
		n = n.Content[at]
	}
	return nodeJSON(n), nil
}

// nodeJSON is a tree as JSON. Numbers keep their digits.
func nodeJSON(n *yaml.Node) json.RawMessage {
	var b bytes.Buffer
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(n.Content[i].Value) + ":")
			b.Write(nodeJSON(n.Content[i+1]))
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(nodeJSON(c))
		}
		b.WriteByte(']')
	default:
		switch tag := n.ShortTag(); {
		case tag == "!!null":
			return json.RawMessage("null")
		case tag == "!!bool":
			return json.RawMessage(strings.ToLower(n.Value))
		case (tag == "!!int" || tag == "!!float") && plainNumber(n.Value):
			return json.RawMessage(n.Value)
		}
		return json.RawMessage(quote(n.Value))
	}
	return b.Bytes()
}
