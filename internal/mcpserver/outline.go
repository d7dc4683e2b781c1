package mcpserver

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// outline writes a JSON document as indented lines: the same facts, half the marks.
// It is for hosts that show their model text only. Every text is quoted as JSON does
// where it could be taken for a line of ours.
func outline(doc []byte, room int) string {
	n, err := parse(doc)
	if err != nil {
		return clip(string(doc), room)
	}
	var b strings.Builder
	n.outline(&b, 0)
	text := strings.TrimRight(b.String(), "\n")
	if text == "" { // it says nothing but that there is nothing
		text = string(doc)
	}
	if len([]rune(text)) <= room {
		return text
	}
	const more = "\n… cut here"
	text = clip(text, room-len(more))
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	return text + more
}

// node is a JSON value with its members in order.
type node struct {
	kind  jsontext.Kind // '{', '[', or a leaf's
	names []string      // of an object's members
	items []*node
	leaf  string // as it stands in the document
}

// parse reads a document of our own. It is as deep as our types are.
func parse(doc []byte) (*node, error) {
	return read(jsontext.NewDecoder(strings.NewReader(string(doc))))
}

func read(dec *jsontext.Decoder) (*node, error) {
	n := &node{kind: dec.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		v, err := dec.ReadValue()
		n.leaf = string(v)
		return n, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if n.kind == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		item, err := read(dec)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := dec.ReadToken()
	return n, err
}

// member returns an object's member, nil when there is none.
func (n *node) member(name string) *node {
	for i, have := range n.names {
		if have == name {
			return n.items[i]
		}
	}
	return nil
}

// outline writes a value's lines. What is empty says nothing and is left out.
func (n *node) outline(b *strings.Builder, depth int) {
	for i, item := range n.items {
		label := "-"
		if n.kind == '{' {
			label = n.names[i] + ":"
		}
		switch {
		case item.empty():
		case item.flat():
			fmt.Fprintf(b, "%s%s %s\n", strings.Repeat("  ", depth), label, item.line())
		default:
			fmt.Fprintf(b, "%s%s\n", strings.Repeat("  ", depth), label)
			item.outline(b, depth+1)
		}
	}
}

func (n *node) empty() bool {
	return (n.kind == '{' || n.kind == '[') && len(n.items) == 0 || n.leaf == `""` || n.leaf == "null"
}

// maxLine is how long the members of an object may be that stand in one line.
const maxLine = 300

// flat says that the value fits on the line of its label.
func (n *node) flat() bool {
	if n.kind != '{' && n.kind != '[' {
		return true
	}
	length := 0
	for _, item := range n.items {
		if len(item.items) > 0 {
			return false
		}
		length += len(item.leaf) + 12
	}
	return length <= maxLine
}

// line writes a flat value.
func (n *node) line() string {
	if n.kind != '{' && n.kind != '[' {
		return n.plain()
	}
	var parts []string
	for i, item := range n.items {
		switch {
		case item.empty():
		case n.kind == '{':
			parts = append(parts, n.names[i]+" "+item.plain())
		default:
			parts = append(parts, item.plain())
		}
	}
	return strings.Join(parts, ", ")
}

// plain is a leaf without quotes where nothing in it needs them.
func (n *node) plain() string {
	if n.kind != '"' || strings.ContainsAny(n.leaf, "\\,:") {
		return n.leaf
	}
	return n.leaf[1 : len(n.leaf)-1]
}
