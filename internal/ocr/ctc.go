package ocr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reading is what the recognition model says about one line.
type reading struct {
	text  string
	score float64 // mean probability of its characters, 0..1
}

// glyph is one character that the model emitted, at a step of its output.
type glyph struct {
	key   string
	step  int
	p     float32
	space float32 // highest probability of a space since the character before
}

// hiddenSpace is the probability from which a space that lost against the blank
// is believed between two letters of a spaced script.
const hiddenSpace = 0.1

// decodeCTC turns the model's output, steps rows of len(keys) probabilities, into
// text: the best key of each step, repeats and blanks (key 0) dropped (Graves et
// al., "Connectionist Temporal Classification"). The last key is the space. A key
// that is empty but the blank's is never read.
func decodeCTC(probs []float32, steps int, keys []string) reading {
	var glyphs []glyph
	n, last := len(keys), 0
	space := float32(0)
	for t := range steps {
		row := probs[t*n : (t+1)*n]
		best := 0
		for k, p := range row {
			if p > row[best] && keys[k] != "" {
				best = k
			}
		}
		if best != 0 && best != last {
			glyphs = append(glyphs, glyph{keys[best], t, row[best], space})
			space = 0
		}
		space = max(space, row[n-1])
		last = best
	}
	return spell(glyphs)
}

// spell joins the characters and puts back the spaces that the model nearly saw.
func spell(glyphs []glyph) reading {
	var text strings.Builder
	sum := 0.0
	for i, g := range glyphs {
		if i > 0 && g.space >= hiddenSpace && spaced(glyphs[i-1].key) && spaced(g.key) {
			text.WriteByte(' ')
		}
		text.WriteString(g.key)
		sum += float64(g.p)
	}
	if len(glyphs) == 0 {
		return reading{}
	}
	return reading{text: narrow(strings.TrimSpace(text.String())), score: sum / float64(len(glyphs))}
}

// narrow replaces the wide forms of ASCII characters in a line that holds no
// ideograph: the model knows both and takes one for the other.
func narrow(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= 0xff01 && r <= 0xff5e {
			return r - 0xff01 + '!'
		}
		return r
	}, s)
}

// spaced reports whether the character belongs to a script that puts spaces
// between words. The underscore stands low and alone, which looks like a space.
func spaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r < 0x2e80 && r != '_' && !unicode.IsSpace(r)
}

// alphabet returns the keys of the recognition model by its classes: the blank, the
// lines of the file, the space. The few Cyrillic letters and the theta in it are
// never right in the languages that the model reads: they stand where a look-alike
// Latin letter or a zero is, and are blanked out.
func alphabet(file string) []string {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(file, "\r\n", "\n"), "\n"), "\n")
	keys := append(append([]string{""}, lines...), " ")
	for i, k := range keys {
		if r := firstRune(k); r == '\u03b8' || unicode.Is(unicode.Cyrillic, r) {
			keys[i] = ""
		}
	}
	return keys
}
