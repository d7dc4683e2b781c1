package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
	"cutroom/internal/timeline"
	"cutroom/internal/tools/edit"
)

// event makes recordings of one event of 20 s: wide.mp4 is all of it, close.mp4 the time
// from 3.2 s to 15.2 s, recorder.wav began 1.5 s before it. Frame n of the event, ten a
// second, is of the brightness 20 + n in every picture; the colour tells the camera.
func (w *workspace) event() {
	w.t.Helper()
	noise := "anoisesrc=d=20:a=0.3:r=48000:seed=11,volume='0.15+0.85*gt(sin(t*2.1)+sin(t*3.7)\\,0.4)':eval=frame"
	testenv.FFmpeg(w.t, "-f", "lavfi", "-i", noise, filepath.Join(w.dir, "event.wav"))
	picture := func(cb int) string {
		return fmt.Sprintf("color=black:s=160x90:r=10:d=20,geq=lum='20+N':cb=%d:cr=128", cb)
	}
	in := filepath.Join(w.dir, "event.wav")
	code := []string{"-c:v", "libx264", "-crf", "6", "-preset", "veryfast", "-g", "20", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "160k"}
	testenv.FFmpeg(w.t, append(append([]string{"-f", "lavfi", "-i", picture(128), "-i", in}, code...), filepath.Join(w.dir, "wide.mp4"))...)
	testenv.FFmpeg(w.t, append(append([]string{
		"-f", "lavfi", "-i", picture(60), "-ss", "3.2", "-t", "12", "-i", in, "-vf", "trim=start_frame=32:end_frame=152,setpts=PTS-STARTPTS", "-af", "highpass=200,volume=0.4",
	}, code...), filepath.Join(w.dir, "close.mp4"))...)
	testenv.FFmpeg(w.t, "-i", in, "-af", "adelay=1500,lowpass=6000", filepath.Join(w.dir, "recorder.wav"))
}

// seen is what a video of the event shows: how many frames are not those of their time,
// and which camera shows in each half second.
func (w *workspace) seen(name string) (wrong int, cameras string) {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-vf", "crop=96:56:32:16,scale=2:2:flags=area,format=yuv444p", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
	for n := range len(out) / 12 {
		if y, want := float64(out[12*n]), float64(min(20+n, 235)); math.Abs(y-want) > 0.9 {
			wrong++
		}
		if n%5 == 2 {
			cameras += map[bool]string{true: "1", false: "0"}[out[12*n+4] < 95]
		}
	}
	return wrong, cameras
}

