package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
)

func messagesBlock(m medium) anthropic.ContentBlockParamUnion {
	switch {
	case m.Kind == "image" && m.Path != "":
		return anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: m.Path})
	case m.Kind == "image":
		return anthropic.NewImageBlockBase64(m.Type, m.Data)
	}
	// What follows the library has no types for.
	type source struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	}
	return param.Override[anthropic.ContentBlockParamUnion](struct {
		Type   string `json:"type"`
		Source source `json:"source"`
	}{m.Kind, source{"base64", m.Type, m.Data}})
}

func messages(ctx context.Context, client anthropic.Client, o order) (a answer, err error) {
	content := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(o.Text)}
	for _, m := range o.Media {
		content = append(content, messagesBlock(m))
	}
	p := anthropic.MessageNewParams{Model: anthropic.Model(o.Model), MaxTokens: 1000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(content...)}}
	if o.Again {
		p.Messages = append(p.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock("I have seen it.")), anthropic.NewUserMessage(anthropic.NewTextBlock("And now?")))
	}
	if o.Tools {
		p.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "look", Description: anthropic.String(description), InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"], Required: []string{"at"}},
		}}}
	}
	var r *http.Response
	into := option.WithResponseInto(&r)
	var made anthropic.Message
	if !o.Stream {
		m, err := client.Messages.New(ctx, p, into)
		if err != nil {
			return a, err
		}
		made, a.Doc = *m, json.RawMessage(m.RawJSON())
	} else {
		var events []string
		s := client.Messages.NewStreaming(ctx, p, into)
		for s.Next() {
			events = append(events, s.Current().RawJSON())
			a.event(events)
			if err := made.Accumulate(s.Current()); err != nil {
				return a, err
			}
		}
		if s.Err() != nil {
			return a, s.Err()
		}
	}
	a.heads(r)
	for _, b := range made.Content {
		a.Text += b.Text
		if b.Type == "tool_use" {
			a.Calls = append(a.Calls, call{b.ID, b.Name, string(b.Input)})
		}
	}
	u := made.Usage
	a.Usage = []int64{u.InputTokens + u.CacheReadInputTokens, u.OutputTokens, u.CacheReadInputTokens}
	return a, nil
}
