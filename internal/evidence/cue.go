package evidence

import (
	"strings"

	"cutroom"
)

// cue is one cue as it stands in the file.
type cue struct {
	place
	timing
	lines []string
}

// parseCues reads WebVTT, SubRip, whisper lines and headless cues.
func (p *parser) parseCues() {
	vtt := p.out.Format == WebVTT
	raw := p.scanCues(vtt)
	var cues []caption
	for _, c := range raw {
		if c.startOK {
			cues = append(cues, p.caption(c)...)
		}
	}
	if vtt || p.out.Format == SubRip {
		cues = collapseRolling(cues)
	}
	for _, c := range cues {
		text := strings.TrimSpace(joinLines(c.lines))
		if text == "" {
			continue
		}
		s := Segment{Start: c.start, Text: text, Speaker: c.speaker}
		if c.hasEnd {
			end := c.end
			s.End = &end
		}
		for _, l := range c.lines {
			s.Words = append(s.Words, l.words...)
		}
		p.add(s, c.place)
	}
	if len(p.out.Segments) == 0 {
		p.problem(0, 0, "there is no text")
	}
}

// caption resolves a cue's markup. A cue with several voices becomes several
// captions with the same times.
func (p *parser) caption(c cue) []caption {
	if !c.endOK {
		p.problem(c.cue, c.line, "the end of the cue cannot be read; it was left open")
	}
	if c.negative {
		p.problem(c.cue, c.line, "starts before zero; it was set to zero")
	}
	var out []caption
	for _, v := range resolveMarkup(strings.Join(c.lines, "\n"), c.start, c.end, c.endOK) {
		out = append(out, caption{place: c.place, start: c.start, end: c.end, hasEnd: c.endOK, speaker: v.speaker, lines: v.lines})
	}
	return out
}

// scanCues finds the cues. In WebVTT a cue ends at an empty line; elsewhere at
// the next time line, so that an empty line inside a cue loses nothing.
func (p *parser) scanCues(vtt bool) []cue {
	i := 0
	if vtt {
		i = p.skipVTTHead()
	}
	numbered := p.numbered(i)
	var cues []cue
	for i < len(p.lines) {
		line := p.lines[i]
		t, ok := parseTiming(line)
		switch {
		case ok:
			c := cue{place: place{cue: len(cues) + 1, line: i + 1}, timing: t}
			i = p.collect(&c, i+1, vtt, numbered)
			cues = append(cues, c)
			continue
		case vtt && isVTTMeta(line):
			for i < len(p.lines) && p.lines[i] != "" {
				i++
			}
			continue
		case strings.TrimSpace(line) != "" && !p.isCueID(i, vtt, true):
			p.problem(0, i+1, "text outside any cue was left out")
		}
		i++
	}
	return cues
}

// collect reads the text of c from line i on and returns the line after it.
func (p *parser) collect(c *cue, i int, vtt, numbered bool) int {
	if rest := c.rest; c.bracket || !vtt && !isSettings(rest) {
		if rest = strings.TrimSpace(rest); rest != "" {
			c.lines = append(c.lines, rest)
		}
	}
	begin := i
	for ; i < len(p.lines); i++ {
		if vtt && p.lines[i] == "" {
			break
		}
		if _, ok := parseTiming(p.lines[i]); ok {
			break
		}
	}
	end := i
	if end < len(p.lines) && end > begin && (p.lines[end] != "" || !vtt) {
		afterBlank := end-2 >= begin && strings.TrimSpace(p.lines[end-2]) == ""
		if numbered && p.isCueID(end-1, vtt, afterBlank || end-1 == begin) {
			end--
		}
	}
	for _, l := range p.lines[begin:end] {
		if vtt || strings.TrimSpace(l) != "" {
			c.lines = append(c.lines, l)
		}
	}
	if !c.startOK {
		p.problem(c.cue, c.line, "the time line cannot be read; the cue was left out")
	}
	return i
}

// numbered reports whether the cues from line i on have numbers before their
// time lines: whether the first one has.
func (p *parser) numbered(i int) bool {
	for ; i < len(p.lines); i++ {
		if _, ok := parseTiming(p.lines[i]); ok {
			return i > 0 && isNumber(p.lines[i-1])
		}
	}
	return false
}

// isCueID reports whether line i names the cue whose time line follows at once:
// a number, or in WebVTT any text at the start of a block.
func (p *parser) isCueID(i int, vtt, blockStart bool) bool {
	if i+1 >= len(p.lines) {
		return false
	}
	if _, ok := parseTiming(p.lines[i+1]); !ok {
		return false
	}
	return isNumber(p.lines[i]) || vtt && blockStart
}

// isNumber reports whether line is a cue number.
func isNumber(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && len(line) <= 9 && strings.Trim(line, "0123456789") == ""
}

// isSettings reports whether s, after a time line, is made of cue settings:
// name:value pairs (WebVTT) or X1:… Y2:… (SubRip).
func isSettings(s string) bool {
	for f := range strings.FieldsSeq(s) {
		name, value, ok := strings.Cut(f, ":")
		if !ok || name == "" || value == "" || len(name) > 9 {
			return false
		}
	}
	return true
}

func isVTTHead(line string) bool {
	rest, ok := strings.CutPrefix(line, "WEBVTT")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isVTTMeta reports whether line opens a block that is not a cue.
func isVTTMeta(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line == "NOTE" || line == "STYLE" || line == "REGION" ||
		strings.HasPrefix(line, "NOTE ") || strings.HasPrefix(line, "NOTE\t")
}

// skipVTTHead returns the line after the header block and keeps its language.
// A header without an empty line after it ends at the first time line.
func (p *parser) skipVTTHead() int {
	i := 0
	for i < len(p.lines) && strings.TrimSpace(p.lines[i]) == "" {
		i++
	}
	if i >= len(p.lines) || !isVTTHead(strings.TrimSpace(p.lines[i])) {
		return i
	}
	for ; i < len(p.lines) && p.lines[i] != ""; i++ {
		if _, ok := parseTiming(p.lines[i]); ok {
			if isNumber(p.lines[i-1]) {
				i--
			}
			return i
		}
		if name, value, ok := strings.Cut(p.lines[i], ":"); ok && strings.EqualFold(name, "Language") {
			p.out.Language = strings.TrimSpace(value)
		}
	}
	return i
}

// caption is a cue with its markup resolved.
type caption struct {
	place
	start, end cutroom.Micros
	hasEnd     bool
	speaker    string
	lines      []captionLine
}

// captionLine is one line of a caption and the times of its words.
type captionLine struct {
	text  string
	words []Word
}

// joinLines returns the text of the lines that are not blank.
func joinLines(lines []captionLine) string {
	var parts []string
	for _, l := range lines {
		if strings.TrimSpace(l.text) != "" {
			parts = append(parts, l.text)
		}
	}
	return strings.Join(parts, "\n")
}
