package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// stairs is a video of 50 frames of which number n is grey of 20 + 4·n.
const stairs = `-f lavfi -i color=black:s=160x90:r=25:d=2,geq=lum='20+4*N':cb=128:cr=128 -f lavfi -i sine=f=440:d=2:r=44100 -c:v libx264 -crf 10 -g 10 -pix_fmt yuv420p -c:a aac`

// shown are the numbers of the stairs' frames that a file shows.
func shown(t *testing.T, file string) string {
	t.Helper()
	out := testenv.Run(t, "", "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+file, "-vf", "crop=96:56:32:16,scale=1:1:flags=area,format=yuv420p,extractplanes=y", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
	var list []int
	for _, y := range out {
		list = append(list, int(math.Round((float64(y)-20)/4)))
	}
	return fmt.Sprint(list)
}

func up(from, to int) (list []int) {
	for i := from; i <= to; i++ {
		list = append(list, i)
	}
	return list
}

func down(from, to int) (list []int) {
	for i := from; i >= to; i-- {
		list = append(list, i)
	}
	return list
}

// What does not fit into memory is played backwards in pieces, and what repeats is
// encoded once: which frames show is the same as in one piece, and so is the map.
func TestPiecesAreExact(t *testing.T) {
	t.Parallel()
	l := newLab(t, made(t, "in.mp4", stairs))
	const room = 160 * 90 * 3 / 2 * 11 // 11 frames
	rest := append(up(0, 49), down(48, 1)...)
	cases := []struct {
		name, file string
		g          graph.Graph
		want       []int
		runs       int
	}{
		{"backwards", "out.mp4", graph.Graph{Clips: []graph.Clip{{Reverse: true}}, Memory: room}, down(49, 0), 6},
		{"backwards in one piece", "out.mp4", graph.Graph{Clips: []graph.Clip{{Reverse: true}}}, down(49, 0), 1},
		{
			"a part backwards", "out.mkv",
			graph.Graph{Clips: []graph.Clip{{End: sec(1)}, {Start: sec(0.4), End: sec(1.2), Reverse: true}, {Start: sec(1.6)}}, Memory: room},
			append(append(up(0, 24), down(29, 10)...), up(40, 49)...), 5,
		},
		{"backwards, twice as fast", "out.mp4", graph.Graph{Clips: []graph.Clip{{Reverse: true, Speed: ffmpeg.Rational{Num: 2, Den: 1}}}, Memory: room}, nil, 4},
		{
			"there and back, cut off on the way back", "out.mp4",
			graph.Graph{Clips: []graph.Clip{{}, {Start: sec(0.04), End: sec(1.96), Reverse: true}}, Memory: room, Repeat: graph.Repeat{Length: sec(4.96)}},
			append(append([]int{}, rest...), up(0, 25)...), 8,
		},
		{
			"cut off within a piece played backwards", "out.webm",
			graph.Graph{Clips: []graph.Clip{{}, {Start: sec(0.04), End: sec(1.96), Reverse: true}}, Memory: room, Repeat: graph.Repeat{Length: sec(2.68)}},
			append(up(0, 49), down(48, 32)...), 8,
		},
		{"as a GIF", "out.gif", graph.Graph{Clips: []graph.Clip{{}, {Start: sec(0.04), End: sec(1.96), Reverse: true}}, Repeat: graph.Repeat{Times: 2}}, append(append([]int{}, rest...), rest...), 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &lab{Runner: testenv.NewRunner(t, l.Inputs...), t: t, sources: l.sources}
			c.g.Picture = &graph.Picture{}
			if !strings.HasSuffix(c.file, ".gif") {
				c.g.Sound = &graph.Sound{}
			}
			c.g.Target = graph.Target{File: c.file, Container: c.file[len("out."):], Video: graph.VideoCodec{Effort: "veryfast"}}
			c.g.Sources = l.sources
			r, err := graph.NewRender(c.g, abilities())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(r.Planned()); n != c.runs {
				t.Errorf("%d runs, want %d", n, c.runs)
			}
			out, res := l.render(c.g)
			if got := shown(t, out); c.want != nil && got != fmt.Sprint(c.want) {
				t.Errorf("it shows %s\nwant %v", got, c.want)
			}
			for i, s := range res.Map.Segments {
				if i > 0 && s.Start != res.Map.Segments[i-1].End {
					t.Errorf("%+v does not follow %+v", s, res.Map.Segments[i-1])
				}
			}
			if last := res.Map.Segments[len(res.Map.Segments)-1]; last.End != res.Map.Seconds {
				t.Errorf("the map ends with %+v of %v", last, res.Map.Seconds)
			}
		})
	}
}
