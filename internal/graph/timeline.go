package graph

import (
	"fmt"
	"math/big"
	"slices"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
)

// timeline is where each clip stands in the edit, exactly: in whole units, which are
// ticks of the source where its own frame times are kept, frames of the output where
// clips are conformed to one rate, and samples where there is no picture.
type timeline struct {
	unit  ffmpeg.Rational // seconds per unit
	parts []part
	from  int64 // where it begins in that of the whole edit, where it is a piece of it
	once  int64 // units of one pass through the clips
	total int64 // units
}

// part is one clip on the timeline.
type part struct {
	clip       Clip
	source     *Source
	from, to   ffmpeg.Ticks   // of the picture, on the file's timeline; to is outside
	start, end cutroom.Micros // public axis of the source, of the first frame and behind the last
	at, length int64          // in the edit; a transition lets the next part begin before at+length
	frames     int64          // of the picture in the output
	rest       ffmpeg.Ticks   // how long the last frame shows, where frames keep their times
}

// selecting reports whether the clips are parts of one source in its own order: then
// one input, decoded once, is enough, and its frame times are kept.
func (g *Graph) selecting() bool {
	if g.meets() || g.Repeat.on() {
		return false
	}
	for i, c := range g.Clips {
		if !c.plain() || c.Source != g.Clips[0].Source {
			return false
		}
		if i > 0 && (c.Start < g.Clips[i-1].End || g.Clips[i-1].End == 0) {
			return false
		}
	}
	return true
}

func (t Transition) on() bool { return t.Kind != "" && t.Kind != "none" && t.Length > 0 }

func (c Clip) speed() ffmpeg.Rational {
	if !c.Speed.Known() {
		return ffmpeg.Rational{Num: 1, Den: 1}
	}
	return c.Speed.Reduced()
}

// range of the clip on its source, with the end made explicit.
func (c Clip) span(s *Source, picture bool) (a, b cutroom.Micros, err error) {
	if c.silent() {
		return c.still(s)
	}
	a, b = c.Start, c.End
	end := s.Media.DurationSeconds
	if v := s.Media.FirstVideo(); picture && v != nil && v.EndSeconds > 0 {
		end = v.EndSeconds // the picture's length wins over the sound's
	}
	if b == 0 || b > end && end > 0 {
		b = end
	}
	switch {
	case a < 0 || end > 0 && a >= end:
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the start %s s lies outside %s, which is %s s long", a, s.Name, end).WithHint("choose a start within the file")
	case b <= a:
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the end %s s has to lie after the start %s s", b, a).WithHint("give an end behind the start")
	}
	return a, b, nil
}

// selected is the timeline of clips whose source keeps its own frame times. frames are
// the presentation times of its frames, sorted; without them a constant rate is
// assumed, which only a preview may do.
func (g *Graph) selected(frames []ffmpeg.Ticks) (timeline, error) {
	s := &g.Sources[g.Clips[0].Source]
	v, err := s.Media.VideoStream()
	if err != nil {
		return timeline{}, err
	}
	measured := frames != nil
	if !measured {
		frames = assumed(s.Media, v)
	}
	if len(frames) == 0 {
		return timeline{}, cutroom.Errorf(cutroom.UnreadableMedia, "%s holds no frame", s.Name)
	}
	line := timeline{unit: v.TimeBase}
	last := lastStep(frames, v)
	held := s.Media.Time(v, frames[len(frames)-1]+last)
	for n, c := range g.Clips {
		a, b, err := c.span(s, true)
		if err != nil {
			return line, err
		}
		if measured && b > held+max(cutroom.Second, b/20) {
			return line, cutroom.Errorf(cutroom.UnreadableMedia, "%s breaks off at %s s of %s s", s.Name, held, b).
				WithHint("copy or download it again, or cut out what is there first: an end of %s", held)
		}
		from, to := ffmpeg.TickRange(a+s.Media.ZeroSeconds, b+s.Media.ZeroSeconds, v.TimeBase)
		i, _ := slices.BinarySearch(frames, from)
		j, _ := slices.BinarySearch(frames, to)
		if c.Start == 0 {
			i = 0 // a file that starts late starts with its first frame
		}
		if c.End == 0 || b >= v.EndSeconds && v.EndSeconds > 0 {
			j = len(frames)
		}
		if i >= j {
			return line, cutroom.Errorf(cutroom.Invalid, "clip %d, from %s s to %s s, holds no frame of %s", n+1, a, b, s.Name).WithHint("make it longer than a frame")
		}
		p := part{clip: c, source: s, from: frames[i], to: frames[j-1] + last, frames: int64(j - i), at: line.total}
		if j < len(frames) {
			p.to = frames[j]
		}
		p.length, p.rest = int64(p.to-p.from), p.to-frames[j-1]
		p.start, p.end = s.Media.Time(v, p.from), s.Media.Time(v, p.to)
		line.parts = append(line.parts, p)
		line.total += p.length
	}
	line.once = line.total
	return line, nil
}

