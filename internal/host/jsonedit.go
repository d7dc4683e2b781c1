package host

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A member is put into an object so that taking it out gives back the very bytes:
//
//	{…, last}       a line with the member after the last, which gets a comma
//	{…, last,}      the same, and the member keeps a comma, too
//	{}              "{ " with a blank at its end, then lines of the member and the brace
//	{ white space } the member's line, a blank, and the white space
//	(no object)     an object with the member alone, as an encoder writes it
//
// The blank tells an object that was there from one that we made, which goes with its
// member.

// cut is a piece of the text and what takes its place.
type cut struct {
	from, to int
	text     string
}

// splice returns the whole text with pieces of it replaced; they do not overlap.
func (d *document) splice(cuts ...cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return a.from - b.from })
	out, at := bytes.Clone(d.lead), 0
	for _, c := range cuts {
		out = append(append(out, d.src[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, d.src[at:]...)
}

// indentAt is the white space that the line of an offset begins with.
func (d *document) indentAt(at int) string {
	line := d.src[:at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// memberIndent is the white space before the members of an object: as its first has
// it, else one step more than the line that the object begins on.
func (d *document) memberIndent(v *hujson.Value) string {
	if o := v.Value.(*hujson.Object); len(o.Members) > 0 {
		return d.indentAt(o.Members[0].Name.StartOffset)
	}
	outer := d.indentAt(v.StartOffset)
	return outer + d.step(outer)
}

// step is by how much deeper lines are indented: as the file's first indented line.
func (d *document) step(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	if o, ok := d.value.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		if first := d.indentAt(o.Members[0].Name.StartOffset); first != "" && len(first) <= 8 {
			return first
		}
	}
	return "  "
}

// insert puts a member at the end of an object.
func (d *document) insert(v *hujson.Value, name, text string) []byte {
	o := v.Value.(*hujson.Object)
	pair := fmt.Sprintf("%s%s%q: %s", d.newline, d.memberIndent(v), name, text)
	from, to := v.StartOffset+1, v.EndOffset-1
	if len(o.Members) == 0 {
		if from == to {
			return d.splice(cut{from, to, " " + pair + d.newline + d.indentAt(v.StartOffset)})
		}
		return d.splice(cut{from, from, pair + " "})
	}
	last := o.Members[len(o.Members)-1].Value
	comma := last.EndOffset + len(last.AfterExtra)
	if last.AfterExtra != nil {
		at := comma + 1 + len(bytes.TrimRight(d.src[comma+1:to], " \t\r\n"))
		return d.splice(cut{at, at, pair + ","})
	}
	// A comment after the last member stays with it.
	at := last.EndOffset + len(bytes.TrimRight(d.src[last.EndOffset:to], " \t\r\n"))
	if at == last.EndOffset {
		return d.splice(cut{at, at, "," + pair})
	}
	return d.splice(cut{last.EndOffset, last.EndOffset, ","}, cut{at, at, pair})
}

// remove takes a member out, with the comma that it needed. made says that nothing
// tells that the object was there before the member.
func (d *document) remove(v *hujson.Value, name string) (after []byte, made bool) {
	o := v.Value.(*hujson.Object)
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		l, ok := m.Name.Value.(hujson.Literal)
		return ok && l.String() == name
	})
	m := o.Members[i]
	from, to := d.lineStart(m.Name.StartOffset), m.Value.EndOffset
	comma := m.Value.AfterExtra != nil
	if comma {
		to += len(m.Value.AfterExtra) + 1
	}
	switch {
	case len(o.Members) == 1:
		return d.removeOnly(v, from, to)
	case comma:
		return d.splice(cut{from, to, ""}), false
	}
	before := o.Members[i-1].Value // the last of several has one before it
	at := before.EndOffset + len(before.AfterExtra)
	return d.splice(cut{at, at + 1, ""}, cut{from, to, ""}), false
}

// removeOnly takes the only member of an object out, which stands from to to.
func (d *document) removeOnly(v *hujson.Value, from, to int) (after []byte, made bool) {
	head, tail := string(d.src[v.StartOffset+1:from]), string(d.src[to:v.EndOffset-1])
	whole := func(inner string) []byte { return d.splice(cut{v.StartOffset + 1, v.EndOffset - 1, inner}) }
	closing := d.newline + d.indentAt(v.StartOffset)
	switch {
	case head == " " && tail == closing:
		return whole(""), false
	case head == "" && strings.HasPrefix(tail, " "):
		return whole(tail[1:]), false
	case strings.TrimSpace(head+tail) != "": // comments
		return whole(head + tail), false
	}
	return whole(""), true
}

// lineStart goes back from a member over the white space of its line, and over that
// line's end.
func (d *document) lineStart(at int) int {
	for at > 0 && (d.src[at-1] == ' ' || d.src[at-1] == '\t') {
		at--
	}
	if at > 0 && d.src[at-1] == '\n' {
		at--
		if at > 0 && d.src[at-1] == '\r' {
			at--
		}
	}
	return at
}
