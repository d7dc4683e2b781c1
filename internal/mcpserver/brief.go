package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom/internal/docgen"
)

// longest is how many characters of a field's description a list carries. A host shows
// the whole list to its model at every turn; tool_search and the contract have the rest.
const longest = 52

// bounds are what a list leaves out: whoever is beyond one is told so by the answer.
var bounds = []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"}

// brief is a schema without bounds, whose descriptions are cut down to their first words:
// to a sentence where one is short enough. Fields that are rarely wanted are left out; the
// tool takes them all the same.
func brief(schema json.RawMessage, rare []string) json.RawMessage {
	return docgen.Reword(schema, func(t docgen.Token) (jsontext.Token, bool) {
		switch {
		case t.Word && slices.Contains(bounds, t.String()), t.Member && t.Depth == 2 && slices.Contains(rare, t.String()):
			return t.Token, false
		case t.Of == "description" && t.Kind() == '"':
			return jsontext.String(cutShort(t.String())), true
		}
		return t.Token, true
	})
}

func cutShort(s string) string {
	if first, _, ok := strings.Cut(s, ". "); ok {
		s = first + "."
	}
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	r := []rune(s)[:longest]
	if i := strings.LastIndexAny(string(r), " ,;:"); i > longest/2 {
		return strings.TrimRight(string(r)[:i], " ,;:") + " …"
	}
	return string(r) + "…"
}
