package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/review"
)

// facts are what ffprobe says of a file's picture.
func (w *workspace) facts(name string) map[string]string {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
		"stream=codec_name,profile,codec_tag_string,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,r_frame_rate,avg_frame_rate,sample_aspect_ratio,nb_frames", "-of", "default=nw=1", "file:"+name)
	m := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			m[k] = v
		}
	}
	return m
}

// mean is the mean colour of a frame of a file, in RGB.
func (w *workspace) mean(name string, filters ...string) [3]float64 {
	w.t.Helper()
	vf := strings.Join(append(filters, "scale=64:64:flags=area+accurate_rnd+full_chroma_int", "format=rgb24"), ",")
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-frames:v", "1", "-vf", vf, "-f", "rawvideo", "-")
	var m [3]float64
	for i, b := range out {
		m[i%3] += float64(b) / float64(len(out)/3)
	}
	return m
}

func alike(a, b [3]float64, by float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > by {
			return false
		}
	}
	return true
}

// want compares what ffprobe says with pairs of key and value.
func (w *workspace) want(name string, pairs ...string) {
	w.t.Helper()
	f := w.facts(name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if f[pairs[i]] != pairs[i+1] {
			w.t.Errorf("%s: %s is %q, not %q", name, pairs[i], f[pairs[i]], pairs[i+1])
		}
	}
}

// TestExportPassesItsCheck: whatever comes in, the file for a platform is what the check
// for that platform asks.
func TestExportPassesItsCheck(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	for name, preset := range map[string]string{"base.mp4": "tiktok", "b23_multi.mp4": "reels", "b02_vfr.mp4": "shorts", "b11_surround.mkv": "x"} {
		if name == "b11_surround.mkv" {
			testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=640x360:r=50:d=3", "-f", "lavfi", "-i", "aevalsrc=0|0|0.3*sin(880*t)|0|0|0:c=5.1:s=48000:d=3", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, name))
		} else {
			w.copy(filepath.Join(cases, name), name)
		}
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: cutroom.InPath(name), Preset: preset, Normalize: true, Effort: "ultrafast"})
		if r.File == nil || !strings.HasSuffix(*r.File, "_"+preset+".mp4") || r.Loudness == nil {
			t.Fatalf("%s: %+v", name, r)
		}
		if r.Loudness.LUFS == nil || !r.Loudness.OK || !r.Loudness.Normalized {
			t.Errorf("%s: loudness %+v", name, r.Loudness)
		}
		c := must[review.CheckOutput](w, "review.check", review.CheckInput{Input: cutroom.InPath(*r.File), Platform: preset})
		for _, row := range c.Checks {
			if row.Status == "FAIL" || row.Status == "WARN" {
				t.Errorf("%s for %s: %+v", name, preset, row)
			}
		}
		w.want(*r.File, "pix_fmt", "yuv420p", "codec_name", "h264", "color_range", "tv", "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709", "r_frame_rate", "30/1")
	}
}

// Cases 4, 5, 6: high dynamic range is tone-mapped and tagged so, or kept with ten bits
// and its tags, and never something in between.
func TestExportDynamicRange(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	for _, name := range []string{"b03_hlg.mp4", "b04_pq.mp4"} {
		in := cutroom.InPath(w.copy(filepath.Join(cases, name), name))
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: in, Preset: "tiktok", Effort: "ultrafast"})
		w.want(*r.File, "pix_fmt", "yuv420p", "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709")
		said := strings.Join(r.Notes, "\n")
		if !strings.Contains(said, "tone-mapped") || !strings.Contains(said, "place, a device") {
			t.Errorf("notes: %s", said)
		}
		transfer := map[string]string{"b03_hlg.mp4": "arib-std-b67", "b04_pq.mp4": "smpte2084"}[name]
		for _, preset := range []string{"youtube-hdr", "h265"} {
			r = must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: in, Preset: preset, Effort: "ultrafast"})
			w.want(*r.File, "pix_fmt", "yuv420p10le", "codec_tag_string", "hvc1", "profile", "Main 10", "color_range", "tv", "color_space", "bt2020nc", "color_transfer", transfer, "color_primaries", "bt2020")
		}
	}
	sdr := cutroom.InPath(w.copy(filepath.Join(cases, "base.mp4"), "base.mp4"))
	if e := w.fails("edit.export", edit.ExportInput{Input: sdr, Preset: "youtube-hdr"}, cutroom.Invalid); !strings.Contains(e.Msg, "standard range") {
		t.Errorf("%v", e)
	}
}

