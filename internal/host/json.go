package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tailscale/hujson"

	"cutroom"
)

// jsonEntry is a member of a JSON file, which may have comments and trailing commas.
// The text around it is not touched.
type jsonEntry struct {
	path   [2]string // of the member
	value  any
	schema string // $schema of a new file
}

var utf8BOM = []byte("\ufeff")

// blank says whether a text has white space alone, as JSON knows it.
func blank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, utf8BOM), " \t\r\n")) == 0
}

func (e jsonEntry) put(before []byte, c circumstance) (edit, error) {
	if before == nil || blank(before) {
		head, tail := e.frame()
		if before != nil {
			tail = strings.TrimSuffix(tail, "\n") // so that it is no file of our making, and stays
		}
		inner, err := encode(e.value, "    ", "  ", "\n")
		return edit{text: append(bytes.Clone(before), head+inner+tail...)}, err
	}
	d, err := parseJSON(before)
	if err != nil {
		return edit{}, err
	}
	root, group, entry, err := d.find(e.path)
	if err != nil {
		return edit{}, err
	}
	out := edit{}
	switch {
	case entry != nil:
		have, err := decode(entry.Value)
		if err != nil {
			return edit{}, err
		}
		keep, note, err := compare(have, e.value).resolve(e.path[0], c.replace)
		if err != nil || keep {
			return edit{text: before, note: note}, err
		}
		indent := d.indentAt(entry.Name.StartOffset)
		text, err := encode(e.value, indent, d.step(indent), d.newline)
		if err != nil {
			return edit{}, err
		}
		out.text = d.splice(cut{entry.Value.StartOffset, entry.Value.EndOffset, text})
	case group != nil:
		indent := d.memberIndent(&group.Value)
		text, err := encode(e.value, indent, d.step(indent), d.newline)
		if err != nil {
			return edit{}, err
		}
		out.text = d.insert(&group.Value, e.path[1], text)
	default:
		indent := d.memberIndent(root)
		text, err := encode(map[string]any{e.path[1]: e.value}, indent, d.step(indent), d.newline)
		if err != nil {
			return edit{}, err
		}
		out.text = d.insert(root, e.path[0], text)
	}
	return out, e.check(before, out.text, true)
}

func (e jsonEntry) take(before []byte) (edit, error) {
	if before == nil || blank(before) {
		return edit{text: before}, nil
	}
	d, err := parseJSON(before)
	if err != nil {
		return edit{}, err
	}
	root, group, entry, err := d.find(e.path)
	if err != nil || entry == nil {
		return edit{text: before}, err
	}
	have, err := decode(entry.Value)
	if err != nil {
		return edit{}, err
	}
	if !compare(have, e.value).ours {
		return edit{text: before}, errConflict(e.path[0]+" has a server named "+Name+" that starts something else", "remove it by hand if you do not need it")
	}
	if text, whole := e.whole(before, len(d.lead)+entry.Value.StartOffset, len(d.lead)+entry.Value.EndOffset); whole {
		return edit{text: text}, nil
	}
	after, made := d.remove(&group.Value, e.path[1])
	if made {
		after, _ = d.remove(root, e.path[0])
	}
	return edit{text: after}, e.check(before, after, false)
}

// in says whether the file at a path has our entry.
func (e jsonEntry) in(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil || blank(text) {
		return false
	}
	d, err := parseJSON(text)
	if err != nil {
		return false
	}
	_, _, entry, err := d.find(e.path)
	return err == nil && entry != nil
}

// frame is what a file of our own has before and after our entry's value. The schema
// comes last: in a file that had one before us it comes first.
func (e jsonEntry) frame() (head, tail string) {
	tail = "\n  }\n}\n"
	if e.schema != "" {
		tail = fmt.Sprintf("\n  },\n  \"$schema\": %q\n}\n", e.schema)
	}
	return fmt.Sprintf("{\n  %q: {\n    %q: ", e.path[0], e.path[1]), tail
}

// whole says whether a text is as we made it around an entry, and returns what there
// was before: nothing, or a blank file.
func (e jsonEntry) whole(text []byte, from, to int) (before []byte, whole bool) {
	head, tail := e.frame()
	rest, ok := strings.CutSuffix(string(text[:from]), head)
	switch {
	case !ok || !blank([]byte(rest)):
		return nil, false
	case rest == "" && string(text[to:]) == tail:
		return nil, true
	}
	return []byte(rest), string(text[to:]) == strings.TrimSuffix(tail, "\n")
}

// check compares what the two texts mean: they may differ in our entry alone.
func (e jsonEntry) check(before, after []byte, present bool) error {
	b, err := meaning(before)
	if err != nil {
		return err
	}
	a, err := meaning(after)
	if err != nil {
		return fmt.Errorf("edit JSON: %w", err)
	}
	if present {
		servers, _ := a[e.path[0]].(map[string]any)
		if !same(plain(servers[e.path[1]]), plain(e.value)) {
			return fmt.Errorf("edit JSON: the entry of %s is not what was written", e.path[0])
		}
	}
	for _, m := range []map[string]any{a, b} {
		if servers, ok := m[e.path[0]].(map[string]any); ok {
			if delete(servers, e.path[1]); len(servers) == 0 {
				delete(m, e.path[0])
			}
		}
	}
	if !same(a, b) {
		return fmt.Errorf("edit JSON: more than the entry of %s would change", e.path[0])
	}
	return nil
}

func meaning(text []byte) (map[string]any, error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	v, err := decode(d.value)
	m, _ := v.(map[string]any)
	return m, err
}

// decode is a value without its comments.
func decode(v hujson.Value) (any, error) {
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "it is not JSON").WithCause(err).WithHint("mend the file first; nothing was written")
	}
	return out, nil
}

// document is a parsed file with its bytes.
type document struct {
	lead    []byte // byte order mark
	src     []byte // without it
	value   hujson.Value
	newline string
}

func parseJSON(text []byte) (*document, error) {
	d := &document{src: bytes.TrimPrefix(text, utf8BOM), newline: "\n"}
	d.lead = text[:len(text)-len(d.src)]
	if bytes.Contains(d.src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if deep(d.src) {
		return nil, cutroom.Errorf(cutroom.Invalid, "it is not JSON that can be edited: it is nested too deeply").WithHint("mend the file first; nothing was written")
	}
	v, err := hujson.Parse(d.src)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: ")).WithHint("mend the file first; nothing was written")
	}
	d.value = v
	return d, nil
}

// deep says whether a text may be nested more deeply than a parser that calls itself
// can bear. Brackets in texts count, too: no file comes near.
func deep(text []byte) bool {
	const most = 10000
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > most {
			return true
		}
	}
	return false
}

// find returns the whole value, and the members of a path as far as they are there.
func (d *document) find(path [2]string) (root *hujson.Value, group, entry *hujson.ObjectMember, err error) {
	root = &d.value
	if group, err = member(root, "the file", path[0]); err != nil || group == nil {
		return root, nil, nil, err
	}
	entry, err = member(&group.Value, path[0], path[1])
	return root, group, entry, err
}

// member returns the member of an object that has a name, nil when none has it.
func member(v *hujson.Value, what, name string) (*hujson.ObjectMember, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s holds no object", what).WithHint("mend the file first; nothing was written")
	}
	var found *hujson.ObjectMember
	for i := range o.Members {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); !ok || l.String() != name {
			continue
		}
		if found != nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "%s has %q twice", what, name).WithHint("mend the file first; nothing was written")
		}
		found = &o.Members[i]
	}
	return found, nil
}

// encode writes a value whose lines after the first are indented.
func encode(v any, indent, step, newline string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, step)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", newline), nil
}
