package ffmpeg

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cutroom"
)

func measure(t *testing.T, path string, o MeasureOptions) *Signals {
	t.Helper()
	d, f := mustProbe(t, path)
	m, err := NewMeasure(0, f, d, o)
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, path)
	for c, ok := m.Next(); ok; c, ok = m.Next() {
		if err := m.Feed(r.run(c)); err != nil {
			t.Fatalf("%v\n%s", err, tail(r.Stderr))
		}
	}
	if b, err := json.Marshal(m.Signals()); err != nil || strings.Contains(string(b), "Inf") {
		t.Fatalf("%s %v", b, err)
	}
	return m.Signals()
}

var everything = MeasureOptions{Scenes: true, Black: true, Freeze: true, Samples: true, Silence: true, Loudness: true, Envelope: true}

// stderrOf runs ffmpeg's own filters, whose reports go to standard error.
func stderrOf(t *testing.T, args ...string) string {
	t.Helper()
	b, err := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-hide_banner", "-nostdin", "-nostats"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return string(b)
}

func numbers(t *testing.T, text, pattern string) []float64 {
	t.Helper()
	var out []float64
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(m[0])
		}
		out = append(out, v)
	}
	return out
}

func TestLoudnessAgreesWithEBUR128(t *testing.T) {
	t.Parallel()
	surround := made(t, "surround.wav", "-f lavfi -i aevalsrc=0.3*sin(2*PI*440*t)|0.2*sin(2*PI*700*t)|0.4*sin(2*PI*300*t)|0.5*sin(50*2*PI*t)|0.2*sin(2*PI*900*t)|0.1*sin(2*PI*1500*t):c=5.1:s=44100:d=8 OUT")
	for _, path := range []string{real(t, "viper.mp3"), real(t, "example.mp4"), real(t, "chaplin.mp4"), real(t, "jfk.wav"), real(t, "two_cities_16k.wav"), real(t, "pv_empty.wav"), surround} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			l := measure(t, path, MeasureOptions{Loudness: true}).Audio.Loudness
			ref := stderrOf(t, "-i", "file:"+path, "-map", "0:a:0", "-af", "ebur128=peak=true+sample:framelog=verbose", "-f", "null", "-")
			ref = ref[strings.LastIndex(ref, "Summary:"):]
			peaks := numbers(t, ref, `Peak:\s+(\S+) dBFS`)
			for name, c := range map[string]struct {
				got         *float64
				want, slack float64
			}{
				"integrated":  {l.Integrated, numbers(t, ref, `I:\s+(\S+) LUFS`)[0], 0.15},
				"range":       {l.Range, numbers(t, ref, `LRA:\s+(\S+) LU`)[0], 0.5},
				"sample peak": {l.SamplePeak, peaks[0], 0.06},
				"true peak":   {l.TruePeak, peaks[1], 0.25},
			} {
				if c.got == nil || math.Abs(*c.got-c.want) > c.slack {
					t.Errorf("%s: got %v, ffmpeg says %v", name, value2(c.got), c.want)
				}
			}
		})
	}
}

func value2(p *float64) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

func TestTruePeakBetweenSamples(t *testing.T) {
	t.Parallel()
	// A sine at a quarter of the rate, sampled 45° off its crests, peaks 3.01 dB above
	// its samples (EBU Tech 3341, test 15 and on).
	m := newLoudnessMeter(&AudioFacts{SampleRate: 48000, Channels: 1, Layout: "mono"})
	x := make([]float32, 48000)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(math.Pi/2*float64(i)+math.Pi/4))
	}
	m.feed(x)
	m.finish()
	l := m.result(0)
	if got := *l.TruePeak; math.Abs(got+6.02) > 0.3 {
		t.Errorf("true peak %.2f dBTP, want -6.02", got)
	}
	if got := *l.SamplePeak; math.Abs(got+9.03) > 0.02 {
		t.Errorf("sample peak %.2f dBFS, want -9.03", got)
	}
}

func TestLoudnessOfReferenceTones(t *testing.T) {
	t.Parallel()
	// EBU Tech 3341: stereo 1 kHz at -23 dBFS is -23.0 LUFS; stretches of -36 are gated.
	m := newLoudnessMeter(&AudioFacts{SampleRate: 48000, Channels: 2, Layout: "stereo"})
	n := 0
	tone := func(db, seconds float64) {
		x := make([]float32, 2*int(48000*seconds))
		for i := 0; i < len(x); i += 2 {
			v := float32(math.Pow(10, db/20) * math.Sin(2*math.Pi*1000*float64(n)/48000))
			x[i], x[i+1] = v, v
			n++
		}
		m.feed(x)
	}
	tone(-36, 10)
	tone(-23, 60)
	tone(-36, 10)
	m.finish()
	if got := *m.result(0).Integrated; math.Abs(got+23) > 0.1 {
		t.Errorf("integrated %.2f LUFS, want -23.0", got)
	}
}

