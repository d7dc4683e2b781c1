package modeltest

import (
	"net/http"
	"time"
)

// Request is what a host or a provider asked the model.
type Request struct {
	Wire   Wire
	Method string
	Path   string
	Header http.Header
	Body   []byte // unpacked
	At     time.Time

	// IsTurn says that the request offers tools, and so that it was answered with the
	// step of the script of its Turn (which Again may have repeated).
	IsTurn bool
	Turn   int // how many turns of the model the conversation holds already

	conv *conversation // nil when the body is no request of the wire
}

// Texts are all texts that reach the model, in order: instructions, messages, results.
func (r Request) Texts() []string {
	if r.conv == nil {
		return nil
	}
	return r.conv.texts()
}

// Images are all pictures that reach the model, in order.
func (r Request) Images() []Image {
	if r.conv == nil {
		return nil
	}
	return r.conv.images()
}

// Tools are the tools offered, those of namespaces among them.
func (r Request) Tools() []Tool {
	if r.conv == nil {
		return nil
	}
	return r.conv.tools
}

// Past is what became of the model's calls so far.
func (r Request) Past() Past {
	if r.conv == nil {
		return Past{}
	}
	return r.conv.past()
}

// Model is the name of the model that is asked.
func (r Request) Model() string {
	if r.conv == nil {
		return ""
	}
	return r.conv.model
}
