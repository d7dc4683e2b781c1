package host

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// claude is an entry of mcpServers (code.claude.com/docs: timeout in milliseconds).
type claude struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
	Timeout int               `json:"timeout"`
}

func claudeEntry(s Server) any {
	return claude{Type: "stdio", Command: s.Command, Args: []string{"mcp"}, Env: s.Env, Timeout: callSeconds * 1000}
}

// openCode is an entry of mcp in opencode's configuration.
type openCode struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment,omitempty"`
	Enabled     bool              `json:"enabled"`
}

func openCodeEntry(s Server) any {
	return openCode{Type: "local", Command: []string{s.Command, "mcp"}, Environment: s.Env, Enabled: true}
}

// tomlHead begins our block in Codex's configuration.
const tomlHead = "# Written by `cutroom install codex`; `cutroom uninstall codex` takes it out."

// codexEntry is the table of Codex's configuration. required makes Codex wait for the
// server: without it, it gives an optional one about a second and then goes on without
// its tools.
func codexEntry(s Server) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n[mcp_servers.%s]\ncommand = %s\nargs = [\"mcp\"]\nrequired = true\nstartup_timeout_sec = %d\ntool_timeout_sec = %d\n",
		tomlHead, Name, tomlText(s.Command), startSeconds, callSeconds)
	if len(s.Env) > 0 {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			pairs = append(pairs, tomlText(k)+" = "+tomlText(s.Env[k]))
		}
		fmt.Fprintf(&b, "env = { %s }\n", strings.Join(pairs, ", "))
	}
	return b.String()
}

// tomlText is a basic string (TOML 1.0): Go's escapes are its, but for \x and \a and
// the like, which a printable path does not have.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
