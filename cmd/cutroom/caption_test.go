package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// blank makes a plain dark video with a tone.
func (w *workspace) blank(name string, width, height int, seconds float64) cutroom.InPath {
	w.t.Helper()
	testenv.FFmpeg(w.t, "-f", "lavfi", "-i", fmt.Sprintf("color=0x203040:s=%dx%d:r=25:d=%g", width, height, seconds), "-f", "lavfi", "-i", fmt.Sprintf("sine=f=440:d=%g:r=48000", seconds),
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, name))
	return cutroom.InPath(name)
}

// reads is what OCR finds in the picture of a file at a time, without spaces: bright
// letters on dark.
func (w *workspace) reads(file, at, lang string) string {
	w.t.Helper()
	testenv.Needs(w.t, "tesseract")
	picture := filepath.Join(w.t.TempDir(), "p.png")
	testenv.FFmpeg(w.t, "-ss", at, "-i", "file:"+filepath.Join(w.dir, file), "-frames:v", "1", "-vf", "format=gray,lut=y='if(gt(val,150),0,255)'", picture)
	text := string(testenv.Run(w.t, "", "tesseract", picture, "-", "-l", lang, "--psm", "6"))
	return strings.NewReplacer(" ", "", "\n", "", "\f", "", "’", "'", "‘", "'", "“", `"`, "”", `"`).Replace(text)
}

func (w *workspace) captioned(in edit.CaptionInput) *edit.CaptionOutput {
	w.t.Helper()
	out := must[edit.CaptionOutput](w, "edit.caption", in)
	w.proved(out.Verified)
	return out
}

// proved checks that all that was measured of a published file holds.
func (w *workspace) proved(rows []cutroom.Verified) {
	w.t.Helper()
	for _, v := range rows {
		if !v.OK {
			w.t.Errorf("published what failed: %+v", v)
		}
	}
}

// row returns what was measured for a check.
func row(verified []cutroom.Verified, check string) string {
	i := slices.IndexFunc(verified, func(v cutroom.Verified) bool { return v.Check == check })
	if i < 0 {
		return ""
	}
	return verified[i].Measured
}

// Cases 36, 38 and 43: hostile names and texts, every encoding, read off the picture.
func TestCaptionsReadAsGiven(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	video := w.blank("it's [a] 100%: v.mp4", 640, 360, 3)
	for file, want := range map[string]struct{ text, encoding string }{
		"b07_it's [a] 100%: subs.srt": {"Hello100%it's:{ok}", "utf-8"},
		"b15_bom.srt":                 {"BOMandCRLF", "utf-8"},
		"b15_cp1252.srt":              {"naïvecafé", "windows-1252"},
		"b15_utf16.srt":               {"hi", "utf-16le"},
	} {
		w.copy(filepath.Join(cases, file), file)
		out := w.captioned(edit.CaptionInput{Input: video, SRT: []cutroom.InPath{cutroom.InPath(file)}, Writing: to("out.mp4")})
		if out.Sources[0].Encoding != want.encoding || !out.Caption.Unchanged || out.Caption.Burned != 1 {
			t.Errorf("%s: %+v %+v", file, out.Sources[0], out.Caption)
		}
		got := w.reads("out.mp4", "1", "eng")
		if strings.Map(plainLetter, got) != strings.Map(plainLetter, want.text) {
			t.Errorf("%s reads %q, not %q", file, got, want.text)
		}
		if row(out.Verified, "captions_visible") == "" || row(out.Verified, "captions_in_safe_area") != "0" {
			t.Errorf("%s: %+v", file, out.Verified)
		}
		if err := os.Remove(filepath.Join(w.dir, "out.mp4")); err != nil {
			t.Fatal(err)
		}
	}
}

// plainLetter takes off the accents that OCR for English does not know.
func plainLetter(r rune) rune {
	switch r {
	case 'ï', 'í', 'ì', 'î':
		return 'i'
	case 'é', 'è', 'ê':
		return 'e'
	}
	return r
}

