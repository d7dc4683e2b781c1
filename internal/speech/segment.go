package speech

// The rules of segmentation, found by measuring the word error of the speech model
// on human recordings: with half the padding or shorter gaps it lost words.
const (
	voiceOn  = 0.5  // a frame at least this probable begins speech
	voiceOff = 0.35 // a frame less probable counts as silence

	endSilence = SampleRate * 3 / 10 // this much silence ends a stretch of speech
	joinGap    = SampleRate * 12 / 10
	maxSegment = SampleRate * 15
	padding    = SampleRate / 4 // heard before and after the speech
	minSpeech  = SampleRate / 5 // less than this is a click, not a word
)

// span is a stretch of samples, [start, end).
type span struct{ start, end int64 }

func (s span) length() int64 { return s.end - s.start }

// stretch is speech to be transcribed: where it is, and which samples the model
// should hear, pauses around it included.
type stretch struct{ speech, audio span }

// segmenter cuts a recording into stretches from the probabilities of its frames.
// It sees each frame once, answers in order, and never has to look back further
// than [segmenter.needed].
type segmenter struct {
	next int64 // first sample of the frame to come

	open    bool // speech is going on
	raw     span // the speech going on; its end is the last voiced frame's
	probs   []float32
	pending span  // speech that a neighbour may still join; empty when there is none
	said    int64 // end of the stretch given out last; -1 before the first
	gap     int64 // neighbours closer than this are one stretch
}

func newSegmenter() *segmenter { return &segmenter{said: -1, gap: joinGap} }

// push takes the next frame's probability of speech and appends the stretches that
// it completes to out.
func (s *segmenter) push(p float32, out []stretch) []stretch {
	at := s.next
	s.next += frameSize
	switch {
	case !s.open && p >= voiceOn:
		s.open, s.raw, s.probs = true, span{at, s.next}, s.probs[:0]
		s.probs = append(s.probs, p)
	case s.open:
		s.probs = append(s.probs, p)
		if p >= voiceOff {
			s.raw.end = s.next
		}
		if s.raw.length() > maxSegment {
			out = s.split(out)
		}
		if s.next-s.raw.end >= endSilence {
			s.open = false
			out = s.join(s.raw, out)
		}
	}
	if !s.open && s.pending.length() > 0 && s.next-s.pending.end >= s.gap {
		out = s.give(s.next, out)
	}
	return out
}

// finish ends the recording at the given number of samples.
func (s *segmenter) finish(total int64, out []stretch) []stretch {
	if s.open {
		s.open = false
		out = s.join(s.raw, out)
	}
	// Behind the end nobody claims the other half of the pause.
	out = s.give(total+2*padding, out)
	for i := range out {
		clamp(&out[i].speech, total)
		clamp(&out[i].audio, total)
	}
	return out
}

func clamp(s *span, total int64) { s.start, s.end = min(s.start, total), min(s.end, total) }

// split divides speech without a pause that became too long at its least voiced
// frame in the second half.
func (s *segmenter) split(out []stretch) []stretch {
	const from, to = maxSegment / 2 / frameSize, maxSegment / frameSize
	cut := from
	for i := from; i < to; i++ {
		if s.probs[i] < s.probs[cut] {
			cut = i
		}
	}
	at := s.raw.start + int64(cut)*frameSize
	out = s.join(span{s.raw.start, at}, out)
	s.raw.start = at
	s.probs = append(s.probs[:0], s.probs[cut:]...)
	return out
}

// join makes speech part of the pending stretch, or gives that out and starts anew.
func (s *segmenter) join(speech span, out []stretch) []stretch {
	if speech.length() < minSpeech {
		// The rest of a split is no click: the piece before it takes it in.
		if s.pending.length() > 0 && speech.start == s.pending.end {
			s.pending.end = speech.end
		}
		return out
	}
	if s.pending.length() > 0 {
		if speech.start-s.pending.end < s.gap && speech.end-s.pending.start <= maxSegment {
			s.pending.end = speech.end
			return out
		}
		out = s.give(speech.start, out)
	}
	s.pending = speech
	return out
}

// give appends the pending stretch; following is where the next speech begins at
// the earliest. Neighbours share a short pause by halves, so that no word is heard
// twice.
func (s *segmenter) give(following int64, out []stretch) []stretch {
	p := s.pending
	s.pending = span{}
	if p.length() == 0 {
		return out
	}
	before := min(padding, p.start)
	if s.said >= 0 {
		before = min(before, (p.start-s.said)/2)
	}
	after := min(padding, (following-p.end)/2)
	s.said = p.end
	return append(out, stretch{speech: p, audio: span{p.start - before, p.end + after}})
}

// needed returns the first sample that a later stretch may still want to hear.
func (s *segmenter) needed() int64 {
	at := s.next
	if s.open {
		at = s.raw.start
	}
	if s.pending.length() > 0 {
		at = min(at, s.pending.start)
	}
	return max(0, at-padding)
}
