package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
)

func probe(w *workspace, files ...cutroom.InPath) *measure.ProbeOutput {
	w.t.Helper()
	return must[measure.ProbeOutput](w, "measure.probe", measure.ProbeInput{Inputs: files})
}

// What measure.probe says agrees with the description that the right values are
// tested on, for every real and made file, and in what ffprobe states plainly with
// ffprobe itself.
func TestProbeOfEveryFile(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, dir := range []string{testenv.Real(t), testenv.Cases(t)} {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, list...)
	}
	w := open(t, "")
	seen := 0
	for _, path := range paths {
		name := w.copy(path, filepath.Base(path))
		r, err := w.call("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{cutroom.InPath(name)}})
		if err != nil {
			continue // what cannot be read is tested by its code elsewhere
		}
		seen++
		d, out := describe(w, name), r.Output.(*measure.ProbeOutput)
		p := out.Files[0]
		if len(r.JSON) > 8000 {
			t.Errorf("%s: %d bytes of answer", name, len(r.JSON))
		}
		if p.File != name {
			t.Errorf("%q is called %q", name, p.File)
		}
		if shown := out.Show(tool.Room{Text: 10_000}).Text; strings.Count(shown, "\n") > 40 || len(shown) > 4000 {
			t.Errorf("%s: shown as\n%s", name, shown)
		}
		if p.Kind != string(d.Kind) || p.Size != d.SizeBytes || p.Duration != nil && *p.Duration != d.DurationSeconds {
			t.Errorf("%s: %+v", name, p)
		}
		if len(p.Video)+len(p.Audio)+len(p.Other) != len(d.Streams)+len(d.CoverArt) {
			t.Errorf("%s: %d streams are described, of %d", name, len(p.Video)+len(p.Audio)+len(p.Other), len(d.Streams)+len(d.CoverArt))
		}
		if main := d.FirstVideo(); main != nil && (p.Video[0].Index != main.Index || p.Video[0].Width != main.Video.DisplayWidth || p.Video[0].Height != main.Video.DisplayHeight) {
			t.Errorf("%s: the main picture is %+v", name, p.Video[0])
		}
		agrees(t, path, p)
	}
	if seen < 60 {
		t.Errorf("only %d files could be described", seen)
	}
}

