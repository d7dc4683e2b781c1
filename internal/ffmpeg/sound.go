package ffmpeg

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"cutroom"
)

// Envelope is the course of the sound: one value for each step. Levels are in dBFS,
// −120 for digital silence.
type Envelope struct {
	Start cutroom.Micros // time of the first step's start, public axis
	Step  cutroom.Micros
	RMS   []float32 // of all channels
	Peak  []float32 // largest sample
	Voice []float32 // share of the energy between 300 and 3400 Hz, 0–1: where speech may be
}

// floorDB stands for the level of digital silence: JSON has no infinity.
const floorDB = -120

func decibels(v float64) float64 {
	if v <= 1e-6 {
		return floorDB
	}
	return 20 * math.Log10(v)
}

// soundMeter measures interleaved 32-bit float samples as they come.
type soundMeter struct {
	channels, rate int
	samples        int64 // per channel

	silence  *silenceMeter
	loudness *loudnessMeter
	envelope *envelopeMeter
	hear     func([]float32)
	block    []float32
	mono     []float32
}

func (m *Measure) readSound(r io.Reader) (any, error) {
	a := m.audio.Audio
	s := &soundMeter{channels: a.Channels, rate: a.SampleRate}
	if m.opts.Silence {
		s.silence = newSilenceMeter(a, m.plan.silenceLevel, m.plan.silenceFor)
	}
	if m.opts.Loudness {
		s.loudness = newLoudnessMeter(a)
	}
	if m.opts.Envelope {
		s.envelope = newEnvelopeMeter(a, m.plan.rangeLength)
	}
	s.hear = m.opts.Hear
	frame := 4 * a.Channels
	buf := make([]byte, frame*max(256, 8192/a.Channels))
	s.block = make([]float32, len(buf)/4)
	s.mono = make([]float32, len(buf)/frame)
	for {
		n, err := io.ReadFull(r, buf)
		s.feed(buf[:n-n%frame])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			s.finish()
			return s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *soundMeter) feed(b []byte) {
	x := s.block[:len(b)/4]
	for i := range x {
		v := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if v != v || v > 1e6 || v < -1e6 { // a damaged float stream must not poison the filters
			v = 0
		}
		x[i] = v
	}
	if s.silence != nil {
		s.silence.feed(x, s.samples)
	}
	if s.loudness != nil {
		s.loudness.feed(x)
	}
	if s.envelope != nil {
		s.envelope.feed(x)
	}
	if s.hear != nil && len(x) > 0 {
		s.hear(s.mix(x))
	}
	s.samples += int64(len(x) / s.channels)
}

// mix returns the mean of all channels.
func (s *soundMeter) mix(x []float32) []float32 {
	if s.channels == 1 {
		return x
	}
	out := s.mono[:len(x)/s.channels]
	part := 1 / float32(s.channels)
	for i := range out {
		var sum float32
		for _, v := range x[i*s.channels : (i+1)*s.channels] {
			sum += v
		}
		out[i] = sum * part
	}
	return out
}

func (s *soundMeter) finish() {
	if s.silence != nil {
		s.silence.finish(s.samples)
	}
	if s.loudness != nil {
		s.loudness.finish()
	}
	if s.envelope != nil {
		s.envelope.finish()
	}
}

// sound turns sample numbers into times.
func (m *Measure) sound(s *soundMeter) *AudioSignals {
	start := max(m.plan.rangeStart, m.audio.StartSeconds)
	// The last packet of a codec often holds more samples than the stream has.
	end := start + cutroom.Micros(muldiv(s.samples, 1_000_000, int64(s.rate), nearest))
	if e := m.audio.EndSeconds; e > start && e < end {
		end = e
	}
	at := func(n int64) cutroom.Micros {
		return min(end, start+cutroom.Micros(muldiv(n, 1_000_000, int64(s.rate), nearest)))
	}
	a := &AudioSignals{
		Stream: m.audio.Index, SampleRate: s.rate, Channels: s.channels, Samples: s.samples,
		StartSeconds: start, EndSeconds: at(s.samples), Silence: []Span{},
	}
	if s.silence != nil {
		for _, r := range s.silence.runs {
			a.Silence = append(a.Silence, Span{at(r[0]), at(r[1])})
		}
	}
	if s.loudness != nil {
		a.Loudness = s.loudness.result(start)
	}
	if s.envelope != nil {
		a.Envelope = s.envelope.result(start)
	}
	return a
}

// silenceMeter finds runs of samples below a level in every channel, as ffmpeg's
// silencedetect does.
type silenceMeter struct {
	channels int
	level    float32
	least    int64
	quiet    int64 // samples in the run that is going on
	runs     [][2]int64
}

// maxRuns bounds the spans that are kept of one file.
const maxRuns = 100_000

func newSilenceMeter(a *AudioFacts, db float64, least cutroom.Micros) *silenceMeter {
	return &silenceMeter{
		channels: a.Channels, level: float32(math.Pow(10, db/20)),
		least: muldiv(int64(least), int64(a.SampleRate), 1_000_000, nearest),
	}
}

func (m *silenceMeter) feed(x []float32, base int64) {
	level := m.level
	for i := 0; i < len(x); i += m.channels {
		loud := false
		for _, v := range x[i : i+m.channels] {
			if v >= level || v <= -level {
				loud = true
				break
			}
		}
		if !loud {
			m.quiet++
			continue
		}
		if m.quiet > 0 {
			m.close(base + int64(i/m.channels))
		}
	}
}

func (m *silenceMeter) close(end int64) {
	if m.quiet >= m.least && len(m.runs) < maxRuns {
		m.runs = append(m.runs, [2]int64{end - m.quiet, end})
	}
	m.quiet = 0
}

func (m *silenceMeter) finish(samples int64) { m.close(samples) }

// envelopeMeter sums up the sound of each step.
type envelopeMeter struct {
	channels      int
	step          int // samples
	n             int
	square, voice float64
	mono          float64
	peak          float32
	low, high     biquad
	e             Envelope
}

// maxSteps of an envelope: ten a second for an hour, fewer a second beyond.
const maxEnvelope = 36_000

func newEnvelopeMeter(a *AudioFacts, length cutroom.Micros) *envelopeMeter {
	step := max(100_000, length/maxEnvelope)
	m := &envelopeMeter{channels: a.Channels, step: int(max(1, muldiv(int64(step), int64(a.SampleRate), 1_000_000, nearest)))}
	m.e.Step = cutroom.Micros(muldiv(int64(m.step), 1_000_000, int64(a.SampleRate), nearest))
	m.high = highPass(300, math.Sqrt2/2, float64(a.SampleRate))
	m.low = lowPass(math.Min(3400, 0.45*float64(a.SampleRate)), math.Sqrt2/2, float64(a.SampleRate))
	return m
}

func (m *envelopeMeter) feed(x []float32) {
	ch := m.channels
	for i := 0; i < len(x); i += ch {
		var sum float32
		for _, v := range x[i : i+ch] {
			sum += v
			m.square += float64(v) * float64(v)
			if v < 0 {
				v = -v
			}
			if v > m.peak {
				m.peak = v
			}
		}
		mono := float64(sum) / float64(ch)
		m.mono += mono * mono
		b := m.low.next(m.high.next(mono))
		m.voice += b * b
		if m.n++; m.n == m.step {
			m.push()
		}
	}
}

func (m *envelopeMeter) push() {
	if len(m.e.RMS) < 2*maxEnvelope {
		ratio := 0.0
		if m.mono > 1e-12 {
			ratio = math.Min(1, m.voice/m.mono)
		}
		m.e.RMS = append(m.e.RMS, float32(decibels(math.Sqrt(m.square/float64(m.n*m.channels)))))
		m.e.Peak = append(m.e.Peak, float32(decibels(float64(m.peak))))
		m.e.Voice = append(m.e.Voice, float32(ratio))
	}
	m.n, m.square, m.voice, m.mono, m.peak = 0, 0, 0, 0, 0
}

func (m *envelopeMeter) finish() {
	if m.n > 0 {
		m.push()
	}
}

func (m *envelopeMeter) result(start cutroom.Micros) *Envelope {
	e := m.e
	e.Start = start
	return &e
}

// biquad is a second-order filter in transposed direct form II.
type biquad struct{ b0, b1, b2, a1, a2, z1, z2 float64 }

func (f *biquad) next(x float64) float64 {
	y := f.b0*x + f.z1
	f.z1 = f.b1*x - f.a1*y + f.z2
	f.z2 = f.b2*x - f.a2*y
	return y
}

// lowPass and highPass are Butterworth-like sections (R. Bristow-Johnson, Audio EQ
// Cookbook).
func lowPass(f, q, rate float64) biquad {
	w := 2 * math.Pi * f / rate
	c, alpha := math.Cos(w), math.Sin(w)/(2*q)
	return biquad{b0: (1 - c) / 2 / (1 + alpha), b1: (1 - c) / (1 + alpha), b2: (1 - c) / 2 / (1 + alpha), a1: -2 * c / (1 + alpha), a2: (1 - alpha) / (1 + alpha)}
}

func highPass(f, q, rate float64) biquad {
	w := 2 * math.Pi * math.Min(f, 0.45*rate) / rate
	c, alpha := math.Cos(w), math.Sin(w)/(2*q)
	return biquad{b0: (1 + c) / 2 / (1 + alpha), b1: -(1 + c) / (1 + alpha), b2: (1 + c) / 2 / (1 + alpha), a1: -2 * c / (1 + alpha), a2: (1 - alpha) / (1 + alpha)}
}
