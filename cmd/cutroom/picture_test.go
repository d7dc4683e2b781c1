package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/measure"
)

// held fails when a check is missing among what was verified.
func (w *workspace) held(rows []cutroom.Verified, checks ...string) {
	w.t.Helper()
	for _, c := range checks {
		if !slices.ContainsFunc(rows, func(v cutroom.Verified) bool { return v.Check == c && v.OK }) {
			w.t.Errorf("%s was not verified: %+v", c, rows)
		}
	}
}

// picturing names the input of a tool that changes the picture alone.
func picturing(in cutroom.InPath, out string) edit.Picturing {
	return edit.Picturing{Input: in, Writing: to(out)}
}

// Case 2: a rectangle is cut out of what is shown, turned or not, to the pixel.
func TestCrop(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "coded.mp4"))
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "coded.mp4"), "-c", "copy", "-metadata:s:v:0", "rotate=90", filepath.Join(w.dir, "turned.mp4"))
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "turned.mp4"), "-vf", "crop=101:51:11:21:exact=1,crop=100:50:0:0", "-pix_fmt", "yuv444p", "-c:v", "ffv1", filepath.Join(w.dir, "want.mkv"))
	out := must[edit.CropOutput](w, "edit.crop", edit.CropInput{Picturing: picturing("turned.mp4", "out.mp4"), X: 11, Y: 21, Width: 101, Height: 51})
	if out.Width != 100 || out.Height != 50 || size(out.Probe) != "100x50" || len(out.Notes) == 0 {
		t.Errorf("%+v", out)
	}
	w.held(out.Verified, "rectangle", "frames", "pictures")
	if d := apart(w.pixels("want.mkv", "0.5", 100, 50), w.pixels("out.mp4", "0.5", 100, 50)); d > 9 { // of colour at half resolution, cut at an odd place
		t.Errorf("%.1f of 255 apart", d)
	}
	if e := w.fails("edit.crop", edit.CropInput{Picturing: picturing("turned.mp4", "no.mp4"), X: 200, Width: 100, Height: 50}, cutroom.Invalid); !strings.Contains(e.Msg, "240×320") {
		t.Errorf("%v", e)
	}
}

// TestStraighten: what comes out is the picture, turned the right way.
func TestStraighten(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.flag("flag.mp4", 320, 180)
	for fit, want := range map[string]string{"crop": "276x156", "pad": "320x180", "expand": "336x208"} {
		out := must[edit.StraightenOutput](w, "edit.straighten", edit.StraightenInput{Picturing: picturing(in, fit+".mp4"), Degrees: 5, Fit: fit})
		if size(out.Probe) != want || encodes(out.Commands) != 1 {
			t.Errorf("%s: %s, want %s", fit, size(out.Probe), want)
		}
		w.held(out.Verified, "turned")
	}
	// Clockwise: the left end of the middle line goes up, where red is.
	p := w.pixels("pad.mp4", "1", 320, 180)
	if got := colorAt(p, 320, 40, 85); got != "b" && got != "r" {
		t.Errorf("at the left end it is %q", got)
	}
	if left, right := colorAt(p, 320, 30, 84), colorAt(p, 320, 290, 96); left != "b" || right != "g" {
		t.Errorf("turned the other way: %q at the left above the middle, %q at the right below it", left, right)
	}
	if e := w.fails("edit.straighten", edit.StraightenInput{Picturing: picturing(in, "no.mp4")}, cutroom.Invalid); e.Hint == "" {
		t.Errorf("%v", e)
	}
}

// TestSphere: a view shows what lies in that direction.
func TestSphere(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.flag("flag.mp4", 640, 320) // red and green above blue and white
	for _, c := range []struct {
		yaw, pitch float64
		want       string
	}{{-90, 40, "r"}, {90, 40, "g"}, {-90, -40, "b"}, {90, -40, "rgb"}} {
		out := must[edit.SphereOutput](w, "edit.sphere", edit.SphereInput{Picturing: picturing(in, fmt.Sprintf("%g%g.mp4", c.yaw, c.pitch)), Yaw: c.yaw, Pitch: c.pitch, Across: 60, Width: 160, Height: 90})
		if got := colorAt(w.pixels(*out.File, "1", 160, 90), 160, 80, 45); got != c.want || size(out.Probe) != "160x90" {
			t.Errorf("yaw %g pitch %g: %q, want %q (%s)", c.yaw, c.pitch, got, c.want, size(out.Probe))
		}
		w.held(out.Verified, "view")
	}
}