// Case 42: right to left is drawn, and what no font draws is refused by the name of its
// script.
func TestCaptionsByScript(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 640, 360, 4)
	for _, file := range []string{"b13_rtl.srt", "b14_cjk.srt"} {
		w.copy(filepath.Join(testenv.Cases(t), file), file)
		out := w.captioned(edit.CaptionInput{Input: video, SRT: []cutroom.InPath{cutroom.InPath(file)}, Writing: to(file + ".mp4")})
		if !out.Caption.Unchanged || out.Caption.Outside != 0 || row(out.Verified, "captions_visible") == "" {
			t.Errorf("%s: %+v", file, out.Caption)
		}
	}
	if got := w.reads("b14_cjk.srt.mp4", "1", "chi_sim"); !strings.Contains(got, "男人都不会") {
		t.Errorf("read %q", got)
	}
	e := w.fails("edit.caption", edit.CaptionInput{Input: video, Cues: []edit.CaptionCue{{Start: "0", End: "2", Text: "हिन्दी"}}, Writing: to("no.mp4")}, cutroom.MissingDependency)
	if !strings.Contains(e.Msg, "Devanagari") || !strings.Contains(e.Hint, "fonts-noto-core") {
		t.Error(e)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "no.mp4")); err == nil {
		t.Error("a refused call left a file")
	}
}

// What cannot be seen is not published.
func TestInvisibleCaptionsAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 320, 240, 2)
	e := w.fails("edit.caption", edit.CaptionInput{
		Input: video, Cues: []edit.CaptionCue{{Start: "0", End: "2", Text: "not to be seen"}},
		Style: edit.CaptionStyle{Color: "203040", Outlined: "203040"}, Writing: to("no.mp4"),
	}, cutroom.Verification)
	if !strings.Contains(e.Msg, "captions_visible") || e.Hint == "" {
		t.Error(e)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "no.mp4")); err == nil {
		t.Error("what failed was published")
	}
}

// Cases 40 and 44, and every source of text: cue files, ASS, cues in the call; offset,
// files beside, cues outside of the video counted, a dry run.
func TestCaptionSources(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 360, 640, 4)
	put(t, filepath.Join(w.dir, "cues.txt"), "0.5-1.5 first|second\n00:00:02:00-00:00:03:00 third\n")
	out := w.captioned(edit.CaptionInput{
		Input: video, Text: "cues.txt", Platform: "tiktok", WriteSRT: "shown.srt", WriteASS: "shown.ass", Writing: to("text.mp4"),
	})
	if out.Caption.Burned != 2 || out.Caption.Percent > 6 {
		t.Errorf("%+v", out.Caption)
	}
	if a, b := w.reads("text.mp4", "1", "eng"), w.reads("text.mp4", "2.5", "eng"); a != "firstsecond" || b != "third" {
		t.Errorf("read %q and %q", a, b)
	}
	srt, _ := os.ReadFile(filepath.Join(w.dir, "shown.srt"))
	if !strings.Contains(string(srt), "00:00:00,500 --> 00:00:01,500\nfirst\nsecond\n") {
		t.Errorf("%s", srt)
	}
	// The script that was written draws the same again, later.
	out = w.captioned(edit.CaptionInput{Input: video, ASS: "shown.ass", Offset: 500_000, Writing: to("ass.mp4")})
	if out.Caption.Burned != 2 || out.Caption.Shifted != 2 || w.reads("ass.mp4", "1.7", "eng") != "firstsecond" {
		t.Errorf("%+v", out.Caption)
	}
	w.copy(filepath.Join(testenv.Cases(t), "b12_huge.srt"), "huge.srt")
	out = w.captioned(edit.CaptionInput{Input: video, SRT: []cutroom.InPath{"huge.srt"}, Writing: to("huge.mp4")})
	if out.Caption.Burned != 8 || out.Caption.Outside != 19_992 || out.Sources[0].Cues != 20_000 {
		t.Errorf("%+v %+v", out.Caption, out.Sources)
	}
	e := w.fails("edit.caption", edit.CaptionInput{Input: video, SRT: []cutroom.InPath{"huge.srt"}, Offset: 90 * cutroom.Second, Writing: to("no.mp4")}, cutroom.Invalid)
	if !strings.Contains(e.Msg, "no cue is visible") {
		t.Error(e)
	}
}

