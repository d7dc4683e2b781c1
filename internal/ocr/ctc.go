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
// al., "Connectionist Temporal Classification"). The last key is the space.
func decodeCTC(probs []float32, steps int, keys []string) reading {
	var glyphs []glyph
	n, last := len(keys), 0
	space := float32(0)
	for t := range steps {
		row := probs[t*n : (t+1)*n]
		best := 0
		for k, p := range row {
			if p > row[best] {
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
	return reading{text: strings.TrimSpace(text.String()), score: sum / float64(len(glyphs))}
}

// spaced reports whether the character belongs to a script that puts spaces
// between words.
func spaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r < 0x2e80 && !unicode.IsSpace(r)
}
