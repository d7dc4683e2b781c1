package edit

import (
	"encoding/json"
	"fmt"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/project"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/timeline"
	"cutroom/internal/tool"
)

// silences is the measuring of one file's dead air. What it found is remembered, so that
// another render of the file does not measure it again.
type silences struct {
	m     *ffmpeg.Measure
	name  string
	done  bool
	found []quiet
}

func newSilences(f tool.Facts, file tool.Input, n int, o project.Silence) (*silences, error) {
	m, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{
		Silence: true, SilenceDB: o.Threshold, SilenceFor: min(120_000, o.Least), Abilities: &f.Abilities,
	})
	return &silences{m: m, name: fmt.Sprintf("silence-%d", n)}, err
}

// Next returns the run, once.
func (s *silences) Next() (argv.Command, bool) {
	if s.done {
		return argv.Command{}, false
	}
	c, ok := s.m.Next()
	c.Step, c.Stage = s.name, "looking for silence"
	c.Memo = &argv.Memo{
		Save: func(values []any) ([]byte, error) {
			if err := s.take(argv.Result{Values: values}); err != nil {
				return nil, err
			}
			return json.Marshal(s.found)
		},
		Load: func(text []byte) ([]any, error) {
			var found []quiet
			err := json.Unmarshal(text, &found)
			return []any{found}, err
		},
	}
	return c, ok
}

// Feed takes what the run found, now or before.
func (s *silences) Feed(res argv.Result) error {
	if found, ok := argv.Value[[]quiet](res); ok {
		s.found, s.done = found, true
		return nil
	}
	return s.take(res)
}

func (s *silences) take(res argv.Result) error {
	if s.done {
		return nil
	}
	if err := s.m.Feed(res); err != nil {
		return err
	}
	s.done, s.found = true, []quiet{}
	a := s.m.Signals().Audio
	if a == nil {
		return nil
	}
	s.found = append(s.found, quiet{0, a.StartSeconds})
	for _, x := range a.Silence {
		s.found = append(s.found, quiet{x.StartSeconds, x.EndSeconds})
	}
	s.found = append(s.found, quiet{a.EndSeconds, 1 << 50})
	return nil
}

// leastKept is the shortest sound between two silences that stays.
const leastKept = 200_000

// kept are the parts of a clip that are not silent.
func (r *rendering) kept(source int, span edl.Range) []edl.Range {
	list, measured := r.quiet[source]
	if r.p.Silence == nil || !measured {
		return []edl.Range{span}
	}
	q := edl.Quiet{Whole: span, MinSilence: r.p.Silence.Least, Margin: r.p.Silence.Margin, MinKeep: leastKept}
	for _, s := range list {
		if a, b := max(s.Start, span.Start), min(s.End, span.End); a < b {
			q.Spans = append(q.Spans, edl.Range{Start: a, End: b})
		}
	}
	return q.Tighten().Keep
}

// clips cuts the clips where they are silent. The parts of one clip meet in plain cuts.
func (r *rendering) clips() error {
	var list []graph.Clip
	var err error
	if r.wave, err = r.waves(); err != nil {
		return err
	}
	before, after := cutroom.Micros(0), cutroom.Micros(0)
	for i, c := range r.p.Clips {
		file, err := r.f.Named(c.Src)
		if err != nil {
			return err
		}
		n := r.source(file)
		keep := r.kept(n, r.spans[i])
		before += r.spans[i].End - r.spans[i].Start
		after += edl.Total(keep)
		for k, part := range keep {
			clip := graph.Clip{Source: n, Start: part.Start, End: part.End, Exact: c.Exact, Wave: r.wave}
			if part.End >= lengthOf(file) {
				clip.End = 0
			}
			if c.Speed > 0 && c.Speed != 1 {
				clip.Speed = playing(c.Speed)
			}
			switch {
			case k > 0:
				clip.Enter = &graph.Transition{}
			case c.Transition != nil:
				clip.Enter = &graph.Transition{Kind: c.Transition.Type, Length: c.Transition.Duration}
			}
			if k == 0 {
				clip.Lead = c.Lead
				if c.Lead > 0 {
					clip.Enter = &graph.Transition{}
				}
			}
			list = append(list, clip)
		}
	}
	switch {
	case len(list) == 0:
		return cutroom.Errorf(cutroom.Invalid, "nothing would stay: the clips are silent throughout").WithHint("choose a lower silence.threshold than %g", r.p.Silence.Threshold)
	case len(list) > maxInputs && !oneAfterAnother(list):
		return cutroom.Errorf(cutroom.Limit, "the edit has %d parts, more than %d that can be decoded side by side", len(list), maxInputs).
			WithHint("raise silence.min_silence, or take the silence out of each recording first (`cutroom silence`)")
	}
	r.out.Removed = before - after
	r.graph.Clips = list
	if t := r.p.Transition; t != nil {
		r.graph.Transition = graph.Transition{Kind: t.Type, Length: t.Duration}
	}
	return nil
}

// oneAfterAnother reports whether all clips are parts of one source in its own order,
// which one decode is enough for.
func oneAfterAnother(list []graph.Clip) bool {
	for i, c := range list {
		if c.Source != list[0].Source || c.Speed.Known() || c.Lead > 0 || i > 0 && (c.Start < list[i-1].End || c.Enter == nil || c.Enter.Length > 0) {
			return false
		}
	}
	return true
}

// playing is a speed as an exact ratio of what was written.
func playing(f float64) ffmpeg.Rational {
	return timeline.Ratio(f, 100_000)
}

// seam is how clip i takes over from the one before.
func (r *rendering) seam(i int) graph.Transition {
	if e := r.graph.Clips[i].Enter; e != nil {
		return *e
	}
	return r.graph.Transition
}
