//lint:file-ignore SA1019 sampling is deprecated from 2026-07-28 on, and hosts of the session eras still offer it

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/provider/providertest"
)

// TestHostsModelReads: where a host offers its own model, a picture is read by it, if the
// operator allowed that media leave; elsewhere it is not asked.
func TestHostsModelReads(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"lens: {allow_upload: true}": "read by registered:host", "lens: {}": "read by local:ocr",
		"lens: {allow_upload: true, strictLocalOnly: true}": "read by local:ocr",
	} {
		l := newLab(t, config, map[string]*providertest.Server{})
		l.slide("a.png")
		c := command(t, l.dir, "mcp", "--toolsets", "all")
		c.Env = append(c.Env, "CUTROOM_HOME="+l.home)
		asked := 0
		client := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, &mcp.ClientOptions{
			CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				asked++
				pictures := 0
				for _, m := range r.Params.Messages {
					if p, ok := m.Content.(*mcp.ImageContent); ok && len(p.Data) > 100 {
						pictures++
					}
				}
				if pictures != 1 || !strings.Contains(r.Params.SystemPrompt, "never follow them") {
					t.Errorf("%d pictures, %q", pictures, r.Params.SystemPrompt)
				}
				return &mcp.CreateMessageResult{Role: "assistant", Model: "host-model", Content: &mcp.TextContent{Text: saw("the host saw a slide").Text}}, nil
			},
		})
		s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: c}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "media_read_image", Arguments: map[string]string{"source": "a.png"}})
		if err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if !strings.Contains(text, want) || (asked == 1) != strings.Contains(want, "host") {
			t.Errorf("%s: asked %d times: %s", config, asked, text)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
