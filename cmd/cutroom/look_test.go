package main

import (
	"bytes"
	"image"
	"image/color"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/review"
)

func (w *workspace) look(t *testing.T, in review.LookInput) *review.LookOutput {
	t.Helper()
	return must[review.LookOutput](w, "review.look", in)
}

// picture reads a file of the workspace.
func (w *workspace) picture(t *testing.T, name string) image.Image {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// near checks a pixel within JPEG's error.
func near(t *testing.T, what string, img image.Image, x, y int, want color.RGBA) {
	t.Helper()
	r, g, b, _ := img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y).RGBA()
	for _, d := range []float64{float64(r>>8) - float64(want.R), float64(g>>8) - float64(want.G), float64(b>>8) - float64(want.B)} {
		if math.Abs(d) > 12 {
			t.Errorf("%s: pixel %d,%d is %d,%d,%d; want %d,%d,%d", what, x, y, r>>8, g>>8, b>>8, want.R, want.G, want.B)
			return
		}
	}
}

var (
	red   = color.RGBA{255, 0, 0, 255}
	green = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
)

// colours makes a clip that is red for a second, then green, then blue, at 10 frames a
// second, its colours tagged.
func colours(t *testing.T, path, size string, more ...string) {
	t.Helper()
	graph := ""
	for i, c := range []string{"0xff0000", "0x00ff00", "0x0000ff"} {
		graph += "color=" + c + ":size=" + size + ":rate=10:duration=1,format=gbrp[c" + string(rune('0'+i)) + "];"
	}
	graph += "[c0][c1][c2]concat=n=3:v=1,scale=out_color_matrix=bt709:out_range=tv,format=yuv444p"
	args := append([]string{"-filter_complex", graph, "-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"}, more...)
	testenv.FFmpeg(t, append(args, path)...)
}

func TestLookShowsTheFrameAtATime(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "rgb.mp4"), "320x180")
	for _, c := range []struct {
		at   cutroom.Moment
		want color.RGBA
		time cutroom.Micros
	}{{"0", red, 0}, {"0.999", red, 900_000}, {"1", green, 1_000_000}, {"00:00:02:00", blue, 2_000_000}, {"3", blue, 2_900_000}} {
		r := w.look(t, review.LookInput{Input: "rgb.mp4", At: []cutroom.Moment{c.at}, Tiles: "4x3"})
		if len(r.Pictures) != 1 || r.Mode != "frames" || r.Frames[0].Time != c.time || r.Pictures[0].Width != 320 {
			t.Fatalf("at %s: %+v", c.at, r)
		}
		near(t, string(c.at), w.picture(t, r.Pictures[0].Picture.RelativePath), 160, 90, c.want)
		if !strings.Contains(r.Pictures[0].Shows, c.time.Clock()) {
			t.Errorf("the picture at %s says %q", c.at, r.Pictures[0].Shows)
		}
	}
}

func TestLookSheet(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "rgb.mp4"), "320x180")
	r := w.look(t, review.LookInput{Input: "rgb.mp4", Tiles: "3x2", Width: 960, Output: writing("sheet.png").Output})
	if r.Mode != "sheet" || len(r.Frames) != 6 || r.Frames[0].Time != 0 || r.Frames[5].Time != 2_900_000 || r.File == nil || *r.File != "sheet.png" {
		t.Fatalf("%+v", r)
	}
	img := w.picture(t, "sheet.png")
	cell := img.Bounds().Dx() / 3
	row := img.Bounds().Dy() / 2
	for i, want := range []color.RGBA{red, red, green, green, blue, blue} {
		near(t, "sheet", img, cell*(i%3)+cell/2, row*(i/3)+row/3, want)
	}
	small := w.look(t, review.LookInput{Input: "rgb.mp4", Tiles: "3x2", Width: 960, NoTime: true, Output: writing("bare.jpg").Output})
	if h := w.picture(t, "bare.jpg").Bounds().Dy(); h >= img.Bounds().Dy() || small.Pictures[0].Height != h {
		t.Errorf("without times it is %d high, with them %d", h, img.Bounds().Dy())
	}
	if len(r.Commands) != 1 || strings.Count(r.Commands[0], "-i rgb.mp4") > 6 {
		t.Errorf("it ran %q", r.Commands)
	}
}

