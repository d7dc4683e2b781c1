package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cutroom"
)

// selection chooses the lines of a summary: greedy weighted coverage of topics
// under a budget of tokens.
type selection struct {
	quotes   []quote
	chapters []Chapter
	weights  []map[string]float64 // per chapter: what its topics weigh
	seen     []map[string]bool    // per chapter: topics that are mentioned already
	budget   int
	total    float64
	covered  float64
}

// assign puts every quote into its chapter and weighs the topics: one that many
// lines of the chapter mention, and few other chapters, weighs most.
func (s *selection) assign() {
	n := len(s.chapters)
	s.weights, s.seen = make([]map[string]float64, n), make([]map[string]bool, n)
	for c := range s.chapters {
		s.weights[c], s.seen[c] = map[string]float64{}, map[string]bool{}
	}
	holders := map[string]int{}
	for i := range s.quotes {
		q := &s.quotes[i]
		q.chapter = max(0, s.chapterAt(q.TimestampSeconds))
		for _, t := range q.topics {
			if s.weights[q.chapter][t] == 0 {
				holders[t]++
			}
			s.weights[q.chapter][t]++
		}
	}
	for _, w := range s.weights {
		for _, t := range sortedKeys(w) {
			w[t] *= 1 + math.Log(float64(n)/float64(holders[t]))
			s.total += w[t]
		}
	}
}

// sortedKeys fixes the order in which floating numbers are added up.
func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// chapterAt returns the chapter that holds time t.
func (s *selection) chapterAt(t cutroom.Micros) int {
	at := -1
	for i, c := range s.chapters {
		if c.StartSeconds <= t {
			at = i
		}
	}
	return at
}

// keywords names each chapter by its heaviest topics, in the form of their first
// use, and pays for the chapter's head.
func (s *selection) keywords() {
	form := map[string]string{}
	for _, q := range s.quotes {
		for _, w := range words(q.Text) {
			for _, t := range terms(w) {
				if _, ok := form[t]; !ok && len(terms(w)) == 1 {
					form[t] = w
				}
			}
		}
	}
	const most = 4
	for i := range s.chapters {
		w := s.weights[i]
		keys := sortedKeys(w)
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(w[b], w[a]) })
		for _, k := range keys {
			if len(s.chapters[i].Keywords) == most {
				break
			}
			if name := form[k]; name != "" && len([]rune(name)) > 2 && strings.Trim(name, "0123456789") != "" {
				s.chapters[i].Keywords = append(s.chapters[i].Keywords, name)
			}
		}
		s.budget -= EstimateTokens(chapterHead(s.chapters[i])) + 1
	}
}

// gain is what quoting q adds per unit of cost. Doubtful and unsure lines count
// for less.
func (s *selection) gain(q *quote) float64 {
	sum := 0.0
	for _, t := range q.topics {
		if !s.seen[q.chapter][t] {
			sum += s.weights[q.chapter][t]
		}
	}
	if q.Kind == Uncertain || q.Confidence == cutroom.Low {
		sum *= 0.4
	}
	return sum / math.Sqrt(float64(q.cost))
}

func cost(e Event) int { return EstimateTokens(quoteLine(e)) + 1 }

// take quotes q when it fits, and reports whether it did.
func (s *selection) take(q *quote, e Event) bool {
	c := cost(e)
	if c > s.budget {
		return false
	}
	s.budget -= c
	q.used = true
	for _, t := range topics(e.Text) {
		if w := s.weights[q.chapter][t]; w > 0 && !s.seen[q.chapter][t] {
			s.seen[q.chapter][t] = true
			s.covered += w
		}
	}
	lines := append(s.chapters[q.chapter].Lines, e)
	SortEvents(lines)
	s.chapters[q.chapter].Lines = lines
	return true
}

// firstLines gives each chapter its best line of what was said and its best line of
// what was shown, cut short when the budget is: a viewer wants both witnesses.
func (s *selection) firstLines() {
	for _, spoken := range []bool{true, false} {
		for c := range s.chapters {
			best := s.best(c, spoken)
			if best == nil {
				continue
			}
			share := max(longestQuote, s.budget/(len(s.chapters)-c))
			s.take(best, excerpt(best.Event, min(share, s.budget)))
		}
	}
}

// best returns the line of chapter c that adds most, nil when there is none. A line
// of the other witness that adds nothing to what was said is not one.
func (s *selection) best(c int, spoken bool) *quote {
	var best *quote
	least := -1.0
	if !spoken && len(s.chapters[c].Lines) > 0 {
		least = 0
	}
	for i := range s.quotes {
		q := &s.quotes[i]
		if q.chapter != c || (q.Kind == Spoken) != spoken {
			continue
		}
		if g := s.gain(q); g > least {
			best, least = q, g
		}
	}
	return best
}

// excerpt shortens e's text to about most tokens, at a word.
func excerpt(e Event, most int) Event {
	if cost(e) <= most {
		return e
	}
	if !strings.HasSuffix(e.Note, partNote) {
		e.Note = joinNotes(e.Note, partNote)
	}
	rs := []rune(e.Text)
	n := len(rs)
	for n > 0 {
		e.Text = strings.TrimSpace(string(rs[:n])) + "…"
		if cost(e) <= most {
			return e
		}
		n = n * 4 / 5
	}
	return e
}

// frames gives each chapter the frame nearest to its middle, when it fits.
func (s *selection) frames(refs []cutroom.ArtifactRef) {
	for i := range s.chapters {
		c := &s.chapters[i]
		middle := c.StartSeconds + (c.EndSeconds-c.StartSeconds)/2
		best := -1
		for j, r := range refs {
			if r.TimestampSeconds == nil || s.chapterAt(*r.TimestampSeconds) != i {
				continue
			}
			if best < 0 || gapTo(*r.TimestampSeconds, middle) < gapTo(*refs[best].TimestampSeconds, middle) {
				best = j
			}
		}
		if best < 0 {
			continue
		}
		if price := EstimateTokens(frameLine(refs[best])) + 1; price <= s.budget {
			s.budget -= price
			c.Frames = append(c.Frames, refs[best])
		}
	}
}

// moreLines quotes on, the line that adds most first, until the clip is covered.
func (s *selection) moreLines() {
	for s.covered < enoughCoverage*s.total {
		best, bestGain := -1, 0.0
		for i := range s.quotes {
			if q := &s.quotes[i]; !q.used && q.cost <= s.budget {
				if g := s.gain(q); g > bestGain {
					best, bestGain = i, g
				}
			}
		}
		if best < 0 || !s.take(&s.quotes[best], s.quotes[best].Event) {
			return
		}
	}
}
