package smartcut_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/smartcut"
	"cutroom/internal/testenv"
)

// class is one sort of source.
type class struct {
	name, file string
	picture    string // arguments of ffmpeg
	sound      string
	after      string // arguments of a second run that copies, e.g. to turn it
	whole      string // what the reason says where nothing can be copied
	to         string // container of the output; "" is that of the source
}

var classes = []class{
	{name: "h264", file: "s.mp4", picture: "-c:v libx264 -g 60 -bf 3", sound: "-c:a aac"},
	{name: "h264-open", file: "s.mp4", picture: "-c:v libx264 -g 48 -bf 3 -x264-params open-gop=1", sound: "-c:a aac", whole: "IDR"},
	{name: "h264-bf0", file: "s.mov", picture: "-c:v libx264 -g 45 -bf 0", sound: "-c:a pcm_s16le"},
	{name: "h264-bf1", file: "s.mkv", picture: "-c:v libx264 -g 60 -bf 1", sound: "-c:a libmp3lame"},
	{name: "h264-bf2", file: "s.mp4", picture: "-c:v libx264 -g 60 -bf 2 -b_strategy 0 -x264-params b-pyramid=none", sound: "-c:a libmp3lame"},
	{name: "h264-sparse", file: "s.mkv", picture: "-c:v libx264 -g 110 -keyint_min 110 -sc_threshold 0 -bf 3", sound: "-c:a flac"},
	{name: "h264-vfr", file: "s.mp4", picture: "-vf select='not(mod(n\\,2))+lt(mod(t\\,4)\\,2)' -fps_mode vfr -c:v libx264 -g 50 -bf 3", sound: "-c:a aac"},
	{name: "h264-turned", file: "s.mp4", picture: "-c:v libx264 -g 60 -bf 3", sound: "-c:a aac", after: "-metadata:s:v:0 rotate=90"},
	{name: "h264-high10", file: "s.mkv", picture: "-c:v libx264 -pix_fmt yuv420p10le -g 60 -bf 3", sound: "-c:a libopus"},
	{name: "h264-cavlc", file: "s.mp4", picture: "-c:v libx264 -profile:v main -coder 0 -g 40 -bf 1", sound: "-c:a aac"},
	{name: "h264-baseline", file: "s.mov", picture: "-c:v libx264 -profile:v baseline -g 50", sound: "-c:a aac"},
	{name: "h264-film", file: "s.mp4", picture: "-r 24000/1001 -c:v libx264 -g 48 -bf 3", sound: "-c:a libopus"},
	{name: "h264-late", file: "s.mkv", picture: "-c:v libx264 -g 60 -bf 3", sound: "-c:a aac", after: "-output_ts_offset 10"},
	{name: "h264-mkv", file: "s.mp4", picture: "-c:v libx264 -g 60 -bf 3", sound: "-c:a aac", to: "mkv"},
	{name: "hevc", file: "s.mp4", picture: "-c:v libx265 -tag:v hvc1 -x265-params log-level=error:no-open-gop=1:keyint=60", sound: "-c:a aac"},
	{name: "hevc-open", file: "s.mp4", picture: "-c:v libx265 -tag:v hvc1 -x265-params log-level=error:open-gop=1:keyint=48:min-keyint=48", sound: "-c:a aac"},
	{name: "hevc-open-long", file: "s.mkv", picture: "-c:v libx265 -x265-params log-level=error:open-gop=1:keyint=109:min-keyint=109:scenecut=0", sound: "-c:a aac", to: "mp4"},
	{name: "hevc-main10", file: "s.mkv", picture: "-c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=error:no-open-gop=1:keyint=60", sound: "-c:a flac"},
	{name: "vp9", file: "s.webm", picture: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 1M -g 60", sound: "-c:a libopus"},
	{name: "vp8", file: "s.webm", picture: "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M -g 60", sound: "-c:a libvorbis"},
	{name: "av1", file: "s.mp4", picture: "-c:v libsvtav1 -preset 12 -g 60", sound: "-c:a libopus"},
	{name: "prores", file: "s.mov", picture: "-c:v prores_ks", sound: "-c:a pcm_s24le"},
}

// source makes a file of a class: fine detail that moves, a cut, and a tone whose every
// sample tells where it is.
func (c class) source(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), c.file)
	made := file
	if c.after != "" {
		made = filepath.Join(t.TempDir(), c.file)
	}
	args := []string{
		"-f", "lavfi", "-i", "testsrc2=s=160x96:r=30:d=5[a];mandelbrot=s=160x96:r=30,trim=duration=5,setpts=PTS-STARTPTS,format=yuv420p[b];[a][b]concat=n=2:v=1:a=0",
		"-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*(2500+40*t)*t)':s=48000:d=10", "-map", "0:v", "-map", "1:a", "-pix_fmt", "yuv420p", "-b:a", "128k",
	}
	preset := ""
	if strings.Contains(c.picture, "libx26") {
		preset = " -preset veryfast"
	}
	args = append(args, strings.Fields(c.picture+preset+" "+c.sound)...)
	testenv.FFmpeg(t, append(args, made)...)
	if c.after != "" {
		testenv.FFmpeg(t, append(append([]string{"-i", made, "-c", "copy"}, strings.Fields(c.after)...), file)...)
	}
	return file
}

