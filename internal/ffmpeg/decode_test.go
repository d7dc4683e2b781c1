package ffmpeg

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func decoded(t *testing.T, path string, o DecodeOptions) (*Decoded, *Document) {
	t.Helper()
	d, f := mustProbe(t, path)
	r := newRunner(t, path)
	j := NewDecode(0, f, d, o, nil)
	if err := r.Drive(j); err != nil {
		t.Fatal(err)
	}
	return j.Result(), d
}

func TestDecodeNotesEveryFrame(t *testing.T) {
	t.Parallel()
	got, d := decoded(t, made(t, "a.mp4", testAV), DecodeOptions{Pictures: true, Loudness: true, Head: true})
	if !got.Finished || got.Errors.Lines != 0 || len(got.Streams) != 2 {
		t.Fatalf("%+v", got)
	}
	v, _ := got.Stream(d.FirstVideo().Index)
	want := DecodedStream{TimeBase: Rational{1, 12800}, Frames: 100, Last: 99 * 512, End: 100 * 512, Longest: 512, Step: 512}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
	a, _ := got.Stream(1)
	if a.First != 0 || a.Samples < 4*48000 || a.Samples >= 4*48000+1024 || !a.Sounding || a.End != Ticks(a.Samples) || a.Step != 1024 {
		t.Errorf("%+v", a)
	}
	if p := got.Pictures; p == nil || p.Black || p.Frozen || p.Compared != 100 {
		t.Errorf("%+v", p)
	}
	if l := got.Loudness; l == nil || l.Integrated == nil || *l.Integrated < -23 || *l.Integrated > -20 {
		t.Errorf("%+v", l)
	}
	if got.IndexFirst == nil || *got.IndexFirst {
		t.Error("the index of a plain MP4 comes last")
	}
}

// Times are those of the file: a stream that starts late, uneven frames, three tracks.
func TestDecodeOfCases(t *testing.T) {
	t.Parallel()
	dir := testenv.Cases(t)
	got, d := decoded(t, filepath.Join(dir, "b02_vfr.mp4"), DecodeOptions{})
	v, _ := got.Stream(d.FirstVideo().Index)
	if s := (v.End - v.First).Micros(v.TimeBase); s < 5_900_000 || s > 6_100_000 || v.Longest.Micros(v.TimeBase) != 40_000 {
		t.Errorf("uneven frames: %+v", v)
	}
	got, d = decoded(t, filepath.Join(dir, "b33_avoffset.mp4"), DecodeOptions{})
	v, _ = got.Stream(d.FirstVideo().Index)
	a, _ := got.Stream(d.AudioStreams()[0].Index)
	if late := a.First.Micros(a.TimeBase) - v.First.Micros(v.TimeBase); late < 670_000 || late > 710_000 {
		t.Errorf("sound that starts 0.7 s late starts at %v", late)
	}
	got, _ = decoded(t, filepath.Join(dir, "b23_multi.mp4"), DecodeOptions{})
	sounding := ""
	for _, s := range got.Streams[1:] {
		sounding += map[bool]string{true: "+", false: "-"}[s.Sounding]
	}
	if sounding != "+-+" {
		t.Errorf("tracks that sound: %s", sounding)
	}
}

func TestDecodeCountsCues(t *testing.T) {
	t.Parallel()
	srt := filepath.Join(t.TempDir(), "a.srt")
	text := "1\n00:00:00,500 --> 00:00:01,000\nOne\n\n2\n00:00:02,000 --> 00:00:03,000\nTwo\n"
	if err := os.WriteFile(srt, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct{ name, args string }{
		{"a.mp4", strings.Replace(testAV, "-c:v", "-i IN0 -c:s mov_text -c:v", 1)}, {"a.mkv", strings.Replace(testAV, "-c:v", "-i IN0 -c:s srt -c:v", 1)},
	} {
		got, d := decoded(t, made(t, f.name, f.args, srt), DecodeOptions{Cues: true})
		s, ok := got.Stream(d.SubtitleStreams()[0].Index)
		if !ok || s.Frames != 2 || got.Errors.Lines != 0 {
			t.Errorf("%s: %+v %+v", f.name, s, got.Errors)
		}
	}
}

// A sound at −66 dBFS is silence, one at −54 dBFS is not.
func TestDecodeKnowsSilence(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{"sine=d=1,volume=-48dB": false, "sine=d=1,volume=-36dB": true, "anullsrc=d=1": false} {
		got, _ := decoded(t, made(t, "a.wav", "-f lavfi -i "+args+" -c:a pcm_s24le OUT"), DecodeOptions{})
		if got.Streams[0].Sounding != want {
			t.Errorf("%s: sounding %v", args, !want)
		}
	}
}

func box(kind string, n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+n))
	return append(append(b, kind...), make([]byte, n)...)
}

func TestIndexFirst(t *testing.T) {
	t.Parallel()
	wide := append([]byte{0, 0, 0, 1}, "free\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00"...)
	for name, c := range map[string]struct {
		head      []byte
		first, ok bool
	}{
		"first":      {slicesOf(box("ftyp", 16), box("free", 100), box("moov", 4)), true, true},
		"last":       {slicesOf(box("ftyp", 16), box("free", 0), box("mdat", 1000)), false, true},
		"large size": {slicesOf(box("ftyp", 16), wide, box("moov", 0)), true, true},
		"beyond":     {box("free", 100)[:50], false, false},
		"empty":      {nil, false, false},
		"zero size":  {[]byte("\x00\x00\x00\x00free"), false, false},
	} {
		if first, ok := IndexFirst(c.head); first != c.first || ok != c.ok {
			t.Errorf("%s: %v %v", name, first, ok)
		}
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Whatever boxes stand before: the first of moov and mdat decides.
func TestIndexFirstIsTheFirstBox(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"ftyp", "free", "wide", "uuid", "moov", "mdat"}), 0, 12).Draw(t, "boxes")
		var head []byte
		want, known := false, false
		for _, k := range kinds {
			head = append(head, box(k, rapid.IntRange(0, 60).Draw(t, "size"))...)
			if !known && (k == "moov" || k == "mdat") {
				want, known = k == "moov", true
			}
		}
		if first, ok := IndexFirst(head); first != want || ok != known {
			t.Fatalf("%v: %v %v", kinds, first, ok)
		}
	})
}

func FuzzReadTimes(f *testing.F) {
	f.Add([]byte("#tb 0: 1/48000\n0, 0, 0, 1024, 2048, 0x26abd23b\n0, 1024, 1024, 1024, 2048, 0x00000000\n"))
	f.Add([]byte("#tb 0: 0/0\n0, 9223372036854775807, 9223372036854775807, -1, 0, 0x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readTimes(bytes.NewReader(b), &Stream{Audio: &AudioFacts{SampleRate: 48000, Channels: 1}})
		s := v.(DecodedStream)
		if err != nil || s.Frames < 0 || s.Samples < 0 || s.Frames > 0 && (s.End < s.Last || s.Last < s.First || s.Longest < 0) {
			t.Errorf("%+v %v", s, err)
		}
		_ = s.End.Micros(s.TimeBase)
		IndexFirst(b)
	})
}

func TestEveryContent(t *testing.T) {
	t.Parallel()
	for length, want := range map[cutroom.Micros]cutroom.Micros{cutroom.Second: 1, 60 * cutroom.Second: 200_000, 7200 * cutroom.Second: cutroom.Second} {
		if got := (&Document{DurationSeconds: length}).everyContent(); got != want {
			t.Errorf("%v: every %v", length, got)
		}
	}
}
