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
		head = append(head, "speech: "+clean(t.TranscriptMethod))
	}
	fmt.Fprintln(b, strings.Join(head, " · "))
	if len(*t.Timeline) > 0 {
		fmt.Fprintln(b)
	}
	for _, e := range *t.Timeline {
		writeEvent(b, e)
	}
	lines(b, "not complete", t.PartialReasons)
	lines(b, "to know", t.Limitations)
	if len(t.Frames) > 0 {
		fmt.Fprintf(b, "\nframes  %s (%d)", clean(commonFolder(t.Frames)), len(t.Frames))
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
