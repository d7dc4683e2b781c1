package media

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/evidence"
)

// pieceLine is a piece of evidence: its time, what kind, the text, its frame. The
// text is what is cut; what qualifies it stays.
func pieceLine(e evidence.Event, number int, indent, why, question string) line {
	return line{piece: number, at: e.TimestampSeconds, text: func(n int) (string, bool) {
		e := e
		e.Speaker, e.Note = quote(e.Speaker, longestName), quote(e.Note, longestNote)
		tail := ""
		if e.Frame != nil {
			tail = " [" + quote(path.Base(e.Frame.RelativePath), longestName) + "]"
		}
		if why != "" {
			tail += " (because: " + quote(why, longestReason) + ")"
		}
		text := e.Text
		e.Text = ""
		frame := utf8.RuneCountInString(indent+e.Line()+tail) - 1 // the dash of an empty text
		room := max(0, n-frame)
		var short bool
		if e.Text, short = quoted(text, room); short && question != "" {
			e.Text = quote(evidence.Excerpt(text, question, room), room)
		}
		whole := indent + e.Line() + tail
		return cut(whole, n), short || utf8.RuneCountInString(whole) > n
	}}
}

// relevant are the pieces that bear on a question, most relevant first.
func relevant(ranked []evidence.Ranked, question string) []line {
	lines := make([]line, len(ranked))
	for i, r := range ranked {
		lines[i] = pieceLine(r.Event, -1, "", r.Why, question)
	}
	return lines
}

// inOrder are pieces in order of time, the first of which has a number.
func inOrder(events []evidence.Event, first int) []line {
	lines := make([]line, len(events))
	for i, e := range events {
		lines[i] = pieceLine(e, first+i, "", "", "")
	}
	return lines
}

// chapterLines are the parts of a recording with the lines that stand for them.
func chapterLines(chapters []evidence.Chapter) []line {
	var lines []line
	for _, c := range chapters {
		about := "nothing in particular"
		if len(c.Keywords) > 0 {
			about = quote(strings.Join(c.Keywords, ", "), longestNote)
		}
		text := fmt.Sprintf("%s–%s  part about %s", c.StartSeconds.Clock(), c.EndSeconds.Clock(), about)
		for _, f := range c.Frames {
			text += " [" + quote(path.Base(f.RelativePath), longestName) + "]"
		}
		l := own(text)
		l.at = c.StartSeconds
		lines = append(lines, l)
		for _, e := range c.Lines {
			lines = append(lines, pieceLine(e, -1, "  ", "", ""))
		}
	}
	return lines
}

// stepLines are the steps of a screen recording among what was said meanwhile. The
// text on the screen is left to the steps, which say what became of it.
func stepLines(steps []evidence.Action, events []evidence.Event) []line {
	var lines []line
	for _, a := range steps {
		lines = append(lines, stepLine(a))
	}
	for _, e := range events {
		if e.Kind != evidence.ScreenText {
			lines = append(lines, pieceLine(e, -1, "", "", ""))
		}
	}
	return byTime(lines)
}

func stepLine(a evidence.Action) line {
	return line{piece: -1, at: a.TimestampSeconds, text: func(n int) (string, bool) {
		start := fmt.Sprintf("%s  step %d, %s: ", a.TimestampSeconds.Clock(), a.Step, a.Change)
		tail := ""
		if b := a.Box; b != nil {
			tail = fmt.Sprintf(" (at %d,%d, %d×%d)", b[0], b[1], b[2], b[3])
		}
		if a.Frame != nil {
			tail += " [" + quote(path.Base(a.Frame.RelativePath), longestName) + "]"
		}
		room := max(0, n-utf8.RuneCountInString(start+tail))
		var text string
		var short bool
		if a.Before == "" {
			text, short = quoted(a.Text, room)
		} else {
			before, cut1 := quoted(a.Before, max(0, room-3)/2)
			after, cut2 := quoted(a.Text, max(0, room-3-utf8.RuneCountInString(before)))
			text, short = before+" → "+after, cut1 || cut2
		}
		whole := start + text + tail
		return cut(whole, n), short || utf8.RuneCountInString(whole) > n
	}}
}

// frameLines are the frames, each before the evidence that is not earlier.
func frameLines(frames []cutroom.ArtifactRef, events []evidence.Event) []line {
	var lines []line
	for _, f := range frames {
		if f.TimestampSeconds == nil {
			continue
		}
		l := own(f.TimestampSeconds.Clock() + "  frame [" + quote(path.Base(f.RelativePath), longestName) + "]")
		l.at = *f.TimestampSeconds
		lines = append(lines, l)
	}
	return byTime(append(lines, inOrder(events, 0)...))
}

// byTime merges lines; those of one time keep their order.
func byTime(lines []line) []line {
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	return lines
}
