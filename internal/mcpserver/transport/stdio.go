package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// StdioOptions say how one client is served.
type StdioOptions struct {
	Log           *slog.Logger
	MaxIn, MaxOut int // bytes of a message; 0 is [MaxIn] and [MaxOut]
}

// Times at the end of input: a script that sent its requests and closed the pipe
// still reads the answers that take no work; then calls are cancelled, and waited for.
const (
	answerGrace = 500 * time.Millisecond
	stopGrace   = 5 * time.Second
)

// Stdio serves one client over newline-delimited JSON-RPC until input ends or ctx is
// done. Calls in flight are cancelled then, and waited for.
func Stdio(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer, o StdioOptions) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxIn == 0 {
		o.MaxIn = MaxIn
	}
	if o.MaxOut == 0 {
		o.MaxOut = MaxOut
	}
	c := &conn{
		StdioOptions: o, in: bufio.NewReaderSize(in, 64<<10), out: out, ctx: ctx,
		incoming: make(chan jsonrpc.Message), outgoing: make(chan []byte, 64), closed: make(chan struct{}), written: make(chan struct{}),
		flight: map[string]bool{},
	}
	go c.write()
	session, err := s.Connect(context.WithoutCancel(ctx), c, nil)
	if err != nil {
		return err
	}
	go c.read()
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		c.Close()
		err = within(ended, stopGrace)
	case <-c.closed:
		err = within(ended, stopGrace)
	}
	c.finish()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		o.Log.Warn("session", "cause", err)
	}
	return nil
}

// within waits for an end, but not for ever.
func within(ended <-chan error, d time.Duration) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(d):
		return fmt.Errorf("calls did not end within %s", d)
	}
}

// conn is the client as the SDK sees it. Two goroutines belong to it: read ends at the
// end of input, write when the connection is closed and what was queued is written.
type conn struct {
	StdioOptions
	in       *bufio.Reader
	out      io.Writer
	ctx      context.Context
	incoming chan jsonrpc.Message
	outgoing chan []byte
	closing  sync.Once
	closed   chan struct{}
	written  chan struct{} // closed when nothing more will be written

	mu          sync.Mutex
	flight      map[string]bool // requests not answered yet; true when the client cancelled it
	idle        chan struct{}   // closed when none is in flight; nil when nobody asks
	initialized bool
}

// Connect makes c its own transport.
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: the pipe is the session.
func (c *conn) SessionID() string { return "" }

// Close ends the connection; it may be called more than once.
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message that is one.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read reads lines until input ends.
func (c *conn) read() {
	defer close(c.incoming)
	for {
		line, tooLong, err := c.line()
		switch {
		case tooLong:
			c.send((&fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a message has at most %d bytes", c.MaxIn)}).line())
		case len(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), bom))) > 0:
			if !c.take(line) {
				return
			}
		}
		if err != nil {
			c.settle()
			return
		}
	}
}

// line reads one line without keeping more than MaxIn of it.
func (c *conn) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := c.in.ReadSlice('\n')
		if len(line)+len(part) > c.MaxIn+2 { // the line's end does not count
			line, tooLong = nil, true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// take handles one line, and says whether there is still someone to hand messages to.
func (c *conn) take(line []byte) bool {
	m, f := read(line)
	if f != nil {
		c.send(f.line())
		return true
	}
	if m == nil || m.method == "" && m.response == nil {
		return true
	}
	if f := c.admit(m); f != nil {
		if m.id != nil {
			c.send(f.line())
		}
		return true
	}
	r, err := m.request()
	if err != nil {
		c.send((&fault{id: m.id, code: jsonrpc.CodeInvalidRequest, text: `"id" cannot be used`}).line())
		return true
	}
	select {
	case c.incoming <- r:
		return true
	case <-c.closed:
		return false
	}
}

// admit keeps the state of the session: what may be served, what is in flight, what
// was cancelled.
func (c *conn) admit(m *message) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.id == nil || m.response != nil {
		switch m.method {
		case "notifications/initialized":
			c.initialized = true
		case "notifications/cancelled":
			return c.cancel(m)
		}
		return nil
	}
	if _, taken := c.flight[m.key()]; taken {
		return &fault{id: m.id, code: jsonrpc.CodeInvalidRequest, text: "a request with this id is not answered yet"}
	}
	if !c.initialized && !early(m.method) && m.version() == "" {
		return &fault{id: m.id, code: notInitialized, text: "Server is not initialized"}
	}
	c.flight[m.key()] = false
	return nil
}

// early says which methods are served before the handshake is complete.
func early(method string) bool {
	return method == "initialize" || method == "ping" || method == "server/discover"
}

// cancel notes a request as cancelled: it gets no answer. A cancel of anything else
// is none.
func (c *conn) cancel(m *message) *fault {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.params, &p) != nil || !usable([]byte(p.ID)) {
		return &fault{}
	}
	key := keyOf([]byte(p.ID))
	if _, ok := c.flight[key]; !ok {
		return &fault{}
	}
	c.flight[key] = true
	return nil
}

// settle waits a moment at the end of input for the requests in flight.
func (c *conn) settle() {
	c.mu.Lock()
	if len(c.flight) == 0 {
		c.mu.Unlock()
		return
	}
	c.idle = make(chan struct{})
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-c.closed:
	case <-time.After(answerGrace):
	}
}

// answered takes a request out of flight.
func (c *conn) answered(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flight, key)
	if len(c.flight) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// Write queues a message for the client.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		id, err := json.Marshal(r.ID.Raw())
		if err != nil {
			return err
		}
		if len(line) > c.MaxOut {
			line = (&fault{id: id, code: jsonrpc.CodeInternalError, text: fmt.Sprintf("the answer has more than %d bytes", c.MaxOut)}).line()
		}
		// Queued first: the end of input waits for what is in flight.
		key := keyOf(id)
		defer c.answered(key)
		if c.unwanted(key) {
			return nil
		}
	} else if len(line) > c.MaxOut {
		c.Log.Warn("a message to the client is too long", "bytes", len(line))
		return nil
	}
	return c.queue(ctx, line)
}

// unwanted says that the client cancelled a request.
func (c *conn) unwanted(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight[key]
}

func (c *conn) queue(ctx context.Context, line []byte) error {
	select {
	case c.outgoing <- line:
		return nil
	case <-c.written:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send queues an answer of the transport's own. A client that does not read holds up
// its own messages, nobody else's.
func (c *conn) send(line []byte) { _ = c.queue(c.ctx, line) }

// write writes whole lines, one after another.
func (c *conn) write() {
	defer close(c.written)
	defer c.Close()
	put := func(line []byte) bool {
		_, err := c.out.Write(append(line, '\n'))
		return err == nil
	}
	for {
		select {
		case line := <-c.outgoing:
			if !put(line) {
				return
			}
		case <-c.closed:
			for {
				select {
				case line := <-c.outgoing:
					if !put(line) {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// finish closes the connection and lets what is queued be written, unless nobody
// reads it.
func (c *conn) finish() {
	c.Close()
	select {
	case <-c.written:
	case <-time.After(answerGrace):
	}
}
