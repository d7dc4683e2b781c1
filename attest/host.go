package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cutroom/internal/modeltest"
)

// client is how one host is driven: what cannot be derived from its name.
type client struct {
	name  string
	title string
	skill string // the installed skill, relative to the project
	wire  modeltest.Wire
	// userSkill is the one installed for the user, relative to the home folder.
	userSkill string
	// prepare writes what the host needs to reach the scripted model. It is the
	// user's part: the project's is written by `cutroom install`.
	prepare func(l *lab, project, url string) error
	env     func(url string) []string
	// watch is the command line of an unattended watch, as a user types it.
	watch func(request string) []string
	// hurry makes the host give a call up after so long.
	hurry func(l *lab, project string, after time.Duration) error
	// allow are the options by which the user lets the model edit and use the host's
	// own shell, unattended.
	allow []string
	// shell is a call of the host's own shell.
	shell func(command string) modeltest.Call
	// tool is the name that the model calls a tool of ours by.
	tool func(name string) string
	// reveal is the step that makes the host show the model tools that it holds back;
	// nil where it holds none back.
	reveal func(tools []string) modeltest.Step
	// searching is prepare with a model that the host shows no tools of servers before
	// it has searched for them; nil where there is none.
	searching func(l *lab, project, url string) error
	pointing  pointing
}

type shellArguments struct {
	Command string `json:"command"`
}

func clients() []client { return []client{claude(), codex(), openCode()} }

const dummyKey = "dummy-key-of-no-service"

func claude() client {
	name := func(tool string) string { return "mcp__cutroom__" + tool }
	return client{
		name: "claude", title: "Claude Code", wire: modeltest.Messages, pointing: claudePointing(),
		skill: ".claude/skills/watch/SKILL.md", userSkill: ".claude/skills/watch/SKILL.md",
		prepare: func(*lab, string, string) error { return nil },
		env: func(url string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + dummyKey, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
			}
		},
		watch: func(request string) []string { return []string{"-p", "/watch " + request} },
		hurry: func(_ *lab, project string, after time.Duration) error {
			// The entry's own time-out holds over the environment's.
			return edit(filepath.Join(project, ".mcp.json"), `"timeout": 120000`, fmt.Sprintf(`"timeout": %d`, after.Milliseconds()))
		},
		allow: []string{"--allowedTools", "Bash," + name("edit_cut")},
		shell: func(command string) modeltest.Call { return modeltest.With("Bash", shellArguments{command}) },
		tool:  name,
		reveal: func(tools []string) modeltest.Step {
			var names []string
			for _, t := range tools {
				names = append(names, name(t))
			}
			return modeltest.Use(modeltest.With("ToolSearch", struct {
				Query string `json:"query"`
				Max   int    `json:"max_results"`
			}{"select:" + strings.Join(names, ","), len(names)}))
		},
	}
}

// codexConfig is the user's file. A model that Codex does not know gets the tools of
// servers at once; trust is what makes Codex read the project's own file.
const codexConfig = `model = "%s"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
[projects.%s]
trust_level = "trusted"
`

func codex() client {
	config := func(model string) func(*lab, string, string) error {
		return func(l *lab, project, url string) error {
			quoted, err := json.Marshal(project) // a basic string of TOML is one of JSON
			if err != nil {
				return err
			}
			return write(l.path(".codex", "config.toml"), fmt.Sprintf(codexConfig, model, url, quoted))
		}
	}
	return client{
		name: "codex", title: "Codex", wire: modeltest.Responses, pointing: codexPointing(),
		skill: ".agents/skills/watch/SKILL.md", userSkill: ".agents/skills/watch/SKILL.md",
		prepare: config("gpt-5.1-codex"), searching: config("gpt-5.5"),
		env:   func(string) []string { return []string{"SCRIPTED_KEY=" + dummyKey} },
		watch: func(request string) []string { return []string{"exec", "--skip-git-repo-check", "$watch " + request} },
		hurry: func(_ *lab, project string, after time.Duration) error {
			return edit(filepath.Join(project, ".codex/config.toml"), "tool_timeout_sec = 120", fmt.Sprintf("tool_timeout_sec = %d", int(after.Seconds())))
		},
		allow: []string{"--sandbox", "danger-full-access"},
		shell: func(command string) modeltest.Call {
			return modeltest.With("exec_command", struct {
				Command string `json:"cmd"`
				Yield   int    `json:"yield_time_ms"` // after which it would answer that the command goes on
			}{command, 30_000})
		},
		tool: func(name string) string { return name },
	}
}

// openCodeConfig is the user's file.
const openCodeConfig = `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
"model":"scripted/scripted","small_model":"scripted/scripted",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"` + dummyKey + `"},
"models":{"scripted":{"name":"Scripted","attachment":true,"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"limit":{"context":200000,"output":8000}}}}}}
`

func openCode() client {
	config := func(l *lab) string { return l.path(".config", "opencode", "opencode.json") }
	return client{
		name: "opencode", title: "opencode", wire: modeltest.Chat, pointing: openCodePointing(),
		skill: ".opencode/commands/watch.md", userSkill: ".config/opencode/commands/watch.md",
		prepare: func(l *lab, _, url string) error {
			return write(config(l), fmt.Sprintf(openCodeConfig, url))
		},
		env: func(string) []string {
			return []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			}
		},
		watch: func(request string) []string { return []string{"run", "--command", "watch", request} },
		hurry: func(_ *lab, project string, _ time.Duration) error {
			// Here the time counts from the last progress, which comes every few seconds.
			return edit(filepath.Join(project, "opencode.json"), `"timeout": 120000`, `"timeout": 900`)
		},
		shell: func(command string) modeltest.Call { return modeltest.With("bash", shellArguments{command}) },
		tool:  func(name string) string { return "cutroom_" + name },
	}
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// edit replaces a text in a file that has to hold it.
func edit(path, from, to string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), from) {
		return fmt.Errorf("%s does not hold %s", filepath.Base(path), from)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
}
