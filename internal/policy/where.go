package policy

import (
	"math/big"
	"strconv"
	"strings"

	"cutroom"
)

// Where is a condition on the arguments of a call. Exactly one of the tests is set.
type Where struct {
	// At is a JSON pointer (RFC 6901) into the arguments; the word * stands for every
	// element of a list.
	At      string   `json:"at"`
	Equals  *Value   `json:"equals,omitempty"`
	In      []Value  `json:"in,omitempty"`
	AtLeast *Value   `json:"at_least,omitempty"` // a number
	AtMost  *Value   `json:"at_most,omitempty"`  // a number
	Glob    string   `json:"glob,omitempty"`     // as path.Match
	Beneath []string `json:"beneath,omitempty"`  // folders: the path at At lies in one
	Present *bool    `json:"present,omitempty"`
	Not     bool     `json:"not,omitempty"` // turns the answer of the test round, of each element
	Line    int      `json:"-"`
}

// Value is a text, a number or a truth, as JSON.
type Value string

// MarshalJSON writes the value itself.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(v), nil }

func (v Value) node() *node { return parse([]byte(v)) }

// test says whether one value meets the condition. A value that the test does not
// understand is unknown: it may mean anything.
func (w *Where) test(v *facts, n *node, leads bool) Answer {
	a := w.plain(v, n, leads)
	if !w.Not || a == Unknown {
		return a
	}
	return known(a == No)
}

func (w *Where) plain(v *facts, n *node, leads bool) Answer {
	switch {
	case w.Equals != nil:
		return known(same(n, w.Equals.node()))
	case w.In != nil:
		for _, one := range w.In {
			if same(n, one.node()) {
				return Yes
			}
		}
		return No
	case w.AtLeast != nil:
		return compare(n, w.AtLeast.node(), func(c int) bool { return c >= 0 })
	case w.AtMost != nil:
		return compare(n, w.AtMost.node(), func(c int) bool { return c <= 0 })
	case w.Glob != "":
		if n.kind != textNode {
			return No
		}
		return known(glob(w.Glob, n.text))
	case w.Beneath != nil:
		if n.kind != textNode || strings.ContainsRune(n.text, 0) {
			return Unknown
		}
		return known(v.beneathAny(w.Beneath, n.text, leads))
	}
	return Unknown
}

func same(a, b *node) bool {
	if a.kind != b.kind {
		return false
	}
	if a.kind == numberNode {
		x, y := a.rational(), b.rational()
		return x != nil && y != nil && x.Cmp(y) == 0
	}
	return a.kind != listNode && a.kind != objectNode && a.text == b.text
}

// compare tries a number, or a time that is written as text.
func compare(n, bound *node, holds func(int) bool) Answer {
	x, y := n.rational(), bound.rational()
	if n.kind == textNode {
		if m, err := cutroom.ParseMicros(n.text); err == nil {
			x = big.NewRat(int64(m), int64(cutroom.Second))
		}
	}
	if x == nil || y == nil {
		return Unknown
	}
	return known(holds(x.Cmp(y)))
}

// String is the condition in words.
func (w *Where) String() string {
	not := ""
	if w.Not {
		not = "not "
	}
	switch {
	case w.Equals != nil:
		return not + "equal to " + string(*w.Equals)
	case w.In != nil:
		return not + "one of " + list(w.In)()
	case w.AtLeast != nil:
		return not + "at least " + string(*w.AtLeast)
	case w.AtMost != nil:
		return not + "at most " + string(*w.AtMost)
	case w.Glob != "":
		return not + "like " + strconv.Quote(w.Glob)
	case w.Beneath != nil:
		return not + "beneath " + w.Beneath[0]
	case w.Present != nil && *w.Present:
		return "present"
	case w.Present != nil:
		return "absent"
	}
	return "nothing"
}
