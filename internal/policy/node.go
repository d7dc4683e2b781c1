package policy

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// nodeKind is what a JSON value is.
type nodeKind int

const (
	nullNode nodeKind = iota
	textNode
	numberNode
	truthNode
	listNode
	objectNode
)

// node is one value of the arguments.
type node struct {
	kind  nodeKind
	text  string // of a text; a number and a truth as they are written
	names []string
	items []*node // of a list, or of an object in the order of names
}

// parse reads a JSON document; what is none is null.
func parse(raw []byte) *node {
	n, err := read(jsontext.NewDecoder(strings.NewReader(string(raw))))
	if err != nil {
		return &node{}
	}
	return n
}

func read(d *jsontext.Decoder) (*node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '"':
		return &node{kind: textNode, text: t.String()}, nil
	case '0':
		return &node{kind: numberNode, text: t.String()}, nil
	case 't', 'f':
		return &node{kind: truthNode, text: t.String()}, nil
	case '[', '{':
		n := &node{kind: listNode}
		if t.Kind() == '{' {
			n.kind = objectNode
		}
		for d.PeekKind() != ']' && d.PeekKind() != '}' {
			if n.kind == objectNode {
				name, err := d.ReadToken()
				if err != nil {
					return nil, err
				}
				n.names = append(n.names, name.String())
			}
			item, err := read(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err := d.ReadToken()
		return n, err
	}
	return &node{}, nil
}

// maxExponent bounds the numbers that are compared: more digits than any float has.
const maxExponent = 400

// rational is the exact value of a number, nil when it is none.
func (n *node) rational() *big.Rat {
	if n.kind != numberNode || len(n.text) > 2*maxExponent {
		return nil
	}
	if _, exp, ok := strings.Cut(strings.ToLower(n.text), "e"); ok {
		if e, err := strconv.Atoi(exp); err != nil || e > maxExponent || e < -maxExponent {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(n.text)
	if !ok {
		return nil
	}
	return r
}

// find returns the values at a pointer. A null is absent.
func (n *node) find(pointer string) []*node {
	found := []*node{n}
	for i, word := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		var next []*node
		for _, at := range found {
			next = append(next, at.step(strings.NewReplacer("~1", "/", "~0", "~").Replace(word))...)
		}
		found = next
	}
	var there []*node
	for _, at := range found {
		if at.kind != nullNode {
			there = append(there, at)
		}
	}
	return there
}

func (n *node) step(word string) []*node {
	switch n.kind {
	case objectNode:
		for i, name := range n.names {
			if name == word {
				return n.items[i : i+1]
			}
		}
	case listNode:
		if word == "*" {
			return n.items
		}
		if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < len(n.items) && strconv.Itoa(i) == word {
			return n.items[i : i+1]
		}
	}
	return nil
}

// shownNodes writes values for people, the first few of them.
func shownNodes(all []*node) string {
	if len(all) == 0 {
		return "absent"
	}
	var words []string
	for _, n := range all[:min(len(all), 5)] {
		switch s := n.text; n.kind {
		case listNode:
			words = append(words, "a list")
		case objectNode:
			words = append(words, "an object")
		case textNode:
			if len(s) > 80 {
				s = strings.ToValidUTF8(s[:80], "") + "…"
			}
			words = append(words, strconv.Quote(s))
		default:
			words = append(words, s)
		}
	}
	if len(all) > 5 {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}
