package tool

import (
	"encoding/json"
	"strconv"
	"strings"

	"cutroom"
)

// argvKey is the key by which tools of a spoken family take their own command-line
// words in place of the other keys.
const argvKey = "argv"

const argvDoc = "This tool's own command-line words (not a program's), in place of every other key: positional inputs and --flags as `cutroom` takes them. For callers that have a command line; the other keys are the canonical way."

// spoken returns the words of a request that gives command-line words.
func (t *Tool) spoken(n node) (words []string, ok bool, err error) {
	if !t.family.Spoken || n.kind != '{' {
		return nil, false, nil
	}
	at := -1
	for i, name := range n.names {
		if name == argvKey {
			at = i
		}
	}
	if at < 0 {
		return nil, false, nil
	}
	if len(n.names) > 1 {
		return nil, true, cutroom.Errorf(cutroom.Invalid, "%s: argv stands in place of every other key, and %d more are given", t.Name, len(n.names)-1).
			WithHint("give argv alone, or the other keys without it")
	}
	list := n.members[at]
	if list.kind != '[' {
		return nil, true, cutroom.Errorf(cutroom.Invalid, "%s: argv has to be a list of words", t.Name)
	}
	for _, m := range list.members {
		if m.kind != '"' {
			return nil, true, cutroom.Errorf(cutroom.Invalid, "%s: argv has to be a list of strings, not %s", t.Name, m.what())
		}
		words = append(words, m.text)
	}
	return words, true, nil
}

// FromWords reads a tool's own command-line words as the JSON of a request: positional
// inputs in order, then or between them --flag value, --flag=value, bare booleans and
// -o; -- ends the flags.
func (t *Tool) FromWords(words []string) ([]byte, error) {
	place, flags := t.Words()
	doc := object{}
	var operands []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			operands = append(operands, words[i+1:]...)
			break
		}
		if len(w) < 2 || w[0] != '-' {
			operands = append(operands, w)
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
		p, ok := flagNamed(flags, name, !strings.HasPrefix(w, "--"))
		if !ok {
			return nil, t.noFlag(w, flags)
		}
		switch {
		case has:
		case p.Kind == ParamBool:
			value = "true"
		case i+1 == len(words):
			return nil, cutroom.Errorf(cutroom.Invalid, "%s: --%s has no value", t.Name, p.Flag)
		default:
			i++
			value = words[i]
		}
		if err := doc.put(p, value); err != nil {
			return nil, err
		}
	}
	for _, p := range place {
		for len(operands) > 0 {
			if err := doc.put(p, operands[0]); err != nil {
				return nil, err
			}
			operands = operands[1:]
			if !p.Repeat {
				break
			}
		}
	}
	if len(operands) > 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s: %q is one word too many", t.Name, cut(operands[0]))
	}
	return json.Marshal(doc)
}

func flagNamed(flags []Param, name string, short bool) (Param, bool) {
	for _, p := range flags {
		if p.Flag == name && !short || short && name != "" && p.Letter() == name {
			return p, true
		}
	}
	return Param{}, false
}

func (t *Tool) noFlag(word string, flags []Param) error {
	var names []string
	for _, p := range flags {
		names = append(names, "--"+p.Flag)
	}
	name, _, _ := strings.Cut(word, "=")
	e := cutroom.Errorf(cutroom.Invalid, "%s has no flag %s", t.Name, cut(name))
	if near := Nearest(name, names); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("`cutroom tool show %s` lists its flags", t.Name)
}

// object is a JSON object while it is put together.
type object map[string]any

// put adds one word as the value of a parameter. What it means the decoder judges.
func (o object) put(p Param, text string) error {
	var v any = text
	switch p.Kind {
	case ParamBool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return cutroom.Errorf(cutroom.Invalid, "--%s: %q is not true or false", p.Flag, cut(text))
		}
		v = b
	case ParamInt, ParamNumber, ParamJSON:
		if !json.Valid([]byte(text)) {
			return cutroom.Errorf(cutroom.Invalid, "--%s: %q is not a number or JSON", p.Flag, cut(text))
		}
		v = json.RawMessage(text)
	case ParamRef:
		run, artifact, _ := strings.Cut(text, "/")
		ref := object{"run": run}
		if artifact != "" {
			ref["artifact"] = artifact
		}
		v = ref
	case ParamSource:
		v = object{"kind": cutroom.LocalFile, "value": text}
	}
	at := o
	for _, name := range p.Path[:len(p.Path)-1] {
		next, ok := at[name].(object)
		if !ok {
			next = object{}
			at[name] = next
		}
		at = next
	}
	last := p.Path[len(p.Path)-1]
	if p.Repeat {
		list, _ := at[last].([]any)
		v = append(list, v)
	}
	at[last] = v
	return nil
}
