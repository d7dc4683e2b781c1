package graph_test

import (
	"path/filepath"
	"testing"

	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// TestWorkLeavesTheRest: work on one track copies the picture and the other tracks, and
// the sound is as long as the picture.
func TestWorkLeavesTheRest(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	music := made(t, "music.wav", "-f lavfi -i sine=f=880:d=1.5:r=44100")
	for _, name := range []string{"base.mp4", "b33_avoffset.mp4", "b10_late.ts", "b32_longaudio.mp4", "b23_multi.mp4", "b06_noaudio.mp4"} {
		l := newLab(t, filepath.Join(cases, name), music)
		w := graph.Work{Music: &graph.Bed{Source: 1, Loop: true, Volume: -14}}
		if name == "b06_noaudio.mp4" {
			w = graph.Work{Replace: &graph.Bed{Source: 1}}
		}
		out, res := l.render(graph.Graph{
			Clips: []graph.Clip{{}}, Picture: &graph.Picture{Copy: true}, Sound: &graph.Sound{Work: &w},
			Target: graph.Target{File: "out.mp4", Container: "mp4"},
		})
		if got := psnr(t, l.Inputs[0], out); got != "inf" {
			t.Errorf("%s: psnr %s", name, got)
		}
		f1, _ := counts(t, l.Inputs[0])
		f2, s2 := counts(t, out)
		tracks := max(1, len(l.sources[0].Media.AudioStreams()))
		v := l.sources[0].Media.FirstVideo()
		want := int(v.EndSeconds * 48 / 1000)
		if rate := l.sources[0].Media.AudioStreams(); len(rate) > 0 {
			want = int(v.EndSeconds) * rate[0].Audio.SampleRate / 1_000_000
		}
		if f1 != f2 || len(s2) != tracks || s2[0] < want-1 || s2[0] > want+1024 {
			t.Errorf("%s: %d frames of %d, %v samples, want %d in %d tracks; %v", name, f2, f1, s2, want, tracks, res.Dropped)
		}
		for n := 1; n < tracks; n++ { // copied, so equal
			if a, b := packets(t, l.Inputs[0], n), packets(t, out, n); a != b {
				t.Errorf("%s: track %d changed", name, n)
			}
		}
	}
}

// packets is a digest of a track's packets.
func packets(t *testing.T, file string, n int) string {
	t.Helper()
	return string(testenv.Run(t, "", "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+file, "-map", "0:a:"+string(rune('0'+n)), "-c", "copy", "-f", "streamhash", "-"))
}
