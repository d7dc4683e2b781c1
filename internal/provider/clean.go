package provider

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mask stands where a secret was.
const mask = "[redacted]"

// maxMessage bounds an attempt's message, in bytes.
const maxMessage = 300

// cleaner takes the exact values of keys and addresses out of a text. Only then is the
// text cut: a cut first could leave half a secret that is no longer found.
type cleaner struct {
	values []string // longest first
	more   func(string) string
}

// learn adds what an endpoint holds: keys, addresses, values of headers.
func (c *cleaner) learn(e Endpoint) {
	add := func(v string) {
		v = strings.TrimSpace(v)
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(v, "/", `\/`)} {
			if form != "" && !slices.Contains(c.values, form) {
				c.values = append(c.values, form)
			}
		}
	}
	for _, k := range e.Keys {
		add(k)
	}
	for _, h := range e.Headers {
		add(h.Value)
	}
	add(e.BaseURL)
	add(strings.TrimRight(e.BaseURL, "/"))
	if e.BaseURL != "" {
		add(e.address(""))
	}
	if u, err := url.Parse(e.BaseURL); err == nil && strings.ContainsAny(u.Host, ".:") {
		add(u.Host)
	}
	slices.SortFunc(c.values, func(a, b string) int { return len(b) - len(a) })
}

// message is what an attempt says of a fault.
func (c *cleaner) message(f *Fault) string {
	text := c.exact(f.Message)
	if f.cut {
		text = c.unbegun(text)
	}
	return c.text(text)
}

// unbegun takes off the end of a text what a value begins with: reading may have stopped
// within one.
func (c *cleaner) unbegun(s string) string {
	for _, v := range c.values {
		for n := min(len(v)-1, len(s)); n > 0; n-- {
			if strings.HasSuffix(s, v[:n]) {
				s = s[:len(s)-n]
				break
			}
		}
	}
	return s
}

// text is s without secrets, on one line, cut.
func (c *cleaner) text(s string) string {
	s = c.exact(s)
	if c.more != nil {
		s = c.more(s)
	}
	return cut(oneLine(s))
}

// exact masks every value, wherever they overlap.
func (c *cleaner) exact(s string) string {
	type span struct{ from, to int }
	var found []span
	for _, v := range c.values {
		for at := 0; at < len(s); {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(v)
			if len(v) >= 4 || apart(s, from, to) {
				found = append(found, span{from, to})
			}
			at = from + 1
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for i := 0; i < len(found); {
		from, to := found[i].from, found[i].to
		for i < len(found) && found[i].from <= to {
			to = max(to, found[i].to)
			i++
		}
		b.WriteString(s[at:from])
		b.WriteString(mask)
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

// apart says that s[from:to] is no part of a longer word: a value of a letter or two,
// as services without keys are given, stands in half of all words.
func apart(s string, from, to int) bool {
	word := func(b byte) bool {
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
	}
	return (from == 0 || !word(s[from-1])) && (to == len(s) || !word(s[to]))
}

// oneLine makes every run of white space and control characters one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
	}), " ")
}

// cut shortens s to [maxMessage] bytes, at a character.
func cut(s string) string {
	const more = "…"
	if len(s) <= maxMessage {
		return s
	}
	n := maxMessage - len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}
