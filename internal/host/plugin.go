package host

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// pluginReadme is for those who find the plugin in a marketplace.
//
//go:embed skill/plugin.md
var pluginReadme string

// Plugin is the folder that the plugin marketplaces of Claude Code and Codex read, by
// path in it. Both read the same marketplace file; each has its own manifest and its
// own way of naming the server's program.
func Plugin(version string, tools []string) (map[string][]byte, error) {
	type author struct {
		Name string `json:"name"`
	}
	type listed struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
	}
	type server struct {
		Command  string   `json:"command"`
		Args     []string `json:"args"`
		Required bool     `json:"required,omitempty"`
		Start    int      `json:"startup_timeout_sec,omitempty"`
		Call     int      `json:"tool_timeout_sec,omitempty"`
		EnvVars  []string `json:"env_vars,omitempty"`
		Timeout  int      `json:"timeout,omitempty"`
	}
	type servers struct {
		Servers map[string]server `json:"mcpServers"`
	}
	run := []string{"mcp"}
	files := map[string]any{
		".claude-plugin/marketplace.json": struct {
			Name        string   `json:"name"`
			Description string   `json:"description"`
			Owner       author   `json:"owner"`
			Plugins     []listed `json:"plugins"`
		}{Name, description, author{Name}, []listed{{Name, "./" + Name, description}}},
		Name + "/.claude-plugin/plugin.json": struct {
			Name        string `json:"name"`
			Version     string `json:"version"`
			Description string `json:"description"`
			Author      author `json:"author"`
			License     string `json:"license"`
		}{Name, version, description, author{Name}, "Apache-2.0"},
		Name + "/.mcp.json": servers{map[string]server{Name: {Command: Name, Args: run, Timeout: callSeconds * 1000}}},
		Name + "/.codex-plugin/plugin.json": struct {
			Name        string `json:"name"`
			Version     string `json:"version"`
			Description string `json:"description"`
			Servers     string `json:"mcpServers"`
			Skills      string `json:"skills"`
		}{Name, version, description, "./mcp.codex.json", "./skills/"},
		Name + "/mcp.codex.json": servers{map[string]server{Name: {Command: Name, Args: run, Required: true, Start: startSeconds, Call: callSeconds, EnvVars: FolderVariables}}},
	}
	out := map[string][]byte{}
	for path, v := range files {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, err
		}
		out[path] = append(text, '\n')
	}
	// Claude Code names a plugin's tools by the plugin and the server; Codex passes over
	// what it does not know at the head of a skill.
	text := strings.Replace(claudeSkill(tools), toolNames(tools, "mcp__"+Name+"__"), toolNames(tools, "mcp__plugin_"+Name+"_"+Name+"__"), 1)
	out[Name+"/skills/watch/SKILL.md"] = []byte(text)
	out[Name+"/README.md"] = []byte(pluginReadme)
	return out, nil
}
