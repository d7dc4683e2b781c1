package object

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"cutroom/internal/picture"
)

// View is what was found in one picture: one line of the child's output, as JSON.
type View struct {
	Index   int      `json:"index"` // of the picture among those given to [Command]
	Width   int      `json:"width,omitempty"`
	Height  int      `json:"height,omitempty"`
	Problem Problem  `json:"problem,omitempty"`
	Objects []Object `json:"objects,omitempty"` // the surest first
}

// Object is one thing that was found.
type Object struct {
	Label string  `json:"label"` // one of [Labels]
	Score float64 `json:"score"` // the model's own certainty, 0..1
	Box   Box     `json:"box"`
}

// Box is left, top, width and height in parts of the picture, 0..1.
type Box [4]float64

// Problem says why nothing could be looked for in a picture. The empty Problem is
// none.
type Problem string

// The problems.
const (
	Unreadable Problem = "unreadable" // not a JPEG, PNG or WebP picture, or broken
	TooLarge   Problem = "too_large"  // more pixels than [picture.MaxPixels]
)

// maxViewJSON is the longest line that the child writes, in bytes. It reads hostile
// pictures, so its answer is checked like any other input.
const maxViewJSON = 64 << 10

// readViews reads the child's output: exactly want views, by index, each of at most
// limit objects.
func readViews(r io.Reader, want, limit int) ([]View, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4<<10), maxViewJSON)
	var out []View
	for in.Scan() {
		if len(out) == want {
			return nil, errors.New("more views than pictures")
		}
		var v View
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("view %d: %w", len(out), err)
		}
		if v.Index != len(out) {
			return nil, fmt.Errorf("view %d is numbered %d", len(out), v.Index)
		}
		if err := v.check(limit); err != nil {
			return nil, fmt.Errorf("view %d: %w", v.Index, err)
		}
		out = append(out, v)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	if len(out) != want {
		return nil, fmt.Errorf("%d views of %d", len(out), want)
	}
	return out, nil
}

// check refuses what the child would never say.
func (v View) check(limit int) error {
	switch v.Problem {
	case "":
	case Unreadable, TooLarge:
		if len(v.Objects) > 0 || v.Width != 0 || v.Height != 0 {
			return errors.New("a picture that was not read has objects")
		}
		return nil
	default:
		return fmt.Errorf("unknown problem %q", v.Problem)
	}
	if v.Width < 1 || v.Height < 1 || v.Width > picture.MaxPixels || v.Height > picture.MaxPixels || int64(v.Width)*int64(v.Height) > picture.MaxPixels {
		return fmt.Errorf("size %dx%d", v.Width, v.Height)
	}
	if len(v.Objects) > limit {
		return fmt.Errorf("%d objects, at most %d", len(v.Objects), limit)
	}
	last := 1.0
	for _, o := range v.Objects {
		switch {
		case o.Label == "" || !strings.Contains(","+labels+",", ","+o.Label+",") || strings.Contains(o.Label, ","):
			return errors.New("a label that the model does not have")
		case !(o.Score >= 0 && o.Score <= last):
			return fmt.Errorf("score %v after %v", o.Score, last)
		}
		last = o.Score
		if err := o.Box.check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a box that is not within the picture.
func (b Box) check() error {
	const slack = 1e-9 // of adding two decimal fractions
	if !(b[0] >= 0 && b[1] >= 0 && b[2] > 0 && b[3] > 0 && b[0]+b[2] <= 1+slack && b[1]+b[3] <= 1+slack) {
		return fmt.Errorf("box %v is not within the picture", b)
	}
	return nil
}
