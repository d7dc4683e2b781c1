package caption

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"cutroom"
)

// SRT writes cues as SubRip.
func SRT(cues []Cue) []byte { return subrip(cues, func(s string) string { return s }) }

// markups are what ffmpeg reads as markup in SubRip: HTML tags, ASS overrides and line
// ends, MicroDVD styles. The first character is kept apart from the rest by one that is
// never drawn.
var markups = regexp.MustCompile(`<[A-Za-z/]|\{(?:\\|[A-Za-z]:)|\\[Nnh{}]|&nbsp`)

// GuardedSRT writes cues as SubRip for a program that reads markup into it.
func GuardedSRT(cues []Cue) []byte {
	return subrip(cues, func(s string) string {
		return markups.ReplaceAllStringFunc(s, func(m string) string { return m[:1] + string(wordJoiner) + m[1:] })
	})
}

// Visible is text as it is compared: without white space and without what is never
// drawn.
func Visible(s string) string { return visible(s) }

func subrip(cues []Cue, guard func(string) string) []byte {
	var b bytes.Buffer
	for i, c := range cues {
		fmt.Fprintf(&b, "%d\n%s --> %s\n%s\n\n", i+1, clockTime(c.Start, ','), clockTime(c.End, ','), guard(strings.Join(linesOf(c.Text), "\n")))
	}
	return b.Bytes()
}

// VTT writes cues as WebVTT. What the format reads as markup is written as entities.
func VTT(cues []Cue) []byte {
	var b bytes.Buffer
	b.WriteString("WEBVTT\n\n")
	markup := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, c := range cues {
		fmt.Fprintf(&b, "%s --> %s\n%s\n\n", clockTime(c.Start, '.'), clockTime(c.End, '.'), markup.Replace(strings.Join(linesOf(c.Text), "\n")))
	}
	return b.Bytes()
}

// FromVTT resolves the entities that [VTT] writes.
func FromVTT(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// clockTime writes hh:mm:ss and milliseconds, rounded.
func clockTime(t cutroom.Micros, point byte) string {
	ms := (int64(t) + 500) / 1000
	return fmt.Sprintf("%02d:%02d:%02d%c%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}

// Cues are the captions as they are shown: with the line breaks and times of the
// layout.
func (l *Layout) Cues() []Cue {
	cues := make([]Cue, 0, len(l.events))
	for _, e := range l.events {
		var lines []string
		for _, ln := range e.lines {
			lines = append(lines, ln.text)
		}
		cues = append(cues, Cue{Start: e.start, End: e.end, Text: strings.Join(lines, "\n")})
	}
	sortByStart(cues)
	return cues
}

// Shown is where and when one caption stands.
type Shown struct {
	Start, End          cutroom.Micros
	X, Y, Width, Height int // pixels of the frame, with outline and shadow
}

// Shown returns every caption's place, in order of the cues.
func (l *Layout) Shown() []Shown {
	rim := l.rim()
	out := make([]Shown, 0, len(l.events))
	for _, e := range l.events {
		w, h := e.width+2*rim, e.height+2*rim
		k := l.o.Style.Position.alignment()
		x, y := e.x-w/2, e.y-h/2
		switch {
		case k%3 == 1:
			x = e.x - rim
		case k%3 == 0:
			x = e.x - w + rim
		}
		switch {
		case k <= 3:
			y = e.y - h + rim
		case k >= 7:
			y = e.y - rim
		}
		out = append(out, Shown{e.start, e.end, int(x), int(y), int(w + 1), int(h + 1)})
	}
	return out
}

// Area is the part of the frame that captions stay inside: x, y, width, height in
// pixels.
func (l *Layout) Area() (x, y, width, height int) {
	a := l.area()
	return int(a.left), int(a.top), int(a.right-a.left) + 1, int(a.bottom-a.top) + 1
}
