package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/measure"
	"cutroom/internal/tools/review"
)

// apart is the mean difference of two frames of as many samples.
func apart(a, b []byte) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(float64(a[i]) - float64(b[i]))
	}
	return sum / float64(len(a))
}

// Cases 1 and 2: whatever turns or mirrors a picture, an edit shows what a player shows,
// and the output needs no turning.
func TestTurnedPicturesStayUpright(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.copy(filepath.Join(testenv.Cases(t), "b01_rot90.mp4"), "turned.mp4")
	w.copy(filepath.Join(testenv.Real(t), "sample_rotate_and_reflect.mp4"), "mirrored.mp4")
	for _, in := range []string{"turned.mp4", "mirrored.mp4"} {
		shown := describe(w, in).FirstVideo().Video
		out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: cutroom.InPath(in), Start: "0", End: "0.5", Mode: "accurate", Quality: 12, Writing: to("upright-" + in)})
		v := out.Probe.FirstVideo().Video
		if v.Rotation != 0 || v.Mirrored || v.Width != shown.DisplayWidth || v.Height != shown.DisplayHeight {
			t.Errorf("%s: %+v", in, v)
		}
		if d := apart(w.pixels(in, "0", v.Width, v.Height), w.pixels(*out.File, "0", v.Width, v.Height)); d > 4 {
			t.Errorf("%s: frames differ by %.1f on average", in, d)
		}
	}
}

// Cases 4, 5 and 6: high dynamic range goes through cut, fit and join with its tags and
// its look, or becomes standard range as a whole; odd sizes and a wrong tag for the
// primaries do not confuse that. Ten bits of standard range become what players take.
func TestDynamicRangeThroughEdits(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for name, transfer := range map[string]string{"b03_hlg.mp4": "arib-std-b67", "b04_pq.mp4": "smpte2084"} {
		in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), name), name))
		must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "0.2", End: "0.8", Writing: to("cut-" + name)})
		must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Flip: "hv", Rotate: 180, Writing: to("fit-" + name)})
		for _, made := range []string{"cut-" + name, "fit-" + name} {
			w.want(made, "pix_fmt", "yuv420p10le", "codec_tag_string", "hvc1", "color_range", "tv", "color_space", "bt2020nc", "color_transfer", transfer, "color_primaries", "bt2020")
			if a, b := w.mean(name), w.mean(made); !alike(a, b, 6) {
				t.Errorf("%s: mean colour %.1f became %.1f", made, a, b)
			}
		}
		small := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Width: 241, Encoding: edit.Encoding{Codec: "h264"}, Writing: to("sdr-" + name)})
		w.want("sdr-"+name, "width", "240", "height", "180", "pix_fmt", "yuv420p", "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709")
		if !strings.Contains(strings.Join(small.Notes, " "), "tone-mapped") {
			t.Errorf("%q", small.Notes)
		}
	}
	testenv.FFmpeg(t, "-i", filepath.Join(w.dir, "b04_pq.mp4"), "-c", "copy", "-bsf:v", "hevc_metadata=colour_primaries=1", "-tag:v", "hvc1", filepath.Join(w.dir, "mistagged.mp4"))
	must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: "mistagged.mp4", Width: 160, Encoding: edit.Encoding{Codec: "h264"}})
	w.want("mistagged_fit.mp4", "pix_fmt", "yuv420p", "color_transfer", "bt709", "color_primaries", "bt709")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=1:s=320x180:r=30", "-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, "ten.mp4"))
	for _, p := range []string{"x", "youtube"} {
		must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: "ten.mp4", Preset: p, NoScale: true, Effort: "veryfast"})
		w.want("ten_"+p+".mp4", "pix_fmt", "yuv420p", "profile", "High")
	}
}

// HDR10 keeps what it says of its mastering, wherever the encoder can be told it.
func TestMasteringIsKept(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=2:s=320x180:r=25", "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
		"log-level=none:keyint=25:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400",
		"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-tag:v", "hvc1", filepath.Join(w.dir, "hdr10.mp4"))
	must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "hdr10.mp4", Start: "0.5", End: "1.8", Writing: to("cut.mp4")})
	must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: "hdr10.mp4", Aspect: "1:1", Writing: to("fit.mkv")})
	for _, name := range []string{"cut.mp4", "fit.mkv"} {
		first := string(testenv.Run(t, w.dir, "ffprobe", "-v", "error", "-select_streams", "v:0", "-read_intervals", "%+#1", "-show_frames", "file:"+name))
		for _, said := range []string{"green_x=13250/50000", "max_luminance=10000000/10000", "min_luminance=50/10000", "max_content=1000", "max_average=400"} {
			if !strings.Contains(first, said) {
				t.Errorf("%s does not say %s", name, said)
			}
		}
	}
	vp9 := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: "hdr10.mp4", Width: 160, Encoding: edit.Encoding{Codec: "vp9"}, Writing: to("small.webm")})
	if said := strings.Join(vp9.Notes, " "); !strings.Contains(said, "mastering metadata") {
		t.Errorf("%s", said)
	}
}

