package evidence

import (
	"fmt"
	"strings"

	"cutroom"
)

// parser holds one transcript while it is read.
type parser struct {
	out    *Transcript
	text   string
	lines  []string
	places []place // where each segment of out came from; same length
}

// place is where a segment stood in the file.
type place struct{ cue, line int }

// problem records a fault, up to the bound of the list.
func (p *parser) problem(cue, line int, format string, args ...any) {
	if len(p.out.Problems) >= maxProblems {
		p.out.ProblemsOmitted++
		return
	}
	p.out.Problems = append(p.out.Problems, Problem{Cue: cue, Line: line, What: fmt.Sprintf(format, args...)})
}

// add appends a segment that stood at pl.
func (p *parser) add(s Segment, pl place) {
	p.out.Segments = append(p.out.Segments, s)
	p.places = append(p.places, pl)
}

// run finds the format and reads the segments.
func (p *parser) run(hint Format) error {
	p.out.Format = p.detect(hint)
	switch p.out.Format {
	case ASS:
		p.parseASS()
	case JSON:
		if !p.parseJSON() {
			if hint == JSON {
				return cutroom.Errorf(cutroom.Invalid, "the JSON holds no transcript segments").
					WithHint(`give [{"start":0,"end":1.5,"text":"…"}] or {"segments":[…]}`)
			}
			p.out.Format = Text
			p.parsePlain()
		}
	case Text:
		p.parsePlain()
	default:
		p.parseCues()
	}
	return nil
}

// detect tells the format by content. The hint only matters where the content
// could be read either way: a text file that mentions a time line somewhere.
func (p *parser) detect(hint Format) Format {
	first := -1
	for i, l := range p.lines {
		if strings.TrimSpace(l) != "" {
			first = i
			break
		}
	}
	if first < 0 {
		return Text
	}
	head := strings.TrimSpace(p.lines[first])
	switch {
	case isVTTHead(head):
		return WebVTT
	case isASSSection(head):
		return ASS
	case hint == JSON || (head[0] == '{' || head[0] == '[') && validJSON(p.text):
		return JSON
	}
	at, whisper, timings := p.timings()
	switch {
	case at < 0:
		if hint == ASS && strings.Contains(p.text, "\nDialogue:") {
			return ASS
		}
		return Text
	case hint == SubRip || hint == WebVTT || hint == Whisper:
		// A caption file may begin with anything.
	case nonBlank(p.lines[:at]) > 2 && timings*5 < nonBlank(p.lines):
		return Text // prose that mentions a time line
	}
	switch {
	case whisper:
		return Whisper
	case hint == WebVTT:
		p.problem(0, first+1, "the line WEBVTT is missing")
		return WebVTT
	case hint == SubRip, p.hasFraction(at):
		return SubRip
	}
	return Cues
}

// timings returns the index of the first line that is a readable time line, -1
// when there is none, and how many such lines there are.
func (p *parser) timings() (at int, whisper bool, n int) {
	at = -1
	for i, l := range p.lines {
		if t, ok := parseTiming(l); ok && t.startOK {
			if n++; n == 1 {
				at, whisper = i, t.bracket
			}
		}
	}
	return at, whisper, n
}

func nonBlank(lines []string) int {
	n := 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			n++
		}
	}
	return n
}

// hasFraction reports whether the time line has fractions of seconds, as SubRip
// always does.
func (p *parser) hasFraction(at int) bool {
	before, _, _ := strings.Cut(p.lines[at], "-->")
	return strings.ContainsAny(before, ".,")
}

// parsePlain makes one untimed segment of the whole text. Outer blank lines are
// not part of it; line ends become LF.
func (p *parser) parsePlain() {
	text := strings.Join(p.lines, "\n")
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		p.problem(0, 0, "there is no text")
		return
	}
	p.add(Segment{Text: text, Untimed: true}, place{line: 1})
}

// flagOrder reports cues that run backwards or overlap. They are kept as they
// are: two people can speak at once, and which time is wrong is not known.
func (p *parser) flagOrder() {
	var last, furthest cutroom.Micros
	for i, s := range p.out.Segments {
		pl := p.places[i]
		if s.End != nil && *s.End < s.Start {
			p.problem(pl.cue, pl.line, "ends at %s, before it starts at %s", s.End, s.Start)
		}
		same := i > 0 && p.places[i-1].cue == pl.cue // parts of one cue
		switch {
		case i == 0 || same || s.Untimed:
		case s.Start < last:
			p.problem(pl.cue, pl.line, "starts at %s, before the cue before it (%s)", s.Start, last)
		case s.Start < furthest:
			p.problem(pl.cue, pl.line, "starts at %s, while an earlier cue lasts to %s", s.Start, furthest)
		}
		last = s.Start
		if s.End != nil {
			furthest = max(furthest, *s.End)
		}
	}
}
