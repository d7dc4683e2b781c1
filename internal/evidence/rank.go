package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cutroom"
)

// RankOptions says how [Rank] looks. The zero value is right.
type RankOptions struct {
	Max      int            // most events returned; 0 means 20
	Nearby   cutroom.Micros // how far evidence near a match still counts; 0 means 8 s
	Duration cutroom.Micros // for "the last ten seconds" and "at the end"; 0 means the last event
}

// Ranked is an event that bears on a question.
type Ranked struct {
	Event Event   `json:"event" doc:"The evidence."`
	Score float64 `json:"score" doc:"How relevant it is; 1 is the most relevant."`
	Why   string  `json:"why" doc:"Why it was kept."`
}

// The constants of BM25 (Robertson and Zaragoza 2009) and the weights of the
// other signals, on a scale where the best text match is 1.
const (
	bm25K        = 1.2
	bm25B        = 0.75
	namedWeight  = 1.2 // the event is at a time that the question names
	nearbyWeight = 0.4 // the event is beside the best match
	leastScore   = 0.08
	doubtFactor  = 0.6 // for uncertain events
)

// Rank returns the events that bear on question, most relevant first: by BM25
// over speech, screen text and observations, by times that the question names
// ("at 0:40", "after two minutes", "the last 10 seconds"), and by nearness in
// time to what matches. Nothing that matches is an empty answer, not a guess.
func Rank(question string, events []Event, opt RankOptions) []Ranked {
	if opt.Max <= 0 {
		opt.Max = 20
	}
	if opt.Nearby <= 0 {
		opt.Nearby = 8 * cutroom.Second
	}
	for _, e := range events {
		opt.Duration = max(opt.Duration, e.end())
	}
	named, rest := namedTimes(question, opt.Duration)
	scores, why := matchText(rest, events)
	addNearby(scores, why, events, opt.Nearby)
	addNamed(scores, why, events, named)
	return topRanked(scores, why, events, opt.Max)
}

// matchText scores each event by BM25; the best gets 1.
func matchText(question string, events []Event) (scores []float64, why [][]string) {
	scores, why = make([]float64, len(events)), make([][]string, len(events))
	query := topics(question)
	if len(query) == 0 {
		query = terms(question)
	}
	slices.Sort(query)
	query = slices.Compact(query)
	asked := wordsOfTerms(question)
	docs := make([]map[string]int, len(events))
	lengths := make([]int, len(events))
	total, holders, texts := 0, map[string]int{}, 0
	for i, e := range events {
		if measured(e) {
			continue // our own words
		}
		ts := terms(e.Text)
		docs[i] = make(map[string]int, len(ts))
		for _, t := range ts {
			if docs[i][t]++; docs[i][t] == 1 {
				holders[t]++
			}
		}
		lengths[i] = len(ts)
		total += len(ts)
		texts++
	}
	best := 0.0
	for i, d := range docs {
		for _, q := range query {
			if d[q] == 0 {
				continue
			}
			idf := math.Log(1 + (float64(texts-holders[q])+0.5)/(float64(holders[q])+0.5))
			tf := float64(d[q])
			length := float64(lengths[i]) * float64(texts) / float64(max(total, 1))
			scores[i] += idf * tf * (bm25K + 1) / (tf + bm25K*(1-bm25B+bm25B*length))
			why[i] = append(why[i], asked[q])
		}
		if events[i].Kind == Uncertain {
			scores[i] *= doubtFactor
		}
		best = max(best, scores[i])
	}
	for i := range scores {
		if best > 0 {
			scores[i] /= best
		}
		if len(why[i]) > 0 {
			why[i] = []string{"matches " + strings.Join(why[i], ", ")}
		}
	}
	return scores, why
}

// addNearby raises what stands beside a match of another source: what was on the
// screen while the words were said.
func addNearby(scores []float64, why [][]string, events []Event, nearby cutroom.Micros) {
	type match struct {
		i     int
		score float64
	}
	var matches []match
	for i, s := range scores {
		if s >= 0.5 {
			matches = append(matches, match{i, s})
		}
	}
	for i, e := range events {
		if measured(e) {
			continue // a silence beside a match says nothing about it
		}
		best, from := 0.0, -1
		for _, m := range matches {
			if m.i == i {
				continue
			}
			d := apart(e, events[m.i])
			if s := nearbyWeight * m.score * (1 - float64(d)/float64(nearby)); d < nearby && s > best {
				best, from = s, m.i
			}
		}
		if from >= 0 && best > 0 {
			scores[i] += best
			why[i] = append(why[i], besideMatch(apart(e, events[from]), events[from].TimestampSeconds))
		}
	}
}

// besideMatch says how far a match is, and where.
func besideMatch(apart, at cutroom.Micros) string {
	if apart == 0 {
		return "at the same time as the match at " + at.Clock()
	}
	return fmt.Sprintf("within %s s of the match at %s", roundUp(apart), at.Clock())
}

// roundUp returns t in seconds, rounded up to a tenth.
func roundUp(t cutroom.Micros) cutroom.Micros {
	const tenth = cutroom.Second / 10
	return (t + tenth - 1) / tenth * tenth
}

// apart is the time between two events, 0 when they overlap.
func apart(a, b Event) cutroom.Micros {
	return max(0, a.TimestampSeconds-b.end(), b.TimestampSeconds-a.end())
}

// addNamed raises what stands at the times that the question names.
func addNamed(scores []float64, why [][]string, events []Event, named []namedTime) {
	for i, e := range events {
		best, name := 0.0, ""
		for _, n := range named {
			d := max(0, e.TimestampSeconds-n.to, n.from-e.end())
			if s := namedWeight * math.Exp(-d.Seconds()/n.slack.Seconds()); s > best && s > 0.05 {
				best, name = s, n.words
			}
		}
		if best > 0 {
			scores[i] += best
			why[i] = append(why[i], fmt.Sprintf("at the time named (%s)", name))
		}
	}
}

// topRanked orders what scored and scales the best to 1.
func topRanked(scores []float64, why [][]string, events []Event, most int) []Ranked {
	best := 0.0
	for _, s := range scores {
		best = max(best, s)
	}
	out := []Ranked{}
	for i, s := range scores {
		if best > 0 && s/best >= leastScore {
			out = append(out, Ranked{Event: events[i], Score: math.Round(s/best*1e4) / 1e4, Why: strings.Join(why[i], "; ")})
		}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Event.TimestampSeconds, b.Event.TimestampSeconds))
	})
	return out[:min(len(out), most)]
}
