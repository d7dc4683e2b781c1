package graph_test

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// try renders g and returns the error, too.
func (l *lab) try(g graph.Graph) (graph.Result, error) {
	l.t.Helper()
	g.Sources = l.sources
	r, err := graph.NewRender(g, abilities())
	if err != nil {
		return graph.Result{}, err
	}
	if err := l.Drive(r); err != nil {
		return graph.Result{}, err
	}
	return r.Result()
}

// TestVideoCodecs writes every codec into every container that holds it, with the
// effort and quality of each.
func TestVideoCodecs(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mp4", "-f lavfi -i testsrc2=d=0.6:s=160x120:r=25 -c:v libx264 -preset ultrafast -pix_fmt yuv420p")
	for _, k := range []struct {
		file, tag, format string
		video             graph.VideoCodec
	}{
		{"a.mp4", "avc1", "yuv420p", graph.VideoCodec{}},
		{"b.mp4", "hvc1", "yuv420p", graph.VideoCodec{Name: "hevc", Effort: "ultrafast", Quality: 30}},
		{"c.mov", "hvc1", "yuv420p10le", graph.VideoCodec{Name: "hevc", Effort: "veryfast", PixelFormat: "yuv420p10le", Profile: "main10"}},
		{"d.mkv", "", "yuv420p", graph.VideoCodec{Name: "hevc", Effort: "fast"}},
		{"e.mp4", "av01", "yuv420p", graph.VideoCodec{Name: "av1", Effort: "ultrafast", Quality: 45}},
		{"f.webm", "", "yuv420p", graph.VideoCodec{}},
		{"g.webm", "", "yuv420p", graph.VideoCodec{Name: "av1", Effort: "superfast"}},
		{"h.mov", "apch", "yuv422p10le", graph.VideoCodec{Name: "prores"}},
		{"i.mov", "apcs", "yuv422p10le", graph.VideoCodec{Name: "prores", Profile: "lt"}},
		{"j.mov", "ap4h", "yuv444p12le", graph.VideoCodec{Name: "prores", Profile: "4444"}},
		{"k.gif", "", "bgra", graph.VideoCodec{}},
		{"l.mkv", "", "yuv420p", graph.VideoCodec{Name: "mpeg4", Quality: 5}},
		{"m.mov", "avc1", "yuv420p", graph.VideoCodec{Name: "h264", Effort: "veryslow", Profile: "high"}},
	} {
		l := newLab(t, in)
		container, err := graph.ContainerOf(filepath.Ext(k.file))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := l.render(graph.Graph{Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: k.file, Container: container, Video: k.video}})
		if frames, _ := counts(t, out); frames != 15 {
			t.Errorf("%s: %d frames", k.file, frames)
		}
		if got := entry(t, out, "v:0", "pix_fmt"); got != k.format {
			t.Errorf("%s: %s", k.file, got)
		}
		if got := entry(t, out, "v:0", "codec_tag_string"); k.tag != "" && got != k.tag {
			t.Errorf("%s: tag %s", k.file, got)
		}
		if got := psnr(t, in, out); got != "inf" && parse(t, got) < 27 {
			t.Errorf("%s: psnr %s", k.file, got)
		}
	}
}

