package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cutroom"
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

// openCode is an entry of mcp in opencode's configuration (opencode.ai/config.json:
// timeout in milliseconds, of every request).
type openCode struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment,omitempty"`
	Enabled     bool              `json:"enabled"`
	Timeout     int               `json:"timeout"`
}

func openCodeEntry(s Server) any {
	return openCode{Type: "local", Command: []string{s.Command, "mcp"}, Environment: s.Env, Enabled: true, Timeout: callSeconds * 1000}
}

// codexEntry are the keys of our table in Codex's configuration, with their TOML
// values. required makes Codex wait for the server: without it, it gives an optional
// one about a second and then goes on without its tools.
func codexEntry(s Server) [][2]string {
	keys := [][2]string{
		{"command", tomlText(s.Command)},
		{"args", `["mcp"]`},
		{"required", "true"},
		{"startup_timeout_sec", fmt.Sprint(startSeconds)},
		{"tool_timeout_sec", fmt.Sprint(callSeconds)},
	}
	if len(s.Env) > 0 {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			pairs = append(pairs, tomlText(k)+" = "+tomlText(s.Env[k]))
		}
		keys = append(keys, [2]string{"env", "{ " + strings.Join(pairs, ", ") + " }"})
	}
	if len(s.EnvVars) > 0 {
		var names []string
		for _, n := range s.EnvVars {
			names = append(names, tomlText(n))
		}
		keys = append(keys, [2]string{"env_vars", "[" + strings.Join(names, ", ") + "]"})
	}
	return keys
}

// Trust are the lines of a user's configuration that make Codex read a project's.
func Trust(folder string) string {
	return "[projects." + tomlText(folder) + "]\ntrust_level = \"trusted\""
}

// standing is how an entry that is there relates to the one that we would write.
type standing struct {
	ours  bool     // it starts our program
	moved bool     // but from another place, or with other folders
	tuned []string // keys that a person has set otherwise, or added
}

// compare compares two entries. Both are what a parser made of them.
func compare(have, want any) standing {
	h, w := plain(have), plain(want)
	s := standing{ours: starts(h)}
	for _, k := range slices.Sorted(maps.Keys(merged(h, w))) {
		switch k {
		case "command":
			if list, ok := h[k].([]any); ok && len(list) > 2 {
				s.tuned = append(s.tuned, k) // further arguments
			} else if !same(h[k], w[k]) {
				s.moved = true
			}
		case "env", "environment":
			s.environment(k, h[k], w[k])
		case "env_vars":
			s.names(h[k], w[k])
		default:
			if !same(h[k], w[k]) {
				s.tuned = append(s.tuned, k)
			}
		}
	}
	return s
}

// environment compares variables: what is there beyond ours is a person's.
func (s *standing) environment(key string, have, want any) {
	h, _ := have.(map[string]any)
	w, _ := want.(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(merged(h, w))) {
		if _, ours := w[k]; !ours {
			s.tuned = append(s.tuned, key+"."+k)
		} else if !same(h[k], w[k]) {
			s.moved = true
		}
	}
}

func (s *standing) names(have, want any) {
	h, _ := have.([]any)
	w, _ := want.([]any)
	for _, name := range w {
		s.moved = s.moved || !slices.ContainsFunc(h, func(x any) bool { return same(x, name) })
	}
	if len(h) > len(w) {
		s.tuned = append(s.tuned, "env_vars")
	}
}

// starts says whether an entry starts our program with the words that we give it.
func starts(entry map[string]any) bool {
	var words []any
	switch c := entry["command"].(type) {
	case string:
		args, _ := entry["args"].([]any)
		words = append([]any{c}, args...)
	case []any:
		words = c
	}
	if len(words) < 2 || words[1] != "mcp" {
		return false
	}
	program, _ := words[0].(string)
	program = program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.TrimSuffix(program, ".exe") == Name
}

// resolve says what to do with an entry that is there: keep it (with what a person has
// tuned), or write ours in its place.
func (s standing) resolve(where string, replace bool) (keep bool, note string, err error) {
	switch {
	case replace:
		return s.ours && !s.moved && len(s.tuned) == 0, "", nil
	case !s.ours:
		return false, "", errConflict(where+" already has another server named "+Name, "remove that entry if it is not needed, or run with --replace")
	case s.moved && len(s.tuned) > 0:
		return false, "", errConflict("the server "+Name+" in "+where+" is in another place, and was changed by hand ("+strings.Join(s.tuned, ", ")+")",
			"correct its command by hand, or run with --replace")
	case len(s.tuned) > 0:
		return true, "kept as you have set it: " + strings.Join(s.tuned, ", "), nil
	}
	return !s.moved, "", nil
}

// plain is a value as JSON has it, so that entries of all formats compare alike.
func plain(v any) map[string]any {
	var m map[string]any
	if raw, err := json.Marshal(v); err != nil || json.Unmarshal(raw, &m) != nil {
		return map[string]any{"": nil} // nobody's server
	}
	return m
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func merged(a, b map[string]any) map[string]any {
	m := map[string]any{}
	maps.Copy(m, a)
	maps.Copy(m, b)
	return m
}

func errConflict(what, hint string) error {
	return cutroom.Errorf(cutroom.Conflict, "%s", what).WithHint("%s", hint)
}