// TestRandomCuts: cuts at random places of every sort of source show the source's
// frames, at their times, with the sound to the sample.
func TestRandomCuts(t *testing.T) {
	t.Parallel()
	each := 1
	if testenv.Soak() {
		each = 15
	}
	for _, c := range classes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.source(t))
			sound := listen(t, l.file, l.src.Media.AudioStreams()[0].Index)
			r := rand.New(rand.NewPCG(7, uint64(len(c.name))))
			container := c.to
			if container == "" {
				container = strings.TrimPrefix(filepath.Ext(c.file), ".")
			}
			copied := 0
			for n := range each {
				spans := randomSpans(r, n, l.src.Media.DurationSeconds)
				res, why := l.cut(container, spans...)
				if res == nil {
					if c.whole == "" && !strings.Contains(why, "inside") || c.whole != "" && !strings.Contains(why, c.whole) {
						t.Errorf("%v: %s", spans, why)
					}
					continue
				}
				copied++
				l.hears(sound, res)
			}
			if copied == 0 && c.whole == "" {
				t.Error("nothing was copied")
			}
		})
	}
}

// randomSpans are parts of a recording: mostly one, of 2.5 s or more, sometimes two in
// any order, sometimes to its end or from its beginning.
func randomSpans(r *rand.Rand, n int, length cutroom.Micros) []smartcut.Span {
	one := func() smartcut.Span {
		a := cutroom.Micros(r.Int64N(int64(length) - 4_000_000))
		return smartcut.Span{Start: a, End: a + 2_500_000 + cutroom.Micros(r.Int64N(int64(length-a)-2_600_000))}
	}
	switch n % 5 {
	case 1:
		return []smartcut.Span{one(), one()}
	case 2:
		s := one()
		s.Start = 0
		return []smartcut.Span{s}
	case 3:
		s := one()
		s.End = 0
		return []smartcut.Span{s}
	}
	return []smartcut.Span{one()}
}

// listen decodes a sound stream: samples of the first channel, from the file's zero.
func listen(t *testing.T, file string, index int) []float64 {
	t.Helper()
	out := testenv.Run(t, "", "ffmpeg", "-v", "error", "-nostdin", "-copyts", "-i", "file:"+file, "-map", fmt.Sprintf("0:%d", index), "-af", "aresample=async=1:min_comp=0.000001:first_pts=0", "-ac", "1", "-f", "f32le", "-")
	list := make([]float64, 0, len(out)/4)
	for i := 0; i+4 <= len(out); i += 4 {
		list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(out[i:]))))
	}
	return list
}

// hears compares the sound of a cut with the source's. A sample off would be heard as
// half the tone's level.
func (l *lab) hears(source []float64, res *smartcut.Result) {
	l.t.Helper()
	a := l.src.Media.AudioStreams()[0]
	rate := float64(a.Audio.SampleRate)
	out := listen(l.t, l.out, res.Probe.AudioStreams()[0].Index)
	if out0 := res.Probe.AudioStreams()[0]; out0.CodecName != a.CodecName || out0.Audio.SampleRate != a.Audio.SampleRate {
		l.t.Errorf("the sound became %s at %d Hz", out0.CodecName, out0.Audio.SampleRate)
	}
	// Matroska counts in milliseconds: that far samples may lie off. Times count from
	// the first frame, which comes a codec's delay late where none can be stated.
	zero, slack := l.first, 0
	if strings.HasPrefix(l.src.Media.FormatName, "matroska") || !strings.HasSuffix(l.out, ".mp4") && !strings.HasSuffix(l.out, ".mov") {
		slack = int(rate/1000) + 1
	}
	for _, s := range res.Map.Segments {
		from := int(math.Round((s.SourceStart + l.src.Media.ZeroSeconds).Seconds() * rate))
		at := int(math.Round((s.Start.Seconds() + zero) * rate))
		n := int((s.End - s.Start).Seconds() * rate)
		if slack > 0 {
			d := lag(source[from:], out[at:], slack)
			at += d
		}
		var signal, noise float64
		const edge = 2400 // codecs hear what lies on the other side of a cut
		for i := edge; i < n-edge && from+i < len(source)-edge; i++ {
			if at+i >= len(out) {
				l.t.Errorf("the sound ends at %.3f s", float64(len(out))/rate)
				break
			}
			d := out[at+i] - source[from+i]
			signal, noise = signal+source[from+i]*source[from+i], noise+d*d
		}
		if snr := 10 * math.Log10(signal/max(noise, 1e-12)); snr < 12 {
			l.t.Errorf("the sound of %v is within %.1f dB only; best at %d samples", s, snr, lag(source[from:], out[at:], 2400))
		}
	}
	if over := float64(len(out))/rate - zero - res.Map.Seconds.Seconds(); over > 0.03 || over < -0.03 {
		l.t.Errorf("the sound is %.3f s longer than the picture", over)
	}
}

// lag is by how many samples b comes later than a, at most most.
func lag(a, b []float64, most int) int {
	best, at := 0.0, 0
	for d := -most; d <= most; d++ {
		var sum float64
		for i := 24000; i < 32000 && i < len(a) && i+d < len(b); i++ {
			sum += a[i] * b[i+d]
		}
		if sum > best {
			best, at = sum, d
		}
	}
	return at
}