func TestSilenceAgreesWithSilencedetect(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example.mp4", "smpte-2997.mp4", "SAR-2by3.mp4", "jfk.wav"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := real(t, name)
			s := measure(t, path, MeasureOptions{Silence: true})
			ref := stderrOf(t, "-i", "file:"+path, "-map", "0:a:0", "-af", "silencedetect=n=-50dB:d=0.3", "-f", "null", "-")
			starts, ends := numbers(t, ref, `silence_start: (\S+)`), numbers(t, ref, `silence_end: (\S+)`)
			if len(starts) != len(s.Audio.Silence) {
				t.Fatalf("%d silences, silencedetect finds %d: %v %v", len(s.Audio.Silence), len(starts), s.Audio.Silence, starts)
			}
			for i, got := range s.Audio.Silence {
				if math.Abs(got.StartSeconds.Seconds()-starts[i]) > 0.001 {
					t.Errorf("silence %d starts at %v, want %v", i, got.StartSeconds, starts[i])
				}
				if i < len(ends) && math.Abs(got.EndSeconds.Seconds()-ends[i]) > 0.02 {
					t.Errorf("silence %d ends at %v, want %v", i, got.EndSeconds, ends[i])
				}
			}
		})
	}
}

// shots is three scenes with two cuts, a black stretch, a frozen end, a dissolve.
func shots(t *testing.T) string {
	return made(t, "shots.mp4", "-f lavfi -i testsrc2=d=3:s=640x360:r=25 -f lavfi -i mandelbrot=s=640x360:r=25 -f lavfi -i color=black:d=2:s=640x360:r=25 -f lavfi -i smptebars=d=4:s=640x360:r=25 -f lavfi -i sine=d=13:r=48000 "+
		"-filter_complex [1:v]trim=duration=4,setpts=PTS-STARTPTS[m];[0:v][m][2:v][3:v]concat=n=4:v=1[v] -map [v] -map 4:a -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 60 -c:a aac OUT")
}

func TestPictureEventsOfAFullDecode(t *testing.T) {
	t.Parallel()
	path := shots(t)
	s := measure(t, path, everything)
	v := s.Video
	var cuts []cutroom.Micros
	for _, c := range v.Changes {
		if c.Kind == "cut" {
			cuts = append(cuts, c.Seconds)
		}
	}
	if fmt.Sprint(cuts) != "[3 7 9]" {
		t.Errorf("changes %+v", v.Changes)
	}
	if len(v.Black) != 1 || v.Black[0] != (Span{7 * cutroom.Second, 9 * cutroom.Second}) {
		t.Errorf("black %v", v.Black)
	}
	if n := len(v.Freeze); n != 2 || v.Freeze[n-1] != (Span{9 * cutroom.Second, 13 * cutroom.Second}) {
		t.Errorf("freeze %v: one that is open at the end ends with the file", v.Freeze)
	}
	if v.Frames != 325 || v.LastSeconds != 12_960_000 || len(v.Samples) < 25 || len(v.Samples) > 27 {
		t.Errorf("%d frames to %v, %d samples", v.Frames, v.LastSeconds, len(v.Samples))
	}
	ref := stderrOf(t, "-v", "info", "-i", "file:"+path, "-map", "0:v", "-vf", "scale=320:-2,scdet=t=8", "-f", "null", "-")
	scores := numbers(t, ref, `lavfi.scd.score: (\S+),`)
	for i, c := range v.Changes {
		if c.Kind == "cut" && (i >= len(scores) || math.Abs(c.Score-scores[i]) > 1) {
			t.Errorf("score %v, a full decode gives %v", c.Score, scores)
		}
	}
	for i := range v.Samples {
		if i > 0 && v.Samples[i].Seconds-v.Samples[i-1].Seconds < 495_000 {
			t.Errorf("samples %v and %v are closer than 0.5 s", v.Samples[i-1].Seconds, v.Samples[i].Seconds)
		}
	}
}

