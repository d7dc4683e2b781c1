package script

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"cutroom"
)

// Bounds of a file.
const (
	MaxFile  = 1 << 20 // bytes
	maxDepth = 40
)

// node is a value of the file, with the line where it begins.
type node struct {
	line  int
	kind  kind
	text  string // of a text; of all other scalars, as JSON
	items []*node
	keys  []member
}

type member struct {
	name  string
	line  int
	value *node
}

type kind string

const (
	mapping kind = "a mapping of keys"
	list    kind = "a list"
	text    kind = "a text"
	number  kind = "a number"
	boolean kind = "true or false"
	nothing kind = "nothing"
)

func fault(line int, format string, args ...any) *cutroom.Error {
	e := cutroom.Errorf(cutroom.Invalid, format, args...)
	if line > 0 {
		e.Msg = "script, line " + strconv.Itoa(line) + ": " + e.Msg
	} else {
		e.Msg = "script: " + e.Msg
	}
	return e.WithHint("docs/agent.md shows a whole script")
}

// treeOf reads the one document of a file. What begins with a bracket is JSON, which may be
// indented by tabs; everything else is YAML.
func treeOf(data []byte) (*node, error) {
	switch {
	case len(data) > MaxFile:
		e := fault(0, "the file is larger than %d bytes", MaxFile).WithHint("split it: a run needs the entry of its own goal only")
		e.Code = cutroom.Limit
		return nil, e
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, fault(0, "the file is not text in UTF-8").WithHint("save it as UTF-8")
	}
	if head := bytes.TrimLeft(data, " \t\r\n"); len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		return jsonTree(data)
	}
	return yamlTree(data)
}

func yamlTree(data []byte) (*node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, fault(0, "the file is empty")
	case err != nil:
		line := 0
		if rest, ok := strings.CutPrefix(err.Error(), "yaml: line "); ok {
			digits, _, _ := strings.Cut(rest, ":")
			line, _ = strconv.Atoi(digits)
		}
		return nil, fault(line, "this is not YAML").WithHint("check indentation and quotes")
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fault(more.Line, "the file holds more than one document").WithHint("take the lines with --- out")
	}
	return ofYAML(doc.Content[0], 0)
}

func ofYAML(n *yaml.Node, depth int) (*node, error) {
	out := &node{line: n.Line}
	switch {
	case depth > maxDepth:
		return nil, fault(n.Line, "this is nested too deeply").WithHint("at most %d levels", maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, fault(n.Line, "this refers to another part of the file (& and *)").WithHint("write the lines out")
	case n.Kind == yaml.SequenceNode:
		out.kind = list
		for _, c := range n.Content {
			item, err := ofYAML(c, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case n.Kind == yaml.MappingNode:
		out.kind = mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Kind != yaml.ScalarNode || n.Content[i].Anchor != "" {
				return nil, fault(n.Content[i].Line, "a key is no plain word").WithHint("write the keys that docs/agent.md names")
			}
			value, err := ofYAML(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if err := out.add(n.Content[i].Value, n.Content[i].Line, value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return out, out.scalar(n)
}

// scalar reads a scalar of YAML as JSON has it: a number that JSON would not write so is
// refused, rather than made another one.
func (o *node) scalar(n *yaml.Node) error {
	o.text = n.Value
	switch n.ShortTag() {
	case "!!null":
		o.kind, o.text = nothing, "null"
	case "!!bool":
		o.kind, o.text = boolean, strings.ToLower(n.Value)
	case "!!int", "!!float":
		o.kind = number
		if v := jsontext.Value(n.Value); !v.IsValid() || v.Kind() != '0' {
			return fault(n.Line, "%.40q is no number as JSON writes one", n.Value).WithHint("write it in decimal, or in quotes if it is a text")
		}
	default:
		o.kind = text
	}
	return nil
}

// add adds a member; a name may stand once.
func (o *node) add(name string, line int, value *node) error {
	for _, m := range o.keys {
		if m.name == name {
			return fault(line, "the key %.60q stands twice", name).WithHint("the first one is in line %d; keep one of them", m.line)
		}
	}
	o.keys = append(o.keys, member{name, line, value})
	return nil
}

func jsonTree(data []byte) (*node, error) {
	r := &jsonReader{data, jsontext.NewDecoder(bytes.NewBuffer(data))}
	n, err := r.value(0)
	if err == nil {
		var more error
		if _, more = r.dec.ReadToken(); more == io.EOF {
			return n, nil
		}
		err = more
		if err == nil {
			return nil, fault(r.line(), "something follows the end of the list").WithHint("take it out")
		}
	}
	if e, ok := errors.AsType[*cutroom.Error](err); ok {
		return nil, e
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, fault(r.line(), "a key stands twice").WithHint("keep one of them")
	}
	return nil, fault(r.line(), "this is not JSON").WithHint("check commas, brackets and quotes; a file that begins with a bracket is read as JSON")
}

type jsonReader struct {
	data []byte
	dec  *jsontext.Decoder
}

// line is where the decoder stands.
func (r *jsonReader) line() int {
	at := min(int(r.dec.InputOffset()), len(r.data))
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return 1 + bytes.Count(r.data[:at], []byte("\n"))
}

func (r *jsonReader) value(depth int) (*node, error) {
	out := &node{line: r.line()}
	if depth > maxDepth {
		return nil, fault(out.line, "this is nested too deeply").WithHint("at most %d levels", maxDepth)
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		out.kind = mapping
		for r.dec.PeekKind() != '}' {
			line := r.line()
			name, err := r.dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String() // before the next token, which voids it
			value, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			out.keys = append(out.keys, member{key, line, value})
		}
		_, err = r.dec.ReadToken()
	case '[':
		out.kind = list
		for r.dec.PeekKind() != ']' {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		_, err = r.dec.ReadToken()
	case '"':
		out.kind, out.text = text, tok.String()
	case '0':
		out.kind, out.text = number, tok.String()
	case 't', 'f':
		out.kind, out.text = boolean, tok.String()
	default:
		out.kind, out.text = nothing, "null"
	}
	return out, err
}

// json is the node as JSON.
func (o *node) json() jsontext.Value {
	b := &bytes.Buffer{}
	o.write(b)
	return b.Bytes()
}

func (o *node) write(b *bytes.Buffer) {
	switch o.kind {
	case mapping:
		for i, m := range o.keys {
			b.WriteByte("{,"[min(i, 1)])
			b.Write(quoted(m.name))
			b.WriteByte(':')
			m.value.write(b)
		}
		if len(o.keys) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, item := range o.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case text:
		b.Write(quoted(o.text))
	default:
		b.WriteString(o.text)
	}
}

// quoted is a text as JSON.
func quoted(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil { // no UTF-8: what cannot be written is replaced
		out, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}
