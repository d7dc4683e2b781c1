package ocr

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"cutroom/internal/picture"
)

// Frame is what the child found in one picture: one line of its output, as JSON.
type Frame struct {
	Index   int     `json:"index"`
	Width   int     `json:"width,omitempty"`
	Height  int     `json:"height,omitempty"`
	Flat    bool    `json:"flat,omitempty"`
	Problem Problem `json:"problem,omitempty"`
	// Page is the number of the whole picture among those prepared for Tesseract, 0
	// when it was not; Scale is how much larger it was made.
	Page  int     `json:"page,omitempty"`
	Scale float64 `json:"scale,omitempty"`
	Lines []Found `json:"lines,omitempty"`
}

// Found is one line of a [Frame], in reading order.
type Found struct {
	Box   Box    `json:"box"`
	Parts []Part `json:"parts"`           // from left to right
	Crops []int  `json:"crops,omitempty"` // its numbers among the lines prepared for Tesseract
}

// Part is a piece of a line between wide spaces.
type Part struct {
	Box   Box     `json:"box"`
	Text  string  `json:"text"`  // what PP-OCRv4 read
	Score float64 `json:"score"` // mean probability of its characters, 0..1
}

// The bounds of the child's output. It reads hostile pictures, so its answer is
// checked like any other input.
const (
	maxFrames    = 1000
	maxFrameJSON = 4 << 20 // bytes
	maxText      = 4096    // bytes of one line of text
	maxCrops     = 2
)

// readFrames reads the child's output: exactly want frames, by index.
func readFrames(r io.Reader, want int) ([]Frame, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxFrameJSON)
	var out []Frame
	for in.Scan() {
		if len(out) == want {
			return nil, errors.New("more frames than pictures")
		}
		var f Frame
		if err := json.Unmarshal(in.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("frame %d: %w", len(out), err)
		}
		if f.Index != len(out) {
			return nil, fmt.Errorf("frame %d is numbered %d", len(out), f.Index)
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f.Index, err)
		}
		out = append(out, f)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read frames: %w", err)
	}
	if len(out) != want {
		return nil, fmt.Errorf("%d frames of %d", len(out), want)
	}
	return out, nil
}

// check refuses what the child would never say.
func (f Frame) check() error {
	switch f.Problem {
	case "":
	case Unreadable, TooLarge:
		if len(f.Lines) > 0 || f.Page != 0 {
			return errors.New("a picture that was not read has lines")
		}
		return nil
	default:
		return fmt.Errorf("unknown problem %q", f.Problem)
	}
	if f.Width < 1 || f.Height < 1 || int64(f.Width)*int64(f.Height) > picture.MaxPixels || f.Width > picture.MaxPixels || f.Height > picture.MaxPixels {
		return fmt.Errorf("size %dx%d", f.Width, f.Height)
	}
	if f.Page < 0 || (f.Page > 0 && !(f.Scale > 0 && f.Scale <= 4)) {
		return fmt.Errorf("page %d at scale %v", f.Page, f.Scale)
	}
	if len(f.Lines) > maxRegions {
		return fmt.Errorf("%d lines", len(f.Lines))
	}
	for _, l := range f.Lines {
		if err := l.check(f.Width, f.Height); err != nil {
			return err
		}
	}
	return nil
}

func (l Found) check(w, h int) error {
	if err := l.Box.check(w, h); err != nil {
		return err
	}
	if len(l.Parts) < 1 || len(l.Parts) > maxRegions || len(l.Crops) > maxCrops {
		return fmt.Errorf("%d parts, %d crops", len(l.Parts), len(l.Crops))
	}
	for _, p := range l.Parts {
		if err := p.Box.check(w, h); err != nil {
			return err
		}
		if len(p.Text) > maxText || !utf8.ValidString(p.Text) {
			return errors.New("text is too long or no UTF-8")
		}
		if !(p.Score >= 0 && p.Score <= 1.0001) {
			return fmt.Errorf("score %v", p.Score)
		}
	}
	for _, c := range l.Crops {
		if c < 1 || c > maxSheets {
			return fmt.Errorf("crop %d", c)
		}
	}
	return nil
}

// check refuses a box that is not within a picture of w by h.
func (b Box) check(w, h int) error {
	if b.X < 0 || b.Y < 0 || b.W < 1 || b.H < 1 || b.W > w || b.H > h || b.X > w-b.W || b.Y > h-b.H {
		return fmt.Errorf("box %+v outside of %dx%d", b, w, h)
	}
	return nil
}
