package caption

import "cutroom"

// Position is where in the safe area captions stand.
type Position string

// The nine positions.
const (
	Bottom      Position = "bottom"
	BottomLeft  Position = "bottom-left"
	BottomRight Position = "bottom-right"
	Center      Position = "center"
	Left        Position = "left"
	Right       Position = "right"
	Top         Position = "top"
	TopLeft     Position = "top-left"
	TopRight    Position = "top-right"
)

// alignment is the numpad key of ASS.
func (p Position) alignment() int {
	switch p {
	case BottomLeft:
		return 1
	case BottomRight:
		return 3
	case Left:
		return 4
	case Center:
		return 5
	case Right:
		return 6
	case TopLeft:
		return 7
	case Top:
		return 8
	case TopRight:
		return 9
	}
	return 2
}

// Grid is what sizes, margins and outlines are counted in: the shorter side of the
// frame has so many units. On a landscape frame that is the 288-line grid of ASS; on a
// portrait one, text keeps its proportion to the width.
const Grid = 288

// Style is how captions look. Lengths are in units of [Grid]; colours are six
// hexadecimal digits RRGGBB.
type Style struct {
	Font      string // family; "" by the text's scripts
	Size      float64
	Color     string
	OutlineBy string // colour of outline, box and shadow
	Outline   float64
	Shadow    float64
	Bold      bool
	Box       bool // a box behind the text
	Position  Position
	Margin    float64 // least distance to the frame's edge
}

// Insets are shares of the frame's sides that stay free of captions: what a platform
// draws over.
type Insets struct{ Top, Bottom, Left, Right float64 }

// Options say how cues are laid out.
type Options struct {
	Width, Height int // of the frame as shown, pixels
	Safe          Insets
	Style         Style
	Language      string // of the text, BCP 47; may be empty

	MaxLines int
	Measured bool      // lines are balanced by width alone, not by phrase
	Fit      bool      // the size shrinks before a cue is split
	MinSize  float64   // units of [Grid]
	PerCue   bool      // each cue shrinks for itself
	NoEmoji  bool      // emoji are left out, and counted
	Pictures *Pictures // of emoji; nil: fonts draw them, in one colour

	// Progress says when a share of the speech between two times is spoken, by the sound;
	// it rises with share. nil: evenly.
	Progress func(start, end cutroom.Micros, share float64) cutroom.Micros

	Animate Animation
	// FadeIn and FadeOut are how long captions take to come and go, in place of Animate.
	FadeIn, FadeOut cutroom.Micros
	Opacity         float64 // 0 to 1, of all that is drawn; 0 is 1
	Karaoke         *Karaoke
	Length          cutroom.Micros // of the recording; 0: not known
}

// Animation is how a caption comes and goes.
type Animation string

// The animations.
const (
	Still Animation = "none"
	Fade  Animation = "fade"
	Pop   Animation = "pop"
	Slide Animation = "slide"
)

// Karaoke lights words up as they are spoken.
type Karaoke struct {
	Highlight string // colour of what is or was spoken
	Upcoming  string // colour of what is still to come; "" is the style's
	WordOnly  bool   // the word that is being spoken alone is lit
}

// Report says what the layout did.
type Report struct {
	Cues      int // laid out
	Wrapped   int // got a line break that the source did not have
	Rebalance int // got other line breaks than the source's
	Split     int // were split in time
	Phrase    int // line breaks at the edge of a phrase
	Overlong  int // words wider than a line
	Broken    int // of them, those broken inside
	Shrunk    int // cues drawn smaller than asked for
	Exhausted int // cues that would not fit at the floor and were split
	Cut       int // ended early, because nothing was left of the frame
	Asked     float64
	Used      float64 // the smallest size used; units of [Grid]
	Pixels    float64 // of a line at that size
	Percent   float64 // of the frame's height
	Families  []string
	Emoji     Emoji
	Unchanged bool // the script, read back, has the text of the cues
}

// Emoji says what became of emoji.
type Emoji struct {
	Clusters int      // in the text
	Pictures int      // of them, those drawn as pictures
	Missing  []string // code points of those that were left out, or that no picture was there for; at most 50
	Left     int      // clusters left out
}
