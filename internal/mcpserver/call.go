package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// handler answers the calls of one tool.
func (s *server) handler(t *tool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			// A fault in one call must not end the session with the others in it.
			if p := recover(); p != nil {
				s.Log.Error("panic", "tool", t.Name, "value", p, "stack", string(debug.Stack()))
				res, err = s.failed(cutroom.Errorf(cutroom.Internal, "an internal fault stopped the call").WithHint("run `cutroom doctor`"), nil), nil
			}
		}()
		if err := s.answered(ctx, req); err != nil {
			return s.failed(err, req.Params.Arguments), nil
		}
		res, err = s.call(ctx, t, req)
		if e := cutroom.AsError(err); e != nil && e.Code == cutroom.NeedsApproval && e.Approval != "" {
			if question := s.asked(ctx, req, e.Approval); question != nil {
				return question, nil
			}
		}
		if err != nil {
			return s.failed(err, req.Params.Arguments), nil
		}
		return res, nil
	}
}

func (s *server) call(ctx context.Context, t *tool.Tool, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	show := s.newProgress(ctx, req, t)
	defer show.stop()
	c := engine.Call{Tool: t.Name, Input: arguments(req.Params.Arguments), Principal: s.Principal, Progress: show.update, Host: host(req)}
	if t.Live {
		reply, err := s.Engine.Invoke(ctx, c)
		if err != nil {
			return nil, err
		}
		return s.result(ctx, t, reply)
	}
	reply, job, err := s.Jobs.Call(ctx, c, s.patienceOf())
	switch {
	case err != nil:
		return nil, err
	case job != nil:
		return s.handle(t, job)
	}
	return s.result(ctx, t, reply)
}

// arguments are the call's; a host that sends none means none.
func arguments(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return []byte("{}")
	}
	return raw
}

// followed says whether the host sees the tools that follow a job.
func (s *server) followed() bool {
	for _, t := range s.listed {
		if t.Name == "job.wait" {
			return true
		}
	}
	return false
}

// patienceOf is how long a call may take before it goes on as a job; a host that
// sees no job tools gets its answer in the call, however long it takes.
func (s *server) patienceOf() time.Duration {
	if !s.followed() {
		return 0
	}
	return s.Patience
}

// handleText is what a host gets for a call that goes on as a job.
type handleText struct {
	Status  string `json:"status"` // always running
	JobID   string `json:"job_id"`
	ToolID  string `json:"tool_id"`
	Message string `json:"message"`
}

// handle answers with a job. A tool that promises structured content cannot keep its
// promise yet: hosts accept that from an error only.
func (s *server) handle(t *tool.Tool, job *cutroom.Job) (*mcp.CallToolResult, error) {
	text, err := tool.Encode(handleText{
		Status: "running", JobID: job.ID, ToolID: t.Name,
		Message: fmt.Sprintf("not finished within %s; the work goes on. Call job_wait {\"id\":%q} for the result; job_cancel stops it.", seconds(s.Patience), job.ID),
	})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, IsError: docgen.Promises(t.Name)}, nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// protocolError answers a request that is no call of a tool.
func protocolError(err error) error {
	e := cutroom.AsError(err)
	data, _ := json.Marshal(e.Failure()) // strings only
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Error(), Data: data}
}
