package edl

import (
	"fmt"
	"regexp"
	"strings"

	"cutroom"
)

// mark is one line of a chapter list: where it begins, and its title.
var mark = regexp.MustCompile(`^\s*(?:[-*•]\s*)?[(\[]?((?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,6})?)[)\]]?\s*[-–—|:]?\s*(.*)$`)

// Mark is where a chapter begins.
type Mark struct {
	Start cutroom.Micros
	Title string
}

// ParseMarks reads a chapter list as video sites take it: a time and a title per line.
// Lines without a time say nothing.
func ParseMarks(text string) []Mark {
	var list []Mark
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		m := mark.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		t, err := cutroom.ParseMicros(strings.Replace(m[1], ",", ".", 1))
		if err == nil && len(list) < maxCuts {
			list = append(list, Mark{t, strings.TrimSpace(m[2])})
		}
	}
	return list
}

// MoveMarks carries a chapter list to another timeline. A chapter lasts until the next
// begins, the last one until end; it begins where the first of it shows. One of which
// nothing shows goes, and one that shows in several places begins in each.
func MoveMarks(list []Mark, end cutroom.Micros, move Move) ([]Mark, Moved) {
	var out []Mark
	var moved Moved
	for i, m := range list {
		until := max(end, m.Start+1)
		if i+1 < len(list) {
			until = list[i+1].Start
		}
		places := move(Range{m.Start, until})
		moved.count(len(places))
		for _, p := range places {
			out = append(out, Mark{p.Start, m.Title})
		}
	}
	sortMarks(out)
	return out, moved
}

// FormatMarks writes a chapter list: m:ss or h:mm:ss, with milliseconds where there are
// any.
func FormatMarks(list []Mark) string {
	hours := false
	for _, m := range list {
		hours = hours || m.Start >= 3600*cutroom.Second
	}
	var b strings.Builder
	for _, m := range list {
		ms := int64(m.Start+500) / 1000
		at := fmt.Sprintf("%d:%02d", ms/60_000, ms/1000%60)
		if hours {
			at = fmt.Sprintf("%d:%02d:%02d", ms/3_600_000, ms/60_000%60, ms/1000%60)
		}
		if ms%1000 != 0 {
			at += fmt.Sprintf(".%03d", ms%1000)
		}
		b.WriteString(strings.TrimRight(at+" "+m.Title, " ") + "\n")
	}
	return b.String()
}
