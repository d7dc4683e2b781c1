package ffmpeg

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"

	"github.com/google/go-cmp/cmp"
)

func near(a, b cutroom.Micros, slack cutroom.Micros) bool { return a-b <= slack && b-a <= slack }

func TestRightValuesOfRealFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		kind     Kind
		duration cutroom.Micros
		from     DurationFrom
		runs     int // one ffprobe for what can be trusted
		zero     cutroom.Micros
		check    func(d *Document) bool
	}{
		{"sample_fragmented.mp4", Video, 1_068_118, FromPackets, 2, 0, func(d *Document) bool { return d.FirstVideo().StartSeconds == 66_733 }},
		{"100kB-garbage-prefix.mp3", Audio, 1_071_020, FromPackets, 2, 0, func(d *Document) bool { return d.Streams[0].CodecName == "mp3" }},
		{"loop_forever.avif", Video, 1_000_000, FromContainer, 2, 0, func(d *Document) bool { return d.FirstVideo().Frames == 2 }},
		{"no_duration.webm", Video, 4_938_000, FromPackets, 2, 0, func(d *Document) bool { return d.FirstVideo().Video.Alpha }},
		{"bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", Video, 4_000_000, FromContainer, 1, 10_000_000, nil},
		{"invalid-bitstream.webm", Video, 2_040_000, FromPackets, 3, 0, func(d *Document) bool {
			_, err := d.VideoStream()
			return err != nil && cutroom.AsError(err).Code == cutroom.UnreadableMedia && len(d.Problems) > 0
		}},
		{"-video-with-dash-.mp4", Video, 5_000_000, FromContainer, 1, 0, nil},
		{"sample_vvc.mp4", Video, 5_000_000, FromContainer, 1, 0, func(d *Document) bool {
			_, err := d.VideoStream()
			return err != nil && d.Streams[0].CodecName == "unknown" && d.Streams[0].CodecTag == "vvc1"
		}},
		{"with-attached-pic.mp3", Audio, 1_018_776, FromContainer, 1, 11_995, func(d *Document) bool {
			return len(d.CoverArt) == 1 && d.FirstVideo() == nil
		}},
		{"bear_with_picture.flac", Audio, 2_741_000, FromContainer, 1, 0, func(d *Document) bool { return len(d.CoverArt) == 1 }},
		{"viper.mp3", Audio, 41_038_367, FromContainer, 1, 25_057, nil},
		{"captions-test.ts", Video, 19_986_634, FromContainer, 1, 1_466_733, nil},
		{"SAR-2by3.mp4", Video, 2_020_000, FromContainer, 1, 0, func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.Width == 640 && v.DisplayWidth == 427 && v.DisplayHeight == 360
		}},
		{"internal_emulator_transformer_output_270_rotated.mp4", Video, 4_971_633, FromContainer, 1, 0, func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.Rotation == 270 && !v.Mirrored && v.DisplayWidth == 720 && v.DisplayHeight == 1280 && v.RotationFrom == "display_matrix"
		}},
		{"sample_rotate_and_reflect.mp4", Video, 1_067_211, FromContainer, 1, 0, func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.Rotation == 270 && v.Mirrored && v.DisplayWidth == 720
		}},
		{"sample_edit_list.mp4", Video, 2_548_345, FromContainer, 2, 0, func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.HDR == "hlg" && v.DolbyVision == 8 && v.BitDepth == 10 && v.Rotation == 90 && !v.VFR.Variable && v.VFR.Measured && v.FrameRate == Rational{30000, 1001}
		}},
		{"hlg10-color-test.mp4", Video, 300_100, FromContainer, 1, 0, func(d *Document) bool { return d.FirstVideo().Video.HDR == "hlg" }},
		{"sample_with_chapters.mp4", Video, 1_088_866, FromContainer, 1, 0, func(d *Document) bool { return len(d.Chapters) > 0 }},
		{"sample_with_srt.mkv", Video, 1_234_000, FromContainer, 1, 0, func(d *Document) bool {
			s := d.SubtitleStreams()
			return len(s) == 1 && *s[0].Text && s[0].CodecName == "subrip"
		}},
		{"example.mp4", Video, 42_400_000, FromContainer, 1, 0, func(d *Document) bool {
			return d.FirstVideo().Video.FrameRate == Rational{30, 1} && !d.FirstVideo().Video.VFR.Variable
		}},
		{"dog.jpg", Image, 0, Unknown, 1, 0, func(d *Document) bool { return d.FirstVideo().Video.StillImage }},
		{"jfk.wav", Audio, 11_000_000, FromContainer, 1, 0, func(d *Document) bool { return d.Streams[0].Audio.SampleRate == 16000 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, _, runs, err := probe(t, real(t, c.name))
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind != c.kind || d.DurationSeconds != c.duration || d.DurationFrom != c.from || d.ZeroSeconds != c.zero || runs != c.runs {
				t.Errorf("got %s, %v from %s, zero %v, %d runs; problems %q", d.Kind, d.DurationSeconds, d.DurationFrom, d.ZeroSeconds, runs, d.Problems)
			}
			if c.check != nil && !c.check(d) {
				b, _ := json.Marshal(d)
				t.Errorf("%s", b)
			}
			roundTrip(t, d)
		})
	}
}

