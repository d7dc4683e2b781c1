// Package caption lays cues out as captions: which font covers the text, how large it
// is, where lines break, where they stand, and the ASS script that draws them.
//
// It promises never to change a caption's text, and that what it lays out fits the
// frame's safe area or is refused. It is pure: fonts come through an interface. It
// must never know a tool or a program.
package caption

// Fonts are the fonts that this machine can draw with.
type Fonts interface {
	// Find returns the face that draws text: of family when that covers it, else one
	// chosen by the text's scripts. No face covers it: missing_dependency, naming the
	// script and what to install.
	Find(family, text string, bold bool) (Face, error)
}

// Face is one font face.
type Face interface {
	// Family is the name that libass finds the face by.
	Family() string
	// Width is the advance of text, shaped, in units of the font size (em).
	Width(text string) float64
	// Covers reports whether the face has a glyph for every visible character.
	Covers(text string) bool
}
