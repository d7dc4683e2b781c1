package provider

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	PromptMore struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) neutral() Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{u.Prompt, u.Completion, u.PromptMore.Cached, u.CompletionMore.Reasoning}
}

type chatAnswer struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Index   int            `json:"index"`
		Message jsontext.Value `json:"message"`
		Delta   jsontext.Value `json:"delta"`
		Finish  string         `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage     `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// chatSaid is an assistant's message as services write it.
type chatSaid struct {
	Content jsontext.Value `json:"content"`
	Refusal string         `json:"refusal"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chatWire) reply(doc []byte) (Reply, error) {
	var a chatAnswer
	if err := decode(doc, &a); err != nil {
		return Reply{}, unreadable(doc, err)
	}
	if isComplaint(a.Error) {
		return Reply{}, &embedded{doc}
	}
	if len(a.Choices) == 0 || isNull(a.Choices[0].Message) {
		return Reply{}, faultf(EmptyOrUnparsable, "the answer holds no choice")
	}
	return chatReply(a, a.Choices[0].Message, a.Choices[0].Finish)
}

func chatReply(a chatAnswer, message jsontext.Value, finish string) (Reply, error) {
	m, err := Native{Wire: Chat, JSON: message}.Message()
	if err != nil {
		return Reply{}, unreadable(message, err)
	}
	r := Reply{Message: m, Stop: StopEnd, Usage: a.Usage.neutral(), Model: a.Model, ID: a.ID}
	var s chatSaid
	if err := decode(message, &s); err == nil {
		r.Refusal = s.Refusal
	}
	switch {
	case finish == "content_filter" || r.Refusal != "":
		r.Stop = StopRefused
	case finish == "length":
		r.Stop = StopLength
	case len(m.Calls) > 0:
		r.Stop = StopTools
	}
	return r, nil
}

// chatNeutral reads a message object.
func chatNeutral(message jsontext.Value) (Message, error) {
	var s chatSaid
	if err := decode(message, &s); err != nil {
		return Message{}, err
	}
	m := Message{Role: RoleAssistant}
	text, err := chatText(s.Content)
	if err != nil {
		return Message{}, err
	}
	if text != "" {
		m.Parts = []Part{TextPart(text)}
	}
	for i, c := range s.Calls {
		m.Calls = append(m.Calls, ToolCall{cmp.Or(c.ID, fmt.Sprintf("call_%d", i)), c.Function.Name, textOf(c.Function.Arguments)})
	}
	return m, nil
}

// chatText reads a content that is a text, or an array of parts of which only texts count.
func chatText(v jsontext.Value) (string, error) {
	if isNull(v) {
		return "", nil
	}
	if v.Kind() == '"' {
		return textOf(v), nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := decode(v, &parts); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

var errPieces = errors.New("the answer has too many pieces")

// unreadable is the fault of an answer that has another form than its wire.
func unreadable(doc []byte, err error) *Fault {
	return &Fault{Class: EmptyOrUnparsable, Message: "the answer has not the form of its wire: " + string(doc[:min(len(doc), 2<<10)]), Err: err, cut: len(doc) > 2<<10}
}

// embedded is an error that stands in an answer of status 200.
type embedded struct{ doc []byte }

func (e *embedded) Error() string { return "an error within an answer" }

// listOf is an array of what is JSON already.
func listOf(list []jsontext.Value) jsontext.Value {
	v := jsontext.Value("[")
	for i, e := range list {
		if i > 0 {
			v = append(v, ',')
		}
		v = append(v, e...)
	}
	return append(v, ']')
}
