package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/engine"
)

// jobReply is the answer of a tool that speaks of one job.
type jobReply interface {
	JobID() string
	JobState() cutroom.JobState
}

// jobResult answers what became of a job, and with the answer of the call itself once
// it is there. Job tools list no output schema: the answer of any tool may follow.
func (s *server) jobResult(ctx context.Context, reply *engine.Reply, job jobReply) (*mcp.CallToolResult, error) {
	head := outline(reply.JSON, maxText/4)
	if job.JobState() != cutroom.JobCompleted {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: head}}}, nil
	}
	done, err := s.Jobs.Result(ctx, s.Principal, job.JobID())
	if err != nil {
		return nil, err
	}
	of, ok := s.Engine.Registry.Find(done.Tool)
	if ok && of.Pictures {
		return s.pictured(ctx, done, head+"\n\n")
	}
	room := maxText - len([]rune(head)) - 2
	doc, err := shorten(done.JSON, room, s.rest(done))
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: head + "\n\n" + string(doc)}}}, nil
}
