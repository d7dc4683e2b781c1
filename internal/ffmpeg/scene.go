package ffmpeg

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"cutroom"
)

// pictureReader reads the lines that the metadata filter prints for every frame.
type pictureReader struct {
	m       *Measure
	frames  int64
	crowded int64 // frames less than leastApart after the one before
	first   Ticks
	last    Ticks
	chosen  []Ticks // frames that were let through as grey
	cuts    []cutAt
	black   []tickSpan
	freeze  []tickSpan
	inBlack bool
	frozen  bool
	window  []scored // the last 2·windowHalf+1 frames
	current scored
	open    bool
	recent  []Ticks // starts of the latest frames, to find the frame a freeze began at
}

type (
	tickSpan struct {
		from, to Ticks
		open     bool
	}
	scored struct {
		pts   Ticks
		score float64
	}
	cutAt scored
)

// leastApart is the least distance of frames that are meant to be seen: a thousand a
// second.
const leastApart = cutroom.Micros(1000)

// A cut stands out from the frames around it: twelve on each side, as a shot has at
// least.
const (
	windowHalf = 12
	cutRatio   = 3.0
	quietScore = 0.5
)

func (m *Measure) readPictures(r io.Reader) (any, error) {
	p := &pictureReader{m: m}
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case len(line) > 0:
			p.line(bytes.TrimSpace(line))
		}
		if errors.Is(err, io.EOF) {
			p.endFrame()
			p.finish()
			return p, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *pictureReader) line(line []byte) {
	if pts, ok := printedPTS(string(line)); ok {
		p.endFrame()
		p.begin(pts)
		return
	}
	key, val, ok := bytes.Cut(line, []byte("="))
	if !ok || !p.open {
		return
	}
	switch string(key) {
	case "lavfi.scd.score":
		if v, err := strconv.ParseFloat(string(val), 64); err == nil && !math.IsNaN(v) {
			p.current.score = v
		}
	case "lavfi.black_start":
		p.black, p.inBlack = append(p.black, tickSpan{from: p.current.pts, open: true}), true
	case "lavfi.black_end":
		if p.inBlack {
			s := &p.black[len(p.black)-1]
			s.to, s.open, p.inBlack = p.current.pts, false, false
		}
	case "lavfi.freezedetect.freeze_start":
		p.freeze, p.frozen = append(p.freeze, tickSpan{from: p.frozenSince(string(val)), open: true}), true
	case "lavfi.freezedetect.freeze_end":
		if p.frozen {
			s := &p.freeze[len(p.freeze)-1]
			s.to, s.open, p.frozen = p.current.pts, false, false
		}
	}
}

func (p *pictureReader) begin(pts Ticks) {
	if p.frames == 0 {
		p.first = pts
	} else if pts-p.last < p.m.least {
		p.crowded++
	}
	p.frames++
	p.last = pts
	p.current, p.open = scored{pts: pts}, true
	// The same rule as the select filter's, so that the n-th grey picture is the n-th here.
	if len(p.chosen) == 0 || pts-p.chosen[len(p.chosen)-1] >= p.m.step {
		p.chosen = append(p.chosen, pts)
	}
	if p.m.opts.Freeze {
		p.remember(pts)
	}
}

// remember keeps the starts of as many frames as a freeze needs to be noticed.
func (p *pictureReader) remember(pts Ticks) {
	p.recent = append(p.recent, pts)
	old := pts - TicksOf(p.m.plan.freezeFor+2*cutroom.Second, p.m.video.TimeBase)
	if len(p.recent) > 4096 || len(p.recent) > 64 && p.recent[0] < old {
		keep := 0
		for keep < len(p.recent)-2 && (p.recent[keep+1] < old || len(p.recent)-keep > 2048) {
			keep++
		}
		p.recent = slices.Delete(p.recent, 0, keep)
	}
}

// frozenSince returns the frame that a freeze began at. ffmpeg prints its time with
// six digits in all, so the nearest start among the recent frames is meant.
func (p *pictureReader) frozenSince(printed string) Ticks {
	t, err := strconv.ParseFloat(printed, 64)
	if err != nil {
		return p.current.pts
	}
	tb := p.m.video.TimeBase
	latest := p.current.pts - TicksOf(p.m.plan.freezeFor, tb)
	want := Ticks(t * float64(tb.Den) / float64(tb.Num))
	best := latest
	for i, pts := range p.recent {
		if pts <= latest && (i == 0 || magnitude(int64(pts-want)) <= magnitude(int64(best-want))) {
			best = pts
		}
	}
	return best
}