func TestLookSafeArea(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "tall.mp4"), "540x960")
	w.look(t, review.LookInput{Input: "tall.mp4", At: []cutroom.Moment{"1.5"}, Tiles: "4x3", Safe: "tiktok", Output: writing("safe.png").Output})
	img := w.picture(t, "safe.png")
	dark := color.RGBA{0, 85, 0, 255}
	for _, c := range []struct {
		x, y int
		want color.RGBA
	}{ // insets 10 % top, 22 % bottom, 5 % left, 14 % right
		{270, 480, green}, {270, 90, dark}, {270, 102, green}, {270, 740, green}, {270, 755, dark}, {20, 480, dark}, {34, 480, green}, {455, 480, green}, {470, 480, dark},
	} {
		near(t, "safe", img, c.x, c.y, c.want)
	}
}

// TestLookIsWhatAViewerSees: turned, anamorphic, HDR and transparent files.
func TestLookIsWhatAViewerSees(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, c := range []struct {
		file string
		w, h int
	}{{"b01_rot90.mp4", 240, 320}, {"b22_sar.mp4", 1024, 576}, {"b20_alpha.webm", 64, 64}, {"b26.gif", 64, 64}, {"b29_fullrange.mp4", 320, 240}, {"b10_late.ts", 320, 240}, {"cover.jpg", 64, 64}} {
		w.copy(filepath.Join(testenv.Cases(t), c.file), c.file)
		in := review.LookInput{Input: cutroom.InPath(c.file), At: []cutroom.Moment{"0"}, Tiles: "4x3"}
		r := w.look(t, in)
		img := w.picture(t, r.Pictures[0].Picture.RelativePath)
		if img.Bounds().Dx() != c.w || img.Bounds().Dy() != c.h || r.Pictures[0].Width != c.w || r.Pictures[0].Height != c.h {
			t.Errorf("%s is shown as %v", c.file, img.Bounds())
		}
		switch c.file {
		case "b20_alpha.webm": // half transparent red on white
			near(t, c.file, img, 32, 32, color.RGBA{255, 127, 127, 255})
			if !strings.Contains(strings.Join(r.Notes, " "), "white") {
				t.Errorf("nothing says what it is flattened on: %q", r.Notes)
			}
		case "cover.jpg":
			near(t, c.file, img, 32, 32, color.RGBA{254, 0, 0, 255})
		}
	}
	// Mid grey of HLG: a signal of 0.5 is 1/12 of the peak of the scene, about a third of
	// white once tone-mapped; untouched code values would read 128.
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x000000:size=320x180:rate=10:duration=1,format=yuv420p10le,geq=lum=502:cb=512:cr=512",
		"-c:v", "libx265", "-x265-params", "log-level=none", "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc", "-color_range", "tv", filepath.Join(w.dir, "grey.mp4"))
	r := w.look(t, review.LookInput{Input: "grey.mp4", At: []cutroom.Moment{"0.5"}, Tiles: "4x3"})
	img := w.picture(t, r.Pictures[0].Picture.RelativePath)
	red, g, b, _ := img.At(160, 90).RGBA()
	if v := int(g >> 8); v < 60 || v == 128 || v > 190 || math.Abs(float64(red)-float64(g)) > 1300 || math.Abs(float64(b)-float64(g)) > 1300 {
		t.Errorf("mid grey of HLG is shown as %d,%d,%d", red>>8, g>>8, b>>8)
	} else {
		t.Logf("mid grey of HLG is shown as %d", v)
	}
}

