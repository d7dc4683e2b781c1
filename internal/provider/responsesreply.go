package provider

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

type responsesAnswer struct {
	ID         string         `json:"id"`
	Model      string         `json:"model"`
	Status     string         `json:"status"`
	Error      jsontext.Value `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output jsontext.Value `json:"output"`
	Usage  struct {
		Input     int64 `json:"input_tokens"`
		Output    int64 `json:"output_tokens"`
		InputMore struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputMore struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func (responsesWire) reply(doc []byte) (Reply, error) {
	var a responsesAnswer
	if err := decode(doc, &a); err != nil {
		return Reply{}, unreadable(doc, err)
	}
	if isComplaint(a.Error) || a.Status == "failed" {
		return Reply{}, &embedded{doc}
	}
	if a.Output.Kind() != '[' {
		return Reply{}, faultf(EmptyOrUnparsable, "the answer holds no output")
	}
	return responsesReply(a)
}

func responsesReply(a responsesAnswer) (Reply, error) {
	m, err := Native{Wire: Responses, JSON: a.Output}.Message()
	if err != nil {
		return Reply{}, unreadable(a.Output, err)
	}
	u := a.Usage
	r := Reply{Message: m, Stop: StopEnd, Usage: Usage{u.Input, u.Output, u.InputMore.Cached, u.OutputMore.Reasoning}, Model: a.Model, ID: a.ID}
	if r.Refusal = responsesRefusal(a.Output); r.Refusal != "" || a.Incomplete.Reason == "content_filter" {
		r.Stop = StopRefused
	} else if a.Status == "incomplete" {
		r.Stop = StopLength
	} else if len(m.Calls) > 0 {
		r.Stop = StopTools
	}
	return r, nil
}

type responsesOutputItem struct {
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	CallID    string `json:"call_id"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// responsesItemsOf reads the items of an output of the types that mean something to us.
func responsesItemsOf(output jsontext.Value) ([]responsesOutputItem, error) {
	var items []jsontext.Value
	if err := decode(output, &items); err != nil {
		return nil, err
	}
	var list []responsesOutputItem
	for _, v := range items {
		var t struct {
			Type string `json:"type"`
		}
		if err := decode(v, &t); err != nil {
			return nil, err
		}
		if t.Type != "message" && t.Type != "function_call" {
			continue
		}
		var i responsesOutputItem
		if err := decode(v, &i); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, nil
}

func responsesNeutral(output jsontext.Value) (Message, error) {
	items, err := responsesItemsOf(output)
	m := Message{Role: RoleAssistant}
	for _, i := range items {
		if i.Type == "function_call" {
			m.Calls = append(m.Calls, ToolCall{cmp.Or(i.CallID, i.ID), i.Name, i.Arguments})
			continue
		}
		for _, c := range i.Content {
			if c.Type == "output_text" {
				m.Parts = append(m.Parts, TextPart(c.Text))
			}
		}
	}
	return m, err
}

func responsesRefusal(output jsontext.Value) (text string) {
	items, _ := responsesItemsOf(output)
	for _, i := range items {
		for _, c := range i.Content {
			text += c.Refusal
		}
	}
	return text
}

// responsesGather puts a streamed answer together. The last event holds it whole; where a
// service leaves its output empty there, the items as they were done count.
type responsesGather struct {
	on     func(Delta)
	answer responsesAnswer
	items  map[int]jsontext.Value
	calls  map[int]int // an item's index to that of its call
	done   bool
}

type responsesEvent struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    jsontext.Value  `json:"delta"`
	Item     jsontext.Value  `json:"item"`
	Response responsesAnswer `json:"response"`
}

func (responsesWire) gather(on func(Delta)) gatherer {
	return &responsesGather{on: on, items: map[int]jsontext.Value{}, calls: map[int]int{}}
}

func (g *responsesGather) take(e event) (bool, error) {
	if string(e.data) == "[DONE]" {
		return true, nil
	}
	var v responsesEvent
	if err := decode(e.data, &v); err != nil {
		return false, unreadable(e.data, err)
	}
	switch cmp.Or(v.Type, e.name) {
	case "error":
		return false, &embedded{e.data}
	case "response.failed":
		return false, &embedded{responseOf(e.data)}
	case "response.output_text.delta":
		g.on(Delta{Text: textOf(v.Delta)})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		g.on(Delta{Thinking: textOf(v.Delta)})
	case "response.output_item.added":
		var i responsesOutputItem
		if decode(v.Item, &i) == nil && i.Type == "function_call" {
			g.calls[v.Index] = len(g.calls)
			g.on(Delta{Call: &CallDelta{Index: g.calls[v.Index], ID: cmp.Or(i.CallID, i.ID), Name: i.Name}})
		}
	case "response.function_call_arguments.delta":
		if at, known := g.calls[v.Index]; known {
			g.on(Delta{Call: &CallDelta{Index: at, Input: textOf(v.Delta)}})
		}
	case "response.output_item.done":
		if !isNull(v.Item) {
			g.items[v.Index] = v.Item.Clone()
		}
	case "response.completed", "response.incomplete", "response.done":
		g.answer, g.done = v.Response, true
	}
	if len(g.items)+len(g.calls) > maxPieces {
		return false, unreadable(nil, errPieces)
	}
	return g.done, nil
}

// responseOf is the response within an event, the event itself where there is none.
func responseOf(doc []byte) []byte {
	var v struct {
		Response jsontext.Value `json:"response"`
	}
	if decode(doc, &v) != nil || isNull(v.Response) {
		return doc
	}
	return v.Response
}

func (g *responsesGather) reply() (Reply, bool, error) {
	var whole []jsontext.Value
	if g.answer.Output.Kind() != '[' || decode(g.answer.Output, &whole) == nil && len(whole) == 0 {
		var list []jsontext.Value
		for _, i := range slices.Sorted(maps.Keys(g.items)) {
			list = append(list, g.items[i])
		}
		g.answer.Output = listOf(list)
	}
	r, err := responsesReply(g.answer)
	return r, g.done, err
}
