package media

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
)

// tailRoom is what the line after the evidence takes, at most.
const tailRoom = 300

// mostTimes is how many frames the head names by their time.
const mostTimes = 16

// Show is the watch as a model reads it: what was watched and how, what is missing,
// then the evidence as the mode has it, and how to get what did not fit.
func (w *WatchResult) Show(room tool.Room) tool.Showing {
	rest := room.Text - evidence.FenceRoom - tailRoom
	top := head(w.facts(rest/2), reasons(w.PartialReasons, w.Limitations), rest/2)
	lines := w.lines()
	p := fill(lines, rest-utf8.RuneCountInString(top))
	text := top + fenced(w.RunID, p.body) + w.more(lines[p.written:], p.cut)
	return tool.Showing{Text: text, Pictures: w.pictures(), Files: w.rest()}
}

// short is the run's id as it can be named.
func (w *WatchResult) short() string { return cutroom.Digest(w.RunID).Short() }

// facts are what was watched and how, in our own words.
func (w *WatchResult) facts(room int) []string {
	first := fmt.Sprintf("%s: %s", named(w.SourceIdentity, room), w.Status)
	if w.DurationSeconds != nil {
		first += ", lasts " + w.DurationSeconds.Clock()
	}
	first += ", mode " + string(w.Mode)
	if w.RunID != "" {
		first += ", run_id " + w.short()
	}
	lines := []string{first}
	if said := w.said(); said != "" {
		lines = append(lines, said)
	}
	if n := len(w.Frames); n > 0 {
		frames := fmt.Sprintf("Frames: %d", n)
		if w.FrameMethod != "" {
			frames += ", chosen by " + quote(w.FrameMethod, longestName)
		}
		if at := times(w.Frames); room > 2000 && w.Mode != Frames && at != "" {
			frames += ", at " + at
		}
		lines = append(lines, frames+".")
	}
	return lines
}

// named is the source in quotes that its name cannot leave.
func named(s cutroom.SourceIdentity, room int) string {
	name := quote(s.SafeLocator, min(longestReason, max(40, room/4)))
	if name == "" {
		name = string(s.Kind)
	}
	return `"` + strings.ReplaceAll(name, `"`, "'") + `"`
}

// said says how what was said is known.
func (w *WatchResult) said() string {
	how := ""
	switch w.TranscriptMethod {
	case "", "not_requested":
		return ""
	case "unavailable":
		return "What is said is not known: there is no transcript, and none could be made."
	case "supplied":
		how = "the transcript that was given"
	case "sidecar":
		how = "a caption file beside the recording"
	case "embedded":
		how = "captions inside the recording"
	case "speech":
		how = "speech recognition, which can mishear"
	default:
		how = quote(w.TranscriptMethod, longestName)
	}
	if w.Language != "" {
		how += "; language " + quote(w.Language, 40)
	}
	return "What is said comes from " + how + "."
}

// times are those of the first frames.
func times(frames []cutroom.ArtifactRef) string {
	var list []string
	for i, f := range frames {
		if i == mostTimes {
			list = append(list, "…")
			break
		}
		if f.TimestampSeconds != nil {
			list = append(list, f.TimestampSeconds.Clock())
		}
	}
	return strings.Join(list, " ")
}

// lines are the evidence as the mode has it, what bears on the question first.
func (w *WatchResult) lines() []line {
	var lines []line
	if len(w.Relevant) > 0 {
		lines = append(lines, own("What bears on the question, most relevant first:"))
		lines = append(lines, relevant(w.Relevant, w.Question)...)
		lines = append(lines, own("All of it:"))
	}
	switch {
	case w.Mode == Summary && len(w.Chapters) > 0:
		lines = append(lines, chapterLines(w.Chapters)...)
	case w.Mode == Automation:
		lines = append(lines, stepLines(w.Steps, w.Timeline)...)
	case w.Mode == Frames:
		lines = append(lines, frameLines(w.Frames, w.Timeline)...)
	default:
		lines = append(lines, inOrder(w.Timeline, 0)...)
	}
	if len(lines) == 0 && w.Status != cutroom.Blocked {
		lines = append(lines, own("nothing was found"))
	}
	return lines
}

