package graph_test

import (
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// The last frame of a picture is shown, also where its chain lays one picture over another
// before it is brought to a rate, and where it is transparent.
func TestTheLastFrameIsShown(t *testing.T) {
	t.Parallel()
	const stairs = "-f lavfi -i color=black:s=160x90:r=10:d=1,geq=lum='30+20*N':cb=128:cr=128"
	for name, c := range map[string]struct {
		file string
		fit  graph.Fit
	}{
		"blur.mp4":  {made(t, "in.mp4", stairs+" -c:v libx264 -crf 5 -pix_fmt yuv420p"), graph.Blur},
		"clear.mp4": {made(t, "in.mkv", stairs+" -vf format=yuva420p -c:v ffv1"), graph.Pad},
	} {
		l := newLab(t, c.file)
		ten := ffmpeg.Rational{Num: 10, Den: 1}
		out, _ := l.render(graph.Graph{
			Clips:   []graph.Clip{{}},
			Picture: &graph.Picture{Rate: ten, Width: 90, Height: 160, Fit: c.fit},
			Target:  graph.Target{File: name, Container: "mp4"},
		})
		px := testenv.Run(t, "", "ffmpeg", "-v", "error", "-i", "file:"+out, "-vf", "crop=16:16:36:72,scale=1:1:flags=area,format=gray,extractplanes=y", "-f", "rawvideo", "-")
		if len(px) != 10 || int(px[9])-int(px[8]) < 12 {
			t.Errorf("%s shows %v: its last frame is the one before", name, px)
		}
	}
}

// A crop at odd places has the colours of the source there: ffmpeg's own takes halves of
// samples of more than eight bits. Grey keeps its brightness.
func TestACropAtOddPlaces(t *testing.T) {
	t.Parallel()
	for file, args := range map[string]string{
		"deep.mkv": "-f lavfi -i color=red:s=64x64:r=10:d=0.3 -pix_fmt yuv420p10le -color_range tv -colorspace smpte170m -c:v ffv1",
		"grey.mkv": "-f lavfi -i color=0x282828:s=64x64:r=10:d=0.3 -pix_fmt gray -c:v ffv1",
	} {
		in := made(t, file, args)
		l := newLab(t, in)
		out, _ := l.render(graph.Graph{
			Clips:   []graph.Clip{{}},
			Picture: &graph.Picture{Crop: &graph.Box{X: 3, Y: 5, Width: 32, Height: 32}},
			Target:  graph.Target{File: "out.mp4", Container: "mp4"},
		})
		read := func(f string) []byte {
			return testenv.Run(t, "", "ffmpeg", "-v", "error", "-i", "file:"+f, "-frames:v", "1", "-vf", "scale=1:1:flags=area,format=rgb24", "-f", "rawvideo", "-")
		}
		want, got := read(in), read(out)
		for k := range want {
			if d := int(want[k]) - int(got[k]); d > 6 || d < -6 {
				t.Errorf("%s: %v became %v", file, want, got)
				break
			}
		}
	}
}

// A file that breaks off is refused as a layer, too, unless only what is there is shown.
func TestALayerThatBreaksOff(t *testing.T) {
	t.Parallel()
	l := newLab(t, filepath.Join(testenv.Cases(t), "base.mp4"), filepath.Join(testenv.Cases(t), "b18_trunc_faststart.mp4"))
	g := graph.Graph{
		Sources: l.sources, Clips: []graph.Clip{{}},
		Picture: &graph.Picture{Layers: []graph.Layer{{Source: 1, Box: graph.Box{Width: 64, Height: 64}}}},
		Target:  graph.Target{File: "out.mp4", Container: "mp4"},
	}
	if _, err := graph.NewRender(g, abilities()); cutroom.AsError(err).Code != cutroom.UnreadableMedia {
		t.Errorf("the whole of it: %v", err)
	}
	g.Picture.Layers[0].End = 2 * cutroom.Second
	if _, err := graph.NewRender(g, abilities()); err != nil {
		t.Errorf("two seconds of it: %v", err)
	}
}
