//lint:file-ignore SA1019 sampling is deprecated from 2026-07-28 on, and hosts of the session eras still offer it

package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/engine"
	"cutroom/internal/provider"
)

// sampleTokens bounds the answer of a host's model.
const sampleTokens = 4096

// host is the host's own model, where the host offers it (sampling); nil where not.
func host(req *mcp.CallToolRequest) *engine.Host {
	c := req.ClientCapabilities()
	if c == nil || c.Sampling == nil || req.Session == nil {
		return nil
	}
	return &engine.Host{Name: clientName(req), Sample: func(ctx context.Context, q provider.Request) (provider.Reply, error) {
		p := &mcp.CreateMessageParams{MaxTokens: sampleTokens}
		for _, m := range q.Messages {
			if m.Role == provider.RoleSystem {
				p.SystemPrompt += m.Text()
				continue
			}
			for _, part := range m.Parts {
				p.Messages = append(p.Messages, &mcp.SamplingMessage{Role: "user", Content: content(part)})
			}
		}
		res, err := req.Session.CreateMessage(ctx, p)
		if err != nil {
			return provider.Reply{}, &provider.Fault{Class: provider.Unavailable, Message: "the host did not let its model answer", Err: err}
		}
		text, _ := res.Content.(*mcp.TextContent)
		if text == nil {
			return provider.Reply{}, &provider.Fault{Class: provider.EmptyOrUnparsable, Message: "the host's model answered no text"}
		}
		return provider.Reply{Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart(text.Text)}}, Stop: provider.StopEnd, Model: res.Model}, nil
	}}
}

func content(p provider.Part) mcp.Content {
	if p.Kind == provider.Image {
		return &mcp.ImageContent{Data: p.Data, MIMEType: p.Type}
	}
	return &mcp.TextContent{Text: p.Text}
}
