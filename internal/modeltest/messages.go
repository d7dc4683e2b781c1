package modeltest

import (
	"encoding/json"
	"net/http"
)

// The Anthropic Messages wire: POST …/messages, …/messages/count_tokens.

func readMessages(body []byte) (*conversation, error) {
	var req struct {
		Model    string  `json:"model"`
		Stream   bool    `json:"stream"`
		System   content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	if len(req.Messages) == 0 {
		return nil, errNoConversation
	}
	c := &conversation{stream: req.Stream, model: req.Model, entries: req.System.entries(system)}
	for _, t := range req.Tools {
		c.tools = append(c.tools, Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	for _, m := range req.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				c.entries = append(c.entries, entry{role: assistant, callID: b.ID, call: &Call{b.Name, b.Input}})
			case "tool_result":
				c.entries = append(c.entries, entry{callID: b.ToolUseID, result: b.Content.result()})
			default:
				c.entries = append(c.entries, content{b}.entries(roleOf(m.Role))...)
			}
		}
	}
	return c, nil
}

// messagesBlock is a part of the answer.
type messagesBlock struct {
	Type  string          `json:"type"`
	Text  *string         `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type messagesUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

type messagesAnswer struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Role         string          `json:"role"`
	Model        string          `json:"model"`
	Content      []messagesBlock `json:"content"`
	StopReason   *string         `json:"stop_reason"`
	StopSequence *string         `json:"stop_sequence"`
	Usage        messagesUsage   `json:"usage"`
}

// messagesEvent is one event of the stream; each type uses its own members.
type messagesEvent struct {
	Type    string          `json:"type"`
	Message *messagesAnswer `json:"message,omitempty"`
	Index   *int            `json:"index,omitempty"`
	Block   *messagesBlock  `json:"content_block,omitempty"`
	Delta   *messagesDelta  `json:"delta,omitempty"`
	Usage   *messagesUsage  `json:"usage,omitempty"`
}

type messagesDelta struct {
	Type        string  `json:"type,omitempty"`
	Text        string  `json:"text,omitempty"`
	PartialJSON string  `json:"partial_json,omitempty"`
	StopReason  *string `json:"stop_reason,omitempty"`
}

func answerMessages(w http.ResponseWriter, a answer) {
	stop := "end_turn"
	blocks := []messagesBlock{}
	if a.text != "" {
		blocks = append(blocks, messagesBlock{Type: "text", Text: &a.text})
	}
	for _, c := range a.calls {
		stop = "tool_use"
		blocks = append(blocks, messagesBlock{Type: "tool_use", ID: c.id, Name: c.tool.Name, Input: c.arguments})
	}
	msg := messagesAnswer{
		ID: "msg_" + a.nonce, Type: "message", Role: "assistant", Model: a.model, Content: []messagesBlock{},
		Usage: messagesUsage{Input: a.tokens, Output: 1},
	}
	if !a.stream {
		msg.Content, msg.StopReason, msg.Usage.Output = blocks, &stop, a.said()
		reply(w, http.StatusOK, msg)
		return
	}
	events := []messagesEvent{{Type: "message_start", Message: &msg}}
	for i, b := range blocks {
		start, delta := b, messagesDelta{Type: "text_delta"}
		if b.Text != nil {
			empty := ""
			delta.Text, start.Text = *b.Text, &empty
		} else {
			delta = messagesDelta{Type: "input_json_delta", PartialJSON: string(b.Input)}
			start.Input = json.RawMessage("{}")
		}
		events = append(
			events,
			messagesEvent{Type: "content_block_start", Index: &i, Block: &start},
			messagesEvent{Type: "content_block_delta", Index: &i, Delta: &delta},
			messagesEvent{Type: "content_block_stop", Index: &i},
		)
	}
	events = append(
		events,
		messagesEvent{Type: "message_delta", Delta: &messagesDelta{StopReason: &stop}, Usage: &messagesUsage{Input: a.tokens, Output: a.said()}},
		messagesEvent{Type: "message_stop"},
	)
	s := newStream(w)
	for _, e := range events {
		s.event(e.Type, e)
	}
}