// Cases 7, 8, 10: even sizes, square pixels, and colours that do not move.
func TestExportPicture(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	grey := func(name, color, args string) cutroom.InPath {
		testenv.FFmpeg(t, append(strings.Fields("-f lavfi -i color=c="+color+":s=320x180:r=25:d=0.4 "+args), filepath.Join(w.dir, name))...)
		return cutroom.InPath(name)
	}
	x264 := "-c:v libx264 -preset ultrafast -crf 8 "
	for _, in := range []cutroom.InPath{
		grey("full.mp4", "gray", "-vf scale=out_range=full -pix_fmt yuvj420p -color_range pc "+x264),
		grey("limited.mp4", "gray", "-pix_fmt yuv420p "+x264),
		grey("red601.mp4", "red", "-pix_fmt yuv420p -colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m "+x264),
		grey("redrgb.mkv", "red", "-pix_fmt gbrp -c:v libx264rgb -preset ultrafast -qp 0"),
		grey("red709.mp4", "red", "-vf scale=out_color_matrix=bt709 -pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709 "+x264),
	} {
		// ffmpeg's own conversion to RGB knows the tags; what it shows has to stay.
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: in, Preset: "h265", Effort: "ultrafast", Quality: 1})
		before, after := w.mean(string(in)), w.mean(*r.File)
		if !alike(before, after, 2) {
			t.Errorf("%s: mean colour %.1f became %.1f", in, before, after)
		}
		w.want(*r.File, "color_range", "tv", "pix_fmt", "yuv420p")
		if f := w.facts(*r.File); f["color_space"] == "unknown" || f["color_transfer"] == "unknown" || f["color_primaries"] == "unknown" {
			t.Errorf("%s: not tagged: %v", in, f)
		}
	}
	for _, name := range []cutroom.InPath{"red601.mp4", "redrgb.mkv", "full.mp4"} {
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: name, Preset: "youtube", NoScale: true, Effort: "ultrafast", Quality: 4})
		w.want(*r.File, "color_space", "bt709", "color_transfer", "bt709", "color_primaries", "bt709", "color_range", "tv", "width", "320")
		if before, after := w.mean(string(name)), w.mean(*r.File); !alike(before, after, 2) {
			t.Errorf("%s for youtube: mean colour %.1f became %.1f", name, before, after)
		}
	}
	odd := cutroom.InPath("odd.mkv")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc=s=321x181:r=25:d=0.4", "-pix_fmt", "yuv444p", "-c:v", "ffv1", filepath.Join(w.dir, "odd.mkv"))
	r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: odd, Preset: "h265", Effort: "ultrafast", Writing: tool.Writing{Output: "even.mp4"}})
	w.want(*r.File, "width", "320", "height", "180")
	if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, "odd") {
		t.Errorf("an odd size is made even without a word: %s", said)
	}
	wide := cutroom.InPath(w.copy(filepath.Join(cases, "b22_sar.mp4"), "sar.mp4"))
	r = must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: wide, Preset: "x", Effort: "ultrafast"})
	w.want(*r.File, "width", "1280", "height", "720", "sample_aspect_ratio", "1:1")
	if bars := w.mean(*r.File, "crop=1280:20:0:0"); alike(bars, [3]float64{0, 0, 0}, 8) {
		t.Errorf("a 16:9 picture got bars: %v", bars)
	}
}

// Case 14, 21: the source's rate stays, exactly.
func TestExportKeepsTheRate(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	for _, rate := range []string{"24000/1001", "60", "30000/1001"} {
		name := strings.ReplaceAll(rate, "/", "_") + ".mp4"
		testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=160x90:d=2:r="+rate, "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, name))
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: cutroom.InPath(name), Preset: "youtube", NoScale: true, Effort: "ultrafast"})
		want := rate
		if !strings.Contains(rate, "/") {
			want += "/1"
		}
		w.want(*r.File, "r_frame_rate", want, "avg_frame_rate", want, "nb_frames", w.facts(name)["nb_frames"])
	}
}

// Case 31 and the privacy of tags: streams that the container cannot hold are named, and
// nothing tells where, when and by what the recording was made.
func TestExportPrivacy(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=160x90:d=1:r=25", "-f", "lavfi", "-i", "sine=d=1", "-metadata", "location=+48.2082+016.3738/", "-metadata", "title=Harvest",
		"-metadata", "com.apple.quicktime.make=Acme", "-metadata", "com.apple.quicktime.model=Phone 9", "-metadata", "com.apple.quicktime.software=9.1", "-metadata", "creation_time=2020-02-02T02:02:02Z",
		"-metadata:s:v", "creation_time=2020-02-02T02:02:02Z", "-metadata:s:v", "handler_name=Acme Handler", "-metadata:s:a", "language=ger",
		"-timecode", "01:00:00:00", "-movflags", "use_metadata_tags", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, "phone.mov"))
	for _, preset := range []string{"copy", "tiktok", "prores", "h265"} {
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: "phone.mov", Preset: preset, Effort: map[string]string{"tiktok": "ultrafast", "h265": "ultrafast"}[preset]})
		tags := string(testenv.Run(t, w.dir, "ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "default=nw=1", "file:"+*r.File))
		for _, secret := range []string{"48.2082", "Acme", "Phone 9", "9.1", "2020-02"} {
			if strings.Contains(tags, secret) {
				t.Errorf("%s still tells %q:\n%s", preset, secret, tags)
			}
		}
		for _, kept := range []string{"title=Harvest", "language=ger"} {
			if !strings.Contains(tags, kept) {
				t.Errorf("%s lost %q:\n%s", preset, kept, tags)
			}
		}
		if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, "place, a device") {
			t.Errorf("%s does not say so: %s", preset, said)
		}
		if preset == "tiktok" && !strings.Contains(strings.Join(r.Dropped, "\n"), "timecode") {
			t.Errorf("the timecode went without a word: %v", r.Dropped)
		}
	}
}