func parse(t *testing.T, s string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(s, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEncodersRefuse(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mp4", av)
	l := newLab(t, in)
	for _, k := range []struct {
		want   string
		code   cutroom.Code
		target graph.Target
	}{
		{"cannot hold h264", cutroom.Invalid, graph.Target{File: "o.webm", Container: "webm", Video: graph.VideoCodec{Name: "h264"}}},
		{"out of range", cutroom.Invalid, graph.Target{File: "o.mp4", Container: "mp4", Video: graph.VideoCodec{Quality: 52}}},
		{"effort", cutroom.Invalid, graph.Target{File: "o.mp4", Container: "mp4", Video: graph.VideoCodec{Effort: "placebo; rm"}}},
		{"cannot hold mp3", cutroom.Invalid, graph.Target{File: "o.webm", Container: "webm", Audio: graph.AudioCodec{Name: "mp3"}}},
	} {
		_, err := l.try(graph.Graph{Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Sound: &graph.Sound{}, Target: k.target})
		if e := cutroom.AsError(err); e == nil || e.Code != k.code || !strings.Contains(e.Msg, k.want) || e.Hint == "" {
			t.Errorf("%s: %v", k.want, err)
		}
	}
	poor := abilities()
	poor.Encoders = slices.DeleteFunc(slices.Clone(poor.Encoders), func(e string) bool { return strings.Contains(e, "av1") })
	poor = ffmpeg.Abilities{Version: poor.Version, Major: poor.Major, Minor: poor.Minor, Encoders: poor.Encoders, Filters: poor.Filters, Decoders: poor.Decoders}
	_, err := graph.NewRender(graph.Graph{Sources: l.sources, Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: "o.mp4", Container: "mp4", Video: graph.VideoCodec{Name: "av1"}}}, poor)
	if e := cutroom.AsError(err); e == nil || e.Code != cutroom.MissingDependency {
		t.Errorf("%v", err)
	}
}

// TestSoundFitsItsCodec: whatever rate and layout a recording has, the sound comes out
// with its channels, with a layout that players know, and none of its samples short.
func TestSoundFitsItsCodec(t *testing.T) {
	t.Parallel()
	type form struct {
		rate   int
		layout string
		n      int
	}
	// Each codec with what it refuses or labels wrongly when it is given that as it is.
	for name, forms := range map[string][]form{
		"o.m4a":  {{37800, "stereo", 2}, {48000, "5.1(side)", 6}, {48000, "7.1(wide)", 8}},
		"o.mp3":  {{8000, "mono", 1}, {96000, "quad", 4}},
		"o.opus": {{22050, "mono", 1}, {48000, "5.1(side)", 6}, {48000, "2.1", 3}},
		"o.ogg":  {{8000, "stereo", 2}, {48000, "hexagonal", 6}},
		"o.flac": {{37800, "5.1(side)", 6}},
	} {
		for _, k := range forms {
			rate, layout, n := k.rate, k.layout, k.n
			in := filepath.Join(t.TempDir(), "in.wav")
			exprs := strings.TrimSuffix(strings.Repeat("0.2*sin(2*PI*400*t)|", n), "|")
			testenv.FFmpeg(t, "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='%s':s=%d:d=0.5:c=%s", exprs, rate, layout), in)
			{
				l := newLab(t, in)
				container, _ := graph.ContainerOf(filepath.Ext(name))
				out, res := l.render(graph.Graph{Clips: []graph.Clip{{}}, Sound: &graph.Sound{}, Target: graph.Target{File: name, Container: container}})
				want := n
				if name == "o.mp3" {
					want = min(2, n)
				}
				if got := entry(t, out, "a:0", "channels"); got != fmt.Sprint(want) {
					t.Errorf("%s of %s at %d Hz: %s channels", name, layout, rate, got)
				}
				if got := entry(t, out, "a:0", "channel_layout"); got == "unknown" && name != "o.wav" && name != "o.flac" {
					t.Errorf("%s of %s at %d Hz: layout %s", name, layout, rate, got)
				}
				if want < n && !slices.ContainsFunc(res.Notes, func(s string) bool { return strings.Contains(s, "mixed down") }) {
					t.Errorf("%s of %s: not said: %v", name, layout, res.Notes)
				}
				_, samples := counts(t, out)
				got := int(parse(t, entry(t, out, "a:0", "sample_rate")))
				if len(samples) != 1 || samples[0] < got/2-128 || // a decoder of Vorbis gives nothing for the first block
					samples[0] > got/2+2*2304 {
					t.Errorf("%s of %s at %d Hz: %v samples at %d Hz", name, layout, rate, samples, got)
				}
			}
		}
	}
}

// pixel returns the mean colour of a file's first frame, with its alpha.
func pixel(t *testing.T, file string, decoder ...string) [4]int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "p.png")
	args := append(slices.Clone(decoder), "-i", "file:"+file, "-frames:v", "1", "-vf", "format=rgba", "-y", out)
	testenv.FFmpeg(t, args...)
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	var sum [4]int
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, a := img.At(x, y).RGBA()
			for i, v := range []uint32{r, g, bl, a} {
				sum[i] += int(v >> 8)
			}
		}
	}
	for i := range sum {
		sum[i] /= b.Dx() * b.Dy()
	}
	return sum
}

// Case 11: what is transparent stays so where the codec carries it, and is laid on the
// stated colour where it does not.
func TestAlpha(t *testing.T) {
	t.Parallel()
	in := filepath.Join(testenv.Cases(t), "b20_alpha.webm")
	l := newLab(t, in)
	render := func(file string, v graph.VideoCodec) (string, graph.Result) {
		container, _ := graph.ContainerOf(filepath.Ext(file))
		return l.render(graph.Graph{Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Target: graph.Target{File: file, Container: container, Video: v}})
	}
	before := pixel(t, in, "-c:v", "libvpx-vp9")
	kept, res := render("o.webm", graph.VideoCodec{})
	if after := pixel(t, kept, "-c:v", "libvpx-vp9"); !close4(before, after, 4) || len(res.Notes) > 0 {
		t.Errorf("%v became %v, %v", before, after, res.Notes)
	}
	kept, _ = render("o.mov", graph.VideoCodec{Name: "prores", Profile: "4444"})
	if after := pixel(t, kept); !close4(before, after, 4) {
		t.Errorf("%v became %v", before, after)
	}
	flat, res := render("o.mp4", graph.VideoCodec{})
	a := before[3]
	want := [4]int{before[0] + 255 - a, before[1] + 255 - a, before[2] + 255 - a, 255} // Go multiplies colours by alpha
	if after := pixel(t, flat); before[3] == 255 || before[3] == 0 || len(res.Notes) == 0 {
		t.Errorf("alpha %d, notes %v", before[3], res.Notes)
	} else if !close4(want, after, 4) {
		t.Errorf("on white %v, not %v", after, want)
	}
}

func close4(a, b [4]int, by int) bool {
	for i := range a {
		if d := a[i] - b[i]; d > by || d < -by {
			return false
		}
	}
	return true
}
