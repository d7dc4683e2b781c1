package evidence

import (
	"unicode"
	"unicode/utf8"
)

// Bounds of [Excerpt]: what is searched, and the grain of a text without spaces.
const (
	maxExcerpt = 1 << 20 // bytes
	grain      = 20      // characters
)

// Excerpt returns the stretch of text, at most n characters, in which most of the
// terms of question stand, with "…" where text was left out. It begins and ends
// between words where there are spaces. A text that fits is returned whole; of one
// that holds no term, the beginning. Only the first mebibyte is searched.
func Excerpt(text, question string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	if n < 3 {
		return ""
	}
	if len(text) > maxExcerpt {
		text = text[:maxExcerpt]
	}
	rs := []rune(text)
	first, last := densest(hits(rs, question), n-2)
	start := max(0, min(first-max(0, n-2-(last-first))/3, len(rs)-(n-2)))
	end := min(len(rs), start+n-2)
	if start > 0 {
		start = nextSpace(rs, start, first)
	}
	if end < len(rs) {
		end = lastSpace(rs, last, end)
	}
	out := string(rs[start:end])
	if start > 0 {
		out = "…" + out
	}
	if end < len(rs) {
		out += "…"
	}
	return out
}

// hit is where a text holds a term of a question.
type hit struct {
	from, to int // characters
	term     string
}

// hits finds the terms that carry the question's topic, all of its terms when
// none does.
func hits(text []rune, question string) []hit {
	asked := topics(question)
	if len(asked) == 0 {
		asked = terms(question)
	}
	wanted := map[string]bool{}
	for _, t := range asked {
		wanted[t] = true
	}
	var found []hit
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && end-at < 2*grain && !unicode.IsSpace(text[end]) {
			end++
		}
		if end-at >= grain && unspaced(text[at]) != unspaced(' ') {
			end = at + grain
		}
		for _, t := range terms(string(text[at:min(len(text), end+1)])) { // one more: a pair may stand across
			if wanted[t] {
				found = append(found, hit{at, end, t})
			}
		}
		at = max(at+1, end)
	}
	return found
}

// densest is the stretch of at most n characters with the most different terms, of
// equals the one with the most of them, then the first. Without hits it is the
// beginning.
func densest(found []hit, n int) (from, to int) {
	count := map[string]int{}
	best, most := 0, 0
	for i, j := 0, 0; j < len(found); j++ {
		count[found[j].term]++
		for ; found[j].to-found[i].from > n && i < j; i++ {
			if count[found[i].term]--; count[found[i].term] == 0 {
				delete(count, found[i].term)
			}
		}
		if many := j - i; len(count) > best || len(count) == best && many > most {
			best, most = len(count), many
			from, to = found[i].from, min(found[j].to, found[i].from+n)
		}
	}
	return from, to
}

// nextSpace is the first place from start on, and not after most, that follows a
// space; start when there is none.
func nextSpace(rs []rune, start, most int) int {
	for i := start; i <= most && i < len(rs); i++ {
		if i > 0 && unicode.IsSpace(rs[i-1]) {
			return i
		}
	}
	return start
}

// lastSpace is the last place up to end, and not before least, that a space
// follows; end when there is none.
func lastSpace(rs []rune, least, end int) int {
	for i := end; i >= max(least, 1); i-- {
		if unicode.IsSpace(rs[i]) {
			return i
		}
	}
	return end
}
