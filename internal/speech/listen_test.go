package speech

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"cutroom"
)

// pulses is a recording of so many frames in which "speech" (a sample value of 1)
// and silence alternate; a period is 1000 frames.
type pulses struct{ frames, at int64 }

// loud says whether a frame is speech: 10 to 909 frames of a period are.
func (p *pulses) loud(frame int64) bool { return frame%1000 < 10+frame/1000*37%900 }

func (p *pulses) Read(b []byte) (n int, err error) {
	for ; n+2 <= len(b) && p.at < p.frames*frameSize; n, p.at = n+2, p.at+1 {
		b[n], b[n+1] = 0, 0
		if p.loud(p.at / frameSize) {
			b[n] = 1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// listenTo returns a listener over a recording with the header of a pipe. Its
// detector looks at a frame's first sample.
func listenTo(t *testing.T, samples io.Reader, workers int) *listener {
	t.Helper()
	head := riff("RIFF", 1<<32-1, chunk("fmt ", 16, ours), chunk("data", 1<<32-1, nil))
	w, err := openWave(io.MultiReader(bytes.NewReader(head), samples))
	if err != nil {
		t.Fatal(err)
	}
	return &listener{
		wave: w, workers: workers,
		probability: func(f []int16) (float32, error) { return float32(f[0]), nil },
	}
}

// TestListenIsConstant hears two hours and looks at what is held on to.
func TestListenIsConstant(t *testing.T) {
	t.Parallel()
	const frames = 2 * 3600 * SampleRate / frameSize
	l := listenTo(t, &pulses{frames: frames}, 3)
	l.hear = func(audio []float32) (hypothesis, error) {
		if len(audio) > maxSegment+2*padding+frameSize {
			return hypothesis{}, errors.New("too much to hear at a time")
		}
		var loud int
		for _, s := range audio {
			if s > 0 {
				loud++
			}
		}
		return hypothesis{text: "x", tokens: loud / frameSize}, nil
	}
	var segments, heard int
	var end, speech cutroom.Micros
	s, err := l.run(func(s Segment) error {
		if s.Start < end || s.End <= s.Start {
			t.Errorf("segment at %v-%v after %v", s.Start, s.End, end)
		}
		end, speech, segments, heard = s.End, speech+s.End-s.Start, segments+1, heard+s.Tokens
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Duration != frames*frameSize*cutroom.Second/SampleRate || s.Segments != segments || s.Speech != speech {
		t.Errorf("summary %+v, %d segments with %v of speech", s, segments, speech)
	}
	loud := 0
	for f := range int64(frames) {
		if (&pulses{}).loud(f) {
			loud++
		}
	}
	if heard != loud {
		t.Errorf("%d frames of speech were heard, %d spoken", heard, loud)
	}
	if held := cap(l.kept); held > 60*SampleRate {
		t.Errorf("%d s are held at a time", held/SampleRate)
	}
}

// TestListenFails: whatever breaks on the way ends the run with that error, and
// nothing hangs.
func TestListenFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	source := func() io.Reader { return &pulses{frames: 20_000} }
	fine := func([]float32) (hypothesis, error) { return hypothesis{text: "x", tokens: 1}, nil }
	for name, change := range map[string]func(*listener){
		"detector": func(l *listener) { l.probability = func([]int16) (float32, error) { return 0, broken } },
		"model":    func(l *listener) { l.hear = func([]float32) (hypothesis, error) { return hypothesis{}, broken } },
		"model, later": func(l *listener) {
			l.workers = 1
			n := 0
			l.hear = func(a []float32) (hypothesis, error) {
				if n++; n > 5 {
					return hypothesis{}, broken
				}
				return fine(a)
			}
		},
		"disk": func(l *listener) {
			*l = *listenTo(t, io.MultiReader(source(), &failing{broken}), 2)
			l.hear = fine
		},
	} {
		l := listenTo(t, source(), 2)
		l.hear = fine
		change(l)
		if _, err := l.run(func(Segment) error { return nil }); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := listenTo(t, source(), 2)
	l.hear = fine
	emitted := 0
	if _, err := l.run(func(Segment) error { emitted++; return broken }); !errors.Is(err, broken) || emitted != 1 {
		t.Errorf("after %d segments: %v", emitted, err)
	}
	if l.total > 20_000*frameSize/2 {
		t.Errorf("read %d samples for nobody", l.total)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestFalseStart: a short sound without words is not reported, a longer one is,
// and marked.
func TestFalseStart(t *testing.T) {
	t.Parallel()
	for frames, want := range map[int64]int{20: 0, 40: 1} {
		samples := bytes.Repeat([]byte{1, 0}, int(frames)*frameSize)
		l := listenTo(t, bytes.NewReader(append(samples, make([]byte, 100*frameSize)...)), 1)
		l.hear = func([]float32) (hypothesis, error) { return hypothesis{}, nil }
		got := 0
		s, err := l.run(func(s Segment) error {
			got++
			if !s.Unreliable {
				t.Errorf("not marked: %+v", s)
			}
			return nil
		})
		if err != nil || got != want || s.Segments != want {
			t.Errorf("%d frames: %d segments, %+v, %v", frames, got, s, err)
		}
	}
}

// TestSecondHearing: where the model finds no word in a long stretch, it hears it
// again without the pauses around.
func TestSecondHearing(t *testing.T) {
	t.Parallel()
	samples := make([]byte, 2*200*frameSize)
	for i := 50 * frameSize; i < 100*frameSize; i++ {
		samples[2*i] = 1
	}
	l := listenTo(t, bytes.NewReader(samples), 1)
	l.hear = func(audio []float32) (hypothesis, error) {
		if audio[0] == 0 || audio[len(audio)-1] == 0 {
			return hypothesis{}, nil
		}
		return hypothesis{text: "words", tokens: len(audio)}, nil
	}
	_, err := l.run(func(s Segment) error {
		if s.Text != "words" || s.Tokens != 50*frameSize || s.Unreliable {
			t.Errorf("%+v", s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
