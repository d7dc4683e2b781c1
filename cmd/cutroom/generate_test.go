package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// near reports whether a pixel has a colour, within what a lossy codec changes.
func (w *workspace) color(name, at string, width, height, x, y int, want [3]int) {
	w.t.Helper()
	p := w.pixels(name, at, width, height)
	for i, v := range want {
		if got := int(p[3*(y*width+x)+i]); got < v-8 || got > v+8 {
			w.t.Errorf("%s at %s: the pixel %d,%d is %v, want %v", name, at, x, y, p[3*(y*width+x):3*(y*width+x)+3], want)
			return
		}
	}
}

func TestBackgrounds(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	small := edit.Generated{Width: 160, Height: 90, FPS: 25}
	plain := must[edit.GeneratedOutput](w, "edit.background", edit.BackgroundInput{Colors: []string{"#336699"}, Duration: cutroom.Second, Generated: small, Writing: to("plain.mp4")})
	if plain.Frames != 25 || plain.Width != 160 || len(plain.Probe.AudioStreams()) != 0 || plain.Duration != cutroom.Second {
		t.Errorf("%+v", plain)
	}
	w.color("plain.mp4", "0.5", 160, 90, 80, 45, [3]int{0x33, 0x66, 0x99})
	w.want("plain.mp4", "color_range", "tv", "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709", "pix_fmt", "yuv420p")

	small.Audio = "silent"
	down := must[edit.GeneratedOutput](w, "edit.background", edit.BackgroundInput{Colors: []string{"red", "blue"}, Angle: 90, Duration: cutroom.Second, Generated: small, Writing: to("down.mkv")})
	if a := down.Probe.AudioStreams(); len(a) != 1 || a[0].Audio.Channels != 2 {
		t.Errorf("%+v", a)
	}
	w.color("down.mkv", "0.5", 160, 90, 80, 1, [3]int{252, 0, 3})
	w.color("down.mkv", "0.5", 160, 90, 20, 88, [3]int{3, 0, 252})
	w.color("down.mkv", "0.5", 160, 90, 80, 45, [3]int{127, 0, 127})
	must[edit.GeneratedOutput](w, "edit.background", edit.BackgroundInput{Colors: []string{"white", "black"}, Radial: true, Duration: cutroom.Second / 5, Generated: small, Writing: to("round.mp4")})
	w.color("round.mp4", "0", 160, 90, 80, 45, [3]int{250, 250, 250})
	w.color("round.mp4", "0", 160, 90, 1, 1, [3]int{5, 5, 5})

	w.fails("edit.background", edit.BackgroundInput{Colors: []string{"red"}, Radial: true}, cutroom.Invalid)
	w.fails("edit.background", edit.BackgroundInput{Colors: []string{"movie=x"}}, cutroom.Invalid)
}

// A still picture, turned by its camera's word, stands in a frame of another shape; a
// view that moves begins and ends where it is to.
func TestStillsBecomeClips(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.flag("flag.mp4", 640, 360)
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "flag.mp4"), "-frames:v", "1", "-update", "1", filepath.Join(w.dir, "flag.png"))
	out := must[edit.GeneratedOutput](w, "edit.insert", edit.InsertInput{Input: "flag.png", Duration: cutroom.Second, Writing: to("flag_clip.mp4"), Generated: edit.Generated{Width: 180, Height: 180, FPS: 25, Audio: "silent"}})
	if out.Frames != 25 || out.EditMap == nil || len(out.EditMap.Segments) != 0 {
		t.Errorf("%dx%d, %d frames", out.Width, out.Height, out.Probe.FirstVideo().Frames)
	}
	w.color("flag_clip.mp4", "0.5", 180, 180, 90, 5, [3]int{0, 0, 0})
	w.color("flag_clip.mp4", "0.5", 180, 180, 45, 60, [3]int{254, 0, 0})
	// At four times the size the view shows the red quarter alone, then the white one.
	moved := must[edit.GeneratedOutput](w, "edit.insert", edit.InsertInput{
		Input: "flag.png", Duration: cutroom.Second, Pan: "down", ZoomAmount: 4, Fit: "crop", Generated: edit.Generated{Width: 160, Height: 90, FPS: 25}, Writing: to("pan.mp4"),
	})
	if moved.Frames != 25 {
		t.Errorf("%+v", moved)
	}
	w.color("pan.mp4", "0", 160, 90, 10, 80, [3]int{254, 0, 0})
	w.color("pan.mp4", "0.96", 160, 90, 10, 10, [3]int{0, 0, 254})
	w.color("pan.mp4", "0.96", 160, 90, 150, 80, [3]int{255, 255, 255})
	must[edit.GeneratedOutput](w, "edit.insert", edit.InsertInput{Input: "flag.png", Duration: cutroom.Second, Zoom: "in", ZoomAmount: 2, Pan: "left", Generated: edit.Generated{Width: 160, Height: 90, FPS: 25}, Writing: to("zoom.mp4")})
	w.color("zoom.mp4", "0", 160, 90, 150, 10, [3]int{0, 255, 0})
	w.color("zoom.mp4", "0.96", 160, 90, 150, 10, [3]int{254, 0, 0})
	w.fails("edit.insert", edit.InsertInput{Input: "flag.mp4", Writing: to("no.mp4")}, cutroom.Invalid)
}

