package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// ownAnswer is the answer of a tool that writes.
type ownAnswer struct {
	tool.Made
}

func TestAWrittenFileIsSummedUp(t *testing.T) {
	t.Parallel()
	name := "post\x1b[2J.mp4"
	out := &ownAnswer{Made: tool.Made{
		File: &name,
		Probe: &ffmpeg.Document{DurationSeconds: 5_520_000, SizeBytes: 1_234_567, Streams: []ffmpeg.Stream{
			{CodecName: "h264", CodecType: "video", Video: &ffmpeg.VideoFacts{DisplayWidth: 1080, DisplayHeight: 1920, FrameRate: ffmpeg.Rational{Num: 30000, Den: 1001}}},
			{CodecName: "aac", CodecType: "audio", Language: "eng", Audio: &ffmpeg.AudioFacts{SampleRate: 48000, Channels: 2, Layout: "stereo"}},
		}},
		Verified: []cutroom.Verified{{Check: "frames", OK: true}, {Check: "skew", Stream: "audio 0", Expected: "0 ± 0.02", Measured: "0.1", Unit: "s"}},
		Dropped:  []string{"stream 2 (data unknown): no"}, Notes: []string{"9:16 is odd"},
	}}
	doc := `{"status":"completed","output":"x","probe":{"streams":[1]},"verified":[{"check":"frames"}],"commands":["ffmpeg"],"width":1080,"list":[1,2,3,4,5,6,7,8,9],"empty":[]}`
	reply := &engine.Reply{Output: out, JSON: []byte(doc)}
	made, ok := writtenOf(reply)
	if !ok {
		t.Fatal("not taken for a written file")
	}
	var b bytes.Buffer
	if err := written(&b, made, reply); err != nil {
		t.Fatal(err)
	}
	want := `written   post␛[2J.mp4  5.52 s · 1.2 MB · h264 1080x1920 29.97 fps · aac 48000 Hz stereo (eng)
verified  1 of 2 rows hold
  FAIL skew audio 0: 0.1, wanted 0 ± 0.02 s
dropped   stream 2 (data unknown): no
note      9:16 is odd
width     1080
list      9 entries, with --json
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	out.File = nil
	if _, ok := writtenOf(reply); ok {
		t.Error("an answer without a file is taken for a written one")
	}
	if strings.Contains(b.String(), "ffmpeg") {
		t.Error("commands are shown")
	}
}
