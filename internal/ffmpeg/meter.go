package ffmpeg

import (
	"fmt"
	"io"

	"cutroom/internal/sandbox/argv"
)

// LoudnessMeter returns a consumer of interleaved 32-bit float samples (f32le) that
// measures their loudness in constant memory. Its value is a *Loudness.
func LoudnessMeter(rate, channels int, layout string) argv.Consumer {
	return func(r io.Reader) (any, error) {
		if rate <= 0 || channels <= 0 {
			return nil, fmt.Errorf("%d Hz and %d channels cannot be measured", rate, channels)
		}
		a := &AudioFacts{SampleRate: rate, Channels: channels, Layout: layout}
		m := &Measure{audio: &Stream{Audio: a}, opts: MeasureOptions{Loudness: true}}
		v, err := m.readSound(r)
		if err != nil {
			return nil, err
		}
		return v.(*soundMeter).loudness.result(0), nil
	}
}
