package cli

import (
	"context"
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
	scope   string
	dryRun  bool
	replace bool
}

func (a *App) installCommand() *cobra.Command {
	var o hosting
	cmd := &cobra.Command{
		Use: "install HOST", Short: "Add the server and a /watch skill to an agent's host: claude, codex or opencode", GroupID: groupProgram,
		Long: "Add the MCP server and a skill to a host: for everyone who works in this folder, or for you in every folder. What changes is shown as a diff before it is written. " +
			"A server named cutroom that starts something else, or a skill that was changed by hand, is left alone, and then nothing is written. A second run changes nothing; one after the program has moved corrects its path.\n\n" +
			"claude    .mcp.json and .claude/skills/watch; then /watch FILE QUESTION\n" +
			"          user: ~/.claude.json and ~/.claude/skills/watch\n" +
			"codex     .codex/config.toml and .agents/skills/watch; then $watch FILE QUESTION\n" +
			"          user: ~/.codex/config.toml and ~/.agents/skills/watch\n" +
			"opencode  opencode.json and .opencode/commands/watch.md; then /watch FILE QUESTION\n" +
			"          user: the same in ~/.config/opencode, without the dot\n\n" +
			"CLAUDE_CONFIG_DIR, CODEX_HOME and XDG_CONFIG_HOME move the user's folders, as they do for the hosts. A project's files name the program as PATH has it, since they are shared; a user's name this very file. " +
			"Only a person can install: it changes what an agent may do. An agent can use --dry-run.\n\n" +
			"The page docs/reference/hosts.md says what each host was seen to do with it.",
		Example: "  cutroom install claude\n  cutroom install codex --scope user --dry-run",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args[0], o) },
	}
	cmd.Flags().BoolVar(&o.replace, "replace", false, "overwrite a server named cutroom and a skill named watch that are not as cutroom writes them")
	return hostCommand(cmd, &o)
}

func (a *App) uninstallCommand() *cobra.Command {
	var o hosting
	return hostCommand(&cobra.Command{
		Use: "uninstall HOST", Short: "Take out of a host what install put in", GroupID: groupProgram,
		Long: "Take out what `cutroom install` wrote: the entry that starts cutroom, the skill, and files and folders that were made for them. The rest of each file stays as it is. What is not cutroom's, or a skill that was changed by hand, is left alone and named.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.uninstall(cmd.Context(), args[0], o) },
	}, &o)
}

func hostCommand(cmd *cobra.Command, o *hosting) *cobra.Command {
	cmd.Args = exactly("HOST")
	for _, h := range host.Hosts() {
		cmd.ValidArgs = append(cmd.ValidArgs, h.Name)
	}
	cmd.Flags().StringVar(&o.scope, "scope", string(host.Project), "project (this folder) or user (every project of yours)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change; nothing is written")
	return cmd
}

func (a *App) install(ctx context.Context, name string, o hosting) error {
	h, scope, places, err := a.hostAndPlaces(ctx, name, o)
	if err != nil {
		return err
	}
	server, notes := a.server(h, scope)
	changes, err := host.Install(h, scope, places, server, host.Options{Tools: host.SkillTools, Replace: o.replace})
	if err != nil {
		return err
	}
	r := report(h, scope, o, changes)
	r.Notes = append(notes, r.Notes...)
	for _, q := range host.Qualified() {
		if q.Host == h.Name {
			r.Notes = append(r.Notes, h.Title+" is "+q.Say())
		}
	}
	if r.conflicts == 0 {
		r.Next = next(h, scope, places)
	}
	return a.apply(r, changes, !o.dryRun && r.conflicts == 0)
}

func (a *App) uninstall(ctx context.Context, name string, o hosting) error {
	h, scope, places, err := a.hostAndPlaces(ctx, name, o)
	if err != nil {
		return err
	}
	changes, err := host.Uninstall(h, scope, places)
	if err != nil {
		return err
	}
	return a.apply(report(h, scope, o, changes), changes, !o.dryRun)
}

func (a *App) hostAndPlaces(ctx context.Context, name string, o hosting) (h host.Host, scope host.Scope, places host.Places, err error) {
	if h, err = host.Find(name); err != nil {
		return h, scope, places, err
	}
	if scope = host.Scope(o.scope); !slices.Contains(h.Scopes, scope) {
		return h, scope, places, usagef("--scope: %q is not project or user", short(o.scope))
	}
	if !o.dryRun {
		if err := a.personOnly(ctx, "setting up a host"); err != nil {
			return h, scope, places, err
		}
	}
	places, err = a.places()
	return h, scope, places, err
}