// Whichever camera shows, the event's frames follow each other without a jump; where one
// was not running the reference shows. The sound of a recorder lies where the
// reference's does, which is measured on the written file.
func TestMulticam(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.event()
	if err := os.Mkdir(filepath.Join(w.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	both := []cutroom.InPath{"wide.mp4", "close.mp4"}
	found := must[edit.MulticamOutput](w, "edit.multicam", edit.MulticamInput{Inputs: append(both, "recorder.wav"), OffsetsOnly: true})
	for i, want := range []float64{0, 3.2, -1.5} {
		if d := found.Offsets[i].Seconds() - want; math.Abs(d) > 0.03 || found.Confidence[i] < 0.6 {
			t.Errorf("%d begins at %v, want %v", i, found.Offsets[i], want)
		}
	}
	if found.File != nil || len(found.Cuts) != 0 {
		t.Errorf("%+v", found)
	}
	out := must[edit.MulticamOutput](w, "edit.multicam", edit.MulticamInput{
		Inputs: append(both, "recorder.wav"), Switch: []string{"1-5:1", "0:00:08-12.5:1", "14-18:1"}, Audio: 2, EDL: "cuts.txt", Project: "sub/cut.json", Writing: to("list.mp4"),
	})
	if wrong, got := w.seen("list.mp4"); wrong > 0 || got != "0000000111000000111111111000110000000000" {
		t.Errorf("%d frames are not those of their time; it shows %s", wrong, got)
	}
	if n := out.Probe.FirstVideo().Frames; n != 200 || len(out.Cuts) != 7 || out.Mode != "list" || !strings.Contains(strings.Join(out.Notes, " "), "was not running") {
		t.Errorf("%d frames, %+v, %q", n, out.Cuts, out.Notes)
	}
	rows := 0
	for _, v := range out.Verified {
		if v.Check == "offset_to_reference" && v.OK {
			rows++
		}
	}
	if rows != 1 {
		t.Error("the sound was not measured against the reference")
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "cuts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := edl.ParseCuts(string(text), nil); err != nil || len(list) != 7 || edl.Total(list) != 20*cutroom.Second {
		t.Errorf("%s: %v, %v", text, list, err)
	}
	// the same cut as a project: the same frames, and a timeline of an editing program
	again := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Project: "sub/cut.json", ExportTimeline: "sub/cut.otio", Writing: to("again.mp4")})
	if wrong, got := w.seen("again.mp4"); wrong > 0 || got != "0000000111000000111111111000110000000000" || again.Probe.FirstVideo().Frames != 200 {
		t.Errorf("as a project, %d frames are not those of their time; it shows %s", wrong, got)
	}
	heard := must[edit.MulticamOutput](w, "edit.multicam", edit.MulticamInput{Inputs: []cutroom.InPath{"list.mp4", "again.mp4"}, OffsetsOnly: true})
	if d := heard.Offsets[1].Seconds(); math.Abs(d) > 0.002 {
		t.Errorf("the sound of the project lies %g s off", d)
	}
	written, err := os.ReadFile(filepath.Join(w.dir, "sub", "cut.otio"))
	if err != nil {
		t.Fatal(err)
	}
	if tl, lost, err := timeline.Read(timeline.OTIO, written, ffmpeg.Rational{}); err != nil || len(lost) > 0 || len(tl.Clips) != 7 || len(tl.Beds) != 1 || tl.Clips[1].Length != 17 || tl.Beds[0].In != 15 {
		t.Errorf("%v, %v: %+v", err, lost, tl)
	}
	if !strings.Contains(strings.Join(again.NotWritten, "; "), "mute that") {
		t.Errorf("not exported: %q", again.NotWritten)
	}
	turns := must[edit.MulticamOutput](w, "edit.multicam", edit.MulticamInput{Inputs: both, Auto: cutroom.Second / 5, Offsets: []float64{3.2}, FPS: 10, Writing: to("turns.mkv")})
	if wrong, _ := w.seen("turns.mkv"); wrong > 0 || len(turns.Cuts) < 50 {
		t.Errorf("%d frames are not those of their time, %d cuts", wrong, len(turns.Cuts))
	}
	loud := must[edit.MulticamOutput](w, "edit.multicam", edit.MulticamInput{Inputs: both, Energy: true, MinShot: 2 * cutroom.Second, Writing: to("loud.mp4")})
	if wrong, _ := w.seen("loud.mp4"); wrong > 0 || loud.Mode != "energy" {
		t.Errorf("%d frames are not those of their time: %+v", wrong, loud.Cuts)
	}
	for i, c := range loud.Cuts {
		if i > 0 && i < len(loud.Cuts)-1 && c.End-c.Start < 1_900_000 {
			t.Errorf("%+v", c)
		}
	}
	w.tone("other.wav", "0.3*sin(2*PI*220*t)", "8")
	w.fails("edit.multicam", edit.MulticamInput{Inputs: []cutroom.InPath{"wide.mp4", "other.wav"}, Auto: cutroom.Second, Writing: to("no.mp4")}, cutroom.Invalid)
	w.fails("edit.multicam", edit.MulticamInput{Inputs: []cutroom.InPath{"wide.mp4", "recorder.wav"}, Switch: []string{"1-2:1"}, Writing: to("no.mp4")}, cutroom.Invalid)
}
