package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/redact"
	"cutroom/internal/setup"
)

// MCP is what the door for agents' hosts is opened with. Doors never call each
// other: main gives this one to the command line as a function.
type MCP struct {
	Installation *setup.Installation
	Toolsets     []string
	Patience     time.Duration
	Principal    cutroom.Principal // who calls here
	HTTP         string            // address to serve at; "" serves standard input and output
	Token        string            // bearer token of HTTP
	In           io.Reader
	Out          io.Writer
	Redact       *redact.Redactor
	Log          *slog.Logger
	Ready        func(address string) // called once HTTP is served
}

func (a *App) mcpCommand() *cobra.Command {
	var m MCP
	var patience duration
	var tokenFile, as string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the tools to an agent's host (Model Context Protocol)", GroupID: groupProgram, Args: noArgs,
		Long: "Serve the tools to a host that speaks the Model Context Protocol: on standard input and output, which is how hosts start it (`cutroom install` sets that up), or over HTTP with --http.\n\n" +
			"Over HTTP each request needs the bearer token: the first line of --token-file, else the one kept in the state folder, which is made when there is none. Only addresses of this machine are served.\n\n" +
			"Whoever calls here is an agent: the plain one, or with --as one that cutroom.yaml names, which may do less. A call that takes longer than --patience goes on as a job.",
		Example: "  cutroom mcp\n  cutroom mcp --toolsets all\n  cutroom mcp --http 127.0.0.1:8765",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m.Patience = time.Duration(patience)
			return a.serveMCP(cmd.Context(), m, tokenFile, as)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&m.Toolsets, "toolsets", []string{"default"}, "tools to list: default, all, or families such as video,measure; the rest can be called all the same")
	f.Var(&patience, "patience", "how long a call may take before it goes on as a job (default 45s)")
	f.StringVar(&m.HTTP, "http", "", "serve streamable HTTP at this address of this machine, such as 127.0.0.1:8765")
	f.StringVar(&as, "as", "", "principal that calls here, one of the principals of cutroom.yaml with the role agent (default agent)")
	f.StringVar(&tokenFile, "token-file", "", "file whose first line is the bearer token of --http")
	return cmd
}

// serveVideoCommand is the server of the 1.2.0 contracts: exactly the video tools.
func (a *App) serveVideoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve-mcp", Short: "Serve the video.* tools to an agent's host; the same as `cutroom mcp --toolsets video`", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serveMCP(cmd.Context(), MCP{Toolsets: []string{"video"}}, "", "")
		},
	}
}

func (a *App) serveMCP(ctx context.Context, m MCP, tokenFile, as string) error {
	if a.MCP == nil {
		return cutroom.Errorf(cutroom.Unavailable, "this program has no MCP server")
	}
	a.serving = true
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if m.Principal, err = hostPrincipal(i.Engine.Policy, as); err != nil {
		return err
	}
	m.Installation, m.In, m.Out, m.Redact, m.Log = i, a.Stdin, a.out.plain, a.Redact, a.log()
	m.Toolsets, m.Patience = hostChoices(i, m.Toolsets, m.Patience)
	if m.HTTP != "" {
		if m.Token, err = a.token(i, tokenFile); err != nil {
			return err
		}
		m.Ready = func(addr string) { a.remark("serving MCP at http://%s/mcp", addr) }
	}
	return a.MCP(ctx, m)
}

// hostChoices are what a host is served with: what flags say, else the config.
func hostChoices(i *setup.Installation, toolsets []string, patience time.Duration) ([]string, time.Duration) {
	if patience == 0 {
		patience = time.Duration(i.Config.MCP.PatienceSeconds) * time.Second
	}
	if slices.Equal(toolsets, []string{"default"}) && len(i.Config.MCP.Toolsets) > 0 {
		toolsets = i.Config.MCP.Toolsets
	}
	return toolsets, patience
}

// hostPrincipal is who calls through a host: an agent, whatever its name.
func hostPrincipal(p policy.Policy, name string) (cutroom.Principal, error) {
	if name == "" {
		return cutroom.Agent, nil
	}
	who, ok := p.Named(name)
	if !ok || who.Role != cutroom.RoleAgent {
		return who, cutroom.Errorf(cutroom.NotFound, "there is no agent %q", short(name)).
			WithHint("name it among principals in the user's cutroom.yaml; `cutroom policy show` lists them")
	}
	return who, nil
}

// token reads the bearer token of the HTTP door. The one in the state folder is made
// when it is first needed; its place is said, never the token.
func (a *App) token(i *setup.Installation, file string) (string, error) {
	if file == "" {
		token, path, err := i.Token()
		if err == nil {
			a.Redact.Learn(token)
			a.remark("the bearer token is the first line of %s", path)
		}
		return token, err
	}
	if file != "-" && !strings.HasPrefix(file, "/") {
		file = a.Dir + "/" + file
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", cutroom.Errorf(cutroom.NotFound, "the token file cannot be read").WithCause(err).WithHint("--token-file names a file that you may read")
	}
	token, _, _ := strings.Cut(string(raw), "\n")
	if token = strings.TrimSpace(token); len(token) < 16 {
		return "", cutroom.Errorf(cutroom.Invalid, "the token has fewer than 16 characters").WithHint("openssl rand -hex 32 makes a good one")
	}
	a.Redact.Learn(token)
	return token, nil
}
