package caption

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/bidi"
)

// levels are the levels of a line's bytes by the bidirectional algorithm (UAX #9), in the
// direction that the line has, a picture counting as a sign of no direction.
func (ln *line) levels() []int {
	// One rune for each letter, one for each picture.
	var runes []rune
	var at []int // where each begins
	for _, s := range ln.faces {
		if s.emoji != nil {
			runes, at = append(runes, 0xFFFC), append(at, s.from)
			continue
		}
		for i, r := range ln.text[s.from:s.to] {
			runes, at = append(runes, r), append(at, s.from+i)
		}
	}
	byRune := levels(runes, ln.backward)
	list := make([]int, len(ln.text))
	for i, from := range at {
		to := len(ln.text)
		if i+1 < len(at) {
			to = at[i+1]
		}
		for k := from; k < to; k++ {
			list[k] = byRune[i]
		}
	}
	return list
}

// levels are those of runes. What finds runs of one direction does not tell a number
// beside letters of the other direction from those letters where both run from left to
// right: they are told apart here.
func levels(runes []rune, backward bool) []int {
	base, dir := 0, bidi.LeftToRight
	if backward {
		base, dir = 1, bidi.RightToLeft
	}
	list := make([]int, len(runes))
	var p bidi.Paragraph
	runs := p.Segment(runes, dir)
	for i := range runs.NumRuns() {
		r := runs.Run(i)
		for k := r.Start; k < r.End; k++ {
			switch {
			case !r.IsLeftToRight():
				list[k] = 1
			case base == 1:
				list[k] = 2
			}
		}
		if base == 1 || !r.IsLeftToRight() {
			continue
		}
		if r.Level == 2 {
			for k := r.Start; k < numeral(runes[:r.End], r.Start); k++ {
				list[k] = 2
			}
		}
		if i+1 < runs.NumRuns() { // Arabic digits ahead of what runs to the left
			for k := r.End - 1; k >= r.Start && (arabicDigit(runes[k]) || unicode.Is(unicode.Mn, runes[k])); k-- {
				list[k] = 2
			}
		}
	}
	return list
}

// numeral is where the number ends that begins at a place.
func numeral(runes []rune, from int) int {
	end := from
	for k := from; k < len(runes); k++ {
		r := runes[k]
		switch {
		case unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("%‰#°", r):
			end = k + 1
		case !strings.ContainsRune("+-−,./:\u00A0", r):
			return end
		}
	}
	return end
}

func arabicDigit(r rune) bool { return r >= 0x660 && r <= 0x669 || r == 0x66B || r == 0x66C }

// ordered are pieces as they are seen from left to right.
func ordered(list []piece) []piece {
	out := slices.Clone(list)
	top := 0
	for _, p := range list {
		top = max(top, p.level)
	}
	for level := top; level > 0; level-- {
		for i := 0; i < len(out); {
			if out[i].level < level {
				i++
				continue
			}
			k := i
			for k < len(out) && out[k].level >= level {
				k++
			}
			slices.Reverse(out[i:k])
			i = k
		}
	}
	return out
}
