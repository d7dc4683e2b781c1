package speech

import (
	"errors"
	"io"
	"sync"

	"cutroom"
)

// maxThreads bounds what a caller may ask for; defaultThreads is what is taken of
// a larger machine when nothing is asked.
const (
	maxThreads     = 64
	defaultThreads = 4
)

// listener streams a recording through the voice detector and gives each stretch of
// speech to one of several workers. It holds a few stretches per worker and the
// recording since the last pause, however long the whole is.
type listener struct {
	wave        *waveform
	probability func([]int16) (float32, error)      // of speech, in the next frame
	hear        func([]float32) (hypothesis, error) // nil: segments have no text
	workers     int
	pauses      bool // pauses between words end a stretch, too

	jobs  chan *job     // to the workers
	order chan *job     // the same jobs, to the collector, in order of time
	stop  chan struct{} // closed when the rest is not wanted any more

	kept  []int16 // samples that a stretch may still want
	first int64   // the place of kept[0] in the recording
	total int64   // samples read
}

// run hears the whole recording; emit gets the segments in order of time. It
// returns when every goroutine has ended.
func (l *listener) run(emit func(Segment) error) (summary, error) {
	l.jobs, l.order, l.stop = make(chan *job), make(chan *job, l.workers), make(chan struct{})
	var wg sync.WaitGroup
	for range l.workers {
		wg.Go(l.work)
	}
	var readError error
	wg.Go(func() {
		readError = l.read()
		close(l.jobs)
		close(l.order)
	})
	s, err := l.collect(emit)
	wg.Wait()
	s.Duration, s.Truncated = instant(l.total), l.wave.truncated
	return s, errors.Join(err, readError)
}

func (l *listener) work() {
	for j := range l.jobs {
		if l.hear != nil {
			j.heard, j.err = j.transcribe(l.hear)
		}
		j.samples = nil
		close(j.done)
	}
}

// job is one stretch on its way through a worker.
type job struct {
	stretch
	samples []float32 // of stretch.audio
	heard   hypothesis
	err     error
	done    chan struct{}
}

// read detects speech until the recording ends.
func (l *listener) read() error {
	seg := newSegmenter()
	if l.pauses {
		seg.gap = endSilence
	}
	var found []stretch
	var frame [frameSize]int16
	for {
		n, end := l.wave.read(frame[:])
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		if n > 0 {
			clear(frame[n:])
			l.kept = append(l.kept, frame[:n]...)
			l.total += int64(n)
			p, err := l.probability(frame[:])
			if err != nil {
				return err
			}
			found = seg.push(p, found[:0])
		} else {
			found = found[:0]
		}
		if end != nil {
			found = seg.finish(l.total, found)
		}
		for _, f := range found {
			if !l.dispatch(f) {
				return nil
			}
		}
		if end != nil {
			return nil
		}
		l.forget(seg.needed())
	}
}

// forget drops the samples before the given one, in steps large enough to move
// memory seldom.
func (l *listener) forget(before int64) {
	const step = 2 * SampleRate
	if before-l.first >= step {
		n := copy(l.kept, l.kept[before-l.first:])
		l.kept, l.first = l.kept[:n], before
	}
}

// dispatch hands a stretch to a worker; false when nobody wants it any more.
func (l *listener) dispatch(f stretch) bool {
	samples := l.kept[f.audio.start-l.first : f.audio.end-l.first]
	j := &job{stretch: f, samples: make([]float32, len(samples)), done: make(chan struct{})}
	for i, s := range samples {
		j.samples[i] = float32(s) / 32768
	}
	select {
	case l.order <- j:
	case <-l.stop:
		return false
	}
	select {
	case l.jobs <- j:
		return true
	case <-l.stop:
		j.err = errStopped
		close(j.done)
		return false
	}
}

var errStopped = errors.New("stopped")

// collect turns finished jobs into segments, in order.
func (l *listener) collect(emit func(Segment) error) (s summary, err error) {
	for j := range l.order {
		<-j.done
		if err != nil {
			continue // only wait for what is still on its way
		}
		if l.hear != nil && j.falseStart() {
			continue
		}
		if err = j.err; err == nil {
			segment := j.segment(l.hear != nil)
			s.Segments++
			s.Speech += segment.End - segment.Start
			err = emit(segment)
		}
		if err != nil {
			close(l.stop)
		}
	}
	return s, err
}

// transcribe hears the stretch with the pauses around it. A pause can make the model
// end its text before it began; speech long enough for words then gets a second
// hearing without them.
func (j *job) transcribe(hear func([]float32) (hypothesis, error)) (hypothesis, error) {
	h, err := hear(j.samples)
	if err != nil || h.text != "" || j.speech.length() < SampleRate {
		return h, err
	}
	bare := j.samples[j.speech.start-j.audio.start:]
	return hear(bare[:j.speech.length()])
}

// falseStart reports a short sound that only the detector took for speech: the
// model found no word in it. Longer speech without words is kept, and marked.
func (j *job) falseStart() bool {
	return j.err == nil && j.heard.text == "" && j.speech.length() < SampleRate
}

func (j *job) segment(transcribed bool) Segment {
	h := j.heard
	return Segment{
		Start: instant(j.speech.start), End: instant(j.speech.end),
		Text: h.text, Score: h.score, Tokens: h.tokens, Loop: h.loop,
		Unreliable: transcribed && (h.loop || h.cut || h.text == "" || h.score < unreliableBelow),
	}
}

// instant returns the time of a sample, to the nearest microsecond.
func instant(sample int64) cutroom.Micros {
	return cutroom.Micros((sample*1_000_000 + SampleRate/2) / SampleRate)
}
