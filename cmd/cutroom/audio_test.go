package main

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// tone makes a WAV file of one sine in the workspace.
func (w *workspace) tone(name, expr string, seconds string) cutroom.InPath {
	w.t.Helper()
	testenv.FFmpeg(w.t, "-f", "lavfi", "-i", "aevalsrc='"+expr+"':s=48000:d="+seconds, filepath.Join(w.dir, name))
	return cutroom.InPath(name)
}

// decoded returns the first sound of a file of the workspace at 48 kHz, mixed to one
// channel, and the number of frames of its picture.
func (w *workspace) decoded(name string) (sound []float64) {
	w.t.Helper()
	out := testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "-")
	for i := 0; i+4 <= len(out); i += 4 {
		sound = append(sound, float64(math.Float32frombits(binary.LittleEndian.Uint32(out[i:]))))
	}
	return sound
}

// level is the largest sample between two times, in dBFS.
func level(sound []float64, from, to float64) float64 {
	most := 1e-9
	for _, v := range sound[min(len(sound), int(from*48000)):min(len(sound), int(to*48000))] {
		most = max(most, math.Abs(v))
	}
	return 20 * math.Log10(most)
}

// frameHashes is a digest of every decoded frame.
func (w *workspace) frameHashes(name string) string {
	w.t.Helper()
	return string(testenv.Run(w.t, w.dir, "ffmpeg", "-v", "error", "-nostdin", "-i", "file:"+name, "-map", "0:v:0", "-f", "framehash", "-hash", "crc32", "-"))
}

// pictureOnly is what of frameHashes does not depend on time bases.
func pictureOnly(hashes string) []string {
	var list []string
	for line := range strings.Lines(hashes) {
		if f := strings.Split(line, ","); !strings.HasPrefix(line, "#") && len(f) == 6 {
			list = append(list, strings.TrimSpace(f[5]))
		}
	}
	return list
}

// Case 23: a shorter replacement leaves the picture as long as it was, and copied.
func TestAudioPictureLengthWins(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	in := w.copy(filepath.Join(cases, "base.mp4"), "it's [a] 100%.mp4")
	voice := w.tone("voice.wav", "0.5*sin(2*PI*500*t)", "2")
	r := must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: cutroom.InPath(in), Replace: voice})
	if r.Video != "copied" || r.File == nil || *r.File != "it's [a] 100%_audio.mp4" {
		t.Errorf("%+v", r)
	}
	before, after := pictureOnly(w.frameHashes(in)), pictureOnly(w.frameHashes(*r.File))
	if len(before) < 50 || !slices.Equal(before, after) {
		t.Errorf("the picture changed: %d frames, %d after", len(before), len(after))
	}
	sound := w.decoded(*r.File)
	if n := float64(len(sound)) / 48000; math.Abs(n-4) > 0.03 {
		t.Errorf("the sound lasts %.3f s", n)
	}
	if got := level(sound, 0.2, 1.9); math.Abs(got+6) > 1 {
		t.Errorf("the replacement has %.1f dBFS", got)
	}
	if got := level(sound, 2.1, 3.9); got > -60 {
		t.Errorf("behind it there are %.1f dBFS", got)
	}
}

// Cases 27, 30: no sound is an error with a way out, and work on one track leaves the
// others alone.
func TestAudioTracks(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	mute := cutroom.InPath(w.copy(filepath.Join(cases, "b06_noaudio.mp4"), "mute.mp4"))
	e := w.fails("edit.audio", edit.AudioInput{Input: mute, Gain: ptr(3.0)}, cutroom.Invalid)
	if !strings.Contains(e.Msg, "no audio stream") || e.Hint == "" {
		t.Errorf("%v", e)
	}
	music := w.tone("music.wav", "0.25*sin(2*PI*880*t)", "1")
	r := must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: mute, Replace: music})
	if got := level(w.decoded(*r.File), 0.1, 0.9); math.Abs(got+12) > 1 {
		t.Errorf("sound was added with %.1f dBFS", got)
	}
	multi := cutroom.InPath(w.copy(filepath.Join(cases, "b23_multi.mp4"), "multi.mp4"))
	r = must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: multi, Gain: ptr(-6.0), AudioStream: 1})
	if tracks := describe(w, *r.File).AudioStreams(); len(tracks) != 3 {
		t.Errorf("%d tracks are left", len(tracks))
	}
	r = must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: multi, AudioStream: 0, Writing: tool.Writing{Output: "multi.mp3"}})
	if d := describe(w, *r.File); r.Video != "left out" || d.FirstVideo() != nil || len(d.AudioStreams()) != 1 || len(r.Dropped) < 3 {
		t.Errorf("%s, %v, %+v", r.Video, r.Dropped, d)
	}
}

// Case 32: speech in the centre of surround sound survives every mix.
func TestAudioCentre(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "b11_51.m4a"), "centre.m4a"))
	for name, call := range map[string]edit.AudioInput{
		"stereo.wav": {Input: in, Stereo: true}, "mono.flac": {Input: in, Mono: true}, "down.m4a": {Input: in, Downmix: true}, "kept.m4a": {Input: in, Gain: ptr(0.0)},
	} {
		call.Output = cutroom.OutPath(name)
		must[edit.AudioOutput](w, "edit.audio", call)
		want := map[string]int{"stereo.wav": 2, "mono.flac": 1, "down.m4a": 2, "kept.m4a": 6}[name]
		if a := describe(w, name).AudioStreams()[0].Audio; a.Channels != want {
			t.Errorf("%s: %d channels", name, a.Channels)
		}
		if got := level(w.decoded(name), 0, 2); got < -45 {
			t.Errorf("%s: the centre is gone: %.1f dBFS", name, got)
		}
	}
}

func TestAudioRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := cutroom.InPath(w.copy(filepath.Join(testenv.Cases(t), "base.mp4"), "base.mp4"))
	quiet := w.tone("quiet.wav", "0", "1")
	for name, call := range map[string]edit.AudioInput{
		"duck_amount is given without duck":    {Input: in, DuckAmount: ptr(6.0)},
		"duck is given without music":          {Input: in, Duck: true},
		"limit_ceiling is given without limit": {Input: in, LimitCeiling: ptr(0.0)},
		"music_loop is given without music":    {Input: in, MusicLoop: true},
		"exclude each other":                   {Input: in, Stereo: true, Mono: true},
		"cannot be written":                    {Input: in, Writing: tool.Writing{Output: "x.xyz"}},
		"there is no audio stream 4":           {Input: in, AudioStream: 4},
		"silent: quiet.wav":                    {Input: in, Music: quiet, OnSilent: "fail"},
	} {
		if e := w.fails("edit.audio", call, cutroom.Invalid); !strings.Contains(e.Error(), name) {
			t.Errorf("%s: %v", name, e)
		}
	}
	r := must[edit.AudioOutput](w, "edit.audio", edit.AudioInput{Input: in, Music: quiet})
	if !slices.Equal(r.Silent, []string{"quiet.wav"}) {
		t.Errorf("%+v", r.Silent)
	}
}

func ptr[T any](v T) *T { return &v }
