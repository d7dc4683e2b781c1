package graph_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

var abilities = sync.OnceValue(func() ffmpeg.Abilities {
	var outs [][]byte
	for _, c := range ffmpeg.AbilityCommands() {
		var args []string
		for _, a := range c.Args {
			args = append(args, string(a.(argv.Word)))
		}
		out, _ := exec.Command("ffmpeg", args...).Output()
		outs = append(outs, out)
	}
	a, err := ffmpeg.ParseAbilities(outs[0], outs[1], outs[2], outs[3], outs[4])
	if err != nil {
		panic(err)
	}
	return a
})

// lab runs graphs over real files.
type lab struct {
	*testenv.Runner
	t       *testing.T
	sources []graph.Source
}

func newLab(t *testing.T, files ...string) *lab {
	t.Helper()
	testenv.Needs(t, "ffmpeg", "ffprobe")
	l := &lab{Runner: testenv.NewRunner(t, files...), t: t}
	for i, f := range files {
		head, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		format, err := ffmpeg.Sniff(head[:min(len(head), 64<<10)], filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		p := ffmpeg.NewProber(i, format, int64(len(head)))
		if err := l.Drive(p); err != nil {
			t.Fatal(err)
		}
		doc, err := p.Document()
		if err != nil {
			t.Fatal(err)
		}
		l.sources = append(l.sources, graph.Source{Input: i, Format: format, Media: doc, Name: filepath.Base(f), SHA256: cutroom.DigestOf(head)})
	}
	return l
}

// render runs g, whose sources are the lab's, and returns the written file.
func (l *lab) render(g graph.Graph) (string, graph.Result) {
	l.t.Helper()
	g.Sources = l.sources
	r, err := graph.NewRender(g, abilities())
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.Drive(r); err != nil {
		l.t.Fatalf("%v\n%s", err, l.Stderr)
	}
	res, err := r.Result()
	if err != nil {
		for _, v := range res.Verified {
			l.t.Logf("%+v", v)
		}
		l.t.Fatal(err)
	}
	return filepath.Join(l.Dir, g.Target.File), res
}

// counts decodes a file and returns its video frames and audio samples per stream.
func counts(t *testing.T, file string) (frames int, samples []int) {
	t.Helper()
	out := testenv.Run(t, "", "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+file, "-map", "0:v?", "-map", "0:a?", "-c:v", "rawvideo", "-c:a", "pcm_s16le", "-f", "framecrc", "-")
	kinds := map[string]string{}
	per := map[string]int{}
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "#media_type "); ok {
			n, kind, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			kinds[n] = kind
			continue
		}
		f := strings.Split(line, ",")
		if strings.HasPrefix(line, "#") || len(f) < 5 {
			continue
		}
		n := strings.TrimSpace(f[0])
		if kinds[n] == "video" {
			frames++
			continue
		}
		var d int
		fmt.Sscan(strings.TrimSpace(f[3]), &d)
		per[n] += d
	}
	for n := range len(kinds) {
		if kinds[fmt.Sprint(n)] == "audio" {
			samples = append(samples, per[fmt.Sprint(n)])
		}
	}
	return frames, samples
}

func sec(s float64) cutroom.Micros { return cutroom.MicrosOf(s) }

func made(t *testing.T, name, args string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	testenv.FFmpeg(t, append(strings.Fields(args), out)...)
	return out
}

const av = "-f lavfi -i testsrc2=d=4:s=320x240:r=25 -f lavfi -i sine=f=440:d=4:r=48000 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 50 -c:a aac -b:a 96k -shortest"

func TestSelectionsAreExact(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mp4", av)
	l := newLab(t, in)
	out, res := l.render(graph.Graph{
		Clips:   []graph.Clip{{Start: sec(0.4), End: sec(1)}, {Start: sec(1.5), End: sec(1.5 + 0.04)}, {Start: sec(3), End: sec(3.6)}},
		Picture: &graph.Picture{}, Sound: &graph.Sound{},
		Target: graph.Target{File: "out.mp4", Container: "mp4"},
	})
	frames, samples := counts(t, out)
	if frames != 31 || len(samples) != 1 {
		t.Errorf("%d frames, %v samples; want 31, one track", frames, samples)
	}
	if want := 59520; samples[0] < want || samples[0] > want+1024 {
		t.Errorf("%d samples, want %d", samples[0], want)
	}
	if got := res.Map.Segments[2]; got.SourceStart != sec(3) || got.Start != sec(0.64) || got.End != sec(1.24) {
		t.Errorf("third segment %+v", got)
	}
}

