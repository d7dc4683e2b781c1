package graph_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// A video of one frame is a clip like any other: it joins, it becomes a GIF, and it stays
// a frame where the rate gets so low that rounding would leave none.
func TestASingleFrame(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	l := newLab(t, filepath.Join(cases, "b28_1frame.mp4"), filepath.Join(cases, "base.mp4"))
	one := ffmpeg.Rational{Num: 1, Den: 1}
	for _, c := range []struct {
		clips  []graph.Clip
		file   string
		rate   ffmpeg.Rational
		frames int
	}{
		{[]graph.Clip{{}, {Source: 1}}, "a.mp4", ffmpeg.Rational{}, 101},
		{[]graph.Clip{{Source: 1}, {}, {Source: 1, End: sec(1)}}, "b.mp4", ffmpeg.Rational{}, 126},
		{[]graph.Clip{{}, {}}, "c.mp4", ffmpeg.Rational{}, 2},
		{[]graph.Clip{{}}, "d.gif", ffmpeg.Rational{Num: 12, Den: 1}, 1},
		{[]graph.Clip{{}}, "e.mp4", one, 1},
	} {
		container, err := graph.ContainerOf(filepath.Ext(c.file))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := l.render(graph.Graph{Clips: c.clips, Picture: &graph.Picture{Rate: c.rate}, Target: graph.Target{File: c.file, Container: container}})
		if frames, _ := counts(t, out); frames != c.frames {
			t.Errorf("%s has %d frames, not %d", c.file, frames, c.frames)
		}
	}
}

// A picture of one column or row cannot be cropped to an even size: it is enlarged, and
// that is said.
func TestTheSmallestPictures(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {1, 40}, {41, 1}, {3, 3}} {
		in := made(t, "in.mkv", fmt.Sprintf("-f lavfi -i testsrc2=d=0.4:s=64x64:r=10 -vf format=yuv444p,crop=%d:%d:exact=1 -c:v ffv1", size[0], size[1]))
		l := newLab(t, in)
		out, res := l.render(graph.Graph{Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: "out.mp4", Container: "mp4"}})
		want := fmt.Sprintf("%d\n%d", max(2, size[0]&^1), max(2, size[1]&^1))
		if got := entry(t, out, "v:0", "width,height"); got != want || len(res.Notes) == 0 {
			t.Errorf("%v became %q, not %q: %q", size, got, want, res.Notes)
		}
	}
}

// Pixels that are not quite square keep their shape to the last digit.
func TestNearlySquarePixels(t *testing.T) {
	t.Parallel()
	l := newLab(t, made(t, "in.mp4", "-f lavfi -i testsrc2=d=0.4:s=342x192:r=10 -vf setsar=512/513:max=1000 -c:v libx264 -preset ultrafast"))
	out, _ := l.render(graph.Graph{Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: "out.mp4", Container: "mp4"}})
	if got := entry(t, out, "v:0", "width,height,sample_aspect_ratio"); got != "342\n192\n512:513" {
		t.Errorf("%q", got)
	}
}

// Case 11: without a decoder that reads it, transparency is no black picture but an error.
func TestAlphaNeedsItsDecoder(t *testing.T) {
	t.Parallel()
	l := newLab(t, filepath.Join(testenv.Cases(t), "b20_alpha.webm"))
	poor := ffmpeg.Abilities{Major: 5, Minor: 1, Encoders: []string{"libx264"}, Decoders: []string{"vp9"}}
	_, err := graph.NewRender(graph.Graph{Sources: l.sources, Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: "out.mp4", Container: "mp4"}}, poor)
	if e := cutroom.AsError(err); err == nil || e.Code != cutroom.MissingDependency || !strings.Contains(e.Msg, "transparent") || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// Standard range among high dynamic range is brought to its curve, not stretched to its
// peak: white lies at 203 cd/m², 75 % of HLG and 58 % of PQ (ITU-R BT.2408, table 1).
func TestWhiteAmongHighDynamicRange(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	white := made(t, "white.mkv", "-f lavfi -i color=white:s=321x241:r=25:d=0.4 -pix_fmt yuv444p -c:v ffv1")
	rgb := made(t, "rgb.mkv", "-f lavfi -i color=white:s=320x240:r=25:d=0.4 -pix_fmt gbrp -c:v ffv1")
	for name, want := range map[string]float64{"b03_hlg.mp4": 0.75, "b04_pq.mp4": 0.58} {
		l := newLab(t, filepath.Join(cases, name), white, rgb)
		out, res := l.render(graph.Graph{Clips: []graph.Clip{{End: sec(0.4)}, {Source: 1}, {Source: 2}}, Picture: &graph.Picture{}, Target: graph.Target{File: "out.mp4", Container: "mp4"}})
		for _, at := range []string{"0.6", "1.0"} {
			p := testenv.Run(t, "", "ffmpeg", "-v", "error", "-ss", at, "-i", out, "-frames:v", "1", "-vf", "scale=1:1:flags=area", "-pix_fmt", "gray10le", "-f", "rawvideo", "-")
			if got := float64(int(p[0])|int(p[1])<<8) / 1023; got < want-0.015 || got > want+0.015 {
				t.Errorf("%s: white is %.3f of the range at %s s, not %.2f", name, got, at, want)
			}
		}
		if said := strings.Join(res.Notes, " "); !strings.Contains(said, "203 cd/m²") {
			t.Errorf("%s", said)
		}
	}
}
