package evidence

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words returns the words of s for comparing: lower case, compatibility forms
// folded, accents of Latin, Greek, Arabic and Hebrew letters removed, no
// punctuation. A word is a run of letters, marks and digits; an apostrophe inside
// one is part of it.
func words(s string) []string {
	fields := strings.FieldsFunc(foldText(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	})
	out := fields[:0]
	for _, f := range fields {
		if f = strings.Trim(f, "'"); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// foldText lowers s and removes what does not distinguish words.
func foldText(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	accented := false // the letter before is of a script whose accents are folded
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r == '’':
			r = '\''
		case unicode.IsMark(r):
			if accented {
				continue
			}
		case invisible(r) || r == 0x640: // Arabic tatweel only stretches
			continue
		default:
			accented = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return norm.NFC.String(b.String())
}
