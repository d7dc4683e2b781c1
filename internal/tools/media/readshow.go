package media

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/lens"
	"cutroom/internal/tool"
)

// Show is the evidence as a model reads it: who read what and what was tried in our own
// words, then what was found, fenced.
func (out *ReadOutput) Show(room tool.Room) tool.Showing {
	rest := room.Text - evidence.FenceRoom - tailRoom
	top := head(out.told(), reasons(out.PartialReasons, out.Meta.Warnings), rest/2)
	lines := out.lines()
	p := fill(lines, rest-utf8.RuneCountInString(top))
	text := top + fenced(string(out.Provenance.InvocationSHA256), p.body)
	if left := len(lines) - p.written; left > 0 {
		text += fmt.Sprintf("Left out here: %d lines; the structured answer holds them. Ask for a shorter range (start, end).\n", left)
	}
	return tool.Showing{Text: text}
}

// Brief is the same for people.
func (out *ReadOutput) Brief() []string {
	list := append(out.told(), reasons(out.PartialReasons, out.Meta.Warnings)...)
	for _, a := range out.Meta.Attempts {
		if !a.OK && a.Message != "" {
			list = append(list, quote(a.Provider, longestName)+" said: "+quote(a.Message, longestReason))
		}
	}
	for _, l := range out.lines() {
		text, _ := l.text(longestLine)
		list = append(list, text)
	}
	return list
}

// told is who read what, and what was tried.
func (out *ReadOutput) told() []string {
	m := out.Meta
	first := fmt.Sprintf("%s: %s read by %s", quote(out.Source, longestReason), out.Kind, quote(m.Provider, longestName))
	if model := out.model(); model != "" {
		first += " (" + quote(model, longestName) + ")"
	}
	if m.Provider == "" {
		first = fmt.Sprintf("%s: nobody could read it", quote(out.Source, longestReason))
	}
	if d := m.Budget.DurationSeconds; d != nil {
		first += ", lasts " + d.Clock()
	}
	first += fmt.Sprintf(", verdict %s, %d bytes sent", m.Budget.Verdict, m.Budget.BytesSent)
	var tried []string
	for _, a := range m.Attempts {
		word := quote(a.Provider, longestName)
		switch {
		case a.Skipped != "":
			word += " (left out: " + a.Skipped + ")"
		case !a.OK:
			word += " (" + string(a.Class) + ")"
		}
		if n := len(tried); n == 0 || tried[n-1] != word {
			tried = append(tried, word)
		}
	}
	lines := []string{first}
	if len(tried) > 0 {
		lines = append(lines, "Tried: "+strings.Join(tried, ", ")+".")
	}
	if t := m.RefineAttempt; t != nil && t.OK {
		lines = append(lines, "Tightened by "+quote(t.Provider, longestName)+".")
	}
	return lines
}

// model is the model that gave the evidence, "" for engines of this machine and for parts
// that several gave.
func (out *ReadOutput) model() string {
	model := ""
	for _, a := range out.Meta.Attempts {
		if a.OK && a.Provider == out.Meta.Provider {
			if model != "" && a.Model != model {
				return ""
			}
			model = a.Model
		}
	}
	return model
}

// lines are the evidence in order of time.
func (out *ReadOutput) lines() []line {
	var lines []line
	if out.Summary != "" {
		lines = append(lines, quotedLine(-1, 0, "summary: ", out.Summary, ""))
	}
	for _, m := range out.Timeline {
		tail := ""
		if m.Frame != "" {
			tail = " [" + quote(m.Frame[strings.LastIndexByte(m.Frame, '/')+1:], longestName) + "]"
		}
		if m.Uncertain {
			tail += " (uncertain)"
		}
		start := stamp(m.Start, m.End) + "  "
		if out.Kind == lens.Image {
			start = ""
		}
		lines = append(lines, quotedLine(-1, m.Start, fmt.Sprintf("%ssees (%s): ", start, m.Confidence), m.Text, tail))
	}
	for _, l := range out.Transcript {
		who := "says"
		if l.Speaker != "" {
			who = quote(l.Speaker, longestName) + " says"
		}
		lines = append(lines, quotedLine(-1, l.Start, stamp(l.Start, l.End)+"  "+who+": ", l.Text, ""))
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(max(-1, min(1, a.at-b.at))) })
	for _, r := range out.Regions {
		what := r.Text
		if what == "" {
			what = r.Label
		}
		frame := ""
		if r.Frame != "" {
			frame = " [" + quote(r.Frame[strings.LastIndexByte(r.Frame, '/')+1:], longestName) + "]"
		}
		lines = append(lines, quotedLine(-1, 0, fmt.Sprintf("at %.3f,%.3f %.3f×%.3f (%s): ", r.Box[0], r.Box[1], r.Box[2], r.Box[3], r.Confidence), what, frame))
	}
	if len(lines) == 0 {
		lines = append(lines, own("nothing was found"))
	}
	return lines
}

func stamp(start cutroom.Micros, end *cutroom.Micros) string {
	if end == nil {
		return start.Clock()
	}
	return start.Clock() + "–" + end.Clock()
}

// quotedLine is a line whose middle comes from a reader: that is what is cut.
func quotedLine(piece int, at cutroom.Micros, start, text, tail string) line {
	return line{piece: piece, at: at, text: func(n int) (string, bool) {
		said, short := quoted(text, max(0, n-utf8.RuneCountInString(start+tail)))
		whole := start + said + tail
		return cut(whole, n), short || utf8.RuneCountInString(whole) > n
	}}
}

// Show is the outlook as a model reads it.
func (out *PlanOutput) Show(tool.Room) tool.Showing {
	return tool.Showing{Text: strings.Join(out.Brief(), "\n") + "\n"}
}

// Brief says who would be sent what.
func (out *PlanOutput) Brief() []string {
	first := fmt.Sprintf("%s: %s of %d bytes, verdict %s; uploads: %s", quote(out.Source, longestReason), out.Kind, out.SizeBytes, out.Verdict, strings.ReplaceAll(out.Upload, "_", " "))
	list := []string{first}
	for i, l := range out.Chain {
		text := fmt.Sprintf("%d. %s", i+1, quote(l.Provider, longestName))
		if l.Model != "" {
			text += " " + quote(l.Model, longestName)
		}
		switch l.Would {
		case "send":
			text += fmt.Sprintf(": would be sent %s, about %d bytes, to %s", l.Sends, l.Bytes, quote(l.Destination, longestReason))
			if l.Cost != nil {
				text += ", about " + l.Cost.String() + " in the currency of its price"
			} else {
				text += ", at a price that is not known"
			}
		case "work_here":
			text += ": stays on this machine"
		default:
			text += ": left out"
		}
		if l.Why != "" {
			text += " (" + l.Why + ")"
		}
		list = append(list, text)
	}
	last := fmt.Sprintf("At most about %d bytes would leave this machine", out.MaxBytes)
	if out.MaxCost != nil {
		last += ", for about " + out.MaxCost.String()
	}
	list = append(list, last+". Nothing was sent to find this out.")
	for _, w := range out.Warnings {
		list = append(list, "to know: "+quote(w, longestReason))
	}
	return list
}
