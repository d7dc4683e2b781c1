package agenttest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// Read reads a request as the service would: its messages and tools. The error is the
// complaint that a service would answer with.
func Read(in providertest.Request) (provider.Request, error) {
	var r provider.Request
	var err error
	switch in.Wire {
	case provider.Chat:
		r, err = readChat(in.Body)
	case provider.Messages:
		r, err = readMessages(in.Body)
	default:
		err = fmt.Errorf("the wire %q is not spoken here", in.Wire)
	}
	if err == nil {
		err = inTurn(r.Messages)
	}
	return r, err
}

// inTurn refuses what both services refuse: calls have to be answered, all of them and
// nothing else, before anything more is said.
func inTurn(list []provider.Message) error {
	open := map[string]bool{}
	spoken := false
	for i, m := range list {
		if m.Role == provider.RoleTool {
			if !open[m.CallID] {
				return fmt.Errorf("messages[%d]: %q answers no call of the message before it", i, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: an assistant message with tool calls must be followed by an answer to each of them", i)
		}
		for _, c := range m.Calls {
			if c.ID == "" || open[c.ID] {
				return fmt.Errorf("messages[%d]: the id %q of a call is empty or stands twice", i, c.ID)
			}
			open[c.ID] = true
		}
		spoken = spoken || m.Role == provider.RoleUser
	}
	switch {
	case len(open) > 0:
		return errors.New("an assistant message with tool calls must be followed by an answer to each of them")
	case !spoken:
		return errors.New("there is no message of the user")
	}
	return nil
}

type chatBody struct {
	Messages []struct {
		Role    provider.Role  `json:"role"`
		Content jsontext.Value `json:"content"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		CallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  jsontext.Value `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

func readChat(body []byte) (provider.Request, error) {
	var in chatBody
	var r provider.Request
	if err := json.Unmarshal(body, &in); err != nil {
		return r, fmt.Errorf("the body is no request of this wire: %w", err)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, provider.Tool{Name: t.Function.Name, Doc: t.Function.Description, Schema: t.Function.Parameters})
	}
	for i, m := range in.Messages {
		parts, err := partsOf(m.Content)
		if err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		out := provider.Message{Role: m.Role, Parts: parts, CallID: m.CallID}
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
		}
		if err := roleFits(out); err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		r.Messages = append(r.Messages, out)
	}
	return r, nil
}

func roleFits(m provider.Message) error {
	switch {
	case m.Role == provider.RoleTool && m.CallID == "":
		return errors.New("a tool's message names no call")
	case m.Role != provider.RoleTool && m.CallID != "", m.Role != provider.RoleAssistant && len(m.Calls) > 0:
		return fmt.Errorf("a message of the role %q has no such member", m.Role)
	case m.Role == provider.RoleAssistant && len(m.Calls) == 0 && len(m.Parts) == 0:
		return errors.New("a message of the assistant is empty")
	}
	switch m.Role {
	case provider.RoleSystem, provider.RoleUser, provider.RoleAssistant, provider.RoleTool:
		return nil
	}
	return fmt.Errorf("there is no role %q", m.Role)
}

// block is an element of a content array, on either wire.
type block struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	} `json:"source"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Input   jsontext.Value `json:"input"`
	CallID  string         `json:"tool_use_id"`
	Failed  bool           `json:"is_error"`
	Content jsontext.Value `json:"content"`
}

func blocksOf(content jsontext.Value) ([]block, error) {
	switch content.Kind() {
	case '[':
		var list []block
		err := json.Unmarshal(content, &list)
		return list, err
	case '"':
		var text string
		err := json.Unmarshal(content, &text)
		return []block{{Type: "text", Text: text}}, err
	case 'n', 0:
		return nil, nil
	}
	return nil, errors.New("content is neither a text nor a list")
}

func (b block) part() (provider.Part, error) {
	switch b.Type {
	case "text":
		return provider.TextPart(b.Text), nil
	case "image":
		return provider.Part{Kind: provider.Image, Type: b.Source.Media, Data: b.Source.Data}, nil
	case "image_url":
		head, data, _ := strings.Cut(strings.TrimPrefix(b.Image.URL, "data:"), ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		return provider.Part{Kind: provider.Image, Type: head, Data: raw}, err
	case "thinking", "redacted_thinking":
		return provider.Part{}, nil
	}
	return provider.Part{}, fmt.Errorf("a block of the type %q is not taken here", b.Type)
}

func partsOf(content jsontext.Value) ([]provider.Part, error) {
	blocks, err := blocksOf(content)
	if err != nil {
		return nil, err
	}
	return plainParts(blocks)
}

func plainParts(blocks []block) ([]provider.Part, error) {
	var parts []provider.Part
	for _, b := range blocks {
		p, err := b.part()
		if err != nil {
			return nil, err
		}
		if p.Kind != "" {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

type messagesBody struct {
	MaxTokens int            `json:"max_tokens"`
	System    jsontext.Value `json:"system"`
	Messages  []struct {
		Role    provider.Role  `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string         `json:"name"`
		Doc    string         `json:"description"`
		Schema jsontext.Value `json:"input_schema"`
	} `json:"tools"`
}

