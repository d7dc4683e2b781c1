package evidence

import (
	"cmp"
	"slices"
	"strings"

	"cutroom"
)

// isASSSection reports whether line is a section head of an ASS or SSA script.
func isASSSection(line string) bool {
	switch strings.ToLower(line) {
	case "[script info]", "[v4+ styles]", "[v4 styles]", "[events]":
		return true
	}
	return false
}

// assColumns are the columns of an Events section that does not name its own.
var assColumns = []string{"layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"}

// parseASS reads the Dialogue lines of an ASS or SSA script. Events are sorted by
// start, since their order in the file means nothing; the same words at the same
// time on several layers (outline, shadow) count once.
func (p *parser) parseASS() {
	columns, events, n := assColumns, false, 0
	type key struct {
		start, end cutroom.Micros
		text       string
	}
	seen := map[key]bool{}
	for i, line := range p.lines {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			events = strings.EqualFold(line, "[events]")
		case !ok || !events && !strings.EqualFold(name, "dialogue"):
		case strings.EqualFold(name, "format"):
			columns = strings.Split(strings.ToLower(strings.ReplaceAll(value, " ", "")), ",")
		case strings.EqualFold(name, "dialogue"):
			n++
			pl := place{cue: n, line: i + 1}
			s, ok := p.dialogue(value, columns, pl)
			if !ok || strings.TrimSpace(s.Text) == "" {
				continue
			}
			k := key{start: s.Start, text: s.Text}
			if s.End != nil {
				k.end = *s.End
			}
			if !seen[k] {
				seen[k] = true
				p.add(s, pl)
			}
		}
	}
	p.sortByStart()
	if n == 0 {
		p.problem(0, 0, "there is no text")
	}
}

// dialogue reads one Dialogue line.
func (p *parser) dialogue(value string, columns []string, pl place) (Segment, bool) {
	fields := strings.SplitN(strings.TrimLeft(value, " "), ",", len(columns))
	if len(fields) < len(columns) {
		p.problem(pl.cue, pl.line, "the line has %d of %d fields; it was left out", len(fields), len(columns))
		return Segment{}, false
	}
	var s Segment
	var startOK bool
	for i, c := range columns {
		switch c {
		case "start":
			at, n, _ := clock(strings.TrimSpace(fields[i]))
			s.Start, startOK = at, n > 0
		case "end":
			if at, n, _ := clock(strings.TrimSpace(fields[i])); n > 0 {
				s.End = &at
			} else {
				p.problem(pl.cue, pl.line, "the end of the cue cannot be read; it was left open")
			}
		case "name", "actor":
			s.Speaker = strings.TrimSpace(fields[i])
		case "text":
			s.Text = assText(fields[i])
		}
	}
	if !startOK {
		p.problem(pl.cue, pl.line, "the time line cannot be read; the cue was left out")
	}
	return s, startOK
}

// assText removes override blocks and drawings and resolves \N, \n and \h.
func assText(raw string) string {
	var b strings.Builder
	drawing := false
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '{':
			end := strings.IndexByte(raw[i:], '}')
			if end < 0 {
				b.WriteString(raw[i:])
				return strings.TrimSpace(b.String())
			}
			drawing = drawingMode(raw[i+1:i+end], drawing)
			i += end + 1
			continue
		case raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte("Nnh", raw[i+1]) >= 0:
			if !drawing {
				b.WriteString(map[byte]string{'N': "\n", 'n': " ", 'h': "\u00A0"}[raw[i+1]])
			}
			i += 2
			continue
		}
		if !drawing {
			b.WriteByte(raw[i])
		}
		i++
	}
	return strings.TrimSpace(b.String())
}

// drawingMode returns whether vector drawing is on after the override block: the
// text that follows \p1 is a shape, not words.
func drawingMode(block string, drawing bool) bool {
	for {
		i := strings.Index(block, `\p`)
		if i < 0 {
			return drawing
		}
		block = block[i+2:]
		digits := strings.TrimLeft(block, "0123456789")
		if n := len(block) - len(digits); n > 0 {
			drawing = strings.Trim(block[:n], "0") != ""
		}
	}
}

// sortByStart orders the segments by start, keeping the file's order among equals.
func (p *parser) sortByStart() {
	order := make([]int, len(p.out.Segments))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(p.out.Segments[a].Start, p.out.Segments[b].Start)
	})
	segs, places := make([]Segment, len(order)), make([]place, len(order))
	for i, j := range order {
		segs[i], places[i] = p.out.Segments[j], p.places[j]
	}
	p.out.Segments, p.places = segs, places
}
