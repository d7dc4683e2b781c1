package edl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"cutroom"
)

// The members by which entries of our documents say when they are. Where an entry has
// several starts, the first of this list counts.
var (
	starts = []string{"timestamp_seconds", "start_seconds", "seconds", "start"}
	ends   = []string{"end_seconds", "end"}
)

// maxDepth bounds how deep a document nests.
const maxDepth = 64

// member is one of an object's members, in the order in which they were written.
type member struct {
	name  string
	value any // of: object, []any, json.Number, string, bool, nil
}

type object []member

func (o object) number(names []string) (i int, t cutroom.Micros, ok bool) {
	for _, name := range names {
		i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
		if i < 0 {
			continue
		}
		if n, isNumber := o[i].value.(json.Number); isNumber {
			if t, err := cutroom.ParseMicros(n.String()); err == nil {
				return i, t, true
			}
		}
	}
	return -1, 0, false
}

// MoveJSON carries a document of timed entries to another timeline: a timeline that
// cutroom recorded, a transcript, a list of chapters. An entry is an object in a list
// that says in seconds when it begins (timestamp_seconds, start_seconds, seconds or
// start) and perhaps when it ends; everything else of it stays. An entry of which nothing
// shows goes, one that shows in several places is repeated. A document without any entry
// is an error.
func MoveJSON(doc []byte, move Move, length cutroom.Micros) ([]byte, Moved, error) {
	var moved Moved
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, moved, invalid("this is not a JSON document of timed entries: %s", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, moved, invalid("something stands behind the JSON document")
	}
	v = moveValue(v, move, &moved)
	if moved == (Moved{}) {
		return nil, moved, invalid("nothing in this JSON document says when it is")
	}
	if top, ok := v.(object); ok {
		for i := range top {
			if top[i].name == "duration_seconds" {
				top[i].value = json.Number(length.String())
			}
		}
	}
	var b bytes.Buffer
	if err := writeValue(&b, v); err != nil {
		return nil, moved, err
	}
	b.WriteByte('\n')
	return b.Bytes(), moved, nil
}

func moveValue(v any, move Move, moved *Moved) any {
	switch v := v.(type) {
	case object:
		for i := range v {
			v[i].value = moveValue(v[i].value, move, moved)
		}
		return v
	case []any:
		out := []any{}
		for _, e := range v {
			o, ok := e.(object)
			if !ok {
				out = append(out, moveValue(e, move, moved))
				continue
			}
			if _, _, timed := o.number(starts); !timed {
				out = append(out, moveValue(e, move, moved))
				continue
			}
			places := moveEntry(o, move)
			moved.count(len(places))
			out = append(out, places...)
		}
		sortEntries(out)
		return out
	}
	return v
}

// moveEntry returns the entry at every place where it shows. What is timed inside it (the
// words of a sentence) goes with it.
func moveEntry(o object, move Move) []any {
	s, from, _ := o.number(starts)
	e, to, hasEnd := o.number(ends)
	r := Range{from, from + 1}
	if hasEnd && to > from {
		r.End = to
	}
	var list []any
	for _, p := range move(r) {
		n := slices.Clone(o)
		for i := range n {
			var inner Moved
			n[i].value = moveValue(cloned(n[i].value), within(move, p), &inner)
		}
		n[s].value = json.Number(p.Start.String())
		if hasEnd {
			n[e].value = json.Number(max(p.End, p.Start).String())
			if to <= from {
				n[e].value = json.Number(p.Start.String())
			}
		}
		list = append(list, n)
	}
	return list
}

// within keeps what a move does inside one place.
func within(move Move, place Range) Move {
	return func(r Range) []Range {
		var out []Range
		for _, p := range move(r) {
			p.Start, p.End = max(p.Start, place.Start), min(p.End, place.End)
			if p.Start < p.End {
				out = append(out, p)
			}
		}
		return out
	}
}

func cloned(v any) any {
	switch v := v.(type) {
	case object:
		c := slices.Clone(v)
		for i := range c {
			c[i].value = cloned(c[i].value)
		}
		return c
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = cloned(c[i])
		}
		return c
	}
	return v
}

// sortEntries puts timed entries in order; a list that holds anything else keeps its own.
func sortEntries(list []any) {
	when := func(v any) (cutroom.Micros, bool) {
		o, ok := v.(object)
		if !ok {
			return 0, false
		}
		_, t, ok := o.number(starts)
		return t, ok
	}
	for _, v := range list {
		if _, ok := when(v); !ok {
			return
		}
	}
	slices.SortStableFunc(list, func(a, b any) int {
		x, _ := when(a)
		y, _ := when(b)
		return int(x - y)
	})
}

func sortMarks(list []Mark) {
	slices.SortStableFunc(list, func(a, b Mark) int { return int(a.Start - b.Start) })
}

// readValue reads one value with the order of its members.
func readValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("it nests too deep")
	}
	t, err := d.Token()
	if err != nil {
		return nil, errors.New("it does not parse")
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, errors.New("it does not parse")
			}
			v, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), v})
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

func writeValue(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writePlain(b, m.name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeValue(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeValue(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	return writePlain(b, v)
}

func writePlain(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}
