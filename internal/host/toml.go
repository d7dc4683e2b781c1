package host

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"cutroom"
)

// tomlEntry is our table of Codex's servers, put at the end of its file. The text
// before it is not touched.
type tomlEntry struct{ server Server }

// servers is the table of all servers.
const servers = "mcp_servers"

// The comment above our table; the second when its folder was made for the file.
const (
	tomlHead       = "# Written by `cutroom install codex`; `cutroom uninstall codex` takes it out."
	tomlHeadFolder = "# Written by `cutroom install codex`, with its folder; `cutroom uninstall codex` takes it out."
)

func (e tomlEntry) put(before []byte, c circumstance) (edit, error) {
	if before == nil {
		head := tomlHead
		if c.missing > 0 {
			head = tomlHeadFolder
		}
		return edit{text: []byte(e.block(head, "\n"))}, nil
	}
	d, err := parseTOML(before)
	if err != nil {
		return edit{}, err
	}
	want, err := e.meaning()
	if err != nil {
		return edit{}, err
	}
	have, there, err := d.entry()
	if err != nil {
		return edit{}, err
	}
	if there {
		keep, note, err := compare(have, want).resolve(servers, c.replace)
		if err != nil || keep {
			return edit{text: before, note: note}, err
		}
		return d.checked(d.replace(e), want)
	}
	return d.checked(d.add(e), want)
}

func (e tomlEntry) take(before []byte) (edit, error) {
	if before == nil {
		return edit{}, nil
	}
	d, err := parseTOML(before)
	if err != nil {
		return edit{}, err
	}
	have, there, err := d.entry()
	if err != nil || !there {
		return edit{text: before}, err
	}
	if !compare(have, nil).ours {
		return edit{text: before}, errConflict(servers+" has a server named "+Name+" that starts something else", "remove it by hand if you do not need it")
	}
	out, err := d.checked(d.remove(), nil)
	if err == nil && len(out.text) == 0 && d.spans[0].from == 0 && d.spans[0].headed {
		out.text = nil // the file had our table alone
		if bytes.HasPrefix(before, []byte(tomlHeadFolder)) {
			out.made = 1
		}
	}
	return out, err
}

// block is our table with its comment.
func (e tomlEntry) block(head, newline string) string {
	lines := []string{head, "[" + servers + "." + Name + "]"}
	if head == "" {
		lines = lines[1:]
	}
	for _, k := range codexEntry(e.server) {
		lines = append(lines, k[0]+" = "+k[1])
	}
	return strings.Join(lines, newline) + newline
}

// inline is our table as a value on one line.
func (e tomlEntry) inline() string {
	var pairs []string
	for _, k := range codexEntry(e.server) {
		pairs = append(pairs, k[0]+" = "+k[1])
	}
	return Name + " = { " + strings.Join(pairs, ", ") + " }"
}

// meaning is our table as a parser reads it.
func (e tomlEntry) meaning() (map[string]any, error) {
	var m map[string]map[string]map[string]any
	if err := toml.Unmarshal([]byte(e.block(tomlHead, "\n")), &m); err != nil {
		return nil, fmt.Errorf("write TOML: %w", err)
	}
	return m[servers][Name], nil
}

// checked returns an edited text if it means what it has to: the same as before with
// the entry that is wanted, nil for none.
func (d *tomlDocument) checked(after []byte, want map[string]any) (edit, error) {
	again, err := parseTOML(after)
	if err == nil {
		got, there, _ := again.entry()
		delete(serversOf(again.tree), Name)
		delete(serversOf(d.tree), Name)
		for _, t := range []map[string]any{d.tree, again.tree} {
			if s := serversOf(t); s != nil && len(s) == 0 {
				delete(t, servers)
			}
		}
		if there == (want != nil) && (want == nil || sameTree(got, want)) && sameTree(d.tree, again.tree) {
			return edit{text: after}, nil
		}
	}
	return edit{text: d.src}, errConflict("its "+servers+" is written in a form that cannot be edited", "write the servers as tables such as [mcp_servers.name], then run the command again")
}

func serversOf(tree map[string]any) map[string]any {
	s, _ := tree[servers].(map[string]any)
	return s
}

// sameTree compares what a parser made; times by their moment, and what is no number
// is like itself.
func sameTree(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !sameTree(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i, v := range x {
			if !sameTree(v, y[i]) {
				return false
			}
		}
		return true
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	return reflect.DeepEqual(a, b)
}

func decodeTOML(text []byte) (map[string]any, error) {
	m := map[string]any{}
	err := toml.Unmarshal(text, &m)
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := d.Position()
		return nil, cutroom.Errorf(cutroom.Invalid, "line %d is not TOML: %s", row, strings.TrimPrefix(d.Error(), "toml: ")).WithHint("mend the file first; nothing was written")
	}
	return m, err
}

// tomlText is a basic string (TOML 1.0).
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
