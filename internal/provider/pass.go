package provider

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// maxRefusal is how much of a refusal is looked into.
const maxRefusal = 1 << 20

// Pass sends a request as somebody else wrote it, under the keys of one endpoint in
// order: a key that is refused, or has spent what it may, rests, and the next is tried.
// What comes back last comes back as it is, whatever its status; only keys that the
// service repeats in a refusal are masked. Nothing is charged. The error is a *Fault, or
// the context's own.
func (c Chain) Pass(ctx context.Context, e Endpoint, raw Raw) (*Answer, error) {
	r := c.begin([]Hop{{Endpoint: e}}, nil)
	r.line(ctx)
	for i, t := range r.queue {
		a, err := c.Client.Do(ctx, e, r.key(t), raw)
		if err != nil {
			return nil, err
		}
		if a.Status < http.StatusBadRequest {
			r.wake(t)
			return a, nil
		}
		head, err := io.ReadAll(io.LimitReader(a.Body, maxRefusal))
		if err != nil {
			a.Body.Close()
			return nil, err
		}
		if f := classify(a.Status, a.Header, head, r.Now()); f.Class.KeyFailure() {
			r.cool(ctx, t, f)
			if i+1 < len(r.queue) {
				a.Body.Close()
				continue
			}
		}
		a.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(maskKeys(head, e.Keys)), a.Body), a.Body}
		return a, nil
	}
	return nil, &Fault{Class: Unavailable} // there is always one turn
}

// maskKeys keeps the length, which the service may have stated. What stands for a key
// where a service takes none, in a letter or three, is left alone: it is part of any text.
func maskKeys(text []byte, keys []string) []byte {
	for _, k := range keys {
		if len(k) > 3 {
			text = bytes.ReplaceAll(text, []byte(k), bytes.Repeat([]byte("*"), len(k)))
		}
	}
	return text
}