// roundTrip: documents are cached as JSON.
func roundTrip(t *testing.T, d *Document) {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Document
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(again)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	full := made(t, "full.mp4", testAV)
	b, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		code cutroom.Code
		says string
	}{
		{write("empty.mp4", ""), cutroom.UnreadableMedia, "empty"},
		{write("text.mp4", "not-a-video\n"), cutroom.UnreadableMedia, "plain text"},
		{write("list.mp4", "#EXTM3U\n#EXT-X-VERSION:3\nfile:///etc/passwd\n"), cutroom.UnreadableMedia, "HLS"},
		{write("dash.mp4", "<?xml version=\"1.0\"?>\n<MPD></MPD>"), cutroom.UnreadableMedia, "DASH"},
		{write("concat.mkv", "ffconcat version 1.0\nfile '/etc/passwd'\n"), cutroom.UnreadableMedia, "concat"},
		{write("subs.mp4", "1\n00:00:00,000 --> 00:00:02,000\nhi\n"), cutroom.UnreadableMedia, "subtitle"},
		{write("session.mp4", "v=0\r\no=- 0 0 IN IP4 1.2.3.4\r\n"), cutroom.UnreadableMedia, "session"},
		{write("nomoov.mp4", string(b[:40000])), cutroom.UnreadableMedia, "cut off"},
		{write("paper.mp4", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\x00\x01"), cutroom.UnreadableMedia, "application/pdf"},
		{write("photo.heic", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic\x00\x00\x00\x08meta"), cutroom.MissingDependency, "HEIC"},
		{write("anim.webp", "RIFF\x40\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x3f\x00\x00\x3f\x00\x00ANIM"), cutroom.MissingDependency, "ffmpeg 9"},
		{write("noise.mp4", "\x01\x02\x03\x04garbage\xff\xfe\x00\x00\x99"), cutroom.UnreadableMedia, "not any media format"},
		{real(t, "large_stbl_truncated_after_moov.m4b"), cutroom.UnreadableMedia, "cut off"},
		{real(t, "typical_utf16le"), cutroom.UnreadableMedia, "subtitle"},
		{real(t, "with_tags"), cutroom.UnreadableMedia, "subtitle"},
	} {
		_, _, _, err := probe(t, c.path)
		e, ok := errors.AsType[*cutroom.Error](err)
		if !ok || e.Code != c.code || !strings.Contains(e.Msg, c.says) || e.Hint == "" {
			t.Errorf("%s: %v", filepath.Base(c.path), err)
		}
		if err != nil && strings.Contains(err.Error(), "corrupt") {
			t.Errorf("%s: %v", filepath.Base(c.path), err)
		}
	}
}

func TestMadeFiles(t *testing.T) {
	t.Parallel()
	base := made(t, "base.mp4", testAV)
	still := made(t, "cover.jpg", "-f lavfi -i color=red:s=64x64:d=1:r=1 -frames:v 1 OUT")
	full := made(t, "faststart.mp4", "-f lavfi -i testsrc2=d=10:s=320x240:r=25 -c:v libx264 -preset ultrafast -movflags +faststart OUT")
	b, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	cutOff := filepath.Join(t.TempDir(), "cut.mp4")
	if err := os.WriteFile(cutOff, b[:len(b)/3], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		check func(d *Document) bool
	}{
		{made(t, "vfr.mp4", `-f lavfi -i testsrc2=d=6:s=160x120:r=50,select='not(mod(n\,2))+lt(t\,2)' -fps_mode vfr -c:v libx264 -preset ultrafast OUT`), func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.VFR.Variable && v.VFR.Measured && near(d.DurationSeconds, 6*cutroom.Second, 50_000)
		}},
		{made(t, "cover.mp3", "-f lavfi -i sine=d=3 -i IN0 -map 0:a -map 1:v -c:a libmp3lame -c:v copy -id3v2_version 3 -disposition:v attached_pic OUT", still), func(d *Document) bool {
			return d.Kind == Audio && d.FirstVideo() == nil && len(d.CoverArt) == 1
		}},
		{made(t, "art.mp4", "-i IN0 -i IN1 -map 0 -map 1 -c copy -disposition:v:1 attached_pic OUT", base, still), func(d *Document) bool {
			return d.Kind == Video && d.FirstVideo().CodecName == "h264" && len(d.CoverArt) == 1
		}},
		{made(t, "rot.mp4", "-i IN0 -c copy -metadata:s:v:0 rotate=90 OUT", base), func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.Width == 320 && v.DisplayWidth == 240 && v.DisplayHeight == 320 && v.Rotation%180 == 90
		}},
		{made(t, "sar.mp4", "-f lavfi -i testsrc2=d=1:s=720x576:r=25,setsar=64/45 -c:v libx264 -preset ultrafast OUT"), func(d *Document) bool {
			v := d.FirstVideo().Video
			return v.DisplayWidth == 1024 && v.DisplayHeight == 576 && v.SAR == Rational{64, 45}
		}},
		{made(t, "late.ts", "-i IN0 -c copy -output_ts_offset 10 -f mpegts OUT", base), func(d *Document) bool {
			return d.ZeroSeconds > 10*cutroom.Second && near(d.DurationSeconds, 4*cutroom.Second, 50_000)
		}},
		{made(t, "offset.mp4", "-i IN0 -itsoffset 0.7 -i IN0 -map 0:v -map 1:a -c copy OUT", base), func(d *Document) bool {
			return near(d.AudioStreams()[0].StartSeconds, 678_000, 1000)
		}},
		{made(t, "df.mov", "-f lavfi -i testsrc2=d=2:s=320x240:r=30000/1001 -c:v libx264 -preset ultrafast -timecode 00:00:59;28 OUT"), func(d *Document) bool {
			return d.Timecode != nil && d.Timecode.Start == "00:00:59;28" && d.Timecode.DropFrame && d.Timecode.Rate == Rational{30000, 1001}
		}},
		{made(t, "live.webm", "-f lavfi -i testsrc2=d=3:s=160x120:r=25 -c:v libvpx -deadline realtime -f webm -live 1 OUT"), func(d *Document) bool {
			return d.DurationFrom == FromPackets && near(d.DurationSeconds, 3*cutroom.Second, 10_000)
		}},
		{made(t, "anim.gif", "-f lavfi -i testsrc2=d=1:s=64x64:r=10 OUT"), func(d *Document) bool {
			return d.Kind == Video && d.FirstVideo().Frames == 10 && d.DurationSeconds == cutroom.Second
		}},
		{made(t, "anim.png", "-f lavfi -i testsrc2=d=1:s=64x64:r=10 -plays 0 -f apng OUT"), func(d *Document) bool {
			return d.Kind == Video && d.FirstVideo().Frames == 10 && d.DurationSeconds == cutroom.Second
		}},
		{made(t, "raw.h264", "-f lavfi -i testsrc2=d=3:s=160x120:r=25 -c:v libx264 -preset ultrafast -f h264 OUT"), func(d *Document) bool {
			return d.DurationSeconds == 3*cutroom.Second && len(d.Problems) > 0
		}},
		{cutOff, func(d *Document) bool {
			return d.Truncated && d.DurationFrom == FromPackets && d.DurationSeconds > 2*cutroom.Second && d.DurationSeconds < 5*cutroom.Second
		}},
		{made(t, "centre.m4a", "-f lavfi -i sine=f=500:d=2:r=48000 -filter_complex pan=5.1|FC=c0 -c:a aac OUT"), func(d *Document) bool {
			return d.Kind == Audio && d.Streams[0].Audio.Channels == 6 && d.Streams[0].Audio.Layout == "5.1"
		}},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			t.Parallel()
			d, _ := mustProbe(t, c.path)
			if !c.check(d) {
				b, _ := json.Marshal(d)
				t.Errorf("%s", b)
			}
			roundTrip(t, d)
		})
	}
}