func TestMeasuringARange(t *testing.T) {
	t.Parallel()
	o := everything
	o.Start, o.End = 6*cutroom.Second, 10*cutroom.Second
	s := measure(t, shots(t), o)
	if s.Video.FirstSeconds != 6*cutroom.Second || s.Video.LastSeconds != 9_960_000 || s.Video.Frames != 100 {
		t.Errorf("pictures from %v to %v, %d", s.Video.FirstSeconds, s.Video.LastSeconds, s.Video.Frames)
	}
	if len(s.Video.Black) != 1 || s.Video.Black[0].StartSeconds != 7*cutroom.Second {
		t.Errorf("black %v", s.Video.Black)
	}
	if !near(s.Audio.StartSeconds, 6*cutroom.Second, 10) || !near(s.Audio.EndSeconds, 10*cutroom.Second, 30_000) {
		t.Errorf("sound from %v to %v", s.Audio.StartSeconds, s.Audio.EndSeconds)
	}
}

// TestADarkScreenIsNotBlack: white text on black covers little of the picture, and is
// all that there is to see.
func TestADarkScreenIsNotBlack(t *testing.T) {
	t.Parallel()
	file := made(t, "terminal.mp4", "-f lavfi -i color=black:s=1280x720:d=2:r=10 -vf drawtext=text=error:fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fontcolor=white:fontsize=40:x=60:y=60 -c:v libx264 OUT")
	if s := measure(t, file, MeasureOptions{Black: true}); len(s.Video.Black) > 0 {
		t.Errorf("black %v", s.Video.Black)
	}
}

