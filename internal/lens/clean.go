package lens

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
)

// Most of each that one answer may add, and how long a text may be, in bytes.
const (
	mostPieces = 4000
	mostText   = 65536
	mostName   = 4096
)

// slack is how far beyond the end a time may lie that is still taken for the end: models
// round.
const slack = cutroom.Second

// Bounds are what an answer is held within.
type Bounds struct {
	Medium Medium
	// Length is that of what was sent, 0 when it is not known; Shift is where it begins
	// in the medium. Times of an answer are within the first, and moved by the second.
	Length, Shift cutroom.Micros
	Frames        []Frame // pictures that were sent
}

// Clean holds an answer within what was sent: times inside it, boxes inside the picture,
// frames that there are, text without what could act on a reader of it. What does not fit
// is left out, and the notes say how much.
func (b Bounds) Clean(f Findings) (Findings, []string) {
	out := Findings{Timeline: []Moment{}, Transcript: []Line{}, Regions: []Region{}, Summary: text(f.Summary, mostText)}
	c := cleaner{Bounds: b}
	for _, m := range f.Timeline {
		if m, ok := c.moment(m); ok && len(out.Timeline) < mostPieces {
			out.Timeline = append(out.Timeline, m)
		}
	}
	for _, l := range f.Transcript {
		if l, ok := c.line(l); ok && len(out.Transcript) < mostPieces {
			out.Transcript = append(out.Transcript, l)
		}
	}
	for _, r := range f.Regions {
		if r, ok := c.region(r); ok && len(out.Regions) < mostPieces {
			out.Regions = append(out.Regions, r)
		}
	}
	out.sort()
	return out, c.notes()
}

// cleaner counts what was left out.
type cleaner struct {
	Bounds
	outside, boxes, frames, nowhere, silent int
}

func (c *cleaner) notes() []string {
	var notes []string
	note := func(n int, one, many string) {
		if n > 0 {
			notes = append(notes, counted(n, one, many))
		}
	}
	note(c.outside, "piece had no time within what was sent and was left out", "pieces had no time within what was sent and were left out")
	note(c.boxes, "region had no box inside the picture and was left out", "regions had no box inside the picture and were left out")
	note(c.nowhere, "region did not say in which of the pictures it is and was left out", "regions did not say in which of the pictures they are and were left out")
	note(c.frames, "piece named a picture that was not sent; the name was left out", "pieces named a picture that was not sent; the name was left out")
	note(c.silent, "line of speech was left out: no sound was sent", "lines of speech were left out: no sound was sent")
	return notes
}

func (c *cleaner) moment(m Moment) (Moment, bool) {
	m.Text, m.Confidence = text(m.Text, mostText), grade(m.Confidence)
	if m.Text == "" {
		return m, false
	}
	if frame, ok := c.frame(&m.Frame); ok {
		m.Start = frame.At // measured; the reader's own time is not
		if m.End != nil && (*m.End <= m.Start || c.Length > 0 && *m.End > c.Length+c.Shift) {
			m.End = nil
		}
		return m, true
	}
	return m, c.times(&m.Start, &m.End)
}

func (c *cleaner) line(l Line) (Line, bool) {
	if c.Medium == Image || len(c.Frames) > 0 {
		c.silent++
		return l, false
	}
	l.Text, l.Speaker = text(l.Text, mostText), evidence.Terminal(cut(l.Speaker, mostName))
	return l, l.Text != "" && c.times(&l.Start, &l.End)
}

func (c *cleaner) region(r Region) (Region, bool) {
	r.Text, r.Label, r.Confidence = text(r.Text, mostText), evidence.Terminal(cut(r.Label, mostName)), grade(r.Confidence)
	switch frame, ok := c.frame(&r.Frame); {
	case !ok && len(c.Frames) == 1:
		r.Frame = c.Frames[0].Path
	case !ok && len(c.Frames) > 1:
		c.nowhere++
		return r, false
	case ok:
		r.Frame = frame.Path
	}
	box, ok := inside(r.Box)
	if !ok || r.Text == "" && r.Label == "" {
		c.boxes++
		return r, false
	}
	r.Box = box
	return r, true
}

// frame replaces the label of a picture by its path.
func (c *cleaner) frame(label *string) (Frame, bool) {
	if *label == "" {
		return Frame{}, false
	}
	i := slices.IndexFunc(c.Frames, func(f Frame) bool { return strings.EqualFold(f.Label, strings.TrimSpace(*label)) })
	if i < 0 {
		if len(c.Frames) > 0 {
			c.frames++
		}
		*label = ""
		return Frame{}, false
	}
	*label = c.Frames[i].Path
	return c.Frames[i], true
}

// times holds a range within what was sent and moves it to the medium's axis. Frames are
// on that axis already.
func (c *cleaner) times(start *cutroom.Micros, end **cutroom.Micros) bool {
	if c.Medium == Image {
		*start, *end = 0, nil
		return true
	}
	from, to := cutroom.Micros(0), c.Length
	if len(c.Frames) > 0 {
		from, to = c.Shift, c.Shift+c.Length
	}
	known := c.Length > 0
	if *start < from-slack || known && *start > to+slack {
		c.outside++
		return false
	}
	*start = max(*start, from)
	if known {
		*start = min(*start, to)
	}
	if *end != nil {
		e := **end
		if known {
			e = min(e, to)
		}
		if e < *start || e > cutroom.MaxMicros/2 {
			*end = nil
		} else {
			*end = &e
		}
	}
	if *start > cutroom.MaxMicros/2 {
		c.outside++
		return false
	}
	if len(c.Frames) == 0 {
		*start += c.Shift
		if *end != nil {
			e := **end + c.Shift
			*end = &e
		}
	}
	return true
}

// inside clips a box to the picture. One that is none, or lies outside, does not count.
func inside(b [4]float64) ([4]float64, bool) {
	for _, v := range b {
		if math.IsNaN(v) || v < 0 || v > 1 {
			return b, false
		}
	}
	b[2], b[3] = min(b[2], 1-b[0]), min(b[3], 1-b[1])
	for i := range b {
		b[i] = math.Round(b[i]*10000) / 10000
	}
	return b, b[2] > 0 && b[3] > 0
}

// text is what a reader said, as data: no control characters, nothing that is not shown.
func text(s string, most int) string { return strings.TrimSpace(evidence.Plain(cut(s, most))) }

// cut is the beginning of s, at most most bytes; what cleaning adds to them is little.
func cut(s string, most int) string {
	if len(s) <= most/2 {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "")
}

func grade(c cutroom.Confidence) cutroom.Confidence {
	switch c {
	case cutroom.High, cutroom.Medium, cutroom.Low:
		return c
	}
	return cutroom.NotAssessed
}

// sort orders findings by time; a picture's regions from top to bottom.
func (f *Findings) sort() {
	slices.SortStableFunc(f.Timeline, func(a, b Moment) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(f.Transcript, func(a, b Line) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(f.Regions, func(a, b Region) int { return cmp.Compare(a.Frame, b.Frame) })
}
