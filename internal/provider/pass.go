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
// service repeats, in a header or a body, are masked. A redirect is a fault: who followed it
// would take the request to where nobody configured it to go. Nothing is charged. The error is a *Fault, or
// the context's own.
func (c Chain) Pass(ctx context.Context, e Endpoint, raw Raw) (*Answer, error) {
	r := c.begin([]Hop{{Endpoint: e}}, nil)
	r.line(ctx)
	for i, t := range r.queue {
		a, err := c.Client.Do(ctx, e, r.key(t), raw)
		if err != nil {
			return nil, err
		}
		a.Header = maskHeader(a.Header, e.Keys)
		if a.Status >= http.StatusMultipleChoices && a.Status < http.StatusBadRequest {
			a.Body.Close()
			return nil, &Fault{Class: Unavailable, Status: a.Status, Message: "the service sends its callers elsewhere", Sent: a.Sent}
		}
		if a.Status < http.StatusBadRequest {
			r.wake(t)
			a.Body = masked(a.Body, a.Body, e.Keys)
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
		a.Body = masked(io.MultiReader(bytes.NewReader(head), a.Body), a.Body, e.Keys)
		return a, nil
	}
	return nil, &Fault{Class: Unavailable} // there is always one turn
}
