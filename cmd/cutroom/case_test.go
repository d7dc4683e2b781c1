package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"
)

func local(path string) cutroom.Source {
	return cutroom.Source{Kind: cutroom.LocalFile, Value: path}
}

func describe(w *workspace, file string) *ffmpeg.Document {
	w.t.Helper()
	return must[video.ProbeOutput](w, "video.probe", video.ProbeInput{Source: local(file), Detail: "full"}).Media
}

// expected is the right value of one input.
type expected struct {
	file     string
	code     cutroom.Code // of the failure; the rest does not count then
	kind     ffmpeg.Kind
	duration cutroom.Micros
	within   cutroom.Micros // 0 means 50 ms
	check    func(*testing.T, *ffmpeg.Document)
}

// realFiles are the files of models.md section 6 and of the recorded right values.
var realFiles = []expected{
	{file: "sample_fragmented.mp4", kind: ffmpeg.Video, duration: 1_068_000},
	{file: "100kB-garbage-prefix.mp3", kind: ffmpeg.Audio, duration: 1_070_000, check: codec("mp3")},
	{file: "loop_forever.avif", kind: ffmpeg.Video, duration: 1_000_000, check: frames(2)},
	{file: "no_duration.webm", kind: ffmpeg.Video, duration: 4_938_000, check: from(ffmpeg.FromPackets)},
	{file: "bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", kind: ffmpeg.Video, duration: 4_000_000},
	{file: "invalid-bitstream.webm", kind: ffmpeg.Video, duration: 2_040_000, within: 60_000, check: undecodable},
	{file: "-video-with-dash-.mp4", kind: ffmpeg.Video, duration: 5_000_000},
	{file: "sample_vvc.mp4", kind: ffmpeg.Video, duration: 5_000_000, within: 100_000, check: undecodable},
	{file: "large_stbl_truncated_after_moov.m4b", code: cutroom.UnreadableMedia},
	{file: "with-attached-pic.mp3", kind: ffmpeg.Audio, check: cover},
	{file: "bear_with_picture.flac", kind: ffmpeg.Audio, check: cover},
	{file: "sample_rotate_and_reflect.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if v := d.FirstVideo().Video; !v.Mirrored || v.RotationFrom != "display_matrix" {
			t.Errorf("%+v is not turned and mirrored", v)
		}
	}},
	{file: "internal_emulator_transformer_output_270_rotated.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		v := d.FirstVideo().Video
		if v.Rotation%180 != 90 || v.DisplayWidth != v.Height || v.DisplayHeight != v.Width {
			t.Errorf("display %dx%d of coded %dx%d turned by %d", v.DisplayWidth, v.DisplayHeight, v.Width, v.Height, v.Rotation)
		}
	}},
	{file: "hlg10-color-test.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if v := d.FirstVideo().Video; v.HDR != "hlg" || v.BitDepth != 10 {
			t.Errorf("HDR %q at %d bits", v.HDR, v.BitDepth)
		}
	}},
	{file: "sample_edit_list.mp4", kind: ffmpeg.Video, check: display(1080, 1920)},
	{file: "SAR-2by3.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		v := d.FirstVideo().Video
		if v.SAR != (ffmpeg.Rational{Num: 2, Den: 3}) || v.DisplayWidth != (v.Width*2+1)/3 {
			t.Errorf("SAR %s, display %d of %d", v.SAR, v.DisplayWidth, v.Width)
		}
	}},
	{file: "smpte-2997.mp4", kind: ffmpeg.Video},
	{file: "sample_shorter_audio.mp4", kind: ffmpeg.Video},
	{file: "sample_with_chapters.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if len(d.Chapters) == 0 {
			t.Error("no chapters")
		}
	}},
	{file: "dog.jpg", kind: ffmpeg.Image},
	{file: "typical_utf16le", code: cutroom.UnreadableMedia},
	{file: "with_tags", code: cutroom.UnreadableMedia},
}

