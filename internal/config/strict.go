package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cutroom"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (f Fault) text() string {
	if f.Line == 0 {
		return f.Message
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Message)
}

func at(n *yaml.Node, format string, args ...any) string {
	return fmt.Sprintf("line %d: ", n.Line) + fmt.Sprintf(format, args...)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(b)
}

// Check reads one config file and lists all that is wrong with it.
func Check(data []byte) (Config, []Fault) {
	c, _, faults := read(data)
	return c, faults
}

// read reads one config file: what it says over what holds by default, on which line it
// says each key, and all that is wrong with it.
func read(data []byte) (Config, places, []Fault) {
	c := Default()
	tree, faults := treeOf(data)
	if tree == nil || len(faults) > 0 {
		return c, nil, faults
	}
	faults = misfits(tree, reflect.TypeFor[Config](), "")
	if err := tree.Decode(&c); err != nil {
		for _, f := range typeFaults(err) {
			if !slices.ContainsFunc(faults, func(o Fault) bool { return o.Line == f.Line }) {
				faults = append(faults, f)
			}
		}
	}
	if len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
		return Config{}, nil, faults
	}
	c.number(tree)
	lines := places{}
	lines.note(tree, "")
	faults = c.faults(lines)
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	return c, lines, faults
}

// note notes the lines of the keys beneath n.
func (p places) note(n *yaml.Node, name string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := strings.TrimPrefix(name+"."+n.Content[i].Value, ".")
			p[key] = n.Content[i].Line
			p.note(n.Content[i+1], key)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			key := fmt.Sprintf("%s[%d]", name, i)
			p[key] = item.Line
			p.note(item, key)
		}
	}
}

// treeOf reads the one document of a file; nil when it holds none. References to other
// parts of the file are refused: a few lines of them are a very large document.
func treeOf(data []byte) (*yaml.Node, []Fault) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil && len(doc.Content) == 1 {
		if doc.Content[0].ShortTag() == "!!null" {
			return nil, nil
		}
		if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
			return nil, []Fault{{more.Line, "the file holds more than one document", "take the lines with --- out"}}
		}
		if f := shape(doc.Content[0]); f != nil {
			return nil, []Fault{*f}
		}
		return doc.Content[0], nil
	}
	text := ""
	if err != nil {
		text = strings.TrimPrefix(err.Error(), "yaml: ")
	}
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, _, _ := strings.Cut(rest, ":")
		line, _ = strconv.Atoi(number)
	}
	if n, ok := tabbed(data); ok {
		return nil, []Fault{{n, "the line is indented with a tab", "indent with spaces alone: YAML takes no tabs"}}
	}
	return nil, []Fault{{line, "the file is not YAML", "check indentation and quotes; see docs/reference/config.md"}}
}

// tabbed is the first line whose indentation holds a tab.
func tabbed(data []byte) (line int, ok bool) {
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		if lead := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; strings.Contains(lead, "\t") && strings.TrimSpace(text) != "" {
			return n, true
		}
	}
	return 0, false
}

// mostFaults bounds how many unknown keys are looked up.
const mostFaults = 200

// maxDepth is deeper than any key of ours.
const maxDepth = 12

// shape refuses what no config needs.
func shape(root *yaml.Node) *Fault {
	var walk func(n *yaml.Node, depth int) *Fault
	walk = func(n *yaml.Node, depth int) *Fault {
		switch {
		case n.Kind == yaml.AliasNode || n.Anchor != "":
			return &Fault{n.Line, "the file refers to another part of itself (& and *)", "write the lines out"}
		case depth > maxDepth:
			return &Fault{n.Line, "the file is nested too deeply", "see docs/reference/config.md"}
		}
		for _, c := range n.Content {
			if f := walk(c, depth+1); f != nil {
				return f
			}
		}
		return nil
	}
	return walk(root, 0)
}

