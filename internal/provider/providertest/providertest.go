// Package providertest is a provider of models over real HTTP that answers as a test
// wants it: on every wire, whole and in events, well and badly.
//
// It promises that what it got is recorded as it came, and that a test which ends leaves
// no request behind. It must never know what is read out of media.
package providertest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cutroom/internal/provider"
)

// Server is a scripted provider. Its methods may be called at any time.
type Server struct {
	URL string // with /v1: a base URL

	report func(format string, args ...any)
	http   *httptest.Server
	stop   chan struct{}
	dials  atomic.Int64

	mu       sync.Mutex
	queue    []Step
	byKey    map[string][]Step
	byModel  map[string][]Step
	answer   func(Request) Step
	models   string
	requests []Request
}

// Request is one request as it came.
type Request struct {
	Method string
	Path   string // with the query
	Header http.Header
	Body   []byte
	Wire   provider.Wire // by its path; "" for others
	Key    string        // bearer token, or x-api-key
	Model  string
	Stream bool
	Form   map[string]string // fields of a transcription
	File   []byte            // of a transcription
}

// New starts a server until the test ends. Its answers are the steps in order, then the
// last one again and again; without any, "ok".
func New(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s := Start(t.Errorf, steps...)
	t.Cleanup(s.Close)
	return s
}

// Start is New for programs that are no tests: what cannot be read is reported, and Close
// ends it.
func Start(report func(format string, args ...any), steps ...Step) *Server {
	s := &Server{report: report, stop: make(chan struct{}), queue: steps, byKey: map[string][]Step{}, byModel: map[string][]Step{}, models: `{"object":"list","data":[]}`}
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.dials.Add(1)
		}
	}
	s.http.Start()
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends the server; answers that hang or stall end with it. It may be called once.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// Endpoint is one of this server.
func (s *Server) Endpoint(name string, w provider.Wire, model string, keys ...string) provider.Endpoint {
	return provider.Endpoint{Name: name, Wire: w, BaseURL: s.URL, Model: model, Keys: keys}
}

// Queue adds answers behind those that there are.
func (s *Server) Queue(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, steps...)
}

// ForKey gives a key answers of its own, in order, the last one again and again.
func (s *Server) ForKey(key string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byKey[key] = steps
}

// ForModel gives a model answers of its own, in order, the last one again and again.
func (s *Server) ForModel(model string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byModel[model] = steps
}

// Answer decides every answer by its request, before all scripts.
func (s *Server) Answer(f func(Request) Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Models sets what GET /models answers, as JSON.
func (s *Server) Models(doc string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = doc
}

// Requests returns what came so far, lists of models left out.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Request
	for _, r := range s.requests {
		if r.Wire != "" {
			list = append(list, r)
		}
	}
	return list
}

// Lists returns how often the models were asked for.
func (s *Server) Lists() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r.Wire == "" {
			n++
		}
	}
	return n
}

// Dials returns how many connections were opened to the server.
func (s *Server) Dials() int { return int(s.dials.Load()) }

// next takes the answer that a request gets.
func (s *Server) next(r Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.answer != nil {
		return s.answer(r)
	}
	take := func(list []Step) ([]Step, Step) {
		if len(list) == 1 {
			return list, list[0]
		}
		return list[1:], list[0]
	}
	var step Step
	switch {
	case len(s.byKey[r.Key]) > 0:
		s.byKey[r.Key], step = take(s.byKey[r.Key])
	case len(s.byModel[r.Model]) > 0:
		s.byModel[r.Model], step = take(s.byModel[r.Model])
	case len(s.queue) > 0:
		s.queue, step = take(s.queue)
	default:
		step = Say("ok")
	}
	return step
}

// ServeHTTP answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	r, err := read(in)
	if err != nil {
		s.report("%s %s cannot be read: %v", in.Method, in.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.Wire == "" {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		doc := s.models
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(in.URL.Path, "/models") {
			w.WriteHeader(http.StatusNotFound)
			doc = `{"error":{"message":"no such path"}}`
		}
		_, _ = io.WriteString(w, doc)
		return
	}
	step := s.next(r)
	if step.Hang {
		select {
		case <-s.stop:
		case <-in.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	step.serve(w, r, s.stop, in.Context().Done())
}

func read(in *http.Request) (Request, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return Request{}, err
	}
	r := Request{Method: in.Method, Path: in.URL.RequestURI(), Header: in.Header.Clone(), Body: body, Key: in.Header.Get("X-Api-Key")}
	if token, ok := strings.CutPrefix(in.Header.Get("Authorization"), "Bearer "); ok {
		r.Key = token
	}
	for suffix, wire := range map[string]provider.Wire{
		"/chat/completions": provider.Chat, "/responses": provider.Responses, "/messages": provider.Messages, "/audio/transcriptions": provider.Transcription,
	} {
		if strings.HasSuffix(in.URL.Path, suffix) {
			r.Wire = wire
		}
	}
	if r.Wire == provider.Transcription {
		return r, r.readForm(in.Header.Get("Content-Type"))
	}
	var doc struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	if r.Wire != "" {
		err = json.Unmarshal(body, &doc)
	}
	r.Model, r.Stream = doc.Model, doc.Stream
	return r, err
}

func (r *Request) readForm(kind string) error {
	_, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return err
	}
	form, err := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"]).ReadForm(64 << 20)
	if err != nil {
		return err
	}
	r.Form = map[string]string{}
	for name, values := range form.Value {
		r.Form[name] = values[0]
	}
	r.Model = r.Form["model"]
	for _, files := range form.File {
		f, err := files[0].Open()
		if err != nil {
			return err
		}
		if r.File, err = io.ReadAll(f); err != nil {
			return err
		}
	}
	return nil
}
