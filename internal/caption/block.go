package caption

import (
	"strings"

	"cutroom"
)

// Block is one text as it is set: lines of one size. Lengths are pixels.
type Block struct {
	Width, Height float64
	Size          float64 // of a line
	Lines         int
	Backward      bool   // it is written from right to left
	Family        string // of the face that it begins with
	Families      []string
	Letters       string // the text of an ASS event: lines, faces, nothing else
	Emoji         Emoji

	layout *Layout
}

// Spots are where the pictures of emoji stand when the block's anchor of that alignment
// (the keys of a numeric pad) stands at a point.
func (b *Block) Spots(alignment int, x, y float64) []Spot {
	return b.layout.spots(&b.layout.events[0], alignment, x, y)
}

// BlockOptions say how a block is set.
type BlockOptions struct {
	Size     float64 // of a line, pixels
	Least    float64 // smallest size, where it does not fit; 0: Size
	Width    float64 // of the longest line at most, pixels
	MaxLines int     // 0: one
	Font     string
	Bold     bool
	Language string
	NoEmoji  bool // emoji are left out
	Pictures *Pictures
	Outline  float64 // that the letters are drawn with, pixels
}

// Set sets a text as a block. The text is never changed; one that does not fit at the
// least size is refused.
func Set(text string, fonts Fonts, o BlockOptions) (*Block, error) {
	lines := max(1, o.MaxLines)
	// A frame whose room is as wide as the block may be, and high enough for all lines.
	width, height := int(o.Width)+4, int(4*float64(lines)*o.Size)+16
	unit := float64(min(width, height)) / Grid
	least := o.Size
	if o.Least > 0 {
		least = o.Least
	}
	l, err := Lay([]Cue{{End: cutroom.Second, Text: text}}, fonts, Options{
		Width: width, Height: height, Language: o.Language, MaxLines: lines, Fit: true, MinSize: least / unit, NoEmoji: o.NoEmoji, Pictures: o.Pictures,
		Style: Style{Font: o.Font, Size: o.Size / unit, Bold: o.Bold, Position: TopLeft},
	})
	if err != nil {
		return nil, err
	}
	if len(l.events) != 1 {
		return nil, cutroom.Errorf(cutroom.Invalid, "the text %q does not fit into %d lines of %.0f pixels", excerpt(text), lines, o.Width).WithHint("shorten it, or make it smaller")
	}
	e := &l.events[0]
	l.edge = edge{outline: o.Outline}
	b := &Block{
		layout: l,
		Width:  e.width, Height: e.height, Size: e.size, Lines: len(e.lines), Family: l.main.Family(), Families: l.Report.Families, Letters: l.letters(e),
		Backward: e.lines[0].backward, Emoji: l.Report.Emoji,
	}
	return b, nil
}

// excerpt is the beginning of a text, for a message.
func excerpt(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return string(r)
}

// Head is what a script begins with whose grid is the pixels of a frame. Its one style,
// Default, is plain white text without outline, placed by its upper left corner.
func Head(width, height int) string {
	return scriptHead(width, height) +
		"Style: Default,sans-serif,20,&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000,0,0,0,0,100,100,0,0,1,0,0,7,0,0,0,-1\n\n" + eventsHead
}

// Dialogue is one event of a script; what is in it is written as it is.
func Dialogue(layer int, start, end cutroom.Micros, text string) string {
	return "Dialogue: " + decimal(float64(layer)) + "," + assTime(start) + "," + assTime(end) + ",Default,,0,0,0,," + text + "\n"
}

// BGR turns RRGGBB into the order of ASS.
func BGR(c string) string { return bgr(c) }