// TestDenoise: there is less noise, and the colours stay.
func TestDenoise(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "gradients=s=320x180:r=25:d=1:seed=4:nb_colors=3:speed=0.01", "-vf", "noise=alls=10:allf=t", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "8", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "noisy.mp4"))
	last := 100.0
	for _, s := range []string{"light", "strong"} {
		out := must[edit.DenoiseOutput](w, "edit.denoise", edit.DenoiseInput{Picturing: picturing("noisy.mp4", s+".mp4"), Strength: s})
		if out.Before < 3 || out.After >= out.Before || out.After >= last || s == "strong" && out.After > 0.8*out.Before {
			t.Errorf("%s: noise %.2f became %.2f", s, out.Before, out.After)
		}
		last = out.After
		w.held(out.Verified, "noise", "colors")
	}
}

// TestDeinterlace: combs go; of fields twice as many pictures come; what is progressive is
// left alone.
func TestDeinterlace(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=2", "-vf", "tinterlace=mode=interleave_top,setfield=tff", "-flags", "+ilme+ildct", "-c:v", "libx264", "-x264-params", "tff=1", "-preset", "ultrafast", "-qp", "10", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "tape.mp4"))
	for mode, frames := range map[string]int64{"frame": 50, "field": 100} {
		out := must[edit.DeinterlaceOutput](w, "edit.deinterlace", edit.DeinterlaceInput{Picturing: picturing("tape.mp4", mode+".mp4"), Mode: mode})
		if out.Measurements.Input.TopFirst < 30 || out.Parity != "tff" || out.Probe.FirstVideo().Frames != frames {
			t.Errorf("%s: %+v, %s, %d frames", mode, out.Measurements, out.Parity, out.Probe.FirstVideo().Frames)
		}
		w.held(out.Verified, "progressive")
	}
	if e := w.fails("edit.deinterlace", edit.DeinterlaceInput{Picturing: picturing("frame.mp4", "again.mp4")}, cutroom.Invalid); !strings.Contains(e.Msg, "progressive") {
		t.Errorf("%v", e)
	}
}

// TestStabilize: a shaken picture shakes less, in one encode after one look.
func TestStabilize(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "mandelbrot=s=480x320:r=25:start_scale=2", "-frames:v", "50", "-vf", "trim=end_frame=1,loop=49:1,setpts=N/25/TB,crop=320:180:80+14*sin(n*1.9):70+12*cos(n*2.3)", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "12", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "walk.mp4"))
	out := must[edit.StabilizeOutput](w, "edit.stabilize", edit.StabilizeInput{Picturing: picturing("walk.mp4", "steady.mp4"), Shakiness: 8})
	if out.Before < 10 || out.After > out.Before/3 || encodes(out.Commands) != 1 || size(out.Probe) != "320x180" {
		t.Errorf("shaking %.2f became %.2f; %q", out.Before, out.After, out.Commands)
	}
	w.held(out.Verified, "shake", "frames")
}

