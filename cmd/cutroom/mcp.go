package main

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/cli"
	"cutroom/internal/engine"
	"cutroom/internal/mcpserver"
)

// serveMCP opens the door for agents' hosts.
func serveMCP(ctx context.Context, o cli.MCP) error {
	s, err := mcpserver.New(mcpserver.Options{
		Engine: o.Installation.Engine, Jobs: direct{o.Installation.Engine}, Toolsets: o.Toolsets, Patience: o.Patience, Log: o.Log,
	})
	if err != nil {
		return err
	}
	err = s.Run(ctx, &mcp.StdioTransport{})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

type direct struct{ e *engine.Engine }

func (d direct) Call(ctx context.Context, c engine.Call, _ time.Duration) (*engine.Reply, *cutroom.Job, error) {
	r, err := d.e.Invoke(ctx, c)
	return r, nil, err
}

func (d direct) Result(context.Context, cutroom.Principal, string) (*engine.Reply, error) {
	return nil, cutroom.Errorf(cutroom.NotFound, "no")
}
