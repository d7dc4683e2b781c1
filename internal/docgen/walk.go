package docgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Token is one token of a schema that is read through, with where it stands.
type Token struct {
	jsontext.Token
	Depth  int    // how many objects and arrays it stands in
	Word   bool   // it is a key, and a word of JSON Schema or of ours
	Member bool   // it is a key, and the name of a member
	Of     string // of a value: the word that it belongs to; "" for a member's
}

// Reword reads a schema through and writes what change makes of each token. A key that it
// does not keep goes with its value. What is no JSON comes back as it is.
func Reword(schema json.RawMessage, change func(Token) (t jsontext.Token, keep bool)) json.RawMessage {
	dec := jsontext.NewDecoder(bytes.NewReader(schema))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out)
	var named []int // depths at which keys are names of members, not words of the schema
	of := ""
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err != nil {
			return schema
		}
		depth := dec.StackDepth()
		for len(named) > 0 && depth < named[len(named)-1] {
			named = named[:len(named)-1]
		}
		kind, length := dec.StackIndex(depth)
		isKey, isName := kind == '{' && length%2 == 1, len(named) > 0 && depth == named[len(named)-1]
		t := Token{Token: tok, Depth: depth, Word: isKey && !isName, Member: isKey && isName, Of: of}
		of = ""
		if t.Word {
			if of = tok.String(); of == "properties" {
				named = append(named, depth+1)
			}
		}
		changed, keep := change(t)
		if !keep {
			of = ""
			if err := dec.SkipValue(); err != nil {
				return schema
			}
			continue
		}
		if err := enc.WriteToken(changed); err != nil {
			return schema
		}
	}
}
