package docgen

import (
	"encoding/json"
	"fmt"
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
	member := ""
	return Reword(schema, func(t Token) (jsontext.Token, bool) {
		switch {
		case t.Member && t.Depth == 2:
			member = t.String()
		case t.Word && (slices.Contains(ours[0], t.String()) || t.Depth == 1 && slices.Contains(ours[1], t.String())):
			return t.Token, false
		case t.Of == "description" && t.Depth == 3 && t.Kind() == '"':
			if at := slices.Index(positional, member); at >= 0 {
				return jsontext.String(fmt.Sprintf("(positional %d) %s", at+1, t.String())), true
			}
		}
		return t.Token, true
	})
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
