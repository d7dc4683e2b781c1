package tool

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"cutroom"
)

// exactTimes writes a time as its whole microseconds, so that no two times share
// one canonical form.
var exactTimes = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, m cutroom.Micros) error {
	return enc.WriteValue(jsontext.Value(strconv.FormatInt(int64(m), 10)))
}))

// omitted leaves false and 0 out where a tag says omitempty, as encoding/json does:
// an answer to an old request must not show a member that it does not know.
var omitted = jsonv1.OmitEmptyWithLegacySemantics(true)

// Canonical encodes a typed value for a digest: RFC 8785 over typed numbers,
// times as whole microseconds. It never sees the caller's bytes.
func Canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v, exactTimes, omitted, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(b)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// readTimes reads what exactTimes wrote.
var readTimes = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, m *cutroom.Micros) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	*m = cutroom.Micros(n)
	return err
}))

// Recall reads back a request in its canonical form, as the doors show it.
func (t *Tool) Recall(canonical []byte) ([]byte, error) {
	in := reflect.New(t.in).Interface()
	if err := json.Unmarshal(canonical, in, readTimes); err != nil {
		return nil, fmt.Errorf("a recorded request of %s: %w", t.Name, err)
	}
	return Encode(in)
}

// Encode writes an output as the doors show it: members in declared order, empty
// lists as [], times in seconds.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, omitted, json.Deterministic(true), jsontext.EscapeForHTML(false))
}

// CheckOutput checks an output against the bounds, patterns and enumerations of its
// schema. Both come from the same tags, so the typed value is checked as it is,
// which costs microseconds where a resolved schema costs milliseconds.
func (t *Tool) CheckOutput(out any) error {
	d := decoder{whole: true}
	bounds(reflect.ValueOf(out), "", "", &d)
	if len(d.faults) > 0 {
		return fmt.Errorf("the output of %s does not fit its schema: %s", t.Name, d.err(t.Name))
	}
	return nil
}

// DecodeOutput reads back what Encode wrote.
func (t *Tool) DecodeOutput(raw []byte) (any, error) {
	out := t.NewOutput()
	if err := json.Unmarshal(raw, out, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return out, nil
}