// A phone's Dolby Vision of profile 8 is cut like the HLG that lies beneath it: what can be
// copied is, without the layer, and that is said.
func TestCutOfDolbyVision(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Real(t), "sample_edit_list.mp4"), "phone.mp4"))
	out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "0.46", End: "1.3"})
	if s := out.Segments[0]; out.Mode != "smart" || s.Copied < 10 || len(w.framePTS(*out.File)) != s.Frames || !strings.Contains(strings.Join(out.Notes, " "), "Dolby Vision") {
		t.Errorf("%s (%s), %+v: %q", out.Mode, out.ReencodeReason, s, out.Notes)
	}
	w.want(*out.File, "pix_fmt", "yuv420p10le", "codec_tag_string", "hvc1", "color_transfer", "arib-std-b67", "color_primaries", "bt2020")
	if v := out.Probe.FirstVideo().Video; v.DolbyVision != 0 || v.HDR != "hlg" {
		t.Errorf("%+v", v)
	}
}

// Cases 13, 14 and 35: clips of other rates, of uneven frames, and whose sound is longer
// than their picture: one exact rate, said, and sound as long as the picture.
func TestJoinOfUnevenClips(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	var clips []cutroom.InPath
	for _, n := range []string{"b32_longaudio.mp4", "b02_vfr.mp4", "b25_other.mp4"} {
		clips = append(clips, cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), n), n)))
	}
	out := must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: clips, Transition: "none", Writing: to("joined.mp4")})
	said := strings.Join(out.Notes, "\n")
	if !strings.Contains(said, "b25_other.mp4 has 30/1 frames per second and is brought to 25/1") || !strings.Contains(said, "b02_vfr.mp4") {
		t.Errorf("%s", said)
	}
	w.want("joined.mp4", "r_frame_rate", "25/1", "avg_frame_rate", "25/1", "nb_frames", fmt.Sprint(50+150+50))
	for i, at := range []cutroom.Micros{0, 2 * cutroom.Second, 7_980_000} {
		if s := out.EditMap.Segments[i]; s.Start < at-20_000 || s.Start > at+20_000 {
			t.Errorf("clip %d begins at %s", i, s.Start)
		}
	}
	if n := float64(len(w.decoded("joined.mp4"))) / 48000; math.Abs(n-10) > 0.03 {
		t.Errorf("the sound lasts %.3f s", n)
	}
}

// Case 17: sound that begins late begins as late in what is made of it, or as much later
// as was cut off.
func TestLateSoundStaysLate(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "b33_avoffset.mp4"), "late.mp4"))
	must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: in, Flip: "h", Writing: to("fit.mp4")})
	must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "0", End: "2", Writing: to("smart.mp4")})
	must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "0.4", End: "2", Mode: "accurate", Writing: to("accurate.mp4")})
	must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: in, Gain: ptr(3.0), Writing: to("louder.mkv")})
	must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: in, Gain: ptr(0.0), Writing: to("alone.wav")})
	must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: []cutroom.InPath{in, in}, Transition: "none", Writing: to("twice.mp4")})
	for name, starts := range map[string][]float64{"fit.mp4": {0.678}, "smart.mp4": {0.678}, "accurate.mp4": {0.278}, "louder.mkv": {0.678}, "alone.wav": {0.678}, "twice.mp4": {0.678, 4.678}} {
		sound := w.decoded(name)
		if shift := describe(w, name).AudioStreams()[0].StartSeconds.Seconds(); shift > 0.03 { // decoded from there on
			sound = append(make([]float64, int(shift*48000)), sound...)
		}
		for _, at := range starts {
			if before, after := level(sound, at-0.25, at-0.06), level(sound, at+0.06, at+0.3); before > -50 || after < -25 {
				t.Errorf("%s at %g s: %.1f dBFS before, %.1f after", name, at, before, after)
			}
		}
	}
}

