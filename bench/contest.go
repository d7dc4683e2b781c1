package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// sample is what one run took: of the process and all its children.
type sample struct{ wall, cpu time.Duration }

func (s sample) plus(o sample) sample { return sample{s.wall + o.wall, s.cpu + o.cpu} }

// step is one run of something; round counts the runs from 0.
type step func(ctx context.Context, round int) (sample, error)

// contest is one comparison: the plain things that together do the needed work, and
// ours.
type contest struct {
	what   string
	plain  string // in words
	ours   string
	by     []step // their sum is the plain figure
	our    step
	unit   string  // "×": ours ÷ plain; "ms": ours − plain
	target float64 // most
	wall   bool    // the target is wall time, not processor time
	cheap  int     // how many times more runs than usual; 0 is 1
	note   string
}

// run runs every side in turn, in another order each round, after one round that
// does not count.
func (c contest) run(ctx context.Context, l *lab) (figure, error) {
	steps := append(slices.Clone(c.by), c.our)
	var plain, ours []sample
	for round := range 1 + l.runs*max(1, c.cheap) {
		took := make([]sample, len(steps))
		for k := range steps {
			i := (k + round) % len(steps)
			s, err := steps[i](ctx, round)
			if err != nil {
				return figure{}, fmt.Errorf("%s: %w", c.what, err)
			}
			took[i] = s
		}
		if round == 0 {
			continue
		}
		var sum sample
		for _, s := range took[:len(c.by)] {
			sum = sum.plus(s)
		}
		plain, ours = append(plain, sum), append(ours, took[len(c.by)])
	}
	return c.figure(plain, ours), nil
}

func (c contest) figure(plain, ours []sample) figure {
	f := figure{
		What: c.what, Plain: c.plain, Ours: c.ours, Unit: c.unit, Target: c.target, Runs: len(ours), Note: c.note,
		PlainWall: ms(wallOf(plain)), PlainCPU: ms(cpuOf(plain)), OursWall: ms(wallOf(ours)), OursCPU: ms(cpuOf(ours)),
	}
	value := func(of func(sample) time.Duration) float64 {
		var v []float64
		for i := range ours {
			a, b := of(ours[i]).Seconds(), of(plain[i]).Seconds()
			if c.unit == "ms" {
				v = append(v, (a-b)*1e3)
			} else {
				v = append(v, a/max(b, 1e-9))
			}
		}
		return middle(v)
	}
	f.Wall = value(func(s sample) time.Duration { return s.wall })
	f.CPU = value(func(s sample) time.Duration { return s.cpu })
	f.Basis, f.Value = "cpu", f.CPU
	if c.wall {
		f.Basis, f.Value = "wall", f.Wall
	}
	// Other work on the machine only ever adds: the fastest run of each side tells the
	// most of what they need.
	least := func(s []sample) float64 {
		return ms(slices.MinFunc(s, func(a, b sample) int { return cmp.Compare(a.wall, b.wall) }).wall)
	}
	if f.BestWall = least(ours) / least(plain); c.unit == "ms" {
		f.BestWall = least(ours) - least(plain)
	}
	f.judge()
	return f
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

func wallOf(s []sample) time.Duration {
	return pick(s, func(s sample) time.Duration { return s.wall })
}

func cpuOf(s []sample) time.Duration { return pick(s, func(s sample) time.Duration { return s.cpu }) }

func pick(list []sample, of func(sample) time.Duration) time.Duration {
	var d []time.Duration
	for _, s := range list {
		d = append(d, of(s))
	}
	return middle(d)
}

// middle is the median, the mean of the two in the middle for an even number.
func middle[T ~int64 | ~float64](v []T) T {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
