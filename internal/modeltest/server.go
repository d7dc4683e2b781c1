package modeltest

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Wire is a protocol that models are spoken to in.
type Wire string

// The wires. CountTokens belongs to Messages; Other is any request of no wire.
const (
	Messages    Wire = "messages"
	CountTokens Wire = "count_tokens"
	Responses   Wire = "responses"
	Chat        Wire = "chat"
	Models      Wire = "models"
	Other       Wire = "other"
)

// Options say what a server plays; the zero value says "script over" to everything.
type Options struct {
	Script Script
	// Model is the name of the one model that is listed; "" is "scripted".
	Model string
	// Key, when set, is the key that every request has to carry (as a bearer token or
	// as x-api-key); others get 401.
	Key string
	// Fault, when set, is asked before each request of a wire is answered, n counting
	// them from 0: a service that fails on some.
	Fault func(n int, r Request) *Fault
	// Listener is where to serve; nil is a free port of loopback.
	Listener net.Listener
}

// Fault is an answer in place of the model's.
type Fault struct {
	Status  int // HTTP status of an error; 0 breaks the connection off in the middle of the answer
	Header  http.Header
	Message string
}

// Server is a model.
type Server struct {
	URL string // http://127.0.0.1:PORT, without a path

	opt      Options
	http     *http.Server
	finished chan struct{}

	mu       sync.Mutex
	requests []Request
	asked    int           // requests of a wire
	changed  chan struct{} // closed and renewed with each request
}

// Start starts a model that ends with the test.
func Start(t testing.TB, script ...Step) *Server {
	t.Helper()
	s, err := New(Options{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a model. Close ends it.
func New(o Options) (*Server, error) {
	if o.Model == "" {
		o.Model = "scripted"
	}
	if o.Listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		o.Listener = l
	}
	s := &Server{
		URL: "http://" + o.Listener.Addr().String(), opt: o,
		finished: make(chan struct{}), changed: make(chan struct{}),
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.finished)
		_ = s.http.Serve(o.Listener) // ends with Close
	}()
	return s, nil
}

// Close ends the server and waits for it; requests under way are broken off.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.finished
}

// Requests are all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait returns the first request that fits, now or once it comes.
func (s *Server) Wait(ctx context.Context, fits func(Request) bool) (Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		list, changed := s.requests[seen:], s.changed
		seen = len(s.requests)
		s.mu.Unlock()
		for _, r := range list {
			if fits(r) {
				return r, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, ctx.Err()
		}
	}
}

// maxBody bounds a request: twelve pictures and a long conversation fit.
const maxBody = 64 << 20

// ServeHTTP records a request and plays the step that it is at.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := bodyOf(r)
	if err != nil {
		failure(w, http.StatusBadRequest, "the body cannot be read: "+err.Error())
		return
	}
	req := Request{Wire: wireOf(r), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body, At: time.Now()}
	req.conv, err = read(req.Wire, body)
	if err == nil && req.Wire != CountTokens {
		req.Turn, req.IsTurn = len(req.conv.past().Turns), len(req.conv.tools) > 0
	}
	n := s.record(req)
	switch {
	case !s.allowed(r):
		failure(w, http.StatusUnauthorized, "the key is not the one of this service")
	case req.Wire == Models:
		s.models(w)
	case req.Wire == Other:
		failure(w, http.StatusNotFound, "no such path")
	case err != nil:
		failure(w, http.StatusBadRequest, "no request of this wire: "+err.Error())
	case s.faulty(w, n, req):
	case req.Wire == CountTokens:
		reply(w, http.StatusOK, struct {
			Tokens int `json:"input_tokens"`
		}{req.conv.tokens()})
	default:
		s.play(r.Context(), w, req)
	}
}

// play answers with the turn that the conversation is at. What offers no tools is a
// host's own question (a title, a summary), no turn of the script.
func (s *Server) play(ctx context.Context, w http.ResponseWriter, req Request) {
	turn := Turn{Text: "ok"}
	if req.IsTurn {
		turn = s.opt.Script.turn(req.conv.past())
	}
	if turn.After > 0 {
		select {
		case <-time.After(turn.After):
		case <-ctx.Done():
			return
		}
	}
	a := answer{
		text: turn.Text, stream: req.conv.stream, model: req.conv.model,
		tokens: req.conv.tokens(), nonce: nonce(), at: req.At,
	}
	prefix := map[Wire]string{Messages: "toolu_", Responses: "call_", Chat: "call_"}[req.Wire]
	for i, c := range turn.Calls {
		tool, _ := listed(req.conv.tools, c.Tool)
		arguments := c.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		a.calls = append(a.calls, answeredCall{callID(prefix, req.Turn, i, a.nonce), tool, arguments})
	}
	if turn.Search != "" {
		a.search = &search{callID(prefix, req.Turn, len(turn.Calls), a.nonce), turn.Search}
	}
	switch req.Wire {
	case Messages:
		answerMessages(w, a)
	case Responses:
		answerResponses(w, a)
	case Chat:
		answerChat(w, a)
	}
}

func (s *Server) record(r Request) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	n = s.asked
	if r.conv != nil {
		s.asked++
	}
	return n
}

func (s *Server) allowed(r *http.Request) bool {
	return s.opt.Key == "" || r.Header.Get("X-Api-Key") == s.opt.Key || r.Header.Get("Authorization") == "Bearer "+s.opt.Key
}

// faulty answers with the fault that is due, if one is.
func (s *Server) faulty(w http.ResponseWriter, n int, req Request) bool {
	if s.opt.Fault == nil {
		return false
	}
	f := s.opt.Fault(n, req)
	if f == nil {
		return false
	}
	for k, v := range f.Header {
		w.Header()[k] = v
	}
	if f.Status != 0 {
		failure(w, f.Status, f.Message)
		return true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: ")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (s *Server) models(w http.ResponseWriter) {
	type model struct {
		ID          string `json:"id"`
		Object      string `json:"object"`
		Type        string `json:"type"`
		DisplayName string `json:"display_name"`
	}
	reply(w, http.StatusOK, struct {
		Object  string  `json:"object"`
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
	}{"list", []model{{s.opt.Model, "model", "model", s.opt.Model}}, false})
}

// bodyOf reads a body, packed or not.
func bodyOf(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	switch e := r.Header.Get("Content-Encoding"); e {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		from = z
	default:
		return nil, errors.New("content encoding " + e)
	}
	body, err := io.ReadAll(io.LimitReader(from, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = errors.New("larger than 64 MiB")
	}
	return body, err
}

func wireOf(r *http.Request) Wire {
	path := strings.TrimSuffix(r.URL.Path, "/")
	ends := func(method, suffix string) bool { return r.Method == method && strings.HasSuffix(path, suffix) }
	switch {
	case ends(http.MethodPost, "/messages/count_tokens"):
		return CountTokens
	case ends(http.MethodPost, "/messages"):
		return Messages
	case ends(http.MethodPost, "/responses"):
		return Responses
	case ends(http.MethodPost, "/chat/completions"):
		return Chat
	case ends(http.MethodGet, "/models"):
		return Models
	}
	return Other
}

func nonce() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
