package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
)

// HTTPOptions say how clients are served over HTTP.
type HTTPOptions struct {
	Token          string        // bearer token of every request
	Open           bool          // no token: for the fixtures of tests only
	Hosts          []string      // further values of the Host header, without port
	MaxIn          int64         // bytes of a request; 0 is [MaxIn]
	SessionTimeout time.Duration // idle sessions end; 0 is an hour
	Log            *slog.Logger
}

// HTTP returns the handler of one MCP endpoint. Sessions and the stateless protocol
// are served side by side: a request that names the version of 2026-07-28 or later, in
// its header or in itself, has no session.
func HTTP(s *mcp.Server, o HTTPOptions) (http.Handler, error) {
	if o.Token == "" && !o.Open {
		return nil, cutroom.Errorf(cutroom.Invalid, "the HTTP door needs a bearer token")
	}
	if o.MaxIn == 0 {
		o.MaxIn = MaxIn
	}
	if o.SessionTimeout == 0 {
		o.SessionTimeout = time.Hour
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	serve := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
			Stateless: stateless, Logger: o.Log, SessionTimeout: o.SessionTimeout, MaxRequestBodyBytes: o.MaxIn,
			PropagateRequestCancellation: true,
			// Host names are checked here, for every address that is listened on.
			DisableLocalhostProtection: true,
		})
	}
	return &endpoint{
		HTTPOptions: o, token: sha256.Sum256([]byte(o.Token)), server: s,
		session: serve(false), stateless: serve(true), ready: map[string]bool{},
	}, nil
}

// endpoint checks a request before the SDK sees it.
type endpoint struct {
	HTTPOptions
	token              [sha256.Size]byte
	server             *mcp.Server
	session, stateless http.Handler

	mu    sync.Mutex
	ready map[string]bool // sessions whose handshake is complete
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !e.hostAllowed(r.Host):
		http.Error(w, "this host name is not served here", http.StatusForbidden)
	case !e.originAllowed(r):
		http.Error(w, "requests from this origin are refused", http.StatusForbidden)
	case !e.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="cutroom"`)
		http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		e.post(w, r)
	case isModern(r.Header.Get("Mcp-Protocol-Version")):
		e.stateless.ServeHTTP(w, r)
	default:
		if r.Method == http.MethodDelete {
			e.forget(r.Header.Get("Mcp-Session-Id"))
		}
		e.session.ServeHTTP(w, r)
	}
}

func isModern(version string) bool { return version >= modern && len(version) == len(modern) }

// hostAllowed refuses names that a page could have made resolve to this machine (DNS
// rebinding).
func (e *endpoint) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return isLoopback(strings.Trim(name, "[]")) || slices.Contains(e.Hosts, name)
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// originAllowed refuses pages of other origins. Programs send no Origin.
func (e *endpoint) originAllowed(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && len(values) == 1 && (isLoopback(u.Hostname()) || slices.Contains(e.Hosts, u.Hostname()))
}

// authorized compares digests, which takes the same time for every token.
func (e *endpoint) authorized(r *http.Request) bool {
	if e.Open {
		return true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return ok && strings.EqualFold(scheme, "Bearer") && len(r.Header.Values("Authorization")) == 1 && subtle.ConstantTimeCompare(given[:], e.token[:]) == 1
}

// bodyTime is how long a message may take to arrive.
const bodyTime = time.Minute

// post serves one message.
func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	limits := http.NewResponseController(w)
	_ = limits.SetReadDeadline(time.Now().Add(bodyTime)) // what has no deadlines is no slow network either
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.MaxIn))
	_ = limits.SetReadDeadline(time.Time{})
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, http.StatusRequestEntityTooLarge, &fault{code: jsonrpc.CodeInvalidRequest, text: "the message is too long"})
			return
		}
		refuse(w, http.StatusBadRequest, &fault{code: jsonrpc.CodeInvalidRequest, text: "the message did not arrive whole"})
		return
	}
	if len(bytes.TrimSpace(body)) == 0 {
		refuse(w, http.StatusBadRequest, &fault{code: jsonrpc.CodeParseError, text: "the message is empty"})
		return
	}
	m, f := read(body)
	if f != nil {
		refuse(w, http.StatusBadRequest, f)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	if isModern(r.Header.Get("Mcp-Protocol-Version")) || m != nil && (isModern(m.version()) || m.method == "server/discover") {
		e.stateless.ServeHTTP(w, r)
		return
	}
	if f := e.admit(m, r.Header.Get("Mcp-Session-Id")); f != nil {
		refuse(w, http.StatusBadRequest, f)
		return
	}
	e.session.ServeHTTP(w, r)
}

// admit refuses what a session may not ask for before its handshake is complete. What
// names no session, or one that is gone, is the SDK's to answer.
func (e *endpoint) admit(m *message, session string) *fault {
	if m == nil || session == "" {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case m.method == "notifications/initialized":
		e.sweep()
		e.ready[session] = true
	case m.id != nil && m.method != "" && !early(m.method) && !e.ready[session] && e.alive(session):
		return &fault{id: m.id, code: notInitialized, text: "Server is not initialized"}
	}
	return nil
}

func (e *endpoint) alive(session string) bool {
	for s := range e.server.Sessions() {
		if s.ID() == session {
			return true
		}
	}
	return false
}

// maxReady is when sessions that ended are looked for.
const maxReady = 1024

// sweep forgets the sessions that ended, once there are many.
func (e *endpoint) sweep() {
	if len(e.ready) < maxReady {
		return
	}
	live := map[string]bool{}
	for s := range e.server.Sessions() {
		live[s.ID()] = e.ready[s.ID()]
	}
	e.ready = live
}

func (e *endpoint) forget(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.ready, session)
}

// refuse answers what never reached a session.
func refuse(w http.ResponseWriter, status int, f *fault) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(f.line()) // a client that is gone reads nothing
}

// Listen serves a handler at an address of this machine until ctx is done. ready is
// called with the address that is really listened on.
func Listen(ctx context.Context, addr string, h http.Handler, ready func(net.Addr)) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return cutroom.Errorf(cutroom.Invalid, "%q is no address", addr).WithHint("give one such as 127.0.0.1:8765")
	}
	if !isLoopback(host) {
		return cutroom.Errorf(cutroom.Denied, "%q is not an address of this machine alone", addr).
			WithHint("use 127.0.0.1, and for other machines a proxy of yours that encrypts")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return cutroom.Errorf(cutroom.Conflict, "%q cannot be listened on", addr).WithCause(err).WithHint("choose another port, or 0 for a free one")
	}
	// An answer may stream for as long as a call takes: only the request is timed.
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	if ready != nil {
		ready(l.Addr())
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// A stream that is open has no end of its own.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return errors.Join(server.Close(), nil)
	}
	return nil
}
