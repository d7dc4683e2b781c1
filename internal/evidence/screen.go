package evidence

import (
	"cmp"
	"slices"
	"strings"

	"cutroom"
)

// track is one line of text while it stays on the screen.
type track struct {
	text        string
	best        float64 // score of text
	box         *Box
	frame       *cutroom.ArtifactRef
	source      string
	confidence  cutroom.Confidence
	score       *float64
	first, last cutroom.Micros
	order       int // reading order on the first screen
	seen        int // number of screens
}

// trackScreens follows lines from screen to screen. Lines that appear together
// and leave together become one event: its text is their lines in reading order,
// its end the last frame they were seen in (absent when they were seen once).
func trackScreens(screens []Screen) []Event {
	var open, done []*track
	for _, s := range sortedScreens(screens) {
		pairs := matchLines(s.Lines, open)
		var next []*track
		taken := make(map[*track]bool, len(open))
		for i, l := range s.Lines {
			if strings.TrimSpace(l.Text) == "" {
				continue
			}
			t := pairs[i]
			if t == nil {
				t = &track{first: s.At, frame: s.Frame, source: s.Source, order: i}
			}
			t.see(l, s.At)
			taken[t] = true
			next = append(next, t)
		}
		for _, t := range open {
			if !taken[t] {
				done = append(done, t)
			}
		}
		open = next
	}
	return groupTracks(append(done, open...))
}

// see records one more reading of the line; the surest one is kept.
func (t *track) see(l ScreenLine, at cutroom.Micros) {
	score := -1.0
	if l.Score != nil {
		score = *l.Score
	}
	if t.seen == 0 || score > t.best {
		t.text, t.best, t.score, t.confidence = l.Text, score, l.Score, l.Confidence
	}
	if t.seen == 0 {
		t.box = l.Box
	}
	t.last = at
	t.seen++
}

// sortedScreens orders screens by time without changing the input.
func sortedScreens(screens []Screen) []Screen {
	out := slices.Clone(screens)
	slices.SortStableFunc(out, func(a, b Screen) int { return cmp.Compare(a.At, b.At) })
	return out
}

// fuzzyBudget bounds the costly comparisons of two screens, so that frames full of
// made-up text cost no more than others; beyond it only equal lines match.
const fuzzyBudget = 2000

// matchLines finds, for each line, the open track that shows the same text:
// equal text first, then text that a reader could have misread; among several the
// nearest. A track is used once.
func matchLines(lines []ScreenLine, open []*track) []*track {
	out := make([]*track, len(lines))
	used := make(map[*track]bool, len(open))
	keys := make([]lineKey, len(open))
	for i, t := range open {
		keys[i] = newLineKey(t.text)
	}
	budget := fuzzyBudget
	for _, exact := range []bool{true, false} {
		for i, l := range lines {
			if out[i] != nil {
				continue
			}
			key := newLineKey(l.Text)
			same := func(k lineKey) bool {
				if exact {
					return k.skeleton == key.skeleton
				}
				if budget == 0 || !key.comparable(k) {
					return false
				}
				budget--
				return key.similar(k)
			}
			var best *track
			for j, t := range open {
				if !used[t] && (best == nil || distance(l.Box, t.box) < distance(l.Box, best.box)) && same(keys[j]) {
					best = t
				}
			}
			if best != nil {
				out[i], used[best] = best, true
			}
		}
	}
	return out
}

// distance is how far apart the top left corners of two boxes are, 0 when a box
// is unknown.
func distance(a, b *Box) int {
	if a == nil || b == nil {
		return 0
	}
	return abs(a[0]-b[0]) + abs(a[1]-b[1])
}

func abs(n int) int { return max(n, -n) }

// groupTracks makes events of the tracks: one per set of lines with the same
// first and last time and the same frame.
func groupTracks(tracks []*track) []Event {
	slices.SortStableFunc(tracks, func(a, b *track) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last), cmp.Compare(a.order, b.order))
	})
	var out []Event
	for i := 0; i < len(tracks); {
		n := i
		for n < len(tracks) && tracks[n].first == tracks[i].first && tracks[n].last == tracks[i].last {
			n++
		}
		out = append(out, groupEvent(tracks[i:n]))
		i = n
	}
	return out
}

// groupEvent is the event of lines that share their times. Its confidence and
// score are those of the least sure line.
func groupEvent(group []*track) Event {
	first := group[0]
	e := Event{TimestampSeconds: first.first, Kind: ScreenText, Frame: first.frame, Source: first.source, Confidence: first.confidence, Score: first.score}
	if first.last > first.first {
		end := first.last
		e.EndSeconds = &end
	}
	texts := make([]string, len(group))
	for i, t := range group {
		texts[i] = t.text
		e.Box = union(e.Box, t.box)
		if grade(t.confidence) < grade(e.Confidence) {
			e.Confidence = t.confidence
		}
		if t.score != nil && (e.Score == nil || *t.score < *e.Score) {
			e.Score = t.score
		}
	}
	e.Text = strings.Join(texts, "\n")
	return e
}

// grade orders confidences; what was not assessed is below what was.
func grade(c cutroom.Confidence) int {
	return slices.Index([]cutroom.Confidence{cutroom.NotAssessed, cutroom.Low, cutroom.Medium, cutroom.High}, c)
}

// union returns the smallest box around both, sharing neither.
func union(a, b *Box) *Box {
	switch {
	case b == nil:
		return a
	case a == nil:
		c := *b
		return &c
	}
	x, y := min(a[0], b[0]), min(a[1], b[1])
	return &Box{x, y, max(a[0]+a[2], b[0]+b[2]) - x, max(a[1]+a[3], b[1]+b[3]) - y}
}
