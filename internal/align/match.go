package align

import (
	"math"
	"slices"

	"cutroom"
)

// Match is how a second recording lies to a reference: time t of it is time
// Offset + t/(1 + Drift) of the reference, both on their public axes.
type Match struct {
	Found      bool
	Reason     string  // why not, in words
	Offset     float64 // seconds; positive: the second started later
	Drift      float64 // how much faster the second's clock runs: 1e-6 is one millionth
	DriftDoubt float64 // standard deviation of Drift
	Confidence float64 // 0 to 1: how far the best answer lies above the second best
	Score      float64 // standard deviations of the best answer above chance
	RunnerUp   *Answer // the second best, when there is one
	ByWaves    bool    // the waveforms agree; otherwise the course of the spectrum alone, to some milliseconds
	Windows    int     // stretches whose waveforms were compared
	Agreeing   int     // of them, how many lie within a millisecond of the line
	Elsewhere  int     // of them, how many fit well, but elsewhere
	Scatter    float64 // root mean square of the agreeing ones' distances, seconds
	From, To   float64 // what was compared of the overlap, on the reference's axis, seconds
	Inverted   bool    // the waveforms have opposite signs

	points []point // on the public axes, in samples
}

// Answer is one way in which the recordings may lie.
type Answer struct {
	Offset     float64 // seconds
	Confidence float64 // 0 to 1, were it the best
	Score      float64
}

// Threshold is the least confidence of a match.
const Threshold = 0.6

const (
	examined = 4 // how many answers are held against each other
	// chance is a score that the best of all lags reaches without any match. Below it no
	// second answer counts for less.
	chance = 5.5
	// few is what a single stretch adds to that: two voices of one pitch and two songs of
	// one key are alike for a second.
	few = 7
	// solid is a score of waveforms that chance does not reach.
	solid = 7
)

// judged is a candidate with its waveforms compared.
type judged struct {
	coarse candidate
	line   fitted
	wave   float64 // standard deviations above chance
	list   []window
	sign   float64
	points []point
}

// score joins what the two measurements say.
func (j *judged) score() float64 { return math.Hypot(j.coarse.score, j.wave) }

// Compare finds how b lies to a.
func Compare(a, b *Sound) Match {
	for i, s := range []*Sound{a, b} {
		s.listen()
		name := [...]string{"the reference", "the second recording"}[i]
		switch {
		case !s.loud:
			return Match{Reason: name + " is silent"}
		case !s.varied:
			return Match{Reason: name + " holds nothing but a steady sound, which fits anywhere"}
		}
	}
	rows := correlate(a, b)
	c := newComparer()
	var list []judged
	for _, k := range search(a, b, rows, examined) {
		list = append(list, c.judge(a, b, rows, k))
		if len(list) == 2 && list[0].score() > 4*list[1].score() {
			break
		}
	}
	if len(list) == 0 {
		return Match{Reason: "too little sound to compare"}
	}
	slices.SortStableFunc(list, func(x, y judged) int {
		switch dx, dy := x.score(), y.score(); {
		case dx > dy:
			return -1
		case dx < dy:
			return 1
		}
		return 0
	})
	return conclude(a, b, list)
}

// judge compares the waveforms along a candidate.
func (c *comparer) judge(a, b *Sound, rows [][]float32, k candidate) judged {
	j := judged{coarse: k, sign: 1}
	rough := line{offset: k.offset * hop, slope: k.slope}
	if j.list = c.windowsAlong(a.pcm, b.pcm, rough, windows); len(j.list) > 0 {
		overlap := min(float64(len(a.pcm)), rough.at(float64(len(b.pcm)))) - max(0, rough.offset)
		wide := min(2*maxDrift, 3*hop/max(1, overlap)) // three frames over the overlap
		var l line
		l, j.wave, j.sign = stack(j.list, rough, wide)
		j.points = points(j.list, l, j.sign)
		j.line = fit(j.points, l, near)
	}
	if j.wave < solid || j.line.agree == 0 {
		j.line = fit(coursePoints(b, rows, rough), rough, hop)
		j.points = nil
	}
	return j
}

