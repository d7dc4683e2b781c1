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

var errShape = errors.New("the value is not of that kind")

// walker reads a document once, from its beginning to its end.
type walker struct {
	*jsontext.Decoder
	base int // where what it reads lies in the bones
}

// walk reads what lies at s in the bones of a document. Halves of characters, as programs leave them that cut texts
// at a length, are the upstream's to judge; two members of one name are not: which of them
// counts would be up to the reader.
func walk(doc document, s span) walker {
	return walker{jsontext.NewDecoder(bytes.NewBuffer(doc.bones[s.from:s.to]), jsontext.AllowInvalidUTF8(true)), s.from}
}

// value passes over the next value and says where it lies.
func (w walker) value() (span, error) {
	v, err := w.ReadValue()
	end := w.base + int(w.InputOffset())
	return span{end - len(v), end}, err
}

// skip passes over the next value.
func (w walker) skip() error {
	_, err := w.value()
	return err
}

// members calls visit for each member of the next value, an object; visit reads the
// member's value.
func (w walker) members(visit func(name string) error) error {
	return w.each('{', func() error {
		name, err := w.ReadToken()
		if err != nil {
			return err
		}
		return visit(name.String())
	})
}

// elements calls visit for each element of the next value, an array; visit reads it.
func (w walker) elements(visit func() error) error { return w.each('[', visit) }

func (w walker) each(open jsontext.Kind, visit func() error) error {
	if w.PeekKind() != open {
		return errShape
	}
	if _, err := w.ReadToken(); err != nil {
		return err
	}
	for k := w.PeekKind(); k != '}' && k != ']'; k = w.PeekKind() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := w.ReadToken()
	return err
}

// end says whether the document ends here.
func (w walker) end() error {
	if _, err := w.ReadToken(); err != io.EOF {
		return errors.Join(errShape, err)
	}
	return nil
}

// fields is an object's members by name.
func fields(doc document, s span) (map[string]span, error) {
	m := map[string]span{}
	if s.to == 0 {
		return nil, errShape
	}
	w := walk(doc, s)
	err := w.members(func(name string) error {
		at, err := w.value()
		m[name] = at
		return err
	})
	return m, err
}

// textOf is the string that lies at s; false when there is none, or something else.
func textOf(doc document, s span) (string, bool) {
	t, ok := longText(doc, s)
	return string(t), ok
}

// longText is textOf without a copy, where it can be had: it must not be written to.
func longText(doc document, s span) ([]byte, bool) {
	if s.to == 0 || doc.bones[s.from] != '"' {
		return nil, false
	}
	raw := doc.of(s)
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return plain, true
	}
	var t string
	err := json.Unmarshal(raw, &t)
	return []byte(t), err == nil
}

// edit is a part of a body that gives way to another text.
type edit struct {
	span
	with []byte
}

// apply makes the edits, which do not overlap. All else stays as it is, byte for byte.
func apply(doc []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	room, last := len(doc), 0
	for _, e := range edits {
		room += len(e.with) - (e.to - e.from)
	}
	out := make([]byte, 0, room)
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
