// Package sprite draws small pictures that come, move and go over a frame, as one
// animated PNG with transparency.
//
// It promises that a picture is there exactly from its start to its end, in hundredths
// of a second, that the animation covers no more of the frame than the pictures do, and
// that its size is bounded whatever moves. It is pure. It must never know what the
// pictures are, or who plays them.
package sprite

import (
	"image"

	"cutroom"
)

// Show is one picture for a time. Lengths are pixels of the frame.
type Show struct {
	Picture             *image.NRGBA
	X, Y, Width, Height float64 // where it rests
	Start, End          cutroom.Micros
	Opacity             float64 // 0 is 1
	Motion              Motion
}

// Motion is how a picture comes and goes. The zero value is at once.
type Motion struct {
	FadeIn, FadeOut cutroom.Micros

	// While it comes, for Lasts, it moves evenly from DX, DY beside its place, and from
	// Grow times its size (0: its size) about the point AtX, AtY.
	Lasts    cutroom.Micros
	DX, DY   float64
	Grow     float64
	AtX, AtY float64

	// Wipe uncovers it for that long, from one side of a stretch of the frame to the other.
	Wipe             cutroom.Micros
	WipeFrom, WipeTo float64

	// Turn is by how many degrees it is turned counter-clockwise, always, about TurnX, TurnY.
	Turn         float64
	TurnX, TurnY float64
}

// Reel is an animation over a part of the frame.
type Reel struct {
	PNG                 []byte // animated, with transparency, from time 0 on
	X, Y, Width, Height int    // even numbers
	Frames              int
	End                 cutroom.Micros // nothing is to be seen from here on
}
