package edit

import (
	"encoding/json"
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/project"
	"cutroom/internal/rhythm"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// beat is the measuring of one file's beats, which is remembered like its silence.
type beat struct {
	m     *ffmpeg.Measure
	on    *rhythm.Onsets
	name  string
	done  bool
	found pulse
}

// pulse is when a file's beats are, and how sure that is.
type pulse struct {
	Times      []cutroom.Micros
	Confidence float64
}

func newBeat(f tool.Facts, file tool.Input, n int) (*beat, error) {
	a, err := file.Media.AudioStream(0)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "snap: %s has no sound to find beats in", file.Name).WithHint("name a file with music as snap.source, or leave snap out")
	}
	b := &beat{on: rhythm.NewOnsets(a.Audio.SampleRate, 0), name: fmt.Sprintf("beats-%d", n)}
	b.m, err = ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Hear: b.on.Add, Abilities: &f.Abilities})
	return b, err
}

// Next returns the run, once.
func (b *beat) Next() (argv.Command, bool) {
	if b.done {
		return argv.Command{}, false
	}
	c, ok := b.m.Next()
	c.Step, c.Stage = b.name, "looking for beats"
	c.Memo = &argv.Memo{
		Save: func(values []any) ([]byte, error) {
			if err := b.take(argv.Result{Values: values}); err != nil {
				return nil, err
			}
			return json.Marshal(b.found)
		},
		Load: func(text []byte) ([]any, error) {
			var found pulse
			err := json.Unmarshal(text, &found)
			return []any{found}, err
		},
	}
	return c, ok
}

// Feed takes what the run found, now or before.
func (b *beat) Feed(res argv.Result) error {
	if found, ok := argv.Value[pulse](res); ok {
		b.found, b.done = found, true
		return nil
	}
	return b.take(res)
}

func (b *beat) take(res argv.Result) error {
	if b.done {
		return nil
	}
	if err := b.m.Feed(res); err != nil {
		return err
	}
	found := rhythm.FindBeats(b.on.Envelope(b.m.Signals().StartSeconds), rhythm.BeatOptions{})
	b.done, b.found = true, pulse{found.Times, found.Confidence}
	return nil
}

// beats are the measurings that snapping needs: of each file whose clips ask for it, or
// of the one whose beats count for all.
func (r *rendering) beats() ([]job, error) {
	wanted := map[int][]int{} // clips by the file that is listened to
	for i, c := range r.p.Clips {
		if !c.Snap {
			continue
		}
		if r.p.Snap == nil {
			r.p.Snap = &project.Snap{To: "beats", Tolerance: 120_000, Confidence: 0.5}
		}
		path := c.Src
		if r.p.Snap.Source != "" {
			path = r.p.Snap.Source
		}
		file, err := r.f.Named(path)
		if err != nil {
			return nil, err
		}
		wanted[file.Index] = append(wanted[file.Index], i)
	}
	var list []job
	for _, f := range r.f.Inputs {
		clips := wanted[f.Index]
		if len(clips) == 0 {
			continue
		}
		b, err := newBeat(r.f, f, f.Index)
		if err != nil {
			return nil, err
		}
		list = append(list, job{b, func() error { return r.snap(b.found, clips) }})
	}
	return list, nil
}

// snap moves the ends of clips to the beats next to them; the ends of a file stay.
func (r *rendering) snap(p pulse, clips []int) error {
	s := r.p.Snap
	if p.Confidence < s.Confidence {
		return cutroom.Errorf(cutroom.Precondition, "snap: the beat is not sure enough: confidence %.2f, at least %.2f is wanted", p.Confidence, s.Confidence).
			WithHint("leave snap out, or lower snap.min_confidence")
	}
	for _, i := range clips {
		file, err := r.f.Named(r.p.Clips[i].Src)
		if err != nil {
			return err
		}
		span, whole := r.spans[i], lengthOf(file)
		for _, end := range []*cutroom.Micros{&span.Start, &span.End} {
			if *end == 0 || *end == whole {
				continue
			}
			to := rhythm.Snap([]cutroom.Micros{*end}, p.Times, s.Tolerance)[0].To
			if to == *end {
				r.say("clip %d: %s s was not moved: no beat lies within %s s, or one is there", i+1, *end, s.Tolerance)
			}
			*end = min(max(0, to), whole)
		}
		if span.End <= span.Start {
			r.say("clip %d was not moved: snap would leave nothing of it", i+1)
			continue
		}
		r.spans[i] = span
	}
	return nil
}
