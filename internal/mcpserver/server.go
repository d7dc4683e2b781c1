// Package mcpserver is the door for agents' hosts: the Model Context Protocol over
// the transports of its subfolder.
//
// It promises that what a host sees derives from the registry, that every call goes
// through the engine as the agent's, that an answer fits what the hosts really take
// in, and that nothing of the inside stands in one. It does no work of its own, and
// must never know a tool by more than its facts; docs/reference/hosts.md says what
// the hosts do.
package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/engine"
	"cutroom/internal/redact"
	"cutroom/internal/tool"
)

// Caller makes calls that may outlast their caller's patience.
type Caller interface {
	// Call starts the call now. When it is done within patience (0: however long it
	// takes) the reply comes back; otherwise it goes on as the job that comes back.
	Call(ctx context.Context, c engine.Call, patience time.Duration) (*engine.Reply, *cutroom.Job, error)
	// Result is the answer of a job that is completed.
	Result(ctx context.Context, who cutroom.Principal, id string) (*engine.Reply, error)
}

// Options are the parts a server works with.
type Options struct {
	Engine    *engine.Engine
	Jobs      Caller
	Toolsets  []string      // default, all, or families; none is default
	Patience  time.Duration // of one call, before it goes on as a job; 0 is 45 s
	Principal cutroom.Principal
	// Approvals lets the dialog of a host that ElicitationHosts names stand for the
	// operator; nil: no dialog does.
	Approvals        *approval.Book
	ElicitationHosts []string
	Redact           *redact.Redactor // of all that a host is told; nil knows forms of secrets only
	Log              *slog.Logger
}

// patience is how long a host waits for a call without harm: the shortest time-out
// that one has by itself is 60 s.
const patience = 45 * time.Second

// server is what the handlers share.
type server struct {
	Options
	listed []*tool.Tool // in the order of the list
	tools  func() []*mcp.Tool
	closed closed // requests whose dialog was closed
}

// New returns a server over an engine. Nothing is opened, probed or started: a host
// that waits a second for an answer gets it in milliseconds.
func New(o Options) (*mcp.Server, error) {
	if o.Principal.Role == "" {
		o.Principal = cutroom.Agent
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = slog.New(o.Redact.Handler(o.Log.Handler()))
	visible := o.Engine.Tools(o.Principal)
	listed, err := choose(visible, o.Toolsets)
	if err != nil {
		return nil, err
	}
	s := &server{Options: o, listed: listed}
	s.tools = sync.OnceValue(s.list)
	m := mcp.NewServer(&mcp.Implementation{
		Name: "cutroom", Title: "cutroom", Version: cutroom.Version,
	}, &mcp.ServerOptions{
		Instructions: s.instructions(), Logger: o.Log,
		// What is listed and read here is this user's.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{},
		},
	})
	for _, t := range visible {
		// The schemas are made when a host first lists the tools.
		m.AddTool(&mcp.Tool{Name: t.MCPName(), InputSchema: anyObject}, s.handler(t))
	}
	s.addPrompts(m)
	s.addResources(m)
	m.AddReceivingMiddleware(s.safeAnswers, s.methods) // the first is the outermost
	m.AddSendingMiddleware(s.safeNotices)
	return m, nil
}

// methods answers what the library would answer in its own order or words.
func (s *server) methods(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.CallToolRequest:
			if err := s.known(r.Params.Name); err != nil {
				if cutroom.AsError(err).Code == cutroom.Denied {
					return s.failed(err, r.Params.Arguments), nil
				}
				return nil, protocolError(err)
			}
		case *mcp.ReadResourceRequest:
			// The library repeats an address that is no resource's, however long.
			if _, _, _, err := parseURI(r.Params.URI); err != nil {
				return nil, protocolError(err)
			}
		case *mcp.ListResourcesRequest:
			return s.listResources(ctx, r, next)
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = s.tools()
		}
		return res, err
	}
}

// known is the guard before a call: it refuses a tool that does not exist for the
// caller, and names the nearest, or that is above its ceiling.
func (s *server) known(name string) error {
	t, err := s.Engine.Offered(s.Principal, name)
	if err == nil && t.MCPName() == name || err != nil && cutroom.AsError(err).Code == cutroom.Denied {
		return err
	}
	visible := s.Engine.Tools(s.Principal)
	names := make([]string, len(visible))
	for i, t := range visible {
		names[i] = t.MCPName()
	}
	e := cutroom.Errorf(cutroom.NotFound, "there is no tool %q", clip(name, 80)).WithHint("tool_search finds tools by what they do")
	if near := tool.Nearest(name, names); near != "" {
		e = e.WithHint("did you mean %s?", near)
	}
	return e
}
