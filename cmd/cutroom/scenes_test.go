package main

import (
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/measure"
)

// film makes a recording with a cut at 3 s, a dissolve from 6 to 7 s, a fade through
// black from 9 to 10 s, a pan to the right at the end, clicks at 120 a minute, and a
// loud third scene.
func (w *workspace) film(name string) cutroom.InPath {
	w.t.Helper()
	testenv.FFmpeg(w.t,
		"-f", "lavfi", "-i", "smptebars=s=320x180:r=25:d=3", "-f", "lavfi", "-i", "rgbtestsrc=s=320x180:r=25:d=4", "-f", "lavfi", "-i", "mandelbrot=s=1280x720:r=25,trim=end_frame=1,loop=99:1,setpts=N/25/TB,scale=320:180",
		"-f", "lavfi", "-i", "mandelbrot=s=1280x720:r=25:start_scale=0.3,trim=end_frame=1,loop=124:1,setpts=N/25/TB,crop=640:360:x='120*t':y=180,scale=320:180",
		"-f", "lavfi", "-i", "aevalsrc='(0.1+0.5*between(t\\,7\\,9))*sin(2000*PI*t)*exp(-40*mod(t\\,0.5))':s=48000:d=15",
		"-filter_complex", "[2:v]trim=duration=3.5,fade=t=out:st=3:d=0.5,format=yuv420p,settb=1/25,setsar=1[c];[3:v]fade=t=in:st=0:d=0.5,format=yuv420p,settb=1/25,setsar=1[d];[0:v]format=yuv420p,settb=1/25[a];[1:v]format=yuv420p,settb=1/25[b];"+
			"[a][b]concat,settb=1/25[ab];[ab][c]xfade=duration=1:offset=6,settb=1/25,trim=duration=9.5,setpts=PTS-STARTPTS,setsar=1[abc];[abc][d]concat[v]",
		"-map", "[v]", "-map", "4:a", "-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac", "-t", "14.5", filepath.Join(w.dir, name))
	return cutroom.InPath(name)
}

func TestScenes(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	film := w.film("film.mp4")
	o := must[measure.ScenesOutput](w, "measure.scenes", measure.ScenesInput{
		Input: film, Highlights: 2, Target: 3 * cutroom.Second, EDL: "best.txt", Shots: true, Beats: true, AudioPeaks: true, Speech: true, Sheet: "scenes.png",
	})
	var kinds []string
	for _, c := range o.Transitions {
		kinds = append(kinds, fmt.Sprintf("%s %.1f", c.Kind, c.Time.Seconds()))
	}
	if !slices.Equal(kinds, []string{"cut 3.0", "dissolve 6.5", "fade 9.5"}) || o.SceneCount != 4 || len(o.Scenes) != 4 {
		t.Errorf("%v, %d scenes", kinds, o.SceneCount)
	}
	for i, s := range o.Scenes {
		if s.Index != i+1 || s.Duration != s.End-s.Start || i > 0 && s.Start != o.Scenes[i-1].End || s.RMS == nil || s.Peak == nil {
			t.Errorf("scene %+v", s)
		}
	}
	if last := o.Scenes[3].End; math.Abs(last.Seconds()-14.5) > 0.05 {
		t.Errorf("the last scene ends at %v", last)
	}
	if g := o.BeatGrid; g == nil || math.Abs(g.BPM-120) > 0.2 || g.Confidence < 0.9 || len(o.Beats) < 28 {
		t.Errorf("%+v, %d beats", g, len(o.Beats))
	}
	var labels []string
	for _, s := range o.Shots {
		labels = append(labels, s.Label)
	}
	if !slices.Equal(labels, []string{"static", "static", "static", "pan-right"}) {
		t.Errorf("%+v", o.Shots)
	}
	if o.HighlightsBy != "audio" || len(o.Highlights) != 2 || o.HighlightsTotal > 3*cutroom.Second || o.Highlights[1].Start < 6900*cutroom.Second/1000 || o.Highlights[1].End > 9100*cutroom.Second/1000 {
		t.Errorf("%+v, %v together", o.Highlights, o.HighlightsTotal)
	}
	lines, err := os.ReadFile(filepath.Join(w.dir, "best.txt"))
	if want := fmt.Sprintf("%s-%s\n", o.Highlights[0].Start, o.Highlights[0].End); err != nil || !strings.HasPrefix(string(lines), want) || strings.Count(string(lines), "\n") != 2 {
		t.Errorf("%q, want %q: %v", lines, want, err)
	}
	f, err := os.Open(filepath.Join(w.dir, "scenes.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if conf, format, err := image.DecodeConfig(f); err != nil || format != "png" || conf.Width < 600 || o.SheetScenes != 4 {
		t.Errorf("%+v %s, %d scenes on it: %v", conf, format, o.SheetScenes, err)
	}
}

// TestScenesOfSound: without pictures, what the sound says; scenes are refused.
func TestScenesOfSound(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	song := w.tone("song.wav", "0.5*sin(2000*PI*t)*exp(-40*mod(t\\,0.6))", "12")
	o := must[measure.ScenesOutput](w, "measure.scenes", measure.ScenesInput{Input: song, Beats: true})
	if o.BeatGrid == nil || math.Abs(o.BeatGrid.BPM-100) > 0.2 || o.SceneCount != 0 || len(o.Notes) == 0 || !strings.Contains(o.Notes[0], "no moving pictures") {
		t.Errorf("%+v", o)
	}
	mute := "mute.mp4"
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=2:s=160x90:r=25", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, mute))
	for name, in := range map[string]measure.ScenesInput{
		"no video stream":    {Input: song},
		"no scenes":          {Input: song, Beats: true, Shots: true},
		"no audio":           {Input: cutroom.InPath(mute), Beats: true},
		"no range of tempi":  {Input: song, Beats: true, BeatRange: "200-60"},
		"without highlights": {Input: cutroom.InPath(mute), Target: cutroom.Second},
		"JPEG or a PNG":      {Input: cutroom.InPath(mute), Sheet: "sheet.gif"},
	} {
		if _, err := w.call("measure.scenes", in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAThousandScenes: all are answered, and the sheet shows as many as can be seen.
func TestAThousandScenes(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	n := 120
	if testenv.Soak() {
		n = 1000
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", fmt.Sprintf("nullsrc=s=64x36:r=10:d=%.1f,geq=lum='mod(floor(N/3)*67\\,200)+20':cb='128+60*sin(floor(N/3))':cr='128+60*cos(floor(N/3)*2)'", 0.3*float64(n)),
		"-c:v", "libx264", "-preset", "ultrafast", "-qp", "10", "-g", "50", filepath.Join(w.dir, "many.mp4"))
	o := must[measure.ScenesOutput](w, "measure.scenes", measure.ScenesInput{Input: "many.mp4", MinScene: cutroom.Second / 5, Sheet: "many.jpg", EDL: "all.txt"})
	if o.SceneCount < n*98/100 || o.SceneCount > n || o.SheetScenes < min(n*98/100, 240) {
		t.Errorf("%d of %d scenes, %d on the sheet: %q", o.SceneCount, n, o.SheetScenes, o.Notes)
	}
	lines, err := os.ReadFile(filepath.Join(w.dir, "all.txt"))
	if err != nil || strings.Count(string(lines), "\n") != o.SceneCount {
		t.Errorf("%d lines: %v", strings.Count(string(lines), "\n"), err)
	}
}