// places are where hosts look, by the environment.
func (a *App) places() (host.Places, error) {
	home := firstOf(a.getenv("HOME"), a.getenv("USERPROFILE"))
	if !filepath.IsAbs(home) {
		return host.Places{}, cutroom.Errorf(cutroom.Precondition, "there is no home folder").WithHint("set HOME")
	}
	p := host.Places{Project: a.Dir, Home: filepath.Clean(home)}
	if a.flags.root != "" {
		p.Project = paths{dir: a.Dir}.absolute(a.flags.root)
	}
	if info, err := os.Stat(p.Project); err != nil || !info.IsDir() {
		return host.Places{}, cutroom.Errorf(cutroom.NotFound, "there is no folder %q", a.flags.root).WithHint("give the project's folder as --root")
	}
	for name, place := range map[string]*string{"CLAUDE_CONFIG_DIR": &p.Claude, "CODEX_HOME": &p.Codex, "XDG_CONFIG_HOME": &p.Config} {
		if d := a.getenv(name); filepath.IsAbs(d) {
			*place = filepath.Clean(d)
		}
	}
	return p, nil
}

// server is how the host starts this program. A project's files are shared, so they
// name the program as PATH has it; a user's name the very file.
func (a *App) server(h host.Host, scope host.Scope) (host.Server, []string) {
	s, notes := host.Server{Command: host.Name}, []string{}
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	found := a.onPath(host.Name)
	switch {
	case scope == host.User && err == nil:
		s.Command = own
	case found == "":
		notes = append(notes, "the host will not find cutroom until it is on PATH")
	case err == nil && found != own:
		notes = append(notes, "PATH has another cutroom than the one that runs now")
	}
	if h.Name != host.Codex {
		return s, notes
	}
	// Codex gives a server HOME, PATH, LANG and TMPDIR, and what its entry says.
	if scope == host.Project {
		s.EnvVars = host.FolderVariables
		return s, notes
	}
	s.Env = map[string]string{}
	for _, name := range host.FolderVariables {
		if v := a.getenv(name); v != "" {
			s.Env[name] = v
		}
	}
	return s, notes
}

// onPath finds a program on the caller's PATH, with links resolved.
func (a *App) onPath(name string) string {
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// next says what a person has to do before the host uses the server.
func next(h host.Host, scope host.Scope, p host.Places) []string {
	var steps []string
	switch {
	case scope == host.User:
	case h.Name == host.Codex:
		folder := p.Project
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		steps = append(steps, "trust this project, without which Codex does not read its configuration: start `codex` here and say yes, or run `codex exec --trust` once, or add these lines to your own config.toml:\n"+host.Trust(folder))
	case h.Name == host.Claude:
		steps = append(steps, "start `claude` here and approve the project's server when it asks; `claude -p` does not ask")
	}
	return append(steps, "in "+h.Title+": "+h.Invoke)
}

// hostReport is the JSON form of what was done.
type hostReport struct {
	Host   string     `json:"host"`
	Scope  host.Scope `json:"scope"`
	DryRun bool       `json:"dry_run"`
	// Written says that the changes were made: not in a dry run, and on install not
	// when anything is in the way.
	Written bool       `json:"written"`
	Files   []hostFile `json:"files"`
	Notes   []string   `json:"notes"`
	Next    []string   `json:"next"`

	conflicts int
}

type hostFile struct {
	File    string      `json:"file"`
	Action  host.Action `json:"action"`
	Diff    string      `json:"diff"`
	Problem string      `json:"problem,omitempty"`
	Hint    string      `json:"hint,omitempty"`
}

func report(h host.Host, scope host.Scope, o hosting, changes []host.Change) hostReport {
	r := hostReport{Host: h.Name, Scope: scope, DryRun: o.dryRun, Notes: []string{}, Next: []string{}}
	for _, c := range changes {
		r.Files = append(r.Files, hostFile{c.File, c.Action, c.Diff(), c.Problem, c.Hint})
		if c.Note != "" {
			r.Notes = append(r.Notes, c.File+": "+c.Note)
		}
		if c.Action == host.Conflict {
			r.conflicts++
		}
	}
	return r
}

// apply shows the changes, makes them if it is to, and says what was done. Something in
// the way makes the exit code that of a conflict.
func (a *App) apply(r hostReport, changes []host.Change, write bool) error {
	if !a.flags.json {
		for _, f := range r.Files {
			for line := range strings.Lines(f.Diff) {
				fmt.Fprintln(a.Stdout, clean(strings.TrimRight(line, "\r\n")))
			}
		}
	}
	if write {
		if err := host.Apply(changes); err != nil {
			return err
		}
		r.Written = true
	}
	if r.conflicts > 0 {
		a.exit = cutroom.Conflict.Facts().Exit
	}
	if a.flags.json {
		a.printJSON(r)
		return nil
	}
	for _, f := range r.Files {
		done := string(f.Action)
		if !r.Written && f.Action != host.Unchanged && f.Action != host.Conflict {
			done = "would be " + done
		}
		fmt.Fprintf(a.Stdout, "%s  %s\n", done, clean(f.File))
		if f.Problem != "" {
			a.say("cutroom: %s: %s", f.File, f.Problem)
			a.say("  hint: %s", f.Hint)
		}
	}
	if r.conflicts > 0 && !write && !r.DryRun {
		a.say("nothing was written")
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.Stdout, "note:", clean(n))
	}
	for _, n := range r.Next {
		lead := "next: "
		for line := range strings.Lines(n) {
			fmt.Fprintln(a.Stdout, lead+clean(strings.TrimRight(line, "\n")))
			lead = "      "
		}
	}
	return nil
}
