package transport

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSessions is how many sessions one endpoint keeps.
const maxSessions = 1024

// burst is how long a request waits for notifications/initialized, which a host may
// send at the same time by another connection.
const burst = time.Second

// sessions are the clients of the protocol versions that have a handshake. They are
// kept here rather than by the SDK's handler, which neither cancels the calls of a
// session that ends nor can be told to end them all.
type sessions struct {
	HTTPOptions
	server *mcp.Server

	mu   sync.Mutex
	open map[string]*session
}

func newSessions(s *mcp.Server, o HTTPOptions) *sessions {
	return &sessions{HTTPOptions: o, server: s, open: map[string]*session{}}
}

// session is one client.
type session struct {
	id    string
	http  *mcp.StreamableServerTransport
	inner *mcp.ServerSession
	end   context.CancelFunc // cancels the calls; the SDK then closes the session
	ready chan struct{}      // closed when the handshake is complete
	once  sync.Once

	mu      sync.Mutex
	uses    int // requests being served
	idle    *time.Timer
	dropped bool
}

// post serves the messages of one request.
func (a *sessions) post(w http.ResponseWriter, r *http.Request, all []*message, batch bool) {
	first := all[0]
	id := r.Header.Get(sessionHeader)
	switch {
	case id == "" && !batch && first.method == "initialize" && first.isCall():
		a.start(w, r, first)
	case id == "" && !batch && first.method == "ping" && first.isCall():
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", first.id)
	case id == "":
		f := &fault{code: notInitialized, text: "Server is not initialized"}
		if !batch && first.isCall() {
			f.id = first.id
		}
		refuse(w, http.StatusBadRequest, f)
	default:
		if s := a.use(w, id); s != nil {
			defer a.leave(s)
			if f, status := s.admit(r.Context(), all, batch); f != nil {
				refuse(w, status, f)
				return
			}
			rephrase(w, first, batch, func(w http.ResponseWriter) { s.http.ServeHTTP(w, r) })
		}
	}
}

// admit refuses what may not be asked for before the handshake is complete.
func (s *session) admit(ctx context.Context, all []*message, batch bool) (*fault, int) {
	if batch && s.inner.InitializeParams().ProtocolVersion != "2025-03-26" {
		return noBatches(), http.StatusBadRequest
	}
	for _, m := range all {
		switch {
		case m.method == "notifications/initialized" && !m.isCall():
			s.once.Do(func() { close(s.ready) })
		case m.method == "initialize":
			return &fault{id: m.id, code: jsonrpc.CodeInvalidRequest, text: "initialize is the first message of a session, and alone"}, http.StatusBadRequest
		case m.isCall() && m.method != "ping" && !s.isReady(ctx):
			return &fault{id: m.id, code: notInitialized, text: "Server is not initialized"}, http.StatusOK
		}
	}
	return nil, 0
}

// isReady waits a moment for the handshake to complete.
func (s *session) isReady(ctx context.Context) bool {
	select {
	case <-s.ready:
		return true
	default:
	}
	select {
	case <-s.ready:
		return true
	case <-ctx.Done():
	case <-time.After(burst):
	}
	return false
}

// start opens a session by its initialize.
func (a *sessions) start(w http.ResponseWriter, r *http.Request, first *message) {
	id := rand.Text()
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	l := &link{StreamableServerTransport: &mcp.StreamableServerTransport{SessionID: id}, ctx: ctx}
	inner, err := a.server.Connect(ctx, l, nil)
	if err != nil {
		end()
		a.Log.Error("session", "cause", err)
		refuse(w, http.StatusInternalServerError, &fault{code: jsonrpc.CodeInternalError, text: "no session could be opened"})
		return
	}
	s := &session{id: id, http: l.StreamableServerTransport, inner: inner, end: end, ready: make(chan struct{}), uses: 1}
	if !a.add(s) {
		end()
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, &fault{code: jsonrpc.CodeInternalError, text: "too many sessions"})
		return
	}
	defer a.leave(s)
	s.belong(r.Context(), a.drop)
	rephrase(w, first, false, func(w http.ResponseWriter) { l.ServeHTTP(w, r) })
	if inner.InitializeParams() == nil { // the handshake failed
		a.drop(s)
	}
}

