package provider

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// chatWire is POST /chat/completions.
type chatWire struct{}

type chatRequest struct {
	Model         string                `json:"model"`
	Messages      []either[chatMessage] `json:"messages"`
	Tools         []chatTool            `json:"tools,omitempty"`
	Choice        jsontext.Value        `json:"tool_choice,omitzero"`
	Parallel      *bool                 `json:"parallel_tool_calls,omitzero"`
	Format        *chatFormat           `json:"response_format,omitzero"`
	MaxTokens     int                   `json:"max_tokens,omitzero"`
	MaxCompletion int                   `json:"max_completion_tokens,omitzero"`
	Stream        bool                  `json:"stream,omitzero"`
	StreamOptions *chatStream           `json:"stream_options,omitzero"`
}

type chatStream struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name       string         `json:"name"`
	Doc        string         `json:"description,omitzero"`
	Parameters jsontext.Value `json:"parameters,omitzero"`
	Strict     bool           `json:"strict,omitzero"`
}

type chatFormat struct {
	Type   string     `json:"type"`
	Schema chatSchema `json:"json_schema"`
}

type chatSchema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema jsontext.Value `json:"schema"`
}

type chatMessage struct {
	Role    Role               `json:"role"`
	Content either[[]chatPart] `json:"content,omitzero"`
	Calls   []chatCall         `json:"tool_calls,omitempty"`
	CallID  string             `json:"tool_call_id,omitzero"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatCallBody `json:"function"`
}

type chatCallBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatPart struct {
	Type  string     `json:"type"`
	Text  *string    `json:"text,omitzero"`
	Image *chatURL   `json:"image_url,omitzero"`
	Video *chatURL   `json:"video_url,omitzero"`
	Sound *chatSound `json:"input_audio,omitzero"`
	File  *chatFile  `json:"file,omitzero"`
}

type chatURL struct {
	URL string `json:"url"`
}

type chatSound struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type chatFile struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

func (chatWire) pack(e Endpoint, r Request, stream bool) (packed, error) {
	body := chatRequest{Model: e.Model, Stream: stream, Choice: r.Choice.chat()}
	if stream {
		body.StreamOptions = &chatStream{true}
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, chatTool{"function", chatFunction{t.Name, t.Doc, t.Schema, t.Strict}})
	}
	if len(r.Tools) == 0 {
		body.Choice = nil
	} else if r.Serial {
		body.Parallel = new(bool)
	}
	if r.Schema != nil {
		body.Format = &chatFormat{"json_schema", chatSchema{r.Schema.Name, true, r.Schema.JSON}}
	}
	if e.maxTokensAs() == "max_completion_tokens" {
		body.MaxCompletion = r.MaxTokens
	} else {
		body.MaxTokens = r.MaxTokens
	}
	var err error
	if body.Messages, err = chatMessages(e, r.Messages); err != nil {
		return packed{}, err
	}
	return e.pack(r, body)
}

// maxTokensAs: OpenAI itself refuses the older name for its newer models, which nobody
// else does.
func (e Endpoint) maxTokensAs() string {
	if e.MaxTokensAs != "" {
		return e.MaxTokensAs
	}
	if u, err := url.Parse(e.BaseURL); err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com")) {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// chat is the choice as Chat Completions has it.
func (c Choice) chat() jsontext.Value {
	switch c {
	case ChoiceAuto:
		return nil
	case ChoiceNone, ChoiceRequired:
		return quoted(string(c))
	}
	return jsontext.Value(`{"type":"function","function":{"name":` + string(quoted(string(c))) + `}}`)
}

// quoted is a text as JSON.
func quoted(s string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8: v holds it repaired
		return v
	}
	return v
}

// chatMessages writes all messages. A tool's answer is text there: its pictures follow in
// a message of the user, behind the last answer of the same turn.
func chatMessages(e Endpoint, list []Message) ([]either[chatMessage], error) {
	out, own := []either[chatMessage]{}, e.ids(list)
	var media []Part
	flush := func() error {
		if len(media) == 0 {
			return nil
		}
		content, err := e.chatContent(append([]Part{TextPart("What the tools returned besides text:")}, media...))
		out, media = append(out, written(chatMessage{Role: RoleUser, Content: content})), nil
		return err
	}
	for _, m := range list {
		if m.Role != RoleTool {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		if v := m.native(e); v != nil {
			out = append(out, either[chatMessage]{raw: v})
			continue
		}
		one, rest, err := e.chatMessage(m, own)
		if err != nil {
			return nil, err
		}
		out, media = append(out, written(one)), append(media, rest...)
	}
	return out, flush()
}

// chatMessage writes one message; rest is what it has no place for.
func (e Endpoint) chatMessage(m Message, own ids) (out chatMessage, rest []Part, err error) {
	out = chatMessage{Role: m.Role}
	switch m.Role {
	case RoleTool:
		out.CallID = own.of(m.CallID)
		for _, p := range m.Parts {
			if p.Kind != Text {
				rest = append(rest, p)
			}
		}
		text := m.Text()
		if text == "" && len(rest) > 0 {
			text = fmt.Sprintf("(%d media follow in the next message)", len(rest))
		}
		out.Content.raw = quoted(text)
	case RoleAssistant:
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, chatCall{wireID(c.ID), "function", chatCallBody{c.Name, string(c.object())}})
		}
		out.Content.raw = jsontext.Value(`null`)
		if text := m.Text(); text != "" || len(out.Calls) == 0 {
			out.Content.raw = quoted(text)
		}
	case RoleSystem:
		out.Content.raw = quoted(m.Text())
	default:
		out.Role = RoleUser
		out.Content, err = e.chatContent(m.Parts)
	}
	return out, rest, err
}

// chatContent is a text where there is nothing but text, which every service takes.
func (e Endpoint) chatContent(parts []Part) (either[[]chatPart], error) {
	if len(parts) == 1 && parts[0].Kind == Text {
		return either[[]chatPart]{raw: quoted(parts[0].Text)}, nil
	}
	list := []chatPart{}
	for _, p := range parts {
		c, err := e.chatPart(p)
		if err != nil {
			return either[[]chatPart]{}, err
		}
		list = append(list, c)
	}
	return written(list), nil
}

func (e Endpoint) chatPart(p Part) (chatPart, error) {
	switch {
	case p.Kind == Text:
		return chatPart{Type: "text", Text: &p.Text}, nil
	case p.Kind == Image:
		return chatPart{Type: "image_url", Image: &chatURL{dataURL(p)}}, nil
	case p.Kind == Audio:
		return chatPart{Type: "input_audio", Sound: &chatSound{base64.StdEncoding.EncodeToString(p.Data), p.soundFormat()}}, nil
	case p.Kind == Video && e.VideoAs != "file":
		return chatPart{Type: "video_url", Video: &chatURL{dataURL(p)}}, nil
	case p.Kind == Video, p.Kind == File:
		return chatPart{Type: "file", File: &chatFile{p.fileName(), dataURL(p)}}, nil
	}
	return chatPart{}, takesNo(Chat, p.Kind)
}