// conclude turns the judged candidates into an answer.
func conclude(a, b *Sound, list []judged) Match {
	best := list[0]
	m := Match{Score: best.score(), ByWaves: len(best.points) > 0, Windows: len(best.list), Inverted: best.sign < 0}
	rival := chance + few/float64(max(1, m.Windows))
	if len(list) > 1 {
		second := list[1]
		rival = max(rival, second.score())
		offset, _ := public(a, b, second.line.line)
		m.RunnerUp = &Answer{Offset: offset, Score: second.score(), Confidence: max(0, 1-square(chance/second.score()))}
	}
	m.Confidence = max(0, 1-square(rival/m.Score))
	m.Found = m.Confidence >= Threshold
	if !m.Found {
		m.Reason = "no confident match: the best answer is hardly better than the second best"
	}
	shift := a.start.Seconds()*Rate - b.start.Seconds()*Rate
	for _, p := range best.points {
		m.points = append(m.points, point{p.t + b.start.Seconds()*Rate, p.lag + shift, p.weight})
	}
	if m.ByWaves {
		m.Elsewhere = elsewhere(best.list, best.line.line, best.sign)
	} else {
		m.Inverted = false
	}
	m.Offset, m.Drift = public(a, b, best.line.line)
	m.take(best.line)
	m.From = max(a.start.Seconds(), m.Reference(b.start.Seconds()))
	m.To = min((a.start + a.Length()).Seconds(), m.Reference((b.start + b.Length()).Seconds()))
	return m
}

// public turns a line of samples into an offset in seconds and a drift on the public
// axes.
func public(a, b *Sound, l line) (offset, drift float64) {
	return a.start.Seconds() + l.offset/Rate - (1+l.slope)*b.start.Seconds(), 1/(1+l.slope) - 1
}

// take takes over how well a line fits.
func (m *Match) take(f fitted) {
	m.DriftDoubt, m.Agreeing, m.Scatter = f.deviation, 0, 0
	if m.ByWaves {
		m.Agreeing, m.Scatter = f.agree, f.rms/Rate
	}
}

// Reference returns the time of the reference at time t of the second recording, in
// seconds.
func (m *Match) Reference(t float64) float64 { return m.Offset + t/(1+m.Drift) }

// Second returns the time of the second recording at time t of the reference.
func (m *Match) Second(t float64) float64 { return (t - m.Offset) * (1 + m.Drift) }

// Extend makes a match that was found more exact by later stretches of the same two
// recordings, which lie where the match says. It reports whether their waveforms fit.
func (m *Match) Extend(a, b *Sound) bool {
	slope := 1/(1+m.Drift) - 1
	at, bt := a.start.Seconds()*Rate, b.start.Seconds()*Rate
	// Line of the stretches' own samples.
	l := line{offset: m.Offset*Rate + (1+slope)*bt - at, slope: slope}
	list := newComparer().windowsAlong(a.pcm, b.pcm, l, windows/3)
	if len(list) == 0 {
		return false
	}
	l, score, sign := stack(list, l, 0)
	found := points(list, l, sign)
	if m.Windows += len(list); score < solid || len(found) == 0 || sign < 0 != m.Inverted {
		return false
	}
	m.Elsewhere += elsewhere(list, l, sign)
	for _, p := range found {
		m.points = append(m.points, point{p.t + bt, p.lag + at - bt, p.weight})
	}
	whole := fit(m.points, line{offset: m.Offset * Rate, slope: slope}, near)
	m.Offset, m.Drift = whole.offset/Rate, 1/(1+whole.slope)-1
	m.take(whole)
	m.To = max(m.To, min((a.start+a.Length()).Seconds(), m.Reference((b.start+b.Length()).Seconds())))
	return true
}

// Later returns where on the two recordings' axes a stretch of that length lies that
// ends where the overlap does, for recordings that last as long as given. It is false
// when no more than what was compared is there.
func (m *Match) Later(reference, second, length cutroom.Micros) (a, b cutroom.Micros, ok bool) {
	end := min(reference.Seconds(), m.Reference(second.Seconds()))
	start := end - length.Seconds()
	if !m.Found || start <= m.To {
		return 0, 0, false
	}
	return cutroom.MicrosOf(start), cutroom.MicrosOf(m.Second(start)), true
}

// elsewhere counts the windows that have a clear peak, but not at l.
func elsewhere(list []window, l line, sign float64) (n int) {
	for _, w := range list {
		best, peak := 0, 0.0
		for i, v := range w.curve {
			if sign*float64(v) > peak {
				best, peak = i, sign*float64(v)
			}
		}
		if off := math.Abs(w.lag(float64(best)) - (l.at(w.middle) - w.middle)); peak > 10 && off > 2*agreeing {
			n++
		}
	}
	return n
}
