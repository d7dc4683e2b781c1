package verdict

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/platform"
)

// sound and picture draw streams of any sort.
func drawn(t *rapid.T) File {
	d := &ffmpeg.Document{
		FormatName: rapid.SampledFrom([]string{"mov,mp4,m4a", "matroska,webm", "mp3", "nonsense"}).Draw(t, "format"), SizeBytes: rapid.Int64Range(0, 1<<40).Draw(t, "size"),
		DurationSeconds: cutroom.Micros(rapid.Int64Range(0, 1e12).Draw(t, "length")), Truncated: rapid.Bool().Draw(t, "cut"),
	}
	micros := func(name string) cutroom.Micros { return cutroom.Micros(rapid.Int64Range(-1e9, 1e12).Draw(t, name)) }
	rational := func(name string) ffmpeg.Rational {
		return ffmpeg.Rational{Num: rapid.Int64Range(0, 1<<31).Draw(t, name), Den: rapid.Int64Range(0, 1<<31).Draw(t, name)}
	}
	if rapid.Bool().Draw(t, "video") {
		d.Streams = append(d.Streams, ffmpeg.Stream{
			CodecType: "video", CodecName: rapid.SampledFrom([]string{"h264", "hevc", "vp9", "unknown"}).Draw(t, "codec"), Profile: rapid.SampledFrom([]string{"", "High", "High 10"}).Draw(t, "profile"),
			Decodable: rapid.Bool().Draw(t, "decodable"), StartSeconds: micros("v start"), EndSeconds: micros("v end"), Frames: rapid.Int64Range(0, 1<<40).Draw(t, "frames"),
			Video: &ffmpeg.VideoFacts{
				Width: rapid.IntRange(0, 65535).Draw(t, "w"), Height: rapid.IntRange(0, 65535).Draw(t, "h"), DisplayWidth: rapid.IntRange(0, 65535).Draw(t, "dw"), DisplayHeight: rapid.IntRange(0, 65535).Draw(t, "dh"),
				SAR: rational("sar"), FrameRate: rational("rate"), BitDepth: rapid.SampledFrom([]int{0, 8, 10}).Draw(t, "depth"), HDR: rapid.SampledFrom([]string{"", "pq", "hlg"}).Draw(t, "hdr"),
				Alpha: rapid.Bool().Draw(t, "alpha"), VFR: ffmpeg.Verdict{Variable: rapid.Bool().Draw(t, "vfr")},
			},
		})
	}
	if rapid.Bool().Draw(t, "audio") {
		d.Streams = append(d.Streams, ffmpeg.Stream{CodecType: "audio", CodecName: "aac", Decodable: true, StartSeconds: micros("a start"), EndSeconds: micros("a end"), Audio: &ffmpeg.AudioFacts{SampleRate: rapid.IntRange(0, 400000).Draw(t, "hz"), Channels: rapid.IntRange(0, 64).Draw(t, "channels")}})
	}
	f := File{Document: d, Head: rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "head")}
	if rapid.Bool().Draw(t, "measured") {
		level := func(name string) *float64 {
			if rapid.Bool().Draw(t, name+" known") {
				return new(rapid.Float64Range(-120, 20).Draw(t, name))
			}
			return nil
		}
		f.Signals = &ffmpeg.Signals{
			Video: &ffmpeg.VideoSignals{Frames: rapid.Int64Range(0, 1<<40).Draw(t, "decoded"), Black: []ffmpeg.Span{{StartSeconds: micros("b"), EndSeconds: micros("e")}}},
			Audio: &ffmpeg.AudioSignals{EndSeconds: micros("sound"), Loudness: &ffmpeg.Loudness{Integrated: level("lufs"), TruePeak: level("peak")}},
		}
	}
	return f
}

// TestRows: whatever the file, every row has its status, its numbers are numbers, one
// that does not pass says why and what to do, and while nobody named the platform no
// judgement of the platform's own fails.
func TestRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(platform.Shipped().Platforms).Draw(t, "platform")
		target := Target{Spec: spec, Assumed: rapid.Bool().Draw(t, "assumed"), Content: rapid.Bool().Draw(t, "content"), NoLoudness: rapid.Bool().Draw(t, "quiet")}
		f := drawn(t)
		rows := Judge(f, target)
		seen := map[string]bool{}
		for _, r := range rows {
			id := r.Check + r.Stream
			if seen[id] {
				t.Errorf("two rows %s", id)
			}
			seen[id] = true
			if r.Status != Pass && (r.Reason == "" || r.Fix == "") || r.Status != Pass && r.Status != Warn && r.Status != Fail || r.Kind != Format && r.Kind != Judgement {
				t.Errorf("%+v", r)
			}
			if target.Assumed && r.Kind == Judgement && r.Status == Fail && r.Unit != "%" {
				t.Errorf("a judgement fails that nobody asked for: %s", r)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
			if strings.ContainsAny(r.String(), "\n\x00") {
				t.Errorf("%q is not one line", r)
			}
		}
	})
}

