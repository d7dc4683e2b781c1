package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
)

// growing measures work at once, ten and a hundred times its size: an exponent over 1
// is worse than linear.
func growing(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, tenMin); err != nil {
		return nil, err
	}
	var figures []figure
	for _, g := range []struct {
		what  string
		work  func(l *lab, size int) (func() error, error)
		sizes [3]int
	}{
		{"hash, bytes", hashOfSize, [3]int{4 << 20, 40 << 20, 400 << 20}},
		{"transcript, cues", transcriptOfSize, [3]int{500, 5000, 50_000}},
		{"timeline, segments", timelineOfSize, [3]int{500, 5000, 50_000}},
	} {
		var took [3]time.Duration
		for i, size := range g.sizes {
			work, err := g.work(l, size)
			if err != nil {
				return nil, err
			}
			if took[i], err = least(work, l.runs, g.sizes[2]/size); err != nil {
				return nil, fmt.Errorf("%s of %d: %w", g.what, size, err)
			}
		}
		steps := [2]float64{math.Log10(took[1].Seconds() / took[0].Seconds()), math.Log10(took[2].Seconds() / took[1].Seconds())}
		// A tenth over 1 is what caches of the processor and the collector of garbage do.
		f := absolute("growth of "+g.what, "–", "in this process", "exponent", steps[1], 1.1)
		f.Note = fmt.Sprintf("%d, %d, %d take %.2f, %.2f, %.2f ms of CPU; n^%.2f, then n^%.2f", g.sizes[0], g.sizes[1], g.sizes[2],
			ms(took[0]), ms(took[1]), ms(took[2]), steps[0], steps[1])
		figures = append(figures, f)
	}
	return figures, nil
}

// least is the processor time of the cheapest of some runs. Each run repeats the work
// as often as it fits into the largest: a machine with other work on it and the
// collector of garbage then weigh on all sizes alike.
func least(work func() error, runs, repeat int) (time.Duration, error) {
	best := time.Duration(math.MaxInt64)
	for range runs + 1 {
		before := processorTime()
		for range repeat {
			if err := work(); err != nil {
				return 0, err
			}
		}
		best = min(best, (processorTime()-before)/time.Duration(repeat))
	}
	return best, nil
}

func hashOfSize(l *lab, size int) (func() error, error) {
	path := filepath.Join(l.tmp, "growing")
	from, err := os.Open(filepath.Join(l.media, tenMin))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = io.CopyN(to, from, int64(size))
	if cerr := to.Close(); err == nil {
		err = cerr
	}
	quiet := func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = digest(f)
		return err
	}
	return quiet, err
}

func transcriptOfSize(_ *lab, cues int) (func() error, error) {
	var b bytes.Buffer
	b.WriteString("WEBVTT\n")
	for i := range cues {
		start, end := cutroom.Micros(i)*2*cutroom.Second, (cutroom.Micros(i)*2+1)*cutroom.Second
		fmt.Fprintf(&b, "\n%s --> %s\n<v Speaker %d>what is said in sentence %d of them all\n", start.Clock(), end.Clock(), i%7, i)
	}
	return func() error {
		t, err := evidence.ParseTranscript(b.Bytes(), evidence.ParseOptions{})
		if err == nil && len(t.Segments) != cues {
			err = fmt.Errorf("%d segments of %d cues", len(t.Segments), cues)
		}
		return err
	}, nil
}

func timelineOfSize(_ *lab, n int) (func() error, error) {
	in := evidence.Inputs{SegmentSource: "speech", MeasureSource: "signals", Machine: true, Duration: cutroom.Micros(n) * 2 * cutroom.Second}
	for i := range n {
		at := cutroom.Micros(i) * 2 * cutroom.Second
		end := at + cutroom.Second
		in.Segments = append(in.Segments, evidence.Segment{Start: at, End: &end, Text: fmt.Sprintf("what is said in sentence %d of them all", i)})
		in.Scenes = append(in.Scenes, evidence.Cut{At: at, Score: 20})
		in.Silences = append(in.Silences, evidence.Span{Start: end, End: &end})
		in.Screens = append(in.Screens, evidence.Screen{At: at, Source: "text", Lines: []evidence.ScreenLine{
			{Text: fmt.Sprintf("slide %d", i/20)}, {Text: fmt.Sprintf("line %d of a list", i)},
		}})
	}
	return func() error {
		events, notes := evidence.Merge(in)
		_, err := evidence.TimelineJSON(evidence.Timeline{Events: events, Limitations: notes, DurationSeconds: &in.Duration})
		return err
	}, nil
}
