package config

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errForm is of YAML that is not edited as text.
var errForm = errors.New("this way of writing YAML is not edited as text")

// document is a file's text and where its lines begin.
type document struct {
	text  string
	lines []int
}

func newDocument(text string) *document {
	d := &document{text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	return d
}

// at is the offset of a node's first byte.
func (d *document) at(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(d.lines) {
		return 0, errForm
	}
	off := d.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(d.text[off:])
		if size == 0 {
			return 0, errForm
		}
		off += size
	}
	return off, nil
}

// lineEnd is the offset behind the line that off lies in, its break included.
func (d *document) lineEnd(off int) int {
	if i := strings.IndexByte(d.text[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(d.text)
}

// lineBegin is the offset of the first byte of the line that off lies in.
func (d *document) lineBegin(off int) int { return strings.LastIndexByte(d.text[:off], '\n') + 1 }

// breaks is how the file ends its lines.
func (d *document) breaks() string {
	if strings.Contains(d.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// isFlow says that a collection is written in brackets.
func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// isNothing says that a value is not written at all, as behind `lens:`.
func isNothing(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.ShortTag() == "!!null"
}

// end is the offset behind a node's last byte. key is its key, nil in a list.
func (d *document) end(n, key *yaml.Node) (int, error) {
	switch {
	case isNothing(n) && key == nil:
		return 0, errForm
	case isNothing(n):
		return d.colon(key)
	case n.Kind == yaml.ScalarNode:
		return d.scalarEnd(n)
	case isFlow(n):
		off, err := d.at(n)
		if err != nil {
			return 0, err
		}
		return d.bracketEnd(off)
	case len(n.Content) == 0:
		return 0, errForm
	case n.Kind == yaml.MappingNode:
		last := len(n.Content) - 1
		return d.end(n.Content[last], n.Content[last-1])
	}
	return d.end(n.Content[len(n.Content)-1], nil)
}

// colon is the offset behind the colon of a key.
func (d *document) colon(key *yaml.Node) (int, error) {
	off, err := d.scalarEnd(key)
	if err != nil {
		return 0, err
	}
	rest := strings.TrimLeft(d.text[off:], " \t")
	if !strings.HasPrefix(rest, ":") {
		return 0, errForm
	}
	return len(d.text) - len(rest) + 1, nil
}

// scalarEnd is the offset behind a text that stands on one line.
func (d *document) scalarEnd(n *yaml.Node) (int, error) {
	off, err := d.at(n)
	if err != nil {
		return 0, err
	}
	rest := d.text[off:]
	line, _, _ := strings.Cut(rest, "\n")
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0 || n.Style&yaml.DoubleQuotedStyle != 0:
		i := quoteEnd(line)
		if i < 0 {
			return 0, errForm
		}
		return off + i, nil
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 || n.Value == "" || !strings.HasPrefix(line, n.Value):
		return 0, errForm
	}
	return off + len(n.Value), nil
}

// quoteEnd is the length of the quoted text that s begins with, -1 when it has no end.
func quoteEnd(s string) int {
	if s == "" {
		return -1
	}
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case q == '"' && s[i] == '\\':
			i++
		case s[i] == q && q == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return -1
}

// bracketEnd is the offset behind the bracket that closes the one at off.
func (d *document) bracketEnd(off int) (int, error) {
	depth := 0
	for i := off; i < len(d.text); i++ {
		switch c := d.text[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case '"', '\'':
			// A quote within a word is a letter.
			if i > 0 && strings.IndexByte(" \t\n\r,[{:", d.text[i-1]) < 0 {
				continue
			}
			n := quoteEnd(d.text[i:])
			if n < 0 {
				return 0, errForm
			}
			i += n - 1
		case '#':
			if i > 0 && strings.IndexByte(" \t\n\r", d.text[i-1]) >= 0 {
				i = d.lineEnd(i) - 1
			}
		}
	}
	return 0, errForm
}
