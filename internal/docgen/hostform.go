package docgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"cutroom/internal/tool"
)

// ours are the words of an input schema that contracts add to those of JSON Schema: first
// those of a member, then those of the whole.
var ours = [][]string{{"cli", "common"}, {"positional", "mutually_exclusive", "one_of_required"}}

// HostInput is the input schema of an entry as a host gets it: without the words that
// are a contract's alone, positional members marked by their place. What groups exclude
// is said by descriptions: hosts drop tools whose schemas have unions at the top.
func HostInput(schema json.RawMessage, positional []string) json.RawMessage {
	dec := jsontext.NewDecoder(bytes.NewReader(schema))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out)
	var named []int // depths at which keys are names of members, not words of the schema
	member, described := "", false
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err != nil {
			return schema // our own text: it is JSON
		}
		depth := dec.StackDepth()
		for len(named) > 0 && depth < named[len(named)-1] {
			named = named[:len(named)-1]
		}
		kind, length := dec.StackIndex(depth)
		isKey, isName := kind == '{' && length%2 == 1, len(named) > 0 && depth == named[len(named)-1]
		word := ""
		if isKey {
			word = tok.String()
		}
		switch {
		case isKey && isName && depth == 2:
			member = word
		case isKey && !isName && (slices.Contains(ours[0], word) || depth == 1 && slices.Contains(ours[1], word)):
			if err := dec.SkipValue(); err != nil {
				return schema
			}
			continue
		case isKey && !isName && word == "properties":
			named = append(named, depth+1)
		}
		if at := slices.Index(positional, member); described && at >= 0 && tok.Kind() == '"' {
			tok = jsontext.String(fmt.Sprintf("(positional %d) %s", at+1, tok.String()))
		}
		described = isKey && !isName && depth == 3 && word == "description"
		if err := enc.WriteToken(tok); err != nil {
			return schema
		}
	}
}

// FullList is what tools/list would answer such a host.
type FullList struct {
	Tools []FullTool `json:"tools"`
}

// FullTool is a tool as a host could list it that takes every word of JSON Schema.
type FullTool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	InputSchema *jsonschema.Schema `json:"inputSchema"`
}

// Full is the translation of the groups, too: pairs that exclude each other as allOf with
// not, groups of which one is needed as anyOf, and argv as the other branch of all that.
func Full(tools []*tool.Tool) FullList {
	list := []FullTool{}
	for _, t := range tools {
		s := t.InputSchema()
		place, _ := t.Words()
		for i, p := range place {
			if m := s.Properties[p.Path[0]]; m != nil && len(p.Path) == 1 {
				m.Description = fmt.Sprintf("(positional %d) %s", i+1, m.Description)
			}
		}
		branch := &jsonschema.Schema{Required: s.Required}
		for _, group := range t.Exclusive {
			for i, a := range group {
				for _, b := range group[i+1:] {
					branch.AllOf = append(branch.AllOf, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{a, b}}})
				}
			}
		}
		for _, group := range t.OneOf {
			var any []*jsonschema.Schema
			for _, name := range group {
				any = append(any, &jsonschema.Schema{Required: []string{name}})
			}
			branch.AllOf = append(branch.AllOf, &jsonschema.Schema{AnyOf: any})
		}
		if t.Family().Spoken {
			s.Required, s.AnyOf = nil, []*jsonschema.Schema{{Required: []string{"argv"}}, branch}
		} else {
			s.AllOf = branch.AllOf
		}
		list = append(list, FullTool{t.MCPName(), t.Description, s})
	}
	return FullList{list}
}
