package host

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"cutroom"
)

// Our table is put after one line's end at the end of the file, whatever that end is
// like. So taking it out gives back the very bytes:
//
//	a = 1 ⏎    an empty line shows between the two
//	a = 1      none does
//	(empty)    the file begins with an empty line, and is not ours
//	(no file)  it does not
//
// Where the servers are one inline table, ours is put behind the last of them.

// span is a piece of a file that is ours.
type span struct {
	from, to int
	headed   bool // by our comment
	inline   bool // within an inline table
}

// tomlDocument is a parsed file with its bytes.
type tomlDocument struct {
	src     []byte
	tree    map[string]any
	newline string
	spans   []span // of our entry, in order
	table   int    // where an entry can be put into an inline table of servers; 0: nowhere
	empty   bool   // that inline table has none yet
}

func parseTOML(src []byte) (*tomlDocument, error) {
	d := &tomlDocument{src: src, newline: "\n"}
	if bytes.Contains(src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	text := bytes.TrimPrefix(src, utf8BOM)
	var err error
	if d.tree, err = decodeTOML(text); err != nil {
		return nil, err
	}
	d.locate(text, len(src)-len(text))
	return d, nil
}

// entry is our server's table.
func (d *tomlDocument) entry() (value any, there bool, err error) {
	group, there := d.tree[servers]
	if !there {
		return nil, false, nil
	}
	s, ok := group.(map[string]any)
	if !ok {
		return nil, false, cutroom.Errorf(cutroom.Invalid, "%s holds no table", servers).WithHint("mend the file first; nothing was written")
	}
	value, there = s[Name]
	return value, there, nil
}

// locate finds the pieces of our entry. skip is what the file has before the text.
func (d *tomlDocument) locate(text []byte, skip int) {
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		keys, first := keysOf(e)
		if e.Kind != unstable.KeyValue {
			table = keys
			if ours(keys) {
				d.span(skip+first, skip+first)
			}
			continue
		}
		at, end := skip+int(e.Raw.Offset), skip+int(e.Raw.Offset+e.Raw.Length)
		path := slices.Concat(table, keys)
		switch {
		case ours(path):
			d.span(at, end)
		case len(path) == 1 && path[0] == servers && e.Value().Kind == unstable.InlineTable:
			d.inlineTable(e.Value(), end, skip)
		}
	}
}

// keysOf is the dotted key of an expression, and where it begins.
func keysOf(e *unstable.Node) (keys []string, first int) {
	for it := e.Key(); it.Next(); {
		if keys == nil {
			first = int(it.Node().Raw.Offset)
		}
		keys = append(keys, string(it.Node().Data))
	}
	return keys, first
}

func ours(path []string) bool {
	return len(path) >= 2 && path[0] == servers && path[1] == Name
}

// span adds the lines of an expression; those that follow each other are one piece.
func (d *tomlDocument) span(from, to int) {
	from = bytes.LastIndexByte(d.src[:from], '\n') + 1
	if i := bytes.IndexByte(d.src[to:], '\n'); i >= 0 {
		to += i + 1
	} else {
		to = len(d.src)
	}
	if from == 0 && bytes.HasPrefix(d.src, utf8BOM) {
		from = len(utf8BOM)
	}
	if n := len(d.spans); n > 0 && strings.TrimSpace(string(d.src[d.spans[n-1].to:from])) == "" {
		d.spans[n-1].to = to
		return
	}
	s := span{from: from, to: to}
	above := bytes.LastIndexByte(d.src[:max(from-1, 0)], '\n') + 1
	if line := strings.TrimSpace(string(bytes.TrimPrefix(d.src[above:from], utf8BOM))); line == tomlHead || line == tomlHeadFolder {
		s.from, s.headed = max(above, len(d.src)-len(bytes.TrimPrefix(d.src, utf8BOM))), true
	}
	d.spans = append(d.spans, s)
}

// inlineTable finds our entry, or the place for one, in an inline table that ends at
// end.
func (d *tomlDocument) inlineTable(table *unstable.Node, end, skip int) {
	last := 0
	for it := table.Children(); it.Next(); {
		n := it.Node()
		if n.Kind != unstable.KeyValue {
			continue
		}
		from, to := skip+int(n.Raw.Offset), skip+int(n.Raw.Offset+n.Raw.Length)
		if keys, _ := keysOf(n); len(keys) > 0 && keys[0] == Name {
			s := span{from: from, to: to, inline: true}
			if last > 0 {
				s.from = last
			} else if it.Node().Next().Valid() {
				s.to = skip + int(it.Node().Next().Raw.Offset)
			}
			d.spans = append(d.spans, s)
		}
		last = to
	}
	d.table, d.empty = last, last == 0
	if d.empty {
		d.table = skip + int(table.Raw.Offset) + 1
	}
}

// add returns the text with our entry, which it does not have.
func (d *tomlDocument) add(e tomlEntry) []byte {
	switch {
	case d.table > 0 && d.empty:
		return slices.Concat(d.src[:d.table], []byte(e.inline()), d.src[d.table:])
	case d.table > 0:
		return slices.Concat(d.src[:d.table], []byte(", "+e.inline()), d.src[d.table:])
	}
	return slices.Concat(d.src, []byte(d.newline+e.block(tomlHead, d.newline)))
}

// replace returns the text with our entry in the place of the one that it has.
func (d *tomlDocument) replace(e tomlEntry) []byte {
	if len(d.spans) == 0 {
		return d.src
	}
	first := d.spans[0]
	var text string
	switch old := string(d.src[first.from:first.to]); {
	case first.inline:
		// What separates it from its neighbours stays.
		lead := old[:len(old)-len(strings.TrimLeft(old, ", \t"))]
		trail := old[len(strings.TrimRight(old, ", \t")):]
		text = lead + e.inline() + trail
	case first.headed:
		head, _, _ := strings.Cut(old, "\n")
		text = e.block(strings.TrimRight(head, "\r"), d.newline)
	default:
		text = e.block("", d.newline)
	}
	return d.without(text, d.spans)
}

// remove returns the text without our entry.
func (d *tomlDocument) remove() []byte {
	spans := slices.Clone(d.spans)
	if len(spans) == 0 {
		return d.src
	}
	if s := &spans[0]; s.headed {
		// The line's end before it is ours, unless something follows that needs one.
		at := len(bytes.TrimSuffix(d.src[:s.from], []byte(d.newline)))
		if whole := at == 0 || d.src[at-1] == '\n'; s.to == len(d.src) || whole {
			s.from = at
		}
	}
	return d.without("", spans)
}

// without returns the text with the first of some pieces replaced and the others left
// out.
func (d *tomlDocument) without(first string, spans []span) []byte {
	out, at := []byte{}, 0
	for i, s := range spans {
		out = append(out, d.src[at:s.from]...)
		if i == 0 {
			out = append(out, first...)
		}
		at = s.to
	}
	return append(out, d.src[at:]...)
}
