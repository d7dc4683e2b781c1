package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/origin"
)

// HTTPOptions say how clients are served over HTTP.
type HTTPOptions struct {
	Token          string        // bearer token of every request
	Open           bool          // no token: whoever stands before it has checked one
	Hosts          origin.Names  // further values of the Host header and of an Origin's host, without port
	MaxIn          int64         // bytes of a request; 0 is [MaxIn]
	SessionTimeout time.Duration // idle sessions end; 0 is an hour
	Log            *slog.Logger
}

// The headers of streamable HTTP.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// Times of one request: how long a message may take to arrive, and how long the client
// may take to read a part of the answer. An answer may stream for as long as it has to.
const (
	bodyTime  = time.Minute
	writeTime = time.Minute
)

// HTTP returns the handler of one MCP endpoint. Sessions and the stateless protocol
// are served side by side: a request that names the version of 2026-07-28 or later, in
// its header or in itself, has no session.
func HTTP(s *mcp.Server, o HTTPOptions) (http.Handler, error) {
	if o.Token == "" && !o.Open {
		return nil, cutroom.Errorf(cutroom.Invalid, "the HTTP door needs a bearer token")
	}
	if o.MaxIn <= 0 {
		o.MaxIn = MaxIn
	}
	if o.SessionTimeout <= 0 {
		o.SessionTimeout = time.Hour
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &endpoint{
		HTTPOptions: o, token: sha256.Sum256([]byte(o.Token)),
		sessions: newSessions(s, o),
		stateless: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
			Stateless: true, Logger: o.Log, MaxRequestBodyBytes: o.MaxIn, PropagateRequestCancellation: true,
			// Host names are checked here, for every address that is listened on.
			DisableLocalhostProtection: true,
		}),
	}, nil
}