func TestLookCompare(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "rgb.mp4"), "320x180")
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "rgb.mp4"), "-vf", "negate", "-t", "2", "-c:v", "libx264", "-pix_fmt", "yuv444p", "-qp", "4", "-colorspace", "bt709", "-color_range", "tv", filepath.Join(w.dir, "after.mp4"))
	r := w.look(t, review.LookInput{Input: "rgb.mp4", Compare: "after.mp4", At: []cutroom.Moment{"0.5", "1.5", "2.5"}, Tiles: "4x3", Output: writing("pairs.jpg").Output})
	if r.Mode != "compare" || len(r.Pictures) != 1 || len(r.Frames) != 4 || r.Frames[1].File != "compare" || r.Frames[1].Time != 500_000 {
		t.Fatalf("%+v", r)
	}
	if !strings.Contains(strings.Join(r.Notes, " "), "has ended before 0:00:02.500") {
		t.Errorf("notes %q", r.Notes)
	}
	img := w.picture(t, "pairs.jpg")
	half, row := img.Bounds().Dx()/2, img.Bounds().Dy()/2
	near(t, "before", img, half/2, row/3, red)
	near(t, "before", img, half/2, row+row/3, green)
	// Compared with itself, a still stretch gives each moment its frame.
	same := w.look(t, review.LookInput{Input: "rgb.mp4", Compare: "rgb.mp4", At: []cutroom.Moment{"0.51", "0.55"}, Tiles: "4x3"})
	if len(same.Frames) != 4 {
		t.Errorf("compared with itself: %+v", same.Frames)
	}
}

// TestLookComparesWhatAnEditKept: with the edit's map each moment stands beside where the
// edit shows it.
func TestLookComparesWhatAnEditKept(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "rgb.mp4"), "320x180")
	cut, err := w.call("edit.cut", edit.CutInput{Input: "rgb.mp4", Start: "1", Mode: "accurate", Snap: "none", Writing: writing("end.mp4")})
	if err != nil {
		t.Fatal(err)
	}
	in := review.LookInput{Input: "rgb.mp4", Compare: "end.mp4", EditMap: cutroom.Ref{Run: string(cut.Run)}, At: []cutroom.Moment{"0.5", "1.5", "2.5"}, Tiles: "4x3", Output: writing("kept.png").Output}
	r := w.look(t, in)
	if len(r.Frames) != 4 || r.Frames[0].Requested != 1_500_000 || r.Frames[1].Requested != 500_000 || !strings.Contains(strings.Join(r.Notes, " "), "0:00:00.500 was cut out") {
		t.Fatalf("%+v", r)
	}
	img := w.picture(t, "kept.png")
	half, row := img.Bounds().Dx()/2, img.Bounds().Dy()/2
	for i, want := range []color.RGBA{green, blue} {
		near(t, "before", img, half/2, i*row+row/3, want)
		near(t, "after", img, half+half/2, i*row+row/3, want)
	}
	in.At, in.Output = nil, ""
	if r := w.look(t, in); len(r.Frames) != 8 || r.Frames[0].Time != 1_000_000 {
		t.Errorf("without times: %+v", r.Frames)
	}
	in.Input = "end.mp4"
	w.fails("review.look", in, cutroom.Invalid)
}

func TestLookInk(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x202020:size=300x300:rate=10:duration=1,drawbox=x=110:y=220:w=80:h=40:color=white:t=fill", "-c:v", "libx264", "-qp", "4", filepath.Join(w.dir, "box.mp4"))
	r := w.look(t, review.LookInput{Input: "box.mp4", At: []cutroom.Moment{"0.5"}, Tiles: "4x3", Ink: true})
	for _, region := range r.Frames[0].Ink.Regions {
		want := 0
		if region.Region == "all" || region.Region == "bottom" {
			want = 3200
		}
		if region.Ink < want-100 || region.Ink > want+100 {
			t.Errorf("%+v; want %d", region, want)
		}
		if region.Region == "all" && (len(region.Box) != 4 || math.Abs(float64(region.Box[0]-110)) > 2 || math.Abs(float64(region.Box[3]-40)) > 3) {
			t.Errorf("the box is %v", region.Box)
		}
	}
}

