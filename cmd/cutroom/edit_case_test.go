package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// TestEditsOfBrokenFiles: a file that is no medium, or breaks off, is an error that says
// so, whatever is to be done with it; half of a film is never a whole one.
func TestEditsOfBrokenFiles(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	w := open(t, "")
	for _, name := range []string{"b18_empty.mp4", "b18_text.mp4", "b18_nomoov.mp4"} {
		w.copy(filepath.Join(cases, name), name)
		for tool, in := range map[string]any{
			"edit.fit": edit.FitInput{Input: cutroom.InPath(name), Aspect: "1:1"},
			"edit.cut": edit.CutInput{Input: cutroom.InPath(name), Start: "0", End: "1"},
		} {
			if e := w.fails(tool, in, cutroom.UnreadableMedia); e.Hint == "" {
				t.Errorf("%s of %s: no hint: %v", tool, name, e)
			}
		}
	}
	w.copy(filepath.Join(cases, "b18_trunc_faststart.mp4"), "cut-off.mp4")
	e := w.fails("edit.fit", edit.FitInput{Input: "cut-off.mp4", Aspect: "1:1"}, cutroom.UnreadableMedia)
	if !strings.Contains(e.Msg, "breaks off") {
		t.Errorf("a file of which a third is left: %v", e)
	}
	out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "cut-off.mp4", Start: "0", End: "2"})
	if out.OutputDuration != 2*cutroom.Second {
		t.Errorf("what is left of it: %s s", out.OutputDuration)
	}
}

// TestEditsKeepEveryFrame: what goes through an edit has as many frames as its source,
// where edit lists, odd lengths and late starts make it easy to lose or gain one.
func TestEditsKeepEveryFrame(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=3.1:s=320x240:r=24", "-f", "lavfi", "-i", "sine=d=3.1:r=44100", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "odd.mp4"))
	for name, frames := range map[string]string{"odd.mp4": "75", "b10_editlist.mp4": "25", "b33_avoffset.mp4": "100", "b10_late.ts": "100"} {
		if name != "odd.mp4" {
			w.copy(filepath.Join(cases, name), name)
		}
		out := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: cutroom.InPath(name), Flip: "h", Writing: to("flip-" + strings.TrimSuffix(name, filepath.Ext(name)) + ".mp4")})
		i := slices.IndexFunc(out.Verified, func(v cutroom.Verified) bool { return v.Check == "frames" })
		if i < 0 || out.Verified[i].Measured != frames {
			t.Errorf("%s: verified %+v, want %s frames", name, out.Verified, frames)
		}
	}
}

// TestHostileNames: no name of a file gets into a filter, a list or an option.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	cases := testenv.Cases(t)
	w := open(t, "")
	names := []string{"b07_it's [a] 100%: café 日本.mp4", "-b07dash.mp4", "b07new\nline.mp4"}
	var inputs []cutroom.InPath
	for _, n := range names {
		inputs = append(inputs, cutroom.InPath(w.copy(filepath.Join(cases, n), n)))
	}
	out := must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: inputs, Transition: "none", Writing: to("it's [joined]: 100%.mp4")})
	if out.EditMap == nil || out.EditMap.Seconds != 12*cutroom.Second {
		t.Errorf("%+v", out.EditMap)
	}
	for _, n := range names {
		must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: cutroom.InPath(n), Start: "0.5", End: "2", Writing: to("cut of " + n)})
	}
}

// TestStreamsThatCannotBeCarriedAreNamed: a stream that the container cannot hold is
// left out and said, never an error and never silence.
func TestStreamsThatCannotBeCarriedAreNamed(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.copy(filepath.Join(testenv.Cases(t), "b24_tmcd.mov"), "camera.mov")
	out := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: "camera.mov", Aspect: "1:1", Writing: to("camera.mkv")})
	if said := strings.Join(out.Dropped, "; "); !strings.Contains(said, "data") && !strings.Contains(said, "timecode") {
		t.Errorf("dropped %q", said)
	}
}
