package graph_test

import (
	"math"
	"path/filepath"
	"testing"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// loudnessOf measures the n-th audio stream of a written file.
func loudnessOf(t *testing.T, file string, n int) *ffmpeg.Loudness {
	t.Helper()
	l := newLab(t, file)
	m, err := ffmpeg.NewMeasure(0, l.sources[0].Format, l.sources[0].Media, ffmpeg.MeasureOptions{Loudness: true, AudioStream: n})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Drive(m); err != nil {
		t.Fatal(err)
	}
	return m.Signals().Audio.Loudness
}

// sounds are what loudness is tried on: expressions of one channel.
var sounds = map[string]string{
	"tone":    "sine=f=997:r=48000:d=8,volume=-20dB",
	"quiet":   "sine=f=440:r=44100:d=8,volume=-45dB",
	"pulses":  "aevalsrc=0.5*sin(2*PI*1500*t)*exp(-25*mod(t\\,0.5)):s=48000:d=12",
	"noise":   "anoisesrc=d=8:c=pink:r=48000:a=0.5:seed=7",
	"clipped": "sine=f=300:r=48000:d=8,volume=60,aformat=sample_fmts=s16",
	"square":  "aevalsrc=if(lt(mod(t*200\\,1)\\,0.5)\\,1\\,-1):s=48000:d=8",
	"steps":   "sine=f=600:r=48000:d=20,volume='if(lt(mod(t\\,4)\\,2)\\,0.02\\,0.6)':eval=frame",
	"22k":     "sine=f=500:r=22050:d=8,volume=-30dB",
}

// Whatever the sound and the codec, what is written has the loudness that was asked for,
// and no peak above the ceiling, by a second measurement.
func TestLoudnessIsReached(t *testing.T) {
	t.Parallel()
	for name, source := range sounds {
		for _, k := range []struct {
			suffix string
			target graph.Target
			lufs   float64
		}{
			{"wav", graph.Target{Container: "wav"}, -14},
			{"m4a", graph.Target{Container: "m4a"}, -14},
			{"mp3", graph.Target{Container: "mp3"}, -16},
			{"opus", graph.Target{Container: "opus"}, -23},
		} {
			t.Run(name+"."+k.suffix, func(t *testing.T) {
				t.Parallel()
				in := filepath.Join(t.TempDir(), "in.wav")
				testenv.FFmpeg(t, "-f", "lavfi", "-i", source, "-c:a", "pcm_s24le", in)
				l := newLab(t, in)
				k.target.File = "out." + k.suffix
				out, res := l.render(graph.Graph{Clips: []graph.Clip{{}}, Sound: &graph.Sound{Loudness: &graph.Loudness{LUFS: k.lufs, TruePeak: -1}}, Target: k.target})
				got := loudnessOf(t, out, 0)
				t.Logf("%.1f → %.2f LUFS, %.2f dBTP; gain %.1f, limit %.2f (%v), %d passes, %d encodes", *res.Loudness.Before.Integrated, *got.Integrated, *got.TruePeak, res.Loudness.Gain, res.Loudness.Limit, res.Loudness.Limited, res.Loudness.Passes, res.Loudness.Encodes)
				if math.Abs(*got.Integrated-k.lufs) > 0.5 || *got.TruePeak > -0.95 {
					t.Errorf("%.2f LUFS, %.2f dBTP", *got.Integrated, *got.TruePeak)
				}
			})
		}
	}
}