func TestSilentTrackAndPeak(t *testing.T) {
	t.Parallel()
	reels, err := platform.Find("reels")
	if err != nil {
		t.Fatal(err)
	}
	d := &ffmpeg.Document{Streams: []ffmpeg.Stream{{CodecType: "audio", CodecName: "aac", Decodable: true, Audio: &ffmpeg.AudioFacts{SampleRate: 48000, Channels: 2}}}}
	for _, c := range []struct {
		lufs, peak *float64
		want       string
	}{
		{new(-14.0), new(-1.0), "PASS PASS PASS"},
		{new(-12.0), new(-0.95), "PASS PASS PASS"}, // two LU and 0.05 dB are within
		{new(-11.9), new(-0.94), "PASS FAIL FAIL"},
		{nil, new(-30.0), "PASS WARN PASS"},
		{nil, nil, "FAIL - -"},
	} {
		f := File{Document: d, Signals: &ffmpeg.Signals{Audio: &ffmpeg.AudioSignals{Loudness: &ffmpeg.Loudness{Integrated: c.lufs, TruePeak: c.peak}}}}
		var got []string
		for _, name := range []string{"silent_track", "loudness", "true_peak"} {
			status := "-"
			for _, r := range Judge(f, Target{Spec: reels}) {
				if r.Check == name {
					status = string(r.Status)
				}
			}
			got = append(got, status)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v LUFS, %v dBTP: %s, want %s", c.lufs, c.peak, s, c.want)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	length := 100 * cutroom.Second
	d := &ffmpeg.Document{DurationSeconds: length, Streams: []ffmpeg.Stream{{CodecType: "video", CodecName: "h264", Decodable: true, EndSeconds: length, Video: &ffmpeg.VideoFacts{DisplayWidth: 1920, DisplayHeight: 1080}}}}
	for _, c := range []struct {
		seconds       cutroom.Micros
		black, frozen Status
	}{{0, Pass, Pass}, {10, Pass, Pass}, {11, Warn, Pass}, {31, Warn, Warn}, {95, Fail, Warn}, {100, Fail, Fail}} {
		spans := []ffmpeg.Span{{EndSeconds: c.seconds * cutroom.Second}}
		for _, r := range Judge(File{Document: d, Signals: &ffmpeg.Signals{Video: &ffmpeg.VideoSignals{Black: spans, Freeze: spans}}}, Target{Content: true, Assumed: true}) {
			if r.Check == "black" && r.Status != c.black || r.Check == "frozen" && r.Status != c.frozen {
				t.Errorf("%d s of 100: %s", c.seconds, r)
			}
		}
	}
}

func TestCaptionsSafe(t *testing.T) {
	t.Parallel()
	tiktok, _ := platform.Find("tiktok")
	frame := func(boxes ...evidence.Box) []Text { return []Text{{Width: 1080, Height: 1920, Lines: boxes}} }
	for _, c := range []struct {
		frames []Text
		want   Status
	}{
		{frame(evidence.Box{100, 1300, 800, 100}), Pass},
		{frame(evidence.Box{100, 1600, 800, 100}), Fail}, // below 78 % of the height
		{frame(evidence.Box{700, 900, 350, 80}), Fail},   // under the buttons at the right
		{frame(), Warn},
	} {
		if r := Captions(c.frames, Target{Spec: tiktok}); r.Status != c.want {
			t.Errorf("%v: %s", c.frames, r)
		}
	}
}

func ExampleRow_String() {
	fmt.Println(Row{Check: "true_peak", Status: Fail, Value: number(-0.2), Limit: number(-1), Tolerance: 0.05, Unit: "dBTP", Op: "<=", Reason: "peaks distort", Fix: "lower it"})
	// Output: FAIL true_peak: -0.2 (wanted <= -1 ± 0.05) dBTP; peaks distort; lower it
}
