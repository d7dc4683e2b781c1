package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"cutroom"
)

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options are what a [Client] is made with. The zero value is what a program wants.
type Options struct {
	Dial      Dial          // nil: net.Dialer
	TLS       *tls.Config   // nil: the system's roots
	Connect   time.Duration // to open a connection, TLS included; 0: 10 s
	Header    time.Duration // from the end of the request to the beginning of the answer; 0: 5 min, for models think
	Idle      time.Duration // between two pieces of an answer; 0: 2 min
	MaxAnswer int           // bytes of an answer, all events together; 0: 8 MiB
	Now       func() time.Time
}

// Client sends requests. One serves all goroutines of a process, and keeps connections.
// It uses no proxy, whatever the environment says, follows no redirect, asks for no
// compression, and writes no log.
type Client struct {
	http   *http.Client
	limits Options
	models shelf
}

// New returns a client.
func New(o Options) *Client {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	o.Connect, o.Header, o.Idle = orElse(o.Connect, 10*time.Second), orElse(o.Header, 5*time.Minute), orElse(o.Idle, 2*time.Minute)
	if o.MaxAnswer == 0 {
		o.MaxAnswer = 8 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, o.Connect)
		defer cancel()
		if host, port, err := net.SplitHostPort(address); err == nil {
			address = net.JoinHostPort(cutroom.Dialled(host), port)
		}
		return o.Dial(ctx, network, address)
	}
	return &Client{limits: o, http: &http.Client{
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: o.TLS, TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 1 << 20,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// Close lets the connections go that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Raw is a request as somebody else wrote it, for a gateway.
type Raw struct {
	Path   string      // beneath the base URL: "/chat/completions"
	Body   []byte      // empty: GET
	Kind   string      // content type; "" is application/json
	Accept string      // of the answer; may be empty
	Header http.Header // more headers: what a caller sent and the service shall see
}

// Answer is what a service answers, whatever its status. Body is read under the client's
// time between two pieces; who has it closes it. Reading it fails with a *Fault.
type Answer struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
	Sent   int64 // bytes of the request's body
}

// Do sends a request as it is, under a key of the endpoint ("" for none). Its error is a
// *Fault, or the context's own.
func (c *Client) Do(ctx context.Context, e Endpoint, key string, raw Raw) (*Answer, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	if key = strings.TrimSpace(key); strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return nil, faultf(Auth, "the key holds characters that no header can carry")
	}
	inner, cancel := context.WithCancelCause(ctx)
	clock := time.AfterFunc(c.limits.Header, func() { cancel(errSlow) })
	up := &counter{data: raw.Body, on: func() { clock.Reset(c.limits.Header) }}
	req, err := e.request(inner, raw, up)
	if err != nil {
		clock.Stop()
		cancel(nil)
		return nil, &Fault{Class: BadRequest, Message: "the address cannot be asked", Err: plain(err)}
	}
	e.dress(req, key, raw)
	res, err := c.http.Do(req)
	sent := up.end()
	if !clock.Stop() && err == nil {
		res.Body.Close()
		err = errSlow
	}
	if err != nil {
		err = c.netFault(ctx, inner, err, sent)
		cancel(nil)
		return nil, err
	}
	return &Answer{res.StatusCode, res.Header, &arriving{c, ctx, inner, cancel, res.Body, sent}, sent}, nil
}

func (e Endpoint) request(ctx context.Context, raw Raw, up *counter) (*http.Request, error) {
	if len(raw.Body) == 0 {
		return http.NewRequestWithContext(ctx, http.MethodGet, e.address(raw.Path), nil)
	}
	body, _ := up.again()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address(raw.Path), body)
	if err != nil {
		return nil, err
	}
	req.ContentLength, req.GetBody = int64(len(raw.Body)), up.again
	return req, nil
}

