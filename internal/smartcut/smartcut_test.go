package smartcut_test

import (
	"path/filepath"
	"testing"

	"cutroom/internal/smartcut"
	"cutroom/internal/testenv"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.mp4")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30:d=12", "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(220+20*t)*t):s=44100:d=12",
		"-c:v", "libx264", "-preset", "veryfast", "-g", "60", "-bf", "3", "-c:a", "aac", file)
	l := newLab(t, file)
	for _, s := range [][]smartcut.Span{
		{{Start: 1_300_000, End: 7_450_000}}, {{Start: 0, End: 5_000_000}}, {{Start: 2_000_000, End: 0}}, {{Start: 7_000_000, End: 11_100_000}, {Start: 1_000_000, End: 4_500_000}},
	} {
		res, why := l.cut("mp4", s...)
		if res == nil {
			t.Errorf("%v: %s", s, why)
			continue
		}
		for _, v := range res.Verified {
			t.Logf("%+v", v)
		}
		t.Logf("%+v", res.Segments)
	}
}
