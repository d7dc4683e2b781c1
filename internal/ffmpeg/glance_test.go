package ffmpeg

import (
	"testing"

	"cutroom"
)

// TestGlancesAreTheFrames: one for each frame, with its time, score and picture, beside
// the samples and without them, and every sample of sound.
func TestGlancesAreTheFrames(t *testing.T) {
	t.Parallel()
	file := made(t, "two.mp4", "-f lavfi -i color=white:d=2:s=320x180:r=30 -f lavfi -i color=black:d=2:s=320x180:r=30 -f lavfi -i sine=d=4:r=48000 -filter_complex [0:v][1:v]concat[v] -map [v] -map 2:a -ac 2 -c:v libx264 -preset ultrafast -c:a pcm_s16le -f mov OUT")
	for _, samples := range []bool{false, true} {
		var seen []Glance
		var heard int
		var loudest float32
		s := measure(t, file, MeasureOptions{
			Samples: samples, Scenes: samples,
			See: func(g *Glance) { seen = append(seen, *g) },
			Hear: func(mono []float32) {
				heard += len(mono)
				for _, v := range mono {
					loudest = max(loudest, v)
				}
			},
		})
		if len(seen) != 120 || int64(heard) != s.Audio.Samples || heard < 191_000 || loudest < 0.05 || loudest > 0.2 {
			t.Fatalf("%d frames, %d samples up to %v", len(seen), heard, loudest)
		}
		if samples != (len(s.Video.Samples) == 8) {
			t.Errorf("%d samples", len(s.Video.Samples))
		}
		for i, g := range seen {
			want := cutroom.Micros(i) * cutroom.Second / 30
			if !near(g.Seconds, want, 2) || (g.Score > 50) != (i == 60) || (g.Luma[100] > 200) != (i < 60) || g.Cb[7] < 120 || g.Cr[7] > 136 {
				t.Fatalf("frame %d: %v, score %v, brightness %d", i, g.Seconds, g.Score, g.Luma[100])
			}
		}
	}
}
