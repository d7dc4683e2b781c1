package speech

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// segments runs the segmenter over the probabilities of a recording whose last
// frame has the given number of samples, and checks that it never asks for
// samples it said it would not need.
func segments(t interface{ Fatalf(string, ...any) }, probs []float32, last int64) (all []stretch, total int64) {
	s := newSegmenter()
	var needed int64
	check := func(found []stretch) {
		for _, f := range found {
			if f.audio.start < needed {
				t.Fatalf("wants sample %d after giving up all before %d", f.audio.start, needed)
			}
		}
		all = append(all, found...)
		if n := s.needed(); n < needed {
			t.Fatalf("needs %d after %d", n, needed)
		} else {
			needed = n
		}
		if back := s.next - needed; back > 2*maxSegment+joinGap+endSilence+2*padding {
			t.Fatalf("has to keep %d samples", back)
		}
	}
	for _, p := range probs {
		check(s.push(p, nil))
	}
	total = max(0, int64(len(probs)-1)*frameSize+last)
	check(s.finish(total, nil))
	return all, total
}

// runs draws probabilities as a voice has them: stretches of speech, of silence and
// of doubt.
var runs = rapid.Custom(func(t *rapid.T) []float32 {
	var probs []float32
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		n := rapid.SampledFrom([]int{1, 3, 6, 7, 9, 10, 20, 37, 38, 80, 400, 700}).Draw(t, "frames")
		low := rapid.SampledFrom([]float32{0, 0.3, 0.36, 0.5, 0.9}).Draw(t, "level")
		for range n {
			probs = append(probs, low+rapid.Float32Range(0, 0.1).Draw(t, "p"))
		}
	}
	return probs
})

func TestSegmenterProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		probs := runs.Draw(t, "probs")
		last := rapid.Int64Range(1, frameSize).Draw(t, "last")
		got, total := segments(t, probs, last)
		var end, heard int64
		for _, s := range got {
			if s.speech.start < end || s.audio.start < heard {
				t.Fatalf("overlap: %+v", got)
			}
			if s.audio.start > s.speech.start || s.audio.end < s.speech.end || s.audio.end > total || s.audio.start < 0 {
				t.Fatalf("audio does not hold the speech within %d: %+v", total, s)
			}
			if s.speech.start-s.audio.start > padding || s.audio.end-s.speech.end > padding {
				t.Fatalf("too much padding: %+v", s)
			}
			if n := s.speech.length(); n > maxSegment+minSpeech || n <= 0 {
				t.Fatalf("speech of %d samples", n)
			}
			end, heard = s.speech.end, s.audio.end
		}
		checkAgainstReference(t, probs, got, total)
	})
}

// checkAgainstReference compares with the same rules written down for a whole
// recording: find speech, split it, drop clicks, join neighbours.
func checkAgainstReference(t *rapid.T, probs []float32, got []stretch, total int64) {
	var want []span
	for _, s := range wholeSpeech(probs) {
		if s.length() < minSpeech {
			if n := len(want); n > 0 && want[n-1].end == s.start {
				want[n-1].end = s.end
			}
			continue
		}
		if n := len(want); n > 0 && s.start-want[n-1].end < joinGap && s.end-want[n-1].start <= maxSegment {
			want[n-1].end = s.end
			continue
		}
		want = append(want, s)
	}
	var have []span
	for i, s := range got {
		have = append(have, s.speech)
		want[min(i, len(want)-1)].end = min(want[min(i, len(want)-1)].end, total)
	}
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(span{})); diff != "" {
		t.Fatalf("differs from the whole recording's segments: %s", diff)
	}
}

func wholeSpeech(probs []float32) (all []span) {
	for i := 0; i < len(probs); i++ {
		if probs[i] < voiceOn {
			continue
		}
		last := i
		j := i + 1
		for ; j < len(probs) && (j-last)*frameSize < endSilence+frameSize; j++ {
			if probs[j] >= voiceOff {
				last = j
			}
			if (j-last)*frameSize >= endSilence {
				break
			}
		}
		start := i
		for (last+1-start)*frameSize > maxSegment {
			cut := start + maxSegment/2/frameSize
			for k := cut; k < start+maxSegment/frameSize; k++ {
				if probs[k] < probs[cut] {
					cut = k
				}
			}
			all = append(all, span{int64(start) * frameSize, int64(cut) * frameSize})
			start = cut
		}
		all = append(all, span{int64(start) * frameSize, int64(last+1) * frameSize})
		i = j
	}
	return all
}

func TestSegmenter(t *testing.T) {
	t.Parallel()
	level := func(p float32, frames int) []float32 {
		b := make([]float32, frames)
		for i := range b {
			b[i] = p
		}
		return b
	}
	join := func(parts ...[]float32) (all []float32) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	frames := func(start, end int64) span { return span{start * frameSize, end * frameSize} }
	dip := join(level(0.9, 300), level(0.6, 1), level(0.9, 400))
	for name, c := range map[string]struct {
		probs []float32
		want  []span
	}{
		"nothing":         {nil, nil},
		"doubt only":      {level(0.49, 200), nil},
		"a click":         {join(level(0, 20), level(0.9, 6), level(0, 50)), nil},
		"a word":          {join(level(0, 20), level(0.9, 7), level(0, 50)), []span{frames(20, 27)}},
		"doubt goes on":   {join(level(0.9, 10), level(0.4, 30), level(0.2, 50)), []span{frames(0, 40)}},
		"breath":          {join(level(0.9, 10), level(0, 9), level(0.4, 5), level(0, 50)), []span{frames(0, 24)}},
		"joined pause":    {join(level(0.9, 20), level(0, 37), level(0.9, 20)), []span{frames(0, 77)}},
		"parted pause":    {join(level(0.9, 20), level(0, 38), level(0.9, 20)), []span{frames(0, 20), frames(58, 78)}},
		"to the end":      {level(0.9, 30), []span{frames(0, 30)}},
		"split at a dip":  {dip, []span{frames(0, 300), frames(300, 701)}},
		"rest of a split": {join(level(0.9, 465), level(0.6, 1), level(0.9, 3)), []span{frames(0, 469)}},
		"joined too long": {join(level(0.9, 300), level(0, 20), level(0.9, 300)), []span{frames(0, 300), frames(320, 620)}},
	} {
		got, _ := segments(t, c.probs, frameSize)
		var have []span
		for _, s := range got {
			have = append(have, s.speech)
		}
		if diff := cmp.Diff(c.want, have, cmp.AllowUnexported(span{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
