package caption

import (
	"strings"
	"unicode"

	"github.com/go-text/typesetting/segmenter"
)

// Marks that are never drawn: they keep a backslash from being read as a tag, and give
// a broken line its direction.
const (
	wordJoiner = '\u2060'
	rightMark  = '\u200F'
	leftMark   = '\u200E'
)

// lineEnds are the characters that end a line.
const lineEnds = "\n\r\v\f\u0085\u2028\u2029"

// linesOf splits a text at its line ends; blank lines say nothing.
func linesOf(text string) []string {
	var lines []string
	for _, l := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(lineEnds, r) }) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// unbroken is a text on one line: its line ends are spaces, and nothing between
// characters of a script that has no spaces.
func unbroken(lines []string) string {
	var b strings.Builder
	last := rune(0)
	for _, l := range lines {
		if b.Len() > 0 && !(spaceless(last) && spaceless(firstRune(l))) {
			b.WriteByte(' ')
		}
		b.WriteString(l)
		last = lastRune(l)
	}
	return b.String()
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) (last rune) {
	for _, r := range s {
		last = r
	}
	return last
}

// spaceless reports whether r belongs to a script that puts no spaces between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r >= 0x3000 && r < 0x3040 || r >= 0xFF00 && r < 0xFF66
}

// undivided reports whether r belongs to a script whose words only a dictionary tells
// apart.
func undivided(r rune) bool {
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Tham)
}

// clusters returns where each character of text, as a reader sees it, begins, and the
// length of text at the end.
func clusters(text string) []int {
	var seg segmenter.Segmenter
	seg.Init([]rune(text))
	var at []int
	offset := 0
	for it := seg.GraphemeIterator(); it.Next(); {
		at = append(at, offset)
		offset += len(string(it.Grapheme().Text))
	}
	return append(at, len(text))
}

// joins reports whether a line may not end between two clusters of an undivided script:
// a vowel written before its consonant stays with it, one written behind it too.
func joins(before, after string) bool {
	a, b := lastRune(before), firstRune(after)
	switch {
	case a >= 0x0E40 && a <= 0x0E44, a >= 0x0EC0 && a <= 0x0EC4:
		return true
	case b == 0x0E2F, b == 0x0E30, b == 0x0E32, b == 0x0E33, b == 0x0E45, b == 0x0E46, b == 0x0EB0, b == 0x0EB2, b == 0x0EB3, b == 0x0EC6:
		return true
	}
	return !undivided(a) || !undivided(b)
}

// rightward scripts are written from right to left.
func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic, unicode.Adlam)
}

// direction is the base direction of a text: +1 left to right, −1 right to left, 0 for
// a text without letters. The direction of most of its letters holds; a renderer takes
// that of the first one, which a name or a number in another script turns around.
func direction(text string) int {
	first, sum := 0, 0
	for _, r := range text {
		d := strong(r)
		if first == 0 {
			first = d
		}
		sum += d
	}
	switch {
	case sum > 0:
		return 1
	case sum < 0:
		return -1
	}
	return first
}

// strong is the direction that a letter has by itself.
func strong(r rune) int {
	switch {
	case r == leftMark:
		return 1
	case r == rightMark || r == 0x61C:
		return -1
	case !unicode.IsLetter(r):
		return 0
	case rightToLeft(r):
		return -1
	}
	return 1
}

// firstStrong is the direction that a renderer sees in a line.
func firstStrong(text string) int {
	for _, r := range text {
		if d := strong(r); d != 0 {
			return d
		}
	}
	return 0
}

// isEmoji reports whether a cluster is a picture by default, or is taken for one.
func isEmoji(cluster string) bool {
	for _, r := range cluster {
		if r >= 0x1F000 && r < 0x1FB00 || r >= 0x2600 && r < 0x27C0 || r == 0x2B50 || r == 0x2B55 {
			return true
		}
	}
	return presents(cluster)
}

// vanishes reports whether r is never drawn.
func vanishes(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}