// dress sets the headers. No value of one is ever written anywhere else.
func (e Endpoint) dress(req *http.Request, key string, raw Raw) {
	for name, values := range raw.Header {
		req.Header[name] = values
	}
	if len(raw.Body) > 0 {
		req.Header.Set("Content-Type", orText(raw.Kind, "application/json"))
	}
	if raw.Accept != "" {
		req.Header.Set("Accept", raw.Accept)
	}
	req.Header.Set("User-Agent", "cutroom")
	if e.wire() == Messages {
		if req.Header.Get("Anthropic-Version") == "" {
			req.Header.Set("Anthropic-Version", "2023-06-01")
		}
		if key != "" {
			req.Header.Set("X-Api-Key", key)
		}
	} else if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range e.Headers {
		req.Header.Set(h.Name, h.Value)
	}
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Complete asks an endpoint under one of its keys, once. With on, the answer is streamed
// to it; it is called by one goroutine, before Complete returns. The error is a *Fault,
// or the context's own. A refusal is a reply.
func (c *Client) Complete(ctx context.Context, e Endpoint, key string, r Request, on func(Delta)) (Reply, error) {
	p, err := c.prepare(e, r, on != nil)
	if err != nil {
		return Reply{}, err
	}
	return c.send(ctx, e, key, p, on)
}

// prepare writes the request, so that its size is known before anything is sent.
func (c *Client) prepare(e Endpoint, r Request, stream bool) (packed, error) {
	if err := e.Check(); err != nil {
		return packed{}, err
	}
	return e.wire().codec().pack(e, r, stream && e.wire() != Transcription)
}

// counter counts what is read of a request's body.
type counter struct {
	data []byte
	mu   sync.Mutex
	r    bytes.Reader
	n    int64
	new  bool   // the next piece is the first one
	on   func() // called with each piece, until over
	over bool
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new {
		c.r.Reset(c.data)
		c.n, c.new = 0, false
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if !c.over {
		c.on() // time counts from the last piece of the request
	}
	return n, err
}

// again starts over, for a connection that was closed before anything was written. That
// it is asked for does not yet mean that it is read.
func (c *counter) again() (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.new = true
	return io.NopCloser(c), nil
}

// end returns how much was read until now, and calls on no more.
func (c *counter) end() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.n
}

var errSlow = errors.New("no answer in time")

// arriving is an answer's body: a piece has to come within the time between two.
type arriving struct {
	c      *Client
	ctx    context.Context
	inner  context.Context
	cancel context.CancelCauseFunc
	in     io.ReadCloser
	sent   int64
}

func (b *arriving) Read(p []byte) (int, error) {
	clock := time.AfterFunc(b.c.limits.Idle, func() { b.cancel(errSlow) })
	n, err := b.in.Read(p)
	clock.Stop()
	if err != nil && err != io.EOF {
		err = b.c.netFault(b.ctx, b.inner, err, b.sent)
	}
	return n, err
}

func (b *arriving) Close() error {
	err := b.in.Close()
	b.cancel(nil)
	return err
}

// plain takes the address out of an error of net/http.
func plain(err error) error {
	type inner interface{ Unwrap() error }
	for {
		u, ok := err.(inner)
		if !ok || !strings.HasPrefix(strings.TrimLeft(err.Error(), `"`), "Get ") && !strings.HasPrefix(err.Error(), "Post ") && !strings.HasPrefix(err.Error(), "parse ") {
			return err
		}
		err = u.Unwrap()
	}
}

// ended is the end of a caller's context, with the bytes that had left by then.
type ended struct {
	error
	sent int64
}

func (e *ended) Unwrap() error { return e.error }

// netFault is what became of a request that got no answer, or no whole one. ctx is the
// caller's, whose end is no fault of the service.
func (c *Client) netFault(ctx, inner context.Context, err error, sent int64) error {
	if ctx.Err() != nil {
		return &ended{ctx.Err(), sent}
	}
	f := &Fault{Class: Unavailable, Message: "no connection, or it broke", Err: plain(err), Sent: sent}
	var dns *net.DNSError
	var op *net.OpError
	var wait net.Error
	switch {
	case errors.Is(context.Cause(inner), errSlow), errors.Is(err, errSlow):
		f.Class, f.Message = TimedOut, "no answer in time"
	case errors.As(err, &dns):
		f.Message = "the name of the service is not known"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		f.Message = "the certificate of the service is not accepted"
	case errors.As(err, &wait) && wait.Timeout(), errors.Is(err, context.DeadlineExceeded):
		f.Class, f.Message = TimedOut, "no connection in time"
	case errors.As(err, &op) && op.Op == "dial":
		f.Message = "the service takes no connection"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		f.Message = "the connection ended before the answer did"
	}
	return f
}