func TestLookWaveform(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "aevalsrc='if(between(t,4,6),0,0.5*sin(2*PI*1000*t))':s=48000:d=10", filepath.Join(w.dir, "gap.wav"))
	r := w.look(t, review.LookInput{Input: "gap.wav", Tiles: "4x3", Waveform: true, Width: 1048, Output: writing("wave.png").Output})
	if r.Mode != "waveform" || r.Loudness == nil || r.Loudness.Integrated == nil || math.Abs(*r.Loudness.Integrated+9.0) > 0.3 {
		t.Fatalf("%+v", r)
	}
	img := w.picture(t, "wave.png")
	lit := func(second float64) int {
		x, n := 48+int(100*second), 0
		for y := range 240 {
			if _, _, b, _ := img.At(x, y).RGBA(); b>>8 > 0x90 {
				n++
			}
		}
		return n
	}
	// 0.5 is half of full scale, which is 114 pixels to either side.
	if a, quiet, b := lit(2), lit(5), lit(8); a < 100 || a > 125 || b < 100 || b > 125 || quiet > 12 {
		t.Errorf("the wave is %d, %d and %d pixels high", a, quiet, b)
	}
}

func TestLookRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, f := range []string{"base.mp4", "b27_silence.wav", "b06_noaudio.mp4"} {
		w.copy(filepath.Join(testenv.Cases(t), f), f)
	}
	base := review.LookInput{Input: "base.mp4", Tiles: "4x3"}
	with := func(change func(*review.LookInput)) review.LookInput { in := base; change(&in); return in }
	for _, c := range []struct {
		in   review.LookInput
		want string
	}{
		{with(func(in *review.LookInput) { in.Input = "b27_silence.wav" }), "input has no video stream"},
		{with(func(in *review.LookInput) { in.Input, in.Waveform = "b06_noaudio.mp4", true }), "input has no audio stream"},
		{with(func(in *review.LookInput) { in.At = []cutroom.Moment{"9"} }), "is 4"},
		{with(func(in *review.LookInput) { in.Tiles = "4by3" }), "4x3"},
		{with(func(in *review.LookInput) { in.Tiles = "50x50" }), "too many"},
		{with(func(in *review.LookInput) { in.Safe = "tictok" }), "tiktok"},
		{with(func(in *review.LookInput) { in.Output = "sheet.gif" }), ".png"},
		{with(func(in *review.LookInput) { in.Waveform, in.Ink = true, true }), "leave"},
		{with(func(in *review.LookInput) { in.Compare = "b27_silence.wav" }), "compare has no video stream"},
	} {
		if e := w.fails("review.look", c.in, cutroom.Invalid); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%v: no %q", e, c.want)
		}
	}
}

// TestLookReachesAHost: the pictures arrive, within what every host takes, and the text
// says their times.
func TestLookReachesAHost(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	colours(t, filepath.Join(w.dir, "rgb.mp4"), "1920x1080")
	c := w.host()
	for _, x := range []struct {
		in       review.LookInput
		pictures int
		says     string
	}{
		{review.LookInput{Input: "rgb.mp4", Tiles: "4x3"}, 1, "contact sheet of 12 frames"},
		{review.LookInput{Input: "rgb.mp4", Tiles: "4x3", At: []cutroom.Moment{"0.5", "1.5", "2.5"}}, 3, "picture 2: the frame at 0:00:01.500"},
		{review.LookInput{Input: "rgb.mp4", Tiles: "4x3", At: []cutroom.Moment{"1.5"}, Ink: true}, 1, "background #00f"},
	} {
		text, pictures := w.toHost(c, "review_look", x.in)
		if pictures != x.pictures || !strings.Contains(text, x.says) {
			t.Errorf("%d pictures with\n%s\nwant %d and %q", pictures, text, x.pictures, x.says)
		}
	}
}

func writing(path string) tool.Writing { return tool.Writing{Output: cutroom.OutPath(path)} }

// TestReviewOfEveryFile: whatever the file, a check and a look end well or say why not.
func TestReviewOfEveryFile(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{testenv.Cases(t), testenv.Real(t)} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, "")
		for i, e := range entries {
			if !e.Type().IsRegular() || i%3 != 0 && !testenv.Soak() {
				continue
			}
			t.Run(e.Name(), func(t *testing.T) {
				w := &workspace{w.Installation, t, w.dir}
				name := w.copy(filepath.Join(folder, e.Name()), e.Name())
				w.sound(name, "review.look", review.LookInput{Input: cutroom.InPath(name), Tiles: "2x2", Width: 320})
				w.sound(name, "review.check", review.CheckInput{Input: cutroom.InPath(name), Platform: "tiktok", Content: true})
			})
		}
	}
}
