package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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
	dec := jsontext.NewDecoder(bytes.NewReader(schema))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out)
	described := false // the value that follows is a description's
	var named []int    // depths at which keys are names of fields, not words of the schema
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
		if isKey && (!isName && slices.Contains(bounds, tok.String()) || isName && depth == 2 && slices.Contains(rare, tok.String())) {
			if err := dec.SkipValue(); err != nil {
				return schema
			}
			continue
		}
		if isKey && !isName && tok.String() == "properties" {
			named = append(named, depth+1)
		}
		if described && tok.Kind() == '"' && !isKey {
			tok = jsontext.String(cutShort(tok.String()))
		}
		described = isKey && !isName && tok.String() == "description"
		if err := enc.WriteToken(tok); err != nil {
			return schema
		}
	}
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
