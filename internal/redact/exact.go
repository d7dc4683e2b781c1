package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// The shortest values that are looked for, in bytes. Shorter ones would be found in
// ordinary words, and those that are no longer than a word only where one stands alone.
const (
	shortest = 4
	wordlike = 8
	gram     = 4 // bytes by which a needle is found
)

// needles are the spellings of known values, found by their first bytes.
type needles struct {
	seen    [1 << 16 / 64]uint64 // hashes of the first bytes of every needle
	starts  map[uint32][]string  // needles by their first bytes without case, the longest first
	longest int
}

// newNeedles prepares the spellings of the values; nil when there are none.
func newNeedles(values []string) *needles {
	n := &needles{starts: map[uint32][]string{}}
	for _, v := range values {
		v = strings.TrimSpace(v)
		for _, text := range append(spellings(v), bare(v)) {
			if len(text) < shortest {
				continue
			}
			h := head(text, 0)
			if slices.Contains(n.starts[h], text) {
				continue
			}
			n.starts[h] = append(n.starts[h], text)
			slot := hashed(h)
			n.seen[slot/64] |= 1 << (slot % 64)
			n.longest = max(n.longest, len(text))
		}
	}
	if len(n.starts) == 0 {
		return nil
	}
	for _, list := range n.starts {
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return n
}

// spellings are the forms in which a value can stand in a text: as it is, escaped for
// an address or for JSON, in hexadecimal digits, and inside base64 at each of its three
// alignments. Of a value of several lines each long line counts by itself.
func spellings(v string) []string {
	if len(v) < shortest {
		return nil
	}
	list := []string{v, url.QueryEscape(v), url.PathEscape(v), (&url.URL{User: url.User(v)}).User.String(), lowerEscapes(url.QueryEscape(v)), escaped(v)}
	if plain, err := json.Marshal(v); err == nil {
		list = append(list, string(plain[1:len(plain)-1]))
	}
	if len(v) >= wordlike {
		h := hex.EncodeToString([]byte(v))
		list = append(list, h)
		for shift := range 3 {
			list = append(list, inBase64(base64.RawStdEncoding, v, shift), inBase64(base64.RawURLEncoding, v, shift))
		}
	}
	if strings.Contains(v, "\n") {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= 2*wordlike && !strings.HasPrefix(line, "-----") {
				list = append(list, line, bare(line))
			}
		}
	}
	return list
}

// escaped is v inside a JSON string, with no more escapes than needed.
func escaped(v string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return v
	}
	text := strings.TrimSpace(b.String())
	return text[1 : len(text)-1]
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 is the part of a base64 text that v fills alone, when shift bytes stand
// before it.
func inBase64(enc *base64.Encoding, v string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), v...))
	from := (shift*8 + 5) / 6
	to := (shift + len(v)) * 8 / 6
	return text[from:to]
}

// head is the first four bytes of s from at, letters without their case; the caller made
// sure of them.
func head(s string, at int) uint32 {
	_ = s[at+3]
	return (uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24) | 0x20202020
}

func hashed(h uint32) uint32 { return h * 2654435761 >> 16 }

// find returns where known values stand, in order. apart, when there is one, says where
// a word ends although letters follow.
func (n *needles) find(s string, apart func(int) bool) []span {
	if n == nil {
		return nil
	}
	var found []span
	for i := 0; i+gram <= len(s); i++ {
		h := head(s, i)
		slot := hashed(h)
		if n.seen[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		for _, text := range n.starts[h] {
			if to, ok := n.at(s, i, text, apart); ok {
				found = append(found, span{i, to})
				i = to - 1
				break
			}
		}
	}
	return found
}

// at reports whether text stands at i, whole or cut off by the end of a line or by an
// ellipsis, and where it ends. The case of letters counts in what is no longer than a
// word.
func (n *needles) at(s string, i int, text string, apart func(int) bool) (to int, ok bool) {
	rest := s[i:]
	same := sameBytes(rest, text)
	opens := func() bool { return !wordBefore(s, i) || apart != nil && apart(i) }
	if same == len(text) {
		to = i + same
		if len(text) >= wordlike && !allHex(text) {
			return to, true
		}
		return to, opens() && (!wordAfter(s, to) || apart != nil && apart(to))
	}
	if len(text) <= wordlike || same < wordlike {
		return 0, false
	}
	cut := same == len(rest) || rest[same] == '\n' || strings.HasPrefix(rest[same:], "…") || strings.HasPrefix(rest[same:], "...")
	return i + same, cut && opens()
}

// sameBytes is how far s begins like text; the case of letters counts in short ones.
func sameBytes(s, text string) int {
	n := 0
	for n < len(s) && n < len(text) && (s[n] == text[n] || len(text) >= wordlike && s[n]^text[n] == 0x20 && alnum(s[n]) && alnum(text[n])) {
		n++
	}
	return n
}

// whole reports whether s is a needle from its first to its last byte.
func (n *needles) whole(s string) bool {
	return slices.ContainsFunc(n.starts[head(s, 0)], func(text string) bool { return len(text) == len(s) })
}

// allHex reports whether s could be a part of a digest.
func allHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func wordBefore(s string, i int) bool { return i > 0 && alnum(s[i-1]) }
func wordAfter(s string, i int) bool  { return i < len(s) && alnum(s[i]) }

func alnum(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

// merge orders spans and joins those that meet.
func merge(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && s.from <= out[last].to {
			out[last].to = max(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