// endFrame moves the window on: the frame in its middle can be judged now.
func (p *pictureReader) endFrame() {
	if !p.open {
		return
	}
	p.open = false
	p.push(p.current)
	if t := p.m.track; t != nil {
		t.mark(p.current)
	}
}

func (p *pictureReader) push(s scored) {
	p.window = append(p.window, s)
	if len(p.window) > 2*windowHalf+1 {
		p.window = slices.Delete(p.window, 0, 1)
	}
	if len(p.window) > windowHalf {
		p.judge(len(p.window) - 1 - windowHalf)
	}
}

// finish judges the frames at the end, which have fewer after them.
func (p *pictureReader) finish() {
	n := len(p.window)
	for i := max(0, n-windowHalf); i < n; i++ {
		p.judge(i)
	}
}

// judge decides whether frame i of the window is the first of a new scene.
func (p *pictureReader) judge(i int) {
	c := p.window[i]
	if c.score < p.m.plan.sceneScore {
		return
	}
	var around []float64
	for k := max(0, i-windowHalf); k < min(len(p.window), i+windowHalf+1); k++ {
		if k == i {
			continue
		}
		around = append(around, p.window[k].score)
		if d := k - i; d >= -2 && d <= 2 && (p.window[k].score > c.score || p.window[k].score == c.score && k < i) {
			return // a neighbour is stronger
		}
	}
	median := 0.0
	if len(around) > 0 {
		slices.Sort(around)
		median = around[len(around)/2]
	}
	if c.score >= cutRatio*max(median, quietScore) {
		p.cuts = append(p.cuts, cutAt(c))
	}
}

// pictures puts together what both readers found.
func (m *Measure) pictures(p *pictureReader, g *greyReader) *VideoSignals {
	t := func(pts Ticks) cutroom.Micros { return max(0, m.doc.Time(m.video, pts)) }
	v := &VideoSignals{
		Frames: p.frames, Crowded: p.crowded, FirstSeconds: t(p.first), LastSeconds: t(p.last), LastPTS: p.last,
		Changes: []Change{}, Black: []Span{}, Freeze: []Span{}, SampleEvery: m.plan.everySample,
	}
	if p.frames == 0 {
		return v
	}
	end := m.endOfPictures(t(p.last))
	v.Black = spans(p.black, t, end, m.plan.blackFor)
	v.Freeze = spans(p.freeze, t, end, m.plan.freezeFor)
	for i := range min(len(g.samples), len(p.chosen)) {
		s := g.samples[i]
		s.Seconds, s.PTS = t(p.chosen[i]), p.chosen[i]
		v.Samples = append(v.Samples, s)
	}
	if m.opts.Scenes {
		for _, c := range p.cuts {
			v.Changes = append(v.Changes, Change{Kind: "cut", Seconds: t(c.pts), PTS: c.pts, Score: round3(c.score)})
		}
		v.Changes = append(v.Changes, gradual(v.Samples, v.Changes)...)
		slices.SortStableFunc(v.Changes, func(a, b Change) int { return int(max(-1, min(1, a.PTS-b.PTS))) })
	}
	return v
}

// endOfPictures is where the last frame ends, within the range.
func (m *Measure) endOfPictures(last cutroom.Micros) cutroom.Micros {
	end := m.plan.rangeEnd
	if s := m.video.EndSeconds; s > last && (end <= 0 || s < end) {
		end = s
	}
	return max(end, last)
}

// spans turns tick spans into times, closes one that is open at the end, and leaves
// out what is shorter than least.
func spans(list []tickSpan, t func(Ticks) cutroom.Micros, end, least cutroom.Micros) []Span {
	out := []Span{}
	for _, s := range list {
		span := Span{t(s.from), end}
		if !s.open {
			span.EndSeconds = t(s.to)
		}
		if span.EndSeconds-span.StartSeconds >= least {
			out = append(out, span)
		}
	}
	return out
}