// madeFiles are the built inputs, by row of the case list.
var madeFiles = []expected{
	{file: "b01_rot90.mp4", kind: ffmpeg.Video, duration: 4_000_000, check: display(240, 320)},
	{file: "b02_vfr.mp4", kind: ffmpeg.Video, duration: 6_000_000, check: vfr},
	{file: "b03_hlg.mp4", kind: ffmpeg.Video, check: hdr("hlg")},
	{file: "b04_pq.mp4", kind: ffmpeg.Video, check: hdr("pq")},
	{file: "b08_cover.mp3", kind: ffmpeg.Audio, duration: 3_000_000, within: 60_000, check: cover},
	{file: "b09_coverfirst.mp4", kind: ffmpeg.Video, check: cover},
	{file: "b10_late.ts", kind: ffmpeg.Video, duration: 4_000_000, within: 80_000},
	{file: "b18_empty.mp4", code: cutroom.UnreadableMedia},
	{file: "b18_text.mp4", code: cutroom.UnreadableMedia},
	{file: "b18_nomoov.mp4", code: cutroom.UnreadableMedia},
	{file: "b18_trunc_faststart.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if !d.Truncated {
			t.Errorf("a file without its last two thirds is said to be whole: %v", d.Problems)
		}
	}},
	{file: "b19_nodur.webm", kind: ffmpeg.Video, duration: 3_007_000, check: from(ffmpeg.FromPackets)},
	{file: "b20_alpha.webm", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if !d.FirstVideo().Video.Alpha {
			t.Error("the alpha channel is not seen")
		}
	}},
	{file: "b22_sar.mp4", kind: ffmpeg.Video, check: display(1024, 576)},
	{file: "b26.gif", kind: ffmpeg.Video, duration: 1_000_000},
	{file: "b26.png", kind: ffmpeg.Video, duration: 1_000_000},
	{file: "b33_avoffset.mp4", kind: ffmpeg.Video, check: func(t *testing.T, d *ffmpeg.Document) {
		if at := d.AudioStreams()[0].StartSeconds; at < 650_000 || at > 750_000 {
			t.Errorf("the sound starts at %s", at)
		}
	}},
}

func codec(name string) func(*testing.T, *ffmpeg.Document) {
	return func(t *testing.T, d *ffmpeg.Document) {
		if d.Streams[0].CodecName != name {
			t.Errorf("codec %s, not %s", d.Streams[0].CodecName, name)
		}
	}
}

func frames(n int64) func(*testing.T, *ffmpeg.Document) {
	return func(t *testing.T, d *ffmpeg.Document) {
		if got := d.FirstVideo().Frames; got != n {
			t.Errorf("%d frames, not %d", got, n)
		}
	}
}

func from(how ffmpeg.DurationFrom) func(*testing.T, *ffmpeg.Document) {
	return func(t *testing.T, d *ffmpeg.Document) {
		if d.DurationFrom != how {
			t.Errorf("the duration is from %s, not %s", d.DurationFrom, how)
		}
	}
}

func display(w, h int) func(*testing.T, *ffmpeg.Document) {
	return func(t *testing.T, d *ffmpeg.Document) {
		if v := d.FirstVideo().Video; v.DisplayWidth != w || v.DisplayHeight != h {
			t.Errorf("display %dx%d, not %dx%d", v.DisplayWidth, v.DisplayHeight, w, h)
		}
	}
}

func hdr(kind string) func(*testing.T, *ffmpeg.Document) {
	return func(t *testing.T, d *ffmpeg.Document) {
		if v := d.FirstVideo().Video; v.HDR != kind {
			t.Errorf("HDR %q, not %q", v.HDR, kind)
		}
	}
}

func undecodable(t *testing.T, d *ffmpeg.Document) {
	if d.FirstVideo().Decodable {
		t.Error("the picture is said to be decodable")
	}
}

func cover(t *testing.T, d *ffmpeg.Document) {
	if len(d.CoverArt) == 0 {
		t.Error("the cover art is not listed")
	}
	for _, s := range d.Streams {
		if s.AttachedPic {
			t.Error("the cover art is among the streams")
		}
	}
}

func vfr(t *testing.T, d *ffmpeg.Document) {
	if v := d.FirstVideo().Video.VFR; !v.Variable || v.Evidence == "" {
		t.Errorf("the rate is said to be constant: %+v", v)
	}
}

