package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type messagesUsage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
}

func (u messagesUsage) neutral() Usage {
	in, written, read := counted(u.Input), counted(u.Written), counted(u.Read)
	return Usage{Input: in + written + read, Output: u.Output, Cached: u.Read}
}

// add takes what a later event says: numbers that it does not repeat stay.
func (u *messagesUsage) add(v messagesUsage) {
	u.Input, u.Output = cmp.Or(v.Input, u.Input), cmp.Or(v.Output, u.Output)
	u.Written, u.Read = cmp.Or(v.Written, u.Written), cmp.Or(v.Read, u.Read)
}

type messagesAnswer struct {
	Type    string         `json:"type"`
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Content jsontext.Value `json:"content"`
	Stop    string         `json:"stop_reason"`
	Usage   messagesUsage  `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

func (messagesWire) reply(doc []byte) (Reply, error) {
	var a messagesAnswer
	if err := decode(doc, &a); err != nil {
		return Reply{}, unreadable(doc, err)
	}
	if a.Type == "error" || isComplaint(a.Error) {
		return Reply{}, &embedded{doc}
	}
	if a.Content.Kind() != '[' {
		return Reply{}, faultf(EmptyOrUnparsable, "the answer holds no content")
	}
	return messagesReply(a)
}

func messagesReply(a messagesAnswer) (Reply, error) {
	m, err := Native{Wire: Messages, JSON: a.Content}.Message()
	if err != nil {
		return Reply{}, unreadable(a.Content, err)
	}
	r := Reply{Message: m, Stop: StopEnd, Usage: a.Usage.neutral(), Model: a.Model, ID: a.ID}
	switch {
	case a.Stop == "refusal":
		r.Stop, r.Refusal = StopRefused, m.Text()
	case a.Stop == "max_tokens" || a.Stop == "model_context_window_exceeded":
		r.Stop = StopLength
	case len(m.Calls) > 0:
		r.Stop = StopTools
	}
	return r, nil
}

// messagesNeutral reads an array of blocks. What a model thought has no neutral form.
func messagesNeutral(content jsontext.Value) (Message, error) {
	var blocks []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input jsontext.Value `json:"input"`
	}
	if err := decode(content, &blocks); err != nil {
		return Message{}, err
	}
	m := Message{Role: RoleAssistant}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			m.Parts = append(m.Parts, TextPart(b.Text))
		case "tool_use":
			m.Calls = append(m.Calls, ToolCall{b.ID, b.Name, string(b.Input)})
		}
	}
	return m, nil
}

// messagesGather puts a streamed answer together: its blocks as they would have been
// written whole.
type messagesGather struct {
	on     func(Delta)
	answer messagesAnswer
	blocks map[int]*messagesPiece
	calls  int
	done   bool
}

// messagesPiece is a block that is being written.
type messagesPiece struct {
	members map[string]jsontext.Value
	texts   map[string]*strings.Builder // members that grow: text, thinking, signature
	cites   []jsontext.Value
	input   strings.Builder // of a call, as JSON text
	call    int             // which call it is, -1 for none
}

type messagesEvent struct {
	Type    string                    `json:"type"`
	Index   int                       `json:"index"`
	Message messagesAnswer            `json:"message"`
	Block   map[string]jsontext.Value `json:"content_block"`
	Delta   struct {
		Type      string         `json:"type"`
		Text      string         `json:"text"`
		Thinking  string         `json:"thinking"`
		Signature string         `json:"signature"`
		Partial   string         `json:"partial_json"`
		Citation  jsontext.Value `json:"citation"`
		Stop      string         `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage  `json:"usage"`
	Error jsontext.Value `json:"error"`
}

func (messagesWire) gather(on func(Delta)) gatherer {
	return &messagesGather{on: on, blocks: map[int]*messagesPiece{}}
}

func (g *messagesGather) take(e event) (bool, error) {
	var v messagesEvent
	if err := decode(e.data, &v); err != nil {
		return false, unreadable(e.data, err)
	}
	switch cmp.Or(v.Type, e.name) {
	case "error":
		return false, &embedded{e.data}
	case "message_start":
		g.answer.ID, g.answer.Model = v.Message.ID, v.Message.Model
		g.answer.Usage.add(v.Message.Usage)
	case "content_block_start":
		return false, g.begin(v)
	case "content_block_delta":
		if b := g.blocks[v.Index]; b != nil {
			g.piece(b, v)
		}
	case "message_delta":
		g.answer.Stop = cmp.Or(v.Delta.Stop, g.answer.Stop)
		g.answer.Usage.add(v.Usage)
	case "message_stop":
		g.done = true
	}
	return g.done, nil
}

// inOrder are the blocks that are calls.
func (g *messagesGather) inOrder() []*messagesPiece {
	var calls []*messagesPiece
	for _, i := range slices.Sorted(maps.Keys(g.blocks)) {
		if b := g.blocks[i]; b.call >= 0 {
			calls = append(calls, b)
		}
	}
	return calls
}

func (g *messagesGather) begin(v messagesEvent) error {
	if len(g.blocks) >= maxPieces || v.Block == nil {
		return faultf(EmptyOrUnparsable, "the answer has a block that cannot be read")
	}
	b := &messagesPiece{members: v.Block, texts: map[string]*strings.Builder{}, call: -1}
	for _, name := range []string{"text", "thinking", "signature"} {
		if v := b.members[name]; v.Kind() == '"' {
			grow(b.texts, name, "", textOf(v))
		}
	}
	g.blocks[v.Index] = b
	switch textOf(b.members["type"]) {
	case "tool_use":
		b.call = g.calls
		g.calls++
		g.on(Delta{Call: &CallDelta{Index: b.call, ID: textOf(b.members["id"]), Name: textOf(b.members["name"])}})
	case "text":
		if text := textOf(b.members["text"]); text != "" {
			g.on(Delta{Text: text})
		}
	}
	return nil
}

func (g *messagesGather) piece(b *messagesPiece, v messagesEvent) {
	switch d := v.Delta; d.Type {
	case "text_delta":
		grow(b.texts, "text", "", d.Text)
		g.on(Delta{Text: d.Text})
	case "thinking_delta":
		grow(b.texts, "thinking", "", d.Thinking)
		g.on(Delta{Thinking: d.Thinking})
	case "signature_delta":
		grow(b.texts, "signature", "", d.Signature)
	case "input_json_delta":
		b.input.WriteString(d.Partial)
		if b.call >= 0 && d.Partial != "" {
			g.on(Delta{Call: &CallDelta{Index: b.call, Input: d.Partial}})
		}
	case "citations_delta":
		b.cites = append(b.cites, d.Citation)
	}
}

func (g *messagesGather) reply() (Reply, bool, error) {
	var list []jsontext.Value
	for _, i := range slices.Sorted(maps.Keys(g.blocks)) {
		b := g.blocks[i]
		for name, text := range b.texts {
			b.members[name] = quoted(text.String())
		}
		if len(b.cites) > 0 {
			b.members["citations"] = listOf(b.cites)
		}
		if b.input.Len() > 0 {
			b.members["input"] = ToolCall{Input: b.input.String()}.object()
		}
		v, err := json.Marshal(b.members, json.Deterministic(true), lenient())
		if err != nil {
			return Reply{}, false, err
		}
		list = append(list, v)
	}
	g.answer.Content = listOf(list)
	r, err := messagesReply(g.answer)
	for i, b := range g.inOrder() { // a call's input as the model wrote it, broken or not
		if err == nil && b.input.Len() > 0 && i < len(r.Message.Calls) {
			r.Message.Calls[i].Input = b.input.String()
		}
	}
	return r, g.done, err
}
