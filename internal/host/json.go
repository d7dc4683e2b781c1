package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"cutroom"
)

// jsonEntry is a member of a JSON file, which may have comments and trailing commas.
// The text around it is not touched.
type jsonEntry struct {
	path   []string // of the member, two names
	value  any
	schema string // $schema of a new file
}

var utf8BOM = []byte("\ufeff")

func (e jsonEntry) put(before []byte) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(before, utf8BOM))) == 0 {
		return e.fresh()
	}
	d, err := parseJSON(before)
	if err != nil {
		return nil, err
	}
	root, err := d.object(&d.value, "the file")
	if err != nil {
		return nil, err
	}
	group := member(root, e.path[0])
	if group == nil {
		inner, err := encode(map[string]any{e.path[1]: e.value}, d.indentOf(root), d.newline)
		if err != nil {
			return nil, err
		}
		return d.insert(root, &d.value, e.path[0], inner), nil
	}
	servers, err := d.object(&group.Value, e.path[0])
	if err != nil {
		return nil, err
	}
	if have := member(servers, e.path[1]); have != nil {
		if same(have.Value, e.value) {
			return before, nil
		}
		return nil, errConflict(fmt.Sprintf("%s already has another server named %s", e.path[0], e.path[1]), "remove that entry first, if it is not needed")
	}
	text, err := encode(e.value, d.indentOf(servers), d.newline)
	if err != nil {
		return nil, err
	}
	return d.insert(servers, &group.Value, e.path[1], text), nil
}

func (e jsonEntry) take(before []byte) ([]byte, error) {
	if before == nil {
		return nil, nil
	}
	d, err := parseJSON(before)
	if err != nil {
		return nil, err
	}
	root, err := d.object(&d.value, "the file")
	if err != nil {
		return nil, err
	}
	group := member(root, e.path[0])
	if group == nil {
		return before, nil
	}
	servers, err := d.object(&group.Value, e.path[0])
	if err != nil {
		return nil, err
	}
	if have := member(servers, e.path[1]); have == nil {
		return before, nil
	} else if !e.made(have.Value) {
		return nil, errConflict(fmt.Sprintf("the server %s in %s was changed, or is another's", e.path[1], e.path[0]), "remove it by hand if you do not need it")
	}
	if len(servers.Members) > 1 {
		return d.remove(servers, &group.Value, e.path[1]), nil
	}
	after := d.remove(root, &d.value, e.path[0])
	if rest, err := parseJSON(after); err == nil {
		if o, ok := rest.value.Value.(*hujson.Object); ok && onlySchema(o) && !bytes.Contains(after, []byte("/*")) && !bytes.Contains(after, []byte("//")) || ok && len(o.Members) == 1 && string(after) == string(e.schemaOnly()) {
			return nil, nil
		}
	}
	return after, nil
}

// onlySchema says that nothing of a person's is left in an object.
func onlySchema(o *hujson.Object) bool { return len(o.Members) == 0 }

// made says whether an entry is one that we write, with whatever command.
func (e jsonEntry) made(v hujson.Value) bool {
	var have, want map[string]any
	raw := v.Clone()
	raw.Standardize()
	ours, err := json.Marshal(e.value)
	if err != nil || json.Unmarshal(raw.Pack(), &have) != nil || json.Unmarshal(ours, &want) != nil {
		return false
	}
	for _, m := range []map[string]any{have, want} {
		delete(m, "env")
		delete(m, "environment")
		if list, ok := m["command"].([]any); ok && len(list) > 0 {
			m["command"] = list[1:]
		} else {
			delete(m, "command")
		}
	}
	a, _ := json.Marshal(have)
	b, _ := json.Marshal(want)
	return string(a) == string(b)
}

// fresh is a new file with our entry alone.
func (e jsonEntry) fresh() ([]byte, error) {
	inner, err := encode(map[string]any{e.path[1]: e.value}, "  ", "\n")
	if err != nil {
		return nil, err
	}
	schema := ""
	if e.schema != "" {
		schema = fmt.Sprintf("  \"$schema\": %q,\n", e.schema)
	}
	return fmt.Appendf(nil, "{\n%s  %q: %s\n}\n", schema, e.path[0], inner), nil
}

