package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

var (
	anEntry  = jsonEntry{path: [2]string{"mcpServers", Name}, value: claudeEntry(Server{Command: "cutroom"})}
	another  = jsonEntry{path: [2]string{"mcpServers", Name}, value: claudeEntry(Server{Command: "/opt/cutroom"})}
	aTable   = tomlEntry{server: Server{Command: "cutroom", EnvVars: []string{"A"}}}
	another2 = tomlEntry{server: Server{Command: "/opt/cutroom", EnvVars: []string{"A"}, Env: map[string]string{"A": "b"}}}
)

// thereAndBack checks what holds of every text that an editor accepts: putting in twice
// is putting in once; the entry can move; taking out gives the first text back.
func thereAndBack(t interface {
	Errorf(string, ...any)
}, src []byte, first, second editor,
) {
	in, err := first.put(src, circumstance{})
	if err != nil {
		return
	}
	if bytes.Equal(in.text, src) {
		return // it had one already
	}
	if again, err := first.put(in.text, circumstance{}); err != nil || !bytes.Equal(again.text, in.text) {
		t.Errorf("%q: put twice: %v\n%q\n%q", src, err, in.text, again.text)
	}
	for _, text := range [][]byte{in.text, moved(t, in.text, second)} {
		back, err := first.take(text)
		if err != nil || back.text == nil || !bytes.Equal(back.text, src) {
			t.Errorf("%q\ncame back as\n%q: %v\nfrom\n%q", src, back.text, err, text)
		}
		if out, err := first.take(back.text); err != nil || !bytes.Equal(out.text, back.text) {
			t.Errorf("%q: taken out twice: %q, %v", src, out.text, err)
		}
	}
}

func moved(t interface {
	Errorf(string, ...any)
}, text []byte, to editor,
) []byte {
	out, err := to.put(text, circumstance{})
	if err != nil || bytes.Equal(out.text, text) {
		t.Errorf("%q does not move: %v", text, err)
	}
	return out.text
}

// A JSON file of any form stays as it was.
func TestJSONThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"), loose: rapid.Bool().Draw(t, "loose")}
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "lead") + g.space() + g.object(0) + g.space()
		if _, err := anEntry.put([]byte(text), circumstance{}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		thereAndBack(t, []byte(text), anEntry, another)
	})
}

// generator writes JSON in every form that a person may have it in.
type generator struct {
	t       *rapid.T
	newline string
	loose   bool // comments and trailing commas
}

func (g generator) space() string {
	forms := []string{"", " ", g.newline, g.newline + "  ", g.newline + "\t", g.newline + g.newline, "  " + g.newline}
	if g.loose {
		forms = append(forms, "/* a */", " /* b */ ", "// c"+g.newline, " // d "+g.newline+"  ", g.newline+"// e"+g.newline)
	}
	return rapid.SampledFrom(forms).Draw(g.t, "space")
}

func (g generator) object(depth int) string {
	names := []string{"a", "b c", "é", "cutroom2", "x\"y"}
	if depth == 0 {
		names = append(names, "mcpServers", "mcpServers", "mcpServers")
	}
	var members []string
	used := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(g.t, "members") {
		name := rapid.SampledFrom(names).Draw(g.t, "name")
		if used[name] {
			continue
		}
		used[name] = true
		value := rapid.SampledFrom([]string{"1", "\"{}\"", "null", "[1, 2]", "-1.50e3"}).Draw(g.t, "value")
		if name == "mcpServers" || depth < 2 && rapid.Bool().Draw(g.t, "nested") {
			value = g.object(depth + 1)
		}
		members = append(members, g.space()+quote(name)+g.space()+":"+g.space()+value+g.space())
	}
	text := "{" + strings.Join(members, ",")
	if g.loose && len(members) > 0 && rapid.Bool().Draw(g.t, "comma") {
		text += ","
	}
	return text + g.space() + "}"
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// A TOML file of any form stays as it was.
func TestTOMLThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		pieces := []string{
			"a%d = 1", "# c%d", "", "  ", "[t%d]", "[mcp_servers.o%d]", "[[r%d]]", "[[ r ]]", "b%d = \"\"\"%N[mcp_servers.cutroom]%N\"\"\"", "x%d.y = [1,%N 2]", "[mcp_servers.cutroom2.x%d]",
			"mcp_servers = {}", "mcp_servers = { o = { command = \"x\" } }", "mcp_servers = {a = 1 }", "[mcp_servers]", "mcp_servers.p.command = \"q\"", "i%d = { a = 1 }", "[projects.\"/a b%d\"]",
		}
		var lines []string
		for i := range rapid.IntRange(0, 6).Draw(t, "lines") {
			line := rapid.SampledFrom(pieces).Draw(t, "line")
			lines = append(lines, strings.ReplaceAll(strings.ReplaceAll(line, "%d", fmt.Sprint(i)), "%N", newline))
		}
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "lead") + strings.Join(lines, newline) + rapid.SampledFrom([]string{"", newline}).Draw(t, "end")
		thereAndBack(t, []byte(text), aTable, another2)
	})
}

func FuzzJSON(f *testing.F) {
	for _, name := range []string{Claude, OpenCode} {
		for _, text := range kept[name] {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if in, err := anEntry.put(src, circumstance{replace: true}); err == nil {
			if _, err := anEntry.take(in.text); err != nil {
				t.Errorf("%q: %v", in.text, err)
			}
		}
		if !hasEntry(src) {
			thereAndBack(t, src, anEntry, another)
		}
	})
}

func hasEntry(src []byte) bool {
	m, err := meaning(src)
	if err != nil {
		return false
	}
	s, _ := m["mcpServers"].(map[string]any)
	_, there := s[Name]
	return there
}

func FuzzTOML(f *testing.F) {
	for _, text := range kept[Codex] {
		f.Add([]byte(text))
	}
	f.Add([]byte(aTable.block(tomlHead, "\n") + "\n[mcp_servers.cutroom.tools.x]\n[tui]\n"))
	f.Add([]byte("mcp_servers = { cutroom = { command = \"cutroom\", args = [\"mcp\"] }, o = {} }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if in, err := aTable.put(src, circumstance{replace: true}); err == nil {
			if _, err := aTable.put(in.text, circumstance{}); err != nil {
				t.Errorf("%q: %v", in.text, err)
			}
		}
		if d, err := parseTOML(src); err == nil {
			if _, there, err := d.entry(); err != nil || there {
				return
			}
		}
		thereAndBack(t, src, aTable, another2)
	})
}

func FuzzSkill(f *testing.F) {
	f.Add([]byte(sealed("a\n", 0)))
	f.Add([]byte(sealed("", 12)))
	f.Add([]byte("a"))
	s := skill{text: codexSkill()}
	f.Fuzz(func(t *testing.T, src []byte) {
		in, err := s.put(src, circumstance{})
		if _, _, ours := unsealed(src); ours != (err == nil) {
			t.Errorf("%q: ours is %v, %v", src, ours, err)
		}
		if err == nil {
			if out, err := s.take(in.text); err != nil || out.text != nil {
				t.Errorf("%q: %v", in.text, err)
			}
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
