package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
)

// quote is a line that a summary may show: a sentence of speech, put together
// from its cues, or the text of a screen.
type quote struct {
	Event
	topics  []string // distinct
	cost    int      // tokens when rendered
	chapter int
	used    bool
}

// partNote says that a line is not the whole text of its event.
const partNote = "part of a longer text"

const (
	joinGap   = cutroom.Second // cues further apart are different sentences
	joinWords = 30             // longest sentence put together
	longWords = 45             // longer texts are split at sentences
)

// quotes makes the lines that a summary chooses from, in order of time.
func quotes(events []Event) []quote {
	var out []quote
	sentence := -1 // index in out of speech that has not ended
	for _, e := range events {
		if measured(e) || strings.TrimSpace(e.Text) == "" {
			continue
		}
		if e.Kind != Spoken {
			out = append(out, splitQuote(e)...)
			continue
		}
		if sentence >= 0 && continues(out[sentence].Event, e) {
			open := &out[sentence]
			open.Text += " " + e.Text
			open.EndSeconds = e.EndSeconds
		} else {
			out = append(out, splitQuote(e)...)
			sentence = len(out) - 1
		}
	}
	for i := range out {
		t := topics(out[i].Text)
		slices.Sort(t)
		out[i].topics = slices.Compact(t)
		out[i].cost = cost(out[i].Event)
	}
	return out
}

// continues reports whether speech b goes on in the sentence that a began.
func continues(a, b Event) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(a.Text))
	return a.EndSeconds != nil && a.Speaker == b.Speaker && !strings.ContainsRune(".!?…。！？♪]", last) &&
		b.TimestampSeconds-*a.EndSeconds < joinGap && b.TimestampSeconds >= a.TimestampSeconds &&
		len(strings.Fields(a.Text))+len(strings.Fields(b.Text)) <= joinWords
}

// splitQuote splits a long text at the ends of sentences and lines. The parts
// share its times.
func splitQuote(e Event) []quote {
	if len(strings.Fields(e.Text)) <= longWords && utf8.RuneCountInString(e.Text) <= 8*longWords {
		return []quote{{Event: e}}
	}
	var out []quote
	for rest := e.Text; rest != ""; {
		n := sentenceEnd(rest)
		if text := strings.TrimSpace(rest[:n]); text != "" {
			part := e
			part.Text, part.Note = text, joinNotes(e.Note, partNote)
			out = append(out, quote{Event: part})
		}
		rest = rest[n:]
	}
	return out
}

// sentenceEnd returns where the first sentence of s ends: after its mark and
// before a space, at a line end, or after 8·longWords bytes.
func sentenceEnd(s string) int {
	for i, r := range s {
		after := i + utf8.RuneLen(r)
		switch {
		case r == '\n' || strings.ContainsRune("。！？", r):
			return after
		case strings.ContainsRune(".!?…", r) && (after == len(s) || s[after] == ' ' || s[after] == '\n'):
			return after
		case i >= 8*longWords && (r == ' ' || i >= 16*longWords):
			return after
		}
	}
	return len(s)
}

// chapterBounds returns where the chapters begin, zero first. A boundary needs
// evidence: the words change, and a cut or a pause, or the words change wholly.
func chapterBounds(q []quote, events []Event, duration cutroom.Micros, most int) []cutroom.Micros {
	least := max(4*cutroom.Second, duration/20)
	type candidate struct {
		at    cutroom.Micros
		score float64
	}
	var found []candidate
	marks := newMarks(events)
	for i := 1; i < len(q); i++ {
		at := q[i].TimestampSeconds
		found = append(found, candidate{at, 0.6*topicShift(q, i) + marks.weight(at, q[i-1].end())})
	}
	for _, e := range events {
		if e.Kind == Scene && e.TimestampSeconds > 0 {
			i, _ := slices.BinarySearchFunc(q, e.TimestampSeconds, func(x quote, t cutroom.Micros) int { return cmp.Compare(x.TimestampSeconds, t) })
			found = append(found, candidate{e.TimestampSeconds, 0.6*topicShift(q, i) + marks.weight(e.TimestampSeconds, e.TimestampSeconds)})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at))
	})
	bounds := []cutroom.Micros{0}
	const enough = 0.5
	for _, f := range found {
		if len(bounds) >= most || f.score < enough {
			break
		}
		near := func(b cutroom.Micros) bool { return gapTo(b, f.at) < least }
		if !slices.ContainsFunc(bounds, near) && duration-f.at >= least {
			bounds = append(bounds, f.at)
		}
	}
	slices.Sort(bounds)
	return bounds
}

// shiftWindow is how many lines on each side are compared.
const shiftWindow = 6

// topicShift is 1 minus the cosine of the topics before and after line i; 0.5
// when there are too few words to tell.
func topicShift(q []quote, i int) float64 {
	count := func(from, to int) (map[string]float64, float64) {
		m := map[string]float64{}
		for _, x := range q[max(0, from):min(len(q), to)] {
			for _, t := range x.topics {
				m[t]++
			}
		}
		sum := 0.0
		for _, v := range m {
			sum += v * v
		}
		return m, math.Sqrt(sum)
	}
	before, nb := count(i-shiftWindow, i)
	after, na := count(i, i+shiftWindow)
	if len(before) < 4 || len(after) < 4 {
		return 0.5
	}
	dot := 0.0
	for t, v := range before {
		dot += v * after[t]
	}
	return 1 - dot/(nb*na)
}

// marks are the times of cuts and of the ends of silences.
type marks struct{ cuts, pauses []cutroom.Micros }

func newMarks(events []Event) marks {
	var m marks
	for _, e := range events {
		switch {
		case e.Kind == Scene && e.TimestampSeconds > 0:
			m.cuts = append(m.cuts, e.TimestampSeconds)
		case e.Kind == Silence:
			m.pauses = append(m.pauses, e.end())
		}
	}
	slices.Sort(m.cuts)
	slices.Sort(m.pauses)
	return m
}

// weight is how much a cut or a pause speaks for a boundary at t; before is the
// end of the line before it.
func (m marks) weight(t, before cutroom.Micros) float64 {
	w := 0.0
	if within(m.cuts, t, cutroom.Second) {
		w += 0.25
	}
	if within(m.pauses, t, cutroom.Second) || t-before >= 2*cutroom.Second {
		w += 0.15
	}
	return w
}

// within reports whether sorted holds a time at most d from t.
func within(sorted []cutroom.Micros, t, d cutroom.Micros) bool {
	i, _ := slices.BinarySearch(sorted, t-d)
	return i < len(sorted) && sorted[i] <= t+d
}