// Case 20: a recording with drop-frame labels is cut by them, a label that does not exist
// is refused, and the output goes on counting.
func TestCutByDropFrameTimecode(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "b16_df.mov"), "df.mov"))
	for _, mode := range []string{"smart", "accurate"} {
		out := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: in, Start: "00:01:00;02", End: "00:01:00;22", Mode: mode, Writing: to(mode + ".mov")})
		if s := out.EditMap.Segments[0]; s.SourceStart != 66_733 || len(w.framePTS(mode+".mov")) != 20 { // the third frame
			t.Errorf("%s: %+v, %d frames", mode, s, len(w.framePTS(mode+".mov")))
		}
		if tc := out.Probe.Timecode; tc == nil || tc.Start != "00:01:00;02" || !tc.DropFrame {
			t.Errorf("%s: timecode %+v, dropped %q", mode, tc, out.Dropped)
		}
	}
	for _, label := range []cutroom.Moment{"00:01:00;00", "00:01:00;01"} {
		if e := w.fails("edit.cut", edit.CutInput{Input: in, Start: label, Writing: to("no.mov")}, cutroom.Invalid); !strings.Contains(e.Msg, string(label)) || e.Hint == "" {
			t.Errorf("%s: %v", label, e)
		}
	}
}

// Cases 28, 30 and 57: cover art stays art, every track stays with its language, and an
// animated picture is a video with a length.
func TestStreamsAreKeptByTheirKind(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	for _, n := range []string{"b09_coverfirst.mp4", "b08_cover.mp3", "b23_multi.mp4", "b26.gif"} {
		w.copy(filepath.Join(cases, n), n)
	}
	fit := must[edit.FitOutput](w, "edit.fit", edit.FitInput{Input: "b09_coverfirst.mp4", Flip: "h"})
	sound := must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: "b08_cover.mp3", Gain: ptr(-3.0)})
	cut := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "b09_coverfirst.mp4", Start: "0.5", End: "3"})
	for name, covers := range map[string]int{*fit.File: len(fit.Probe.CoverArt), *sound.File: len(sound.Probe.CoverArt), *cut.File: len(cut.Probe.CoverArt)} {
		if covers != 1 {
			t.Errorf("%s has %d covers", name, covers)
		}
	}
	three := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "b23_multi.mp4", Start: "0.5", End: "3"})
	tracks := three.Probe.AudioStreams()
	if len(tracks) != 3 || tracks[0].Language != "eng" || tracks[1].Language != "spa" {
		t.Errorf("%d tracks", len(tracks))
	}
	gif := must[edit.CutOutput](w, "edit.cut", edit.CutInput{Input: "b26.gif", End: "0.5", Writing: to("half.mp4")})
	if gif.OutputDuration != 500_000 || len(w.framePTS("half.mp4")) != 5 || len(gif.Probe.AudioStreams()) != 0 {
		t.Errorf("%s s, %d frames", gif.OutputDuration, len(w.framePTS("half.mp4")))
	}
}

