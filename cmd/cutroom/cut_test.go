package main

import (
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// reel makes a recording with a key frame every two seconds, two languages and chapters.
func (w *workspace) reel(name string, more ...string) cutroom.InPath {
	w.t.Helper()
	args := []string{
		"-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=12", "-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*(220+20*t)*t)':s=48000:d=12",
		"-f", "lavfi", "-i", "sine=330:r=44100:d=12", "-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-bf", "3", "-c:a", "aac",
		"-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", "-metadata:s:a:1", "title=Kommentar",
	}
	testenv.FFmpeg(w.t, append(append(args, more...), filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

func TestCut(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.reel("talk.mp4")
	source := pictureOnly(w.frameHashes(string(in)))

	out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "1.3", End: "00:00:07.4"})
	if out.File == nil || *out.File != "talk_cut.mp4" || out.Mode != "smart" || out.Reencoded || out.Precision != "frame" {
		t.Errorf("%+v", out)
	}
	// The frames that begin from 1.3 s on: 33 to 184.
	s := out.Segments[0]
	if s.Frames != 152 || s.Start != 1_320_000 || s.Copied < 100 || s.Copied+s.Encoded != s.Frames {
		t.Errorf("%+v", s)
	}
	got := pictureOnly(w.frameHashes("talk_cut.mp4"))
	same := 0
	for i, h := range got {
		if 185-len(got)+i >= 0 && h == source[185-len(got)+i] {
			same++
		}
	}
	if len(got) != s.Frames || same < s.Copied {
		t.Errorf("%d frames, %d of them the source's; %d were copied", len(got), same, s.Copied)
	}
	if a := out.Probe.AudioStreams(); len(a) != 2 || a[0].Language != "eng" || a[1].Language != "ger" && a[1].Language != "deu" {
		t.Errorf("sound: %+v %+v", a[0], a[1])
	}
	for _, v := range out.Verified {
		if !v.OK {
			t.Errorf("%+v", v)
		}
	}
	if m := out.EditMap; len(m.Segments) != 1 || m.Segments[0].SourceStart != s.Start || m.Seconds != out.OutputDuration || out.DurationError > 40_000 || out.DurationError < -40_000 {
		t.Errorf("%+v, %+v", m, out)
	}

	two := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Segments: []string{"8-11", "2.4-5"}, Writing: to("two.mkv")})
	if len(two.Segments) != 2 || two.Segments[0].Frames != 75 || two.Segments[1].Frames != 65 || two.EditMap.Segments[1].Start != 3_000_000 {
		t.Errorf("%+v", two)
	}
	exact := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "1.3", Duration: "2", Mode: "accurate", Writing: to("exact.mp4")})
	if !exact.Reencoded || exact.Mode != "accurate" || len(pictureOnly(w.frameHashes("exact.mp4"))) != 50 {
		t.Errorf("%+v", exact)
	}
}

func to(output string) tool.Writing { return tool.Writing{Output: cutroom.OutPath(output)} }

func TestCutByCopy(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.reel("talk.mp4")
	e := w.fails("edit.cut", edit.CutInput{Input: in, Start: "3.3", End: "7", Mode: "copy"}, cutroom.Precondition)
	if !strings.Contains(e.Hint, "2") || !strings.Contains(e.Hint, "tolerance -1") {
		t.Errorf("%s: %s", e.Msg, e.Hint)
	}
	any := -1.0
	out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "3.3", End: "7", Mode: "copy", Tolerance: &any})
	s := out.Segments[0]
	if !out.KeyframeSnapped || s.Start != 2_000_000 || s.Encoded != 0 || out.Precision != "packet" || *out.NearestKeyframes[0].Before != 2_000_000 {
		t.Errorf("%+v", out)
	}
	if got := len(pictureOnly(w.frameHashes("talk_cut.mp4"))); got != s.Frames || s.End < 7_000_000 || s.End > 7_200_000 {
		t.Errorf("%d frames: %+v", got, s)
	}
}

func TestCutRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.reel("talk.mp4")
	for _, c := range []struct {
		in   edit.CutInput
		says string
	}{
		{edit.CutInput{Input: in}, "nothing says"},
		{edit.CutInput{Input: in, Start: "5", End: "5"}, "behind the start"},
		{edit.CutInput{Input: in, Start: "5", End: "4"}, "behind the start"},
		{edit.CutInput{Input: in, Start: "12.5"}, "behind the end"},
		{edit.CutInput{Input: in, Start: "1", End: "99"}, "behind the end"},
		{edit.CutInput{Input: in, End: "4", Duration: "4"}, "exclude"},
		{edit.CutInput{Input: in, Start: "1", Segments: []string{"1-2"}}, "exclude"},
		{edit.CutInput{Input: in, Segments: []string{"1-2", "x"}}, "segment 2"},
		{edit.CutInput{Input: in, Segments: []string{"4-2"}}, "segment 1"},
		{edit.CutInput{Input: in, Start: "1", End: "2", Writing: to("talk.mp4")}, "never written over"},
		{edit.CutInput{Input: in, Start: "1", End: "2", Writing: to("talk.xyz")}, "cannot be written"},
		{edit.CutInput{Input: in, Start: "11.99"}, "11.99 s to 12 s, holds no frame"},
		{edit.CutInput{Input: in, Start: "1.001", End: "1.002", Mode: "accurate"}, "holds no frame"},
	} {
		if e := w.fails("edit.cut", c.in, cutroom.Invalid); !strings.Contains(e.Msg, c.says) || e.Hint == "" {
			t.Errorf("%+v: %s (%s)", c.in, e.Msg, e.Hint)
		}
	}
}

// A copied picture that its file turns upside down stays the right way up: where a
// container has no mark for it, it is encoded, or refused.
func TestACopyStaysUpright(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=black:s=160x90:r=25:d=2,drawbox=h=45:c=white:t=fill", "-c:v", "libx264", "-g", "10", filepath.Join(w.dir, "coded.mp4"))
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "coded.mp4"), "-c", "copy", "-metadata:s:v:0", "rotate=180", filepath.Join(w.dir, "over.mp4"))
	for _, name := range []string{"cut.mkv", "cut.mp4"} {
		out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "over.mp4", Start: "0.4", Writing: to(name)})
		if p := w.pixels(name, "0.5", 160, 90); p[0] > 40 || p[len(p)-1] < 200 {
			t.Errorf("%s lies upside down: %d above, %d beneath", name, p[0], p[len(p)-1])
		}
		if want := strings.HasSuffix(name, "mkv"); out.Reencoded != want {
			t.Errorf("%s: encoded %v", name, out.Reencoded)
		}
	}
	e := w.fails("edit.metadata", edit.MetadataInput{Input: "over.mp4", Title: ptr("x"), Writing: to("tagged.mkv")}, cutroom.Invalid)
	if !strings.Contains(e.Hint, ".mp4") {
		t.Errorf("%s", e.Hint)
	}
	must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{Input: "over.mp4", Title: ptr("x"), Writing: to("tagged.mov")})
	if p := w.pixels("tagged.mov", "0.5", 160, 90); p[0] > 40 || p[len(p)-1] < 200 {
		t.Errorf("the tagged copy lies upside down")
	}
}