// lastStep is how long the last frame of the file shows: as long as the commonest.
func lastStep(frames []ffmpeg.Ticks, v *ffmpeg.Stream) ffmpeg.Ticks {
	if v.Video.FrameRate.Known() && !v.Video.VFR.Variable {
		if t := ffmpeg.TicksOf(frameTime(v.Video.FrameRate), v.TimeBase); t > 0 {
			return t
		}
	}
	if d := v.StartTicks + v.DurationTicks - frames[len(frames)-1]; v.DurationTicks > 0 && d > 0 && d.Micros(v.TimeBase) <= cutroom.Second {
		return d
	}
	steps := map[ffmpeg.Ticks]int{}
	best := ffmpeg.Ticks(1)
	for i := 1; i < len(frames); i++ {
		d := frames[i] - frames[i-1]
		if steps[d]++; steps[d] > steps[best] {
			best = d
		}
	}
	return best
}

func frameTime(rate ffmpeg.Rational) cutroom.Micros {
	return cutroom.Micros((1_000_000*rate.Den + rate.Num/2) / rate.Num)
}

// assumed are the frame times of a constant rate.
func assumed(d *ffmpeg.Document, v *ffmpeg.Stream) []ffmpeg.Ticks {
	rate := v.Video.FrameRate
	if !rate.Known() {
		rate = ffmpeg.Rational{Num: 25, Den: 1}
	}
	lasts := d.DurationSeconds
	if v.EndSeconds > v.StartSeconds {
		lasts = v.EndSeconds - v.StartSeconds
	}
	n := round(int64(lasts), rate, ffmpeg.Rational{Num: 1, Den: 1_000_000})
	if v.Frames > 0 && (n <= 0 || v.Frames <= n) { // what an edit list hides is counted, too, and not shown
		n = v.Frames
	}
	list := make([]ffmpeg.Ticks, 0, n)
	for i := range n {
		list = append(list, v.StartTicks+ffmpeg.Ticks(round(i, v.TimeBase.Inverse(), rate.Inverse())))
	}
	return list
}

// round is n·per·rate to the nearest whole number: n things of per each, counted at
// rate.
func round(n int64, rate, per ffmpeg.Rational) int64 {
	num := new(big.Int).Mul(big.NewInt(n), big.NewInt(rate.Num))
	num.Mul(num, big.NewInt(per.Num))
	den := new(big.Int).Mul(big.NewInt(rate.Den), big.NewInt(per.Den))
	num.Lsh(num, 1).Add(num, den)
	return num.Div(num, den.Lsh(den, 1)).Int64()
}

// conformed is the timeline of clips that are brought to one frame rate.
func (g *Graph) conformed(rate ffmpeg.Rational) (timeline, error) {
	line := timeline{unit: rate.Inverse()}
	for n, c := range g.Clips {
		s := &g.Sources[c.Source]
		a, b, err := c.span(s, true)
		if err != nil {
			return line, err
		}
		p := part{clip: c, source: s, start: a, end: b, at: line.total - g.over(n, rate)}
		p.length = c.units(a, b, rate)
		p.frames = p.length
		if err := g.tooShort(n, p.length, g.over(n, rate), g.over(n+1, rate), b-a); err != nil {
			return line, err
		}
		if v := s.Media.FirstVideo(); v != nil {
			p.from, p.to = ffmpeg.TickRange(a+s.Media.ZeroSeconds, b+s.Media.ZeroSeconds, v.TimeBase)
			if c.Start == 0 {
				p.from = min(p.from, v.StartTicks)
			}
		}
		line.parts = append(line.parts, p)
		line.total = p.at + p.length
	}
	return g.repeated(line), nil
}

// stretched is how long what lasts m shows at a speed.
func stretched(m cutroom.Micros, speed ffmpeg.Rational) cutroom.Micros {
	return cutroom.Micros(round(int64(m), ffmpeg.Rational{Num: speed.Den, Den: 1}, ffmpeg.Rational{Num: 1, Den: speed.Num}))
}

var micro = ffmpeg.Rational{Num: 1, Den: 1_000_000}

