package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/tool"
)

// safeAnswers masks secrets in every answer and every error: all that a host is told in
// reply passes here. Pictures and other files that are no text are the user's own data.
func (s *server) safeAnswers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil {
			return nil, s.safeError(err)
		}
		switch r := res.(type) {
		case *mcp.CallToolResult:
			s.safeContent(r.Content)
			if r.StructuredContent != nil {
				r.StructuredContent, err = s.safeDocument(r.StructuredContent)
			}
		case *mcp.ReadResourceResult:
			for _, c := range r.Contents {
				c.URI = s.Redact.Text(c.URI)
				c.Text = string(s.safeText([]byte(c.Text), c.MIMEType))
			}
		case *mcp.ListResourcesResult:
			for _, c := range r.Resources {
				c.Name, c.Title, c.Description = s.Redact.Text(c.Name), s.Redact.Text(c.Title), s.Redact.Text(c.Description)
			}
		case *mcp.GetPromptResult:
			for _, m := range r.Messages {
				s.safeContent([]mcp.Content{m.Content})
			}
		}
		if err != nil {
			return nil, s.safeError(err)
		}
		return res, nil
	}
}

// safeContent masks the text of contents.
func (s *server) safeContent(list []mcp.Content) {
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			c.Text = string(s.Redact.JSON([]byte(c.Text)))
		case *mcp.ResourceLink:
			c.Name, c.Description = s.Redact.Text(c.Name), s.Redact.Text(c.Description)
		}
	}
}

// safeDocument masks structured content.
func (s *server) safeDocument(doc any) (any, error) {
	raw, ok := doc.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = tool.Encode(doc); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(s.Redact.JSON(raw)), nil
}

// safeText masks the text of a file: a document as one.
func (s *server) safeText(data []byte, media string) []byte {
	if media == "application/json" {
		return s.Redact.JSON(data)
	}
	return []byte(s.Redact.Text(string(data)))
}

// safeError masks an error of the protocol.
func (s *server) safeError(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		if text := s.Redact.Text(err.Error()); text != err.Error() {
			return errors.New(text)
		}
		return err
	}
	safe := *e
	safe.Message = s.Redact.Text(e.Message)
	if len(e.Data) > 0 {
		safe.Data = s.Redact.JSON(e.Data)
	}
	return &safe
}

// safeNotices masks what a host is told unasked.
func (s *server) safeNotices(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ProgressNotificationParams); ok {
			p.Message = s.Redact.Text(p.Message)
		}
		return next(ctx, method, req)
	}
}
