package main

import (
	"fmt"
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

// Cases 27 and 35: clips of another size, rate and sound, one without sound: right
// lengths, right frames, sound where it belongs.
func TestJoinMismatched(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	clip := func(name string) cutroom.InPath { return cutroom.InPath(w.copy(filepath.Join(cases, name), name)) }
	base, mute, other, portrait := clip("base.mp4"), clip("b06_noaudio.mp4"), clip("b25_other.mp4"), clip("b25_portrait_silent.mp4")
	for i, c := range []struct {
		in      edit.JoinInput
		seconds float64
		size    string
	}{
		{edit.JoinInput{Inputs: []cutroom.InPath{base, other}, Transition: "none"}, 6, "320x240"},
		{edit.JoinInput{Inputs: []cutroom.InPath{mute, base, portrait, other}, Transition: "wipeleft", Width: 640}, 10.5, "640x480"},
		{edit.JoinInput{Inputs: []cutroom.InPath{other, base}, Transition: "fade", Duration: cutroom.Second / 4, Fit: "crop"}, 5.75, "640x360"},
		{edit.JoinInput{Inputs: []cutroom.InPath{base, base}, FPS: 29.97, Transition: "fadeblack", Writing: tool.Writing{Output: "x.mkv"}}, 7.5, "320x240"},
	} {
		if c.in.Output == "" {
			c.in.Output = cutroom.OutPath(fmt.Sprintf("out%d.mp4", i))
		}
		r := must[edit.JoinOutput](w, "edit.join", c.in)
		d := describe(w, *r.File)
		if got := r.Expected.Seconds(); math.Abs(got-c.seconds) > 0.021*float64(len(c.in.Inputs)-1) || size(d) != c.size || r.Mode != "video" || r.Clips != len(c.in.Inputs) {
			t.Errorf("%v: %v s of %s, %+v", c.in.Inputs, got, size(d), r.Notes)
		}
		if sound := float64(len(w.decoded(*r.File))) / 48000; math.Abs(sound-r.Expected.Seconds()) > 0.03 {
			t.Errorf("%v: the sound lasts %v s", c.in.Inputs, sound)
		}
		if m := r.EditMap; m == nil || len(m.Segments) != len(c.in.Inputs) {
			t.Errorf("%v: %+v", c.in.Inputs, m)
		}
	}
	sound := w.decoded("out1.mp4") // silence, 0.5 s of fade, the tone
	if quiet, loud := level(sound, 0, 3.4), level(sound, 4.2, 6.9); quiet > -60 || loud < -30 {
		t.Errorf("%.1f dBFS where there is none, %.1f where there is sound", quiet, loud)
	}
}

// Case 28: audio files with cover art are audio, and join to the sample.
func TestJoinAudio(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	a, b := w.tone("a.wav", "0.5*sin(2*PI*500*t)", "1"), w.tone("b.wav", "0.25*sin(2*PI*900*t)", "2")
	r := must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: []cutroom.InPath{a, b}, Transition: "none"})
	sound := w.decoded(*r.File)
	if r.Mode != "audio" || *r.File != "a_joined.wav" || len(sound) != 3*48000 {
		t.Errorf("%s: %d samples", *r.File, len(sound))
	}
	if one, two := level(sound, 0.1, 0.9), level(sound, 1.1, 2.9); math.Abs(one+6) > 0.2 || math.Abs(two+12) > 0.2 {
		t.Errorf("%.1f dBFS, then %.1f", one, two)
	}
	cover := cutroom.InPath(w.copy(filepath.Join(cases, "b08_cover.mp3"), "cover.mp3"))
	r = must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: []cutroom.InPath{cover, a}, Transition: "fade", Duration: cutroom.Second / 4})
	if d := describe(w, *r.File); r.Mode != "audio" || d.FirstVideo() != nil || math.Abs(r.Expected.Seconds()-3.75) > 0.05 {
		t.Errorf("%s lasts %v s", *r.File, r.Expected)
	}
}

func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	video := cutroom.InPath(w.copy(filepath.Join(cases, "base.mp4"), "base.mp4"))
	quiet, short := w.tone("quiet.wav", "0", "2"), w.tone("short.wav", "0.5*sin(2*PI*500*t)", "0.6")
	tone := w.tone("tone.wav", "0.5*sin(2*PI*500*t)", "2")
	for want, c := range map[string]edit.JoinInput{
		"two inputs or more|at least 2": {Inputs: []cutroom.InPath{video}},
		"audio among videos":            {Inputs: []cutroom.InPath{video, tone}},
		"short.wav lasts 0.6 s":         {Inputs: []cutroom.InPath{tone, short}, Transition: "fade"},
		"silent: quiet.wav":             {Inputs: []cutroom.InPath{tone, quiet}, OnSilent: "fail"},
		"without fit pad":               {Inputs: []cutroom.InPath{video, video}, Fit: "crop", PadColor: "red"},
		"holds no video":                {Inputs: []cutroom.InPath{video, video}, Writing: tool.Writing{Output: "x.mp3"}},
	} {
		e := w.fails("edit.join", c, cutroom.Invalid)
		if !slices.ContainsFunc(strings.Split(want, "|"), func(s string) bool { return strings.Contains(e.Error(), s) }) {
			t.Errorf("%v, want %s", e, want)
		}
	}
	r := must[edit.JoinOutput](w, "edit.join", edit.JoinInput{Inputs: []cutroom.InPath{tone, quiet}, OnSilent: "warn"})
	if !slices.Equal(r.Silent, []string{"quiet.wav"}) || r.Expected != 4_000_000 {
		t.Errorf("%+v", r)
	}
}

// A list names inputs from its own folder on; what is not there, or silent, is left out
// when that is asked for, and named.
func TestJoinLeavesOut(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	a, b, quiet := w.tone("a.wav", "0.5*sin(2*PI*500*t)", "0.5"), w.tone("b.wav", "0.25*sin(2*PI*900*t)", "0.5"), w.tone("quiet.wav", "0", "1")
	w.write("list.txt", "# in order\na.wav\n\ngone.wav\nquiet.wav\nb.wav\na.wav\n")
	in := edit.JoinInput{List: "list.txt", OnMissing: "skip", OnSilent: "skip", Channels: 6}
	r := must[edit.JoinOutput](w, "edit.join", in)
	if !slices.Equal(r.Skipped, []string{"gone.wav", "quiet.wav"}) || !slices.Equal(r.Silent, []string{"quiet.wav"}) || !slices.Equal(r.Duplicates, []string{"a.wav"}) ||
		r.Clips != 3 || r.Expected != 1_500_000 || *r.File != "a_joined.wav" || len(r.Notes) != 3 {
		t.Errorf("%+v", r)
	}
	if s := describe(w, *r.File).AudioStreams(); len(s) != 1 || s[0].Audio.Layout != "5.1" {
		t.Errorf("%+v", s)
	}
	in.OnMissing = ""
	if e := w.fails("edit.join", in, cutroom.NotFound); !strings.Contains(e.Error(), "gone.wav") {
		t.Error(e)
	}
	w.fails("edit.join", edit.JoinInput{Inputs: []cutroom.InPath{a, "gone.wav"}, OnMissing: "skip"}, cutroom.NotFound)
	w.fails("edit.join", edit.JoinInput{Inputs: []cutroom.InPath{a, quiet, quiet}, OnSilent: "skip", Writing: tool.Writing{Output: "x.wav"}}, cutroom.Invalid)
	w.fails("edit.join", edit.JoinInput{Inputs: []cutroom.InPath{a, b}, List: "list.txt"}, cutroom.Invalid)
}
