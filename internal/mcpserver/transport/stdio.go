package transport

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
)

// StdioOptions say how one client is served.
type StdioOptions struct {
	Log           *slog.Logger
	MaxIn, MaxOut int // bytes of a message; 0 is [MaxIn] and [MaxOut]
}

// Times at the end of a session: a script that sent its requests and closed the pipe
// still reads the answers that take no work; then calls are cancelled, and waited for;
// then what is queued is written, if somebody reads it.
const (
	answerGrace = 300 * time.Millisecond
	stopGrace   = 5 * time.Second
	flushGrace  = time.Second
)

// readTime is how long a client may read nothing while much is waiting for it. What it
// sends meanwhile is not read, so that the end of it would not be seen.
const readTime = time.Minute

// Stdio serves one client over newline-delimited JSON-RPC until input ends or ctx is
// done; either is a good end. Calls in flight are cancelled then, and waited for. An
// error says that the client could not be written to.
//
// A Read of in or a Write to out that blocks is given up at the end, when it takes no
// deadline; neither is of use afterwards.
func Stdio(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer, o StdioOptions) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxIn <= 0 {
		o.MaxIn = MaxIn
	}
	if o.MaxOut <= 0 {
		o.MaxOut = MaxOut
	}
	c := newConn(out, o)
	session, err := s.Connect(context.WithoutCancel(ctx), c, nil)
	if err != nil {
		return err
	}
	go func() {
		c.out.run()
		c.Close() // a client that cannot be written to is gone
	}()
	scanned := make(chan struct{})
	go func() {
		defer close(scanned)
		c.scan(in)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := session.Wait(); err != nil {
			o.Log.Debug("session", "cause", err)
		}
	}()
	select {
	case <-ctx.Done():
		c.out.hurryUp()
		c.leave()
	case <-c.done:
	case <-ended:
	case <-scanned: // the client may wait for our end without reading on
		select {
		case <-ctx.Done():
		case <-c.done:
		case <-ended:
		case <-time.After(answerGrace + stopGrace):
		}
	}
	c.stop(ended)
	giveUpReading(in, scanned)
	if err := c.out.failure(); err != nil {
		return cutroom.Errorf(cutroom.Unavailable, "the client cannot be written to any more").WithCause(err)
	}
	return nil
}

// stop cancels the calls, waits for them, and has what is queued written.
func (c *conn) stop(ended <-chan struct{}) {
	c.out.hurryUp()
	c.Close()
	select {
	case <-ended:
	case <-time.After(stopGrace):
		c.Log.Warn("calls did not end when they were cancelled", "waited", stopGrace)
	}
	c.out.finish()
	select {
	case <-c.out.done:
		return
	case <-time.After(flushGrace):
	}
	if w, ok := c.out.w.(interface{ SetWriteDeadline(time.Time) error }); ok && w.SetWriteDeadline(time.Now()) == nil {
		<-c.out.done
	}
}

// giveUpReading ends a Read that waits for input, where that can be done.
func giveUpReading(in io.Reader, scanned <-chan struct{}) {
	select {
	case <-scanned:
		return
	default:
	}
	if r, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && r.SetReadDeadline(time.Now()) == nil {
		<-scanned
	}
}
