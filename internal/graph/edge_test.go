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
