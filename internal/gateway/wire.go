package gateway

import (
	"fmt"

	"cutroom"
	"cutroom/internal/provider"
)

// wire is one form of request that models are asked by.
type wire struct {
	name provider.Wire
	path string // of the request, as the door serves it and beneath an upstream's base address
	// blocks finds the lists of content of a request's member.
	member string
	blocks func(f *finder, item map[string]span) error
	// fault is an error in the form that clients of the wire read.
	fault func(status int, kind, message string) any
}

// The wires: OpenAI's Chat Completions and Responses, Anthropic's Messages.
var (
	chat      = wire{provider.Chat, "/chat/completions", "messages", chatBlocks, openAIFault}
	responses = wire{provider.Responses, "/responses", "input", responsesBlocks, openAIFault}
	messages  = wire{provider.Messages, "/messages", "messages", chatBlocks, anthropicFault}
)

var wires = []wire{chat, responses, messages}

// chatBlocks are those of a message.
func chatBlocks(f *finder, item map[string]span) error {
	if at, ok := item["content"]; ok {
		return f.content(at, "text")
	}
	return nil
}

// responsesBlocks are those of an item: a message, or what a call answered.
func responsesBlocks(f *finder, item map[string]span) error {
	if at, ok := item["content"]; ok {
		kind := "input_text"
		if role, _ := textOf(f.doc, item["role"]); role == "assistant" {
			kind = "output_text"
		}
		if err := f.content(at, kind); err != nil {
			return err
		}
	}
	if at, ok := item["output"]; ok {
		return f.content(at, "input_text")
	}
	return nil
}

// request is a body with the places that matter.
type request struct {
	doc    []byte
	model  span
	name   string // of the model
	member span   // what blocks are looked for in; zero when there is none
}

// read finds the model of a request.
func (w wire) read(doc []byte) (request, error) {
	r := request{doc: doc}
	m, err := fields(doc, span{0, len(doc)})
	if err != nil {
		return r, cutroom.Errorf(cutroom.Invalid, "the body is not a JSON object").WithCause(err).WithHint("send one JSON object with a model and %s", w.member)
	}
	var ok bool
	r.model = m["model"]
	if r.name, ok = textOf(doc, r.model); !ok {
		return r, cutroom.Errorf(cutroom.Invalid, "the body names no model").WithHint("GET /v1/models lists them")
	}
	r.member = m[w.member]
	return r, nil
}

// media finds the media blocks of a request. What has another form than this wire's
// holds none.
func (w wire) media(r request) ([]block, error) {
	f := &finder{doc: r.doc}
	if r.member.to == 0 || r.doc[r.member.from] != '[' {
		return nil, nil
	}
	err := elements(r.doc, r.member, func(at span) error {
		if r.doc[at.from] != '{' {
			return nil
		}
		item, err := fields(r.doc, at)
		if err != nil {
			return err
		}
		return w.blocks(f, item)
	})
	if err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	return f.found, nil
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
	group := map[int]string{401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 502: "api_error", 500: "api_error"}[status]
	if group == "" {
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
