package provider

import (
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"
)

// responsesWire is OpenAI's POST /responses. Nothing is kept there (store is false), so
// every request holds the whole conversation.
type responsesWire struct{}

type responsesRequest struct {
	Model        string                  `json:"model"`
	Instructions string                  `json:"instructions,omitzero"`
	Input        []either[responsesItem] `json:"input"`
	Tools        []responsesTool         `json:"tools,omitempty"`
	Choice       jsontext.Value          `json:"tool_choice,omitzero"`
	Parallel     *bool                   `json:"parallel_tool_calls,omitzero"`
	Text         *responsesText          `json:"text,omitzero"`
	MaxTokens    int                     `json:"max_output_tokens,omitzero"`
	Stream       bool                    `json:"stream,omitzero"`
	Store        bool                    `json:"store"`
	Include      []string                `json:"include,omitempty"`
}

type responsesTool struct {
	Type       string         `json:"type"`
	Name       string         `json:"name"`
	Doc        string         `json:"description,omitzero"`
	Parameters jsontext.Value `json:"parameters"`
	Strict     bool           `json:"strict"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema jsontext.Value `json:"schema"`
}

// responsesItem is an item of the input, in the forms that we write.
type responsesItem struct {
	Type      string                  `json:"type,omitzero"`
	Role      Role                    `json:"role,omitzero"`
	Content   either[[]responsesPart] `json:"content,omitzero"`
	CallID    string                  `json:"call_id,omitzero"`
	Name      string                  `json:"name,omitzero"`
	Arguments *string                 `json:"arguments,omitzero"`
	Output    either[[]responsesPart] `json:"output,omitzero"`
}

type responsesPart struct {
	Type  string     `json:"type"`
	Text  *string    `json:"text,omitzero"`
	Image string     `json:"image_url,omitzero"`
	Sound *chatSound `json:"input_audio,omitzero"`
	Name  string     `json:"filename,omitzero"`
	File  string     `json:"file_data,omitzero"`
}

func (responsesWire) pack(e Endpoint, r Request, stream bool) (packed, error) {
	body := responsesRequest{Model: e.Model, Instructions: r.instruction(), MaxTokens: r.MaxTokens, Stream: stream, Input: []either[responsesItem]{}}
	if e.KeepThought {
		body.Include = []string{"reasoning.encrypted_content"}
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = jsontext.Value(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, responsesTool{"function", t.Name, t.Doc, schema, t.Strict})
	}
	if len(r.Tools) > 0 {
		body.Choice = r.Choice.responses()
		if r.Serial {
			body.Parallel = new(bool)
		}
	}
	if r.Schema != nil {
		body.Text = &responsesText{responsesFormat{"json_schema", r.Schema.Name, true, r.Schema.JSON}}
	}
	own := e.ids(r.Messages)
	for _, m := range r.Messages {
		items, err := e.responsesItems(m, own)
		if err != nil {
			return packed{}, err
		}
		body.Input = append(body.Input, items...)
	}
	return e.pack(r, body)
}

func (c Choice) responses() jsontext.Value {
	switch c {
	case ChoiceAuto:
		return nil
	case ChoiceNone, ChoiceRequired:
		return quoted(string(c))
	}
	return jsontext.Value(`{"type":"function","name":` + string(quoted(string(c))) + `}`)
}

func (e Endpoint) responsesItems(m Message, own ids) (items []either[responsesItem], err error) {
	if v := m.native(e); v != nil {
		return replayed(v)
	}
	add := func(i responsesItem) { items = append(items, written(i)) }
	switch m.Role {
	case RoleSystem: // in the instructions
	case RoleTool:
		i := responsesItem{Type: "function_call_output", CallID: own.of(m.CallID)}
		i.Output, err = responsesOutput(m)
		add(i)
	case RoleAssistant:
		if text := m.Text(); text != "" {
			add(responsesItem{Type: "message", Role: RoleAssistant, Content: written([]responsesPart{{Type: "output_text", Text: &text}})})
		}
		for _, c := range m.Calls {
			arguments := string(c.object())
			add(responsesItem{Type: "function_call", CallID: wireID(c.ID), Name: c.Name, Arguments: &arguments})
		}
	default:
		i := responsesItem{Type: "message", Role: RoleUser}
		i.Content, err = responsesParts(m.Parts)
		add(i)
	}
	return items, err
}

// responsesOutput is a tool's answer: a text where there is nothing but text.
func responsesOutput(m Message) (either[[]responsesPart], error) {
	for _, p := range m.Parts {
		if p.Kind != Text {
			return responsesParts(m.Parts)
		}
	}
	return either[[]responsesPart]{raw: quoted(m.Text())}, nil
}

func responsesParts(parts []Part) (either[[]responsesPart], error) {
	list := []responsesPart{}
	for _, p := range parts {
		switch p.Kind {
		case Text:
			list = append(list, responsesPart{Type: "input_text", Text: &p.Text})
		case Image:
			list = append(list, responsesPart{Type: "input_image", Image: dataURL(p)})
		case Audio:
			list = append(list, responsesPart{Type: "input_audio", Sound: &chatSound{base64.StdEncoding.EncodeToString(p.Data), p.soundFormat()}})
		case Video, File:
			list = append(list, responsesPart{Type: "input_file", Name: p.fileName(), File: dataURL(p)})
		default:
			return either[[]responsesPart]{}, takesNo(Responses, p.Kind)
		}
	}
	return written(list), nil
}

// replayed are a service's own items, ready to be sent again. What it thought and did not
// encrypt it does not know any more: nothing was kept there.
func replayed(v jsontext.Value) ([]either[responsesItem], error) {
	var items []jsontext.Value
	if err := decode(v, &items); err != nil {
		return nil, err
	}
	var list []either[responsesItem]
	for _, i := range items {
		var t struct {
			Type      string `json:"type"`
			Encrypted string `json:"encrypted_content"`
		}
		if decode(i, &t) == nil && t.Type == "reasoning" && t.Encrypted == "" {
			continue
		}
		list = append(list, either[responsesItem]{raw: i})
	}
	return list, nil
}