// Subtitle tracks hold the text as it was given, in every container.
func TestCaptionTracks(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 320, 240, 4)
	put(t, filepath.Join(w.dir, "a.srt"), "1\n00:00:00,500 --> 00:00:01,500\n100% it's: {ok} 3 < 4\n\n2\n00:00:02,000 --> 00:00:03,000\ntwo\nlines\n")
	put(t, filepath.Join(w.dir, "b.vtt"), "WEBVTT\n\n00:00.500 --> 00:01.500\nGrüße &amp; Küsse &lt;b&gt;\n")
	for _, name := range []string{"o.mp4", "o.mkv", "o.mov"} {
		out := w.captioned(edit.CaptionInput{
			Input: video, Mode: "mux", SRT: []cutroom.InPath{"a.srt", "b.vtt"}, Language: []string{"en", "de"}, TrackTitle: []string{"English"}, Default: "de", Writing: to(name),
		})
		if out.Existing != 2 || len(out.Tracks) != 2 || out.Tracks[0].Language != "eng" || out.Tracks[1].Language != "deu" || !out.Tracks[1].Default || out.Tracks[0].Cues != 2 {
			t.Errorf("%s: %+v", name, out.Tracks)
		}
		if row(out.Verified, "track_text") != "the same text" {
			t.Errorf("%s: %+v", name, out.Verified)
		}
		raw := string(testenv.Run(t, "", "ffmpeg", "-v", "error", "-i", "file:"+filepath.Join(w.dir, name), "-map", "0:s:0", "-c", "copy", "-f", "data", "-"))
		if !strings.Contains(raw, "100% it's: {ok} 3 < 4") || !strings.Contains(raw, "two\nlines") {
			t.Errorf("%s holds %q", name, raw)
		}
		// Picture and sound are the input's, packet by packet.
		if a, b := w.packets(string(video)), w.packets(name); a != b {
			t.Errorf("%s: other packets", name)
		}
	}
	e := w.fails("edit.caption", edit.CaptionInput{Input: video, Mode: "mux", SRT: []cutroom.InPath{"a.srt", "b.vtt"}, Language: []string{"en", "eng"}, Writing: to("no.mp4")}, cutroom.Invalid)
	if !strings.Contains(e.Msg, "two tracks") {
		t.Error(e)
	}
}

// packets are the sums of the picture's packets.
func (w *workspace) packets(file string) string {
	w.t.Helper()
	return string(testenv.Run(w.t, "", "ffmpeg", "-v", "error", "-i", "file:"+filepath.Join(w.dir, file), "-map", "0:v:0", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "md5", "-"))
}

// Case 24: captions of the source stand right in the cut, by the run that made it.
func TestCaptionsAcrossACut(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.blank("talk.mp4", 640, 360, 12)
	put(t, filepath.Join(w.dir, "talk.srt"), "1\n00:00:01,000 --> 00:00:02,000\ngone\n\n2\n00:00:05,000 --> 00:00:06,000\nkept\n\n3\n00:00:09,500 --> 00:00:11,000\nlate\n")
	cut := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Segments: []string{"4-7", "9-12"}, Writing: to("cut.mp4")})
	out := w.captioned(edit.CaptionInput{
		Input: "cut.mp4", SRT: []cutroom.InPath{"talk.srt"}, EditMap: cutroom.Ref{Run: string(cut.Provenance.InvocationSHA256)}, WriteSRT: "cut.srt", Writing: to("out.mp4"),
	})
	if out.Caption.Burned != 2 || out.Caption.Dropped != 1 || out.Caption.Shifted != 2 {
		t.Errorf("%+v", out.Caption)
	}
	if a, b := w.reads("out.mp4", "1.5", "eng"), w.reads("out.mp4", "4", "eng"); a != "kept" || b != "late" {
		t.Errorf("read %q and %q", a, b)
	}
	srt, _ := os.ReadFile(filepath.Join(w.dir, "cut.srt"))
	if !strings.Contains(string(srt), "00:00:01,000 --> 00:00:02,000\nkept") || !strings.Contains(string(srt), "00:00:03,500 --> 00:00:05,000\nlate") {
		t.Errorf("%s", srt)
	}
}

// Speech becomes captions that can be read, inside what the platform leaves free; case
// 52: silence becomes none.
func TestCaptionsFromSpeech(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	speech := filepath.Join(testenv.Real(t), "jfk.wav")
	if _, err := os.Stat(speech); err != nil {
		speech = filepath.Join(testenv.Real(t), "example.mp4")
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x203040:s=540x960:r=25:d=11", "-t", "11", "-i", speech, "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "v.mp4"))
	out := w.captioned(edit.CaptionInput{Input: "v.mp4", Transcribe: true, Platform: "tiktok", Karaoke: true, WriteSRT: "v.srt", Writing: to("out.mp4")})
	if out.Sources[0].Kind != "speech" || out.Sources[0].Engine == "" || out.Caption.Timing != "energy" || !out.Caption.Unchanged {
		t.Errorf("%+v %+v", out.Sources, out.Caption)
	}
	srt, _ := os.ReadFile(filepath.Join(w.dir, "v.srt"))
	if len(strings.Fields(string(srt))) < 20 {
		t.Errorf("%s", srt)
	}
	t.Logf("%s", srt)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x203040:s=320x240:r=25:d=5", "-f", "lavfi", "-i", "anullsrc=d=5:r=48000", "-shortest", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "quiet.mp4"))
	if e := w.fails("edit.caption", edit.CaptionInput{Input: "quiet.mp4", Transcribe: true}, cutroom.Invalid); !strings.Contains(e.Msg, "speech") {
		t.Error(e)
	}
}