// agrees compares with what the program itself prints of each stream, where that is
// plain: no length, rate or start, which have to be found out.
func agrees(t *testing.T, path string, p measure.ProbedFile) {
	t.Helper()
	raw, err := exec.Command("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", "file:"+path).Output()
	var plain struct {
		Format struct {
			Name string `json:"format_name"`
		}
		Streams []struct {
			Index         int
			Codec         string `json:"codec_name"`
			Tag           string `json:"codec_tag_string"`
			Profile       string
			Width, Height int
			PixFmt        string `json:"pix_fmt"`
			Range         string `json:"color_range"`
			Primaries     string `json:"color_primaries"`
			Transfer      string `json:"color_transfer"`
			Matrix        string `json:"color_space"`
			SampleRate    string `json:"sample_rate"`
			Channels      int
			Layout        string `json:"channel_layout"`
			SampleFmt     string `json:"sample_fmt"`
			Bits          int    `json:"bits_per_sample"`
			Tags          map[string]string
		}
	}
	if err != nil || json.Unmarshal(raw, &plain) != nil || plain.Format.Name != p.Format {
		return // a file for which ffprobe by itself chooses another demuxer, or none
	}
	for _, s := range plain.Streams {
		if i := slices.IndexFunc(p.Video, func(v measure.ProbedVideo) bool { return v.Index == s.Index }); i >= 0 {
			v := p.Video[i]
			w, h := v.Width, v.Height
			if len(v.Coded) == 2 {
				w, h = v.Coded[0], v.Coded[1]
			}
			same(t, p.File, s.Index,
				[]any{v.Codec, v.Profile, w, h, v.PixelFormat, v.Range, v.Primaries, v.Transfer, v.Matrix},
				[]any{or(s.Codec, "unknown"), s.Profile, s.Width, s.Height, s.PixFmt, s.Range, s.Primaries, s.Transfer, s.Matrix})
		}
		if i := slices.IndexFunc(p.Audio, func(a measure.ProbedAudio) bool { return a.Index == s.Index }); i >= 0 {
			a := p.Audio[i]
			same(t, p.File, s.Index,
				[]any{a.Codec, a.Profile, fmt.Sprint(a.SampleRate), a.Channels, a.Layout, a.SampleFormat, a.Language},
				[]any{s.Codec, s.Profile, s.SampleRate, s.Channels, s.Layout, s.SampleFmt, strings.TrimPrefix(or(s.Tags["language"], s.Tags["LANGUAGE"]), "und")})
			if s.Bits > 0 && a.BitDepth != s.Bits {
				t.Errorf("%s: stream %d has %d bits, ffprobe says %d", p.File, s.Index, a.BitDepth, s.Bits)
			}
		}
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func same(t *testing.T, file string, stream int, got, want []any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, stream %d: -ffprobe +probe\n%s", file, stream, diff)
	}
}

// right says what a file is to an editor.
type right struct {
	file string
	is   func(measure.ProbedFile) bool
}

func TestProbeRightValuesOfRealFiles(t *testing.T) {
	t.Parallel()
	isRight(t, testenv.Real(t), []right{
		{"sample_edit_list.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.Width == 1080 && v.Height == 1920 && slices.Equal(v.Coded, []int{1920, 1080}) && v.Rotation == 90 && v.HDR == "hlg" && v.BitDepth == 10 &&
				v.Codec == "hevc" && v.DolbyVision == 8 && !*v.Variable && v.Measured && v.Shown == 0
		}},
		{"SAR-2by3.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.SAR == ffmpeg.Rational{Num: 2, Den: 3} && v.DAR == ffmpeg.Rational{Num: 32, Den: 27} && v.Width == 427 && v.Height == 360
		}},
		{"sample_rotate_and_reflect.mp4", func(p measure.ProbedFile) bool { return p.Video[0].Mirrored && p.Video[0].Rotation == 270 }},
		{"internal_emulator_transformer_output_270_rotated.mp4", func(p measure.ProbedFile) bool {
			return p.Video[0].Width == 720 && p.Video[0].Height == 1280 && p.Video[0].Rotation == 270
		}},
		{"hlg10-color-test.mp4", func(p measure.ProbedFile) bool { return p.Video[0].HDR == "hlg" && p.Video[0].BitDepth == 10 }},
		{"with-attached-pic.mp3", func(p measure.ProbedFile) bool {
			return p.Kind == "audio" && len(p.Video) == 0 && len(p.Audio) == 1 && p.Audio[0].Codec == "mp3" && p.Other[0].Type == "cover_art" && p.Other[0].End == nil
		}},
		{"bear_with_picture.flac", func(p measure.ProbedFile) bool {
			return p.Kind == "audio" && len(p.Video) == 0 && p.Audio[0].BitDepth == 16 && p.Other[0].Type == "cover_art"
		}},
		{"sample_with_chapters.mp4", func(p measure.ProbedFile) bool {
			return len(p.Chapters) == 3 && p.Chapters[2].EndSeconds == 850_000 && p.Chapters[0].Title == "Chapter 1"
		}},
		{"sample_with_srt.mkv", func(p measure.ProbedFile) bool {
			return len(p.Other) == 1 && p.Other[0].Type == "subtitle" && p.Other[0].Codec == "subrip" && *p.Other[0].Text && p.Other[0].Language == "eng"
		}},
		{"sample_with_ssa_subtitles.mkv", func(p measure.ProbedFile) bool { return p.Other[0].Codec == "ass" && *p.Other[0].Text }},
		{"mov_text.mp4", func(p measure.ProbedFile) bool { return p.Other[0].Codec == "mov_text" && *p.Other[0].Text }},
		{"sample_vvc.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 5*cutroom.Second && !*p.Video[0].Decodes && p.Video[0].Tag == "vvc1"
		}},
		{"invalid-bitstream.webm", func(p measure.ProbedFile) bool {
			return *p.Duration == 2_040_000 && p.From == "packets" && !*p.Video[0].Decodes && len(p.Problems) == 1
		}},
		{"bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 4*cutroom.Second && p.Zero == 10*cutroom.Second && p.Video[0].Start == 0
		}},
		{"no_duration.webm", func(p measure.ProbedFile) bool {
			return *p.Duration == 4_938_000 && p.From == "packets" && p.Video[0].Alpha && *p.Video[0].Variable && p.Video[0].Measured
		}},
		{"sample_fragmented.mp4", func(p measure.ProbedFile) bool {
			// 106093 bytes in 1.068118 s; the container divides them by 39 hours.
			return *p.Duration == 1_068_118 && p.Video[0].Start == 66_733 && p.BitRate == 794_616 && p.Video[0].BitRate == 0
		}},
		{"100kB-garbage-prefix.mp3", func(p measure.ProbedFile) bool {
			return *p.Duration == 1_071_020 && p.Audio[0].Codec == "mp3" && p.Audio[0].BitRate == 64_000
		}},
		{"loop_forever.avif", func(p measure.ProbedFile) bool { return *p.Duration == cutroom.Second && p.Video[0].Frames == 2 }},
		{"-video-with-dash-.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 5*cutroom.Second && p.Video[0].FrameRate == ffmpeg.Rational{Num: 1, Den: 1}
		}},
		{"edit_list_positive_shift.mp4", func(p measure.ProbedFile) bool { return p.Video[0].Start > 0 || p.Zero > 0 }},
		{"sample_shorter_audio.mp4", func(p measure.ProbedFile) bool {
			return *p.Audio[0].End == 766_259 && *p.Video[0].End == 1_200_000 && p.Video[0].Range == "pc"
		}},
		{"captions-test.ts", func(p measure.ProbedFile) bool { return p.Format == "mpegts" && p.Zero == 1_466_733 }},
		{"dog.jpg", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return p.Kind == "image" && v.Still && p.Duration == nil && p.From == "" && v.Variable == nil && !v.FrameRate.Known()
		}},
		{"jfk.wav", func(p measure.ProbedFile) bool {
			a := p.Audio[0]
			return a.SampleRate == 16000 && a.Channels == 1 && a.BitDepth == 16 && *p.Duration == 11*cutroom.Second
		}},
	})
}

