package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// span is where a JSON value lies in a document: bytes from up to, not including, to.
type span struct{ from, to int }

func (s span) of(doc []byte) []byte { return doc[s.from:s.to] }

var errShape = errors.New("the value is not of that kind")

// members calls visit for each member of the object that lies at s, with the place of
// its value in doc.
func members(doc []byte, s span, visit func(name string, at span) error) error {
	return each(doc, s, '{', func(dec *jsontext.Decoder, at func() (span, error)) error {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		text := name.String() // before the next read takes the token's bytes away
		where, err := at()
		if err != nil {
			return err
		}
		return visit(text, where)
	})
}

// elements calls visit for each element of the array that lies at s.
func elements(doc []byte, s span, visit func(at span) error) error {
	return each(doc, s, '[', func(_ *jsontext.Decoder, at func() (span, error)) error {
		where, err := at()
		if err != nil {
			return err
		}
		return visit(where)
	})
}

func each(doc []byte, s span, open jsontext.Kind, visit func(*jsontext.Decoder, func() (span, error)) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(s.of(doc)))
	if dec.PeekKind() != open {
		return errShape
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	at := func() (span, error) {
		v, err := dec.ReadValue()
		if err != nil {
			return span{}, err
		}
		end := s.from + int(dec.InputOffset())
		return span{end - len(v), end}, nil
	}
	for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
		if err := visit(dec, at); err != nil {
			return err
		}
		if k == 0 {
			break
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errors.Join(errShape, err) // there is more behind it
	}
	return nil
}

// fields is an object's members by name.
func fields(doc []byte, s span) (map[string]span, error) {
	m := map[string]span{}
	err := members(doc, s, func(name string, at span) error {
		m[name] = at
		return nil
	})
	return m, err
}

// textOf is the string that lies at s; false when there is none, or something else.
func textOf(doc []byte, s span) (string, bool) {
	if s.to == 0 || doc[s.from] != '"' {
		return "", false
	}
	var t string
	err := json.Unmarshal(s.of(doc), &t)
	return t, err == nil
}

// edit is a part of a document that gives way to another text.
type edit struct {
	span
	with []byte
}

// apply makes the edits, which do not overlap. All else stays as it is, byte for byte.
func apply(doc []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	last := 0
	for _, e := range edits {
		out = append(append(out, doc[last:e.from]...), e.with...)
		last = e.to
	}
	return append(out, doc[last:]...)
}

func quoted(text string) []byte {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return []byte(`""`) // no UTF-8
	}
	return b
}
