package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"cutroom"
)

var tools = []string{"media_watch", "job_wait"}

func places(t *testing.T) Places {
	t.Helper()
	home := t.TempDir()
	return Places{Project: filepath.Join(home, "work", "film"), Home: home, Config: filepath.Join(home, ".config"), Codex: filepath.Join(home, ".codex")}
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
		text, err := os.ReadFile(p)
		files[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestInstallTwiceAndUninstall(t *testing.T) {
	t.Parallel()
	s := Server{Command: "/opt/cut room/cutroom", Env: map[string]string{"CUTROOM_HOME": `/x "y"\z`}}
	for _, h := range Hosts() {
		for _, scope := range []Scope{Project, User} {
			t.Run(h.Name+" "+string(scope), func(t *testing.T) {
				t.Parallel()
				p := places(t)
				if err := os.MkdirAll(p.Project, 0o755); err != nil {
					t.Fatal(err)
				}
				before := snapshot(t, p.Home)
				first, err := Install(h, scope, p, s, tools)
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
				again, err := Install(h, scope, p, s, tools)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range again {
					if c.Action != Unchanged || c.Diff() != "" {
						t.Errorf("the second time %s is %s", c.File, c.Action)
					}
				}
				if err := Apply(again); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(installed, snapshot(t, p.Home)); diff != "" {
					t.Errorf("the second time changed something:\n%s", diff)
				}
				out, err := Uninstall(h, scope, p, Server{Command: "cutroom"}, tools)
				if err != nil {
					t.Fatal(err)
				}
				if err := Apply(out); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
					t.Errorf("after uninstall (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// Each file with what a person has in it already; install and uninstall leave it as
// it was.
var kept = map[string]map[string]string{
	Claude: {
		"plain":          "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
		"no servers":     "{\n  \"a\": [1, 2]\n}\n",
		"one line":       `{"a":1,"mcpServers":{"other":{"command":"x"}}}`,
		"tabs":           "{\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t},\n\t\"z\": 1\n}",
		"windows":        "{\r\n  \"mcpServers\": {\r\n    \"other\": {}\r\n  }\r\n}\r\n",
		"byte order":     "\ufeff{\n  \"a\": 1\n}\n",
		"comments":       "// mine\n{\n  \"mcpServers\": {\n    // keep\n    \"other\": {}, // and this\n  },\n}\n",
		"trailing comma": "{\n  \"mcpServers\": {\n    \"other\": {},\n  },\n  \"b\": 2,\n}\n",
	},
	OpenCode: {
		"plain":    "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"model\": \"x\"\n}\n",
		"comments": "{\n  /* a */ \"mcp\": { \"other\": { \"type\": \"local\" } } // b\n}\n",
	},
	Codex: {
		"plain":    "model = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n",
		"comments": "# mine\n[features] # here\nplugins = false\n\n\n",
		"windows":  "model = \"x\"\r\n[tui]\r\na = 1\r\n",
		"arrays":   "[[hooks]]\na = 1\n[[hooks]]\na = 2\n",
		"dotted":   "mcp_servers.other.command = \"y\"\n",
	},
}

func TestWhatIsThereStays(t *testing.T) {
	t.Parallel()
	for name, files := range kept {
		h, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range files {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				p := places(t)
				path := targets(h, Project, p, Server{}, tools)[0].path
				write(t, path, text)
				changes, err := Install(h, Project, p, Server{Command: "cutroom"}, tools)
				if err != nil {
					t.Fatal(err)
				}
				if changes[0].Action != Changed {
					t.Errorf("the file is %s", changes[0].Action)
				}
				if err := Apply(changes); err != nil {
					t.Fatal(err)
				}
				after, _ := os.ReadFile(path)
				for _, word := range strings.Fields(text) {
					if word = strings.TrimRight(word, ",{}"); !bytes.Contains(after, []byte(word)) {
						t.Errorf("lost %q in\n%s", word, after)
					}
				}
				if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
					t.Errorf("the mode is %v", info.Mode())
				}
				again, err := Install(h, Project, p, Server{Command: "cutroom"}, tools)
				if err != nil || again[0].Action != Unchanged {
					t.Fatalf("again: %v, %v", again, err)
				}
				out, err := Uninstall(h, Project, p, Server{Command: "cutroom"}, tools)
				if err != nil {
					t.Fatal(err)
				}
				if err := Apply(out); err != nil {
					t.Fatal(err)
				}
				if back, _ := os.ReadFile(path); string(back) != text {
					t.Errorf("after uninstall:\n%q\nwant\n%q\nwas\n%q", back, text, after)
				}
			})
		}
	}
}

func TestConflictsAreLeftAlone(t *testing.T) {
	t.Parallel()
	rows := []struct{ host, file, text, want string }{
		{Claude, ".mcp.json", `{"mcpServers":{"cutroom":{"command":"other"}}}`, "another server"},
		{Claude, ".mcp.json", `{"mcpServers":[]}`, "no object"},
		{Claude, ".mcp.json", `[1]`, "no object"},
		{Claude, ".mcp.json", "{\n  \"a\": \n}", "not JSON"},
		{Claude, ".claude/skills/watch/SKILL.md", "my own", "not written by cutroom"},
		{Codex, ".codex/config.toml", "[mcp_servers.cutroom]\ncommand = \"other\"\n", "another server"},
		{Codex, ".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n", "cannot be added to"},
		{Codex, ".codex/config.toml", "a = \n", "line 1 is not TOML"},
		{OpenCode, "opencode.json", `{"mcp":{"cutroom":{"type":"remote"}}}`, "another server"},
	}
	for _, r := range rows {
		t.Run(r.host+" "+r.want, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			write(t, filepath.Join(p.Project, r.file), r.text)
			before := snapshot(t, p.Home)
			h, _ := Find(r.host)
			_, err := Install(h, Project, p, Server{Command: "cutroom"}, tools)
			e := cutroom.AsError(err)
			if err == nil || !strings.Contains(e.Msg, r.want) || !strings.HasPrefix(e.Msg, r.file) || e.Hint == "" || strings.Contains(e.Error(), p.Home) {
				t.Errorf("got %v, hint %q", err, e.Hint)
			}
			if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnOlderSkillIsReplacedAndAChangedOneKept(t *testing.T) {
	t.Parallel()
	p := places(t)
	h, _ := Find(Claude)
	path := filepath.Join(p.Project, ".claude/skills/watch/SKILL.md")
	old := "---\nname: watch\n---\nold words\n"
	write(t, path, skill{text: old}.sealed())
	changes, err := Install(h, Project, p, Server{Command: "cutroom"}, tools)
	if err != nil || changes[1].Action != Changed {
		t.Fatalf("%v, %v", changes, err)
	}
	write(t, path, strings.Replace(skill{text: old}.sealed(), "old", "my", 1))
	if _, err := Install(h, Project, p, Server{Command: "cutroom"}, tools); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Conflict {
		t.Errorf("a changed skill: %v", err)
	}
}

func TestLinksAreFollowedAndStay(t *testing.T) {
	t.Parallel()
	p := places(t)
	h, _ := Find(Claude)
	real := filepath.Join(p.Home, "dotfiles", "claude.json")
	write(t, real, "{}")
	link := filepath.Join(p.Home, ".claude.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	changes, err := Install(h, User, p, Server{Command: "/bin/cutroom"}, tools)
	if err != nil {
		t.Fatal(err)
	}
	if err := Apply(changes); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if text, _ := os.ReadFile(real); !bytes.Contains(text, []byte("/bin/cutroom")) {
		t.Errorf("the file has %s", text)
	}
}

func TestAFailureTakesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	p := places(t)
	h, _ := Find(Claude)
	write(t, filepath.Join(p.Project, ".mcp.json"), "{}\n")
	changes, err := Install(h, Project, p, Server{Command: "cutroom"}, tools)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Project, ".claude"), "a file where a folder has to be")
	before := snapshot(t, p.Home)
	if err := Apply(changes); err == nil || !strings.HasPrefix(err.Error(), ".claude/skills/watch/SKILL.md") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, p.Home)); diff != "" {
		t.Error(diff)
	}
}

// A file of any form that parses stays as it was after install and uninstall.
func TestJSONThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{}
		for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "mcpServers", "b c", "x"}), func(s string) string { return s }).Draw(t, "keys") {
			object[k] = map[string]any{"n": rapid.Int().Draw(t, "n"), "s": rapid.String().Draw(t, "s")}
		}
		if len(object) == 0 {
			return
		}
		raw, err := json.MarshalIndent(object, "", rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		e := jsonEntry{path: []string{"mcpServers", Name}, value: claudeEntry(Server{Command: "cutroom"})}
		in, err := e.put(raw)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			MCP map[string]any `json:"mcpServers"`
		}
		if err := json.Unmarshal(in, &got); err != nil || got.MCP[Name] == nil {
			t.Fatalf("%v\n%s", err, in)
		}
		back, err := e.take(in)
		if err != nil || string(back) != string(raw) {
			t.Fatalf("%v\n%q\n%q", err, back, raw)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, files := range kept {
		for _, text := range files {
			f.Add([]byte(text))
		}
	}
	e := jsonEntry{path: []string{"mcpServers", Name}, value: claudeEntry(Server{Command: "cutroom"})}
	f.Fuzz(func(t *testing.T, src []byte) {
		in, err := e.put(src)
		if err != nil {
			return
		}
		if again, err := e.put(in); err != nil || string(again) != string(in) {
			t.Errorf("%q: put twice: %v\n%q\n%q", src, err, in, again)
		}
		if _, err := e.take(in); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	})
}

func FuzzTOML(f *testing.F) {
	for _, text := range kept[Codex] {
		f.Add([]byte(text))
	}
	e := tomlEntry{block: codexEntry(Server{Command: "cutroom"})}
	f.Fuzz(func(t *testing.T, src []byte) {
		in, err := e.put(src)
		if err != nil {
			return
		}
		if again, err := e.put(in); err != nil || string(again) != string(in) {
			t.Errorf("%q: put twice: %v\n%q\n%q", src, err, in, again)
		}
		back, err := e.take(in)
		if err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if bytes.HasSuffix(src, []byte("\n")) && len(bytes.TrimSpace(src)) > 0 && !bytes.Contains(src, []byte(tomlHead)) && string(back) != string(src) {
			t.Errorf("%q came back as %q", src, back)
		}
	})
}

func TestTOMLText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var got struct{ V string }
		if err := toml.Unmarshal(fmt.Appendf(nil, "V = %s\n", tomlText(s)), &got); err != nil || got.V != s {
			t.Fatalf("%q became %q: %v", s, got.V, err)
		}
	})
}
