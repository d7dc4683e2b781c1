package evidence

import "slices"

// A loop is what speech engines do on noise: the same words again and again.
const (
	machineRun   = 4  // equal segments in a row that make a loop of an engine's output
	suppliedRun  = 12 // the same in a text a person may have written: a refrain is shorter
	loopRepeats  = 3  // repeats of a phrase inside one segment …
	loopWords    = 3  // … of at least so many words
	shortRepeats = 8  // repeats of a shorter phrase ("no no no" is speech)
	maxPhrase    = 16 // longest phrase that is looked for
)

// run is a segment, or times equal segments in a row.
type run struct {
	Segment
	times int
}

// findLoops folds runs of equal segments that are loops into one, and marks
// segments that repeat a phrase inside. The input is not changed.
func findLoops(segs []Segment, machine bool) []run {
	limit := suppliedRun
	if machine {
		limit = machineRun
	}
	var out []run
	for i := 0; i < len(segs); {
		said := words(segs[i].Text)
		n := 1
		for len(said) > 0 && i+n < len(segs) && slices.Equal(words(segs[i+n].Text), said) {
			n++
		}
		if n >= limit && len(said) >= 2 {
			s := segs[i]
			s.End = segs[i+n-1].End
			if s.End == nil {
				at := segs[i+n-1].Start
				s.End = &at
			}
			out = append(out, run{s, n})
		} else {
			for _, s := range segs[i : i+n] {
				s.Loop = s.Loop || machine && loops(said)
				out = append(out, run{s, 1})
			}
		}
		i += n
	}
	return out
}

// loops reports whether w holds a phrase that is said several times in a row.
func loops(w []string) bool {
	for n := 1; n <= maxPhrase; n++ {
		need := loopRepeats
		if n < loopWords {
			need = shortRepeats
		}
		same := 0 // words that equal the one n places before, in a row
		for i := n; i < len(w); i++ {
			if w[i] != w[i-n] {
				same = 0
				continue
			}
			if same++; same >= n*(need-1) {
				return true
			}
		}
	}
	return false
}
