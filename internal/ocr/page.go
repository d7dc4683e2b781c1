package ocr

import "cutroom"

// Box is an upright rectangle in pixels of the picture, origin at its top left.
type Box struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// union returns the smallest box around b and c.
func (b Box) union(c Box) Box {
	if b.W == 0 || b.H == 0 {
		return c
	}
	if c.W == 0 || c.H == 0 {
		return b
	}
	x, y := min(b.X, c.X), min(b.Y, c.Y)
	return Box{x, y, max(b.X+b.W, c.X+c.W) - x, max(b.Y+b.H, c.Y+c.H) - y}
}

// overlap returns the area that b and c share.
func (b Box) overlap(c Box) int {
	w := min(b.X+b.W, c.X+c.W) - max(b.X, c.X)
	h := min(b.Y+b.H, c.Y+c.H) - max(b.Y, c.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// area returns the number of pixels in b.
func (b Box) area() int { return b.W * b.H }

// sameRow reports whether b and c stand on one line of text: the lower half of
// neither lies beneath the other.
func (b Box) sameRow(c Box) bool {
	shared := min(b.Y+b.H, c.Y+c.H) - max(b.Y, c.Y)
	return 2*shared > min(b.H, c.H)
}

// Engine names what read a line.
type Engine string

// The engines.
const (
	PaddleOCR Engine = "pp-ocrv4"
	Tesseract Engine = "tesseract"
)

// Line is one line of text in a picture.
type Line struct {
	Text       string             `json:"text"`
	Box        Box                `json:"box"`
	Score      float64            `json:"score"` // the engine's own certainty, 0..1
	Confidence cutroom.Confidence `json:"confidence"`
	Engine     Engine             `json:"engine"`
}

// Problem says why a picture has no reading. The empty Problem is none.
type Problem string

// The problems.
const (
	Unreadable Problem = "unreadable" // not a JPEG, PNG or WebP picture, or broken
	TooLarge   Problem = "too_large"  // more pixels than [picture.MaxPixels]
)

// Page is what one picture says. Text holds the lines in reading order, one visual
// row a line; it is empty when the picture holds no text.
type Page struct {
	Index    int     `json:"index"` // of the picture among those given to [First]
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Flat     bool    `json:"flat"` // a clean screen or slide, not a photograph
	Text     string  `json:"text"`
	Lines    []Line  `json:"lines"`
	Language string  `json:"language"`
	Problem  Problem `json:"problem,omitempty"`
}