// Pictures become frames, one each, however many: more than are opened at once, too; of
// several sizes and kinds.
func TestSequences(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", `color=black:s=160x90:r=25:d=1.8,geq=lum='20+4*N':cb=128:cr=128`, "-pix_fmt", "rgb24", filepath.Join(w.dir, "f%d.png"))
	var in []cutroom.InPath
	for _, n := range []int{1, 10} {
		for i := range 45 {
			if k := i + 1; k/10 == 0 == (n == 1) {
				in = append(in, cutroom.InPath(fmt.Sprintf("f%d.png", k)))
			}
		}
	}
	out := must[edit.GeneratedOutput](w, "edit.sequence", edit.SequenceInput{Inputs: in, Generated: edit.Generated{FPS: 25}, Writing: to("all.mp4")})
	if out.Frames != 45 || len(out.Commands) != 5 || len(out.Notes) != 0 {
		t.Errorf("%d frames, %d commands, %q", out.Frames, len(out.Commands), out.Notes)
	}
	if got := w.steps("all.mp4"); got != "0..44" {
		t.Errorf("it shows %s", got)
	}
	dir := must[edit.GeneratedOutput](w, "edit.sequence", edit.SequenceInput{Dir: ".", Pattern: "f%d.png", StartNumber: new(8), Each: cutroom.Second / 25, Generated: edit.Generated{FPS: 25}, Writing: to("dir.mp4")})
	if got := w.steps("dir.mp4"); dir.Frames != 38 || got != "7..44" {
		t.Errorf("%d frames, it shows %s", dir.Frames, got)
	}
	w.fails("edit.sequence", edit.SequenceInput{Dir: ".", Pattern: "g%d.png", Writing: to("no.mp4")}, cutroom.NotFound)
	if err := os.Remove(filepath.Join(w.dir, "f3.png")); err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=90x90", "-frames:v", "1", "-update", "1", filepath.Join(w.dir, "f5.jpg"))
	odd := must[edit.GeneratedOutput](w, "edit.sequence", edit.SequenceInput{
		Inputs: []cutroom.InPath{"f10.png", "f2.png", "f4.png", "f5.jpg"}, Order: "natural", Each: cutroom.Second / 5, Generated: edit.Generated{FPS: 25, Audio: "silent"}, Writing: to("odd.mp4"),
	})
	if got := w.steps("odd.mp4"); got != "1x5 3x5 54x5 9x5" && got != "1x5 3x5 -1x5 9x5" {
		t.Errorf("it shows %s", got)
	}
	if n := strings.Join(odd.Notes, " "); !strings.Contains(n, "behind f2.png the next is f4.png") || !strings.Contains(n, "1 pictures have another size") {
		t.Errorf("%q", odd.Notes)
	}
}

// A copy to work with is small, and its times are the source's.
func TestProxies(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.stairs("stairs.mp4", "-ac", "6", "-metadata", "title=Stairs")
	out := must[edit.ProxyOutput](w, "edit.proxy", edit.ProxyInput{Input: in, Scale: 0.5})
	if *out.File != "stairs_proxy.mp4" || out.Width != 80 || out.Height != 46 || out.Bytes == 0 || out.Before == 0 || out.Probe.AudioStreams()[0].Audio.Channels != 2 {
		t.Errorf("%dx%d, %d frames", out.Width, out.Height, out.Probe.FirstVideo().Frames)
	}
	quiet := must[edit.ProxyOutput](w, "edit.proxy", edit.ProxyInput{Input: in, Width: 2000, FPS: 12.5, NoAudio: true, Writing: to("quiet.mp4")})
	if quiet.Width != 160 || quiet.Probe.FirstVideo().Frames != 25 || len(quiet.Probe.AudioStreams()) != 0 {
		t.Errorf("%dx%d", quiet.Width, quiet.Height)
	}
}
