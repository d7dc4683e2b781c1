package provider

import (
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"
)

// messagesWire is Anthropic's POST /messages.
type messagesWire struct{}

// defaultMaxTokens is sent where a request has no bound: the wire wants one.
const defaultMaxTokens = 8192

type messagesRequest struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	System    string          `json:"system,omitzero"`
	Messages  []messagesTurn  `json:"messages"`
	Tools     []messagesTool  `json:"tools,omitempty"`
	Choice    *messagesChoice `json:"tool_choice,omitzero"`
	Output    *messagesOutput `json:"output_config,omitzero"`
	Stream    bool            `json:"stream,omitzero"`
}

type messagesTurn struct {
	Role    Role                    `json:"role"`
	Content []either[messagesBlock] `json:"content"`
}

type messagesTool struct {
	Name   string         `json:"name"`
	Doc    string         `json:"description,omitzero"`
	Schema jsontext.Value `json:"input_schema"`
	Strict bool           `json:"strict,omitzero"`
}

type messagesChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitzero"`
	Serial bool   `json:"disable_parallel_tool_use,omitzero"`
}

type messagesOutput struct {
	Format messagesFormat `json:"format"`
}

type messagesFormat struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"schema"`
}

// messagesBlock is a block of content, in the forms that we write.
type messagesBlock struct {
	Type    string                  `json:"type"`
	Text    *string                 `json:"text,omitzero"`
	Source  *messagesSource         `json:"source,omitzero"`
	ID      string                  `json:"id,omitzero"`
	Name    string                  `json:"name,omitzero"`
	Input   jsontext.Value          `json:"input,omitzero"`
	CallID  string                  `json:"tool_use_id,omitzero"`
	Content []either[messagesBlock] `json:"content,omitempty"`
	Failed  bool                    `json:"is_error,omitzero"`
}

type messagesSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

func (messagesWire) pack(e Endpoint, r Request, stream bool) (packed, error) {
	body := messagesRequest{Model: e.Model, MaxTokens: r.MaxTokens, System: r.instruction(), Stream: stream}
	if body.MaxTokens == 0 {
		body.MaxTokens = defaultMaxTokens
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = jsontext.Value(`{"type":"object"}`)
		}
		body.Tools = append(body.Tools, messagesTool{t.Name, t.Doc, schema, t.Strict})
	}
	if len(r.Tools) > 0 {
		body.Choice = r.messagesChoice()
	}
	if r.Schema != nil {
		body.Output = &messagesOutput{messagesFormat{"json_schema", r.Schema.JSON}}
	}
	var err error
	if body.Messages, err = messagesTurns(e, r.Messages); err != nil {
		return packed{}, err
	}
	return e.pack(r, body)
}

func (r Request) messagesChoice() *messagesChoice {
	c := messagesChoice{Serial: r.Serial}
	switch r.Choice {
	case ChoiceAuto:
		if !r.Serial {
			return nil
		}
		c.Type = "auto"
	case ChoiceNone:
		return &messagesChoice{Type: "none"}
	case ChoiceRequired:
		c.Type = "any"
	default:
		c.Type, c.Name = "tool", string(r.Choice)
	}
	return &c
}

// messagesTurns writes all messages but the system's. Roles take turns there, so what one
// role says in a row is one turn; tools speak as the user.
func messagesTurns(e Endpoint, list []Message) ([]messagesTurn, error) {
	turns, own := []messagesTurn{}, e.ids(list)
	for _, m := range list {
		if m.Role == RoleSystem {
			continue
		}
		blocks, err := e.messagesBlocks(m, own)
		if err != nil {
			return nil, err
		}
		if len(blocks) == 0 {
			continue // a turn without blocks is refused
		}
		role := RoleUser
		if m.Role == RoleAssistant {
			role = RoleAssistant
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, blocks...)
			continue
		}
		turns = append(turns, messagesTurn{role, blocks})
	}
	return turns, nil
}

func (e Endpoint) messagesBlocks(m Message, own ids) ([]either[messagesBlock], error) {
	if v := m.native(e); v != nil {
		var raw []jsontext.Value
		err := decode(v, &raw)
		var blocks []either[messagesBlock]
		for _, b := range raw {
			blocks = append(blocks, either[messagesBlock]{raw: b})
		}
		return blocks, err
	}
	blocks, err := messagesParts(m.Parts)
	if err != nil {
		return nil, err
	}
	if m.Role == RoleTool {
		return []either[messagesBlock]{written(messagesBlock{Type: "tool_result", CallID: own.of(m.CallID), Content: blocks, Failed: m.Failed})}, nil
	}
	for _, c := range m.Calls {
		blocks = append(blocks, written(messagesBlock{Type: "tool_use", ID: wireID(c.ID), Name: c.Name, Input: c.object()}))
	}
	return blocks, nil
}

func messagesParts(parts []Part) ([]either[messagesBlock], error) {
	var blocks []either[messagesBlock]
	for _, p := range parts {
		b := messagesBlock{}
		switch p.Kind {
		case Text:
			if p.Text == "" {
				continue // refused there
			}
			b = messagesBlock{Type: "text", Text: &p.Text}
		case Image:
			b = messagesBlock{Type: "image", Source: &messagesSource{"base64", p.mediaType(), base64.StdEncoding.EncodeToString(p.Data)}}
		case File:
			b = messagesBlock{Type: "document", Source: &messagesSource{"base64", p.mediaType(), base64.StdEncoding.EncodeToString(p.Data)}}
		default:
			return nil, takesNo(Messages, p.Kind)
		}
		blocks = append(blocks, written(b))
	}
	return blocks, nil
}