func TestLookAcceptsStrangeAnswers(t *testing.T) {
	t.Parallel()
	f := Format{Demuxers: []string{"mov"}, MediaType: "video/mp4", Kind: Video}
	for _, out := range []string{"", "{", "{\n}", "null", "[]", `{"format":{}}`, `{"streams":[{}]}`, "{\"format\":{},\"streams\":[]}"} {
		if d, err := ParseLook([]byte(out), f, 10); err == nil {
			t.Errorf("%q described %+v", out, d)
		}
	}
	d, err := ParseLook([]byte(`{"format":{"format_name":"mov","duration":"-0.5","start_time":"N/A","bit_rate":"N/A"},"streams":[
	 {"index":0,"codec_type":"video","codec_name":"h264","width":640,"height":480,"r_frame_rate":"1/0","avg_frame_rate":"90000/1","time_base":"1/90000",
	  "start_pts":-9223372036854775808,"duration_ts":4294967295,"pix_fmt":"yuv420p10le","sample_aspect_ratio":"1000000:1","tags":{"rotate":"-9223372036854775808"},
	  "side_data_list":[{"side_data_type":"Display Matrix","displaymatrix":"\n00000000: 0 0 0\n00000001: 0 0 0\n00000002: 0 0 0\n","rotation":-9223372036854775808}]},
	 {"index":1,"codec_type":"audio","channels":0}]}`), f, 10)
	if err != nil {
		t.Fatal(err)
	}
	v := d.Streams[0].Video
	if d.DurationSeconds != 0 || d.DurationFrom != Unknown || v.Rotation != 0 || v.FrameRate.Known() || v.DisplayWidth != 640 || v.BitDepth != 10 || d.Streams[1].Decodable {
		b, _ := json.Marshal(d)
		t.Errorf("%s", b)
	}
	if _, needed := d.NeedsPackets(f); !needed {
		t.Error("a length of -0.5 s was believed")
	}
}