// more says what is left out and the call that gives it.
func (w *WatchResult) more(left []line, cut bool) string {
	text := ""
	if cut {
		text = "A line that ends in … stands whole in timeline.json.\n"
	}
	if w.RunID == "" {
		if len(left) > 0 {
			text += fmt.Sprintf("Left out here: %d lines.\n", len(left))
		}
		return text
	}
	ask := fmt.Sprintf(`media_ask {"run":{"run":%q}`, w.short())
	if len(left) == 0 {
		if w.Mode == Summary && len(w.Timeline) > 0 {
			text += "All the evidence in order: " + ask + `}; with "question" what bears on it, with "start" and "end" a stretch of time.` + "\n"
		}
		return text
	}
	// The numbered pieces are the whole timeline in order: going on by number loses
	// and repeats nothing. Chapters and steps go on by time.
	from := ""
	if i := slices.IndexFunc(left, func(l line) bool { return l.piece >= 0 }); i >= 0 {
		from = fmt.Sprintf(`,"from":%d`, left[i].piece)
	} else if at := left[0].at; at > 0 {
		from = `,"start":` + at.String()
	}
	return text + fmt.Sprintf("Left out here: %d lines. %s%s} goes on with the evidence in order; with \"question\" it finds what bears on it.\n", len(left), ask, from)
}

// rest are the files that hold the whole.
func (w *WatchResult) rest() []cutroom.ArtifactRef {
	return slices.DeleteFunc(slices.Clone(w.Artifacts), isPicture)
}

func isPicture(a cutroom.ArtifactRef) bool { return strings.HasPrefix(a.MediaType, "image/") }

// Show is the answer as a model reads it.
func (out *AskResult) Show(room tool.Room) tool.Showing {
	rest := room.Text - evidence.FenceRoom - tailRoom
	top := head(out.facts(rest/2), reasons(out.PartialReasons, out.Limitations), rest/2)
	lines := relevant(out.Relevant, out.Question)
	if out.Question == "" {
		lines = inOrder(out.Events, out.From)
	}
	p := fill(lines, rest-utf8.RuneCountInString(top))
	text := top + fenced(string(out.Provenance.InvocationSHA256), p.body)
	if p.cut {
		text += "A line with … is cut; timeline.json of the watch holds it whole.\n"
	}
	next := out.Next
	if out.Question == "" && p.written < len(lines) {
		next = &lines[p.written].piece
	}
	switch {
	case next != nil:
		text += fmt.Sprintf("There is more: the same call with \"from\":%d goes on.\n", *next)
	case p.written < len(lines):
		text += fmt.Sprintf("Left out here: %d, the least relevant; a range of time (\"start\", \"end\") shows what is in it.\n", len(lines)-p.written)
	}
	return tool.Showing{Text: text, Pictures: out.pictures(p.written)}
}

// facts are what was asked of which recording, in our own words.
func (out *AskResult) facts(room int) []string {
	source := named(out.Provenance.SourceIdentity, room)
	if out.Question != "" {
		asked := strings.ReplaceAll(quote(out.Question, min(longestReason, max(40, room/4))), `"`, "'")
		return []string{fmt.Sprintf("%s: what bears on \"%s\", most relevant first; %d of %d pieces of evidence in this range.", source, asked, len(out.Relevant), out.Total)}
	}
	if len(out.Events) == 0 {
		return []string{fmt.Sprintf("%s: there is no evidence here; %d pieces in this range.", source, out.Total)}
	}
	return []string{fmt.Sprintf("%s: the evidence in order, from piece %d (the first is 0) of %d in this range.", source, out.From, out.Total)}
}
