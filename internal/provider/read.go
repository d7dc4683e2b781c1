package provider

import (
	"bufio"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
)

// maxComplaint bounds what is read of an answer that is an error.
const maxComplaint = 64 << 10

func (c *Client) send(ctx context.Context, e Endpoint, key string, p packed, on func(Delta)) (Reply, error) {
	raw := Raw{Path: e.wire().path(), Body: p.body, Kind: p.kind, Accept: "application/json"}
	switch {
	case e.wire() == Transcription:
		raw.Accept = "*/*" // a format of its own
	case on != nil:
		raw.Accept = "text/event-stream"
	}
	a, err := c.Do(ctx, e, key, raw)
	if err != nil {
		return Reply{}, err
	}
	defer a.Body.Close()
	r, err := c.read(e, a, on)
	if inner, ok := errors.AsType[*embedded](err); ok {
		err = within(inner.doc, c.limits.Now())
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		f.Sent = a.Sent
	}
	if err != nil {
		return Reply{}, err
	}
	if r.Message.Native != nil {
		r.Message.Native.By = e.by()
	}
	r.Sent = a.Sent
	if r.empty() {
		f := faultf(EmptyOrUnparsable, "the answer is empty")
		f.Status, f.Sent = a.Status, a.Sent
		return Reply{}, f
	}
	return r, nil
}

func (c *Client) read(e Endpoint, a *Answer, on func(Delta)) (Reply, error) {
	if a.Status != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(a.Body, maxComplaint+1))
		if err != nil && len(body) == 0 {
			body = nil // the status says enough
		}
		f := classify(a.Status, a.Header, body[:min(len(body), maxComplaint)], c.limits.Now())
		f.cut = len(body) > maxComplaint
		return Reply{}, f
	}
	in := bufio.NewReader(a.Body)
	if e.wire() != Transcription && isEvents(a.Header, in) {
		if on == nil {
			on = func(Delta) {}
		}
		return c.stream(e, in, on)
	}
	body, err := c.whole(in)
	if err != nil {
		return Reply{}, err
	}
	r, err := e.wire().codec().reply(body)
	r.Usage = r.Usage.Counted()
	if err == nil && on != nil {
		on(Delta{Text: r.Message.Text()})
	}
	return r, err
}

// isEvents says whether an answer comes in events. Some services send them unasked, or
// under another name.
func isEvents(h http.Header, in *bufio.Reader) bool {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		return true
	}
	head, err := in.Peek(len("data:"))
	return err == nil && (string(head) == "data:" || string(head) == "event")
}

// whole reads an answer to its end.
func (c *Client) whole(body io.Reader) ([]byte, error) {
	doc, err := io.ReadAll(io.LimitReader(body, int64(c.limits.MaxAnswer)+1))
	if err != nil {
		return nil, err
	}
	if len(doc) > c.limits.MaxAnswer {
		return nil, faultf(EmptyOrUnparsable, "the answer is longer than %d bytes", c.limits.MaxAnswer)
	}
	return doc, nil
}

func (c *Client) stream(e Endpoint, body io.Reader, on func(Delta)) (Reply, error) {
	limited := &io.LimitedReader{R: body, N: int64(c.limits.MaxAnswer)}
	in, g := newEvents(limited, c.limits.MaxAnswer), e.wire().codec().gather(on)
	for done := false; !done; {
		ev, err := in.next()
		switch {
		case err == errLine || err == io.EOF && limited.N <= 0:
			return Reply{}, faultf(EmptyOrUnparsable, "the answer is longer than %d bytes", c.limits.MaxAnswer)
		case err == io.EOF:
			done = true
			continue
		case err != nil:
			return Reply{}, err
		}
		if done, err = g.take(ev); err != nil {
			return Reply{}, err
		}
	}
	r, whole, err := g.reply()
	r.Usage = r.Usage.Counted()
	if err == nil && !whole {
		err = faultf(Unavailable, "the stream was cut off before its end")
	}
	return r, err
}
