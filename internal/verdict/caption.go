package verdict

import (
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
)

// Text is what was read in one frame.
type Text struct {
	At            cutroom.Micros
	Width, Height int            // of the frame, as shown
	Lines         []evidence.Box // pixels of the frame
}

// Captions judges whether text that is burned into the picture lies where the platform
// draws nothing over it. A line may reach a hundredth of the frame out: boxes of text
// recognition are that wide.
func Captions(frames []Text, t Target) Row {
	r := Row{
		Check: "captions_safe", Kind: Judgement, Unit: "lines", Op: "<=", Limit: number(0),
		Fix: "place them anew with edit.caption, platform " + t.Spec.Name,
	}
	lines, outside := 0, 0
	var when []string
	for _, f := range frames {
		lines += len(f.Lines)
		n := 0
		for _, b := range f.Lines {
			if !inside(b, f, t) {
				n++
			}
		}
		if outside += n; n > 0 && len(when) < 6 {
			when = append(when, f.At.Clock())
		}
	}
	r.Value, r.Status = number(float64(outside)), Pass
	switch {
	case lines == 0:
		r.Status, r.Reason, r.Fix = Warn, fmt.Sprintf("no text was found in %d frames", len(frames)), "burn captions with edit.caption, if there should be any"
	case outside > 0:
		r.Status = Fail
		if t.Assumed {
			r.Status = Warn
		}
		r.Reason = fmt.Sprintf("%d of %d lines of text reach out of the safe area, at %s", outside, lines, strings.Join(when, ", "))
	default:
		r.Fix, r.Reason = "", fmt.Sprintf("%d lines of text in %d frames", lines, len(frames))
	}
	return r
}

func inside(b evidence.Box, f Text, t Target) bool {
	s, w, h := t.Spec.Safe, float64(f.Width), float64(f.Height)
	slack := 0.01 * math.Max(w, h)
	return float64(b[0]) >= s.Left*w-slack && float64(b[1]) >= s.Top*h-slack &&
		float64(b[0]+b[2]) <= (1-s.Right)*w+slack && float64(b[1]+b[3]) <= (1-s.Bottom)*h+slack
}
