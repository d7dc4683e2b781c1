package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/tool"
)

// sheet makes what a person sees before deciding: from the call as it was decoded and
// from the files as they lie there, never from words of the caller's.
func (k *call) sheet(ctx context.Context) (*cutroom.Sheet, error) {
	if err := k.gather(ctx); err != nil {
		return nil, err
	}
	if err := k.preview(); err != nil {
		return nil, err
	}
	plan := k.reply.Plan
	s := &cutroom.Sheet{
		ToolID: k.tool.Name, Summary: k.tool.Summary, Kind: k.kind(), Risk: string(k.tool.Risk), Who: k.Principal, Why: k.asks,
		Arguments: []cutroom.SheetValue{}, Inputs: []cutroom.SheetFile{}, Outputs: []cutroom.SheetOutput{},
		Destination: k.bound.Destination, MaxBytes: k.bound.MaxBytes, Cost: "none",
		Commands: plan.Commands, Calls: plan.Calls, More: plan.More,
	}
	raw, err := tool.Encode(k.in)
	if err != nil {
		return nil, err
	}
	if s.Arguments, err = words("", raw, s.Arguments); err != nil {
		return nil, err
	}
	for _, in := range k.inputs {
		s.Inputs = append(s.Inputs, cutroom.SheetFile{Path: in.Text, Size: in.Size, SHA256: in.Digest})
	}
	for i, o := range k.outlets {
		out := cutroom.SheetOutput{Path: o.text}
		if b := k.bound.Outputs; i < len(b) && b[i].Replaces != "" {
			out.Replaces = b[i].Replaces
			if _, out.Size, err = k.standing(ctx, o); err != nil {
				return nil, err
			}
		}
		s.Outputs = append(s.Outputs, out)
	}
	return s, nil
}

// What of a value a sheet shows; the rest is named by its size and hash, so that two
// values never look the same.
const (
	maxWord  = 300
	maxWords = 100
)

// words lists the members of a request, one line each: a.b = value.
func words(name string, raw jsontext.Value, list []cutroom.SheetValue) ([]cutroom.SheetValue, error) {
	if raw.Kind() != '{' {
		return append(list, cutroom.SheetValue{Name: name, Value: word(raw)}), nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return list, err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return list, err
		}
		member := key.String()
		if name != "" {
			member = name + "." + member
		}
		value, err := d.ReadValue()
		if err != nil {
			return list, err
		}
		if len(list) >= maxWords {
			rest := cutroom.DigestOf(raw)
			return append(slices.Clone(list[:maxWords]), cutroom.SheetValue{Name: "…", Value: fmt.Sprintf("and more; the whole request has %d bytes, sha256 %s", len(raw), rest.Short())}), nil
		}
		if list, err = words(member, slices.Clone(value), list); err != nil {
			return list, err
		}
	}
	return list, nil
}

// word is a value in one line: text as it is, anything else as JSON.
func word(raw jsontext.Value) string {
	text := string(raw)
	if raw.Kind() == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
			text = s
		}
	}
	if n := utf8.RuneCountInString(text); n > maxWord {
		text = fmt.Sprintf("%s… (%d characters, sha256 %s)", string([]rune(text)[:maxWord]), n, cutroom.DigestOf([]byte(text)).Short())
	}
	return text
}