func TestJoins(t *testing.T) {
	t.Parallel()
	a := made(t, "a.mp4", av)
	b := made(t, "b.mp4", "-f lavfi -i testsrc2=d=2:s=640x360:r=30 -f lavfi -i sine=d=2:r=44100 -ac 1 -c:v libx264 -preset ultrafast -c:a aac")
	c := made(t, "c.mp4", "-f lavfi -i testsrc2=d=2:s=240x320:r=24 -c:v libx264 -preset ultrafast")
	l := newLab(t, a, b, c)
	for _, tr := range []graph.Transition{{}, {Kind: "fade", Length: sec(0.5)}} {
		out, res := l.render(graph.Graph{
			Clips: []graph.Clip{{Source: 0, End: sec(2)}, {Source: 1}, {Source: 2}}, Transition: tr,
			Picture: &graph.Picture{}, Sound: &graph.Sound{},
			Target: graph.Target{File: "out.mp4", Container: "mp4"},
		})
		frames, samples := counts(t, out)
		want := 150
		if tr.Kind != "" {
			want = 150 - 2*13
		}
		if frames != want || samples[0] < want*1920 || samples[0] > want*1920+1024 {
			t.Errorf("%v: %d frames, %v samples; want %d and %d", tr, frames, samples, want, want*1920)
		}
		t.Log(res.Notes, res.Dropped)
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mp4", av)
	l := newLab(t, in)
	for _, f := range []graph.Fit{graph.Pad, graph.Cover, graph.Blur, graph.Stretch} {
		out, _ := l.render(graph.Graph{
			Clips: []graph.Clip{{}}, Picture: &graph.Picture{Width: 180, Height: 320, Fit: f, Rate: ffmpeg.Rational{Num: 30, Den: 1}}, Sound: &graph.Sound{Copy: true},
			Target: graph.Target{File: "out.mp4", Container: "mp4"},
		})
		if frames, _ := counts(t, out); frames != 120 {
			t.Errorf("%s: %d frames", f, frames)
		}
	}
}

func TestSoundAlone(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mp4", av)
	l := newLab(t, in)
	for _, name := range []string{"out.wav", "out.flac", "out.mp3", "out.m4a", "out.opus", "out.ogg"} {
		k, err := graph.ContainerOf(filepath.Ext(name))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := l.render(graph.Graph{
			Clips: []graph.Clip{{Start: sec(1), End: sec(2.5)}, {Start: sec(3), End: sec(3.25)}}, Sound: &graph.Sound{},
			Target: graph.Target{File: name, Container: k},
		})
		if _, samples := counts(t, out); len(samples) != 1 || samples[0] < 84000 || samples[0] > 84000+2400 {
			t.Errorf("%s: %v samples, want 84000", name, samples)
		}
	}
}

// psnr compares two files' pictures; +Inf is equality.
func psnr(t *testing.T, a, b string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-hide_banner", "-i", "file:"+a, "-i", "file:"+b, "-lavfi", "[0:v]format=yuv420p,settb=1/25,setpts=N[x];[1:v]format=yuv420p,settb=1/25,setpts=N[y];[x][y]psnr", "-f", "null", "-").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	i := strings.LastIndex(string(out), "average:")
	if i < 0 {
		t.Fatalf("no psnr\n%s", out)
	}
	return strings.Fields(string(out)[i+8:])[0]
}

func entry(t *testing.T, file, stream, entry string) string {
	t.Helper()
	return strings.TrimSpace(string(testenv.Run(t, "", "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "stream="+entry, "-of", "default=nw=1:nk=1", "file:"+file)))
}

func TestCopiedPictureKeepsItsPackets(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	for _, name := range []string{"base.mp4", "b33_avoffset.mp4", "b10_late.ts", "b32_longaudio.mp4", "b23_multi.mp4", "b34_sparsekf.mkv", "b01_rot90.mp4"} {
		l := newLab(t, filepath.Join(cases, name))
		container := "mp4"
		if filepath.Ext(name) == ".mkv" {
			container = "mkv"
		}
		out, res := l.render(graph.Graph{
			Clips: []graph.Clip{{}}, Picture: &graph.Picture{Copy: true}, Sound: &graph.Sound{},
			Target: graph.Target{File: "out." + container, Container: container},
		})
		if got := psnr(t, l.Inputs[0], out); got != "inf" {
			t.Errorf("%s: psnr %s", name, got)
		}
		f1, s1 := counts(t, l.Inputs[0])
		f2, s2 := counts(t, out)
		t.Log(name, f1, s1, f2, s2, res.Dropped)
		if f1 != f2 || len(s1) != len(s2) {
			t.Errorf("%s: %d frames, %v; were %d, %v", name, f2, s2, f1, s1)
		}
	}
}

func TestWholeFilesKeepTheirFrames(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	for i, name := range []string{"base.mp4", "b01_rot90.mp4", "b02_vfr.mp4", "b03_hlg.mp4", "b04_pq.mp4", "b05_odd.mp4", "b09_coverfirst.mp4", "b10_late.ts", "b10_editlist.mp4", "b19_nodur.webm", "b20_alpha.webm", "b22_sar.mp4", "b23_multi.mp4", "b24_tmcd.mov", "b26.gif", "b28_1frame.mp4", "b29_fullrange.mp4", "b32_longaudio.mp4", "b33_avoffset.mp4", "b34_sparsekf.mkv"} {
		if i%2 == 0 && !testenv.Soak() { // what is left out here, the tests of edits take, too
			continue
		}
		l := newLab(t, filepath.Join(cases, name))
		g := graph.Graph{
			Clips: []graph.Clip{{}}, Picture: &graph.Picture{}, Keep: graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
			Target: graph.Target{File: "out.mp4", Container: "mp4"},
		}
		if len(l.sources[0].Media.AudioStreams()) > 0 {
			g.Sound = &graph.Sound{}
		}
		out, res := l.render(g)
		f1, s1 := counts(t, l.Inputs[0])
		f2, s2 := counts(t, out)
		t.Log(name, f1, s1, f2, s2, entry(t, out, "v:0", "width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,sample_aspect_ratio,codec_name"), res.Notes, res.Dropped)
		if f1 != f2 {
			t.Errorf("%s: %d frames, were %d", name, f2, f1)
		}
	}
}
