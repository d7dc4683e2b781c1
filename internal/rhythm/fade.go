package rhythm

import (
	"math"

	"cutroom"
)

// blankRun is a stretch of nothing but black or white, with the fades that lead into it
// and out of it.
type blankRun struct {
	from, to cutroom.Micros // first and last blank frame
	level    float64        // its brightness
	first    int            // number of its last frame, while the fade after it is awaited
	out, in  slope
	atStart  bool // nothing came before it
	atEnd    bool
	open     bool // still going on
	waiting  bool // the fade after it is not measured yet
}

// slope is a steady change of brightness.
type slope struct {
	start, end cutroom.Micros
	rise       float64
	ok         bool
}

const (
	longestRamp = 6 * cutroom.Second
	leastRise   = 10.0 // of brightness and contrast together
	steepest    = 0.45 // of the rise in one frame: what is steeper is a cut
	leastFade   = 80 * cutroom.Second / 1000
	dipFor      = 2 * cutroom.Second // a longer stretch of black is a scene of its own
)

// watchBlank follows whether the picture is blank.
func (p *Pictures) watchBlank() {
	n := p.last()
	f := p.frame(n)
	var run *blankRun
	if len(p.blanks) > 0 {
		run = &p.blanks[len(p.blanks)-1]
	}
	if run != nil && run.waiting && f.at-run.to > longestRamp {
		p.measureIn(run)
	}
	switch blank := f.blank(); {
	case blank && (run == nil || !run.open):
		if run != nil && run.waiting {
			p.measureIn(run)
		}
		p.blanks = append(p.blanks, blankRun{from: f.at, to: f.at, level: f.mean, first: n, open: true, atStart: n == 0, out: p.ramp(n, -1)})
	case blank:
		run.to, run.first = f.at, n
		if math.Abs(f.mean-128) > math.Abs(run.level-128) {
			run.level = f.mean
		}
	case run != nil && run.open:
		run.open, run.waiting = false, true
	}
}

func (p *Pictures) measureIn(run *blankRun) {
	run.in, run.waiting = p.ramp(run.first, 1), false
}

func (p *Pictures) endBlank() {
	if len(p.blanks) == 0 {
		return
	}
	run := &p.blanks[len(p.blanks)-1]
	if run.open {
		run.open, run.atEnd = false, true
	}
	if run.waiting {
		p.measureIn(run)
	}
}

// ramp measures how brightness and contrast grow from blank frame n, step by step
// onwards (1) or backwards (−1), until they grow no more.
func (p *Pictures) ramp(n, step int) slope {
	origin := p.frame(n)
	level := func(f *kept) float64 { return math.Abs(f.mean-origin.mean) + f.dev }
	var levels []float64
	var times []cutroom.Micros
	top := 0
	for k := n; ; k += step {
		f := p.frame(k)
		if f == nil || max(f.at-origin.at, origin.at-f.at) > longestRamp {
			break
		}
		levels, times = append(levels, level(f)), append(times, f.at)
		last := len(levels) - 1
		if levels[last] > levels[top]*1.01+0.3 {
			top = last
		}
		// It grows no more when a fifth of the ramp, and 4 frames, brought nothing.
		if last-top > max(4, top/5) {
			break
		}
	}
	if len(levels) == 0 {
		return slope{}
	}
	low, rise := levels[0], levels[top]-levels[0]
	if rise < leastRise {
		return slope{}
	}
	for k := 1; k <= top; k++ {
		if levels[k]-levels[k-1] > steepest*rise {
			return slope{}
		}
	}
	a, b := crossing(levels, times, low+0.2*rise), crossing(levels, times, low+0.8*rise)
	span := math.Abs(b-a) / 0.6
	if span < float64(leastFade) {
		return slope{}
	}
	from := cutroom.Micros(a - math.Copysign(0.2*span, float64(step)))
	to := cutroom.Micros(b + math.Copysign(0.2*span, float64(step)))
	if most := cutroom.Micros(crossing(levels, times, low+0.96*rise)); step > 0 {
		to = max(to, most)
	} else {
		to = min(to, most) // some fades begin fast and end slowly
	}
	if step < 0 {
		from, to = to, from
	}
	return slope{start: max(0, from), end: to, rise: rise, ok: true}
}

// crossing is the time at which levels first reach a level.
func crossing(levels []float64, times []cutroom.Micros, level float64) float64 {
	for k := 1; k < len(levels); k++ {
		if levels[k] >= level {
			share := 0.0
			if d := levels[k] - levels[k-1]; d > 0 {
				share = math.Max(0, math.Min(1, (level-levels[k-1])/d))
			}
			return float64(times[k-1]) + share*float64(times[k]-times[k-1])
		}
	}
	return float64(times[len(times)-1])
}

// fades turns blank stretches into changes: one for a dip, two for a long stretch.
func (p *Pictures) fades() []Change {
	var out []Change
	for _, b := range p.blanks {
		score := func(r slope) float64 { return math.Round(math.Min(100, r.rise/1.8)*1000) / 1000 }
		switch {
		case b.out.ok && b.in.ok && b.to-b.from <= dipFor:
			out = append(out, Change{Kind: Fade, Start: b.out.start, End: b.in.end, At: (b.out.end + b.in.start) / 2, Score: math.Max(score(b.out), score(b.in))})
			continue
		}
		if b.out.ok {
			out = append(out, Change{Kind: Fade, Start: b.out.start, End: b.out.end, At: b.out.end, Score: score(b.out), Edge: b.atEnd})
		}
		if b.in.ok {
			out = append(out, Change{Kind: Fade, Start: b.in.start, End: b.in.end, At: b.in.start, Score: score(b.in), Edge: b.atStart})
		}
	}
	return out
}
