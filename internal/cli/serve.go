package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/redact"
	"cutroom/internal/setup"
)

// Serve is what the server is opened with. As [MCP], main gives it as a function.
type Serve struct {
	Installation *setup.Installation
	Addr         string
	Cert, Key    string   // files in PEM
	Hosts        []string // further names that the server is reached by
	Toolsets     []string
	Patience     time.Duration
	Redact       *redact.Redactor
	Log          *slog.Logger
	Ready        func(address string) // called once it is served
}

// usualAddr is where the server is unless somebody says otherwise.
const usualAddr = "127.0.0.1:7788"

func (a *App) serveCommand() *cobra.Command {
	var s Serve
	var patience duration
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve tools (MCP) and models with sight (the gateway) over HTTP", GroupID: groupProgram, Args: noArgs,
		Long: "Serve over HTTP, until a signal: /mcp, the tools for agents' hosts; /v1, models for programs that speak OpenAI's or Anthropic's form; /healthz. docs/serve.md shows how.\n\n" +
			"Each request but /healthz needs a bearer token, which `cutroom token create` makes. Only addresses of this machine are served without a certificate; with --tls-cert and --tls-key any is, once there is a token.\n\n" +
			"Changes of lens and models in cutroom.yaml take effect at the next request.",
		Example: "  cutroom token create --scope gateway,mcp\n  cutroom serve\n  cutroom serve --addr 0.0.0.0:7788 --tls-cert cert.pem --tls-key key.pem --host media.example.com",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Patience = time.Duration(patience)
			return a.serve(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Addr, "addr", usualAddr, "address to serve at")
	f.StringVar(&s.Cert, "tls-cert", "", "certificate chain, a file in PEM; it is read again when it is renewed")
	f.StringVar(&s.Key, "tls-key", "", "its private key, a file in PEM")
	f.StringSliceVar(&s.Hosts, "host", nil, "further host name that the server is reached by; requests for others are refused")
	f.StringSliceVar(&s.Toolsets, "toolsets", []string{"default"}, "tools that /mcp lists: default, all, or families such as video,measure; the rest can be called all the same")
	f.Var(&patience, "patience", "how long a call of a tool may take before it goes on as a job (default 45s)")
	return cmd
}

func (a *App) serve(ctx context.Context, s Serve) error {
	if a.Serve == nil {
		return cutroom.Errorf(cutroom.Unavailable, "this program has no server")
	}
	a.serving = true
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	p := paths{dir: a.Dir}
	if s.Cert != "" {
		s.Cert = p.absolute(s.Cert)
	}
	if s.Key != "" {
		s.Key = p.absolute(s.Key)
	}
	if err := a.beforeServing(ctx, i); err != nil {
		return err
	}
	s.Installation, s.Redact, s.Log = i, a.Redact, a.log()
	s.Toolsets, s.Patience = hostChoices(i, s.Toolsets, s.Patience)
	s.Ready = func(addr string) {
		scheme := "http"
		if s.Cert != "" {
			scheme = "https"
		}
		a.remark("serving %s://%s (tools at /mcp, models at /v1)", scheme, addr)
	}
	return a.Serve(ctx, s)
}

// beforeServing says what whoever starts a server would else learn from refused requests:
// that no token opens it, and which secrets are not where the config says.
func (a *App) beforeServing(ctx context.Context, i *setup.Installation) error {
	live, err := i.Tokens.Live(ctx)
	if err != nil {
		return err
	}
	if !live {
		a.remark("no token opens the server yet: `cutroom token create --scope gateway,mcp` makes one")
	}
	_, found, err := setup.CheckConfig(a.Dir, a.flags.root, "")
	if err != nil {
		return err
	}
	for _, f := range found {
		a.remark("cutroom.yaml, line %d: %s (%s)", f.Line, f.Message, f.Hint)
	}
	return nil
}
