package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What one client may have in flight. What is beyond is answered with an error, so
// that pings and cancels behind it are still read.
const (
	maxFlights = 256
	maxHeld    = 64 << 20 // bytes of their messages
)

// phase is how far the handshake of a session is.
type phase int

const (
	fresh   phase = iota
	opening       // initialize is with the SDK
	opened        // initialize is answered
	ready         // notifications/initialized has come
)

// flight is a request that is with the SDK.
type flight struct {
	id        jsontext.Value // as the client wrote it
	method    string
	size      int
	cancelled bool // by the client, who wants no answer
	in        *batch
}

// works says that a request may take long; every other is answered at once.
func (f *flight) works() bool { return f.method == "tools/call" || f.method == listen }

const listen = "subscriptions/listen"

// conn is a client as the SDK sees it: what Read returns is always a message that may
// be served now.
type conn struct {
	StdioOptions
	out   *output
	input chan line     // closed at the end of input
	done  chan struct{} // closed when the session ends

	closing sync.Once
	pending []jsonrpc.Message // to be read next; Read's alone
	answer  chan struct{}     // closed when the initialize that Read returned last is answered; Read's alone

	mu      sync.Mutex
	flights map[jsonrpc.ID]*flight
	landing int // answered, but not queued yet
	landed  chan struct{}
	held    int // bytes of the messages in flight
	phase   phase
	modern  bool   // a stateless request was served
	version string // of the session
	opening chan struct{}
}

func newConn(out io.Writer, o StdioOptions) *conn {
	return &conn{
		StdioOptions: o, out: newOutput(out, 2*o.MaxOut), input: make(chan line), done: make(chan struct{}),
		flights: map[jsonrpc.ID]*flight{}, landed: make(chan struct{}, 1),
	}
}

// Connect makes c its own transport.
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: the pipe is the session.
func (c *conn) SessionID() string { return "" }

// Close ends the connection; it may be called more than once.
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.done) })
	return nil
}

// scan hands the input over line by line, until it ends or the session does.
func (c *conn) scan(in io.Reader) {
	defer close(c.input)
	lines := newLines(in, c.MaxIn)
	for {
		l, err := lines.next()
		select {
		case c.input <- l:
		case <-c.done:
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.Log.Info("input ended", "cause", err)
			}
			return
		}
	}
}

