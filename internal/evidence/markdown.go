package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown returns s as one line of CommonMark or GFM text that shows the words
// of s and nothing else: as [Terminal], and then
//
//   - every character that could open or close a structure (HTML, link, image,
//     code, emphasis, table, footnote, formula, template) is a backslash escape
//     or, for < > & and the backtick, a character reference;
//   - a marker at the start (heading, list, quote, rule, fence) is escaped;
//   - what a renderer would link by itself (scheme://…, www.…, mail addresses and
//     @mentions) stands in a code span, since some renderers link escaped text.
//
// Rendering it fetches nothing. It is not idempotent: escaping twice shows the
// escapes. The caller puts it anywhere inside a line.
func Markdown(s string) string {
	s = strings.TrimSpace(Terminal(s))
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	rest := s
	for first := true; rest != ""; first = false {
		at, n := nextLink(rest)
		escapeMarkdown(&b, rest[:at], first)
		if n > 0 {
			b.WriteString("`" + rest[at:at+n] + "`")
		}
		rest = rest[at+n:]
	}
	return b.String()
}

// escapeMarkdown writes s with its structure neutralised. start tells that s
// begins the line.
func escapeMarkdown(b *strings.Builder, s string, start bool) {
	if start {
		n := leadingMarker(s)
		if n > 0 {
			b.WriteString(s[:n-1] + `\` + s[n-1:n])
		}
		s = s[n:]
	}
	previous := rune(0)
	for i, r := range s {
		switch r {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '`':
			b.WriteString("&#96;")
		case '\\', '*', '[', ']', '{', '}', '|', '~', '$', '^':
			b.WriteString(`\` + string(r))
		case '_':
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			if !wordRune(previous) || !wordRune(next) {
				b.WriteByte('\\') // inside a word it is plain in CommonMark
			}
			b.WriteByte('_')
		case '(', ':':
			if previous == ']' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case '!':
			if strings.HasPrefix(s[i+1:], "[") {
				b.WriteByte('\\')
			}
			b.WriteByte('!')
		default:
			b.WriteRune(r)
		}
		previous = r
	}
}

// leadingMarker returns the length of s up to and including the character that
// makes its start a block marker, 0 when there is none.
func leadingMarker(s string) int {
	if s == "" {
		return 0
	}
	if strings.IndexByte("#-+=:%", s[0]) >= 0 {
		return 1
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return digits + 1
	}
	return 0
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// linkEnds are the characters that end what is put in a code span.
const linkEnds = " \t\u00A0\u3000`|<>[](){}\"\\"

// nextLink finds the next stretch of s that a renderer would turn into a link by
// itself. n is 0 and at is len(s) when there is none.
func nextLink(s string) (at, n int) {
	for from := 0; from < len(s); {
		end := strings.IndexAny(s[from:], linkEnds)
		if end < 0 {
			end = len(s)
		} else {
			end += from
		}
		if linkLike(s[from:end]) {
			return from, end - from
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		from = end + size
	}
	return len(s), 0
}

// linkLike reports whether token, which holds no space or bracket, could be
// linked: a scheme with slashes, www., a mail or xmpp address, a mention.
func linkLike(token string) bool {
	lower := strings.ToLower(token)
	if strings.Contains(lower, "://") || strings.Contains(lower, "mailto:") || strings.Contains(lower, "xmpp:") || strings.Contains(lower, "www.") {
		return true
	}
	for rest := lower; ; {
		i := strings.IndexByte(rest, '@')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if r, _ := utf8.DecodeRuneInString(rest); wordRune(r) {
			return true
		}
	}
}

// codeSpan returns s as a code span, for names of our own (times, paths).
func codeSpan(s string) string {
	s = Terminal(s)
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
