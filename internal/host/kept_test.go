package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a person has in a file already; install and uninstall leave it as it was.
var kept = map[string]map[string]string{
	Claude: {
		"plain":                  "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
		"no servers":             "{\n  \"a\": [1, 2]\n}\n",
		"one line":               `{"a":1,"mcpServers":{"other":{"command":"x"}}}`,
		"tabs":                   "{\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t},\n\t\"z\": 1\n}",
		"windows":                "{\r\n  \"mcpServers\": {\r\n    \"other\": {}\r\n  }\r\n}\r\n",
		"byte order":             "\ufeff{\n  \"a\": 1\n}\n",
		"comments":               "// mine\n{\n  \"mcpServers\": {\n    // keep\n    \"other\": {}, // and this\n  },\n}\n",
		"comment after the last": "{\n  \"mcpServers\": {\n    \"other\": {} // this one\n  }\n}\n",
		"comment of a comment":   "{\n  \"mcpServers\": { /* none yet */ }\n}\n",
		"trailing comma":         "{\n  \"mcpServers\": {\n    \"other\": {},\n  },\n  \"b\": 2,\n}\n",
		"no members":             "{}",
		"no members, line":       "{}\n",
		"no members, lines":      "{\n}\n",
		"no servers in it":       "{\n  \"mcpServers\": {}\n}\n",
		"no servers in lines":    "{\n  \"mcpServers\": {\n  }\n}\n",
		"empty":                  "",
		"white space":            " \n\n",
		"byte order alone":       "\ufeff",
		"numbers":                "{\"big\": 123456789012345678901234567890, \"e\": 1.0e3}",
		"escaped":                `{"mcp\u0053ervers": {"o": {}}}`,
	},
	OpenCode: {
		"plain":       "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"model\": \"x\"\n}\n",
		"schema only": "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}",
		"schema line": "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
		"empty":       "",
		"comments":    "{\n  /* a */ \"mcp\": { \"other\": { \"type\": \"local\" } } // b\n}\n",
	},
	Codex: {
		"plain":        "model = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n",
		"comments":     "# mine\n[features] # here\nplugins = false\n\n\n",
		"windows":      "model = \"x\"\r\n[tui]\r\na = 1\r\n",
		"arrays":       "[[hooks]]\na = 1\n[[hooks]]\na = 2\n",
		"dotted":       "mcp_servers.other.command = \"y\"\n",
		"servers":      "[mcp_servers]\nother = { command = \"y\" }\n",
		"inline":       "mcp_servers = { other = { command = \"x\" } }\n[tui]\n",
		"inline empty": "mcp_servers = {}\n",
		"inline blank": "mcp_servers = { } # none\n",
		"no line end":  "a = 1",
		"line ends":    "a = 1\n\n\n",
		"empty":        "",
		"byte order":   "\ufeffa = 1\n",
		"multiline":    "a = \"\"\"\n[mcp_servers.cutroom]\n\"\"\"\n",
		"strange":      "a = nan\nb = 1979-05-27T07:32:00Z\nc = inf\nd = 07:32:00\n",
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
				have(t, path, text)
				changes := install(t, name, Project, p, Server{Command: "cutroom"})
				if changes[0].Action != Changed {
					t.Errorf("the file is %s: %s", changes[0].Action, changes[0].Problem)
				}
				after, _ := os.ReadFile(path)
				for _, word := range strings.Fields(text) {
					if word = strings.TrimRight(word, ",{}"); !bytes.Contains(after, []byte(word)) {
						t.Errorf("lost %q in\n%s", word, after)
					}
				}
				if strings.Contains(text, "\r\n") && bytes.Count(after, []byte("\n")) != bytes.Count(after, []byte("\r\n")) {
					t.Errorf("line ends are mixed: %q", after)
				}
				if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
					t.Errorf("the mode is %v", info.Mode())
				}
				if again := install(t, name, Project, p, Server{Command: "cutroom"}); again[0].Action != Unchanged {
					t.Errorf("again: %s", again[0].Action)
				}
				moved := install(t, name, Project, p, Server{Command: "/opt/cutroom"})
				if now, _ := os.ReadFile(path); moved[0].Action != Changed || !bytes.Contains(now, []byte("/opt/cutroom")) {
					t.Errorf("moved: %s %s\n%s", moved[0].Action, moved[0].Problem, now)
				}
				uninstall(t, name, Project, p)
				if back, _ := os.ReadFile(path); string(back) != text {
					t.Errorf("after uninstall:\n%q\nwant\n%q\nwas\n%q", back, text, after)
				}
			})
		}
	}
}

func TestCommentsStayWithTheirLine(t *testing.T) {
	t.Parallel()
	p := places(t)
	have(t, filepath.Join(p.Project, ".mcp.json"), kept[Claude]["comment after the last"])
	install(t, Claude, Project, p, Server{Command: "cutroom"})
	got, _ := os.ReadFile(filepath.Join(p.Project, ".mcp.json"))
	want := `{
  "mcpServers": {
    "other": {}, // this one
    "cutroom": {
      "type": "stdio",
      "command": "cutroom",
      "args": [
        "mcp"
      ],
      "timeout": 120000
    }
  }
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
