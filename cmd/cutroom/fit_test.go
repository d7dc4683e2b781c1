package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// pixels returns the frame at a time as RGB, of w×h as shown.
func (w *workspace) pixels(name, at string, width, height int) []byte {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-ss", at, "-i", "file:"+name, "-frames:v", "1", "-vf", fmt.Sprintf("scale=%d:%d", width, height), "-pix_fmt", "rgb24", "-f", "rawvideo", "-")
	if len(out) != 3*width*height {
		w.t.Fatalf("%s has no frame at %s", name, at)
	}
	return out
}

// colorAt is the colour of one pixel, in words.
func colorAt(p []byte, width, x, y int) string {
	r, g, b := p[3*(y*width+x)], p[3*(y*width+x)+1], p[3*(y*width+x)+2]
	name := ""
	for i, v := range []byte{r, g, b} {
		if v > 140 {
			name += string("rgb"[i])
		}
	}
	return name
}

// flag makes a video of four coloured quarters: red and green above blue and white,
// with a tone.
func (w *workspace) flag(name string, width, height int, more ...string) cutroom.InPath {
	w.t.Helper()
	quarter := func(c string) string { return fmt.Sprintf("color=%s:s=%dx%d:r=25:d=2", c, width/2, height/2) }
	args := []string{
		"-f", "lavfi", "-i", quarter("red"), "-f", "lavfi", "-i", quarter("lime"), "-f", "lavfi", "-i", quarter("blue"), "-f", "lavfi", "-i", quarter("white"),
		"-f", "lavfi", "-i", "sine=f=440:d=2:r=48000", "-f", "lavfi", "-i", "color=black:s=4x4:r=25:d=2",
		"-filter_complex", "[0][1][2][3]xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0[q];[q][5]overlay=x=mod(n*4\\,50):y=0[v]",
		"-map", "[v]", "-map", "4:a", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac",
	}
	testenv.FFmpeg(w.t, append(append(args, more...), filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

func size(d *ffmpeg.Document) string {
	v := d.FirstVideo().Video
	return fmt.Sprintf("%dx%d", v.DisplayWidth, v.DisplayHeight)
}

// Each way to fit, by what stands where in the picture.
func TestFitShapes(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.flag("flag.mp4", 640, 360)
	cases := []struct {
		in   edit.FitInput
		size string
		at   map[[2]int]string
	}{
		{edit.FitInput{Aspect: "1:1"}, "360x360", map[[2]int]string{{180, 10}: "", {90, 120}: "r", {270, 120}: "g", {90, 240}: "b", {270, 240}: "rgb", {180, 350}: ""}},
		{edit.FitInput{Aspect: "1:1", PadColor: "#00ff00"}, "360x360", map[[2]int]string{{180, 10}: "g", {90, 120}: "r", {180, 350}: "g"}},
		{edit.FitInput{Aspect: "1:1", Fit: "crop"}, "360x360", map[[2]int]string{{20, 20}: "r", {340, 20}: "g", {20, 340}: "b", {340, 340}: "rgb"}},
		{edit.FitInput{Aspect: "1:1", Fit: "crop", CropX: ptr(0.0)}, "360x360", map[[2]int]string{{300, 20}: "r", {340, 20}: "g"}},
		{edit.FitInput{Aspect: "9:16", Fit: "crop", Subjects: []edit.Subject{{X: 500, Y: 10, Width: 100, Height: 20}}}, "202x360", map[[2]int]string{{10, 20}: "g", {190, 340}: "rgb"}},
		{edit.FitInput{Aspect: "9:16", Fit: "blur"}, "202x360", map[[2]int]string{{20, 165}: "r", {180, 195}: "rgb", {20, 20}: "r", {180, 340}: "rgb"}},
		{edit.FitInput{Width: 321}, "320x180", nil},
		{edit.FitInput{Aspect: "4:5", Height: 500, Fit: "crop"}, "400x500", nil},
		{edit.FitInput{Rotate: 90}, "360x640", map[[2]int]string{{20, 20}: "b", {340, 20}: "r", {20, 620}: "rgb", {340, 620}: "g"}},
		{edit.FitInput{Rotate: 270, Flip: "v"}, "360x640", map[[2]int]string{{20, 20}: "r", {340, 20}: "b", {20, 620}: "g", {340, 620}: "rgb"}},
		{edit.FitInput{Flip: "h"}, "640x360", map[[2]int]string{{20, 20}: "g", {620, 20}: "r"}},
		{edit.FitInput{Rotate: 90, Aspect: "1:1", Fit: "crop", Subjects: []edit.Subject{{X: 500, Y: 10, Width: 100, Height: 20}}}, "360x360", map[[2]int]string{{20, 340}: "rgb", {340, 340}: "g", {340, 10}: "r"}},
	}
	for i, c := range cases {
		c.in.Input, c.in.Output = in, cutroom.OutPath(fmt.Sprintf("out%d.mp4", i))
		r := must[edit.FitOutput](w, "edit.fit", c.in)
		d := describe(w, *r.File)
		if size(d) != c.size || fmt.Sprintf("%dx%d", r.Width, r.Height) != c.size || r.Speed != 1 || r.FPS != (ffmpeg.Rational{Num: 25, Den: 1}) {
			t.Errorf("%+v: %s, %dx%d at %v", c.in, size(d), r.Width, r.Height, r.FPS)
			continue
		}
		p := w.pixels(*r.File, "1", r.Width, r.Height)
		for xy, want := range c.at {
			if got := colorAt(p, r.Width, xy[0], xy[1]); got != want {
				t.Errorf("%+v: at %v it is %q, want %q", c.in, xy, got, want)
			}
		}
		if len(d.AudioStreams()) != 1 || d.FirstVideo().Frames != 50 {
			t.Errorf("%+v: %d frames", c.in, d.FirstVideo().Frames)
		}
	}
}

// Cases 1 and 2: a turned clip is fitted as it is shown, and boxes are those of what is
// shown.
func TestFitTurned(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.flag("coded.mp4", 640, 360)
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "coded.mp4"), "-c", "copy", "-metadata:s:v:0", "rotate=90", filepath.Join(w.dir, "turned.mp4"))
	in := cutroom.InPath("turned.mp4")
	if got := size(describe(w, "turned.mp4")); got != "360x640" {
		t.Fatalf("it is shown as %s", got)
	}
	r := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Aspect: "1:1", Fit: "crop", Subjects: []edit.Subject{{X: 10, Y: 600, Width: 50, Height: 30}}})
	if d := describe(w, *r.File); size(d) != "360x360" || d.FirstVideo().Video.Rotation != 0 {
		t.Errorf("%s, turned by %d", size(d), d.FirstVideo().Video.Rotation)
	}
	// The lower end is kept, as ffmpeg itself shows the clip.
	before, after := w.pixels("turned.mp4", "1", 360, 640), w.pixels(*r.File, "1", 360, 360)
	for _, x := range []int{20, 340} {
		for _, y := range []int{10, 340} {
			if got, want := colorAt(after, 360, x, y), colorAt(before, 360, x, y+280); got != want {
				t.Errorf("at %d, %d it is %q, want %q", x, y, got, want)
			}
		}
	}
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Aspect: "16:9", Writing: tool.Writing{Output: "wide.mp4"}})
	if r.Width != 360 || r.Height != 202 || len(r.Notes) == 0 {
		t.Errorf("%d×%d: %q", r.Width, r.Height, r.Notes)
	}
}

