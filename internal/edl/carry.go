package edl

import (
	"strings"

	"cutroom"
)

// Kind is what a text of times is.
type Kind string

// The kinds that are carried from one timeline to another.
const (
	Cues     Kind = "cues"     // SRT or WebVTT
	Cuts     Kind = "cuts"     // a cut list
	Marks    Kind = "chapters" // a time and a title per line
	Document Kind = "json"     // timed entries
)

// KindOf says what a text is, by what it holds; "" for nothing that has times.
func KindOf(text string) Kind {
	t := strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	switch {
	case strings.HasPrefix(t, "{") || strings.HasPrefix(t, "["):
		return Document
	case strings.HasPrefix(t, "WEBVTT"), timingLine(t):
		return Cues
	}
	if list, err := ParseCuts(text, nil); err == nil && len(list) > 0 {
		return Cuts
	}
	if len(ParseMarks(text)) > 0 {
		return Marks
	}
	return ""
}

func timingLine(text string) bool {
	for line := range strings.Lines(text) {
		if timing.MatchString(strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// Carry carries a text of times to another timeline. from is how long the timeline lasts
// that the text is of, to the one that it goes to. A text without times is an error.
func Carry(text string, move Move, from, to cutroom.Micros) (string, Moved, error) {
	var moved Moved
	switch KindOf(text) {
	case Cues:
		return MoveCues(text, move)
	case Cuts:
		list, err := ParseCuts(text, nil)
		var out []Range
		for _, r := range list {
			if r.End == 0 {
				r.End = max(from, r.Start+1)
			}
			places := move(r)
			moved.count(len(places))
			out = append(out, places...)
		}
		return FormatCuts(out), moved, err
	case Marks:
		list, moved := MoveMarks(ParseMarks(text), from, move)
		return FormatMarks(list), moved, nil
	case Document:
		doc, moved, err := MoveJSON([]byte(text), move, to)
		return string(doc), moved, err
	}
	return "", moved, cutroom.Errorf(cutroom.Invalid, "nothing in this text says when it is").
		WithHint("give captions (.srt, .vtt), a cut list, a list of chapters or a JSON document of timed entries")
}