// Case 34: no tool that writes hangs on, or makes anything of, what is no media.
func TestNothingIsMadeOfBrokenFiles(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, name := range []string{"b18_empty.mp4", "b18_text.mp4", "b18_nomoov.mp4"} {
		w.copy(filepath.Join(testenv.Cases(t), name), name)
		in := cutroom.InPath(name)
		for tool, call := range map[string]any{
			"edit.export": edit.ExportInput{Input: in, Preset: "tiktok"}, "edit.audio": edit.AudioInput{Input: in, Gain: ptr(1.0)}, "edit.join": edit.JoinInput{Inputs: []cutroom.InPath{in, in}},
			"edit.caption":          edit.CaptionInput{Input: in, Cues: []edit.CaptionCue{{Start: "0", End: "1", Text: "x"}}},
			"measure.silence_apply": measure.SilenceApplyInput{Input: in, QuietOptions: quiet()}, "measure.loudness_apply": measure.LoudnessApplyInput{Input: in, LoudnessTarget: target},
			"review.check": review.CheckInput{Input: in}, "review.look": review.LookInput{Input: in},
		} {
			if e := w.fails(tool, call, cutroom.UnreadableMedia); e.Hint == "" {
				t.Errorf("%s of %s: no hint: %v", tool, name, e)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(w.dir, "*_*_*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}

// Case 39: what a look shows of captions is what is in the file: they are as large, against
// the frame, in a small picture as in the full one.
func TestALookShowsCaptionsInProportion(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 1920, 1080, 1)
	w.captioned(edit.CaptionInput{Input: video, Cues: []edit.CaptionCue{{Start: "0", End: "1", Text: "HHHH"}}, Writing: to("out.mp4")})
	heights := map[int]float64{}
	for _, width := range []int{1920, 640} {
		name := fmt.Sprintf("look%d.png", width)
		must[review.LookOutput](w, "review.look", review.LookInput{Input: "out.mp4", At: []cutroom.Moment{"0.5"}, NoTime: true, Width: width, Output: to(name).Output})
		heights[width] = w.ink(name)
	}
	if a, b := heights[1920], heights[640]; a < 0.02 || math.Abs(a-b) > 0.006 {
		t.Errorf("letters fill %.4f of the full frame's height, %.4f of the small one's", a, b)
	}
}

// ink is the share of a picture's rows that hold something bright.
func (w *workspace) ink(name string) float64 {
	w.t.Helper()
	const width, height = 320, 1080
	p := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-i", "file:"+name, "-vf", fmt.Sprintf("scale=%d:%d:flags=area,format=gray", width, height), "-f", "rawvideo", "-")
	rows := 0
	for y := range len(p) / width {
		if slices.Max(p[y*width:(y+1)*width]) > 150 {
			rows++
		}
	}
	return float64(rows) / height
}

// Case 45: entities are decoded once and rolling captions lose their repetition before
// anything is drawn.
func TestRollingCaptionsAreDrawnOnce(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 640, 360, 4)
	put(t, filepath.Join(w.dir, "auto.vtt"), "WEBVTT\n\n00:00.000 --> 00:01.000\nfish &amp; chips\n\n00:01.000 --> 00:01.010\nfish &amp; chips\n\n00:01.010 --> 00:02.000\nfish &amp; chips\n5 &lt; 6&nbsp;ok\n\n"+
		"00:02.000 --> 00:02.010\n5 &lt; 6&nbsp;ok\n\n00:02.010 --> 00:03.500\n5 &lt; 6&nbsp;ok\nlast\n")
	out := w.captioned(edit.CaptionInput{Input: video, SRT: []cutroom.InPath{"auto.vtt"}, WriteSRT: "shown.srt", Writing: to("out.mp4")})
	shown, err := os.ReadFile(filepath.Join(w.dir, "shown.srt"))
	text := strings.ReplaceAll(string(shown), "\u00a0", " ")
	if err != nil || strings.Count(text, "fish & chips") != 1 || strings.Count(text, "5 < 6 ok") != 1 || strings.Count(text, "last") != 1 || !out.Caption.Unchanged {
		t.Errorf("%v: %s", err, shown)
	}
}

// Case 46: a silent track delivered with normalize stays silent, and that is said.
func TestSilenceIsDelivered(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=2:s=320x180:r=30", "-f", "lavfi", "-i", "anullsrc=r=48000:d=2", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "quiet.mp4"))
	reply, err := w.call("edit.export", edit.ExportInput{Input: "quiet.mp4", Preset: "x", NoScale: true, Normalize: true, Effort: "veryfast"})
	if err != nil {
		t.Fatal(err)
	}
	out := reply.Output.(*edit.ExportOutput)
	if l := out.Loudness; l == nil || !l.Silent || l.LUFS != nil || !strings.Contains(strings.Join(out.Notes, " "), "silent") || notJSON.Match(reply.JSON) {
		t.Errorf("%+v %q", l, out.Notes)
	}
	if got := level(w.decoded(*out.File), 0, 2); got > -80 {
		t.Errorf("%.1f dBFS", got)
	}
}

// Cover art of sound does not count as a picture when recordings are laid beside each
// other, and stays with its file.
func TestSyncOfSoundWithCovers(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	talk := cutroom.InPath(w.copy(filepath.Join(testenv.Real(t), "jfk.wav"), "jfk.wav"))
	testenv.FFmpeg(t, "-ss", "2", "-i", filepath.Join(w.dir, "jfk.wav"), "-i", filepath.Join(testenv.Cases(t), "cover.jpg"), "-map", "0:a", "-map", "1:v", "-c:a", "libmp3lame", "-c:v", "copy",
		"-id3v2_version", "3", "-disposition:v", "attached_pic", filepath.Join(w.dir, "phone.mp3"))
	out := must[measure.SyncApplyOutput](w, "measure.sync_apply", measure.SyncApplyInput{Reference: talk, Second: "phone.mp3"})
	if *out.File != "phone_synced.mp3" || len(out.Probe.CoverArt) != 1 || math.Abs(out.Alignment.Offset.Seconds()-2) > 0.02 {
		t.Errorf("%s: %+v", *out.File, out.Alignment)
	}
}