// TestRedactBoxes: what lies in a box is hidden in each way, for as long as is asked, and
// the rest stays.
func TestRedactBoxes(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "8", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "in.mp4"))
	for _, mode := range []string{"pixelate", "blur", "fill"} {
		out := must[edit.RedactOutput](w, "edit.redact", edit.RedactInput{
			Picturing: picturing("in.mp4", mode+".mp4"), Mode: mode, X: 41, Y: 30, Width: 81, Height: 61,
			Boxes: []edit.RedactBox{{X: 200, Y: 100, Width: 80, Height: 60, Start: 1200 * cutroom.Micros(1000)}},
		})
		w.held(out.Verified, "hidden", "elsewhere", "frames")
		if len(out.Hidden) != 2 || out.Hidden[0].X != 40 || out.Hidden[0].Width != 82 || encodes(out.Commands) != 1 || len(out.Probe.AudioStreams()) != 1 {
			t.Errorf("%s: %+v", mode, out.Hidden)
		}
		part := func(file, at string, x, y int) []byte {
			return testenv.Run(t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-ss", at, "-i", "file:"+file, "-frames:v", "1", "-vf", fmt.Sprintf("crop=60:40:%d:%d", x, y), "-pix_fmt", "gray", "-f", "rawvideo", "-")
		}
		if d := apart(part("in.mp4", "0.5", 50, 40), part(mode+".mp4", "0.5", 50, 40)); d < 8 {
			t.Errorf("%s: the box differs by %.1f", mode, d)
		}
		if before, after := apart(part("in.mp4", "0.8", 210, 110), part(mode+".mp4", "0.8", 210, 110)), apart(part("in.mp4", "1.6", 210, 110), part(mode+".mp4", "1.6", 210, 110)); before > 4 || after < 8 {
			t.Errorf("%s: the later box differs by %.1f before it begins and by %.1f afterwards", mode, before, after)
		}
	}
	if e := w.fails("edit.redact", edit.RedactInput{Picturing: picturing("in.mp4", "no.mp4"), X: 300, Y: 0, Width: 40, Height: 40}, cutroom.Invalid); !strings.Contains(e.Msg, "320×180") {
		t.Errorf("%v", e)
	}
	if e := w.fails("edit.redact", edit.RedactInput{Picturing: picturing("in.mp4", "no.mp4"), Find: []string{"persn"}}, cutroom.Invalid); !strings.Contains(e.Error(), "person") {
		t.Errorf("%v", e)
	}
}

// TestRedactText: a line that moves is found, followed and no longer readable; what does
// not match stays.
func TestRedactText(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	font := "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x202020:s=640x360:r=25:d=2", "-vf",
		"drawtext=fontfile="+font+":text='Account 4711 Miller':fontsize=30:fontcolor=white:x=40+t*80:y=60,drawtext=fontfile="+font+":text='Public notice board':fontsize=30:fontcolor=white:x=60:y=250",
		"-c:v", "libx264", "-preset", "ultrafast", "-qp", "10", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "screen.mp4"))
	out := must[edit.RedactOutput](w, "edit.redact", edit.RedactInput{Picturing: picturing("screen.mp4", "safe.mp4"), Find: []string{"text"}, Match: []string{"4711"}})
	w.held(out.Verified, "hidden", "elsewhere", "unreadable")
	if len(out.Hidden) != 1 || out.Hidden[0].Seen < 3 || out.Looked != 5 {
		t.Errorf("%+v, %d frames", out.Hidden, out.Looked)
	}
	for _, at := range []string{"0.1", "0.7", "1.3", "1.9"} {
		said := strings.ToLower(w.reads("safe.mp4", at, "eng"))
		if strings.Contains(said, "4711") || strings.Contains(said, "miller") || !strings.Contains(said, "publicnotice") {
			t.Errorf("at %s it says %q", at, said)
		}
	}
	if e := w.fails("edit.redact", edit.RedactInput{Picturing: picturing("screen.mp4", "no.mp4"), Find: []string{"text"}, Match: []string{"nowhere"}}, cutroom.NotFound); e.Hint == "" {
		t.Errorf("%v", e)
	}
}

// TestCropdetect: bars to the pixel, black frames and subtitles apart; and where it moves.
func TestCropdetect(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=256x130:r=25:d=2", "-vf", "format=yuv444p,pad=320:180:33:25:black,tpad=start_duration=0.5:color=black", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "10", "-pix_fmt", "yuv444p", filepath.Join(w.dir, "bars.mp4"))
	out := must[measure.CropdetectOutput](w, "measure.cropdetect", measure.CropdetectInput{Input: "bars.mp4"})
	if want := (measure.CropBox{X: 34, Y: 26, Width: 254, Height: 128}); out.Crop != want || out.Left != 33 || out.Right != 31 || out.Top != 25 || out.Bottom != 25 || out.Dark < 1 {
		t.Errorf("%+v", out)
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=gray:s=320x180:r=25:d=2", "-f", "lavfi", "-i", "color=white:s=20x20:r=25:d=2", "-filter_complex", "overlay=x=220+20*sin(n/3):y=50", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "ball.mp4"))
	ball := must[measure.CropdetectOutput](w, "measure.cropdetect", measure.CropdetectInput{Input: "ball.mp4", Motion: true})
	if m := ball.Motion; ball.Bars || m == nil || m.X < 215 || m.X > 245 || m.Y < 52 || m.Y > 68 {
		t.Errorf("%+v %+v", ball, m)
	}
}
