package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineBreak is what a line break becomes where one line is promised.
const lineBreak = " / "

// maxMarks is how many combining marks one letter keeps. Scripts need up to four;
// more smear over the lines above and below.
const maxMarks = 8

// Plain returns s for a reader that shows text as it is, over several lines:
//
//   - Line ends of every kind become LF; tabs stay.
//   - Other C0 controls and DEL show as their control picture (ESC as ␛).
//   - C1 controls, noncharacters and what is not UTF-8 show as U+FFFD, a run of
//     tag characters as one U+FFFD.
//   - Bidirectional controls, zero-width and other invisible format characters
//     are removed, and so are combining marks beyond eight on one letter.
//   - Kept: joiners between letters of scripts that need them and inside emoji,
//     one variation selector where it has a meaning, the flags of England,
//     Scotland and Wales.
//
// Plain(Plain(s)) = Plain(s).
func Plain(s string) string {
	if isPlain(s) {
		return s
	}
	return clean(s)
}

// Terminal returns s for one line of a terminal: as [Plain], with line breaks as
// " / " and tabs as a space. It holds no control character at all, so it can
// neither start an escape sequence nor leave its line.
//
// Terminal(Terminal(s)) = Terminal(s).
func Terminal(s string) string {
	s = strings.ReplaceAll(Plain(s), "\t", " ")
	if !strings.Contains(s, "\n") {
		return s
	}
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimRight(l, " "); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, lineBreak)
}

// isPlain is the fast path: printable ASCII, LF and tab only.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7F || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// clean applies the rules of [Plain]. What never survives goes first, so that the
// neighbours of a joiner are the ones that a reader will see.
func clean(s string) string {
	in := visible(s)
	out := make([]rune, 0, len(in))
	for i := 0; i < len(in); i++ {
		r := in[i]
		switch {
		case r == tagMark:
			out = append(out, utf8.RuneError)
		case !needsContext(r) || keepInContext(out, r, in[i+1:]):
			out = append(out, r)
		}
	}
	return string(out)
}

// tagMark stands for a run of tag characters that is not a flag, until it is
// written: a tag character that is no longer used.
const tagMark = 0xE0001

// visible drops what is never shown and replaces what is never shown raw. Line
// ends become LF; a tag run that spells a flag stays, others become one tagMark.
func visible(s string) []rune {
	out := make([]rune, 0, len(s))
	rs := []rune(s)
	marks := 0
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		if !unicode.Is(unicode.M, r) && !invisible(r) {
			marks = 0
		}
		switch {
		case r == '\r':
			if i+1 < len(rs) && rs[i+1] == '\n' {
				continue
			}
			out = append(out, '\n')
		case isLineBreak(r):
			out = append(out, '\n')
		case r == '\t':
			out = append(out, r)
		case r < ' ':
			out = append(out, 0x2400+r)
		case r == 0x7F:
			out = append(out, 0x2421)
		case r >= 0x80 && r < 0xA0, isNonCharacter(r):
			out = append(out, utf8.RuneError)
		case isTag(r):
			end := i
			for end < len(rs) && isTag(rs[end]) {
				end++
			}
			if subdivisionFlag(out, rs[i:end]) == end-i {
				out = append(out, rs[i:end]...)
			} else if len(out) == 0 || out[len(out)-1] != tagMark {
				out = append(out, tagMark)
			}
			i = end - 1
		case needsContext(r):
			out = append(out, r)
		case unicode.Is(unicode.M, r) && !invisible(r):
			if marks++; marks <= maxMarks {
				out = append(out, r)
			}
		case !invisible(r):
			out = append(out, r)
		}
	}
	return out
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isNonCharacter reports the code points that are never text (Unicode 23.7).
func isNonCharacter(r rune) bool {
	return r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}

// isTag reports the tag characters, which can carry hidden ASCII.
func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

// shownFormat are the format characters (Cf) that have a picture: number and
// verse signs of Arabic, Syriac and Kaithi.
var shownFormat = []rune{0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}

// invisible reports what has no picture of its own: format characters, and the
// letters and marks that Unicode ignores by default (fillers, grapheme joiner,
// selectors, reserved ranges).
func invisible(r rune) bool {
	if unicode.Is(unicode.Cf, r) {
		return !slices.Contains(shownFormat, r)
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r >= 0xE0000 && r <= 0xE0FFF
}

// needsContext reports characters that are kept or dropped by their neighbours.
func needsContext(r rune) bool {
	return r == zwj || r == zwnj || unicode.Is(unicode.Variation_Selector, r) || r == mongolianSeparator
}
