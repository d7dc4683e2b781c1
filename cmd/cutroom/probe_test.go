package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/measure"
)

func probe(w *workspace, files ...cutroom.InPath) *measure.ProbeOutput {
	w.t.Helper()
	return must[measure.ProbeOutput](w, "measure.probe", measure.ProbeInput{Inputs: files})
}

// What measure.probe says agrees with the description that the right values are
// tested on, for every real and made file, and in what ffprobe states plainly with
// ffprobe itself.
func TestProbeOfEveryFile(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, dir := range []string{testenv.Real(t), testenv.Cases(t)} {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, list...)
	}
	w := open(t, "")
	seen := 0
	for _, path := range paths {
		name := w.link(path, filepath.Base(path))
		r, err := w.call("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{cutroom.InPath(name)}})
		if err != nil {
			continue // what cannot be read is tested by its code elsewhere
		}
		seen++
		d, out := describe(w, name), r.Output.(*measure.ProbeOutput)
		p := out.Files[0]
		if len(r.JSON) > 8000 {
			t.Errorf("%s: %d bytes of answer", name, len(r.JSON))
		}
		if p.Kind != string(d.Kind) || p.Size != d.SizeBytes || p.Duration != nil && *p.Duration != d.DurationSeconds {
			t.Errorf("%s: %+v", name, p)
		}
		if len(p.Video)+len(p.Audio)+len(p.Other) != len(d.Streams)+len(d.CoverArt) {
			t.Errorf("%s: %d streams are described, of %d", name, len(p.Video)+len(p.Audio)+len(p.Other), len(d.Streams)+len(d.CoverArt))
		}
		if main := d.FirstVideo(); main != nil && (p.Video[0].Index != main.Index || p.Video[0].Width != main.Video.DisplayWidth || p.Video[0].Height != main.Video.DisplayHeight) {
			t.Errorf("%s: the main picture is %+v", name, p.Video[0])
		}
		agrees(t, path, p)
	}
	if seen < 60 {
		t.Errorf("only %d files could be described", seen)
	}
}

// agrees compares what the program itself prints for each stream.
func agrees(t *testing.T, path string, p measure.ProbedFile) {
	t.Helper()
	raw, err := exec.Command("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", "file:"+path).Output()
	var plain struct {
		Format struct {
			Name string `json:"format_name"`
		}
		Streams []struct {
			Index      int
			Codec      string `json:"codec_name"`
			Type       string `json:"codec_type"`
			SampleRate string `json:"sample_rate"`
			Channels   int
			PixFmt     string `json:"pix_fmt"`
		}
	}
	if err != nil || json.Unmarshal(raw, &plain) != nil || plain.Format.Name != p.Format {
		return // a file for which ffprobe by itself chooses another demuxer, or none
	}
	for _, s := range plain.Streams {
		if i := slices.IndexFunc(p.Video, func(v measure.ProbedVideo) bool { return v.Index == s.Index }); i >= 0 {
			if v := p.Video[i]; v.Codec != s.Codec && s.Codec != "" || v.PixelFormat != s.PixFmt && s.PixFmt != "" {
				t.Errorf("%s: stream %d is %s %s, ffprobe says %s %s", p.File, s.Index, v.Codec, v.PixelFormat, s.Codec, s.PixFmt)
			}
		}
		if i := slices.IndexFunc(p.Audio, func(a measure.ProbedAudio) bool { return a.Index == s.Index }); i >= 0 {
			if a := p.Audio[i]; a.Codec != s.Codec || a.Channels != s.Channels {
				t.Errorf("%s: stream %d is %s of %d channels, ffprobe says %s of %d", p.File, s.Index, a.Codec, a.Channels, s.Codec, s.Channels)
			}
		}
	}
}

func TestProbeRightValues(t *testing.T) {
	t.Parallel()
	rows := []struct {
		file  string
		right func(measure.ProbedFile) bool
	}{
		{"sample_edit_list.mp4", func(p measure.ProbedFile) bool {
			v := p.Video[0]
			return v.Width == 1080 && v.Height == 1920 && slices.Equal(v.Coded, []int{1920, 1080}) && v.HDR == "hlg" && v.BitDepth == 10 && v.Codec == "hevc" && v.DolbyVision > 0
		}},
		{"SAR-2by3.mp4", func(p measure.ProbedFile) bool { return p.Video[0].SAR == ffmpeg.Rational{Num: 2, Den: 3} }},
		{"sample_rotate_and_reflect.mp4", func(p measure.ProbedFile) bool { return p.Video[0].Mirrored }},
		{"with-attached-pic.mp3", func(p measure.ProbedFile) bool {
			return p.Kind == "audio" && len(p.Video) == 0 && len(p.Audio) == 1 && p.Audio[0].Codec == "mp3" && p.Other[0].Type == "cover_art"
		}},
		{"sample_with_chapters.mp4", func(p measure.ProbedFile) bool { return len(p.Chapters) > 0 }},
		{"sample_with_srt.mkv", func(p measure.ProbedFile) bool {
			return slices.ContainsFunc(p.Other, func(s measure.ProbedStream) bool { return s.Type == "subtitle" && s.Text != nil && *s.Text })
		}},
		{"sample_vvc.mp4", func(p measure.ProbedFile) bool { return p.Video[0].Decodes != nil && !*p.Video[0].Decodes }},
		{"bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", func(p measure.ProbedFile) bool {
			return *p.Duration == 4*cutroom.Second && p.Zero == 10*cutroom.Second
		}},
		{"no_duration.webm", func(p measure.ProbedFile) bool { return *p.Duration == 4_938_000 && p.From == "packets" }},
		{"dog.jpg", func(p measure.ProbedFile) bool { return p.Kind == "image" && p.Video[0].Still && p.Duration == nil }},
		{"jfk.wav", func(p measure.ProbedFile) bool {
			return p.Audio[0].SampleRate == 16000 && p.Audio[0].Channels == 1 && *p.Duration == 11*cutroom.Second
		}},
	}
	for _, r := range rows {
		w, file := real(t, r.file)
		if p := probe(w, cutroom.InPath(file)).Files[0]; !r.right(p) {
			raw, _ := json.Marshal(p)
			t.Errorf("%s: %s", r.file, raw)
		}
	}
}

func TestProbeNamesEveryBadInput(t *testing.T) {
	t.Parallel()
	w, good := real(t, "jfk.wav")
	for name, text := range map[string]string{"text.mp4": "this is no video", "empty.mov": ""} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := w.fails("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"gone.mp4", cutroom.InPath(good), "lost.mov"}}, cutroom.NotFound)
	if !strings.Contains(e.Msg, "gone.mp4") || !strings.Contains(e.Msg, "lost.mov") || strings.Contains(e.Msg, good) {
		t.Errorf("got %q", e.Msg)
	}
	e = w.fails("measure.probe", measure.ProbeInput{Inputs: []cutroom.InPath{"text.mp4", cutroom.InPath(good), "empty.mov"}}, cutroom.UnreadableMedia)
	if !strings.Contains(e.Msg, "text.mp4") || !strings.Contains(e.Msg, "empty.mov") {
		t.Errorf("got %q", e.Msg)
	}
	if n := len(probe(w, cutroom.InPath(good), cutroom.InPath(good)).Files); n != 2 {
		t.Errorf("the same file twice gives %d descriptions", n)
	}
}
