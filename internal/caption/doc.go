// Package caption lays cues out as captions: which font covers the text, how large it
// is, where lines break, where they stand, and the ASS script that draws them.
//
// It promises never to change a caption's text, and that what it lays out fits the
// frame's safe area or is refused. It is pure: fonts come through an interface. It
// must never know a tool or a program.
package caption

import (
	"image"

	"cutroom"
)

// Fonts are the fonts that this machine can draw with.
type Fonts interface {
	// Find returns the face that draws text: of family where that is named and covers
	// it, else one chosen by the text's scripts; language (BCP 47, may be empty) chooses
	// among regional forms. The family is not installed or no face covers the text:
	// missing_dependency, naming the script and what to install.
	Find(family, language, text string, bold bool) (Face, error)
	// Fingerprint identifies the fonts: with others, the same text may be drawn
	// otherwise.
	Fingerprint() cutroom.Digest
	// Color names the font that has pictures of emoji, "" where there is none.
	Color() string
	// Picture is what that font shows for one character as a reader sees it; nil: it has
	// none.
	Picture(cluster string) *image.NRGBA
}

// Face is one font face. Its unit is the height of a line, which is what ASS calls the
// font size.
type Face interface {
	// Family is the name that libass finds the face by.
	Family() string
	// Width is the advance of text, shaped and on one line, for a line height of 1.
	Width(text string) float64
	// Ascent is the share of a line's height above the baseline.
	Ascent() float64
	// Covers reports whether the face has a glyph for every visible character.
	Covers(text string) bool
}
