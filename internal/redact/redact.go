// Package redact takes secrets out of what leaves the process: answers, errors, logs,
// events and records.
//
// It promises that a value which the installation itself knows to be secret never
// comes through in any of its usual spellings, that what has the form of a secret is
// masked, that redacting twice is redacting once, that a text never gets longer, and
// that the cost grows with the length of the text alone. Digests, ids, pictures in
// base64, paths, times and ordinary sentences stay as they are.
//
// It must never know who speaks to whom: every way out hands it the text.
package redact

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cutroom"
)

// Mask stands where a secret was. One that is shorter than the mask becomes as many
// asterisks, at most three.
const Mask = "[redacted]"

// Redactor masks secrets: first the exact values that it was given, then what has the
// form of one. A nil Redactor knows forms only. It may be used by many goroutines.
type Redactor struct {
	known func() *needles
	more  atomic.Pointer[needles] // learned later
	mu    sync.Mutex
	later []string
}

// New returns a redactor that knows the values which secrets returns. That is called
// once, when a text is first looked at: reading the values may cost files.
func New(secrets func() []string) *Redactor {
	return &Redactor{known: sync.OnceValue(func() *needles {
		if secrets == nil {
			return nil
		}
		return newNeedles(secrets())
	})}
}

// Learn makes a value known that was not when the redactor was made: one that a flag or
// a person gave.
func (r *Redactor) Learn(value string) {
	if r == nil || value == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.later, value) {
		r.later = append(r.later, value)
		r.more.Store(newNeedles(r.later))
	}
}

// Text masks what has the form of a secret, without knowing any value. What leaves the
// process passes the method of the same name.
func Text(s string) string { return (*Redactor)(nil).Text(s) }

// JSON is [Text] for a JSON document.
func JSON(doc []byte) []byte { return (*Redactor)(nil).JSON(doc) }

// Text returns s with every secret masked; s itself when there is none.
func (r *Redactor) Text(s string) string {
	// What a mask leaves beside it can have the form of a secret that it had not
	// before. The second look finds that, the third nothing.
	for range 4 {
		found := r.spans(s)
		if len(found) == 0 {
			break
		}
		s = masked(s, found)
	}
	return s
}

// Error returns err with its message and hint masked, as every caller may see it. The
// inner cause stays, for the log, which has a redactor of its own. A nil error stays nil.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	e := cutroom.AsError(err)
	msg, hint := r.Text(e.Msg), r.Text(e.Hint)
	if msg == e.Msg && hint == e.Hint {
		return err
	}
	return &cutroom.Error{Code: e.Code, Msg: msg, Hint: hint, Err: err}
}

// spans returns what is to be masked in s, in order and apart from each other.
func (r *Redactor) spans(s string) []span {
	found := forms(s)
	if inside := wrapped(s); len(inside) > 0 {
		found = merge(append(found, inside...))
	}
	if r == nil {
		return found
	}
	var known *needles
	if r.known != nil {
		known = r.known()
	}
	more := r.more.Load()
	if known == nil && more == nil {
		return found
	}
	exact := append(more.find(s, nil), known.find(s, nil)...)
	if list := decodedAll(s); len(list) > 0 {
		exact = append(append(exact, more.decodedSpans(s, list)...), known.decodedSpans(s, list)...)
	}
	if len(exact) > 0 {
		found = merge(append(found, exact...))
	}
	return found
}

// span is a part of a text, from the first byte to behind the last.
type span struct{ from, to int }

// masked returns s with the spans replaced.
func masked(s string, found []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.from])
		b.WriteString(mask(f.to - f.from))
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// mask is what stands for n bytes; never longer than they were.
func mask(n int) string {
	if n >= len(Mask) {
		return Mask
	}
	return "***"[:min(n, 3)]
}

// isMask reports whether s was masked already: nothing but masks.
func isMask(s string) bool {
	return strings.Trim(strings.ReplaceAll(s, Mask, ""), "*") == ""
}
