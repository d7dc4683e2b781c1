package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/evidence"
	rows "cutroom/internal/verdict"
)

// answer is the part of what was asked that a person reads.
type answer struct {
	Status      cutroom.Status        `json:"status"`
	Question    *string               `json:"question"`
	Relevant    *[]evidence.Ranked    `json:"relevant"`
	Timeline    jsontext.Value        `json:"timeline"`
	Frames      []cutroom.ArtifactRef `json:"frames"`
	Limitations []string              `json:"limitations"`
}

// answerOf reads an answer to a question about a recorded result. A watch with a
// question has a timeline as well, and is none.
func answerOf(doc []byte) (answer, bool) {
	var a answer
	err := json.Unmarshal(doc, &a)
	return a, err == nil && a.Question != nil && a.Relevant != nil && a.Timeline == nil
}

// write prints the evidence, most relevant first, and the frames to look at.
func (a answer) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s · %s\n", a.Status, clean(*a.Question))
	if len(*a.Relevant) > 0 {
		timeline{Relevant: *a.Relevant}.writeRelevant(b)
	}
	lines(b, "to know", a.Limitations)
	if len(a.Frames) > 0 {
		fmt.Fprint(b, "\nframes:\n")
	}
	for _, f := range a.Frames {
		fmt.Fprintf(b, "  - %s\n", artifactText(f))
	}
}

// artifactText names a file and, of a frame, its time. Hash and size are in the JSON.
func artifactText(f cutroom.ArtifactRef) string {
	text := clean(f.RelativePath)
	if f.TimestampSeconds != nil {
		text += "  " + f.TimestampSeconds.Clock()
	}
	return text
}

// artifactOf reads an object that is a reference to a file of a result.
func artifactOf(v jsontext.Value) (cutroom.ArtifactRef, bool) {
	var f cutroom.ArtifactRef
	d := json.NewDecoder(bytes.NewReader(v))
	d.DisallowUnknownFields()
	err := d.Decode(&f)
	return f, err == nil && f.RelativePath != "" && f.MediaType != ""
}

// cue is a stretch of a transcript as a person reads it. Confidence and words are in
// the JSON.
type cue struct {
	Start      *cutroom.Micros `json:"start_seconds"`
	End        *cutroom.Micros `json:"end_seconds"`
	Text       *string         `json:"text"`
	Speaker    string          `json:"speaker"`
	Unreliable bool            `json:"unreliable"`
}

// cueOf reads an object that is such a stretch.
func cueOf(v jsontext.Value) (cue, bool) {
	var c cue
	err := json.Unmarshal(v, &c)
	return c, err == nil && c.Start != nil && c.End != nil && c.Text != nil
}

func (c cue) text() string {
	text := clean(*c.Text)
	if c.Speaker != "" {
		text = clean(c.Speaker) + ": " + text
	}
	if c.Unreliable {
		text += "  (unsure)"
	}
	return fmt.Sprintf("%s – %s  %s", c.Start.Clock(), c.End.Clock(), text)
}

// rowOf reads an object that is a row of a check.
func rowOf(v jsontext.Value) (rows.Row, bool) {
	var r rows.Row
	d := json.NewDecoder(bytes.NewReader(v))
	d.DisallowUnknownFields()
	return r, d.Decode(&r) == nil && r.Check != "" && r.Status != ""
}
