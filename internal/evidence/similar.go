package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineKey is a line of screen text, prepared for comparing.
type lineKey struct {
	text     string // folded, spaces collapsed, look-alikes in numbers resolved
	skeleton string // text with look-alikes in words made one: equal means the same line
	digits   string // its digits: lines that differ in a number are different lines
	runes    int
}

// minFuzzy is the shortest line, in characters, that may differ at all; every
// character of a shorter one counts.
const minFuzzy = 5

// maxCompare bounds the quadratic comparison; longer lines must be equal.
const maxCompare = 160

var (
	likeDigits  = strings.NewReplacer("o", "0", "l", "1", "i", "1", "|", "1")
	likeLetters = strings.NewReplacer("0", "o", "1", "i", "l", "i", "|", "i")
)

func newLineKey(s string) lineKey {
	fields := strings.Fields(foldText(s))
	bones := make([]string, len(fields))
	var digits strings.Builder
	for i, f := range fields {
		if mostlyDigits(f) {
			fields[i] = likeDigits.Replace(f)
		}
		bones[i] = fields[i]
		if digitsInside(f) {
			bones[i] = likeLetters.Replace(f)
		}
		for _, r := range fields[i] {
			if unicode.IsDigit(r) {
				digits.WriteRune(r)
			}
		}
	}
	text := strings.Join(fields, " ")
	return lineKey{text: text, skeleton: strings.Join(bones, " "), digits: digits.String(), runes: utf8.RuneCountInString(text)}
}

// mostlyDigits reports a number in which a letter is likely a digit misread.
func mostlyDigits(word string) bool {
	digits, letters := 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && digits >= letters
}

// digitsInside reports a word in which every digit, if any, stands between
// letters: likely a letter misread.
func digitsInside(word string) bool {
	rs := []rune(word)
	for i, r := range rs {
		if unicode.IsDigit(r) && (i == 0 || i == len(rs)-1 || !unicode.IsLetter(rs[i-1]) || !unicode.IsLetter(rs[i+1])) {
			return false
		}
	}
	return true
}

// similar reports whether a and b are the same line, read twice: the same digits,
// and at most one character in seven different.
func (a lineKey) similar(b lineKey) bool {
	if a.skeleton == b.skeleton {
		return true
	}
	return a.comparable(b) && editDistance([]rune(a.text), []rune(b.text)) <= a.allowed(b)
}

// comparable reports whether a and b could be similar though not equal; it is
// cheap.
func (a lineKey) comparable(b lineKey) bool {
	return a.digits == b.digits && min(a.runes, b.runes) >= minFuzzy && max(a.runes, b.runes) <= maxCompare && abs(a.runes-b.runes) <= a.allowed(b)
}

// allowed is how many characters two readings of one line may differ in.
func (a lineKey) allowed(b lineKey) int { return max(a.runes, b.runes) / 7 }

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