// Case 7: odd sizes become even by a stated rule. Case 8: samples that are not square
// are shown as before. Case 14: the rate stays what it was, exactly.
func TestFitKeepsWhatItShould(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=1:s=320x180:r=25", "-vf", "scale=321:181,setsar=1", "-c:v", "ffv1", "-pix_fmt", "yuv444p", filepath.Join(w.dir, "odd.mkv"))
	odd := cutroom.InPath("odd.mkv")
	r := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: odd, FPS: 30})
	if r.Width%2 != 0 || r.Height%2 != 0 || !strings.Contains(strings.Join(r.Notes, " "), "odd") {
		t.Errorf("%d×%d: %q", r.Width, r.Height, r.Notes)
	}
	wide := cutroom.InPath(w.copy(filepath.Join(cases, "b22_sar.mp4"), "sar.mp4"))
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: wide, Flip: "h"})
	if r.Width != 1024 || r.Height != 576 {
		t.Errorf("720×576 of 16:9 is shown as %d×%d", r.Width, r.Height)
	}
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: wide, Aspect: "1:1", Fit: "crop", Writing: tool.Writing{Output: "square.mp4"}})
	if r.Width != 576 || r.Height != 576 {
		t.Errorf("%d×%d", r.Width, r.Height)
	}
	ntsc := w.flag("ntsc.mp4", 320, 180, "-r", "30000/1001")
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: ntsc, Aspect: "4:3"})
	if r.FPS != (ffmpeg.Rational{Num: 30000, Den: 1001}) {
		t.Errorf("the rate became %v", r.FPS)
	}
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: ntsc, FPS: 23.976, Writing: tool.Writing{Output: "film.mp4"}})
	if r.FPS != (ffmpeg.Rational{Num: 24000, Den: 1001}) || r.Probe.FirstVideo().Frames != 48 {
		t.Errorf("%v, %d frames", r.FPS, r.Probe.FirstVideo().Frames)
	}
}

// Case 13: uneven frames keep their times while nothing moves, and lengths come from
// times, never from a count of frames.
func TestFitUnevenFrames(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "b02_vfr.mp4"), "vfr.mp4"))
	before := describe(w, string(in))
	r := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Aspect: "1:1"})
	after := describe(w, *r.File)
	if a, b := after.FirstVideo(), before.FirstVideo(); a.Frames != b.Frames || !a.Video.VFR.Variable || r.EditMap.Seconds != 5_980_000 {
		t.Errorf("%d frames in %v s, before %d in %v s", a.Frames, r.EditMap.Seconds, b.Frames, b.EndSeconds)
	}
	r = must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Duration: 3 * cutroom.Second, Writing: tool.Writing{Output: "fast.mp4"}})
	if d := describe(w, "fast.mp4"); math.Abs(d.FirstVideo().EndSeconds.Seconds()-3) > 0.011 || d.FirstVideo().Video.VFR.Variable || math.Abs(r.Speed-2) > 0.02 {
		t.Errorf("%v s at %v times the speed", d.FirstVideo().EndSeconds, r.Speed)
	}
}

