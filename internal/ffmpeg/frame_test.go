package ffmpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cutroom"
)

// wholeDecode decodes every frame from the start, with no seeking and ffmpeg's own
// choice of threads, and returns each frame's ticks and its JPEG as the job makes it.
func wholeDecode(t *testing.T, path string, f Format, d *Document, a *Abilities, width int) (pts []Ticks, files []string) {
	t.Helper()
	dir := t.TempDir()
	s, err := d.VideoStream()
	if err != nil {
		t.Fatal(err)
	}
	w, h := s.Video.Fit(width)
	args := []string{"-v", "error", "-nostdin", "-copyts", "-noautorotate"}
	if s.Video.Alpha && s.CodecName == "vp9" {
		args = append(args, "-c:v", "libvpx-vp9")
	}
	args = append(args, "-f", f.Demuxers[0], "-i", "file:"+path, "-filter_complex",
		fmt.Sprintf("[0:%d]metadata=mode=delete,metadata=mode=add:key=n:value=1,metadata=mode=print:file=-,%s[o]", s.Index, s.Video.display(a, false).filters(w, h, "x")),
		"-map", "[o]", "-fps_mode", "passthrough", "-c:v", "mjpeg", "-q:v", "4", "-f", "image2", filepath.Join(dir, "r%05d.jpg"))
	cmd := exec.CommandContext(t.Context(), "ffmpeg", args...)
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("%s: %v", path, err)
	}
	for line := range strings.Lines(string(out)) {
		if _, rest, ok := strings.Cut(line, " pts:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(line)
			}
			pts = append(pts, Ticks(n))
			files = append(files, filepath.Join(dir, fmt.Sprintf("r%05d.jpg", len(pts))))
		}
	}
	return pts, files
}

func takeFrames(t *testing.T, r *runner, f Format, d *Document, a *Abilities, o FrameOptions) ([]Frame, []SkippedFrame) {
	t.Helper()
	j, err := NewFrameJob(0, f, d, a, o)
	if err != nil {
		t.Fatal(err)
	}
	for c, ok := j.Next(); ok; c, ok = j.Next() {
		if err := j.Feed(r.run(c)); err != nil {
			t.Fatal(err)
		}
	}
	return j.Frames()
}

// exact checks that the job gives for many times exactly the frames that a decode of
// everything shows then, bit for bit.
func exact(t *testing.T, path string, n int) {
	t.Helper()
	a := testAbilities(t)
	d, f := mustProbe(t, path)
	s := d.FirstVideo()
	pts, files := wholeDecode(t, path, f, d, a, 160)
	if len(pts) == 0 {
		t.Fatal("the whole decode gave no frames")
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(pts))))
	times := []cutroom.Micros{0, d.DurationSeconds}
	for range n {
		times = append(times, cutroom.Micros(rng.Int64N(int64(d.DurationSeconds)+1)))
		times = append(times, max(0, d.Time(s, pts[rng.IntN(len(pts))]))) // exactly a frame's start
	}
	check := func(how string, times []cutroom.Micros, seekOnly bool) {
		r := newRunner(t, path)
		j, err := NewFrameJob(0, f, d, a, FrameOptions{Times: times, Width: 160})
		if err != nil {
			t.Fatal(err)
		}
		j.seekOnly = seekOnly
		for c, ok := j.Next(); ok; c, ok = j.Next() {
			if err := j.Feed(r.run(c)); err != nil {
				t.Fatal(err)
			}
		}
		for _, tg := range j.all {
			at := tg.requested + d.ZeroSeconds
			want := 0
			for i, p := range pts {
				if float64(p)*s.TimeBase.Float()*1e6 <= float64(at)+1.0001 && p >= pts[want] {
					want = i
				}
			}
			if !tg.found || tg.pts != pts[want] {
				t.Errorf(how+": time %v: got tick %d (found %v), the frame shown then starts at %d", tg.requested, tg.pts, tg.found, pts[want])
				continue
			}
			got, err := os.ReadFile(filepath.Join(r.Dir, j.file(tg)))
			if err != nil {
				t.Error(err)
				continue
			}
			ref, err := os.ReadFile(files[want])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, ref) {
				t.Errorf(how+": time %v: frame %d differs from the whole decode's", tg.requested, tg.pts)
			}
		}
		t.Logf("%s: %d times of %d frames in %d runs", how, len(times), len(pts), r.Runs)
	}
	check("free", times, false)
	check("seeking", times[:min(len(times), 8)], true)
}

func TestFramesAreExactOnRealFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", "captions-test.ts", "chaplin.mp4", "edit_list_positive_shift.mp4",
		"hlg10-color-test.mp4", "internal_emulator_transformer_output_270_rotated.mp4", "loop_forever.avif", "mov_text.mp4",
		"no_duration.webm", "SAR-2by3.mp4", "sample_edit_list.mp4", "sample_fragmented.mp4", "sample_rotate_and_reflect.mp4",
		"sample_shorter_audio.mp4", "sample_with_chapters.mp4", "sample_with_srt.mkv", "sample_with_ssa_subtitles.mkv",
		"smpte-2997.mp4", "testvid_1022ms.mp4", "-video-with-dash-.mp4", "dog.jpg",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exact(t, real(t, name), 6)
		})
	}
}

func TestFramesAreExactOnHardFiles(t *testing.T) {
	t.Parallel()
	x264 := " -c:v libx264 -preset ultrafast -pix_fmt yuv420p "
	for name, args := range map[string]string{
		"vfr.mp4":       `-f lavfi -i testsrc2=d=6:s=160x120:r=50,select='not(mod(n\,2))+lt(t\,2)' -fps_mode vfr` + x264 + "-bf 3 OUT",
		"gaps.mkv":      `-f lavfi -i testsrc2=d=20:s=160x120:r=25,select='lt(t\,3)+gt(t\,11)' -fps_mode vfr` + x264 + "-g 60 OUT",
		"sparse.mkv":    "-f lavfi -i testsrc2=d=30:s=160x120:r=25 -c:v libx264 -preset veryfast -g 2000 -keyint_min 2000 OUT",
		"late.ts":       "-f lavfi -i testsrc2=d=25:s=160x120:r=25 -c:v libx264 -preset veryfast -g 250 -bf 3 -output_ts_offset 10 -f mpegts OUT",
		"mpeg2.ts":      "-f lavfi -i testsrc2=d=12:s=160x120:r=25 -c:v mpeg2video -g 15 -bf 2 -f mpegts OUT",
		"program.mpg":   "-f lavfi -i testsrc2=d=12:s=160x120:r=25 -c:v mpeg2video -g 15 -bf 2 -f mpeg OUT",
		"live.webm":     "-f lavfi -i testsrc2=d=6:s=160x120:r=25 -c:v libvpx -deadline realtime -f webm -live 1 OUT",
		"anim.gif":      "-f lavfi -i testsrc2=d=4:s=64x64:r=10 OUT",
		"anim.png":      "-f lavfi -i testsrc2=d=2:s=64x64:r=10 -plays 0 -f apng OUT",
		"alpha.webm":    "-f lavfi -i color=red@0.5:s=64x64:d=1:r=10,format=yuva420p -c:v libvpx-vp9 -pix_fmt yuva420p -auto-alt-ref 0 OUT",
		"one.mp4":       "-f lavfi -i testsrc2=s=64x64:r=25 -frames:v 1" + x264 + "OUT",
		"longsound.mp4": "-f lavfi -i testsrc2=d=2:s=160x120:r=25 -f lavfi -i sine=d=9" + x264 + "-c:a aac OUT",
		"tall.mp4":      "-f lavfi -i testsrc2=d=3:s=120x214:r=24000/1001" + x264 + "OUT",
		"hevc.mp4":      "-f lavfi -i testsrc2=d=6:s=160x120:r=30000/1001 -c:v libx265 -x265-params log-level=none:keyint=60 -preset ultrafast OUT",
		"open.avi":      "-f lavfi -i testsrc2=d=6:s=160x120:r=25 -c:v mpeg4 -g 60 OUT",
		"raw.h264":      "-f lavfi -i testsrc2=d=3:s=160x120:r=25" + x264 + "-bf 0 -f h264 OUT",
		"movie.flv":     "-f lavfi -i testsrc2=d=6:s=160x120:r=25" + x264 + "-bf 2 OUT",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exact(t, made(t, name, args), 6)
		})
	}
	t.Run("cut.mp4", func(t *testing.T) {
		t.Parallel()
		exact(t, made(t, "cut.mp4", "-ss 1.3 -i IN0 -t 1 -c copy OUT", made(t, "base.mp4", testAV)), 10)
	})
}