// endpoint checks a request before the SDK sees it.
type endpoint struct {
	HTTPOptions
	token     [sha256.Size]byte
	sessions  *sessions
	stateless http.Handler
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.hostAllowed(r.Host) {
		http.Error(w, "this host name is not served here", http.StatusForbidden)
		return
	}
	if !e.Hosts.Allow(r.Header) {
		http.Error(w, "requests from this origin are refused", http.StatusForbidden)
		return
	}
	if !e.authorized(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="cutroom"`)
		http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
		return
	}
	p := &patient{ResponseWriter: w, control: http.NewResponseController(w)}
	defer func() { _ = p.control.SetWriteDeadline(time.Time{}) }() // the connection goes on
	switch stateless := isModern(r.Header.Get(versionHeader)); {
	case r.Method == http.MethodPost:
		e.post(p, r)
	case stateless:
		notAllowed(p, "POST")
	case r.Method == http.MethodGet:
		e.sessions.get(p, r)
	case r.Method == http.MethodDelete:
		e.sessions.end(p, r)
	default:
		notAllowed(p, "GET, POST, DELETE")
	}
}

func notAllowed(w http.ResponseWriter, methods string) {
	w.Header().Set("Allow", methods)
	http.Error(w, "this method is not served here", http.StatusMethodNotAllowed)
}

// hostAllowed refuses names that a page could have made resolve to this machine (DNS
// rebinding).
func (e *endpoint) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return e.Hosts.Has(strings.Trim(name, "[]"))
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

// post serves one message.
func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, &fault{code: jsonrpc.CodeInvalidRequest, text: "a message has the content type application/json"})
		return
	}
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, &fault{code: jsonrpc.CodeInvalidRequest, text: "a client has to accept application/json and text/event-stream"})
		return
	}
	body, ok := e.body(w, r)
	if !ok {
		return
	}
	version := r.Header.Get(versionHeader)
	if version != "" && !isModern(version) && !slices.Contains(mcp.SupportedProtocolVersions(), version) {
		refuse(w, http.StatusBadRequest, &fault{code: jsonrpc.CodeInvalidRequest, text: "this version of the protocol is not spoken here; the versions are " + strings.Join(mcp.SupportedProtocolVersions(), ", ")})
		return
	}
	all, f := envelopes(body)
	if f != nil {
		refuse(w, http.StatusBadRequest, f)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	first := all[0]
	switch stateless := isModern(version) || first.isModern() || first.method == "server/discover"; {
	case stateless && isBatch(body):
		refuse(w, http.StatusBadRequest, noBatches())
	case stateless:
		rephrase(w, first, false, func(w http.ResponseWriter) { e.stateless.ServeHTTP(w, r) })
	default:
		e.sessions.post(w, r, all, isBatch(body))
	}
}

// body reads a request's message, or answers why it cannot be.
func (e *endpoint) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	tooLong := &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a message has at most %d bytes", e.MaxIn)}
	if r.ContentLength > e.MaxIn {
		w.Header().Set("Connection", "close") // rather than read it all
		refuse(w, http.StatusRequestEntityTooLarge, tooLong)
		return nil, false
	}
	limits := http.NewResponseController(w)
	_ = limits.SetReadDeadline(time.Now().Add(bodyTime)) // what has no deadlines is no slow network either
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.MaxIn))
	_ = limits.SetReadDeadline(time.Time{})
	if err == nil {
		return trimmed(body), true
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, http.StatusRequestEntityTooLarge, tooLong)
	} else {
		refuse(w, http.StatusBadRequest, &fault{code: jsonrpc.CodeInvalidRequest, text: "the message did not arrive whole"})
	}
	return nil, false
}

// envelopes reads a body: one message, or those of a batch.
func envelopes(body []byte) ([]*message, *fault) {
	parts := [][]byte{body}
	if isBatch(body) {
		if f := bounded(body); f != nil {
			return nil, f
		}
		var f *fault
		if parts, f = elements(body); f != nil {
			return nil, f
		}
		if len(parts) == 0 {
			return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "the batch is empty"}
		}
	}
	all := make([]*message, 0, len(parts))
	for _, p := range parts {
		m, f := read(p)
		if f != nil {
			return nil, f
		}
		// The SDK reads the body again, and keeps numbers as floats.
		if raw, text := m.key.Raw().(string); m.isCall() && text && strings.HasPrefix(raw, private) {
			return nil, &fault{id: m.id, code: jsonrpc.CodeInvalidRequest, text: `"id" has to be a text, or a whole number up to 2^53`}
		}
		all = append(all, m)
	}
	return all, nil
}

func noBatches() *fault {
	return &fault{code: jsonrpc.CodeInvalidRequest, text: "this version of the protocol has no batches; send one message at a time"}
}

// accepts says whether a client takes answers of a type.
func accepts(r *http.Request, kind string) bool {
	group, _, _ := strings.Cut(kind, "/")
	for _, value := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			one, _, _ = strings.Cut(one, ";")
			switch strings.ToLower(strings.TrimSpace(one)) {
			case kind, group + "/*", "*/*":
				return true
			}
		}
	}
	return false
}

// refuse answers what never reached a session.
func refuse(w http.ResponseWriter, status int, f *fault) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(f.line()) // a client that is gone reads nothing
}

// patient gives up a client that does not read what it is sent, however long the
// answer streams.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write writes to the client, within writeTime.
func (p *patient) Write(text []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) // as for reading
	return p.ResponseWriter.Write(text)
}

// Unwrap lets a response controller find the rest.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// rephrase has a request served, and makes a JSON-RPC error of what the SDK refuses in
// plain words: it knows the request as a whole only, hosts wait for an answer to its id.
func rephrase(w http.ResponseWriter, m *message, batch bool, serve func(http.ResponseWriter)) {
	p := &plain{ResponseWriter: w}
	serve(p)
	if p.status == 0 {
		return
	}
	f := &fault{code: jsonrpc.CodeInvalidRequest, text: strings.TrimSpace(string(p.text))}
	if m.isCall() && !batch {
		f.id = m.id
	}
	if strings.HasPrefix(f.text, "JSON RPC not handled") {
		f.code, f.text = jsonrpc.CodeMethodNotFound, fmt.Sprintf("method not found: %.100q", m.method)
		if f.id != nil && !m.isModern() {
			p.status = http.StatusOK // to a session it is an answer as any other
		}
	}
	w.Header().Del("X-Content-Type-Options")
	refuse(w, p.status, f)
}

// plain keeps a refusal in plain text back.
type plain struct {
	http.ResponseWriter
	status int
	text   []byte
}

// WriteHeader begins an answer, unless it is a refusal in plain text.
func (p *plain) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain") {
		p.status = status
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write writes to the client, or keeps a refusal's words.
func (p *plain) Write(text []byte) (int, error) {
	if p.status != 0 {
		p.text = append(p.text, text...)
		return len(text), nil
	}
	return p.ResponseWriter.Write(text)
}

// Unwrap lets a response controller find the rest.
func (p *plain) Unwrap() http.ResponseWriter { return p.ResponseWriter }
