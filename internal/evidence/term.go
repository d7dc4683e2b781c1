package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// terms returns the search terms of s: words in their stem, and pairs of
// neighbouring characters for scripts that write no spaces between words.
func terms(s string) []string {
	var out []string
	for _, w := range words(s) {
		rest := w
		for rest != "" {
			n := runLength(rest)
			if part := rest[:n]; unspaced(firstRune(part)) {
				out = append(out, pairs(part)...)
			} else {
				out = append(out, stem(part))
			}
			rest = rest[n:]
		}
	}
	return out
}

// wordsOfTerms returns, for each search term of s, what a reader recognises: the word
// of s that it stems from, or the term itself where words are not separated.
func wordsOfTerms(s string) map[string]string {
	shown := map[string]string{}
	for _, w := range words(s) {
		ts := terms(w)
		for _, t := range ts {
			if _, ok := shown[t]; ok {
				continue
			}
			if shown[t] = t; len(ts) == 1 {
				shown[t] = w
			}
		}
	}
	return shown
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// runLength returns the length of the part at the start of w that is all of
// scripts with spaces, or all of scripts without.
func runLength(w string) int {
	kind := unspaced(firstRune(w))
	for i, r := range w {
		if i > 0 && !unicode.IsMark(r) && unspaced(r) != kind {
			return i
		}
	}
	return len(w)
}

// unspaced reports scripts whose words are not separated, and Hangul, whose
// particles are not.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs returns the neighbouring pairs of characters of s; s itself when it has
// fewer than three.
func pairs(s string) []string {
	rs := []rune(s)
	if len(rs) < 3 {
		return []string{s}
	}
	out := make([]string, 0, len(rs)-1)
	for i := range len(rs) - 1 {
		out = append(out, string(rs[i:i+2]))
	}
	return out
}

// stem removes the English endings of plurals and of the forms in -ing and -ed,
// and no more: a stem that is too short is worse than none.
func stem(w string) string {
	w = strings.TrimSuffix(w, "'s")
	if len(w) < 4 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "s"):
		return strings.TrimSuffix(w[:len(w)-1], "e")
	case strings.HasSuffix(w, "ing") && len(w) > 5 && hasVowel(w[:len(w)-3]):
		return single(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && len(w) > 4 && hasVowel(w[:len(w)-2]):
		return single(w[:len(w)-2])
	}
	return strings.TrimSuffix(w, "e")
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// single undoes a doubled consonant (stopped → stop) and a silent e is dropped
// everywhere, so that "moving", "moved" and "move" meet.
func single(s string) string {
	n := len(s)
	if n > 2 && s[n-1] == s[n-2] && strings.IndexByte("aeiouls", s[n-1]) < 0 {
		return s[:n-1]
	}
	return strings.TrimSuffix(s, "e")
}

// stopWords are English words that carry no topic, as stems.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about after all also am an and any are as at be because been but by can could did do does
		each for from had has have he her here him his how i if in into is it its just like may me might more most my no not of on or
		our out over she should so some such than that the their them then there these they this those to up us very was we were what
		when where which while who whom whose why will with would you your it's i'm don't that's say said says tell show shows time
		moment second seconds minute minutes video clip`) {
		m[stem(w)] = true
	}
	return m
}()

// topics returns the terms of s that carry a topic.
func topics(s string) []string {
	all := terms(s)
	out := make([]string, 0, len(all))
	for _, t := range all {
		if !stopWords[t] {
			out = append(out, t)
		}
	}
	return out
}
