package host

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"cutroom"
)

// tomlEntry is a table at the end of a TOML file. The text before it is not touched.
type tomlEntry struct{ block string }

func (e tomlEntry) put(before []byte) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		return []byte(e.block), nil
	}
	old, err := parseTOML(before)
	if err != nil {
		return nil, err
	}
	want, err := parseTOML([]byte(e.block))
	if err != nil {
		return nil, err
	}
	if have := tableOf(old); have != nil {
		if reflect.DeepEqual(have, tableOf(want)) {
			return before, nil
		}
		return nil, errConflict("mcp_servers already has another server named "+Name, "remove that table first, if it is not needed")
	}
	after := append(bytes.Clone(before), e.separated(before)...)
	// A file whose servers are one inline table cannot be added to at its end.
	if got, err := parseTOML(after); err != nil || !reflect.DeepEqual(tableOf(got), tableOf(want)) {
		return nil, errConflict("its mcp_servers is written in a form that cannot be added to", "write the servers as tables such as [mcp_servers.name], or add ours by hand:\n"+e.block)
	}
	return after, nil
}

// separated is our block after an empty line, with the line ends of the file.
func (e tomlEntry) separated(before []byte) string {
	text := "\n" + e.block
	if !bytes.HasSuffix(before, []byte("\n")) {
		text = "\n" + text
	}
	if bytes.Contains(before, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (e tomlEntry) take(before []byte) ([]byte, error) {
	if before == nil {
		return nil, nil
	}
	old, err := parseTOML(before)
	if err != nil {
		return nil, err
	}
	if tableOf(old) == nil {
		return before, nil
	}
	from, to, ok := blockIn(string(before))
	after := append(bytes.Clone(before[:from]), before[to:]...)
	if rest, err := parseTOML(after); !ok || err != nil || tableOf(rest) != nil {
		return nil, errConflict("the server "+Name+" in mcp_servers was changed, or is another's", "remove the table by hand if you do not need it")
	}
	if len(bytes.TrimSpace(after)) == 0 {
		return nil, nil
	}
	return after, nil
}

// ourKeys are those that our table can have.
var ourKeys = []string{"[mcp_servers." + Name + "]", "command", "args", "required", "startup_timeout_sec", "tool_timeout_sec", "env"}

// blockIn finds our block and the empty line before it.
func blockIn(text string) (from, to int, ok bool) {
	from = strings.Index(text, tomlHead)
	if from < 0 {
		return 0, 0, false
	}
	to = from
	for i := 0; ; i++ {
		line, _, found := strings.Cut(text[to:], "\n")
		word := strings.TrimSpace(line)
		if key, _, assign := strings.Cut(word, "="); assign {
			word = strings.TrimSpace(key)
		}
		known := i == 0
		for _, k := range ourKeys {
			known = known || word == k
		}
		if !known {
			break
		}
		to += len(line)
		if !found {
			break
		}
		to++
	}
	for _, end := range []string{"\r\n", "\n"} {
		if rest, ok := strings.CutSuffix(text[:from], end); ok && strings.HasSuffix(rest, "\n") {
			from = len(rest)
			break
		}
	}
	return from, to, true
}

func parseTOML(text []byte) (map[string]any, error) {
	m := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(text, utf8BOM), &m)
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := d.Position()
		return nil, cutroom.Errorf(cutroom.Invalid, "line %d is not TOML: %s", row, d.Error()).WithHint("mend the file first; nothing was written")
	}
	return m, err
}

// tableOf is our server's table, nil when there is none.
func tableOf(m map[string]any) map[string]any {
	servers, _ := m["mcp_servers"].(map[string]any)
	t, _ := servers[Name].(map[string]any)
	return t
}
