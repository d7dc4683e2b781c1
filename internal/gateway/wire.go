package gateway

import (
	"errors"

	"cutroom"
	"cutroom/internal/provider"
)

// wire is one form of request that models are asked by. Its items, messages for the most
// part, are the elements of member.
type wire struct {
	name   provider.Wire
	path   string // of the request, as the door serves it and beneath an upstream's base address
	member string
	// lists are the members of an item that may hold content; what text is called there.
	lists map[string]string
	// fault is an error in the form that clients of the wire read.
	fault func(status int, kind, message string) any
}

// The wires: OpenAI's Chat Completions and Responses, Anthropic's Messages.
var (
	chat      = wire{provider.Chat, "/chat/completions", "messages", map[string]string{"content": "text"}, openAIFault}
	responses = wire{provider.Responses, "/responses", "input", map[string]string{"content": "input_text", "output": "input_text"}, openAIFault}
	messages  = wire{provider.Messages, "/messages", "messages", map[string]string{"content": "text"}, anthropicFault}
)

var wires = []wire{chat, responses, messages}

// request is a body with the places that matter.
type request struct {
	body   []byte
	model  span
	name   string // of the model
	blocks []block
}

// read finds the model of a request and its media blocks. What has another form than this
// wire's holds none.
func (w wire) read(body []byte) (request, error) {
	return w.find(bare(body, longString))
}

func (w wire) find(doc document) (request, error) {
	r := request{body: doc.body}
	f := &finder{walker: walk(doc, span{0, len(doc.bones)}), doc: doc}
	named := false
	err := f.members(func(name string) error {
		switch {
		case name == "model":
			at, err := f.value()
			if err == nil {
				r.name, named = textOf(doc, at)
				r.model = doc.in(at)
			}
			return err
		case name == w.member && f.PeekKind() == '[':
			return f.elements(func() error { return w.item(f) })
		}
		return f.skip()
	})
	if err == nil {
		err = f.end()
	}
	if e, ours := errors.AsType[*cutroom.Error](err); ours {
		return r, e
	}
	if err != nil {
		return r, cutroom.Errorf(cutroom.Invalid, "the body is not a JSON object").WithCause(err).WithHint("send one JSON object with a model and %s", w.member)
	}
	if !named {
		return r, cutroom.Errorf(cutroom.Invalid, "the body names no model").WithHint("GET /v1/models lists them")
	}
	r.blocks = f.found
	return r, nil
}

// item looks at one element of the wire's member.
func (w wire) item(f *finder) error {
	if f.PeekKind() != '{' {
		return f.skip()
	}
	var role string
	texts := map[string][2]int{} // the blocks that each member holds
	err := f.members(func(name string) error {
		if _, ok := w.lists[name]; ok {
			from := len(f.found)
			err := f.content()
			texts[name] = [2]int{from, len(f.found)}
			return err
		}
		at, err := f.value()
		if name == "role" && err == nil {
			role, _ = textOf(f.doc, at)
		}
		return err
	})
	for name, some := range texts {
		text := w.lists[name]
		if text == "input_text" && name == "content" && role == "assistant" {
			text = "output_text"
		}
		for i := some[0]; i < some[1]; i++ {
			f.found[i].text = text
		}
	}
	return err
}

// openAIFault is the error document of OpenAI's API.
func openAIFault(_ int, kind, message string) any {
	type fault struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	group := "invalid_request_error"
	switch kind {
	case "unauthorized":
		group = "authentication_error"
	case "unavailable", "internal":
		group = "server_error"
	}
	return struct {
		Error fault `json:"error"`
	}{fault{Message: message, Type: group, Code: kind}}
}

// anthropicFault is the error document of Anthropic's API.
func anthropicFault(status int, _, message string) any {
	group := map[int]string{401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}[status]
	switch {
	case status >= 500:
		group = "api_error"
	case group == "":
		group = "invalid_request_error"
	}
	type fault struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return struct {
		Type  string `json:"type"`
		Error fault  `json:"error"`
	}{"error", fault{group, message}}
}