// misfits lists the keys of n that t does not have, each with the nearest it has, and the
// values that are of another kind than t. name is that of n, "" for the whole file.
func misfits(n *yaml.Node, t reflect.Type, name string) []Fault {
	var faults []Fault
	_, own := reflect.New(t).Interface().(yaml.Unmarshaler)
	switch {
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			faults = append(faults, misfits(item, t.Elem(), fmt.Sprintf("%s[%d]", name, i))...)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		prefix := strings.TrimPrefix(name+".", ".")
		for i := 0; i+1 < len(n.Content) && len(faults) < mostFaults; i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			f, names := fieldOf(t, key.Value)
			if f == nil {
				faults = append(faults, Fault{key.Line, fmt.Sprintf("unknown key %q", short(prefix+key.Value)), meant(key.Value, prefix, names)})
				continue
			}
			faults = append(faults, misfits(value, f.Type, prefix+key.Value)...)
		}
	case n.ShortTag() == "!!null":
	case t.Kind() == reflect.Int64 && n.ShortTag() == "!!float": // the library would cut the fraction off
		faults = append(faults, misfit(n, t, name))
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Struct && !own:
		faults = append(faults, misfit(n, t, name))
	default:
		err := n.Decode(reflect.New(t).Interface())
		switch {
		case err != nil && own: // which says itself what it takes
			for _, f := range typeFaults(err) {
				f.Message = strings.TrimPrefix(name+": ", ": ") + f.Message
				faults = append(faults, f)
			}
		case err != nil:
			faults = append(faults, misfit(n, t, name))
		}
	}
	return faults
}

// misfit is a value of another kind than t.
func misfit(n *yaml.Node, t reflect.Type, name string) Fault {
	hint := "see docs/reference/config.md"
	if t.Kind() == reflect.Slice {
		hint = "write its elements in brackets, with commas between"
	}
	return Fault{n.Line, strings.TrimPrefix(name+": ", ": ") + "the value does not fit: " + wanted(t.String()) + " is expected", hint}
}

func fieldOf(t reflect.Type, key string) (found *reflect.StructField, names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "-" {
			continue
		}
		names = append(names, name)
		if name == key {
			found = &f
		}
	}
	return found, names
}

// typeFaults keeps the lines of the library's message and none of our types' names.
func typeFaults(err error) []Fault {
	te, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return []Fault{{0, "the file is not YAML", "check indentation and quotes; see docs/reference/config.md"}}
	}
	var faults []Fault
	for _, text := range te.Errors {
		f := Fault{Message: text, Hint: "see docs/reference/config.md"}
		if rest, ok := strings.CutPrefix(text, "line "); ok {
			number, message, _ := strings.Cut(rest, ": ")
			f.Line, _ = strconv.Atoi(number)
			f.Message = message
		}
		if before, after, ok := strings.Cut(f.Message, " into "); ok && strings.HasPrefix(before, "cannot unmarshal") {
			f.Message = "the value does not fit: " + wanted(after) + " is expected"
		}
		faults = append(faults, f)
	}
	return faults
}

func wanted(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a text"
	}
	return "a mapping of keys"
}

// number notes on which lines the rules stand.
func (c *Config) number(root *yaml.Node) {
	if list := child(child(root, "policy"), "rules"); list != nil {
		for i, n := range list.Content[:min(len(list.Content), len(c.Policy.Rules))] {
			c.Policy.Rules[i].Line = n.Line
			if where := child(n, "where"); where != nil {
				for j, w := range where.Content[:min(len(where.Content), len(c.Policy.Rules[i].Where))] {
					c.Policy.Rules[i].Where[j].Line = w.Line
				}
			}
		}
	}
	if list := child(root, "principals"); list != nil {
		for i, n := range list.Content[:min(len(list.Content), len(c.Principals))] {
			c.Principals[i].Line = n.Line
		}
	}
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// asError is all faults as one error.
func asError(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	var texts []string
	for i, f := range faults {
		if i == maxFaults {
			texts = append(texts, fmt.Sprintf("and %d more", len(faults)-i))
			break
		}
		texts = append(texts, f.text())
	}
	e := cutroom.Errorf(cutroom.Invalid, "%s", strings.Join(texts, "; "))
	var hints []string // of the first few
	for _, f := range faults {
		if f.Hint != "" && !slices.Contains(hints, f.Hint) && len(hints) < mostHints {
			hints = append(hints, f.Hint)
		}
	}
	if len(hints) > 0 {
		e = e.WithHint("%s", strings.Join(hints, "; "))
	}
	return e
}

// mostHints bounds how many remedies one error names; `cutroom config check` has all.
const mostHints = 4