func (a *sessions) add(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) >= maxSessions {
		return false
	}
	s.idle = time.AfterFunc(a.SessionTimeout, func() { a.expire(s) })
	a.open[s.id] = s
	return true
}

// expire ends a session that nobody uses.
func (a *sessions) expire(s *session) {
	a.mu.Lock()
	s.mu.Lock()
	used := s.uses > 0
	if !used {
		delete(a.open, s.id)
	}
	s.mu.Unlock()
	a.mu.Unlock()
	if !used {
		a.drop(s)
	}
}

// drop ends a session.
func (a *sessions) drop(s *session) {
	a.mu.Lock()
	delete(a.open, s.id)
	a.mu.Unlock()
	s.mu.Lock()
	s.dropped = true
	s.idle.Stop()
	s.mu.Unlock()
	s.end()
}

// use finds a session, which does not expire until leave, or answers that there is
// none.
func (a *sessions) use(w http.ResponseWriter, id string) *session {
	a.mu.Lock()
	s := a.open[id]
	if s != nil {
		s.mu.Lock()
		s.uses++
		s.mu.Unlock()
	}
	a.mu.Unlock()
	if s == nil { // a client takes this status as the order to begin anew
		refuse(w, http.StatusNotFound, &fault{code: jsonrpc.CodeInvalidRequest, text: "there is no such session"})
	}
	return s
}

func (a *sessions) leave(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uses--; s.uses == 0 && !s.dropped {
		s.idle.Reset(a.SessionTimeout)
	}
}

// get opens the stream of what the server says unasked.
func (a *sessions) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "text/event-stream") {
		http.Error(w, "a client has to accept text/event-stream", http.StatusNotAcceptable)
		return
	}
	id := r.Header.Get(sessionHeader)
	if id == "" {
		http.Error(w, "there is a stream in a session only", http.StatusBadRequest)
		return
	}
	if s := a.use(w, id); s != nil {
		defer a.leave(s)
		s.http.ServeHTTP(w, r)
	}
}

// end ends a session as its client wants it. Its calls are cancelled.
func (a *sessions) end(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		http.Error(w, "which session?", http.StatusBadRequest)
		return
	}
	if s := a.use(w, id); s != nil {
		defer a.leave(s)
		a.drop(s)
		w.WriteHeader(http.StatusNoContent)
	}
}

// link is the SDK's transport of one session, whose end cancels the calls and whose
// errors have codes.
type link struct {
	*mcp.StreamableServerTransport
	ctx context.Context // of the session
}

// Connect returns the connection behind which the SDK serves the session.
func (l *link) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := l.StreamableServerTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &linkConn{c, l.ctx}, nil
}

// linkConn is a connection that ends with its session.
type linkConn struct {
	mcp.Connection
	ctx context.Context
}

// Read returns the next message; the end of it makes the SDK cancel the calls.
func (c *linkConn) Read(context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(c.ctx)
	if c.ctx.Err() != nil {
		return nil, io.EOF
	}
	return m, err
}

// Write sends a message of at most MaxOut bytes.
func (c *linkConn) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		r := *m
		if r.Error != nil {
			r.Error = errorOf(r.Error, "this method")
		} else if len(r.Result) > MaxOut {
			r.Result, r.Error = nil, tooLong(len(r.Result), MaxOut)
		}
		return c.Connection.Write(ctx, &r)
	case *jsonrpc.Request:
		if len(m.Params) > MaxOut {
			return undeliverable("the message is too long")
		}
	}
	return c.Connection.Write(ctx, m)
}
