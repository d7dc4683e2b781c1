package proof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
)

const (
	h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p "
	good = pictures + tone + h264 + "-c:a aac "
)

// Each file is wrong in one way, and exactly the rows that say so fail.
func TestWrongFilesAreRefused(t *testing.T) {
	t.Parallel()
	silent := "-f lavfi -i anullsrc=r=48000:cl=mono:d=3 "
	cases := []struct {
		name, container string
		first           string // made before, as first.mp4
		args            string
		change          func(*Expectation)
		want            string
	}{
		{name: "early audio end", args: pictures + "-f lavfi -i sine=f=440:d=2.6:r=48000 " + h264 + "-c:a aac", want: "audio_length audio 0,audio_samples audio 0,skew audio 0"},
		{name: "late audio", args: pictures + "-itsoffset 0.2 " + tone + h264 + "-c:a flac -strict -2", change: func(e *Expectation) { e.Audio[0].Codec = "flac" }, want: "start_skew audio 0,skew audio 0"},
		{name: "no edit list", args: good + "-use_editlist 0", want: "first_frame video,stated_length video,audio_length audio 0,audio_samples audio 0,start_skew audio 0"},
		{name: "a frame less", args: strings.Replace(good, "d=3:s", "d=2.96:s", 1), want: "frames video,video_length video,stated_length video,skew audio 0"},
		{name: "a frame more", args: strings.Replace(good, "d=3:s", "d=3.04:s", 1), want: "frames video,video_length video,stated_length video"},
		{name: "half the frames", args: good + "-vf fps=12.5", want: "rate video,frames video,video_length video,stated_length video,spacing video"},
		{name: "black", args: "-f lavfi -i color=black:d=3:s=320x240:r=25 " + tone + h264 + "-c:a aac", want: "content video,content video"},
		{name: "frozen", args: "-f lavfi -i smptebars=d=3:s=320x240:r=25 " + tone + h264 + "-c:a aac", want: "content video"},
		{name: "silent", args: pictures + silent + h264 + "-c:a aac", want: "content audio 0"},
		{name: "no sound", args: pictures + h264, want: "streams audio"},
		{name: "no picture", args: tone + "-c:a aac", want: "streams video"},
		{name: "two tracks", args: pictures + tone + "-map 0 -map 1 -map 1 " + h264 + "-c:a aac", want: "streams audio"},
		{name: "no language", args: good, change: func(e *Expectation) { e.Audio[0].Language = "deu" }, want: "language audio 0"},
		{name: "a language too many", args: good + "-metadata:s:a:0 language=deu", change: func(e *Expectation) { e.Audio[0].Language = "-" }, want: "language audio 0"},
		{name: "size", args: good + "-s 320x238", want: "size video"},
		{name: "pixel format", args: good + "-pix_fmt yuv444p", change: func(e *Expectation) { e.Video.PixelFormat = "yuv420p" }, want: "pixel_format video"},
		{name: "no colour tags", args: good, change: func(e *Expectation) { e.Video.Matrix, e.Video.Primaries = "bt709", "bt709" }, want: "color_matrix video,color_primaries video"},
		{name: "colour tags", args: good + "-colorspace bt709", change: func(e *Expectation) { e.Video.Matrix = "-" }, want: "color_matrix video"},
		{name: "rotated", first: good, args: "-i @first.mp4 -c copy -metadata:s:v:0 rotate=90", change: func(e *Expectation) { e.Video.Rotation = new(int) }, want: "size video,rotation video"},
		{name: "media first", args: good, change: func(e *Expectation) { e.Faststart = true }, want: "faststart"},
		{name: "no chapters", args: good, change: func(e *Expectation) { e.Chapters = 2 }, want: "streams chapter"},
		{name: "no cover", args: good, change: func(e *Expectation) { e.Cover = true }, want: "streams cover"},
		{name: "no subtitles", args: good, change: func(e *Expectation) { e.Subtitles = []Subtitle{{}} }, want: "streams subtitle"},
		{name: "hev1", args: pictures + tone + "-c:v libx265 -preset ultrafast -x265-params log-level=none -c:a aac", change: func(e *Expectation) { e.Video.Codec, e.Video.Tag = "hevc", "hvc1" }, want: "tag video"},
		{name: "codec", args: pictures + tone + h264 + "-c:a libmp3lame", want: "codec audio 0"},
		{name: "rate of the sound", args: good + "-ar 44100", want: "sample_rate audio 0"},
		{name: "channels", args: good + "-ac 2", want: "channels audio 0"},
		{name: "too quiet", args: good + "-af volume=-20dB", change: func(e *Expectation) { e.Loudness = &Loudness{LUFS: -22, Tolerance: 0.5, TruePeak: -1} }, want: "loudness audio 0"},
		{name: "too loud", args: good + "-af volume=20dB", change: func(e *Expectation) { e.Loudness = &Loudness{LUFS: -4.4, Tolerance: 1, TruePeak: -1} }, want: "true_peak audio 0"},
		{name: "loudness of silence", args: pictures + silent + h264 + "-c:a aac", change: func(e *Expectation) {
			e.Loudness = &Loudness{LUFS: -14, Tolerance: 0.5, TruePeak: -1}
			e.Audio[0].Silent = true
		}, want: "loudness audio 0"},
		{name: "a hole in the sound", args: pictures + tone + h264 + "-c:a aac -af asetpts=PTS+gte(T\\,1)*0.1/TB", change: func(e *Expectation) { e.Skew = cutroom.Second }, want: "audio_length audio 0"},
		{name: "a jump of the picture", args: good + "-vf setpts=PTS+gte(T\\,1)*0.1/TB -fps_mode passthrough", change: func(e *Expectation) { e.Skew = cutroom.Second; e.Video.Length = 0 }, want: "rate video,spacing video"},
		{name: "a whole number of frames missing in a hole of webm", container: "webm", args: pictures + tone + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus -vf select=not(between(n\\,30\\,40)) -fps_mode passthrough", change: func(e *Expectation) { e.Video.Codec, e.Audio[0].Codec, e.Video.Frames = "vp9", "opus", 64 }, want: "spacing video"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := testenv.NewRunner(t)
			if c.first != "" {
				make1(t, r, "first.mp4", c.first)
			}
			if c.container == "" {
				c.container = "mp4"
			}
			file := "out." + c.container
			make1(t, r, file, c.args)
			e := expected(file, c.container, "h264", "aac")
			if c.change != nil {
				c.change(&e)
			}
			p := prove(t, r, e)
			if got := failed(p); got != c.want {
				t.Errorf("rows that fail: %q, want %q\n%v\n%s", got, c.want, p.Err(), r.Stderr)
			}
			if err := p.Err(); !isVerification(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func isVerification(err error) bool {
	e, ok := errors.AsType[*cutroom.Error](err)
	return ok && e.Code == cutroom.Verification
}

// Formats with checksums or structure of their own show a few bytes; H.264 decodes a
// short run of wrong bytes as a wrong picture, and shows a disk block. VP9 shows
// neither: only the comparison with the source's pictures would.
func TestDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	files := []struct {
		file, container, video, audio, args string
		block                               int
	}{
		{"a.mp4", "mp4", "h264", "aac", good + "-movflags +faststart", 4096},
		{"a.mkv", "mkv", "h264", "flac", pictures + tone + h264 + "-c:a flac", 4096},
		{"a.webm", "webm", "vp9", "opus", pictures + tone + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus", 0},
		{"a.mp3", "mp3", "", "mp3", tone + "-c:a libmp3lame", 512},
		{"a.flac", "flac", "", "flac", tone, 16},
		{"a.ogg", "ogg", "", "vorbis", tone + "-c:a libvorbis", 16},
	}
	for _, f := range files {
		t.Run(f.file, func(t *testing.T) {
			t.Parallel()
			r := testenv.NewRunner(t)
			make1(t, r, f.file, f.args)
			path := filepath.Join(r.Dir, f.file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := func(b []byte) string {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return failed(prove(t, r, expected(f.file, f.container, f.video, f.audio)))
			}
			if got := damaged(b); got != "" {
				t.Fatalf("whole: rows that fail: %q", got)
			}
			if got := damaged(b[:len(b)*6/10]); got == "" {
				t.Error("cut off: every row holds")
			}
			if got := damaged(nil); !strings.HasPrefix(got, "decodes") {
				t.Errorf("empty: rows that fail: %q", got)
			}
			for i := len(b) / 2; i < len(b)/2+f.block; i++ {
				b[i] ^= 0x5a
			}
			if got := damaged(b); f.block > 0 && !strings.HasPrefix(got, "decodes") {
				t.Errorf("%d bytes flipped: rows that fail: %q", f.block, got)
			}
		})
	}
}

// A cut without re-encoding on sparse key frames, put together: exit 0 and a right
// duration, but every part brings its whole group of pictures.
func TestCutsOnSparseKeyFramesAreRefused(t *testing.T) {
	t.Parallel()
	in := filepath.Join(testenv.Cases(t), "b34_sparsekf.mkv")
	r := testenv.NewRunner(t)
	var list strings.Builder
	for i := range 5 {
		name := fmt.Sprintf("part%d.mp4", i)
		testenv.FFmpeg(t, "-ss", fmt.Sprint(2+3*i), "-i", in, "-t", "3", "-c", "copy", filepath.Join(r.Dir, name))
		fmt.Fprintf(&list, "file '%s'\n", filepath.Join(r.Dir, name))
	}
	if err := os.WriteFile(filepath.Join(r.Dir, "list.txt"), []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-f", "concat", "-safe", "0", "-i", filepath.Join(r.Dir, "list.txt"), "-c", "copy", "-movflags", "+faststart", filepath.Join(r.Dir, "out.mp4"))
	p := prove(t, r, Expectation{
		File: "out.mp4", Container: "mp4", Faststart: true,
		Video: &Video{Codec: "h264", Rate: ffmpeg.Rational{Num: 25, Den: 1}, Frames: 375, Length: 15 * cutroom.Second},
		Audio: []Audio{{Codec: "aac", Length: 15 * cutroom.Second}},
	})
	t.Logf("%v", p.Err())
	if got := failed(p); !strings.Contains(got, "frames video") {
		t.Errorf("rows that fail: %q", got)
	}
}

func TestSwappedTracksAreRefused(t *testing.T) {
	t.Parallel()
	r := testenv.NewRunner(t)
	make1(t, r, "in.mkv", pictures+tone+"-f lavfi -i sine=f=880:d=3:r=44100 -map 0 -map 1 -map 2 -metadata:s:a:0 language=deu -metadata:s:a:1 language=eng "+h264+"-c:a flac")
	make1(t, r, "out.mkv", "-i @in.mkv -map 0:0 -map 0:2 -map 0:1 -c copy")
	e := expected("out.mkv", "mkv", "h264", "flac")
	e.Audio = []Audio{{SampleRate: 48000, Language: "deu"}, {SampleRate: 44100, Language: "eng"}}
	want := "sample_rate audio 0,language audio 0,sample_rate audio 1,language audio 1"
	if got := failed(prove(t, r, e)); got != want {
		t.Errorf("rows that fail: %q, want %q", got, want)
	}
	e.File = "in.mkv"
	if err := prove(t, r, e).Err(); err != nil {
		t.Error(err)
	}
}