func readMessages(body []byte) (provider.Request, error) {
	var in messagesBody
	var r provider.Request
	if err := json.Unmarshal(body, &in); err != nil {
		return r, fmt.Errorf("the body is no request of this wire: %w", err)
	}
	if in.MaxTokens <= 0 {
		return r, errors.New("max_tokens: Field required")
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, provider.Tool{Name: t.Name, Doc: t.Doc, Schema: t.Schema})
	}
	system, err := partsOf(in.System)
	if err != nil {
		return r, fmt.Errorf("system: %w", err)
	}
	if len(system) > 0 {
		r.Messages = append(r.Messages, provider.Message{Role: provider.RoleSystem, Parts: system})
	}
	last := provider.Role("")
	for i, m := range in.Messages {
		blocks, err := blocksOf(m.Content)
		switch {
		case err != nil:
			return r, fmt.Errorf("messages.%d: %w", i, err)
		case m.Role == last:
			return r, fmt.Errorf("messages.%d: roles must alternate", i)
		case len(blocks) == 0:
			return r, fmt.Errorf("messages.%d: all messages must have non-empty content", i)
		}
		list, err := messagesOf(m.Role, blocks)
		if err != nil {
			return r, fmt.Errorf("messages.%d: %w", i, err)
		}
		r.Messages, last = append(r.Messages, list...), m.Role
	}
	return r, nil
}

// messagesOf are the messages of one turn: of the user's, what answers calls stands first.
func messagesOf(role provider.Role, blocks []block) ([]provider.Message, error) {
	var list []provider.Message
	out := provider.Message{Role: role}
	var rest []block
	for _, b := range blocks {
		switch {
		case role == provider.RoleAssistant && b.Type == "tool_use":
			if b.Input.Kind() != '{' {
				return nil, errors.New("the input of a tool_use is no object")
			}
			out.Calls = append(out.Calls, provider.ToolCall{ID: b.ID, Name: b.Name, Input: string(b.Input)})
		case role == provider.RoleUser && b.Type == "tool_result":
			if len(rest) > 0 {
				return nil, errors.New("tool_result blocks have to stand first")
			}
			parts, err := partsOf(b.Content)
			if err != nil {
				return nil, err
			}
			list = append(list, provider.Message{Role: provider.RoleTool, CallID: b.CallID, Failed: b.Failed, Parts: parts})
		case role == provider.RoleUser || role == provider.RoleAssistant:
			if b.Type == "text" && strings.TrimSpace(b.Text) == "" {
				return nil, errors.New("text content blocks must contain non-whitespace text")
			}
			rest = append(rest, b)
		default:
			return nil, fmt.Errorf("there is no role %q", role)
		}
	}
	var err error
	if out.Parts, err = plainParts(rest); err != nil {
		return nil, err
	}
	if len(out.Parts)+len(out.Calls) > 0 {
		list = append(list, out)
	}
	return list, nil
}
