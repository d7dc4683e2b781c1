package project

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// Bounds of a written document.
const (
	maxText  = 4 << 20
	maxNodes = 100_000
	maxDepth = 24
)

// JSON turns a document that a person wrote, YAML or JSON, into JSON. Anchors, aliases,
// tags of other types and a second document are refused: what is written is what is
// meant. Keys keep their order; whether they are known is for who decodes it.
func JSON(text []byte) ([]byte, error) {
	root, err := tree(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := write(&b, root); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tree parses one document.
func tree(text []byte) (*yaml.Node, error) {
	if len(text) > maxText {
		return nil, cutroom.Errorf(cutroom.Limit, "the document has %d bytes, more than %d", len(text), maxText).WithHint("keep long text in files of its own")
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return nil, malformed("the document is empty", 0)
	case err != nil:
		return nil, cutroom.Errorf(cutroom.Invalid, "the document is neither YAML nor JSON: %s", plain(err)).WithHint("check the indentation and the quotes there")
	}
	if err := d.Decode(&yaml.Node{}); err != io.EOF {
		return nil, malformed("it holds more than one document", 0)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, malformed("it has to be a mapping of keys", 1)
	}
	left := maxNodes
	return doc.Content[0], inspect(doc.Content[0], 0, &left)
}

// plain is a library's complaint without its own name.
func plain(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) > 160 {
		s = s[:160]
	}
	return strings.ToValidUTF8(s, "?")
}

func malformed(why string, line int) error {
	if line > 0 {
		why = "line " + strconv.Itoa(line) + ": " + why
	}
	return cutroom.Errorf(cutroom.Invalid, "%s", why).WithHint("write plain YAML or JSON")
}

// inspect refuses what means something else than it shows.
func inspect(n *yaml.Node, depth int, left *int) error {
	*left--
	switch {
	case *left < 0:
		return malformed("it holds too many values", n.Line)
	case depth > maxDepth:
		return malformed("it is nested too deep", n.Line)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return malformed("anchors and aliases are not read: write it out", n.Line)
	}
	switch n.ShortTag() {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
	default:
		return malformed("the tag "+strconv.Quote(n.Tag)+" is not read", n.Line)
	}
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case c.Kind != yaml.ScalarNode || c.Value == "<<":
				return malformed("a key has to be plain text", c.Line)
			case seen[c.Value]:
				return malformed("the key "+strconv.Quote(c.Value)+" is given twice", c.Line)
			}
			seen[c.Value] = true
		}
		if err := inspect(c, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// write writes a node as JSON.
func write(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, n.Content[i].Value)
			b.WriteByte(':')
			if err := write(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, c); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	return scalar(b, n)
}

func quote(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil { // a string always encodes
		b.Truncate(b.Len() - 1)
	}
}

// scalar writes one value. What only looks like a number stays text: a clock, a date, a
// number with a leading zero.
func scalar(b *bytes.Buffer, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		b.WriteString("null")
		return nil
	case "!!bool":
		var v bool
		if n.Decode(&v) == nil {
			b.WriteString(strconv.FormatBool(v))
			return nil
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value) // as written, digit by digit
			return nil
		}
		var f float64
		if len(n.Value) > 1 && n.Value[0] == '0' && n.Value[1] >= '0' && n.Value[1] <= '9' {
			break
		}
		if n.Decode(&f) == nil {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return malformed(strconv.Quote(n.Value)+" is no number that counts", n.Line)
			}
			b.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
			return nil
		}
	}
	quote(b, n.Value)
	return nil
}
