package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
)

// timeline is the part of a watched result that a person reads. Members that are
// not here are in the JSON.
type timeline struct {
	Status           cutroom.Status        `json:"status"`
	PartialReasons   []string              `json:"partial_reasons"`
	DurationSeconds  *cutroom.Micros       `json:"duration_seconds"`
	Mode             string                `json:"mode"`
	TranscriptMethod string                `json:"transcript_method"`
	Timeline         *[]evidence.Event     `json:"timeline"`
	Chapters         []evidence.Chapter    `json:"chapters"`
	Steps            []evidence.Action     `json:"steps"`
	Relevant         []evidence.Ranked     `json:"relevant"`
	Frames           []cutroom.ArtifactRef `json:"frames"`
	Limitations      []string              `json:"limitations"`
}

// timelineOf reads an answer that holds a timeline.
func timelineOf(doc []byte) (timeline, bool) {
	var t timeline
	if json.Unmarshal(doc, &t) != nil || t.Timeline == nil {
		return t, false
	}
	return t, true
}

// write prints the timeline, one event a line.
func (t timeline) write(b *bytes.Buffer) {
	head := []string{string(t.Status)}
	if t.DurationSeconds != nil {
		head = append(head, t.DurationSeconds.Clock())
	}
	if t.Mode != "" {
		head = append(head, clean(t.Mode))
	}
	if t.TranscriptMethod != "" {
		head = append(head, t.saidBy())
	}
	fmt.Fprintln(b, strings.Join(head, " · "))
	switch {
	case len(t.Relevant) == 0 && len(t.Steps) == 0 && len(*t.Timeline) == 0:
		fmt.Fprintln(b, "\nnothing was found")
	case len(t.Relevant) > 0:
		t.writeRelevant(b)
	case len(t.Chapters) > 0:
		t.writeChapters(b)
	case len(t.Steps) > 0:
		t.writeSteps(b)
	case len(*t.Timeline) > 0:
		fmt.Fprintln(b)
		for _, e := range *t.Timeline {
			writeEvent(b, e)
		}
	}
	lines(b, "not complete", t.PartialReasons)
	lines(b, "to know", t.Limitations)
	if len(t.Frames) > 0 {
		fmt.Fprintf(b, "\nframes  %s (%d)", clean(commonFolder(t.Frames)), len(t.Frames))
	}
}

// writeRelevant prints what bears on the question, most relevant first, and why.
func (t timeline) writeRelevant(b *bytes.Buffer) {
	fmt.Fprintln(b)
	for _, r := range t.Relevant {
		writeEvent(b, r.Event)
		fmt.Fprintf(b, "%-25s         because: %s\n", "", clean(r.Why))
	}
}

// writeChapters prints the parts of a recording with the lines that stand for them.
func (t timeline) writeChapters(b *bytes.Buffer) {
	for _, c := range t.Chapters {
		if len(c.Lines) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s – %s", c.StartSeconds.Clock(), c.EndSeconds.Clock())
		if len(c.Keywords) > 0 {
			fmt.Fprintf(b, "  %s", clean(strings.Join(c.Keywords, ", ")))
		}
		fmt.Fprintln(b)
		for _, e := range c.Lines {
			b.WriteString("  ")
			writeEvent(b, e)
		}
	}
}

// writeSteps prints what happened on a screen, one frame's changes together.
func (t timeline) writeSteps(b *bytes.Buffer) {
	step := 0
	for _, a := range t.Steps {
		if a.Step != step {
			step = a.Step
			fmt.Fprintf(b, "\n%d. %s\n", step, a.TimestampSeconds.Clock())
		}
		text := clean(a.Text)
		if a.Before != "" {
			text = clean(a.Before) + " → " + text
		}
		fmt.Fprintf(b, "   %-11s  %s", a.Change, text)
		if x := a.Box; x != nil {
			fmt.Fprintf(b, "  (%d,%d %d×%d)", x[0], x[1], x[2], x[3])
		}
		fmt.Fprintln(b)
	}
}

// symbol marks the kind, so that a column of words can be skimmed.
func symbol(k evidence.Kind) string {
	switch k {
	case evidence.Spoken:
		return "said"
	case evidence.ScreenText:
		return "text"
	case evidence.Visual:
		return "seen"
	case evidence.Scene:
		return "cut"
	case evidence.Silence:
		return "quiet"
	}
	return "?"
}

// saidBy says in words how what was said is known.
func (t timeline) saidBy() string {
	method := t.TranscriptMethod
	switch method {
	case "speech":
		return "by listening"
	case "supplied", "sidecar", "embedded":
		return method + " transcript"
	case "unavailable":
		return "no transcript"
	case "not_requested":
		return "speech was not asked for"
	}
	return clean(method)
}

func writeEvent(b *bytes.Buffer, e evidence.Event) {
	at := e.TimestampSeconds.Clock()
	if e.EndSeconds != nil && *e.EndSeconds > e.TimestampSeconds {
		at += " – " + e.EndSeconds.Clock()
	}
	text := clean(e.Text)
	if e.Speaker != "" {
		text = clean(e.Speaker) + ": " + text
	}
	if e.Confidence == cutroom.Low {
		text += "  (unsure)"
	}
	fmt.Fprintf(b, "%-25s  %-5s  %s\n", at, symbol(e.Kind), text)
}

func lines(b *bytes.Buffer, title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, s := range texts {
		fmt.Fprintln(b, "  -", clean(s))
	}
}
