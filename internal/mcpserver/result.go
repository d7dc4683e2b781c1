package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// What every host takes in whole (docs/reference/hosts.md).
const (
	maxText     = 10_000 // characters of text, and of structured content
	maxPictures = 12
	maxSide     = 1568
	maxBytes    = 1_500_000 // of all pictures, as base64
	maxLinks    = 6
)

// result is an answer as a host gets it: with pictures and without structured
// content, or with structured content and the same facts as text.
func (s *server) result(ctx context.Context, t *tool.Tool, reply *engine.Reply) (*mcp.CallToolResult, error) {
	if job, ok := reply.Output.(jobReply); ok {
		return s.jobResult(ctx, reply, job)
	}
	if t.Pictures {
		return s.pictured(ctx, reply, "")
	}
	doc, err := shorten(reply.JSON, maxText, s.rest(reply))
	if err != nil {
		return nil, err
	}
	text := outline(doc, maxText)
	if shown, ok := reply.Output.(tool.Shown); ok {
		text = shown.Show(tool.Room{Text: maxText}).Text
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(doc)}, nil
}

// rest says where the whole answer is, when it was recorded.
func (s *server) rest(reply *engine.Reply) string {
	if reply.Run == "" {
		return ""
	}
	return resourceURI(string(reply.Run), "")
}

// pictured is an answer with pictures. head is put before its text.
func (s *server) pictured(ctx context.Context, reply *engine.Reply, head string) (*mcp.CallToolResult, error) {
	room := tool.Room{Text: maxText - len([]rune(head)) - captionRoom}
	showing := tool.Showing{Text: outline(reply.JSON, room.Text)}
	if shown, ok := reply.Output.(tool.Shown); ok {
		showing = shown.Show(room)
	}
	pictures, note, err := s.pictures(ctx, showing.Pictures)
	if err != nil {
		return nil, err
	}
	res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: clip(head+showing.Text+note, maxText)}}}
	for _, p := range pictures {
		res.Content = append(res.Content, &mcp.ImageContent{Data: p, MIMEType: "image/jpeg"})
	}
	for i, f := range showing.Files {
		if run, path, ok := s.Engine.Split(f.RelativePath); ok && i < maxLinks {
			res.Content = append(res.Content, &mcp.ResourceLink{
				URI: resourceURI(run, path), Name: path, MIMEType: f.MediaType, Size: &f.SizeBytes,
			})
		}
	}
	return res, nil
}

// failed is a failure as a host gets it: the one document that every door answers
// with. What a program said, and where things lie on this machine, is not in it.
func (s *server) failed(err error, sent []byte) *mcp.CallToolResult {
	e := cutroom.AsError(err)
	s.Log.Warn("call failed", "code", e.Code, "message", e.Msg, "cause", e.Err)
	f := e.Failure()
	if f.Error.Hint == "" {
		f.Error.Hint = hints[e.Code]
	}
	f.Error.Message, f.Error.Hint = s.scrub(f.Error.Message, sent), s.scrub(f.Error.Hint, sent)
	text, err := tool.Encode(f)
	if err != nil {
		text = []byte(string(e.Code))
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: clip(string(text), maxText)}}, IsError: true}
}

// hints are the next step where a failure names none of its own.
var hints = map[cutroom.Code]string{
	cutroom.Invalid:  "tool_search with the tool's name shows its input schema",
	cutroom.NotFound: "paths are relative to the workspace",
}

// scrub takes the places of this machine out of a message that was written for
// someone at its terminal. What the caller itself sent may be said back as it was.
func (s *server) scrub(text string, sent []byte) string {
	var pairs []string
	hide := func(place, word string) {
		if len(place) > 1 && !bytes.Contains(sent, []byte(place)) {
			pairs = append(pairs, place, word)
		}
	}
	hide(s.Engine.Workspace+string(filepath.Separator), "")
	hide(s.Engine.Workspace, ".")
	if home, err := os.UserHomeDir(); err == nil {
		hide(home+string(filepath.Separator), "~/")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// clip is the beginning of a text, at most n characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}
