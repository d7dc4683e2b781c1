package modeltest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// The OpenAI Responses wire: POST …/responses.

// responsesTool is a function, or a namespace of functions.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

// responsesItem is an element of the input.
type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   content         `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"` // of a custom tool's call
	Output    content         `json:"output"`
	Tools     []responsesTool `json:"tools"` // of a search's output, or added on the way
}

// responsesInput is a list of items, or the text of one.
type responsesInput []responsesItem

func (in *responsesInput) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' {
		*in = responsesInput{{Type: "message", Role: "user"}}
		return (*in)[0].Content.UnmarshalJSON(raw)
	}
	return json.Unmarshal(raw, (*[]responsesItem)(in))
}

func readResponses(body []byte) (*conversation, error) {
	var req struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        responsesInput  `json:"input"`
		Tools        []responsesTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	if len(req.Input) == 0 {
		return nil, errNoConversation
	}
	c := &conversation{stream: req.Stream, model: req.Model}
	if req.Instructions != "" {
		c.entries = append(c.entries, entry{role: system, text: req.Instructions})
	}
	c.addTools(req.Tools, "")
	for _, i := range req.Input {
		c.addTools(i.Tools, "")
		switch {
		case strings.HasSuffix(i.Type, "_call_output"):
			c.entries = append(c.entries, entry{callID: i.CallID, result: i.Output.result()})
		case strings.HasSuffix(i.Type, "_call"):
			c.entries = append(c.entries, entry{role: assistant, callID: i.CallID, call: &Call{i.Name, unquoted(i.Arguments, i.Input)}})
		case i.Type == "message" || i.Type == "" && i.Role != "":
			c.entries = append(c.entries, i.Content.entries(roleOf(i.Role))...)
		}
	}
	return c, nil
}

// addTools takes the functions of a list; those of a namespace keep its name.
func (c *conversation) addTools(list []responsesTool, namespace string) {
	for _, t := range list {
		if t.Type == "namespace" {
			c.addTools(t.Tools, t.Name)
		} else if t.Name != "" {
			c.tools = append(c.tools, Tool{t.Name, namespace, t.Description, t.Parameters})
		}
	}
}

// unquoted are arguments, which this wire carries as a text that holds JSON.
func unquoted(either, or json.RawMessage) json.RawMessage {
	if len(either) == 0 {
		either = or
	}
	var text string
	if json.Unmarshal(either, &text) == nil {
		return json.RawMessage(text)
	}
	return either
}

// responsesPart is the content of a message that the model says.
type responsesPart struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

// responsesOut is an item of the output.
type responsesOut struct {
	Type      string           `json:"type"`
	ID        string           `json:"id"`
	Status    string           `json:"status"`
	Role      string           `json:"role,omitempty"`
	Content   *[]responsesPart `json:"content,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Namespace string           `json:"namespace,omitempty"`
	Execution string           `json:"execution,omitempty"`
	Arguments any              `json:"arguments,omitempty"` // of a function a text that holds JSON, of a search an object
}

// searchArguments are those of a tool_search_call.
type searchArguments struct {
	Query string `json:"query"`
}

type responsesUsage struct {
	Input       int `json:"input_tokens"`
	InputDetail struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output       int `json:"output_tokens"`
	OutputDetail struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

type responsesAnswer struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	CreatedAt int64           `json:"created_at"`
	Model     string          `json:"model"`
	Status    string          `json:"status"`
	Output    []responsesOut  `json:"output"`
	Usage     *responsesUsage `json:"usage"`
}

// responsesEvent is one event of the stream; each type uses its own members.
type responsesEvent struct {
	Type      string           `json:"type"`
	Sequence  int              `json:"sequence_number"`
	Response  *responsesAnswer `json:"response,omitempty"`
	Output    *int             `json:"output_index,omitempty"`
	Content   *int             `json:"content_index,omitempty"`
	ItemID    string           `json:"item_id,omitempty"`
	Item      *responsesOut    `json:"item,omitempty"`
	Part      *responsesPart   `json:"part,omitempty"`
	Delta     string           `json:"delta,omitempty"`
	Text      string           `json:"text,omitempty"`
	Arguments string           `json:"arguments,omitempty"`
}

func answerResponses(w http.ResponseWriter, a answer) {
	out := []responsesOut{}
	if a.text != "" {
		parts := []responsesPart{{"output_text", a.text, []string{}}}
		out = append(out, responsesOut{Type: "message", ID: "msg_" + a.nonce, Status: "completed", Role: "assistant", Content: &parts})
	}
	for _, c := range a.calls {
		out = append(out, responsesOut{
			Type: "function_call", ID: "fc_" + c.id, CallID: c.id, Status: "completed",
			Name: c.tool.Name, Namespace: c.tool.Namespace, Arguments: string(c.arguments),
		})
	}
	if q := a.search; q != nil {
		out = append(out, responsesOut{
			Type: "tool_search_call", ID: "tsc_" + q.id, CallID: q.id, Status: "completed", Execution: "client", Arguments: searchArguments{q.words},
		})
	}
	begun := responsesAnswer{
		ID: "resp_" + a.nonce, Object: "response", CreatedAt: a.at.Unix(), Model: a.model, Status: "in_progress", Output: []responsesOut{},
	}
	done := begun
	done.Status, done.Output = "completed", out
	done.Usage = &responsesUsage{Input: a.tokens, Output: a.said(), Total: a.tokens + a.said()}
	if !a.stream {
		reply(w, http.StatusOK, done)
		return
	}
	s := newStream(w)
	n := 0
	send := func(e responsesEvent) {
		e.Sequence = n
		n++
		s.event(e.Type, e)
	}
	send(responsesEvent{Type: "response.created", Response: &begun})
	for i, o := range out {
		sendItem(send, i, o)
	}
	send(responsesEvent{Type: "response.completed", Response: &done})
}

// sendItem streams one item of the output.
func sendItem(send func(responsesEvent), i int, o responsesOut) {
	begun, first := o, 0
	begun.Status = "in_progress"
	if o.Content != nil {
		text, none := (*o.Content)[0], responsesPart{"output_text", "", []string{}}
		begun.Content = &[]responsesPart{}
		send(responsesEvent{Type: "response.output_item.added", Output: &i, Item: &begun})
		send(responsesEvent{Type: "response.content_part.added", Output: &i, Content: &first, ItemID: o.ID, Part: &none})
		send(responsesEvent{Type: "response.output_text.delta", Output: &i, Content: &first, ItemID: o.ID, Delta: text.Text})
		send(responsesEvent{Type: "response.output_text.done", Output: &i, Content: &first, ItemID: o.ID, Text: text.Text})
		send(responsesEvent{Type: "response.content_part.done", Output: &i, Content: &first, ItemID: o.ID, Part: &text})
	} else if text, ok := o.Arguments.(string); ok {
		begun.Arguments = ""
		send(responsesEvent{Type: "response.output_item.added", Output: &i, Item: &begun})
		send(responsesEvent{Type: "response.function_call_arguments.delta", Output: &i, ItemID: o.ID, Delta: text})
		send(responsesEvent{Type: "response.function_call_arguments.done", Output: &i, ItemID: o.ID, Arguments: text})
	} else {
		send(responsesEvent{Type: "response.output_item.added", Output: &i, Item: &begun})
	}
	send(responsesEvent{Type: "response.output_item.done", Output: &i, Item: &o})
}
