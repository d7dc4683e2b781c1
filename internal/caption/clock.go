package caption

import (
	"sort"
	"strings"
	"unicode/utf8"

	"cutroom"
)

// stamp is when the part of a text that begins there is spoken.
type stamp struct {
	offset int
	at     cutroom.Micros
}

// clock says when which part of a cue's text is spoken: by the source's own words where
// it has them, by the sound, else evenly by characters.
type clock struct {
	cue   Cue
	text  string
	known []stamp
	drawn []int32 // how many visible characters begin before a byte
	share func(start, end cutroom.Micros, share float64) cutroom.Micros
}

func newClock(c Cue, text string, share func(start, end cutroom.Micros, share float64) cutroom.Micros) *clock {
	cl := &clock{cue: c, text: text, share: share, drawn: make([]int32, len(text)+1)}
	for i := range len(text) {
		cl.drawn[i+1] = cl.drawn[i]
		if utf8.RuneStart(text[i]) {
			if r, _ := utf8.DecodeRuneInString(text[i:]); !vanishes(r) {
				cl.drawn[i+1]++
			}
		}
	}
	at := 0
	for _, w := range c.Words {
		word := strings.TrimSpace(w.Text)
		i := strings.Index(text[at:], word)
		if word == "" || i < 0 {
			cl.known = nil // the words are not those of the text
			break
		}
		cl.known = append(cl.known, stamp{at + i, w.Start})
		at += i + len(word)
	}
	return cl
}

// at is when the byte at offset is spoken, inside the cue.
func (c *clock) at(offset int) cutroom.Micros {
	start, end := c.cue.Start, c.cue.End
	from, to := 0, len(c.text)
	next := sort.Search(len(c.known), func(i int) bool { return c.known[i].offset > offset })
	if next > 0 {
		from, start = c.known[next-1].offset, c.known[next-1].at
	}
	if next < len(c.known) {
		to, end = c.known[next].offset, c.known[next].at
	}
	total := c.drawn[to] - c.drawn[from]
	t := start
	if total > 0 && end > start {
		part := float64(c.drawn[min(max(offset, from), to)]-c.drawn[from]) / float64(total)
		if c.share != nil && len(c.known) == 0 {
			t = c.share(start, end, part)
		} else {
			t = start + cutroom.Micros(part*float64(end-start))
		}
	}
	return max(c.cue.Start, min(t, c.cue.End))
}

// stamps are the times of atoms.
func (c *clock) stamps(atoms []atom) []stamp {
	var out []stamp
	last := c.cue.Start
	for _, a := range atoms {
		last = max(last, c.at(a.from))
		out = append(out, stamp{a.from, last})
	}
	return out
}