// soundOnly is the timeline of an edit without a picture, in samples.
func (g *Graph) soundOnly(rate int) (timeline, error) {
	per := ffmpeg.Rational{Num: int64(rate), Den: 1}
	line := timeline{unit: per.Inverse()}
	for n, c := range g.Clips {
		s := &g.Sources[c.Source]
		a, b, err := c.span(s, false)
		if err != nil {
			return line, err
		}
		p := part{clip: c, source: s, start: a, end: b, at: line.total - g.over(n, per)}
		p.length = c.units(a, b, per)
		if err := g.tooShort(n, p.length, g.over(n, per), g.over(n+1, per), b-a); err != nil {
			return line, err
		}
		line.parts = append(line.parts, p)
		line.total = p.at + p.length
	}
	return g.repeated(line), nil
}

// repeated is the timeline of all passes. Its parts stay those of one.
func (g *Graph) repeated(line timeline) timeline {
	line.once = line.total
	switch r := g.Repeat; {
	case r.Length > 0:
		line.total = max(1, round(int64(r.Length), line.unit.Inverse(), micro))
		line.once = min(line.once, line.total)
	case r.Times > 1:
		line.total *= int64(r.Times)
	}
	return line
}

// whole is the timeline of a source of which a stream is copied: it stays as it is.
func whole(s *Source) timeline {
	length := int64(s.Media.DurationSeconds)
	p := part{source: s, end: s.Media.DurationSeconds, length: length}
	if v := s.Media.FirstVideo(); v != nil {
		p.from, p.frames = v.StartTicks, v.Frames
	}
	return timeline{unit: micro, parts: []part{p}, once: length, total: length}
}

// time is where unit n lies, to the nearest microsecond.
func (l timeline) time(n int64) cutroom.Micros {
	return cutroom.Micros(round(n, ffmpeg.Rational{Num: 1_000_000, Den: 1}, l.unit))
}

// sample is the number of the sample at unit n.
func (l timeline) sample(n int64, rate int) int64 {
	return round(n, ffmpeg.Rational{Num: int64(rate), Den: 1}, l.unit)
}

// shortened is g with its clips cut off where the edit reaches its longest length.
func (g Graph) shortened(notes *[]string) (Graph, error) {
	most := g.Target.MaxLength
	if most <= 0 {
		return g, nil
	}
	g, cut, err := g.cutOff(most)
	if cut {
		*notes = append(*notes, fmt.Sprintf("cut off at %s s, the longest that is allowed there", most))
	}
	return g, err
}

// editMap says which part of which source the edit shows when. What is no part of a
// source's time, a colour or a still picture, has no place in it.
func (g *Graph) editMap(line timeline) edl.Map {
	m := edl.Map{Seconds: line.time(line.total), Sources: []edl.Source{}, Segments: []edl.Segment{}}
	number := map[int]int{}
	for pass := int64(0); pass < line.total; pass += line.once {
		for _, p := range line.parts {
			s, ok := p.segment(line, pass)
			if !ok {
				continue
			}
			n, seen := number[p.clip.Source]
			if !seen {
				n = len(m.Sources)
				number[p.clip.Source] = n
				m.Sources = append(m.Sources, edl.Source{Name: p.source.Name, SHA256: p.source.SHA256, Seconds: p.source.Media.DurationSeconds})
			}
			s.Source = n
			if r := p.clip.Ramp; r != nil {
				m.Segments = append(m.Segments, r.segments(s)...)
				continue
			}
			m.Segments = extended(m.Segments, s)
		}
	}
	return m
}

// segment is what the edit shows of a part in the pass that begins at unit pass.
func (p part) segment(line timeline, pass int64) (edl.Segment, bool) {
	s := edl.Segment{
		SourceStart: max(0, p.start), SourceEnd: p.end, Reversed: p.clip.Reverse,
		Start: line.time(pass+p.at) + p.clip.Lead, End: line.time(pass + p.at + p.length),
	}
	v := p.source.Media.FirstVideo()
	if p.clip.Fill != nil || p.clip.Hold > 0 && (v == nil || v.Video.StillImage) || pass+p.at >= line.total {
		return s, false
	}
	if end := line.time(line.total); s.End > end { // the edit ends within it
		m := edl.Map{Segments: []edl.Segment{s}}
		cut := m.Parts(edl.Range{Start: s.Start, End: end})
		if len(cut) == 0 {
			return s, false
		}
		s = cut[0]
	}
	return s, s.Start < s.End
}

// extended is list with s, as one segment with its neighbour where it is played
// backwards in pieces.
func extended(list []edl.Segment, s edl.Segment) []edl.Segment {
	if n := len(list) - 1; n >= 0 && s.Reversed && list[n].Reversed && list[n].Source == s.Source && list[n].SourceStart == s.SourceEnd && list[n].End == s.Start {
		list[n].SourceStart, list[n].End = s.SourceStart, s.End
		return list
	}
	return append(list, s)
}
