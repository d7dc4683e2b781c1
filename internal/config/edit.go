package config

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// Set returns the text of a config file in which a key, by its dotted name, has the value
// that somebody typed; nil text is no file yet. What else the file says stays as it is
// written, comments and order too. Whether the result is right is for [Check] to say.
func Set(text []byte, key, typed string) ([]byte, error) {
	path, t, err := pathOf(key)
	if err != nil {
		return nil, err
	}
	value, err := valueOf(t, typed)
	if err != nil {
		e := cutroom.AsError(err)
		return nil, cutroom.Errorf(e.Code, "%s: %s", key, e.Msg).WithHint("%s", e.Hint)
	}
	root, err := editable(text)
	if err != nil {
		return nil, err
	}
	want, err := put(root, path, value)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s: %w", key, err).WithHint("set the elements of a list in order, from [0]; `cutroom config show` lists what there is")
	}
	d := newDocument(string(text))
	if edited, err := d.set(root, path, value); err == nil && same([]byte(edited), want) {
		return []byte(edited), nil
	}
	return whole(text, want)
}

// Unset returns the text of a config file without a key.
func Unset(text []byte, key string) ([]byte, error) {
	path, _, err := pathOf(key)
	if err != nil {
		return nil, err
	}
	root, err := editable(text)
	if err != nil {
		return nil, err
	}
	want, found := without(root, path)
	if !found {
		return text, nil
	}
	d := newDocument(string(text))
	if edited, err := d.unset(root, path); err == nil && same([]byte(edited), want) {
		return []byte(edited), nil
	}
	return whole(text, want)
}

// whole writes a tree anew, where its text cannot be edited. Comments and order stay.
func whole(text []byte, root *yaml.Node) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	doc.Kind, doc.Content = yaml.DocumentNode, []*yaml.Node{root}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(&doc), e.Close()); err != nil {
		return nil, err
	}
	if !same(b.Bytes(), root) {
		return nil, cutroom.Errorf(cutroom.Invalid, "the file cannot be edited without changing something else").WithHint("edit it by hand, then run `cutroom config check`")
	}
	return b.Bytes(), nil
}

// set edits the text: the value where there is one, else a new line behind what is
// nearest to it.
func (d *document) set(root *yaml.Node, path []step, value *yaml.Node) (string, error) {
	var key *yaml.Node // of n
	n, flow := root, false
	for i, s := range path {
		flow = flow || isFlow(n)
		at := s.index
		if s.key != "" {
			at = keyAt(n, s.key) + 1
		}
		isThere := s.key != "" && at > 0 || s.key == "" && n.Kind == yaml.SequenceNode && at < len(n.Content)
		if !isThere {
			return d.insert(n, key, path[i:], value, flow)
		}
		key = nil
		if s.key != "" {
			key = n.Content[at-1]
		}
		n = n.Content[at]
	}
	return d.replace(n, key, value, flow)
}

// replace writes a value in another's place.
func (d *document) replace(n, key, value *yaml.Node, flow bool) (string, error) {
	end, err := d.end(n, key)
	if err != nil {
		return "", err
	}
	behind := d.text[end:]
	if key == nil || flow || n.Kind == yaml.ScalarNode && !isNothing(n) && !isLong(value) {
		if begin, err := d.at(n); err == nil && (n.Kind == yaml.ScalarNode || isFlow(n)) && !isNothing(n) {
			return d.text[:begin] + oneLine(value) + behind, nil
		}
		return "", errForm
	}
	colon, err := d.colon(key)
	if err != nil {
		return "", err
	}
	if isLong(value) {
		return d.text[:colon] + d.breaks() + strings.TrimSuffix(d.block(value, key.Column+1), d.breaks()) + behind, nil
	}
	return d.text[:colon] + " " + oneLine(value) + behind, nil
}

// isLong says that a value reads better on lines of its own.
func isLong(v *yaml.Node) bool {
	for _, c := range v.Content {
		if c.Kind == yaml.MappingNode || c.Kind == yaml.SequenceNode {
			return true
		}
	}
	return false
}