func TestTurnAgreesWithFfmpeg(t *testing.T) {
	t.Parallel()
	// ffmpeg turns pictures upright by itself; ours must come out the same.
	for _, name := range []string{"sample_rotate_and_reflect.mp4", "internal_emulator_transformer_output_270_rotated.mp4"} {
		path := real(t, name)
		d, f := mustProbe(t, path)
		r := newRunner(t, path)
		frames, _ := takeFrames(t, r, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{0}, Full: true})
		ref := made(t, "ref.png", "-i IN0 -frames:v 1 -update 1 OUT", path)
		if got := psnr(decodePicture(t, filepath.Join(r.Dir, frames[0].FullFile)), decodePicture(t, ref)); got < 30 {
			t.Errorf("%s: %.1f dB from ffmpeg's own turn", name, got)
		}
	}
}

func TestExifOrientation(t *testing.T) {
	t.Parallel()
	// Four quarters of different grey: each orientation moves them to known corners.
	plain := made(t, "plain.jpg", "-f lavfi -i color=black:s=64x32,format=gray,geq=lum='if(lt(X,32),if(lt(Y,16),20,90),if(lt(Y,16),160,240))' -frames:v 1 -update 1 OUT")
	b, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	for o, want := range map[int][4]int{ // top left, top right, bottom left, bottom right
		1: {20, 160, 90, 240}, 2: {160, 20, 240, 90}, 3: {240, 90, 160, 20}, 4: {90, 240, 20, 160},
		5: {20, 90, 160, 240}, 6: {90, 20, 240, 160}, 7: {240, 160, 90, 20}, 8: {160, 240, 20, 90},
	} {
		exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(o)) + "\x00\x00\x00\x00\x00\x00"
		path := filepath.Join(t.TempDir(), "turned.jpg")
		if err := os.WriteFile(path, append([]byte("\xff\xd8"+exif), b[2:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		d, f := mustProbe(t, path)
		r := newRunner(t, path)
		frames, _ := takeFrames(t, r, f, d, testAbilities(t), FrameOptions{Times: []cutroom.Micros{0}})
		if len(frames) != 1 {
			t.Fatalf("orientation %d: no frame", o)
		}
		m := decodePicture(t, filepath.Join(r.Dir, frames[0].File))
		w, h := m.Bounds().Dx(), m.Bounds().Dy()
		for i, at := range [][2]int{{w / 4, h / 4}, {3 * w / 4, h / 4}, {w / 4, 3 * h / 4}, {3 * w / 4, 3 * h / 4}} {
			if g, _, _, _ := m.At(at[0], at[1]).RGBA(); int(g>>8) < want[i]-20 || int(g>>8) > want[i]+20 {
				t.Errorf("orientation %d corner %d is %d, want %d", o, i, g>>8, want[i])
			}
		}
	}
}

func TestPacketsInConstantMemoryAndOrder(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("junk\nstream_index=x|pts=1\n" + strings.Repeat("y", 100_000) + "\n")
	order := []int{0, 3, 1, 2, 6, 4, 5}
	for i := range 2000 {
		for _, k := range order {
			b.WriteString("stream_index=0|pts=" + itoa(100*(7*i+k)) + "|dts=N/A|duration=100|size=10|flags=K_\n")
		}
	}
	p, err := ReadPackets(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Streams[0]
	if s.Packets != 14000 || s.End != 1_400_000 || s.spread(Rational{1, 1000}).Variable || s.commonStep() != 100 {
		t.Errorf("%+v %+v", s, s.spread(Rational{1, 1000}))
	}
	if len(s.steps) > maxSteps || len(s.order) > reorderDepth {
		t.Error("memory grows with the file")
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestAbilities(t *testing.T) {
	t.Parallel()
	a := testAbilities(t)
	if !a.AtLeast(5, 0) || !a.Filter("scdet") || a.Filter("nothing") || !a.Encoder("mjpeg") || !a.Decoder("h264") || !a.BSF("h264_mp4toannexb") {
		t.Errorf("%+v", a.Version)
	}
	if slices.Contains(a.Encoders, "=") || slices.Contains(a.Filters, "Filters:") {
		t.Errorf("headings were taken for names")
	}
	for v, want := range map[string]string{"4.4.2": "-vsync", "5.0": "-vsync", "5.1.9-0+deb12u1": "-fps_mode", "n7.1": "-fps_mode", "N-109542-gabc": "-fps_mode", "2024-01-01-git": "-fps_mode"} {
		var b Abilities
		b.Major, b.Minor = versionNumber(v)
		if got := b.FrameRateMode("passthrough"); cmp.Diff(want, wordsOf(got)[0]) != "" {
			t.Errorf("%s takes %v", v, got)
		}
	}
	if err := a.Missing("scdet", "nothing"); cutroom.AsError(err).Code != cutroom.MissingDependency {
		t.Error(err)
	}
}

func FuzzParseLook(f *testing.F) {
	f.Add([]byte(`{"format":{"format_name":"mov","duration":"1.0"},"streams":[{"index":0,"codec_type":"video","width":2,"height":2,"time_base":"1/1"}]}`))
	f.Add([]byte(`{"format":{"duration":1e309},"streams":[{"codec_type":"audio","sample_rate":"-1","channels":"99999999999"}],"chapters":[{"start_time":"x"}]}`))
	f.Add([]byte("{"))
	format := Format{Demuxers: []string{"mov"}, MediaType: "video/mp4", Kind: Video}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseLook(b, format, 1000)
		if err != nil {
			return
		}
		if d.DurationSeconds < 0 || d.ZeroSeconds < 0 {
			t.Fatalf("duration %v zero %v", d.DurationSeconds, d.ZeroSeconds)
		}
		d.NeedsPackets(format)
		if _, err := json.Marshal(d); err != nil {
			t.Fatal(err)
		}
		if s, err := d.VideoStream(); err == nil {
			w, h := s.Video.Fit(320)
			if w < 1 || h < 1 || s.Video.Rotation%90 != 0 {
				t.Fatalf("%d×%d turned %d", w, h, s.Video.Rotation)
			}
		}
	})
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x20ftypisom\x00\x00\x00\x00isom"), "a.mp4")
	f.Add([]byte("ID3\x03\x00\x00\x7f\x7f\x7f\x7f"), "a.mp3")
	f.Add([]byte("RIFF\xff\xff\xff\xffWEBPVP8X"), "a.webp")
	f.Fuzz(func(t *testing.T, head []byte, name string) {
		format, err := Sniff(head, name)
		if err == nil && (len(format.Demuxers) == 0 || format.MediaType == "") {
			t.Fatalf("%+v", format)
		}
	})
}

func FuzzReadPackets(f *testing.F) {
	f.Add("stream_index=0|pts=1|dts=1|duration=1|size=1|flags=K_\n")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ReadPackets(strings.NewReader(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Streams {
			s.spread(Rational{1, 1000})
		}
	})
}
