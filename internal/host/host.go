// Package host knows how agents' hosts are configured: where each keeps its servers
// and skills, and how an entry is put in and taken out again.
//
// It promises that every change is planned before anything is written, that what is
// not ours is never overwritten unasked, that the rest of a file stays as it is, byte
// for byte, and that taking out what was put in gives back the bytes from before.
// It must never know a tool by more than its name, nor a door.
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
	Invoke string  // how a person starts a watch in it
	Scopes []Scope // for whom it can be set up
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
		{Claude, "Claude Code", "/watch FILE QUESTION", []Scope{Project, User}},
		{Codex, "Codex", "$watch FILE QUESTION", []Scope{Project, User}},
		{OpenCode, "opencode", "/watch FILE QUESTION", []Scope{Project, User}},
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

// Places are the folders that hosts read, all absolute. Project and Home are needed;
// the others are for a user who has moved a host's folder, and "" is where it is by
// itself.
type Places struct {
	Project string // the project's folder
	Home    string
	Claude  string // CLAUDE_CONFIG_DIR
	Codex   string // CODEX_HOME
	Config  string // XDG_CONFIG_HOME
}

// claude returns the user's file of servers and the folder of Claude Code: by itself
// the file lies beside the folder, in a folder of the user's choice within it.
func (p Places) claude() (file, folder string) {
	if p.Claude != "" {
		return filepath.Join(p.Claude, ".claude.json"), p.Claude
	}
	return filepath.Join(p.Home, ".claude.json"), filepath.Join(p.Home, ".claude")
}

func (p Places) codex() string {
	if p.Codex != "" {
		return p.Codex
	}
	return filepath.Join(p.Home, ".codex")
}

func (p Places) openCode() string {
	if p.Config != "" {
		return filepath.Join(p.Config, "opencode")
	}
	return filepath.Join(p.Home, ".config", "opencode")
}

// Server is how a host starts the server.
type Server struct {
	Command string            // a name on PATH, or an absolute path
	Env     map[string]string // values, for a host that does not pass on its own environment
	EnvVars []string          // names, of which such a host passes on what it has itself
}

// FolderVariables move the folders that cutroom uses. A host that gives a server
// nothing but a few variables is told to pass these on.
var FolderVariables = []string{"CUTROOM_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}

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

// targets are the files of a host in a scope: its entry first, then its skill.
func targets(h Host, scope Scope, p Places, s Server, tools []string) []target {
	in := func(project, user string) string {
		if scope == Project {
			return filepath.Join(p.Project, filepath.FromSlash(project))
		}
		return user
	}
	switch h.Name {
	case Claude:
		file, folder := p.claude()
		return []target{
			{in(".mcp.json", file), jsonEntry{path: [2]string{"mcpServers", Name}, value: claudeEntry(s)}},
			{in(".claude/skills/watch/SKILL.md", filepath.Join(folder, "skills", "watch", "SKILL.md")), skill{text: claudeSkill(tools)}},
		}
	case Codex:
		return []target{
			{in(".codex/config.toml", filepath.Join(p.codex(), "config.toml")), tomlEntry{server: s}},
			{in(".agents/skills/watch/SKILL.md", filepath.Join(p.Home, ".agents", "skills", "watch", "SKILL.md")), skill{text: codexSkill()}},
		}
	default:
		e := jsonEntry{path: [2]string{"mcp", Name}, value: openCodeEntry(s), schema: "https://opencode.ai/config.json"}
		return []target{
			{openCodeFile(in("opencode.json", filepath.Join(p.openCode(), "opencode.json")), e), e},
			{in(".opencode/commands/watch.md", filepath.Join(p.openCode(), "commands", "watch.md")), skill{text: openCodeCommand()}},
		}
	}
}

// openCodeFile is the one of opencode's two files, both of which it reads, that has
// our entry; else the one that is there; else the plain one.
func openCodeFile(plain string, e jsonEntry) string {
	commented := plain + "c"
	switch {
	case e.in(commented), !exists(plain) && exists(commented):
		return commented
	}
	return plain
}