// Read returns the next message that may be served. What is none, or may not be, it
// answers or ignores itself. While the client does not read what it is sent, nothing
// more is read from it.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.pending) > 0 {
			m := c.pending[0]
			c.pending = c.pending[1:]
			return m, nil
		}
		if c.answer != nil { // what follows depends on the handshake's outcome
			select {
			case <-c.answer:
				c.answer = nil
			case <-c.done:
				return nil, io.EOF
			}
		}
		if !c.out.wait(ctx, readTime) {
			c.Log.Warn("the client reads nothing", "waited", readTime)
			c.Close()
		}
		select {
		case l, ok := <-c.input:
			if !ok {
				c.settle()
				c.Close()
				return nil, io.EOF
			}
			c.take(l)
		case <-c.done:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take handles one line: messages to be served go to pending.
func (c *conn) take(l line) {
	text := trimmed(l.text)
	switch {
	case l.long:
		c.say((&fault{id: findID(text), code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a message has at most %d bytes", c.MaxIn)}).line())
	case len(text) == 0:
	case isBatch(text):
		c.takeBatch(text)
	default:
		m, f := read(text)
		if f == nil {
			f = c.admit(m, len(text), nil)
		}
		if f != nil {
			c.say(f.line())
		}
	}
}

// takeBatch serves an array of messages, which only sessions of 2025-03-26 may send.
func (c *conn) takeBatch(text []byte) {
	f := bounded(text)
	var all [][]byte
	if f == nil {
		all, f = elements(text)
	}
	c.mu.Lock()
	legal := c.version == "2025-03-26"
	c.mu.Unlock()
	switch {
	case f != nil:
	case !legal:
		f = &fault{code: jsonrpc.CodeInvalidRequest, text: "this version of the protocol has no batches; send one message a line"}
	case len(all) == 0:
		f = &fault{code: jsonrpc.CodeInvalidRequest, text: "the batch is empty"}
	}
	if f != nil {
		c.say(f.line())
		return
	}
	b := &batch{}
	for _, e := range all {
		m, f := read(e)
		if f == nil {
			f = c.admit(m, len(e), b)
		}
		if f != nil {
			c.mu.Lock()
			b.add(f.line(), f.id, c.MaxOut)
			c.mu.Unlock()
		}
	}
	// No call of it was handed over yet, so none is answered before this.
	c.mu.Lock()
	line := b.line()
	c.mu.Unlock()
	if line != nil {
		c.say(line)
	}
}

// admit puts a message that may be served into pending, drops one that says nothing,
// and returns what is wrong with any other.
func (c *conn) admit(m *message, size int, b *batch) *fault {
	switch {
	case m.response != nil:
		c.pending = append(c.pending, m.response)
	case m.method == "": // a response to nobody
	case !m.isCall():
		c.notice(m)
	default:
		return c.call(m, size, b)
	}
	return nil
}

// notice passes a notification on when it means something now.
func (c *conn) notice(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := m.request()
	switch m.method {
	case "notifications/initialized":
		if c.phase != opened {
			return
		}
		c.phase = ready
	case "notifications/cancelled":
		if r.Params = c.cancel(m.params); r.Params == nil {
			return
		}
	default:
		if c.phase != ready && !c.modern {
			return
		}
	}
	c.pending = append(c.pending, r)
}

// cancel notes a request as cancelled: it gets no answer. It returns the params as the
// SDK understands them, nil when there is nothing to cancel.
func (c *conn) cancel(params jsontext.Value) json.RawMessage {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if params == nil || json.Unmarshal(params, &p) != nil {
		return nil
	}
	key, ok := keyOf(jsontext.Value(p.ID))
	f := c.flights[key]
	if !ok || f == nil || f.method == "initialize" {
		return nil
	}
	f.cancelled = true
	id, err := json.Marshal(key.Raw())
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"requestId":%s}`, id)
}

// call puts a request into flight.
func (c *conn) call(m *message, size int, b *batch) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	refused := func(code int64, text string) *fault { return &fault{id: m.id, code: code, text: text} }
	switch {
	case c.flights[m.key] != nil:
		// An answer under this id would be taken for the other request's.
		return &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a request with the id %s is not answered yet", m.id)}
	case m.method == "initialize" && !m.isModern():
		if b != nil || c.phase != fresh || c.modern {
			return refused(jsonrpc.CodeInvalidRequest, "initialize is the first message of a session, and alone")
		}
		c.phase, c.opening = opening, make(chan struct{})
		c.answer = c.opening
	case c.phase != ready && !m.isModern() && !early(m.method):
		return refused(notInitialized, "Server is not initialized")
	case m.method == "notifications/cancelled":
		return refused(jsonrpc.CodeInvalidRequest, "a notification has no id")
	case m.method != "ping" && (len(c.flights) >= maxFlights || c.held > 0 && c.held+size > maxHeld):
		return refused(jsonrpc.CodeInternalError, "too many requests at once; wait for answers")
	}
	f := &flight{id: m.id, method: m.method, size: size, in: b}
	if m.isModern() {
		c.modern = true
	}
	if b != nil {
		b.open++
	}
	c.flights[m.key] = f
	c.held += size
	c.pending = append(c.pending, m.request())
	return nil
}

// early says which methods are served, or refused by the SDK, before the handshake is
// complete. What answers server/discover tells a client which protocol to speak.
func early(method string) bool { return method == "ping" || method == "server/discover" }

// Write sends a message of the SDK's to the client.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		return c.land(ctx, r)
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if len(line) >= c.MaxOut {
		c.Log.Warn("a message to the client is too long", "bytes", len(line))
		return undeliverable("the message is too long")
	}
	return c.out.put(ctx, append(line, '\n'))
}

// land answers a request. The id is free before the client can know of the answer.
func (c *conn) land(ctx context.Context, r *jsonrpc.Response) error {
	c.mu.Lock()
	f := c.flights[r.ID]
	if f == nil {
		c.mu.Unlock()
		return nil
	}
	delete(c.flights, r.ID)
	c.held -= f.size
	c.landing++
	c.mu.Unlock()

	var text []byte
	if !f.cancelled {
		text = response(f.id, f.method, r, c.MaxOut)
	}
	if f.method == "initialize" {
		c.handshake(r)
	}
	if f.in != nil {
		c.mu.Lock()
		f.in.open--
		f.in.add(text, f.id, c.MaxOut)
		text = f.in.line()
		c.mu.Unlock()
	}
	var err error
	if text != nil {
		err = c.out.put(ctx, text)
	}
	c.mu.Lock()
	c.landing--
	c.mu.Unlock()
	select {
	case c.landed <- struct{}{}:
	default:
	}
	return err
}

// handshake notes how initialize went.
func (c *conn) handshake(r *jsonrpc.Response) {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != opening {
		return // of the stateless protocol, which refuses it
	}
	c.phase = fresh
	if r.Error == nil && json.Unmarshal(r.Result, &result) == nil {
		c.phase, c.version = opened, result.Version
	}
	close(c.opening)
}

// say queues an answer of the transport's own.
func (c *conn) say(line []byte) { c.out.add(line) }

// settle waits, at the end of input, for what is answered without work, and a moment
// for work that is nearly done.
func (c *conn) settle() {
	stop, soon := time.After(stopGrace), time.After(answerGrace)
	for {
		c.mu.Lock()
		quick, work := c.landing, 0
		for _, f := range c.flights {
			if f.works() {
				work++
			} else {
				quick++
			}
		}
		c.mu.Unlock()
		if quick+work == 0 || quick == 0 && soon == nil {
			return
		}
		select {
		case <-c.landed:
		case <-soon:
			soon = nil
		case <-stop:
			return
		case <-c.done:
			return
		}
	}
}

// leave tells the client of the streams that the server ends, as the stateless
// protocol wants it.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flights {
		if f.method == listen && !f.cancelled {
			f.cancelled = true
			c.say(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", f.id))
		}
	}
}
