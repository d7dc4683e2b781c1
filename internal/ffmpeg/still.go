package ffmpeg

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Stills are single frames of a picture, made small, by their numbers: two of them tell
// what is drawn on a frame that another run shows bare.
type Stills struct {
	Width, Height int // of each
	frames        map[int64][]byte
}

// StillsOf says which frames of a picture of a size are taken.
type StillsOf struct {
	Frames        []int64 // their numbers, from 0
	Width, Height int     // of the picture
	// Steady lets every 16th frame pass, too: an output without frames holds up the others
	// of a graph that makes its pictures itself.
	Steady bool
}

// stillSide is the longer side of a still; frames between are let pass one out of steadily.
const (
	stillSide = 320
	steadily  = 16
)

// size is that of a still.
func (s StillsOf) size() (w, h int) {
	w, h = s.Width, s.Height
	if long := max(w, h); long > stillSide {
		w, h = max(1, w*stillSide/long), max(1, h*stillSide/long)
	}
	return w, h
}

// Filter takes the frames and makes them small.
func (s StillsOf) Filter() string {
	var b strings.Builder
	if s.Steady {
		fmt.Fprintf(&b, "not(mod(n,%d))+", steadily)
	}
	for i, n := range s.Frames {
		if i > 0 {
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "eq(n,%d)", n)
	}
	w, h := s.size()
	return fmt.Sprintf("select='%s',scale=%d:%d:flags=area,setsar=1,format=yuv444p", b.String(), w, h)
}

// Read reads what the filter made: it returns [Stills].
func (s StillsOf) Read(r io.Reader) (any, error) {
	w, h := s.size()
	out := Stills{Width: w, Height: h, frames: map[int64][]byte{}}
	buf := make([]byte, 3*w*h)
	for n := range slices.Max(s.Frames) + 1 {
		wanted := slices.Contains(s.Frames, n)
		if !wanted && (!s.Steady || n%steadily != 0) {
			continue
		}
		if _, err := io.ReadFull(r, buf); err != nil {
			break // a frame that is missing is judged by whoever looks for it
		}
		if wanted {
			out.frames[n] = slices.Clone(buf)
		}
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, fmt.Errorf("read stills: %w", err)
	}
	return out, nil
}

// Place is a rectangle of the picture that stills were taken of, whose size it needs.
type Place struct{ X, Y, Width, Height int }

// Apart is how a frame of two stills differs: shares of the pixels of a part.
type Apart struct {
	Inside  float64 // of the place
	Outside float64 // of what lies outside of all places
}

// Apart compares frame n of two stills of a picture of w×h: what differs by least code
// values counts, of brightness alone or of hue, too. A frame that one of them lacks does
// not differ.
func (s Stills) Apart(o Stills, n int64, w, h int, at Place, all []Place, least int, hue bool) Apart {
	a, b := s.frames[n], o.frames[n]
	if a == nil || len(a) != len(b) || w <= 0 || h <= 0 {
		return Apart{}
	}
	planes := 1
	if hue {
		planes = 3
	}
	in := s.scaled(at, w, h)
	others := make([]Place, len(all))
	for i, p := range all {
		others[i] = s.scaled(p, w, h)
	}
	var count, changed [2]int // outside of all places, inside of this one
	for y := range s.Height {
		for x := range s.Width {
			part := 0
			if in.holds(x, y) {
				part = 1
			} else if slices.ContainsFunc(others, func(p Place) bool { return p.holds(x, y) }) {
				continue
			}
			count[part]++
			for p := range planes {
				i := (p*s.Height+y)*s.Width + x
				if int(max(a[i], b[i])-min(a[i], b[i])) >= least {
					changed[part]++
					break
				}
			}
		}
	}
	share := func(part int) float64 { return float64(changed[part]) / float64(max(1, count[part])) }
	return Apart{Inside: share(1), Outside: share(0)}
}

// scaled is a place of a picture of w×h in a still, a pixel larger on each side: scaling
// spreads what lies at the edge.
func (s Stills) scaled(p Place, w, h int) Place {
	x0, y0 := max(0, p.X*s.Width/w-1), max(0, p.Y*s.Height/h-1)
	x1, y1 := min(s.Width, (p.X+p.Width)*s.Width/w+2), min(s.Height, (p.Y+p.Height)*s.Height/h+2)
	return Place{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0}
}

func (p Place) holds(x, y int) bool {
	return x >= p.X && y >= p.Y && x < p.X+p.Width && y < p.Y+p.Height
}
