package evidence

import (
	"slices"
	"strconv"
	"strings"
)

// WordErrors counts the word errors (substitutions, insertions, deletions) of hyp
// against ref, and the words of ref. Both are normalised alike first: case,
// punctuation and hyphens do not count, numbers up to 999 and per cent are spelt
// out, Mr, Mrs and Dr likewise, and "we are" and "we were" count as "we're".
func WordErrors(ref, hyp string) (errors, words int) {
	r, h := spokenWords(ref), spokenWords(hyp)
	return editDistance(r, h), len(r)
}

var spokenForms = map[string]string{"mr": "mister", "mrs": "missus", "dr": "doctor", "ok": "okay"}

// spokenWords returns the words of s as they are said.
func spokenWords(s string) []string {
	s = strings.ReplaceAll(s, "%", " percent ")
	var out []string
	for _, w := range words(s) {
		if spoken, ok := spokenForms[w]; ok {
			w = spoken
		}
		if n, err := strconv.Atoi(w); err == nil && n >= 0 && n < 1000 {
			out = append(out, numberWords(n)...)
			continue
		}
		if n := len(out); (w == "are" || w == "were") && n > 0 && slices.Contains([]string{"we", "you", "they"}, out[n-1]) {
			out[n-1] += "'re"
			continue
		}
		out = append(out, w)
	}
	return out
}

var (
	units = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens  = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
)

// numberWords spells 0 ≤ n < 1000 in English.
func numberWords(n int) []string {
	switch {
	case n < 20:
		return []string{units[n]}
	case n < 100 && n%10 == 0:
		return []string{tens[n/10]}
	case n < 100:
		return []string{tens[n/10], units[n%10]}
	case n%100 == 0:
		return []string{units[n/100], "hundred"}
	}
	return append([]string{units[n/100], "hundred"}, numberWords(n%100)...)
}