func TestProbeRightValuesOfMadeFiles(t *testing.T) {
	t.Parallel()
	isRight(t, testenv.Cases(t), []right{
		{"base.mp4", func(p measure.ProbedFile) bool {
			v, a := p.Video[0], p.Audio[0]
			return *p.Duration == 4*cutroom.Second && p.From == "container" && p.Media == "video/mp4" && v.Codec == "h264" && v.Tag == "avc1" && v.Frames == 100 &&
				v.FrameRate == ffmpeg.Rational{Num: 25, Den: 1} && !*v.Variable && v.Shown == 0 && v.Coded == nil && a.Codec == "aac" && a.Layout == "mono" && a.BitDepth == 0 && len(p.Problems) == 0
		}},
		{"b01_rot90.mp4", func(p measure.ProbedFile) bool {
			return p.Video[0].Width == 240 && p.Video[0].Height == 320 && p.Video[0].Rotation%180 == 90 && slices.Equal(p.Video[0].Coded, []int{320, 240})
		}},
		{"b02_vfr.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return *v.Variable && v.Measured && v.Evidence != "" && v.Frames == 200 && *p.Duration == 6*cutroom.Second
		}},
		{"b03_hlg.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.HDR == "hlg" && v.BitDepth == 10 && v.Primaries == "bt2020" && v.Transfer == "arib-std-b67" && v.Matrix == "bt2020nc" && v.Range == "tv" && v.Tag == "hvc1"
		}},
		{"b04_pq.mp4", func(p measure.ProbedFile) bool { return p.Video[0].HDR == "pq" && p.Video[0].Transfer == "smpte2084" }},
		{"b06_noaudio.mp4", func(p measure.ProbedFile) bool { return len(p.Audio) == 0 && len(p.Video) == 1 }},
		{"b08_cover.mp3", func(p measure.ProbedFile) bool {
			return p.Kind == "audio" && len(p.Video) == 0 && p.Other[0].Type == "cover_art" && p.Audio[0].Start == 0
		}},
		{"b09_coverfirst.mp4", func(p measure.ProbedFile) bool {
			return p.Kind == "video" && len(p.Video) == 1 && p.Video[0].Codec == "h264" && p.Other[0].Type == "cover_art" && p.Other[0].Codec == "mjpeg"
		}},
		{"b10_editlist.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 1_020_000 && p.Video[0].Frames == 58 && p.Video[0].Shown == 26 && len(p.Problems) == 1
		}},
		{"b10_late.ts", func(p measure.ProbedFile) bool { return p.Zero > 11*cutroom.Second && p.Video[0].Start == 21_333 }},
		{"b11_51.m4a", func(p measure.ProbedFile) bool {
			return p.Kind == "audio" && p.Media == "audio/mp4" && p.Audio[0].Channels == 6 && p.Audio[0].Layout == "5.1"
		}},
		{"b16_df.mov", func(p measure.ProbedFile) bool {
			return p.Media == "video/quicktime" && p.Timecode.Start == "00:00:59;28" && p.Timecode.DropFrame && p.Timecode.Rate == ffmpeg.Rational{Num: 30000, Den: 1001} &&
				p.Other[0].Type == "data" && p.Other[0].Tag == "tmcd"
		}},
		{"b18_trunc_faststart.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 3_400_000 && p.From == "packets" && len(p.Problems) > 0 && p.BitRate == 830_118 && p.Video[0].BitRate > 0
		}},
		{"b19_nodur.webm", func(p measure.ProbedFile) bool {
			return *p.Duration == 3_014_000 && p.From == "packets" && p.Audio[0].Codec == "opus" && p.Video[0].Codec == "vp8"
		}},
		{"b20_alpha.webm", func(p measure.ProbedFile) bool { return p.Video[0].Alpha && p.Video[0].PixelFormat == "yuv420p" }},
		{"b22_sar.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.Width == 1024 && v.Height == 576 && v.SAR == ffmpeg.Rational{Num: 64, Den: 45} && v.DAR == ffmpeg.Rational{Num: 16, Den: 9}
		}},
		{"b23_multi.mp4", func(p measure.ProbedFile) bool {
			return len(p.Audio) == 3 && p.Audio[0].Language == "eng" && p.Audio[1].Language == "spa" && p.Audio[1].Channels == 2
		}},
		{"b24_tmcd.mov", func(p measure.ProbedFile) bool { return p.Timecode.Start == "01:00:00:00" && !p.Timecode.DropFrame }},
		{"b26.gif", func(p measure.ProbedFile) bool {
			return p.Kind == "video" && *p.Duration == cutroom.Second && len(p.Audio) == 0
		}},
		{"b26.png", func(p measure.ProbedFile) bool {
			return p.Kind == "video" && *p.Duration == cutroom.Second && !p.Video[0].Still
		}},
		{"b29_fullrange.mp4", func(p measure.ProbedFile) bool { return p.Video[0].Range == "pc" }},
		{"b32_longaudio.mp4", func(p measure.ProbedFile) bool {
			return *p.Video[0].End == 2*cutroom.Second && *p.Audio[0].End == 5*cutroom.Second && len(p.Problems) == 1
		}},
		{"b33_avoffset.mp4", func(p measure.ProbedFile) bool {
			return p.Audio[0].Start > 650_000 && p.Audio[0].Start < 750_000 && p.Video[0].Start == 0
		}},
		{"b34_sparsekf.mkv", func(p measure.ProbedFile) bool { return *p.Duration > 29*cutroom.Second && p.Audio[0].Codec == "opus" }},
	})
}

