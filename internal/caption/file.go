package caption

import (
	"strings"

	"cutroom"
)

// FileOptions say how a cue file is read.
type FileOptions struct {
	// Hold is how long a line without times stands, Gap the pause before it.
	Hold, Gap cutroom.Micros
	// Timecode resolves an SMPTE timecode; nil refuses them.
	Timecode func(string) (cutroom.Micros, error)
}

// ParseFile reads a cue file: one cue per line, in one of the forms
//
//	START-END text
//	START --> END text
//	text
//
// A time is seconds, mm:ss.mmm, hh:mm:ss.mmm (a comma will do) or an SMPTE timecode.
// Behind an arrow the text may also stand on the lines that follow, up to an empty
// one. | breaks a line, \| is a bar. A line without times follows the cue before it.
// Errors name the line.
func ParseFile(text string, o FileOptions) ([]Cue, error) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	var cues []Cue
	var at cutroom.Micros // end of the cue before
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || number(line) && i+1 < len(lines) && arrow(lines[i+1], o) {
			continue
		}
		c, timed, err := readLine(line, o)
		if err != nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "line %d of the cue file: %s", i+1, err).
				WithHint("write START-END text, such as 1.5-3.2 Hello, or 00:00:01,500 --> 00:00:03,200 Hello")
		}
		if timed && c.Text == "" {
			from := i + 1
			for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" {
				i++
				lines[i] = strings.TrimSpace(lines[i])
			}
			c.Text = strings.Join(lines[from:i+1], "\n")
		}
		if !timed {
			c.Start = at
			if len(cues) > 0 {
				c.Start += o.Gap
			}
			c.End = c.Start + o.Hold
		}
		at = c.End
		if c.Text = breaks(c.Text); strings.TrimSpace(c.Text) != "" {
			cues = append(cues, c)
		}
	}
	sortByStart(cues)
	return cues, nil
}

// number reports whether a line is the number of an SRT cue.
func number(s string) bool { return len(s) < 10 && strings.Trim(s, "0123456789") == "" }

func arrow(line string, o FileOptions) bool {
	_, timed, err := readLine(strings.TrimSpace(line), o)
	return err == nil && timed && strings.Contains(line, "-->")
}

// breaks makes line ends of bars.
func breaks(s string) string {
	if !strings.Contains(s, "|") {
		return s
	}
	parts := strings.Split(strings.ReplaceAll(s, `\|`, "\x00"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.ReplaceAll(strings.Join(parts, "\n"), "\x00", "|")
}

// readLine reads the times at the start of a line. Two bare whole numbers that run
// backwards ("20-10 others") are text; times that are meant as such are errors.
func readLine(line string, o FileOptions) (c Cue, timed bool, err error) {
	start, rest, sure, err := clockAt(line, o)
	if err != nil || rest == line {
		return Cue{Text: line}, false, err
	}
	rest = strings.TrimLeft(rest, " \t")
	after, isArrow := strings.CutPrefix(rest, "-->")
	if !isArrow {
		found := false
		for _, dash := range []string{"-", "–"} {
			if after, found = strings.CutPrefix(rest, dash); found {
				break
			}
		}
		if !found {
			return Cue{Text: line}, false, nil
		}
	}
	after = strings.TrimLeft(after, " \t")
	end, text, sureToo, err := clockAt(after, o)
	if err != nil {
		return Cue{}, false, err
	}
	if text == after || text != "" && text[0] != ' ' && text[0] != '\t' {
		return Cue{Text: line}, false, nil
	}
	if end <= start {
		if isArrow || sure || sureToo {
			return Cue{}, false, cutroom.Errorf(cutroom.Invalid, "the cue ends at %s, not after its start at %s", end, start)
		}
		return Cue{Text: line}, false, nil
	}
	text = strings.TrimSpace(text)
	if text == "" && !isArrow {
		return Cue{Text: line}, false, nil
	}
	return Cue{Start: start, End: end, Text: text}, true, nil
}

// clockAt reads a time at the start of s. sure says that it can be nothing else: it has
// a colon or a fraction. rest is s where there is none.
func clockAt(s string, o FileOptions) (at cutroom.Micros, rest string, sure bool, err error) {
	n := 0
	for n < len(s) && strings.IndexByte("0123456789:;.,", s[n]) >= 0 {
		n++
	}
	token := strings.TrimRight(s[:n], ",.;:")
	if token == "" || len(token) > 32 {
		return 0, s, false, nil
	}
	rest = s[len(token):]
	if strings.Count(token, ":")+strings.Count(token, ";") == 3 {
		if o.Timecode == nil {
			return 0, s, true, cutroom.Errorf(cutroom.Invalid, "the timecode %s needs a frame rate", token)
		}
		at, err = o.Timecode(token)
		return at, rest, true, err
	}
	at, bad := cutroom.ParseMicros(strings.Replace(token, ",", ".", 1))
	if bad != nil {
		return 0, s, false, nil
	}
	return at, rest, strings.ContainsAny(token, ":.,"), nil
}
