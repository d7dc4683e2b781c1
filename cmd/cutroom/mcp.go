package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom/internal/cli"
	"cutroom/internal/httpapi"
	"cutroom/internal/mcpserver"
	"cutroom/internal/mcpserver/transport"
)

// resumeAfter is when jobs that an earlier server left are looked for: a host waits
// for its first answers meanwhile.
const resumeAfter = time.Second

// serveMCP opens the door for agents' hosts. Jobs go on when the host is gone; a
// signal hands them back, for the next server of the workspace.
func serveMCP(ctx context.Context, o cli.MCP) error {
	jobs := o.Installation.Jobs
	jobs.Serve = true
	s, err := mcpserver.New(mcpserver.Options{
		Engine: o.Installation.Engine, Jobs: jobs, Toolsets: o.Toolsets, Patience: o.Patience, Principal: o.Principal, Redact: o.Redact, Log: o.Log,
		Approvals: o.Installation.Approvals, ElicitationHosts: o.Installation.Config.Approvals.ElicitationHosts,
	})
	if err != nil {
		return err
	}
	later := time.AfterFunc(resumeAfter, func() {
		if err := jobs.Resume(ctx); err != nil {
			o.Log.Warn("jobs", "cause", err)
		}
	})
	if o.HTTP == "" {
		// Writing to a host that is gone fails, rather than end the process before its calls.
		gone := make(chan os.Signal, 1)
		signal.Notify(gone, syscall.SIGPIPE)
		defer signal.Stop(gone)
		err = transport.Stdio(ctx, s, o.In, o.Out, transport.StdioOptions{Log: o.Log})
	} else {
		err = serveHTTP(ctx, s, o)
	}
	later.Stop()
	jobs.Drain(ctx)
	return err // closing the installation hands back what a signal left
}

func serveHTTP(ctx context.Context, s *mcp.Server, o cli.MCP) error {
	endpoint, err := transport.HTTP(s, transport.HTTPOptions{Token: o.Token, Log: o.Log})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	life := transport.NewLifetime(ctx)
	return httpapi.Listen(ctx, httpapi.ListenOptions{
		Addr: o.HTTP, Local: true, Handler: mux, Ready: func(a net.Addr) { o.Ready(a.String()) },
		Base:  func(context.Context) context.Context { return life.With(ctx) }, // calls end at once
		After: life.Wait,
	})
}
