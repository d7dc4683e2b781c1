package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

var tools = []string{"media_watch", "job_wait"}

func places(t *testing.T) Places {
	t.Helper()
	home := t.TempDir()
	p := Places{Project: filepath.Join(home, "work", "film"), Home: home}
	if err := os.MkdirAll(p.Project, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// snapshot is every file beneath a folder with its text.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			files[rel] = "folder"
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			files[rel] = "link to " + to
			return err
		}
		text, err := os.ReadFile(p)
		files[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func have(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func install(t *testing.T, name string, scope Scope, p Places, s Server) []Change {
	t.Helper()
	h, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := Install(h, scope, p, s, Options{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	if err := Apply(changes); err != nil {
		t.Fatal(err)
	}
	return changes
}

func uninstall(t *testing.T, name string, scope Scope, p Places) []Change {
	t.Helper()
	h, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := Uninstall(h, scope, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := Apply(changes); err != nil {
		t.Fatal(err)
	}
	return changes
}

func actions(changes []Change) (list []Action) {
	for _, c := range changes {
		list = append(list, c.Action)
	}
	return list
}

func TestInstallTwiceAndUninstall(t *testing.T) {
	t.Parallel()
	s := Server{Command: "/opt/cut room/cutroom", Env: map[string]string{"CUTROOM_HOME": `/x "y"\z`}, EnvVars: []string{"XDG_DATA_HOME"}}
	for _, h := range Hosts() {
		for _, scope := range h.Scopes {
			// The folders that are there already stay, empty or not.
			for _, folder := range []string{"", ".claude", ".codex", ".agents/skills", ".config/opencode/commands", ".opencode"} {
				t.Run(strings.Join([]string{h.Name, string(scope), folder}, " "), func(t *testing.T) {
					t.Parallel()
					p := places(t)
					for _, base := range []string{p.Home, p.Project} {
						if err := os.MkdirAll(filepath.Join(base, folder), 0o755); err != nil {
							t.Fatal(err)
						}
					}
					before := snapshot(t, p.Home)
					first, err := Install(h, scope, p, s, Options{Tools: tools})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
						t.Fatalf("planning wrote something:\n%s", diff)
					}
					for _, c := range first {
						if c.Action != Created || !strings.Contains(c.Diff(), "+") || filepath.IsAbs(c.File) {
							t.Errorf("%s: %s\n%s", c.File, c.Action, c.Diff())
						}
					}
					if err := Apply(first); err != nil {
						t.Fatal(err)
					}
					installed := snapshot(t, p.Home)
					for _, c := range install(t, h.Name, scope, p, s) {
						if c.Action != Unchanged || c.Diff() != "" {
							t.Errorf("the second time %s is %s", c.File, c.Action)
						}
					}
					if diff := cmp.Diff(installed, snapshot(t, p.Home)); diff != "" {
						t.Errorf("the second time changed something:\n%s", diff)
					}
					uninstall(t, h.Name, scope, p)
					if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
						t.Errorf("after uninstall (-before +after):\n%s", diff)
					}
					for _, c := range uninstall(t, h.Name, scope, p) {
						if c.Action != Unchanged {
							t.Errorf("taken out twice, %s is %s", c.File, c.Action)
						}
					}
				})
			}
		}
	}
}

func TestConflictsAreLeftAlone(t *testing.T) {
	t.Parallel()
	rows := []struct {
		host, file, text, want string
		replaced               string // what the file has after it was overwritten on request
	}{
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":{"command":"other"}}}`, "another server", `"command": "cutroom"`},
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":{"command":"evilcutroom","args":["mcp"]}}}`, "another server", `"command": "cutroom"`},
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":{"command":"cutroom","args":["serve"]}}}`, "another server", `"mcp"`},
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":"cutroom mcp"}}`, "another server", `"mcp"`},
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":{"command":"/old/cutroom","args":["mcp"],"timeout":5}}}`, "changed by hand (timeout, type)", `120000`},
		{Claude, ".claude/skills/watch/SKILL.md", "my own", "not written by cutroom", "media_watch"},
		{Codex, ".codex/config.toml", "[mcp_servers.cutroom]\ncommand = \"other\"\n", "another server", `command = "cutroom"`},
		{Codex, ".codex/config.toml", "[mcp_servers.cutroom]\nurl = \"https://x.example\"\n[tui]\n", "another server", `command = "cutroom"`},
		{OpenCode, "opencode.json", `{"mcp":{"cutroom":{"type":"remote"}}}`, "another server", `"local"`},
		{OpenCode, ".opencode/commands/watch.md", "", "not written by cutroom", "media_watch"},
	}
	for _, r := range rows {
		t.Run(r.host+" "+r.text, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			path := filepath.Join(p.Project, r.file)
			have(t, path, r.text)
			before := snapshot(t, p.Home)
			h, _ := Find(r.host)
			changes, err := Install(h, Project, p, Server{Command: "cutroom"}, Options{Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, c := range changes {
				if c.Action != Conflict {
					continue
				}
				found++
				if c.File != r.file || !strings.Contains(c.Problem, r.want) || c.Hint == "" || c.Diff() != "" || strings.Contains(c.Problem+c.Hint, p.Home) {
					t.Errorf("%+v", c)
				}
			}
			if found != 1 {
				t.Errorf("%d conflicts", found)
			}
			if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
				t.Error(diff)
			}
			changes, err = Install(h, Project, p, Server{Command: "cutroom"}, Options{Tools: tools, Replace: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := Apply(changes); err != nil {
				t.Fatal(err)
			}
			if text, _ := os.ReadFile(path); !strings.Contains(string(text), r.replaced) {
				t.Errorf("replaced: %s", text)
			}
			for _, c := range install(t, r.host, Project, p, Server{Command: "cutroom"}) {
				if c.Action != Unchanged {
					t.Errorf("after replacing, %s is %s", c.File, c.Action)
				}
			}
		})
	}
}

func TestWhatCannotBeReadStopsEverything(t *testing.T) {
	t.Parallel()
	rows := []struct{ host, file, text, want string }{
		{Claude, ".mcp.json", `{"mcpServers":[]}`, "mcpServers holds no object"},
		{Claude, ".mcp.json", `[1]`, "the file holds no object"},
		{Claude, ".mcp.json", "{\n  \"a\": \n}", "line 3"},
		{Claude, ".mcp.json", `{"mcpServers":{},"mcpServers":{}}`, `"mcpServers" twice`},
		{Claude, ".mcp.json", strings.Repeat("[", 1<<20), "too deeply"},
		{Claude, ".claude/skills/watch/SKILL.md/x", "", "SKILL.md: it is no plain file"},
		{Codex, ".codex/config.toml", "b = 1\na = \n", "line 2 is not TOML"},
		{Codex, ".codex/config.toml", "[[mcp_servers]]\n", "holds no table"},
		{OpenCode, "opencode.json", "{\"mcp\": tru}", "line 1"},
	}
	for _, r := range rows {
		t.Run(r.host+" "+r.want, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			have(t, filepath.Join(p.Project, r.file), r.text)
			before := snapshot(t, p.Home)
			h, _ := Find(r.host)
			for what, plan := range map[string]func() ([]Change, error){
				"install":   func() ([]Change, error) { return Install(h, Project, p, Server{Command: "cutroom"}, Options{}) },
				"uninstall": func() ([]Change, error) { return Uninstall(h, Project, p) },
			} {
				changes, err := plan()
				var said string
				if err != nil {
					e := cutroom.AsError(err)
					if said = e.Msg; e.Hint == "" {
						t.Errorf("%s has no hint", what)
					}
				}
				for _, c := range changes {
					if c.Action == Conflict {
						said = c.File + ": " + c.Problem
					}
				}
				if !strings.Contains(said, r.want) || strings.Contains(said, p.Home) {
					t.Errorf("%s says %q", what, said)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a person has set in our entry stays, and goes with it.
func TestOwnSettingsAreKept(t *testing.T) {
	t.Parallel()
	rows := []struct{ host, file, from, to, note string }{
		{Claude, ".mcp.json", `"timeout": 120000`, `"timeout": 600000, "env": {"A": "b"}`, "env.A, timeout"},
		{Claude, ".mcp.json", `"timeout": 120000`, `"timeout": 120000, "env": {}`, ""},
		{OpenCode, "opencode.json", `"enabled": true`, `"enabled": false`, "enabled"},
		{OpenCode, "opencode.json", `"mcp"` + "\n", `"mcp", "--toolset", "all"` + "\n", "command"},
		{Codex, ".codex/config.toml", "required = true", "required = false\nenabled_tools = [\"media_watch\"] # mine", "enabled_tools, required"},
		{Codex, ".codex/config.toml", "tool_timeout_sec = 120\n", "tool_timeout_sec = 120\n\n[mcp_servers.cutroom.tools.media_watch]\napproval_mode = \"approve\"\n\n[tui]\nx = 1\n", "tools"},
	}
	for _, r := range rows {
		t.Run(r.host+" "+r.note, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			path := filepath.Join(p.Project, r.file)
			install(t, r.host, Project, p, Server{Command: "cutroom"})
			text, _ := os.ReadFile(path)
			mine := strings.Replace(string(text), r.from, r.to, 1)
			if mine == string(text) {
				t.Fatalf("%q is not in\n%s", r.from, text)
			}
			have(t, path, mine)
			c := install(t, r.host, Project, p, Server{Command: "cutroom"})[0]
			if c.Action != Unchanged || !strings.HasSuffix(c.Note, r.note) || (r.note == "") != (c.Note == "") {
				t.Errorf("%s, note %q, %s", c.Action, c.Note, c.Problem)
			}
			uninstall(t, r.host, Project, p)
			if left, _ := os.ReadFile(path); bytes.Contains(left, []byte("cutroom")) || strings.Contains(mine, "[tui]") && string(left) != "\n[tui]\nx = 1\n" {
				t.Errorf("left:\n%q", left)
			}
		})
	}
}

func TestUninstallLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	p := places(t)
	install(t, Claude, Project, p, Server{Command: "cutroom"})
	path := filepath.Join(p.Project, ".claude/skills/watch/SKILL.md")
	text, _ := os.ReadFile(path)
	have(t, path, strings.Replace(string(text), "Watch", "Look at", 1))
	changes := uninstall(t, Claude, Project, p)
	if diff := cmp.Diff([]Action{Removed, Conflict}, actions(changes)); diff != "" {
		t.Error(diff)
	}
	if !exists(path) || exists(filepath.Join(p.Project, ".mcp.json")) {
		t.Error("the wrong file is gone")
	}
	have(t, filepath.Join(p.Project, ".mcp.json"), `{"mcpServers":{"cutroom":{"command":"mine","args":["mcp"]}}}`)
	if diff := cmp.Diff([]Action{Conflict, Conflict}, actions(uninstall(t, Claude, Project, p))); diff != "" {
		t.Error(diff)
	}
}

func TestAnOlderSkillIsReplacedAndAChangedOneKept(t *testing.T) {
	t.Parallel()
	p := places(t)
	path := filepath.Join(p.Project, ".claude/skills/watch/SKILL.md")
	old := "---\nname: watch\n---\nold words\n"
	have(t, path, strings.ReplaceAll(sealed(old, 3), "\n", "\r\n"))
	if c := install(t, Claude, Project, p, Server{Command: "cutroom"}); c[1].Action != Changed {
		t.Fatalf("%+v", c)
	}
	if uninstall(t, Claude, Project, p); exists(filepath.Join(p.Project, ".claude")) {
		t.Error("the folders that the older one had made are still there")
	}
	have(t, path, strings.Replace(sealed(old, 0), "old", "my", 1))
	if c := install(t, Claude, Project, p, Server{Command: "cutroom"}); c[1].Action != Conflict {
		t.Errorf("a changed skill is %s", c[1].Action)
	}
}

func TestAUsersFoldersMayBeElsewhere(t *testing.T) {
	t.Parallel()
	p := places(t)
	p.Claude, p.Codex, p.Config = filepath.Join(p.Home, "c"), filepath.Join(t.TempDir(), "x", "y"), filepath.Join(p.Home, "conf")
	var got []string
	for _, h := range Hosts() {
		for _, c := range install(t, h.Name, User, p, Server{Command: "cutroom"}) {
			got = append(got, c.File)
		}
	}
	want := []string{
		"$CLAUDE_CONFIG_DIR/.claude.json", "$CLAUDE_CONFIG_DIR/skills/watch/SKILL.md", "$CODEX_HOME/config.toml", "~/.agents/skills/watch/SKILL.md",
		"$XDG_CONFIG_HOME/opencode/opencode.json", "$XDG_CONFIG_HOME/opencode/commands/watch.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, h := range Hosts() {
		uninstall(t, h.Name, User, p)
	}
	if left := snapshot(t, p.Home); len(left) != 2 || exists(p.Codex) {
		t.Errorf("left: %v", left)
	}
}

func TestOpenCodeReadsTwoFiles(t *testing.T) {
	t.Parallel()
	p := places(t)
	plain, commented := filepath.Join(p.Project, "opencode.json"), filepath.Join(p.Project, "opencode.jsonc")
	have(t, commented, "{ // mine\n}\n")
	if c := install(t, OpenCode, Project, p, Server{Command: "cutroom"})[0]; c.File != "opencode.jsonc" || c.Action != Changed {
		t.Errorf("%+v", c)
	}
	have(t, plain, "{}")
	if c := install(t, OpenCode, Project, p, Server{Command: "cutroom"})[0]; c.File != "opencode.jsonc" || c.Action != Unchanged {
		t.Errorf("%+v", c)
	}
	uninstall(t, OpenCode, Project, p)
	if text, _ := os.ReadFile(commented); string(text) != "{ // mine\n}\n" {
		t.Errorf("%q", text)
	}
	if c := install(t, OpenCode, Project, p, Server{Command: "cutroom"})[0]; c.File != "opencode.json" {
		t.Errorf("%+v", c)
	}
}
