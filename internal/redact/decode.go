package redact

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// mostLayers bounds how many spellings of a spelling are undone, the outermost first.
const mostLayers = 4

// longestEntity bounds a character reference of HTML, in bytes.
const longestEntity = 34

// layer is a text with its escapes undone once: backslashes, %41, &amp; and line ends
// are gone. It is for comparing alone; what was there is found by place.
type layer struct {
	text  string
	parts []part
}

// part is a piece of a layer: plain ones are as they were, others stand for one escape.
type part struct {
	at, from, to int // begin in the layer; begin and end in what the layer was made of
	escape       bool
}

// decodable reports whether a layer of s would differ from it.
func decodable(s string) bool { return strings.ContainsAny(s, "\\%&\n\r") }

var escapes = set("\n\r\\%&")

// decoded undoes the escapes of s once.
func decoded(s string) *layer {
	l := &layer{}
	var b strings.Builder
	b.Grow(len(s))
	plain := 0
	flush := func(to int) {
		if to > plain {
			l.parts = append(l.parts, part{at: b.Len(), from: plain, to: to})
			b.WriteString(s[plain:to])
		}
	}
	for i := 0; i < len(s); {
		if !escapes[s[i]] {
			i++
			continue
		}
		n, text := escapeAt(s, i)
		if n == 0 {
			i++
			continue
		}
		flush(i)
		if text != "" {
			l.parts = append(l.parts, part{b.Len(), i, i + n, true})
			b.WriteString(text)
		}
		i += n
		plain = i
	}
	flush(len(s))
	l.text = b.String()
	return l
}

// escapeAt returns the length of the escape at i and the text that it stands for; 0 when
// none stands there. The end of a line and what indents the next stand for nothing.
func escapeAt(s string, i int) (n int, text string) {
	switch s[i] {
	case '\n', '\r':
		return blanks(s, i+1) - i, ""
	case '\\':
		return backslash(s, i)
	case '%':
		if c, ok := hexValue(s, i+1, 2); ok {
			return 3, string([]byte{byte(c)})
		}
	case '&':
		return entity(s, i)
	}
	return 0, ""
}

// blanks is where line ends and blanks from i on are over.
func blanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// backslash is any number of backslashes and what they escape: a character by its code,
// a line end, or the next character as it is.
func backslash(s string, i int) (n int, text string) {
	at := i
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if at == len(s) {
		return at - i, ""
	}
	switch s[at] {
	case 'n', 'r', '\n', '\r':
		return blanks(s, at+1) - i, ""
	case 't':
		return at + 1 - i, "\t"
	case 'x':
		if c, ok := hexValue(s, at+1, 2); ok {
			return at + 3 - i, string([]byte{byte(c)})
		}
	case 'u':
		c, ok := hexValue(s, at+1, 4)
		if !ok {
			break
		}
		end := at + 5
		if utf16.IsSurrogate(c) {
			next := end
			for next < len(s) && s[next] == '\\' && next-end < at-i {
				next++
			}
			if low, ok := hexValue(s, next+1, 4); ok && s[next] == 'u' && next > end {
				return next + 5 - i, string(utf16.DecodeRune(c, low))
			}
		}
		return end - i, string(c)
	}
	if c := s[at]; c == '%' || c == '&' {
		return at - i, "" // an escape of its own
	}
	return at + 1 - i, s[at : at+1]
}

// hexValue is the number of n hexadecimal digits at i.
func hexValue(s string, i, n int) (rune, bool) {
	if i+n > len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(s[i:i+n], 16, 32)
	return rune(v), err == nil
}

// entity is a character reference of HTML: named, decimal or hexadecimal.
func entity(s string, i int) (n int, text string) {
	end := i + 1
	for end < len(s) && end-i < longestEntity && (alnum(s[end]) || s[end] == '#' && end == i+1) {
		end++
	}
	if end == len(s) || s[end] != ';' || end == i+1 {
		return 0, ""
	}
	raw := s[i : end+1]
	if text = html.UnescapeString(raw); text == raw {
		return 0, ""
	}
	return len(raw), text
}

// part is the one that holds the byte at i of the layer.
func (l *layer) part(i int) part {
	n, _ := slices.BinarySearchFunc(l.parts, i, func(p part, i int) int {
		if p.at <= i {
			return -1
		}
		return 1
	})
	return l.parts[n-1]
}

// source is where the bytes from one place of the layer to another came from.
func (l *layer) source(f span) span {
	first, last := l.part(f.from), l.part(f.to-1)
	out := span{first.from, last.to}
	if !first.escape {
		out.from += f.from - first.at
	}
	if !last.escape {
		out.to = last.from + f.to - last.at
	}
	return out
}

// layers are the texts that s becomes by undoing escapes, as often as there are any.
type layers []*layer

func decodedAll(s string) layers {
	var list layers
	for len(list) < mostLayers && decodable(s) {
		l := decoded(s)
		list = append(list, l)
		s = l.text
	}
	if last := len(list) - 1; last >= 0 {
		list[last].text = plusses(list[last].text)
	}
	return list
}

// plusses writes blanks as a query does.
func plusses(s string) string { return strings.ReplaceAll(s, " ", "+") }

// source is where a part of the last layer came from in the first text.
func (list layers) source(f span) span {
	for _, l := range slices.Backward(list) {
		f = l.source(f)
	}
	return f
}

// bare is a value without escapes and line ends, as it stands in the last layer.
func bare(v string) string {
	if list := decodedAll(v); len(list) > 0 {
		return list[len(list)-1].text
	}
	return plusses(v)
}

// decodedSpans finds known values that s spells with escapes, or wraps in lines.
func (n *needles) decodedSpans(s string, list layers) []span {
	if n == nil || len(list) == 0 {
		return nil
	}
	text := list[len(list)-1].text
	var found []span
	for _, f := range n.find(text, list.apart) {
		cut := f.to == len(text)
		from := list.source(f)
		raw := s[from.from:from.to]
		wrapped := strings.ContainsAny(raw, "\n\r")
		if wrapped && f.to-f.from < leastWrapped || wrapped && allHex(text[f.from:f.to]) && f.to-f.from < 2*wordlike {
			continue
		}
		if cut && from.to < len(s) && !n.whole(text[f.from:f.to]) {
			continue // a line's end is not the text's
		}
		found = append(found, from)
	}
	return found
}

// leastWrapped is the length from which a value may go on in the next line: as base64
// makes of eight bytes.
const leastWrapped = 10

// apart reports whether something that stands for nothing is between the byte at i of
// the last layer and the one before.
func (list layers) apart(i int) bool {
	if i == 0 || i >= len(list[len(list)-1].text) {
		return true
	}
	return list.source(span{i - 1, i}).to < list.source(span{i, i + 1}).from
}
