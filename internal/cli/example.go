package cli

import (
	"encoding/json"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// examples are the examples of the spec as command lines, one a line.
func (b *binding) examples(command string) string {
	var shown []string
	for _, x := range b.tool.Examples {
		raw, err := tool.Encode(x)
		if err != nil {
			continue // a test keeps the examples good
		}
		shown = append(shown, "  "+command+" "+tool.Shell(b.commandLine(raw)))
	}
	return strings.Join(shown, "\n")
}

// commandLine returns the words that say what the JSON says. What is at its default
// is left out.
func (b *binding) commandLine(raw []byte) []string {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	var words []string
	for _, p := range b.place {
		for _, v := range valuesAt(doc, p) {
			words = append(words, wordsOf(p, v)...)
		}
	}
	for _, f := range b.flags {
		for _, v := range valuesAt(doc, f.param) {
			text := strings.Join(wordsOf(f.param, v), " ")
			switch {
			case text == f.param.Default && text != "": // an empty text that is there says something: a tag is taken away
			case f.param.Kind == tool.ParamBool:
				words = append(words, "--"+f.param.Flag)
			default:
				words = append(words, "--"+f.param.Flag, text)
			}
		}
	}
	return words
}

// valuesAt returns the parameter's value in doc, or its values when it repeats.
func valuesAt(doc map[string]json.RawMessage, p tool.Param) []json.RawMessage {
	for _, name := range p.Path[:len(p.Path)-1] {
		var next map[string]json.RawMessage
		if json.Unmarshal(doc[name], &next) != nil {
			return nil
		}
		doc = next
	}
	v, ok := doc[p.Path[len(p.Path)-1]]
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if p.Repeat && json.Unmarshal(v, &list) == nil {
		return list
	}
	return []json.RawMessage{v}
}

// wordsOf is one value as it is typed.
func wordsOf(p tool.Param, v json.RawMessage) []string {
	var source cutroom.Source
	var ref cutroom.Ref
	var text string
	switch {
	case p.Kind == tool.ParamSource && json.Unmarshal(v, &source) == nil:
		if source.Kind == cutroom.Transcript {
			return []string{source.Value, "--source-kind", string(source.Kind)}
		}
		return []string{source.Value}
	case p.Kind == tool.ParamRef && json.Unmarshal(v, &ref) == nil:
		return []string{strings.TrimSuffix(ref.Run+"/"+ref.Artifact, "/")}
	case p.Kind != tool.ParamJSON && json.Unmarshal(v, &text) == nil:
		return []string{text}
	}
	return []string{string(v)}
}
