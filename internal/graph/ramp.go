package graph

import (
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
)

// Ramp is a speed that changes evenly over a clip, from one to another.
type Ramp struct{ From, To float64 }

// Mean is the speed at which a clip of even speed lasts as long as one of the ramp, to a
// millionth: what goes into [Clip.Speed] beside it.
func (r Ramp) Mean() ffmpeg.Rational {
	x := r.From
	if k := r.To/r.From - 1; math.Abs(k) > 1e-9 {
		x = r.From * k / math.Log1p(k)
	}
	return ffmpeg.Rational{Num: max(1, int64(math.Round(x*1e6))), Den: 1_000_000}.Reduced()
}

// at is how much of the clip's time has passed once so much of its source's has, each
// from 0 to 1.
func (r Ramp) at(x float64) float64 {
	k := r.To/r.From - 1
	if math.Abs(k) < 1e-9 {
		return x
	}
	return math.Log1p(k*x) / math.Log1p(k)
}

// Sound changes its speed in steps, which lie where the picture is at their ends; the edit
// map has the same.
const (
	rampStep  = cutroom.Second / 5
	rampSteps = 240
)

func (r Ramp) steps(source cutroom.Micros) int64 {
	return int64(min(max(source/rampStep, 2), rampSteps))
}

// picture is the expression of a frame's time in a clip of the source's ticks from and to.
func (r Ramp) picture(p part) string {
	k := r.To/r.From - 1
	if math.Abs(k) < 1e-9 {
		return fmt.Sprintf("(PTS-%d)*%d/%d", p.from, p.clip.speed().Den, p.clip.speed().Num)
	}
	length := float64(p.to - p.from)
	return fmt.Sprintf("'floor(%.6f*log(1+%.12f*(PTS-%d)/%.0f)+0.5)'", length/p.clip.speed().Float()/math.Log1p(k), k, p.from, length)
}

// sound plays the samples of a clip, which head ends with, in steps; it ends without a
// label, as head does. n is how many samples the clip has at rate when it was played.
func (r Ramp) sound(head, tag string, p part, rate int) string {
	steps := r.steps(p.end - p.start)
	count := round(int64(p.end-p.start), ffmpeg.Rational{Num: int64(rate), Den: 1}, micro)
	long := round(int64(stretched(p.end-p.start, p.clip.speed())), ffmpeg.Rational{Num: int64(rate), Den: 1}, micro)
	var b strings.Builder
	fmt.Fprintf(&b, "%s,asplit=%d", head, steps)
	for i := range steps {
		fmt.Fprintf(&b, "[%si%d]", tag, i)
	}
	for i := range steps {
		from, to := count*i/steps, count*(i+1)/steps
		begin, end := r.sampled(from, count, long), r.sampled(to, count, long)
		step := p.clip
		step.Speed = ffmpeg.Rational{Num: max(1, to-from), Den: max(1, end-begin)}
		fmt.Fprintf(&b, ";[%si%d]atrim=start_sample=%d:end_sample=%d,asetpts=PTS-STARTPTS%s,aresample=%d,apad=whole_len=%d,atrim=end_sample=%d[%so%d]",
			tag, i, from, to, pace(step.near(), rate), rate, end-begin, end-begin, tag, i)
	}
	b.WriteByte(';')
	for i := range steps {
		fmt.Fprintf(&b, "[%so%d]", tag, i)
	}
	fmt.Fprintf(&b, "concat=n=%d:v=0:a=1", steps)
	return b.String()
}

func (r Ramp) sampled(n, count, long int64) int64 {
	return int64(math.Round(float64(long) * r.at(float64(n)/float64(max(1, count)))))
}

// near is a clip with its speed as a resampler can count it.
func (c Clip) near() Clip {
	c.Speed = ffmpeg.Rational{Num: max(1, int64(math.Round(c.Speed.Float()*1000))), Den: 1000}.Reduced()
	return c
}

// segments are the parts of a segment of even speed as the ramp plays it.
func (r Ramp) segments(s edl.Segment) (list []edl.Segment) {
	steps := r.steps(s.SourceEnd - s.SourceStart)
	source, shown := s.SourceEnd-s.SourceStart, s.End-s.Start
	end := func(i int64) (cutroom.Micros, cutroom.Micros) {
		x := float64(i) / float64(steps)
		return s.SourceStart + source*cutroom.Micros(i)/cutroom.Micros(steps), s.Start + cutroom.Micros(math.Round(float64(shown)*r.at(x)))
	}
	for i := range steps {
		part := s
		part.SourceStart, part.Start = end(i)
		part.SourceEnd, part.End = end(i + 1)
		if part.Start < part.End && part.SourceStart < part.SourceEnd {
			list = append(list, part)
		}
	}
	return list
}