// insert writes what path leads to, which is not there, into n.
func (d *document) insert(n, key *yaml.Node, path []step, value *yaml.Node, flow bool) (string, error) {
	add := value
	for i := len(path) - 1; i >= 0; i-- { // what is on the way to it
		if path[i].key == "" {
			add = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{add}}
		} else {
			add = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode(path[i].key), add}}
		}
	}
	switch {
	case len(n.Content) == 0 && key == nil: // the file says nothing
		return d.withBreak() + d.block(add, 0), nil
	case isNothing(n) && key != nil:
		end, err := d.end(n, key)
		if err != nil {
			return "", err
		}
		if flow {
			return d.text[:end] + " " + oneLine(add) + d.text[end:], nil
		}
		behind := d.lineEnd(end)
		return d.before(behind) + d.block(add, key.Column+1) + d.text[behind:], nil
	case isFlow(n):
		return d.insertFlow(n, add)
	}
	end, err := d.end(n, key)
	if err != nil {
		return "", err
	}
	behind := d.lineEnd(end)
	return d.before(behind) + d.block(add, n.Column-1) + d.text[behind:], nil
}

// insertFlow writes more into brackets.
func (d *document) insertFlow(n, add *yaml.Node) (string, error) {
	end, err := d.end(n, nil)
	if err != nil {
		return "", err
	}
	text := strings.Trim(oneLine(add), "\n")
	text = text[1 : len(text)-1]
	inner := strings.TrimRight(d.text[:end-1], " \t")
	comma := ", "
	if len(n.Content) == 0 || strings.HasSuffix(strings.TrimSpace(inner), ",") {
		comma = ""
	}
	return inner + comma + text + d.text[end-1:], nil
}

// before is the text up to off, which is the beginning of a line.
func (d *document) before(off int) string {
	if head := d.text[:off]; head == "" || strings.HasSuffix(head, "\n") {
		return head
	}
	return d.text[:off] + d.breaks()
}

// withBreak is the whole text, its last line ended.
func (d *document) withBreak() string { return d.before(len(d.text)) }

// unset takes the lines of what path names out.
func (d *document) unset(root *yaml.Node, path []step) (string, error) {
	n := root
	for i, s := range path {
		if isFlow(n) {
			return "", errForm
		}
		at, key := s.index, (*yaml.Node)(nil)
		if s.key != "" {
			at = keyAt(n, s.key) + 1
			key = n.Content[at-1]
		}
		next := n.Content[at]
		switch {
		case i < len(path)-1:
		case key == nil:
			return d.cut(next, next, nil)
		default:
			return d.cut(key, next, key)
		}
		n = next
	}
	return "", errForm
}

// cut takes the lines out on which a value stands with its key, where nothing else does.
func (d *document) cut(first, n, key *yaml.Node) (string, error) {
	begin, err := d.at(first)
	if err != nil {
		return "", err
	}
	end, err := d.end(n, key)
	if err != nil {
		return "", err
	}
	line := d.lineBegin(begin)
	if lead := strings.TrimLeft(d.text[line:begin], " "); lead != "" && lead != "- " || key != nil && lead != "" {
		return "", errForm
	}
	return d.text[:line] + d.text[d.lineEnd(end):], nil
}

// oneLine is a value in brackets, or a text, on one line.
func oneLine(v *yaml.Node) string {
	flow := *v
	flow.Style |= yaml.FlowStyle
	if v.Kind == yaml.ScalarNode {
		flow.Style = v.Style
		if v.ShortTag() == "!!str" && (strings.ContainsAny(v.Value, ",[]{}:#\n") || v.Value == "") {
			flow.Style = yaml.DoubleQuotedStyle
		}
	}
	raw, err := yaml.Marshal(&flow)
	if err != nil {
		panic(err) // a tree of ours
	}
	return strings.TrimSuffix(string(raw), "\n")
}

// block is a value on lines of its own, from a column on.
func (d *document) block(v *yaml.Node, column int) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(v), e.Close()); err != nil {
		panic(err) // a tree of ours
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.Repeat(" ", column) + strings.TrimSuffix(line, "\n") + d.breaks())
	}
	return out.String()
}
