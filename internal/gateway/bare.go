package gateway

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// longString is from how many bytes on a string is not looked at as JSON byte by byte.
const longString = 2048

// document is a body, and its bones: the same JSON with long strings emptied, which are
// pictures and recordings for the most part. What reads it walks along the bones; a span is
// a place in them.
type document struct {
	body  []byte
	bones []byte
	cuts  []cut // in order
}

// cut is where a string was emptied: from at on, what lies in the bones lies gone bytes
// further on in the body.
type cut struct{ at, gone int }

// bare empties the strings of at least long bytes in which nothing is escaped and nothing
// else is for JSON to object to, so that the bones are JSON if and only if the body is.
// Names stay whole: no two of them may be alike.
func bare(body []byte, long int) document {
	d := document{body: body, bones: body}
	var bones []byte
	from, gone := 0, 0 // of the body, what the bones lack
	for at := 0; ; {
		begin := bytes.IndexByte(body[at:], '"')
		if begin < 0 {
			break
		}
		begin += at + 1
		end := endOf(body, begin)
		if end < 0 {
			break
		}
		at = end + 1
		if end-begin < long || !plain(body[begin:end]) || isName(body[at:]) {
			continue
		}
		bones = append(bones, body[from:begin]...)
		from, gone = end, gone+end-begin
		d.cuts = append(d.cuts, cut{len(bones), gone})
	}
	if len(d.cuts) > 0 {
		d.bones = append(bones, body[from:]...)
	}
	return d
}

// endOf is where the string ends whose text begins at begin; less than 0 when it does not.
func endOf(body []byte, begin int) int {
	for at := begin; ; at++ {
		quote := bytes.IndexByte(body[at:], '"')
		if quote < 0 {
			return quote
		}
		at += quote
		escapes := 0
		for at-escapes > begin && body[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// isName says whether the string before rest is a member's name.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// plain says whether a text holds neither escapes nor control characters, which JSON has
// no place for.
func plain(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return false
	}
	const each, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		if (w-' '*each)&^w&tops != 0 { // a byte below the blank borrows; one with its top bit set does not count
			return false
		}
	}
	for _, c := range text {
		if c < ' ' {
			return false
		}
	}
	return true
}

// in is where a span of the bones lies in the body.
func (d document) in(s span) span { return span{d.place(s.from), d.place(s.to)} }

func (d document) place(at int) int {
	i := sort.Search(len(d.cuts), func(i int) bool { return d.cuts[i].at >= at })
	if i == 0 {
		return at
	}
	return at + d.cuts[i-1].gone
}

// of is what a span stands for.
func (d document) of(s span) []byte { s = d.in(s); return d.body[s.from:s.to] }
