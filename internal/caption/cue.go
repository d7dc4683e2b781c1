package caption

import (
	"slices"
	"strings"
	"unicode"

	"cutroom"
)

// Cue is a text and when it is shown. Lines are separated by LF.
type Cue struct {
	Start, End cutroom.Micros // End 0 or before Start: open
	Text       string
	Words      []Word // in order of the text, where the source knows them
}

// Word is when one word is spoken.
type Word struct {
	Text       string
	Start, End cutroom.Micros // End 0: until the next
}

// Close gives every open cue an end: the start of the next one, at most hold after its
// own.
func Close(cues []Cue, hold cutroom.Micros) {
	next := cutroom.MaxMicros
	for i := len(cues) - 1; i >= 0; i-- {
		c := &cues[i]
		if c.End <= c.Start {
			c.End = c.Start + hold
			if next > c.Start {
				c.End = min(c.End, next)
			}
		}
		next = min(next, c.Start)
	}
}

// Shift moves every cue and word by a length of time that may be negative. What then
// ends at or before zero is left to [Clip].
func Shift(cues []Cue, by cutroom.Micros) {
	for i := range cues {
		cues[i].Start += by
		cues[i].End += by
		for w := range cues[i].Words {
			cues[i].Words[w].Start += by
			if cues[i].Words[w].End > 0 {
				cues[i].Words[w].End += by
			}
		}
	}
}

// Span is a part of time that a cue is shown in, after an edit, and where that part
// was before.
type Span struct {
	Start, End         cutroom.Micros // in the edit
	FromStart, FromEnd cutroom.Micros // before it
}

// Remap carries cues across an edit: spans says where a stretch of the source is shown
// (none when it was cut out, two when it is shown twice). Parts that follow each other
// without a gap are one cue again. It returns how many cues are shown nowhere.
func Remap(cues []Cue, spans func(start, end cutroom.Micros) []Span) (out []Cue, gone int) {
	for _, c := range cues {
		parts := joined(spans(c.Start, c.End))
		if len(parts) == 0 {
			gone++
		}
		for _, p := range parts {
			n := Cue{Start: p.Start, End: p.End, Text: c.Text}
			for _, w := range c.Words {
				for _, at := range spans(w.Start, max(w.End, w.Start+1)) {
					if p.Start <= at.Start && at.Start < p.End {
						n.Words = append(n.Words, Word{w.Text, at.Start, at.End})
						break
					}
				}
			}
			if len(n.Words) != len(c.Words) {
				n.Words = nil // some were cut out: the rest are not the text's
			}
			out = append(out, n)
		}
	}
	sortByStart(out)
	return out, gone
}

func joined(parts []Span) []Span {
	slices.SortFunc(parts, func(a, b Span) int { return int(a.Start - b.Start) })
	var out []Span
	for _, p := range parts {
		if n := len(out) - 1; n >= 0 && p.Start <= out[n].End && p.FromStart >= out[n].FromEnd {
			out[n].End, out[n].FromEnd = max(out[n].End, p.End), p.FromEnd
			continue
		}
		if p.End > p.Start {
			out = append(out, p)
		}
	}
	return out
}

// Clip leaves out the cues that are never shown in a recording of that length (0: of
// any length) and cuts off what overhangs. It returns how many were left out.
func Clip(cues []Cue, length cutroom.Micros) (out []Cue, outside int) {
	for _, c := range cues {
		if length > 0 {
			c.End = min(c.End, length)
		}
		c.Start = max(c.Start, 0)
		if c.End <= c.Start {
			outside++
			continue
		}
		out = append(out, c)
	}
	return out, outside
}

// Extend lets every cue stand for at least a time, but no longer than to the next
// cue's start or the recording's end (0: none). It returns how many got longer. The
// cues are in order of their starts.
func Extend(cues []Cue, least, length cutroom.Micros) (extended int) {
	for i := range cues {
		c := &cues[i]
		end := c.Start + least
		if length > 0 {
			end = min(end, length)
		}
		for _, next := range cues[i+1:] {
			if next.Start > c.Start {
				end = min(end, next.Start)
				break
			}
		}
		if end > c.End {
			c.End = end
			extended++
		}
	}
	return extended
}

func sortByStart(cues []Cue) {
	slices.SortStableFunc(cues, func(a, b Cue) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
}

// visible is text without white space and without what is never drawn: what has to be
// the same before and after a layout.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == wordJoiner || r == rightMark || r == leftMark {
			return -1
		}
		return r
	}, s)
}