func TestFitLengths(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.flag("flag.mp4", 320, 180)
	for i, c := range []struct {
		in    edit.FitInput
		speed float64
		want  float64
	}{
		{edit.FitInput{Duration: 1 * cutroom.Second}, 2, 1},
		{edit.FitInput{Duration: 3 * cutroom.Second}, 2. / 3, 3},
		{edit.FitInput{Duration: 3 * cutroom.Second, Smooth: "interpolate"}, 2. / 3, 3},
		{edit.FitInput{FPS: 50, Smooth: "blend"}, 1, 2},
		{edit.FitInput{Duration: 1 * cutroom.Second, Method: "trim"}, 1, 1},
		{edit.FitInput{Duration: 1200 * cutroom.Second / 1000, Method: "trim", FromCenter: true}, 1, 1.2},
	} {
		c.in.Input, c.in.Output = in, cutroom.OutPath(fmt.Sprintf("out%d.mp4", i))
		r := must[edit.FitOutput](w, "edit.fit", c.in)
		d := describe(w, *r.File)
		if got := d.FirstVideo().EndSeconds.Seconds(); math.Abs(got-c.want) > 0.021 || math.Abs(r.Speed-c.speed) > 1e-6 {
			t.Errorf("%+v: %v s at %v", c.in, got, r.Speed)
		}
		if sound := float64(len(w.decoded(*r.File))) / 48000; math.Abs(sound-c.want) > 0.03 {
			t.Errorf("%+v: the sound lasts %v s", c.in, sound)
		}
		if m := r.EditMap; m == nil || len(m.Segments) != 1 || math.Abs(m.Seconds.Seconds()-c.want) > 0.021 {
			t.Errorf("%+v: %+v", c.in, m)
		}
	}
	// The pitch stays: 440 Hz cross zero 880 times a second.
	crossings := 0
	sound := w.decoded("out0.mp4")[9600:38400]
	for i := 1; i < len(sound); i++ {
		if sound[i-1] < 0 != (sound[i] < 0) {
			crossings++
		}
	}
	if hz := float64(crossings) / 2 / 0.6; math.Abs(hz-440) > 8 {
		t.Errorf("the tone has %.0f Hz", hz)
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	in := w.flag("flag.mp4", 320, 180)
	for want, c := range map[string]edit.FitInput{
		"nothing to do":                  {},
		"is not an aspect":               {Aspect: "wide"},
		"is not a colour":                {Aspect: "1:1", PadColor: "blue:d=9"},
		"without fit crop":               {Aspect: "1:1", CropX: ptr(0.5)},
		"without fit blur":               {Aspect: "1:1", PadBlur: 3},
		"without aspect, width or heigh": {Duration: cutroom.Second, Fit: "blur"},
		"subjects and keep exclude":      {Aspect: "1:1", Fit: "crop", CropX: ptr(0.5), Subjects: []edit.Subject{{Width: 1, Height: 1}}},
		"reaches out of the picture":     {Aspect: "1:1", Fit: "crop", Subjects: []edit.Subject{{X: 300, Width: 21, Height: 1}}},
		"rotate is 45":                   {Rotate: 45},
		"given at once":                  {Aspect: "1:1", Width: 20, Height: 20},
		"are allowed":                    {Duration: 200_000},
		"trimming cannot":                {Duration: 3 * cutroom.Second, Method: "trim"},
		"without duration":               {Aspect: "1:1", FromCenter: true},
		"smooth is given":                {Aspect: "1:1", Smooth: "blend"},
		"holds no video":                 {Aspect: "1:1", Writing: tool.Writing{Output: "out.mp3"}},
		"there is no audio stream 3":     {Aspect: "1:1", AudioStream: ptr(3)},
	} {
		c.Input = in
		if e := w.fails("edit.fit", c, cutroom.Invalid); !strings.Contains(e.Error(), want) {
			t.Errorf("%v, want %s", e, want)
		}
	}
	for _, name := range []string{"b08_cover.mp3", "b31_audio.m4a"} { // case 28
		sound := cutroom.InPath(w.copy(filepath.Join(cases, name), name))
		if e := w.fails("edit.fit", edit.FitInput{Input: sound, Aspect: "1:1"}, cutroom.Invalid); e.Msg != "input has no video stream" {
			t.Errorf("%v", e)
		}
	}
	if e := w.fails("edit.fit", edit.FitInput{Input: in, Flip: "h", Writing: tool.Writing{Output: "flag.mp4"}}, cutroom.Invalid); e.Hint == "" {
		t.Errorf("%v", e)
	}
}
