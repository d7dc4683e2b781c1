package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"cutroom"
	"cutroom/internal/cli"
	"cutroom/internal/engine"
	"cutroom/internal/mcpserver"
	"cutroom/internal/mcpserver/transport"
)

// serveMCP opens the door for agents' hosts.
func serveMCP(ctx context.Context, o cli.MCP) error {
	s, err := mcpserver.New(mcpserver.Options{
		Engine: o.Installation.Engine, Jobs: direct{o.Installation.Engine}, Toolsets: o.Toolsets, Patience: o.Patience, Log: o.Log,
	})
	if err != nil {
		return err
	}
	if o.HTTP == "" {
		return transport.Stdio(ctx, s, o.In, o.Out, transport.StdioOptions{Log: o.Log})
	}
	endpoint, err := transport.HTTP(s, transport.HTTPOptions{Token: o.Token, Log: o.Log})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	return transport.Listen(ctx, o.HTTP, mux, func(a net.Addr) { o.Ready(a.String()) })
}

type direct struct{ e *engine.Engine }

func (d direct) Call(ctx context.Context, c engine.Call, _ time.Duration) (*engine.Reply, *cutroom.Job, error) {
	r, err := d.e.Invoke(ctx, c)
	return r, nil, err
}

func (d direct) Result(context.Context, cutroom.Principal, string) (*engine.Reply, error) {
	return nil, cutroom.Errorf(cutroom.NotFound, "no")
}