// schemaOnly is what removing our entry leaves of a file that fresh made.
func (e jsonEntry) schemaOnly() []byte {
	return fmt.Appendf(nil, "{\n  \"$schema\": %q\n}\n", e.schema)
}

// document is a parsed file with its bytes.
type document struct {
	src     []byte
	lead    []byte // byte order mark
	value   hujson.Value
	newline string
}

func parseJSON(src []byte) (*document, error) {
	d := &document{src: bytes.TrimPrefix(src, utf8BOM), newline: "\n"}
	d.lead = src[:len(src)-len(d.src)]
	if bytes.Contains(src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	v, err := hujson.Parse(d.src)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: ")).WithHint("mend the file first; nothing was written")
	}
	d.value = v
	return d, nil
}

func (d *document) object(v *hujson.Value, what string) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s holds no object", what).WithHint("mend the file first; nothing was written")
	}
	return o, nil
}

func member(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := range o.Members {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return &o.Members[i]
		}
	}
	return nil
}

func same(v hujson.Value, want any) bool {
	have := v.Clone()
	have.Standardize()
	var a, b any
	raw, err := json.Marshal(want)
	if err != nil || json.Unmarshal(have.Pack(), &a) != nil || json.Unmarshal(raw, &b) != nil {
		return false
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// encode writes a value whose lines after the first are indented by indent.
func encode(v any, indent, newline string) (string, error) {
	step := "  "
	if strings.HasPrefix(indent, "\t") {
		step = "\t"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, step)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", newline), nil
}

// indentOf is the white space before the members of an object; two spaces more than
// the line it begins on when it has none.
func (d *document) indentOf(o *hujson.Object) string {
	if len(o.Members) > 0 {
		return d.lead1(o.Members[0].Name.StartOffset)
	}
	return d.lead1(d.startOf(o)) + "  "
}

// startOf is where an object without members begins.
func (d *document) startOf(o *hujson.Object) int {
	at := 0
	for v := range d.value.All() {
		if x, ok := v.Value.(*hujson.Object); ok && x == o {
			at = v.StartOffset
		}
	}
	return at
}

// lead1 is the white space that the line of an offset begins with.
func (d *document) lead1(at int) string {
	line := d.src[:at]
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// insert puts a member at the end of an object.
func (d *document) insert(o *hujson.Object, v *hujson.Value, name, text string) []byte {
	indent := d.indentOf(o)
	pair := fmt.Sprintf("%s%s%q: %s", d.newline, indent, name, text)
	if len(o.Members) == 0 {
		at := v.StartOffset + 1
		if len(bytes.TrimSpace(d.src[at:v.EndOffset-1])) == 0 {
			return d.splice(at, v.EndOffset-1, pair+d.newline+d.lead1(v.StartOffset))
		}
		return d.splice(at, at, pair)
	}
	last := o.Members[len(o.Members)-1].Value
	if last.AfterExtra != nil { // a trailing comma, which ours has then, too
		at := last.EndOffset + len(last.AfterExtra) + 1
		return d.splice(at, at, pair+",")
	}
	return d.splice(last.EndOffset, last.EndOffset, ","+pair)
}

// remove takes a member out, with the comma that it needed.
func (d *document) remove(o *hujson.Object, v *hujson.Value, name string) []byte {
	for i, m := range o.Members {
		if l, ok := m.Name.Value.(hujson.Literal); !ok || l.String() != name {
			continue
		}
		switch {
		case i > 0:
			return d.splice(o.Members[i-1].Value.EndOffset, m.Value.EndOffset, "")
		case len(o.Members) > 1:
			return d.splice(m.Name.StartOffset, o.Members[1].Name.StartOffset, "")
		}
		end := m.Value.EndOffset
		if m.Value.AfterExtra != nil {
			end += len(m.Value.AfterExtra) + 1
		}
		if len(bytes.TrimSpace(d.src[end:v.EndOffset-1])) == 0 {
			end = v.EndOffset - 1
		}
		return d.splice(v.StartOffset+1, end, "")
	}
	return append(bytes.Clone(d.lead), d.src...)
}

func (d *document) splice(from, to int, text string) []byte {
	out := append(bytes.Clone(d.lead), d.src[:from]...)
	return append(append(out, text...), d.src[to:]...)
}
