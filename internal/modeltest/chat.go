package modeltest

import (
	"encoding/json"
	"net/http"
)

// The OpenAI Chat Completions wire: POST …/chat/completions.

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

func readChat(body []byte) (*conversation, error) {
	var req struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string     `json:"role"`
			Content    content    `json:"content"`
			ToolCalls  []chatCall `json:"tool_calls"`
			ToolCallID string     `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	if len(req.Messages) == 0 {
		return nil, errNoConversation
	}
	c := &conversation{stream: req.Stream, model: req.Model}
	for _, t := range req.Tools {
		c.tools = append(c.tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	for _, m := range req.Messages {
		if m.Role == "tool" {
			c.entries = append(c.entries, entry{callID: m.ToolCallID, result: m.Content.result()})
			continue
		}
		c.entries = append(c.entries, m.Content.entries(roleOf(m.Role))...)
		for _, call := range m.ToolCalls {
			c.entries = append(c.entries, entry{
				role: assistant, callID: call.ID, call: &Call{call.Function.Name, json.RawMessage(call.Function.Arguments)},
			})
		}
	}
	return c, nil
}

type chatMessage struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatChoice struct {
	Index   int          `json:"index"`
	Message *chatMessage `json:"message,omitempty"`
	Delta   *chatMessage `json:"delta,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type chatAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

func answerChat(w http.ResponseWriter, a answer) {
	msg, finish := chatMessage{Role: "assistant"}, "stop"
	if a.text != "" {
		msg.Content = &a.text
	}
	for _, c := range a.calls {
		finish = "tool_calls"
		msg.ToolCalls = append(msg.ToolCalls, chatCall{ID: c.id, Type: "function", Function: chatFunction{c.tool.Name, string(c.arguments)}})
	}
	usage := &chatUsage{a.tokens, a.said(), a.tokens + a.said()}
	out := chatAnswer{ID: "chatcmpl-" + a.nonce, Object: "chat.completion", Created: a.at.Unix(), Model: a.model}
	if !a.stream {
		out.Choices, out.Usage = []chatChoice{{Message: &msg, Finish: &finish}}, usage
		reply(w, http.StatusOK, out)
		return
	}
	out.Object = "chat.completion.chunk"
	s := newStream(w)
	send := func(delta chatMessage, finish *string) {
		out.Choices = []chatChoice{{Delta: &delta, Finish: finish}}
		s.data(out)
	}
	empty := ""
	send(chatMessage{Role: "assistant", Content: &empty}, nil)
	if msg.Content != nil {
		send(chatMessage{Content: msg.Content}, nil)
	}
	for i, c := range msg.ToolCalls { // the name first, the arguments after it: as the real service streams
		send(chatMessage{ToolCalls: []chatCall{{Index: &i, ID: c.ID, Type: c.Type, Function: chatFunction{Name: c.Function.Name}}}}, nil)
		send(chatMessage{ToolCalls: []chatCall{{Index: &i, Function: chatFunction{Arguments: c.Function.Arguments}}}}, nil)
	}
	send(chatMessage{}, &finish)
	out.Choices, out.Usage = []chatChoice{}, usage
	s.data(out)
	s.raw("data: [DONE]\n\n")
}
