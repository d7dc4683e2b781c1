package proof

import (
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
)

// prove makes a file in a private folder and proves it against e. IN in args stands
// for nothing but files that were made in the folder before.
func prove(t *testing.T, r *testenv.Runner, e Expectation) *Proof {
	t.Helper()
	p := New(e, nil)
	if err := r.Drive(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func make1(t *testing.T, r *testenv.Runner, name, args string) {
	t.Helper()
	list := strings.Fields(args)
	for i, a := range list {
		if file, ok := strings.CutPrefix(a, "@"); ok {
			list[i] = filepath.Join(r.Dir, file)
		}
	}
	testenv.FFmpeg(t, append(list, filepath.Join(r.Dir, name))...)
}

func failed(p *Proof) string {
	var rows []string
	for _, r := range p.Rows() {
		if !r.OK {
			rows = append(rows, strings.TrimSpace(r.Check+" "+r.Stream))
		}
	}
	return strings.Join(rows, ",")
}

const (
	pictures = "-f lavfi -i testsrc2=d=3:s=320x240:r=25 "
	tone     = "-f lavfi -i sine=f=440:d=3:r=48000 "
)

// expected is what the files made of pictures and tone are.
func expected(file, container, video, audio string) Expectation {
	e := Expectation{File: file, Container: container, Content: Content{NotBlack: true, NotFrozen: true, NotSilent: true}}
	if video != "" {
		e.Video = &Video{
			Codec: video, Width: 320, Height: 240, Rate: ffmpeg.Rational{Num: 25, Den: 1}, Frames: 75, Length: 3 * cutroom.Second,
		}
	}
	if audio != "" {
		e.Audio = []Audio{{Codec: audio, SampleRate: 48000, Channels: 1, Length: 3 * cutroom.Second}}
	}
	return e
}

func TestGoodFilesPass(t *testing.T) {
	t.Parallel()
	cases := []struct{ file, container, video, audio, args string }{
		{"a.mp4", "mp4", "h264", "aac", pictures + tone + "-c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart"},
		{"b.mp4", "mp4", "h264", "aac", pictures + tone + "-c:v libx264 -bf 0 -pix_fmt yuv420p -c:a aac -movflags +faststart"},
		{"hevc.mp4", "mp4", "hevc", "aac", pictures + tone + "-c:v libx265 -preset ultrafast -x265-params log-level=none -tag:v hvc1 -pix_fmt yuv420p10le -c:a aac"},
		{"a.mov", "mov", "prores", "pcm_s16le", pictures + tone + "-c:v prores_ks -c:a pcm_s16le"},
		{"mp3.mp4", "mp4", "h264", "mp3", pictures + tone + "-c:v libx264 -pix_fmt yuv420p -c:a libmp3lame"},
		{"ac3.mp4", "mp4", "h264", "ac3", pictures + tone + "-c:v libx264 -pix_fmt yuv420p -c:a ac3"},
		{"a.mkv", "mkv", "h264", "aac", pictures + tone + "-c:v libx264 -pix_fmt yuv420p -c:a aac"},
		{"flac.mkv", "mkv", "hevc", "flac", pictures + tone + "-c:v libx265 -preset ultrafast -x265-params log-level=none -c:a flac"},
		{"a.webm", "webm", "vp9", "opus", pictures + tone + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus"},
		{"vorbis.webm", "webm", "vp8", "vorbis", pictures + tone + "-c:v libvpx -deadline realtime -c:a libvorbis"},
		{"av1.mp4", "mp4", "av1", "opus", pictures + tone + "-c:v libaom-av1 -cpu-used 8 -usage realtime -c:a libopus -strict -2"},
		{"a.gif", "gif", "gif", "", pictures},
		{"a.mp3", "mp3", "", "mp3", tone + "-c:a libmp3lame"},
		{"a.m4a", "m4a", "", "aac", tone + "-c:a aac"},
		{"a.wav", "wav", "", "pcm_s16le", tone},
		{"a.flac", "flac", "", "flac", tone},
		{"a.ogg", "ogg", "", "vorbis", tone + "-c:a libvorbis"},
		{"a.opus", "opus", "", "opus", tone + "-c:a libopus"},
		{"a.aac", "adts", "", "aac", tone + "-c:a aac"},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			r := testenv.NewRunner(t)
			make1(t, r, c.file, c.args)
			p := prove(t, r, expected(c.file, c.container, c.video, c.audio))
			if err := p.Err(); err != nil {
				t.Errorf("%v\n%s", err, r.Stderr)
			}
			if p.Probe() == nil || len(p.Rows()) < 8 {
				t.Errorf("only %d rows: %+v", len(p.Rows()), p.Rows())
			}
			if r.Runs > 4 {
				t.Errorf("%d runs", r.Runs)
			}
		})
	}
}
