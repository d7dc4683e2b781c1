package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineKey is a line of screen text, prepared for comparing.
type lineKey struct {
	text   string // folded, spaces collapsed, look-alikes in numbers resolved
	digits string // its digits: lines that differ in a number are different lines
	runes  int
}

// minFuzzy is the shortest line, in characters, that may differ at all; every
// character of a shorter one counts.
const minFuzzy = 5

// maxCompare bounds the quadratic comparison; longer lines must be equal.
const maxCompare = 400

func newLineKey(s string) lineKey {
	fields := strings.Fields(foldText(s))
	var digits strings.Builder
	for i, f := range fields {
		fields[i] = unmistakeDigits(f)
		for _, r := range fields[i] {
			if unicode.IsDigit(r) {
				digits.WriteRune(r)
			}
		}
		digits.WriteByte(' ')
	}
	text := strings.Join(fields, " ")
	return lineKey{text: text, digits: strings.Join(strings.Fields(digits.String()), ""), runes: utf8.RuneCountInString(text)}
}

// unmistakeDigits maps the letters that readers take for digits, in words that
// hold a digit.
func unmistakeDigits(word string) string {
	if !strings.ContainsFunc(word, unicode.IsDigit) {
		return word
	}
	return strings.NewReplacer("o", "0", "l", "1", "i", "1", "|", "1").Replace(word)
}

// similar reports whether a and b are the same line, read twice: the same digits,
// and at most one character in seven different.
func (a lineKey) similar(b lineKey) bool {
	if a.text == b.text {
		return true
	}
	if a.digits != b.digits || min(a.runes, b.runes) < minFuzzy || max(a.runes, b.runes) > maxCompare {
		return false
	}
	allowed := max(a.runes, b.runes) / 7
	return abs(a.runes-b.runes) <= allowed && editDistance([]rune(a.text), []rune(b.text)) <= allowed
}

// editDistance is the Levenshtein distance.
func editDistance[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