// Case 57 and 11: animated pictures go in, with their length and frames, and come out.
func TestExportAnimations(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	for _, name := range []string{"b26.gif", "b26.png", "b20_alpha.webm"} {
		in := cutroom.InPath(w.copy(filepath.Join(cases, name), name))
		r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: in, Preset: "h265", Effort: "ultrafast", Writing: tool.Writing{Output: cutroom.OutPath(name + ".mp4")}})
		if d := describe(w, *r.File); d.DurationSeconds < 990_000 || d.DurationSeconds > 1_010_000 || d.FirstVideo().Frames != 10 || len(d.AudioStreams()) != 0 {
			t.Errorf("%s: %s s, %d frames", name, d.DurationSeconds, d.FirstVideo().Frames)
		}
		if said := strings.Join(r.Notes, "\n"); name == "b20_alpha.webm" && !strings.Contains(said, "white") {
			t.Errorf("%s: %s", name, said)
		}
	}
	in := cutroom.InPath(w.copy(filepath.Join(cases, "base.mp4"), "base.mp4"))
	r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{Input: in, Preset: "gif"})
	if d := describe(w, *r.File); d.FirstVideo().Frames != 48 || d.FirstVideo().Video.Width != 320 || *r.File != "base_gif.gif" {
		t.Errorf("%s: %+v", *r.File, d.FirstVideo())
	}
	if len(r.Commands) < 2 || !strings.Contains(strings.Join(r.Dropped, "\n"), "audio") {
		t.Errorf("%v %v", r.Commands, r.Dropped)
	}
	// 256 chosen colours come near to the picture.
	if a, b := w.mean("base.mp4"), w.mean(*r.File); !alike(a, b, 4) {
		t.Errorf("mean colour %.1f became %.1f", a, b)
	}
}

// TestExportLength: what is too long is cut off to the frame, and said; allow_long keeps
// it, and says that, too.
func TestExportLength(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=c=navy:s=64x64:r=10:d=145", "-f", "lavfi", "-i", "sine=f=300:d=145", "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-c:a", "aac", "-b:a", "32k", filepath.Join(w.dir, "long.mp4"))
	in := edit.ExportInput{Input: "long.mp4", Preset: "x", NoScale: true, Effort: "ultrafast"}
	r := must[edit.ExportOutput](w, "edit.export", in)
	w.want(*r.File, "nb_frames", "4200")
	if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, "140") {
		t.Errorf("not said: %s", said)
	}
	in.AllowLong, in.Output = true, "whole.mp4"
	r = must[edit.ExportOutput](w, "edit.export", in)
	w.want(*r.File, "nb_frames", "4350")
	if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, "longer") {
		t.Errorf("not said: %s", said)
	}
}

func TestExportRefusesAndLists(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "base.mp4"), "base.mp4"))
	sound := w.tone("sound.wav", "0.5*sin(2*PI*500*t)", "1")
	for want, call := range map[string]edit.ExportInput{
		"did you mean tiktok": {Input: in, Preset: "tictoc"},
		"no preset":           {Input: in},
		"no recording":        {Preset: "x"},
		"no video stream":     {Input: sound, Preset: "x"},
		"pad_color":           {Input: in, Preset: "x", PadColor: "red:eval=frame"},
		"pad_blur is given without pad_fill blur": {Input: in, Preset: "x", PadBlur: 3},
		"neither picture nor sound":               {Input: in, Preset: "copy", Quality: 3},
		"has no loudness of its own":              {Input: in, Preset: "prores", Normalize: true},
		"cannot hold h264":                        {Input: in, Preset: "x", Writing: tool.Writing{Output: "x.webm"}},
	} {
		if e := w.fails("edit.export", call, cutroom.Invalid); !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v", want, e)
		}
	}
	r := must[edit.ExportOutput](w, "edit.export", edit.ExportInput{List: true})
	if len(r.Presets) != 14 || r.File != nil || len(r.Commands) != 0 {
		t.Errorf("%d presets, %v", len(r.Presets), r.File)
	}
	for _, p := range r.Presets {
		if p.Platform != "" && p.MaxSeconds == 0 || p.Name == "" {
			t.Errorf("%+v", p)
		}
	}
	if fmt.Sprint(r.Presets[0].Width) != strconv.Itoa(1920) {
		t.Errorf("%+v", r.Presets[0])
	}
}
