package evidence

import (
	"slices"
	"strings"
	"unicode"
)

const (
	zwnj               = 0x200C
	zwj                = 0x200D
	textStyle          = 0xFE0E // variation selector 15
	emojiStyle         = 0xFE0F // variation selector 16
	mongolianSeparator = 0x180E
	blackFlag          = 0x1F3F4
	cancelTag          = 0xE007F
	keycap             = 0x20E3
)

// joining are the scripts in which a joiner or non-joiner changes what is read:
// cursive scripts and scripts with conjuncts (Unicode 23.2, UTS #46 CONTEXTJ).
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Phags_Pa, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Manichaean, unicode.Sogdian,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese, unicode.Newa, unicode.Meetei_Mayek, unicode.Chakma,
}

// viramas end a consonant without its vowel; a joiner after one asks for a form
// (Malayalam chillu, Sinhala conjuncts), even at the end of a word.
var viramas = []rune{0x94D, 0x9CD, 0xA4D, 0xACD, 0xB4D, 0xBCD, 0xC4D, 0xCCD, 0xD4D, 0xDCA, 0x1039, 0x17D2, 0x1B44, 0xA9C0}

// keepInContext reports whether r, a joiner or selector, means something between
// the end of out and the start of next. Only the first of a run can.
func keepInContext(out []rune, r rune, next []rune) bool {
	var before, after rune
	if len(out) > 0 {
		before = out[len(out)-1]
	}
	if len(next) > 0 {
		after = next[0]
	}
	switch {
	case r == zwj:
		return joinsLetters(before, after) || slices.Contains(viramas, before) ||
			unicode.Is(unicode.Arabic, before) && unicode.IsLetter(before) || joinsEmoji(out, after)
	case r == zwnj:
		return joinsLetters(before, after)
	case r == emojiStyle || r == textStyle:
		return isPictograph(before) || after == keycap && (before == '#' || before == '*' || before >= '0' && before <= '9')
	case r >= 0xE0100: // ideographic variants of Japanese names
		return unicode.Is(unicode.Han, before)
	case r == mongolianSeparator || r >= 0x180B && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before)
	}
	return false
}

// joinsLetters reports whether both neighbours are letters or marks of scripts
// that need joiners.
func joinsLetters(before, after rune) bool {
	word := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r, joining...)
	}
	return word(before) && word(after)
}

// joinsEmoji reports whether out ends in an emoji, with its skin tone or style,
// and after is one.
func joinsEmoji(out []rune, after rune) bool {
	i := len(out) - 1
	for i >= 0 && (out[i] == emojiStyle || isSkinTone(out[i])) {
		i--
	}
	return i >= 0 && isPictograph(out[i]) && isPictograph(after)
}

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// subdivisionFlag returns the length of the tag run at the start of tags when,
// with the black flag at the end of out, it is one of the three flags that
// Unicode recommends (England, Scotland, Wales); else 0.
func subdivisionFlag(out, tags []rune) int {
	if len(out) == 0 || out[len(out)-1] != blackFlag {
		return 0
	}
	var b strings.Builder
	for i, r := range tags {
		if r == cancelTag {
			switch b.String() {
			case "gbeng", "gbsct", "gbwls":
				return i + 1
			}
			return 0
		}
		if !isTag(r) || i > 5 {
			return 0
		}
		b.WriteRune(r - 0xE0000)
	}
	return 0
}

// isPictograph reports the code points with the property Extended_Pictographic
// (UTS #51), skin tones included.
func isPictograph(r rune) bool {
	return unicode.Is(pictographs, r)
}

var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xA9, 0xAE, 5},
		{0x203C, 0x2049, 13},
		{0x2122, 0x2139, 23},
		{0x2194, 0x2199, 1},
		{0x21A9, 0x21AA, 1},
		{0x231A, 0x231B, 1},
		{0x2328, 0x2388, 96},
		{0x23CF, 0x23CF, 1},
		{0x23E9, 0x23F3, 1},
		{0x23F8, 0x23FA, 1},
		{0x24C2, 0x24C2, 1},
		{0x25AA, 0x25AB, 1},
		{0x25B6, 0x25C0, 10},
		{0x25FB, 0x25FE, 1},
		{0x2600, 0x2605, 1},
		{0x2607, 0x2612, 1},
		{0x2614, 0x2685, 1},
		{0x2690, 0x2705, 1},
		{0x2708, 0x2712, 1},
		{0x2714, 0x2716, 2},
		{0x271D, 0x2721, 4},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1},
		{0x2744, 0x2747, 3},
		{0x274C, 0x274E, 2},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2763, 0x2767, 1},
		{0x2795, 0x2797, 1},
		{0x27A1, 0x27A1, 1},
		{0x27B0, 0x27BF, 15},
		{0x2934, 0x2935, 1},
		{0x2B05, 0x2B07, 1},
		{0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B55, 5},
		{0x3030, 0x303D, 13},
		{0x3297, 0x3299, 2},
	},
	R32: []unicode.Range32{
		{0x1F000, 0x1F0FF, 1},
		{0x1F10D, 0x1F10F, 1},
		{0x1F12F, 0x1F12F, 1},
		{0x1F16C, 0x1F171, 1},
		{0x1F17E, 0x1F17F, 1},
		{0x1F18E, 0x1F18E, 1},
		{0x1F191, 0x1F19A, 1},
		{0x1F1AD, 0x1F1E5, 1},
		{0x1F201, 0x1F20F, 1},
		{0x1F21A, 0x1F22F, 21},
		{0x1F232, 0x1F23A, 1},
		{0x1F23C, 0x1F23F, 1},
		{0x1F249, 0x1F53D, 1},
		{0x1F546, 0x1F64F, 1},
		{0x1F680, 0x1F6FF, 1},
		{0x1F774, 0x1F77F, 1},
		{0x1F7D5, 0x1F7FF, 1},
		{0x1F80C, 0x1F80F, 1},
		{0x1F848, 0x1F84F, 1},
		{0x1F85A, 0x1F85F, 1},
		{0x1F888, 0x1F88F, 1},
		{0x1F8AE, 0x1F8FF, 1},
		{0x1F90C, 0x1F93A, 1},
		{0x1F93C, 0x1F945, 1},
		{0x1F947, 0x1FAFF, 1},
		{0x1FC00, 0x1FFFD, 1},
	},
	LatinOffset: 1,
}
