package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"cutroom"
	"cutroom/internal/tools/measure"
)

// measuring compares all measurements of a file with one plain decode of it, and
// what they find with a pass that leaves nothing out.
func measuring(ctx context.Context, l *lab) ([]figure, error) {
	var figures []figure
	for _, m := range []struct {
		file, what string
		target     float64
	}{
		{high, "1080p High", 1.0},
		{hd720, "720p High", 1.3},
		{baseline, "1080p Baseline", 1.3},
	} {
		if err := l.probed(ctx, m.file); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		ours, err := l.invoke(invocation{tool: "measure.signals", request: measure.SignalsInput{Input: cutroom.InPath(m.file)}, out: &out})
		if err != nil {
			return nil, err
		}
		f, err := contest{
			what: "all measurements, " + m.what, plain: "ffmpeg -f null of both streams", ours: "measure.signals", unit: "×", target: m.target,
			by: []step{l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", m.file, "-map", "0:v:0", "-map", "0:a:0", "-f", "null", "-")}, our: ours,
		}.run(ctx, l)
		if err != nil {
			return nil, err
		}
		same, err := l.compare(ctx, m.file, m.what, out.Bytes())
		if err != nil {
			return nil, err
		}
		figures = append(append(figures, f), same...)
		if f, err = l.watching(ctx, m.file, m.what, m.target); err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// watching compares scenes, camera moves, beats, peaks and speech, all at once, with one
// plain decode.
func (l *lab) watching(ctx context.Context, file, what string, target float64) (figure, error) {
	ours, err := l.invoke(invocation{tool: "measure.scenes", request: measure.ScenesInput{
		Input: cutroom.InPath(file), Shots: true, Beats: true, AudioPeaks: true, Speech: true,
	}})
	if err != nil {
		return figure{}, err
	}
	return contest{
		what: "scenes, camera, beats, speech, " + what, plain: "ffmpeg -f null of both streams", ours: "measure.scenes", unit: "×", target: target,
		by: []step{l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", file, "-map", "0:v:0", "-map", "0:a:0", "-f", "null", "-")}, our: ours,
	}.run(ctx, l)
}

// compare holds what was measured against a pass of whole pictures.
func (l *lab) compare(ctx context.Context, file, what string, answer []byte) ([]figure, error) {
	var got measure.SignalsOutput
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	full, err := l.fullPass(ctx, file)
	if err != nil {
		return nil, err
	}
	var worst float64
	var amiss []string
	cuts := map[int64]bool{}
	for _, c := range got.Signals.Video.Changes {
		if c.Kind != "cut" {
			continue
		}
		cuts[int64(c.PTS)] = true
		score, ok := full.scores[int64(c.PTS)]
		if !ok {
			amiss = append(amiss, fmt.Sprintf("a cut at %s s where no frame is", c.Seconds))
		}
		worst = max(worst, c.Score-score, score-c.Score)
	}
	for pts, score := range full.scores {
		if score >= leastCut+1 && !cuts[pts] {
			amiss = append(amiss, fmt.Sprintf("no cut at tick %d, score %.1f", pts, score))
		}
	}
	v, a := got.Signals.Video, got.Signals.Audio
	amiss = append(amiss, differing("black", full.black, v.Black, 45_000)...)
	amiss = append(amiss, differing("freeze", full.freeze, v.Freeze, 45_000)...)
	amiss = append(amiss, differing("silence", full.silence, a.Silence, 1000)...)
	found := fmt.Sprintf("%d cuts, %d black, %d frozen, %d silent", len(cuts), len(v.Black), len(v.Freeze), len(a.Silence))
	events := absolute("events that differ, "+what, "a pass without shortcuts", "measure.signals", "events", float64(len(amiss)), 0)
	events.Note = found
	if len(amiss) > 0 {
		events.Note += fmt.Sprintf("; %q", amiss[:min(len(amiss), 4)])
	}
	scores := absolute("largest difference of a cut's score, "+what, "a pass without shortcuts", "measure.signals", "points", worst, 1.0)
	return []figure{events, scores}, nil
}

// absolute is a figure that is nobody's multiple.
func absolute(what, plain, ours, unit string, value, target float64) figure {
	f := figure{What: what, Plain: plain, Ours: ours, Unit: unit, Value: value, Target: target, Runs: 1, Basis: unit}
	f.judge()
	return f
}
