package speech

// Lengths of the phrases whose repetition means that the model is caught in a
// loop, in tokens, and how often in a row they must come.
const (
	loopMin   = 3
	loopMax   = 16
	loopTurns = 3
)

// writer collects the tokens of one stretch and knows when to stop.
type writer struct {
	limit int // tokens at most
	ids   []int
	sum   float64 // of the tokens' log-probabilities
	loop  bool
	cut   bool
}

// last returns the token written last, or the one that starts a text.
func (w *writer) last() int {
	if len(w.ids) == 0 {
		return tokenStart
	}
	return w.ids[len(w.ids)-1]
}

// take adds a token and reports whether another one should follow.
func (w *writer) take(token int, logProbability float64) bool {
	if token == tokenEnd {
		return false
	}
	if len(w.ids) >= w.limit {
		w.cut = true
		return false
	}
	w.ids = append(w.ids, token)
	w.sum += logProbability
	w.loop = repetition(w.ids) > 0
	return !w.loop
}

// repetition returns the length of the phrase that ids ends with three times in a
// row, or 0.
func repetition(ids []int) int {
	for n := loopMin; n <= loopMax && loopTurns*n <= len(ids); n++ {
		tail := ids[len(ids)-loopTurns*n:]
		same := true
		for i := n; i < len(tail) && same; i++ {
			same = tail[i] == tail[i-n]
		}
		if same {
			return n
		}
	}
	return 0
}

// result returns the text. Of a loop only the first turn is kept; the score counts
// every token that was written.
func (w *writer) result(v vocabulary) hypothesis {
	h := hypothesis{tokens: len(w.ids), loop: w.loop, cut: w.cut}
	if h.tokens > 0 {
		h.score = w.sum / float64(h.tokens)
	}
	ids := w.ids[:len(w.ids)-(loopTurns-1)*repetition(w.ids)]
	h.text = v.text(ids)
	return h
}