// What no file of the lists is: 24 bits of sound, interlaced and 10-bit pictures.
func TestProbeRightValuesOfStudioFiles(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg")
	dir := t.TempDir()
	run := func(args ...string) {
		testenv.Run(t, dir, "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
	}
	run("-f", "lavfi", "-i", "sine=d=1:r=96000", "-af", "pan=stereo|c0=c0|c1=c0", "-sample_fmt", "s32", "-bits_per_raw_sample", "24", "-c:a", "flac", "a.flac")
	run("-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "pcm_s24le", "a.wav")
	run("-f", "lavfi", "-i", "testsrc2=d=1:s=320x240:r=25", "-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "tff=1", "-pix_fmt", "yuv420p", "i.mp4")
	run("-f", "lavfi", "-i", "testsrc2=d=1:s=320x240:r=24000/1001",
		"-c:v", "prores_ks", "-profile:v", "3", "-pix_fmt", "yuv422p10le", "p.mov")
	isRight(t, dir, []right{
		{"a.flac", func(p measure.ProbedFile) bool {
			return p.Audio[0].BitDepth == 24 && p.Audio[0].SampleFormat == "s32" && p.Audio[0].SampleRate == 96000
		}},
		{"a.wav", func(p measure.ProbedFile) bool { return p.Audio[0].BitDepth == 24 && p.Audio[0].Codec == "pcm_s24le" }},
		{"i.mp4", func(p measure.ProbedFile) bool { return p.Video[0].FieldOrder == "tt" }},
		{"p.mov", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.Codec == "prores" && v.Profile == "HQ" && v.Tag == "apch" && v.BitDepth == 10 && v.FrameRate == ffmpeg.Rational{Num: 24000, Den: 1001}
		}},
	})
}

// isRight asks about all files in one call.
func isRight(t *testing.T, dir string, rows []right) {
	t.Helper()
	w := open(t, "")
	var inputs []cutroom.InPath
	for _, r := range rows {
		inputs = append(inputs, cutroom.InPath(w.copy(filepath.Join(dir, r.file), r.file)))
	}
	out := probe(w, inputs...)
	for i, r := range rows {
		p := out.Files[i]
		raw, _ := json.Marshal(p)
		if p.File != r.file || len(p.Video)+len(p.Audio) == 0 {
			t.Fatalf("%s: %s", r.file, raw)
		}
		if !r.is(p) {
			t.Errorf("%s: %s", r.file, raw)
		}
	}
}

// The same content under two names is described once and named twice, and a file
// outside the workspace is not given away by its place.
func TestProbeNamesFilesAsCalled(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	first := w.copy(filepath.Join(testenv.Real(t), "jfk.wav"), "first.wav")
	second := w.copy(filepath.Join(testenv.Real(t), "jfk.wav"), "second.wav")
	for _, name := range []string{first, second, filepath.Join(w.dir, first)} {
		if got := probe(w, cutroom.InPath(name)).Files[0].File; got != filepath.Base(name) {
			t.Errorf("%q is called %q", name, got)
		}
	}
	out := probe(w, cutroom.InPath(second), cutroom.InPath(first))
	if out.Files[0].File != second || out.Files[1].File != first {
		t.Errorf("got %q, %q", out.Files[0].File, out.Files[1].File)
	}
}

func TestProbeNamesEveryBadInput(t *testing.T) {
	t.Parallel()
	w, good := real(t, "jfk.wav")
	for name, text := range map[string]string{"text.mp4": "this is no video", "empty.mov": ""} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := w.fails("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"gone.mp4", cutroom.InPath(good), "lost.mov"}}, cutroom.NotFound)
	if !strings.Contains(e.Msg, "gone.mp4") || !strings.Contains(e.Msg, "lost.mov") || strings.Contains(e.Msg, good) {
		t.Errorf("got %q", e.Msg)
	}
	e = w.fails("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"text.mp4", cutroom.InPath(good), "empty.mov"}}, cutroom.UnreadableMedia)
	if !strings.Contains(e.Msg, "text.mp4") || !strings.Contains(e.Msg, "empty.mov") {
		t.Errorf("got %q", e.Msg)
	}
	if n := len(probe(w, cutroom.InPath(good), cutroom.InPath(good)).Files); n != 2 {
		t.Errorf("the same file twice gives %d descriptions", n)
	}
}

// A value, a line and the levels of a picture, on the command line as in the answer.
func TestProbeSaysWhatIsAsked(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	picture := w.blank("flat.mp4", 64, 48, 0.5)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.5:r=10", "-vf", "lutyuv=y='16+219*(0.12+0.45*(val-16)/219)':u='128+(val-128)*0.15':v='128+(val-128)*0.15'", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "log.mp4"))
	for _, c := range []struct{ field, want string }{
		{"video.width", "64"}, {"video.0.pixel_format", "yuv420p"}, {"video.3.codec", ""}, {"kind", "video"}, {"timecode.start", ""}, {"video.variable_frame_rate", "false"},
	} {
		f := must[measure.ProbeOutput](w, "measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"log.mp4"}, Field: c.field}).Files[0]
		if f.Value == nil || *f.Value != c.want {
			t.Errorf("%s: %v, want %q", c.field, f.Value, c.want)
		}
	}
	for _, field := range []string{"width", "video.widht", "video.width.x", ".", "video..codec", "file.0"} {
		w.fails("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"log.mp4"}, Field: field}, cutroom.Invalid)
	}
	r := must[measure.ProbeOutput](w, "measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"log.mp4", picture}, Analyze: true, Compact: true})
	for i, log := range []bool{true, false} {
		if l := r.Files[i].Video[0].Levels; l == nil || l.Frames < 1 || l.Log != log {
			t.Errorf("file %d: %+v", i, l)
		}
	}
	out, err := command(t, w.dir, "probe", "log.mp4", "--field", "video.height").Output()
	if err != nil || string(out) != "48\n" {
		t.Errorf("%q, %v", out, err)
	}
	lines, ok := r.Plain()
	if !ok || len(lines) != 2 || !strings.HasPrefix(lines[0], "log.mp4: video, ") || !strings.Contains(lines[0], "h264 64x48, 10/1 fps") || !strings.Contains(lines[0], "looks like log footage") {
		t.Errorf("%q", lines)
	}
}
