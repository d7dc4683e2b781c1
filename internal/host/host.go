// Package host knows how agents' hosts are configured: where each keeps its servers
// and skills, and how an entry is put in and taken out again.
//
// It promises that every change is planned before anything is written, that what is
// not ours is never overwritten, and that the rest of a file stays as it is, byte for
// byte. It must never know a tool by more than its name, nor a door.
package host

import (
	"path/filepath"
	"slices"

	"cutroom"
)

// Scope says for whom a host is set up.
type Scope string

// The scopes.
const (
	Project Scope = "project" // for everyone who works in this folder
	User    Scope = "user"    // for this user, in every folder
)

// Name is what the server is called in every host.
const Name = "cutroom"

// Host is a program that drives tools for a model.
type Host struct {
	Name   string // as on the command line
	Title  string
	Invoke string // how a person starts a watch in it
}

// The hosts that can be set up.
const (
	Claude   = "claude"
	Codex    = "codex"
	OpenCode = "opencode"
)

// Hosts lists them.
func Hosts() []Host {
	return []Host{
		{Claude, "Claude Code", "/watch FILE QUESTION"},
		{Codex, "Codex", "$watch FILE QUESTION"},
		{OpenCode, "opencode", "/watch FILE QUESTION"},
	}
}

// SkillTools are the tools that the skill may use unasked: those that read, and the
// stopping of a job.
var SkillTools = []string{"media_watch", "media_ask", "measure_probe", "job_get", "job_wait", "job_cancel", "tool_search"}

// Find returns the host of that name.
func Find(name string) (Host, error) {
	hosts := Hosts()
	i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, cutroom.Errorf(cutroom.Invalid, "there is no host %q to set up", name).
			WithHint("use claude, codex or opencode; any other host starts `cutroom mcp`")
	}
	return hosts[i], nil
}

// Places are the folders that hosts read, all absolute.
type Places struct {
	Project string // the project's folder
	Home    string
	Config  string // XDG_CONFIG_HOME, or .config in the home folder
	Codex   string // CODEX_HOME, or .codex in the home folder
}

// Server is how a host starts the server.
type Server struct {
	Command string            // a name on PATH, or an absolute path
	Env     map[string]string // for a host that does not pass on its own environment
}

// Seconds that a host gives the server to start, and a call to be answered. A call
// that takes longer than the server's patience of 45 s goes on as a job.
const (
	startSeconds = 20
	callSeconds  = 120
)

// target is one file of a host and what stands in it for us.
type target struct {
	path string
	edit editor
}

// editor puts our part into a file's text, and takes it out.
type editor interface {
	// put returns the text with our part in it; before is nil when there is no file.
	put(before []byte) ([]byte, error)
	// take returns the text without our part, nil when nothing is left of the file.
	take(before []byte) ([]byte, error)
}

// targets are the files of a host in a scope: its entry first, then its skill.
func targets(h Host, scope Scope, p Places, s Server, tools []string) []target {
	in := func(project, user string) string {
		if scope == Project {
			return filepath.Join(p.Project, project)
		}
		return user
	}
	switch h.Name {
	case Claude:
		return []target{
			{in(".mcp.json", filepath.Join(p.Home, ".claude.json")), jsonEntry{path: []string{"mcpServers", Name}, value: claudeEntry(s)}},
			{in(".claude/skills/watch/SKILL.md", filepath.Join(p.Home, ".claude/skills/watch/SKILL.md")), skill{text: claudeSkill(tools)}},
		}
	case Codex:
		return []target{
			{in(".codex/config.toml", filepath.Join(p.Codex, "config.toml")), tomlEntry{block: codexEntry(s)}},
			{in(".agents/skills/watch/SKILL.md", filepath.Join(p.Home, ".agents/skills/watch/SKILL.md")), skill{text: codexSkill()}},
		}
	default:
		config := in("opencode.json", filepath.Join(p.Config, "opencode/opencode.json"))
		if exists(config + "c") {
			config += "c" // the form with comments, where that is what the user keeps
		}
		return []target{
			{config, jsonEntry{path: []string{"mcp", Name}, value: openCodeEntry(s), schema: "https://opencode.ai/config.json"}},
			{in(".opencode/commands/watch.md", filepath.Join(p.Config, "opencode/commands/watch.md")), skill{text: openCodeCommand()}},
		}
	}
}