// Two sources of text, a colour that is none, and styles of a track are refused before
// any work, with what to do.
func TestCaptionRefusals(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 320, 240, 1)
	put(t, filepath.Join(w.dir, "a.srt"), "1\n00:00:00,000 --> 00:00:01,000\nx\n")
	one := []edit.CaptionCue{{Start: "0", End: "1", Text: "x"}}
	for name, in := range map[string]edit.CaptionInput{
		"no text":       {Input: video},
		"two texts":     {Input: video, Cues: one, SRT: []cutroom.InPath{"a.srt"}},
		"two files":     {Input: video, SRT: []cutroom.InPath{"a.srt", "a.srt"}},
		"style of mux":  {Input: video, Cues: one, Mode: "mux", Karaoke: true},
		"no colour":     {Input: video, Cues: one, Style: edit.CaptionStyle{Color: "reddish"}},
		"no language":   {Input: video, Cues: one, Language: []string{"12"}},
		"sizes":         {Input: video, Cues: one, MinSize: 30},
		"backwards":     {Input: video, Cues: []edit.CaptionCue{{Start: "1", End: "0.5", Text: "x"}}},
		"no platform":   {Input: video, Cues: one, Platform: "tictac"},
		"no rate":       {Input: video, Text: "a.srt", FPS: "fast"},
		"not a script":  {Input: video, ASS: "a.srt"},
		"no such files": {Input: video, Cues: one, Writing: to("x.exe")},
	} {
		if e := w.fails("edit.caption", in, cutroom.Invalid); e.Hint == "" && !strings.HasSuffix(e.Msg, ")") {
			t.Errorf("%s: no hint: %v", name, e)
		}
	}
}

// Cases 1, 4, 8, 13 and 17: turned, high dynamic range, oblong pixels, uneven frames, late
// sound, late picture. The captions stand upright and at the time that was meant.
func TestCaptionsOfAnyPicture(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	files := []string{"b01_rot90.mp4", "b02_vfr.mp4", "b03_hlg.mp4", "b22_sar.mp4", "b33_avoffset.mp4", "b10_late.ts"}
	for _, f := range files {
		w.copy(filepath.Join(testenv.Cases(t), f), f)
	}
	w.blank("dark.mp4", 320, 240, 4)
	testenv.FFmpeg(t, "-itsoffset", "1", "-i", filepath.Join(w.dir, "dark.mp4"), "-i", filepath.Join(w.dir, "dark.mp4"), "-map", "0:v", "-map", "1:a", "-c", "copy", filepath.Join(w.dir, "late.mp4"))
	for _, f := range append(files, "late.mp4") {
		out := w.captioned(edit.CaptionInput{
			Input: cutroom.InPath(f), Cues: []edit.CaptionCue{{Start: "0.2", End: "0.8", Text: "ALPHA"}, {Start: "1.5", End: "3", Text: "BRAVO"}}, Writing: to(f + ".mp4"),
		})
		if row(out.Verified, "captions_in_safe_area") == "" || out.Caption.Burned == 0 {
			t.Errorf("%s: %+v", f, out.Caption)
		}
		if f == "late.mp4" { // its picture begins at 1 s of the recording, and at 0 of the result
			if a, b := w.reads("late.mp4.mp4", "0.3", "eng"), w.reads("late.mp4.mp4", "1", "eng"); a != "" || b != "BRAVO" || out.Caption.Outside != 1 {
				t.Errorf("%s reads %q and %q: %+v", f, a, b, out.Caption)
			}
		}
	}
	// Matroska begins with the delay of its sound's codec, and states an even rate all the
	// same: what is compared is the same frame of input and output.
	for _, f := range []string{"b02_vfr", "base"} {
		testenv.FFmpeg(t, "-i", filepath.Join(testenv.Cases(t), f+".mp4"), "-c", "copy", filepath.Join(w.dir, f+".mkv"))
		if v := describe(w, f+".mkv").FirstVideo().Video.VFR; v.Variable != (f == "b02_vfr") {
			t.Errorf("%s.mkv: %+v", f, v)
		}
		out := w.captioned(edit.CaptionInput{Input: cutroom.InPath(f + ".mkv"), Cues: []edit.CaptionCue{{Start: "0.5", End: "2", Text: "ALPHA"}, {Start: "2.5", End: "3.5", Text: "BRAVO"}}})
		if row(out.Verified, "captions_in_safe_area") != "0" {
			t.Errorf("%s.mkv: %s pixels differ", f, row(out.Verified, "captions_in_safe_area"))
		}
	}
}
