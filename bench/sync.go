package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"cutroom"
	"cutroom/internal/tools/measure"
)

// syncing compares laying two recordings of ten minutes against each other with
// decoding the sound of both.
func syncing(ctx context.Context, l *lab) ([]figure, error) {
	for _, name := range []string{event, second} {
		if err := l.probed(ctx, name); err != nil {
			return nil, err
		}
	}
	var figures []figure
	for _, c := range []struct {
		what    string
		analyze cutroom.Micros
		target  float64
	}{
		{"sync of 2 × 10 min", 0, 1.2},
		{"sync of 2 × 10 min, all of it compared", 600 * cutroom.Second, 2.5}, // every sample is resampled and compared, too
	} {
		var out bytes.Buffer
		ours, err := l.invoke(invocation{tool: "measure.sync", out: &out, request: measure.SyncInput{
			Reference: event, Second: second, Hearing: measure.Hearing{AnalyzeSeconds: c.analyze},
		}})
		if err != nil {
			return nil, err
		}
		f, err := contest{
			what: c.what, plain: "ffmpeg -f null of the sound of both", ours: "measure.sync", unit: "×", target: c.target,
			by: []step{
				l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", event, "-map", "0:a:0", "-f", "null", "-"),
				l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", second, "-map", "0:a:0", "-f", "null", "-"),
			}, our: ours,
		}.run(ctx, l)
		if err != nil {
			return nil, err
		}
		var got measure.SyncOutput
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			return nil, err
		}
		if !got.Matched || math.Abs(got.Offset.Seconds()-12.5) > 0.002 {
			return nil, fmt.Errorf("the recordings are said to lie at %v: %s", got.Offset, got.Meaning)
		}
		f.Note = fmt.Sprintf("offset %s s, %d of %d windows agree, drift over %s s", got.Offset, got.Agreeing, got.Windows, got.Drift.Over)
		figures = append(figures, f)
	}
	return figures, nil
}