func TestGradualChanges(t *testing.T) {
	t.Parallel()
	dissolve := made(t, "dissolve.mp4", "-f lavfi -i smptebars=d=6:s=320x180:r=25 -f lavfi -i gradients=d=6:s=320x180:r=25:speed=0.00001:c0=green:c1=yellow -filter_complex [0:v][1:v]xfade=transition=fade:duration=1.5:offset=4[v] -map [v] -c:v libx264 -preset ultrafast -pix_fmt yuv420p OUT")
	fade := made(t, "fade.mp4", "-f lavfi -i smptebars=d=8:s=320x180:r=25 -vf fade=out:st=4:d=1.5 -c:v libx264 -preset ultrafast -pix_fmt yuv420p OUT")
	for path, kind := range map[string]string{dissolve: "dissolve", fade: "fade"} {
		c := measure(t, path, MeasureOptions{Scenes: true, Samples: true}).Video.Changes
		if len(c) != 1 || c[0].Kind != kind || !near(c[0].Seconds, 4_750_000, cutroom.Second) {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	for _, name := range []string{"chaplin.mp4", "example.mp4", "internal_emulator_transformer_output_270_rotated.mp4"} {
		if c := measure(t, real(t, name), MeasureOptions{Scenes: true}).Video.Changes; len(c) != 0 {
			t.Errorf("%s has no change of scene: %+v", name, c)
		}
	}
}

func TestSoundOfSilenceIsSilent(t *testing.T) {
	t.Parallel()
	s := measure(t, made(t, "silence.wav", "-f lavfi -i anullsrc=r=48000:cl=stereo -t 3 OUT"), MeasureOptions{Silence: true, Loudness: true, Envelope: true})
	if l := s.Audio.Loudness; !l.Silent || l.Integrated != nil || l.TruePeak != nil {
		t.Errorf("%+v", l)
	}
	if len(s.Audio.Silence) != 1 || s.Audio.Silence[0] != (Span{0, 3 * cutroom.Second}) {
		t.Errorf("%v", s.Audio.Silence)
	}
}

func TestMeasuringWhatIsNotThere(t *testing.T) {
	t.Parallel()
	d, f := mustProbe(t, made(t, "mute.mp4", "-f lavfi -i testsrc2=d=1:s=64x64:r=25 -c:v libx264 -preset ultrafast OUT"))
	for name, o := range map[string]MeasureOptions{"sound": {Loudness: true}, "nothing": {}, "range": {Scenes: true, Start: 5 * cutroom.Second}} {
		if _, err := NewMeasure(0, f, d, o); err == nil || cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewFrameJob(0, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{2 * cutroom.Second}}); err == nil || !strings.Contains(err.Error(), "1 s long") {
		t.Error(err)
	}
}

func extract(t *testing.T, path string, o AudioOptions) (Extraction, []int16) {
	t.Helper()
	d, f := mustProbe(t, path)
	o.File = "audio.wav"
	e, err := ExtractAudio(0, f, d, o)
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, path)
	r.run(e.Command)
	b, err := os.ReadFile(filepath.Join(r.Dir, e.File))
	if err != nil {
		t.Fatal(err)
	}
	if string(b[:4]) != "RIFF" || binary.LittleEndian.Uint32(b[24:]) != uint32(o.SampleRate) || binary.LittleEndian.Uint16(b[22:]) != uint16(o.Channels) {
		t.Fatalf("header %q", b[:44])
	}
	data := b[44:]
	pcm := make([]int16, len(data)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return e, pcm
}

func level(pcm []int16) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return decibels(math.Sqrt(sum/float64(max(1, len(pcm)))) / 32768)
}

func TestExtractedTimesMapBack(t *testing.T) {
	t.Parallel()
	// A click at 2.000 s of sound that starts late, of MPEG-TS that starts at 10 s, and
	// in ranges: file time + offset must say 2.000 s later than the sound's own zero.
	click := made(t, "click.wav", `-f lavfi -i aevalsrc='if(between(t\,2\,2.01)\,0.9*sin(2000*PI*t)\,0)':s=48000:d=4 OUT`)
	late := made(t, "late.mp4", "-f lavfi -i testsrc2=d=5:s=64x64:r=25 -itsoffset 0.7 -i IN0 -map 0:v -map 1:a -c:v libx264 -preset ultrafast -c:a aac OUT", click)
	ts := made(t, "late.ts", "-f lavfi -i testsrc2=d=4:s=64x64:r=25 -i IN0 -map 0:v -map 1:a -c:v libx264 -preset ultrafast -c:a aac -output_ts_offset 10 -f mpegts OUT", click)
	mp3 := made(t, "click.mp3", "-i IN0 -c:a libmp3lame OUT", click)
	for _, c := range []struct {
		path string
		want float64
	}{{click, 2}, {late, 2.7}, {ts, 2}, {mp3, 2}} {
		for _, o := range []AudioOptions{
			{SampleRate: 16000, Channels: 1},
			{SampleRate: 48000, Channels: 2, Start: 1500_000},
			{SampleRate: 22050, Channels: 1, Start: 1900_000, End: 3_000_000},
			{SampleRate: 16000, Channels: 1, End: 3_500_000},
		} {
			e, pcm := extract(t, c.path, o)
			at := -1
			for i, v := range pcm {
				if v > 8000 || v < -8000 {
					at = i / o.Channels
					break
				}
			}
			got := float64(at)/float64(o.SampleRate) + e.StartOffset.Seconds()
			slack := 0.004
			if c.path == ts {
				slack = 0.03 // the muxer's own zero is the first of both streams
			}
			if at < 0 || math.Abs(got-c.want) > slack {
				t.Errorf("%s %+v: the click is at %.4f s, want %.3f (offset %v)", filepath.Base(c.path), o, got, c.want, e.StartOffset)
			}
		}
	}
}

func TestCentreSpeechSurvivesMixing(t *testing.T) {
	t.Parallel()
	path := made(t, "centre.m4a", "-f lavfi -i sine=f=500:d=2:r=48000 -filter_complex pan=5.1|FC=c0 -c:a aac OUT")
	for _, channels := range []int{1, 2} {
		if _, pcm := extract(t, path, AudioOptions{SampleRate: 16000, Channels: channels}); level(pcm) < -25 {
			t.Errorf("%d channels: the voice in the centre is at %.1f dB", channels, level(pcm))
		}
	}
}

func TestExtractedEqualsPlainDecode(t *testing.T) {
	t.Parallel()
	_, pcm := extract(t, real(t, "jfk.wav"), AudioOptions{SampleRate: 16000, Channels: 1})
	b, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", "file:"+real(t, "jfk.wav"), "-f", "s16le", "-").Output()
	if err != nil || len(b) != 2*len(pcm) {
		t.Fatalf("%d samples, want %d: %v", len(pcm), len(b)/2, err)
	}
	for i, v := range pcm {
		if v != int16(binary.LittleEndian.Uint16(b[2*i:])) {
			t.Fatalf("sample %d differs", i)
		}
	}
}

func TestSubtitles(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"sample_with_srt.mkv": "subtitle", "mov_text.mp4": "", "sample_with_ssa_subtitles.mkv": ""} {
		path := real(t, name)
		d, f := mustProbe(t, path)
		for _, form := range []SubtitleForm{SRT, WebVTT, ASS} {
			c, err := Subtitles(0, f, d, 0, form)
			if err != nil {
				t.Fatal(err)
			}
			out := string(newRunner(t, path).run(c).Stdout)
			head := map[SubtitleForm]string{SRT: "1\n", WebVTT: "WEBVTT", ASS: "[Script Info]"}[form]
			if !strings.HasPrefix(out, head) || !strings.Contains(strings.ToLower(out), says) {
				t.Errorf("%s as %s: %q", name, form, out[:min(200, len(out))])
			}
		}
	}
	d, f := mustProbe(t, real(t, "captions-test.ts"))
	if _, err := Subtitles(0, f, d, 0, SRT); err == nil {
		t.Error("captions inside the picture are no track")
	}
	bitmap := false
	d.Streams = append(d.Streams, Stream{CodecType: "subtitle", CodecName: "dvd_subtitle", Text: &bitmap})
	if _, err := Subtitles(0, f, d, 0, SRT); err == nil || !strings.Contains(err.Error(), "pictures") {
		t.Error(err)
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	// The JPEG of a known colour has that colour, whatever range and matrix it was
	// stored in; transparency lies on the stated background.
	a := testAbilities(t)
	for name, c := range map[string]struct {
		args string
		want color.RGBA
	}{
		"hd709.mp4":   {"-f lavfi -i color=0xC83C28:d=1:s=1280x720:r=5 -vf scale=out_color_matrix=bt709:out_range=tv,format=yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv -c:v libx264 -qp 1 -preset ultrafast OUT", color.RGBA{200, 60, 40, 255}},
		"full601.mp4": {"-f lavfi -i color=0xC83C28:d=1:s=320x240:r=5 -vf scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p -colorspace smpte170m -color_range pc -c:v libx264 -qp 1 -preset ultrafast OUT", color.RGBA{200, 60, 40, 255}},
		"alpha.webm":  {"-f lavfi -i color=red@0.5:s=64x64:d=1:r=10,format=yuva420p -c:v libvpx-vp9 -pix_fmt yuva420p -auto-alt-ref 0 -crf 4 -b:v 0 OUT", color.RGBA{254, 128, 128, 255}},
		"rgb.png":     {"-f lavfi -i color=0x1080F0:d=1:s=64x64:r=1 -frames:v 1 -pix_fmt rgb24 OUT", color.RGBA{16, 128, 240, 255}},
		"grey.gif":    {"-f lavfi -i color=0x606060:d=1:s=64x64:r=5 -pix_fmt gray OUT", color.RGBA{96, 96, 96, 255}},
	} {
		path := made(t, name, c.args)
		d, f := mustProbe(t, path)
		r := newRunner(t, path)
		frames, _ := takeFrames(t, r, f, d, a, FrameOptions{Times: []cutroom.Micros{0}, Full: true})
		if len(frames) != 1 {
			t.Errorf("%s: no frame\n%s", name, r.Stderr)
			continue
		}
		for _, file := range []string{frames[0].File, frames[0].FullFile} {
			m := decodePicture(t, filepath.Join(r.Dir, file))
			r1, g1, b1, _ := m.At(m.Bounds().Dx()/2, m.Bounds().Dy()/2).RGBA()
			for i, got := range []uint32{r1 >> 8, g1 >> 8, b1 >> 8} {
				want := []uint8{c.want.R, c.want.G, c.want.B}[i]
				if math.Abs(float64(got)-float64(want)) > 8 {
					t.Errorf("%s %s: colour %d %d %d, want %v", name, file, r1>>8, g1>>8, b1>>8, c.want)
					break
				}
			}
		}
	}
}

func TestSheet(t *testing.T) {
	t.Parallel()
	var frames []SheetFrame
	for i := range 7 {
		m := image.NewRGBA(image.Rect(0, 0, 64+i, 36))
		for k := range m.Pix {
			m.Pix[k] = uint8(40 * i)
		}
		var b strings.Builder
		if err := jpeg.Encode(&b, m, nil); err != nil {
			t.Fatal(err)
		}
		frames = append(frames, SheetFrame{[]byte(b.String()), fmt.Sprintf("0:00:%02d.000", i)})
	}
	out, err := Sheet(frames, 3, 200)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := jpeg.DecodeConfig(strings.NewReader(string(out)))
	if err != nil || conf.Width != 3*(200+sheetGap)+sheetGap {
		t.Errorf("%+v %v", conf, err)
	}
	if _, err := Sheet([]SheetFrame{{JPEG: []byte("x")}}, 1, 100); err == nil {
		t.Error("a picture that is none was drawn")
	}
	if _, err := Sheet(nil, 1, 100); err == nil {
		t.Error("an empty sheet was drawn")
	}
}
