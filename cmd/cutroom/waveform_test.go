package main

import (
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// lit is the share of bright pixels in a part of a frame.
func (w *workspace) lit(name, at string, width, height, y0, y1 int) float64 {
	w.t.Helper()
	p, n := w.pixels(name, at, width, height), 0
	for i := y0 * width; i < y1*width; i++ {
		if p[3*i] > 150 && p[3*i+1] > 150 {
			n++
		}
	}
	return float64(n) / float64((y1-y0)*width)
}

// Each style draws where it sounds, and hardly anything where it does not; a title of any
// text can be read; a picture is the ground.
func TestWaveforms(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.tone("talk.wav", `0.5*sin(2*PI*(200+300*t)*t)*gte(t\,1)`, "2")
	for _, style := range []string{"wave", "line", "bars"} {
		out := must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "talk.wav", Style: style, Title: "100% it's: {ok}", Width: 640, Height: 360, FPS: 12.5, Background: []string{"navy"}, Writing: to(style + ".mp4")})
		if v := out.Probe.FirstVideo(); v.Frames != 25 || out.Width != 640 || out.Duration != 2*cutroom.Second || len(out.Probe.AudioStreams()) != 1 {
			t.Errorf("%s: %d frames, %d wide", style, v.Frames, out.Width)
		}
		silent, loud := w.lit(style+".mp4", "0.4", 640, 360, 108, 252), w.lit(style+".mp4", "1.6", 640, 360, 108, 252)
		if loud < silent+0.015 || silent > 0.02 {
			t.Errorf("%s: %.3f of it is bright when it is silent, %.3f when it sounds", style, silent, loud)
		}
		w.color(style+".mp4", "0.4", 640, 360, 10, 350, [3]int{0, 0, 128})
	}
	if got := w.reads("wave.mp4", "0.5", "eng"); !strings.Contains(strings.ReplaceAll(got, " ", ""), "100%it's:{ok}") {
		t.Errorf("the title reads %q", got)
	}
	w.flag("flag.mp4", 640, 360)
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "flag.mp4"), "-frames:v", "1", "-update", "1", filepath.Join(w.dir, "flag.jpg"))
	must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "flag.mp4", Image: "flag.jpg", Style: "spectrum", Position: "bottom", VisHeight: 0.2, Width: 320, Height: 180, Title: "سلام", Writing: to("ground.mkv")})
	w.color("ground.mkv", "1", 320, 180, 300, 60, [3]int{0, 255, 0})
	w.color("ground.mkv", "1", 320, 180, 60, 110, [3]int{0, 0, 254})

	testenv.FFmpeg(t, "-f", "lavfi", "-i", "anullsrc=d=1", filepath.Join(w.dir, "none.wav"))
	quiet := must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "none.wav", OnSilent: "warn", Width: 320, Height: 180})
	if quiet.Silent == nil || !*quiet.Silent || *quiet.File != "none_waveform.mp4" {
		t.Errorf("%v", quiet.Silent)
	}
	w.fails("edit.waveform", edit.WaveformInput{Input: "none.wav", OnSilent: "fail", Writing: to("no.mp4")}, cutroom.Invalid)
}
