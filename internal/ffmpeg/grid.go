package ffmpeg

import (
	"bufio"
	"errors"
	"io"
	"math"

	"cutroom"
)

// Grid is the size of a sample's block means.
const (
	GridWidth  = 32
	GridHeight = 18
)

// Sample is one small grey picture, reduced to the means of its blocks. The grid is
// in the picture's coded orientation.
type Sample struct {
	Seconds cutroom.Micros
	PTS     Ticks
	Luma    float64 // mean, 0–255
	Motion  float64 // mean absolute difference of all pixels to the sample before, 0–255
	Blocks  [GridWidth * GridHeight]uint8
}

// Distance compares two samples block by block: the mean and the largest difference
// of block means, 0–255. A small moving subject shows in the largest when the mean
// hardly changes.
func (s *Sample) Distance(o *Sample) (mean, largest float64) {
	sum, top := 0, 0
	for i := range s.Blocks {
		d := int(s.Blocks[i]) - int(o.Blocks[i])
		if d < 0 {
			d = -d
		}
		sum += d
		top = max(top, d)
	}
	return float64(sum) / float64(len(s.Blocks)), float64(top)
}

// greyReader reads raw grey pictures of one size and keeps their reductions.
type greyReader struct {
	size    greySize
	samples []Sample
}

func (m *Measure) readGrey(r io.Reader) (any, error) {
	g := &greyReader{size: m.grey}
	n := g.size.w * g.size.h
	br := bufio.NewReaderSize(r, 256<<10)
	cur, prev := make([]byte, n), make([]byte, n)
	for {
		_, err := io.ReadFull(br, cur)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return g, nil
		}
		if err != nil {
			return nil, err
		}
		s := g.reduce(cur)
		if len(g.samples) > 0 {
			s.Motion = meanDifference(cur, prev)
		}
		g.samples = append(g.samples, s)
		cur, prev = prev, cur
	}
}

func meanDifference(a, b []byte) float64 {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		if d < 0 {
			d = -d
		}
		sum += d
	}
	return float64(sum) / float64(len(a))
}

// reduce returns the block means of a picture of any size, small ones included.
func (g *greyReader) reduce(p []byte) Sample {
	var s Sample
	var total int64
	for by := range GridHeight {
		y0, y1 := block(by, GridHeight, g.size.h)
		for bx := range GridWidth {
			x0, x1 := block(bx, GridWidth, g.size.w)
			sum := 0
			for y := y0; y < y1; y++ {
				for _, c := range p[y*g.size.w+x0 : y*g.size.w+x1] {
					sum += int(c)
				}
			}
			s.Blocks[by*GridWidth+bx] = uint8(sum / ((x1 - x0) * (y1 - y0)))
		}
	}
	for _, c := range p {
		total += int64(c)
	}
	s.Luma = float64(total) / float64(len(p))
	return s
}

// block returns the pixels of block i of n over size pixels, at least one.
func block(i, n, size int) (from, to int) {
	from, to = i*size/n, (i+1)*size/n
	from = min(from, size-1)
	return from, max(to, from+1)
}

// A gradual change takes one to three seconds; the pictures before and after differ
// clearly, and what lies between is a blend of the two.
const (
	gradualLeast    = 14.0 // mean difference of blocks, 0–255
	gradualResidual = 0.25 // of the blend, as a share of that difference
	gradualRest     = 6    // the ends rest: they change by less than this part of it
	darkLuma        = 24.0
)

// gradual finds dissolves and fades: stretches between samples without a cut inside,
// whose middle is a blend of their ends. Motion and pans change blocks too, but not
// into blends.
func gradual(samples []Sample, cuts []Change) []Change {
	var found []Change
	for i := 0; i+2 < len(samples); i++ {
		best := -1
		for k := 2; k <= 6 && i+k < len(samples); k++ {
			a, b := &samples[i], &samples[i+k]
			if b.Seconds-a.Seconds > 4*cutroom.Second || cutBetween(cuts, a.Seconds, b.Seconds) {
				break
			}
			if mean, _ := a.Distance(b); mean < gradualLeast || !blends(samples[i:i+k+1]) || !still(samples, i, i+k) {
				continue
			}
			best = k
			break
		}
		if best < 0 {
			continue
		}
		a, b := &samples[i], &samples[i+best]
		mean, _ := a.Distance(b)
		c := Change{Kind: "dissolve", Seconds: (a.Seconds + b.Seconds) / 2, PTS: (a.PTS + b.PTS) / 2, EndSeconds: b.Seconds, Score: round3(min(100, mean/2.55))}
		if min(a.Luma, b.Luma) < darkLuma {
			c.Kind = "fade"
		}
		found = append(found, c)
		i += best - 1
	}
	return found
}

// still reports whether the picture rests before and after the change more than it
// changes within it.
func still(s []Sample, from, to int) bool {
	inside, _ := s[from].Distance(&s[to])
	if from > 0 {
		if d, _ := s[from-1].Distance(&s[from]); d > inside/gradualRest {
			return false
		}
	}
	if to+1 < len(s) {
		if d, _ := s[to].Distance(&s[to+1]); d > inside/gradualRest {
			return false
		}
	}
	return true
}

func cutBetween(cuts []Change, a, b cutroom.Micros) bool {
	for _, c := range cuts {
		if c.Seconds > a && c.Seconds <= b {
			return true
		}
	}
	return false
}

// blends reports whether every sample between the ends is a·(1−α) + b·α with α
// growing.
func blends(s []Sample) bool {
	a, b := &s[0], &s[len(s)-1]
	last := 0.0
	for i := 1; i < len(s)-1; i++ {
		var dot, norm float64
		for k := range a.Blocks {
			d := float64(b.Blocks[k]) - float64(a.Blocks[k])
			dot += d * (float64(s[i].Blocks[k]) - float64(a.Blocks[k]))
			norm += d * d
		}
		if norm == 0 {
			return false
		}
		alpha := dot / norm
		var rest float64
		for k := range a.Blocks {
			e := float64(s[i].Blocks[k]) - float64(a.Blocks[k]) - alpha*(float64(b.Blocks[k])-float64(a.Blocks[k]))
			rest += e * e
		}
		if i == 1 && alpha < 0.04 { // the change begins later
			return false
		}
		if alpha < last-0.02 || alpha > 1.02 || math.Sqrt(rest/norm) > gradualResidual {
			return false
		}
		last = alpha
	}
	return last > 0.1 && last < 0.95
}