// A run that ffmpeg gave up printed times of frames that it did not write.
func TestFramesOfARunThatEndedEarlyAreTakenAgain(t *testing.T) {
	t.Parallel()
	path := made(t, "numbers.mp4", "-f lavfi -i testsrc2=size=160x120:rate=25:duration=2 -g 25 -pix_fmt yuv420p OUT")
	d, f := mustProbe(t, path)
	r := newRunner(t, path)
	j, err := NewFrameJob(0, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{0, 520_000, 1_000_000, 1_960_000}, Width: 160})
	if err != nil {
		t.Fatal(err)
	}
	for c, ok := j.Next(); ok; c, ok = j.Next() {
		res := r.run(c)
		if r.Runs == 1 {
			res.Exit = exitEarly
			written, err := filepath.Glob(filepath.Join(r.Dir, "frame-*.jpg"))
			if err != nil || len(written) != 4 {
				t.Fatalf("the first run wrote %v, %v", written, err)
			}
			for _, name := range written {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := j.Feed(res); err != nil {
			t.Fatal(err)
		}
	}
	frames, skipped := j.Frames()
	if len(frames) != 4 || len(skipped) > 0 || r.Runs != 3 {
		t.Fatalf("%d frames, skipped %v, in %d runs; want 4, none, 3", len(frames), skipped, r.Runs)
	}
	for _, fr := range frames {
		if _, err := os.Stat(filepath.Join(r.Dir, fr.File)); err != nil {
			t.Error(err)
		}
		if fr.Time != fr.Requested {
			t.Errorf("asked for %v, got %v", fr.Requested, fr.Time)
		}
	}
}

func TestSMPTEReadsItsTimecode(t *testing.T) {
	t.Parallel()
	// The picture at 3 s shows 00:00:03;00 in a file of 25 fps whose label counts 29.97
	// drop-frame; here the frame's own tick is checked, the words by the OCR's tests.
	path := real(t, "smpte-2997.mp4")
	d, f := mustProbe(t, path)
	frames, skipped := takeFrames(t, newRunner(t, path), f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{3 * cutroom.Second}, Width: 640, Full: true})
	if len(frames) != 1 || len(skipped) != 0 || frames[0].PTS != 38400 || frames[0].Time != 3*cutroom.Second || frames[0].FullWidth != 1920 {
		t.Fatalf("%+v %+v", frames, skipped)
	}
}

func TestReferenceFrame(t *testing.T) {
	t.Parallel()
	// Frame 14 of testvid_1022ms.mp4 has a reference picture, counted from 0.
	path := real(t, "testvid_1022ms.mp4")
	want := decodePicture(t, real(t, "testvid_1022ms_014.png"))
	d, f := mustProbe(t, path)
	r := newRunner(t, path)
	frames, _ := takeFrames(t, r, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{Ticks(14000).Micros(d.FirstVideo().TimeBase)}, Full: true})
	if len(frames) != 1 || frames[0].PTS != 14000 {
		t.Fatalf("%+v", frames)
	}
	if got := psnr(decodePicture(t, filepath.Join(r.Dir, frames[0].FullFile)), want); got < 30 {
		t.Errorf("the frame differs from its reference: %.1f dB", got)
	}
	frames, _ = takeFrames(t, r, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{Ticks(20000).Micros(d.FirstVideo().TimeBase)}, Full: true})
	if got := psnr(decodePicture(t, filepath.Join(r.Dir, frames[0].FullFile)), want); got > 30 {
		t.Errorf("another frame is as near to the reference (%.1f dB): the comparison says nothing", got)
	}
}

func decodePicture(t *testing.T, path string) image.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decode := jpeg.Decode
	if strings.HasSuffix(path, ".png") {
		decode = png.Decode
	}
	m, err := decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func psnr(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 0
	}
	var sum float64
	size := a.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			r1, g1, b1, _ := a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y).RGBA()
			r2, g2, b2, _ := b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y).RGBA()
			for _, d := range []float64{float64(r1) - float64(r2), float64(g1) - float64(g2), float64(b1) - float64(b2)} {
				sum += d * d / (257 * 257)
			}
		}
	}
	mse := sum / float64(3*size.X*size.Y)
	if mse == 0 {
		return 100
	}
	return 10 * math.Log10(255*255/mse)
}
