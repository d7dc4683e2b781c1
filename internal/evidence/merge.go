package evidence

import (
	"fmt"
	"strings"

	"cutroom"
)

// Inputs is what the stages found. Any part may be empty.
type Inputs struct {
	Segments      []Segment
	SegmentSource string // stage or result id of the segments
	Machine       bool   // the segments come from a speech engine: its loops are looked for
	Screens       []Screen
	Scenes        []Cut
	Silences      []Span
	Black         []Span // black picture
	Freeze        []Span // picture that stands still
	MeasureSource string // stage or result id of scenes, silences, black and freeze
	Visuals       []Observation
	Duration      cutroom.Micros // 0 when unknown: nothing is clamped then
}

// Merge makes the timeline. Speech that is unreliable or looped becomes
// uncertain, never spoken; text that stays on the screen becomes one event with
// an end; times beyond the duration are clamped. The notes say, in our words,
// what was changed; they belong into the result's limitations.
func Merge(in Inputs) (events []Event, notes []string) {
	m := merger{in: in}
	m.speech()
	for _, t := range trackScreens(in.Screens) {
		m.add(t)
	}
	m.scenes()
	m.spans(in.Silences, Silence, "silence")
	m.spans(in.Black, Visual, blackPicture)
	m.spans(in.Freeze, Visual, stillPicture)
	for _, v := range in.Visuals {
		if strings.TrimSpace(v.Text) != "" {
			m.add(Event{TimestampSeconds: v.At, EndSeconds: v.End, Kind: Visual, Text: v.Text, Confidence: v.Confidence, Frame: v.Frame, Box: v.Box, Source: v.Source, Note: v.Note})
		}
	}
	SortEvents(m.events)
	return m.events, m.notes()
}

// What a measurement of the picture says, in our words. A freeze is measured on the
// mean of a small picture, so a clock in its corner may go on.
const (
	blackPicture = "black picture"
	stillPicture = "the picture hardly changes"
)

// measured reports whether e says what was measured rather than what was found.
func measured(e Event) bool {
	return e.Kind == Scene || e.Kind == Silence || e.Kind == Visual && (e.Text == blackPicture || e.Text == stillPicture)
}

// merger collects events and counts what it had to change.
type merger struct {
	in       Inputs
	events   []Event
	early    int // before zero
	late     int // beyond the duration
	backward int // end before start
	loops    int
	doubtful int
}

// add appends e with its times put in order.
func (m *merger) add(e Event) {
	if e.Confidence == "" {
		e.Confidence = cutroom.NotAssessed
	}
	e.UntrustedContent = true
	at, moved := m.clamp(e.TimestampSeconds)
	e.TimestampSeconds = at
	if e.EndSeconds != nil {
		end, endMoved := m.clamp(*e.EndSeconds)
		moved = moved || endMoved
		e.EndSeconds = &end
		if end < at {
			m.backward++
			e.EndSeconds = nil
		}
	}
	if moved {
		e.Note = joinNotes(e.Note, "time set to the length of the clip")
	}
	m.events = append(m.events, e)
}

// clamp puts t into the clip.
func (m *merger) clamp(t cutroom.Micros) (at cutroom.Micros, moved bool) {
	switch {
	case t < 0:
		m.early++
		return 0, true
	case m.in.Duration > 0 && t > m.in.Duration:
		m.late++
		return m.in.Duration, true
	}
	return t, false
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// speech adds the segments.
func (m *merger) speech() {
	for _, r := range findLoops(m.in.Segments, m.in.Machine) {
		s := r.Segment
		e := Event{TimestampSeconds: s.Start, EndSeconds: s.End, Kind: Spoken, Text: s.Text, Confidence: s.Confidence, Score: s.Score, Speaker: s.Speaker, Source: m.in.SegmentSource}
		switch {
		case strings.TrimSpace(s.Text) == "":
			continue
		case r.times > 1:
			m.loops++
			e.Kind, e.Confidence = Uncertain, cutroom.Low
			e.Note = fmt.Sprintf("the transcript repeats these words %d times in a row", r.times)
		case s.Loop:
			m.loops++
			e.Kind, e.Confidence = Uncertain, cutroom.Low
			e.Note = "the speech engine repeated itself"
		case s.Unreliable:
			m.doubtful++
			e.Kind, e.Confidence = Uncertain, cutroom.Low
			e.Note = "the speech engine does not vouch for these words"
		}
		m.add(e)
	}
}

// scenes adds one event per shot. The first one begins at zero.
func (m *merger) scenes() {
	cuts := m.in.Scenes
	if len(cuts) == 0 {
		return
	}
	cuts = sortedCuts(cuts)
	if cuts[0].At > 0 {
		cuts = append([]Cut{{}}, cuts...)
	}
	for i, c := range cuts {
		e := Event{TimestampSeconds: c.At, Kind: Scene, Confidence: cutroom.High, Source: m.in.MeasureSource}
		e.Text = fmt.Sprintf("scene %d of %d", i+1, len(cuts))
		if c.Score > 0 {
			score := c.Score
			e.Score = &score
		}
		switch {
		case i+1 < len(cuts):
			e.EndSeconds = &cuts[i+1].At
		case m.in.Duration > 0:
			end := m.in.Duration
			e.EndSeconds = &end
		}
		m.add(e)
	}
}

// spans adds measured stretches of time.
func (m *merger) spans(spans []Span, kind Kind, text string) {
	for _, s := range spans {
		e := Event{TimestampSeconds: s.Start, EndSeconds: s.End, Kind: kind, Text: text, Confidence: cutroom.High, Source: m.in.MeasureSource}
		if s.End == nil && m.in.Duration > 0 {
			end := max(m.in.Duration, s.Start)
			e.EndSeconds = &end
		}
		m.add(e)
	}
}

// notes says what was changed.
func (m *merger) notes() []string {
	var out []string
	say := func(n int, one, many string) {
		if n == 1 {
			out = append(out, one)
		} else if n > 1 {
			out = append(out, fmt.Sprintf(many, n))
		}
	}
	say(m.early, "1 time before the start was set to zero", "%d times before the start were set to zero")
	say(m.late, "1 time beyond the end of the clip was set to the end", "%d times beyond the end of the clip were set to the end")
	say(m.backward, "1 event ended before it began; its end was left out", "%d events ended before they began; their ends were left out")
	say(m.loops, "1 stretch of speech repeats itself and is marked uncertain", "%d stretches of speech repeat themselves and are marked uncertain")
	say(m.doubtful, "1 stretch of speech is unreliable and is marked uncertain", "%d stretches of speech are unreliable and are marked uncertain")
	return out
}
