package provider

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
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

// chatGrowing is a call that is being written.
type chatGrowing struct {
	id, name  string
	arguments strings.Builder
}

// maxPieces bounds the calls, blocks and members of one answer: each is a value of its
// own, so that many small ones would cost far more than their bytes.
const maxPieces = 4096

// chatGather puts a streamed answer together: the message object as the service would
// have written it whole.
type chatGather struct {
	on     func(Delta)
	answer chatAnswer
	texts  map[string]*strings.Builder // members of the message that are texts: content, refusal, reasoning …
	lists  map[string][]jsontext.Value // those that are lists: pieces follow each other
	other  map[string]jsontext.Value   // the rest: the last one counts
	calls  []*chatGrowing
	place  map[int]int // a call's index in the stream to its place in calls
	finish string
	seen   bool
	done   bool
}

func (chatWire) gather(on func(Delta)) gatherer {
	return &chatGather{on: on, texts: map[string]*strings.Builder{}, lists: map[string][]jsontext.Value{}, other: map[string]jsontext.Value{}, place: map[int]int{}}
}

func (g *chatGather) take(e event) (bool, error) {
	if string(e.data) == "[DONE]" {
		g.done = true
		return true, nil
	}
	var a chatAnswer
	if err := decode(e.data, &a); err != nil {
		return false, unreadable(e.data, err)
	}
	if isComplaint(a.Error) || e.name == "error" {
		return false, &embedded{e.data}
	}
	g.answer.ID, g.answer.Model = cmp.Or(a.ID, g.answer.ID), cmp.Or(a.Model, g.answer.Model)
	if a.Usage != nil {
		g.answer.Usage = a.Usage
	}
	for _, c := range a.Choices {
		if c.Index != 0 {
			continue
		}
		g.finish = cmp.Or(c.Finish, g.finish)
		delta := c.Delta
		if isNull(delta) {
			delta = c.Message
		}
		if err := g.delta(delta); err != nil {
			return false, unreadable(e.data, err)
		}
	}
	return false, nil
}

// delta adds one piece of the message.
func (g *chatGather) delta(v jsontext.Value) error {
	if isNull(v) {
		return nil
	}
	var members map[string]jsontext.Value
	if err := decode(v, &members); err != nil {
		return err
	}
	g.seen = true
	var out Delta
	for name, value := range members {
		switch {
		case name == "role" || isNull(value):
		case name == "tool_calls":
			if err := g.callDeltas(value); err != nil {
				return err
			}
		case value.Kind() == '"':
			b := g.texts[name]
			if b == nil {
				b = &strings.Builder{}
				g.texts[name] = b
			}
			text := textOf(value)
			b.WriteString(text)
			switch name {
			case "content":
				out.Text = text
			case "reasoning_content", "reasoning":
				out.Thinking = text
			}
		case value.Kind() == '[':
			var more []jsontext.Value
			if err := decode(value, &more); err != nil {
				return err
			}
			g.lists[name] = append(g.lists[name], more...)
		default:
			g.other[name] = value
		}
	}
	if out.Text != "" || out.Thinking != "" {
		g.on(out)
	}
	if len(g.texts)+len(g.lists)+len(g.other)+len(g.calls) > maxPieces {
		return errPieces
	}
	return nil
}

// callDeltas adds pieces of calls. An id that differs from the one at its index begins
// another call: some services count none.
func (g *chatGather) callDeltas(v jsontext.Value) error {
	var list []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
	}
	if err := decode(v, &list); err != nil {
		return err
	}
	for _, d := range list {
		at, known := g.place[d.Index]
		if !known || d.ID != "" && g.calls[at].id != "" && d.ID != g.calls[at].id {
			at = len(g.calls)
			g.place[d.Index] = at
			g.calls = append(g.calls, &chatGrowing{})
		}
		c := g.calls[at]
		first := c.name == ""
		c.id, c.name = cmp.Or(c.id, d.ID), cmp.Or(c.name, d.Function.Name)
		piece := textOf(d.Function.Arguments)
		if d.Function.Arguments.Kind() == '{' { // the object itself
			piece = string(d.Function.Arguments)
		}
		c.arguments.WriteString(piece)
		out := CallDelta{Index: at, Input: piece}
		if first {
			out.ID, out.Name = c.id, c.name
		}
		g.on(Delta{Call: &out})
	}
	return nil
}

func (g *chatGather) reply() (Reply, bool, error) {
	message := map[string]jsontext.Value{"role": jsontext.Value(`"assistant"`), "content": jsontext.Value(`null`)}
	for name, v := range g.other {
		message[name] = v
	}
	for name, b := range g.texts {
		if b.Len() > 0 || name == "content" {
			message[name] = quoted(b.String())
		}
	}
	for name, list := range g.lists {
		message[name] = listOf(list)
	}
	if len(g.calls) > 0 {
		v, err := g.written()
		if err != nil {
			return Reply{}, false, err
		}
		message["tool_calls"] = v
	}
	v, err := json.Marshal(message, json.Deterministic(true), lenient())
	if err != nil {
		return Reply{}, false, err
	}
	r, err := chatReply(g.answer, v, g.finish)
	return r, g.done || g.finish != "", err
}

func (g *chatGather) written() (jsontext.Value, error) {
	var calls []chatCall
	for i, c := range g.calls {
		calls = append(calls, chatCall{cmp.Or(c.id, fmt.Sprintf("call_%d", i)), "function", chatCallBody{c.name, c.arguments.String()}})
	}
	return json.Marshal(calls, lenient())
}

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
