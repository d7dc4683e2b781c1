package provider

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatGrowing is a call that is being written.
type chatGrowing struct {
	id, name  string
	arguments strings.Builder
	more      map[string]jsontext.Value // what else was said of it
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
	lists  map[string]*strings.Builder // those that are lists: pieces follow each other
	other  map[string]jsontext.Value   // the rest: the last one counts
	calls  []*chatGrowing
	place  map[int]int // a call's index in the stream to its place in calls
	finish string
	seen   bool
	done   bool
}

func (chatWire) gather(on func(Delta)) gatherer {
	return &chatGather{on: on, texts: map[string]*strings.Builder{}, lists: map[string]*strings.Builder{}, other: map[string]jsontext.Value{}, place: map[int]int{}}
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
			text := textOf(value)
			grow(g.texts, name, "", text)
			switch name {
			case "content":
				out.Text = text
			case "reasoning_content", "reasoning":
				out.Thinking = text
			}
		case value.Kind() == '[':
			grow(g.lists, name, ",", strings.TrimSpace(string(value[1:len(value)-1])))
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

// grow adds a piece to one of many texts, behind sep where there is something already.
func grow(m map[string]*strings.Builder, name, sep, piece string) {
	b := m[name]
	if b == nil {
		b = &strings.Builder{}
		m[name] = b
	}
	if b.Len() > 0 && piece != "" {
		b.WriteString(sep)
	}
	b.WriteString(piece)
}

// callDeltas adds pieces of calls. An id that differs from the one at its index begins
// another call: some services count none.
func (g *chatGather) callDeltas(v jsontext.Value) error {
	var list []map[string]jsontext.Value
	if err := decode(v, &list); err != nil {
		return err
	}
	for _, members := range list {
		if err := g.callDelta(members); err != nil {
			return err
		}
	}
	return nil
}

func (g *chatGather) callDelta(members map[string]jsontext.Value) error {
	var index int
	var function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if v := members["index"]; !isNull(v) && decode(v, &index) != nil {
		return errPieces
	}
	if v := members["function"]; !isNull(v) {
		if err := decode(v, &function); err != nil {
			return err
		}
	}
	id := textOf(members["id"])
	at, known := g.place[index]
	if !known || id != "" && g.calls[at].id != "" && id != g.calls[at].id {
		if at = len(g.calls); at >= maxPieces {
			return errPieces
		}
		g.place[index] = at
		g.calls = append(g.calls, &chatGrowing{})
	}
	c := g.calls[at]
	first := c.name == ""
	c.id, c.name = cmp.Or(c.id, id), cmp.Or(c.name, function.Name)
	piece := textOf(function.Arguments)
	if function.Arguments.Kind() == '{' { // the object itself
		piece = string(function.Arguments)
	}
	c.arguments.WriteString(piece)
	if err := c.keep(members); err != nil {
		return err
	}
	out := CallDelta{Index: at, Input: piece}
	if first {
		out.ID, out.Name = c.id, c.name
	}
	g.on(Delta{Call: &out})
	return nil
}

// maxMembers bounds what a call holds besides what we know.
const maxMembers = 32

// keep keeps what we do not know: signatures without which some services do not take the
// call back.
func (c *chatGrowing) keep(members map[string]jsontext.Value) error {
	for name, v := range members {
		switch name {
		case "index", "id", "type", "function":
			continue
		}
		if c.more == nil {
			c.more = map[string]jsontext.Value{}
		}
		if c.more[name] = v; len(c.more) > maxMembers {
			return errPieces
		}
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
	for name, b := range g.lists {
		message[name] = jsontext.Value("[" + b.String() + "]")
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
	var calls []map[string]jsontext.Value
	for i, c := range g.calls {
		function, err := json.Marshal(chatCallBody{c.name, c.arguments.String()}, lenient())
		if err != nil {
			return nil, err
		}
		call := map[string]jsontext.Value{"id": quoted(cmp.Or(c.id, fmt.Sprintf("call_%d", i))), "type": quoted("function"), "function": function}
		maps.Copy(call, c.more)
		calls = append(calls, call)
	}
	return json.Marshal(calls, json.Deterministic(true), lenient())
}
