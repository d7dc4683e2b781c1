package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// level is how loud a part of a file's sound is, and how much of it is of a tone.
func (w *workspace) level(name string, from, to float64) (rms float64) {
	w.t.Helper()
	sound := w.decoded(name)
	part := sound[int(from*48000):min(len(sound), int(to*48000))]
	for _, v := range part {
		rms += v * v
	}
	return math.Sqrt(rms / float64(max(1, len(part))))
}

// A cutaway shows its own frames in its time and the video's before and after; the sound
// is the video's, the other's, or both.
func TestBroll(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	base := w.plain("base.mp4", "black", 320, 180, 2, "-f", "lavfi", "-i", "sine=f=440:d=2:r=48000", "-c:a", "aac")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=400x300:r=30:d=2", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "city.mp4"))
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=200x200", "-frames:v", "1", filepath.Join(w.dir, "slide.png"))
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "city.mp4"), "-f", "lavfi", "-i", "sine=f=1500:d=2:r=44100", "-c:v", "copy", "-c:a", "aac", filepath.Join(w.dir, "loud.mp4"))
	broll := func(in edit.BrollInput) *edit.BrollOutput {
		in.Input = base
		out := must[edit.BrollOutput](w, "edit.broll", in)
		for _, v := range out.Verified {
			if !v.OK {
				t.Errorf("%s: %+v", *out.File, v)
			}
		}
		if n := strings.Count(strings.Join(out.Commands, "\n"), "libx264"); n != 1 {
			t.Errorf("%d encodes", n)
		}
		return out
	}
	out := broll(edit.BrollInput{Insert: "city.mp4", At: "0.5", From: "0.4", Duration: cutroom.Second, Writing: to("cut.mp4")})
	if out.Start != 500_000 || out.End != 1_500_000 || out.From != 400_000 || row(out.Verified, "shows_its_source") == "" || row(out.Verified, "only_in_its_time") != "0" {
		t.Errorf("%+v", out)
	}
	// The sound is the input's, and the frames are those of the other file.
	if a, b := w.level("base.mp4", 0.2, 1.8), w.level("cut.mp4", 0.2, 1.8); math.Abs(a-b) > 0.01*a {
		t.Errorf("the sound is %.4f, was %.4f", b, a)
	}
	testenv.FFmpeg(t, "-ss", "0.9", "-i", filepath.Join(w.dir, "city.mp4"), "-frames:v", "1", "-vf", "scale=320:240,crop=320:180:0:30", filepath.Join(w.dir, "want.png"))
	if d := apart(w.pixels("want.png", "0", 320, 180), w.pixels("cut.mp4", "1", 320, 180)); d > 6 {
		t.Errorf("the cutaway differs by %.1f on average", d)
	}
	out = broll(edit.BrollInput{Insert: "slide.png", At: "0.5", End: "1.5", Fit: "pad", PadColor: "red", Fade: 200_000, Writing: to("slide.mp4")})
	p := w.pixels("slide.mp4", "1", 320, 180)
	if a, b := rgbAt(p, 320, 160, 90), rgbAt(p, 320, 10, 90); !likeColour(a, [3]int{255, 255, 255}, 6) || b[0] < 200 || b[1] > 30 || row(out.Verified, "shows_its_source") == "" {
		t.Errorf("%v between bars of %v: %+v", a, b, out.Verified)
	}
	short := broll(edit.BrollInput{Insert: "city.mp4", At: "0.2", End: "1.9", From: "1.2", Writing: to("short.mp4")})
	if short.End != 1_000_000 || !strings.Contains(strings.Join(short.Notes, " "), "before its time") {
		t.Errorf("%+v", short)
	}
	broll(edit.BrollInput{Insert: "loud.mp4", At: "0.5", End: "1.5", Audio: "insert", Volume: -12, Writing: to("insert.mp4")})
	broll(edit.BrollInput{Insert: "loud.mp4", At: "0.5", End: "1.5", Audio: "mix", Writing: to("mix.mp4")})
	before, within, after, both := w.level("insert.mp4", 0.1, 0.45), w.level("insert.mp4", 0.55, 1.45), w.level("insert.mp4", 1.55, 1.9), w.level("mix.mp4", 0.55, 1.45)
	main := w.level("base.mp4", 0.2, 1.8)
	if math.Abs(before-main) > 0.05*main || math.Abs(after-main) > 0.05*main || math.Abs(within/main-0.251) > 0.04 || math.Abs(both/main-math.Sqrt2) > 0.08 {
		t.Errorf("the sound is %.4f, %.4f, %.4f around and in it, %.4f mixed; the video's is %.4f", before, within, after, both, main)
	}
	for name, in := range map[string]edit.BrollInput{
		"no sound": {Insert: "city.mp4", At: "0.5", Audio: "mix"}, "still": {Insert: "slide.png", At: "0", From: "1"}, "late": {Insert: "city.mp4", At: "3"},
		"from": {Insert: "city.mp4", At: "0", From: "9"}, "two ends": {Insert: "city.mp4", At: "0", End: "1", Duration: cutroom.Second}, "fades": {Insert: "city.mp4", At: "0", End: "0.4", Fade: 300_000},
		"volume": {Insert: "city.mp4", At: "0", Volume: -3}, "bars": {Insert: "city.mp4", At: "0", PadColor: "red"},
	} {
		in.Input = base
		if e := w.fails("edit.broll", in, cutroom.Invalid); e.Hint == "" {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// A grid shows each of its inputs in its cell, with labels and one sound.
func TestGrid(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	red := w.plain("red.mp4", "red", 320, 180, 1)
	blue := w.plain("blue.mp4", "blue", 180, 320, 2, "-f", "lavfi", "-i", "sine=f=440:d=2:r=48000", "-c:a", "aac")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=1.5", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "test.mp4"))
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=60x30", "-frames:v", "1", filepath.Join(w.dir, "bar.png"))
	grid := func(in edit.GridInput) *edit.GridOutput {
		out := must[edit.GridOutput](w, "edit.grid", in)
		for _, v := range out.Verified {
			if !v.OK {
				t.Errorf("%s: %+v", *out.File, v)
			}
		}
		return out
	}
	out := grid(edit.GridInput{Inputs: []cutroom.InPath{red, blue, "test.mp4", "bar.png"}, CellWidth: 200, CellHeight: 120, Gap: 8, Background: "#00ff00", Label: []string{"", "100% {B}"}, Ended: "vanish", Writing: to("four.mp4")})
	if out.Width != 408 || out.Height != 248 || len(out.Cells) != 4 || out.Audio == nil || *out.Audio != 1 || out.EditMap.Seconds != 2*cutroom.Second || out.Cells[0].End != cutroom.Second {
		t.Errorf("%+v", out)
	}
	if c := out.Cells[1]; c.Height != 120 || c.Width > 70 || c.X < 208+60 {
		t.Errorf("an upright picture stands at %+v", c)
	}
	p := w.pixels("four.mp4", "0.5", 408, 248)
	for at, want := range map[[2]int][3]int{{100, 60}: {255, 0, 0}, {308, 40}: {0, 0, 255}, {204, 60}: {0, 255, 0}, {220, 60}: {0, 255, 0}, {308, 188}: {255, 255, 255}} {
		if got := rgbAt(p, 408, at[0], at[1]); !likeColour(got, want, 16) {
			t.Errorf("at %v it is %v, want %v", at, got, want)
		}
	}
	if got := rgbAt(w.pixels("four.mp4", "1.5", 408, 248), 408, 100, 60); !likeColour(got, [3]int{0, 255, 0}, 16) {
		t.Errorf("what has ended shows %v", got)
	}
	n := 0
	for _, v := range out.Verified {
		if v.Check == "shows_its_source" {
			n++
		}
	}
	if n != 4 || row(out.Verified, "drawn_visible") == "" || len(w.decoded("four.mp4")) < 95_000 {
		t.Errorf("%+v", out.Verified)
	}
	pair := grid(edit.GridInput{Inputs: []cutroom.InPath{red, "test.mp4"}, Fit: "crop", Length: "shortest", NoAudio: true, FPS: 50, Writing: to("pair.mp4")})
	if pair.Width != 640 || pair.Height != 180 || pair.Audio != nil || pair.EditMap.Seconds != cutroom.Second || pair.Probe.FirstVideo().Frames != 50 || len(pair.Probe.AudioStreams()) != 0 {
		t.Errorf("%+v", pair)
	}
	for name, in := range map[string]edit.GridInput{
		"one":      {Inputs: []cutroom.InPath{red}},
		"too many": {Inputs: []cutroom.InPath{red, blue, "test.mp4"}, Cols: 1, Rows: 2},
		"stills":   {Inputs: []cutroom.InPath{"bar.png", "bar.png"}, Writing: to("no.mp4")},
		"no sound": {Inputs: []cutroom.InPath{red, blue}, AudioFrom: ptr(0)},
		"labels":   {Inputs: []cutroom.InPath{red, blue}, Label: []string{"a", "b", "c"}},
		"huge":     {Inputs: []cutroom.InPath{red, blue}, CellWidth: 8000},
	} {
		if e := w.fails("edit.grid", in, cutroom.Invalid); e.Hint == "" && !strings.HasSuffix(e.Msg, ")") {
			t.Errorf("%s: %v", name, e)
		}
	}
}
