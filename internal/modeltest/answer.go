package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// answer is a turn on its way to a wire.
type answer struct {
	text   string
	calls  []answeredCall
	search *search
	stream bool
	model  string
	tokens int // of the request, estimated
	nonce  string
	at     time.Time
}

// search is a request for tools that the host holds back.
type search struct{ id, words string }

type answeredCall struct {
	id        string
	tool      Tool
	arguments json.RawMessage
}

// said estimates the tokens of the answer.
func (a answer) said() int {
	n := len(a.text)
	for _, c := range a.calls {
		n += len(c.tool.Name) + len(c.arguments)
	}
	return n/4 + 1
}

// imageTokens is about what a picture of full size costs.
const imageTokens = 1600

// tokens estimates the size of a request: hosts cut large results by it.
func (c *conversation) tokens() int {
	n := 0
	for _, t := range c.texts() {
		n += len(t)
	}
	for _, t := range c.tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n/4 + imageTokens*len(c.images()) + 1
}

func reply[T any](w http.ResponseWriter, status int, v T) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// failure answers with an error in the form that all wires share.
func failure(w http.ResponseWriter, status int, message string) {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	reply(w, status, struct {
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{errorType(status), message}})
}

func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

// stream writes server-sent events.
type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return stream{w, http.NewResponseController(w)}
}

func (s stream) event(name string, v any) {
	s.raw(fmt.Sprintf("event: %s\n", name))
	s.data(v)
}

func (s stream) data(v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	s.raw(fmt.Sprintf("data: %s\n\n", body))
}

// raw writes text; a host that is gone is no concern of the model's.
func (s stream) raw(text string) {
	_, _ = io.WriteString(s.w, text)
	_ = s.c.Flush()
}
