package caption

import (
	"strings"

	"cutroom"
)

// Retime changes the times of the events of an ASS or SSA script and nothing else.
// move says when an event is shown, or false when it is not shown any more. A recording
// of that length (0: of any) ends what overhangs. It returns how many events are left
// and how many were left out.
func Retime(script string, move func(start, end cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool)) (out string, kept, gone int) {
	var b strings.Builder
	columns := []string{"layer", "start", "end"}
	events := false
	for line := range strings.Lines(script) {
		text := strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(strings.TrimSpace(text), ":")
		switch {
		case strings.HasPrefix(text, "["):
			events = strings.EqualFold(strings.TrimSpace(text), "[events]")
		case !events:
		case strings.EqualFold(name, "format"):
			columns = strings.Split(strings.ToLower(strings.ReplaceAll(value, " ", "")), ",")
		case strings.EqualFold(name, "dialogue"):
			moved, ok := retimed(value, columns, move)
			if !ok {
				gone++
				continue
			}
			kept++
			b.WriteString(name + ":" + moved + "\n")
			continue
		}
		b.WriteString(text + "\n")
	}
	return b.String(), kept, gone
}

func retimed(value string, columns []string, move func(start, end cutroom.Micros) (cutroom.Micros, cutroom.Micros, bool)) (string, bool) {
	fields := strings.SplitN(value, ",", len(columns))
	at := map[string]int{}
	for i, c := range columns {
		at[c] = i
	}
	s, hasStart := at["start"]
	e, hasEnd := at["end"]
	if !hasStart || !hasEnd || s >= len(fields) || e >= len(fields) {
		return value, true
	}
	start, err1 := cutroom.ParseMicros(strings.TrimSpace(fields[s]))
	end, err2 := cutroom.ParseMicros(strings.TrimSpace(fields[e]))
	if err1 != nil || err2 != nil {
		return value, true
	}
	start, end, ok := move(start, end)
	if !ok {
		return "", false
	}
	fields[s], fields[e] = assTime(start), assTime(end)
	return strings.Join(fields, ","), true
}