func TestProbeRealFiles(t *testing.T) { testProbe(t, testenv.Real(t), realFiles) }
func TestProbeMadeFiles(t *testing.T) { testProbe(t, testenv.Cases(t), madeFiles) }

func testProbe(t *testing.T, folder string, rows []expected) {
	w := open(t, "")
	for _, r := range rows {
		t.Run(r.file, func(t *testing.T) {
			w := &workspace{w.Installation, t, w.dir}
			name := w.copy(filepath.Join(folder, r.file), r.file)
			if r.code != "" {
				e := w.fails("video.probe", video.ProbeInput{Source: local(name)}, r.code)
				if e.Hint == "" {
					t.Errorf("%q has no next step", e.Msg)
				}
				return
			}
			d := describe(w, name)
			if d.Kind != r.kind {
				t.Errorf("kind %s, not %s", d.Kind, r.kind)
			}
			slack := r.within
			if slack == 0 {
				slack = 50_000
			}
			if diff := d.DurationSeconds - r.duration; r.duration > 0 && (diff > slack || diff < -slack) {
				t.Errorf("duration %s, not %s", d.DurationSeconds, r.duration)
			}
			if r.check != nil {
				r.check(t, d)
			}
		})
	}
}

// TestEveryInput takes each file there is through probe and a watch: a right
// result, a partial one with reasons, or a typed error with a cause and a next
// step; nothing hangs, and nothing is internal.
func TestEveryInput(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{testenv.Real(t), testenv.Cases(t)} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, "")
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			t.Run(e.Name(), func(t *testing.T) {
				t.Parallel()
				w := &workspace{w.Installation, t, w.dir}
				name := w.copy(filepath.Join(folder, e.Name()), e.Name())
				w.sound(name, "video.probe", video.ProbeInput{Source: local(name), Detail: "full"})
				modes := []media.Mode{media.Frames}
				if testenv.Soak() {
					modes = []media.Mode{media.Frames, media.Summary, media.Timeline, media.Automation, media.Transcript}
				}
				for _, m := range modes {
					w.sound(name, "media.watch", media.WatchInput{Source: local(name), Mode: m, MaxFrames: 2})
				}
			})
		}
	}
}

// sound makes a call that has to end well or say why not.
func (w *workspace) sound(name, id string, in any) {
	w.t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	r, err := w.Engine.Invoke(ctx, engine.Call{Tool: id, Input: raw, Principal: cutroom.Agent})
	if err != nil {
		e := cutroom.AsError(err)
		if e.Code == cutroom.Internal || e.Code == cutroom.Timeout || e.Hint == "" && e.Code != cutroom.Limit {
			w.t.Errorf("%s of %q: %s: %v (cause %v)", id, name, e.Code, e, e.Err)
		}
		return
	}
	w.conforms(id, r.JSON)
	var status struct {
		Status         cutroom.Status `json:"status"`
		PartialReasons []string       `json:"partial_reasons"`
	}
	if err := json.Unmarshal(r.JSON, &status); err != nil {
		w.t.Fatal(err)
	}
	if status.Status == cutroom.Partial && len(status.PartialReasons) == 0 {
		w.t.Errorf("%s of %q is partial for no reason", id, name)
	}
	for _, reason := range status.PartialReasons {
		if strings.Contains(reason, "internal fault") {
			w.t.Errorf("%s of %q: %s", id, name, reason)
		}
	}
}

// TestTruncatedIsSaid: what a program calls a success on a cut file is partial here.
func TestTruncatedIsSaid(t *testing.T) {
	t.Parallel()
	w, file := made(t, "b18_trunc_faststart.mp4")
	for id, in := range map[string]any{
		"video.probe":         video.ProbeInput{Source: local(file)},
		"video.extract_audio": video.ExtractAudioInput{Source: local(file)},
		"media.watch":         media.WatchInput{Source: local(file), Mode: media.Timeline},
	} {
		r, err := w.call(id, in)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if !strings.Contains(string(r.JSON), `"status":"partial"`) {
			t.Errorf("%s calls a cut file complete: %s", id, r.JSON)
		}
	}
}
