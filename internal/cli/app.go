package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/redact"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
)

// App is one run of the command line.
type App struct {
	Families []*tool.Family
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Environ  []string // as os.Environ
	Dir      string   // absolute; what relative paths start from
	Now      func() time.Time
	// Redact masks secrets in all that is said; nil knows forms of secrets only.
	Redact *redact.Redactor
	// As is who calls, when that is known; nil finds it out from the environment and
	// the parent processes.
	As *cutroom.Principal
	// MCP serves agents' hosts; nil where this program has no such door.
	MCP func(context.Context, MCP) error
	// Serve serves everything over HTTP; nil where this program has no such door.
	Serve func(context.Context, Serve) error
	// Interrupted returns the exit code of a call that a signal stopped.
	Interrupted func() int

	flags    globals
	out      *output
	registry *tool.Registry
	serving  bool // the operator said which workspace, in the configuration of the host
	opened   *setup.Installation
	exit     int
}

// globals are the flags of every command.
type globals struct {
	json, quiet, debug bool
	root, stage        string
}

// Run runs one command line, without the program's own name, and returns the exit
// code. When ctx is cancelled it waits until the call has stopped.
func (a *App) Run(ctx context.Context, args []string) int {
	registry, err := tool.NewRegistry(a.Families...)
	if err != nil {
		return a.fail(cutroom.AsError(err))
	}
	a.registry = registry
	out := newOutput(a.Stdout, a.Redact)
	a.Stdout, a.out = out, out
	root := a.root()
	// A flag may be what is wrong, and stand before --json: that is read by hand.
	a.flags.json = wantsJSON(args)
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	if a.opened != nil {
		a.opened.Close()
	}
	out.finish()
	switch {
	case out.err != nil:
		return a.fail(cutroom.Errorf(cutroom.Unavailable, "the answer could not be written").WithCause(out.err).
			WithHint("check that standard output is open and its disk has space, then repeat the command"))
	case err != nil:
		return a.fail(err)
	}
	return a.exit
}

// fail reports err as the one failure document and returns its exit code.
func (a *App) fail(err error) int {
	e := a.failure(err)
	if a.flags.json {
		a.printJSON(e.Failure())
	}
	a.say("cutroom: %s", e.Msg)
	if e.Hint != "" {
		a.say("  hint: %s", e.Hint)
	}
	if a.flags.debug && e.Err != nil {
		a.say("  cause: %v", e.Err)
	}
	if e.Code == cutroom.Canceled && a.Interrupted != nil {
		return a.Interrupted()
	}
	return e.Code.Facts().Exit
}

// failure is err as a caller sees it. What cobra itself complains about is a wrong
// command line.
func (a *App) failure(err error) *cutroom.Error {
	if u, ok := errors.AsType[usageError](err); ok {
		return u.failure()
	}
	return cutroom.AsError(err)
}

func (a *App) getenv(name string) string {
	for _, kv := range slices.Backward(a.Environ) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// log is where the engine writes; nothing of it is for callers.
func (a *App) log() *slog.Logger {
	if a.flags.debug {
		return slog.New(a.Redact.Handler(slog.NewTextHandler(a.Stderr, nil)))
	}
	return slog.New(slog.DiscardHandler)
}

// open builds the engine once, when a command first needs it.
func (a *App) open(ctx context.Context) (*setup.Installation, error) {
	if a.opened != nil {
		return a.opened, nil
	}
	i, err := setup.Open(ctx, setup.Options{
		Dir: a.Dir, Root: a.flags.root, Stage: a.flags.stage, Registry: a.registry, Redact: a.Redact, Log: a.log(), Warn: a.stale, Now: a.Now,
	})
	if err == nil && !a.serving && a.principal().Role == cutroom.RoleAgent {
		if err = a.ownWorkspace(i); err != nil {
			return nil, errors.Join(err, i.Close())
		}
	}
	a.opened = i
	return i, err
}

// stale says that a config file changed and is not followed.
func (a *App) stale(err error) {
	e := a.failure(err)
	a.say("cutroom: a config file changed and is wrong; what it said before goes on to hold: %s", e.Msg)
	if e.Hint != "" {
		a.say("  hint: %s", e.Hint)
	}
}

// ownWorkspace refuses an agent's --root that is not in the workspace where it is, nor
// beneath a folder that the operator's file lists: what relative rules mean and what may
// be read at all hangs on the workspace.
func (a *App) ownWorkspace(i *setup.Installation) error {
	if a.flags.root == "" {
		return nil
	}
	asked := resolved(i.Workspace)
	for _, folder := range append([]string{config.FindWorkspace(a.Dir)}, i.Config.Roots...) {
		if inside(resolved(folder), asked) {
			return nil
		}
	}
	return cutroom.Errorf(cutroom.Denied, "--root %q is outside the workspace", short(a.flags.root)).
		WithHint("run from a folder of that workspace, or have the operator list it under roots in cutroom.yaml")
}

// wantsJSON reads --json out of a command line that may not parse.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		value, ok := strings.CutPrefix(arg, "--json=")
		switch {
		case arg == "--":
			return false
		case arg == "--json":
			return true
		case ok:
			v, _ := strconv.ParseBool(value)
			return v
		}
	}
	return false
}

// noArgs refuses positional words.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("`%s` takes no %q", cmd.CommandPath(), args[0])
	}
	return nil
}
