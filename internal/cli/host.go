package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/host"
)

// hosting are the flags of install and uninstall.
type hosting struct {
	scope  string
	dryRun bool
}

func (a *App) installCommand() *cobra.Command {
	return a.hostCommand(&cobra.Command{
		Use: "install HOST", Short: "Add the server and a /watch skill to an agent's host: claude, codex or opencode", GroupID: groupProgram,
		Long: "Add the MCP server and a skill to a host, for this project or for you in every project. What would change is shown as a diff; what is not cutroom's is never overwritten, and a second run changes nothing.\n\n" +
			"claude    .mcp.json and .claude/skills/watch; then /watch FILE QUESTION\n" +
			"codex     .codex/config.toml and .agents/skills/watch; then $watch FILE QUESTION\n" +
			"opencode  opencode.json and .opencode/commands/watch.md; then /watch FILE QUESTION\n\n" +
			"docs/reference/hosts.md says what each host was seen to do with it.",
		Example: "  cutroom install claude\n  cutroom install codex --scope user --dry-run",
	}, host.Install)
}

func (a *App) uninstallCommand() *cobra.Command {
	return a.hostCommand(&cobra.Command{
		Use: "uninstall HOST", Short: "Take out of a host what install put in", GroupID: groupProgram,
		Long: "Take out exactly what `cutroom install` wrote. What was changed since is left alone and named.",
	}, host.Uninstall)
}

// planner plans the changes of one of the two commands.
type planner func(host.Host, host.Scope, host.Places, host.Server, []string) ([]host.Change, error)

func (a *App) hostCommand(cmd *cobra.Command, plan planner) *cobra.Command {
	var o hosting
	cmd.Args = exactly("HOST")
	cmd.ValidArgs = []string{host.Claude, host.Codex, host.OpenCode}
	cmd.RunE = func(_ *cobra.Command, args []string) error { return a.changeHost(args[0], o, plan) }
	cmd.Flags().StringVar(&o.scope, "scope", string(host.Project), "project (this folder) or user (every project of yours)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change; nothing is written")
	return cmd
}

func (a *App) changeHost(name string, o hosting, plan planner) error {
	h, err := host.Find(name)
	if err != nil {
		return err
	}
	scope := host.Scope(o.scope)
	if scope != host.Project && scope != host.User {
		return usagef("--scope: %q is not project or user", short(o.scope))
	}
	if !o.dryRun {
		if err := a.personOnly("setting up a host"); err != nil {
			return err
		}
	}
	places, err := a.places()
	if err != nil {
		return err
	}
	server, notes := a.server(h, scope)
	for _, q := range host.Qualified() {
		if q.Host == h.Name {
			notes = append(notes, h.Title+" is "+q.Say())
		}
	}
	changes, err := plan(h, scope, places, server, host.SkillTools)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := host.Apply(changes); err != nil {
			return err
		}
	}
	return a.showChanges(h, changes, notes, o.dryRun)
}

// places are where hosts look, by the environment.
func (a *App) places() (host.Places, error) {
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return host.Places{}, cutroom.Errorf(cutroom.Precondition, "there is no home folder").WithHint("set HOME")
	}
	p := host.Places{Project: a.Dir, Home: home, Config: filepath.Join(home, ".config"), Codex: filepath.Join(home, ".codex")}
	if a.flags.root != "" {
		p.Project = a.flags.root
		if !filepath.IsAbs(p.Project) {
			p.Project = filepath.Join(a.Dir, p.Project)
		}
	}
	if d := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		p.Config = d
	}
	if d := a.getenv("CODEX_HOME"); filepath.IsAbs(d) {
		p.Codex = d
	}
	return p, nil
}

// server is how the host starts this program. A project's files are shared, so they
// name the program as PATH has it; a user's name the very file.
func (a *App) server(h host.Host, scope host.Scope) (host.Server, []string) {
	s, notes := host.Server{Command: "cutroom"}, []string{}
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	switch onPath := a.onPath("cutroom"); {
	case err != nil:
		notes = append(notes, "this program's own place is not known: the host looks for cutroom on PATH")
	case scope == host.User:
		s.Command = own
	case onPath == "":
		notes = append(notes, "the host will not find cutroom until it is on PATH (this one is "+own+")")
	}
	if h.Name == host.Codex {
		// Codex gives a server HOME, PATH, LANG and TMPDIR, and what stands here.
		for _, name := range []string{"CUTROOM_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
			if v := a.getenv(name); v != "" {
				if s.Env == nil {
					s.Env = map[string]string{}
				}
				s.Env[name] = v
			}
		}
		if scope == host.Project {
			notes = append(notes, "Codex reads a project's configuration once the project is trusted: start codex in it and say so, or run codex exec --trust")
		}
	}
	if h.Name == host.Claude && scope == host.Project {
		notes = append(notes, "Claude Code asks once whether to use this project's servers")
	}
	return s, notes
}

// onPath finds a program on the caller's PATH.
func (a *App) onPath(name string) string {
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// hostReport is the JSON form of what was done.
type hostReport struct {
	Host   string     `json:"host"`
	DryRun bool       `json:"dry_run"`
	Files  []hostFile `json:"files"`
	Notes  []string   `json:"notes"`
	Start  string     `json:"start"`
}

type hostFile struct {
	File   string      `json:"file"`
	Action host.Action `json:"action"`
	Diff   string      `json:"diff"`
}

func (a *App) showChanges(h host.Host, changes []host.Change, notes []string, dry bool) error {
	r := hostReport{Host: h.Name, DryRun: dry, Notes: notes, Start: h.Invoke}
	present := false
	for _, c := range changes {
		r.Files = append(r.Files, hostFile{c.File, c.Action, c.Diff()})
		present = present || c.Action == host.Created || c.Action == host.Changed || c.Action == host.Unchanged
	}
	if a.flags.json {
		a.printJSON(r)
		return nil
	}
	for _, f := range r.Files {
		for line := range strings.Lines(f.Diff) {
			fmt.Fprintln(a.Stdout, clean(strings.TrimRight(line, "\r\n")))
		}
	}
	would := ""
	if dry {
		would = "would be "
	}
	for _, f := range r.Files {
		fmt.Fprintf(a.Stdout, "%s%s  %s\n", would, f.Action, clean(f.File))
	}
	removed := slices.ContainsFunc(changes, func(c host.Change) bool { return c.Action == host.Removed })
	if present && !removed {
		for _, n := range notes {
			fmt.Fprintln(a.Stdout, "note:", clean(n))
		}
		fmt.Fprintf(a.Stdout, "in %s: %s\n", h.Title, h.Invoke)
	}
	return nil
}
