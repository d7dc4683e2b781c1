package main

import (
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/project"
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
		out := must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "talk.wav", Audiogram: project.Audiogram{Style: style, Title: "100% it's: {ok}", Width: 640, Height: 360, FPS: 12.5, Background: []string{"navy"}}, Writing: to(style + ".mp4")})
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
	must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "flag.mp4", Audiogram: project.Audiogram{Image: "flag.jpg", Style: "spectrum", Position: "bottom", VisHeight: 0.2, Width: 320, Height: 180, Title: "سلام"}, Writing: to("ground.mkv")})
	w.color("ground.mkv", "1", 320, 180, 300, 60, [3]int{0, 255, 0})
	w.color("ground.mkv", "1", 320, 180, 60, 110, [3]int{0, 0, 254})

	testenv.FFmpeg(t, "-f", "lavfi", "-i", "anullsrc=d=1", filepath.Join(w.dir, "none.wav"))
	quiet := must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "none.wav", OnSilent: "warn", Audiogram: project.Audiogram{Width: 320, Height: 180}})
	if quiet.Silent == nil || !*quiet.Silent || *quiet.File != "none_waveform.mp4" {
		t.Errorf("%v", quiet.Silent)
	}
	w.fails("edit.waveform", edit.WaveformInput{Input: "none.wav", OnSilent: "fail", Writing: to("no.mp4")}, cutroom.Invalid)

	// captions and a brand: both are looked for on the written file, in the same encode
	put(t, filepath.Join(w.dir, "brand.yaml"), "colors: {background: \"#204060\", primary: \"#ffee00\"}\ncaptions: {size: 40, position: center}\n")
	put(t, filepath.Join(w.dir, "talk.srt"), "1\n00:00:00,200 --> 00:00:01,800\nHello\n")
	said := must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{
		Input: "talk.wav", SRT: "talk.srt", Brand: "brand.yaml", Audiogram: project.Audiogram{Title: "Two", Position: "bottom", VisHeight: 0.2, Width: 320, Height: 320, FPS: 12.5, Platform: "tiktok"}, Writing: to("said.mp4"),
	})
	w.proved(said.Verified)
	seen := ""
	for _, v := range said.Verified {
		seen += v.Check + " " + v.Stream + "; "
	}
	if !strings.Contains(seen, "captions_visible captions") || !strings.Contains(seen, "drawn_visible title") || said.Caption == nil || said.Caption.Burned != 1 {
		t.Errorf("%s %+v", seen, said.Caption)
	}
	w.color("said.mp4", "1", 320, 320, 4, 4, [3]int{0x20, 0x40, 0x60})
	if got := w.reads("said.mp4", "1", "eng"); !strings.Contains(got, "Hello") {
		t.Errorf("it reads %q", got)
	}
}

// A project of sounds: cuts, music and graphics over what is drawn, in one encode.
func TestRenderDrawsAnAudiogram(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.tone("a.wav", "0.5*sin(2*PI*300*t)", "2")
	w.tone("b.wav", "0.5*sin(2*PI*500*t)", "2")
	out := must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Text: `
clips: [{src: a.wav, out: 1}, {src: b.wav, in: 0.5, out: 1.5}]
audiogram: {style: line, title: "Both", background: [navy], width: 320, height: 180, fps: 10}
graphics: [{template: progress}]
`, Writing: to("both.mp4")})
	w.proved(out.Verified)
	if v := out.Probe.FirstVideo(); out.Encodes != 1 || v.Frames != 20 || v.Video.DisplayWidth != 320 || len(out.Probe.AudioStreams()) != 1 {
		t.Errorf("%d encodes, %d frames, %d wide", out.Encodes, v.Frames, v.Video.DisplayWidth)
	}
	if lit := w.lit("both.mp4", "1.5", 320, 180, 60, 120); lit < 0.01 {
		t.Errorf("%.3f of it is bright", lit)
	}
	for text, want := range map[string]string{
		"clips: [{src: a.wav, speed: 2}]\naudiogram: {}":                        "its own speed",
		"clips: [{src: a.wav}]\naudiogram: {style: bars, split_channels: true}": "audiogram: bars show",
		"clips: [{src: a.wav}]\naudiogram: {audio_stream: 3}":                   "clip 1",
	} {
		if e := w.fails("edit.render", edit.RenderInput{Text: text, Writing: to("no.mp4")}, cutroom.Invalid); !strings.Contains(e.Msg, want) {
			t.Errorf("%s: %v", text, e)
		}
	}
}
