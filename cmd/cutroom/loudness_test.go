package main

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
)

var notJSON = regexp.MustCompile(`(?i):[-+"]*(inf|nan)`)

// target is the loudness that most platforms ask for.
var target = measure.LoudnessTarget{LUFS: -14, TP: -1}

// Shows: speech, music and pulses come to the target, by a second measurement; the picture
// is copied, the rate is the source's (case 49).
func TestLoudnessOfRealSound(t *testing.T) {
	t.Parallel()
	real := testenv.Real(t)
	for _, c := range []struct {
		file string
		lufs float64
	}{{"jfk.wav", -14}, {"two_cities_16k.wav", -16}, {"viper.mp3", -14}, {"viper.mp3", -23}, {"chaplin.mp4", -14}, {"example.mp4", -16}} {
		t.Run(fmt.Sprintf("%s at %g", c.file, c.lufs), func(t *testing.T) {
			t.Parallel()
			w := open(t, "")
			in := w.copy(filepath.Join(real, c.file), c.file)
			before := describe(w, in)
			r := must[measure.LoudnessApplyOutput](w, "measure.loudness_apply", measure.LoudnessApplyInput{Input: cutroom.InPath(in), LoudnessTarget: measure.LoudnessTarget{LUFS: c.lufs, TP: -1}})
			got := must[measure.LoudnessOutput](w, "measure.loudness", measure.LoudnessInput{Input: cutroom.InPath(*r.File), LoudnessTarget: target}).Measured
			t.Logf("%.2f → %.2f LUFS, %.2f dBTP: %s", *r.Measured.Integrated, *got.Integrated, *got.TruePeak, r.Result.Note)
			if math.Abs(*got.Integrated-c.lufs) > 0.5 || *got.TruePeak > -0.95 {
				t.Errorf("%+v", got)
			}
			if a, b := before.AudioStreams()[0].Audio, r.Probe.AudioStreams()[0].Audio; a.SampleRate != b.SampleRate || a.Channels != b.Channels {
				t.Errorf("%+v became %+v", a, b)
			}
			if v := before.FirstVideo(); v != nil && !slices.Equal(pictureOnly(w.frameHashes(in)), pictureOnly(w.frameHashes(*r.File))) {
				t.Error("the picture changed")
			}
			if !slices.ContainsFunc(r.Verified, func(v cutroom.Verified) bool { return v.Check == "true_peak" && v.OK }) {
				t.Errorf("%+v", r.Verified)
			}
		})
	}
}

// Cases 46, 48, 28: silence, 0.2 s and clipped sound are results of their own, and no
// answer holds what JSON cannot.
func TestLoudnessOfOddSound(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	for _, file := range []string{"b27_silence.wav", "b28_short.wav", "b28_clip.wav"} {
		in := cutroom.InPath(w.copy(filepath.Join(cases, file), file))
		reply, err := w.call("measure.loudness", measure.LoudnessInput{Input: in, LoudnessTarget: target})
		if err != nil {
			t.Fatal(err)
		}
		if notJSON.Match(reply.JSON) {
			t.Errorf("%s", reply.JSON)
		}
		m := must[measure.LoudnessOutput](w, "measure.loudness", measure.LoudnessInput{Input: in, LoudnessTarget: target}).Measured
		r := must[measure.LoudnessApplyOutput](w, "measure.loudness_apply", measure.LoudnessApplyInput{Input: in, LoudnessTarget: target})
		switch file {
		case "b27_silence.wav":
			if !m.Silent || m.Integrated != nil || m.TooShort || r.Result != nil || !strings.Contains(strings.Join(r.Notes, " "), "silent") {
				t.Errorf("%+v %+v", m, r)
			}
		case "b28_short.wav":
			if m.Silent || !m.TooShort || m.Integrated != nil || m.TruePeak == nil || r.Result != nil {
				t.Errorf("%+v %+v", m, r)
			}
		case "b28_clip.wav":
			if !m.Clipped || *m.Integrated < -4 || r.Result == nil || math.Abs(*r.Result.Integrated+14) > 0.5 || !strings.Contains(strings.Join(r.Notes, " "), "clipped") {
				t.Errorf("%+v %+v", m, r)
			}
		}
	}
	mute := w.copy(filepath.Join(cases, "b06_noaudio.mp4"), "mute.mp4")
	e := w.fails("measure.loudness_apply", measure.LoudnessApplyInput{Input: cutroom.InPath(mute), LoudnessTarget: target}, cutroom.Invalid)
	if e.Hint == "" {
		t.Errorf("%v", e)
	}
}

// Case 30: all tracks stay, and only the one that was named is changed. Case 32: six
// channels stay six.
func TestLoudnessOfOneTrack(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	in := cutroom.InPath(w.copy(filepath.Join(cases, "b23_multi.mp4"), "multi.mp4"))
	m := must[measure.LoudnessOutput](w, "measure.loudness", measure.LoudnessInput{Input: in, LoudnessTarget: target})
	if len(m.Streams) != 3 || !m.Streams[1].Silent || m.Streams[2].Integrated == nil {
		t.Errorf("%+v", m.Streams)
	}
	r := must[measure.LoudnessApplyOutput](w, "measure.loudness_apply", measure.LoudnessApplyInput{Input: in, AudioStream: 2, LoudnessTarget: target})
	after := must[measure.LoudnessOutput](w, "measure.loudness", measure.LoudnessInput{Input: cutroom.InPath(*r.File), LoudnessTarget: target})
	if len(after.Streams) != 3 || math.Abs(*after.Streams[2].Integrated+14) > 0.5 || math.Abs(*after.Streams[0].Integrated-*m.Streams[0].Integrated) > 0.3 {
		t.Errorf("%+v", after.Streams)
	}
	if a := r.Probe.AudioStreams(); a[0].Language != "eng" || a[1].Language != "spa" {
		t.Errorf("%+v", a)
	}
	surround := cutroom.InPath(w.copy(filepath.Join(cases, "b11_51.m4a"), "51.m4a"))
	s := must[measure.LoudnessApplyOutput](w, "measure.loudness_apply", measure.LoudnessApplyInput{Input: surround, LoudnessTarget: target})
	if a := s.Probe.AudioStreams()[0].Audio; a.Channels != 6 || math.Abs(*s.Result.Integrated+14) > 0.5 {
		t.Errorf("%+v %+v", a, s.Result)
	}
}

// A target that the peaks do not allow is refused with the loudness that they do; a bit
// rate at which the encoder overshoots is made up for.
func TestLoudnessLimits(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.0005),0.9,0)':s=48000:d=8", filepath.Join(w.dir, "clicks.wav"))
	e := w.fails("measure.loudness_apply", measure.LoudnessApplyInput{Input: "clicks.wav", LoudnessTarget: target}, cutroom.Precondition)
	if !strings.Contains(e.Msg, "gets no louder than") || !strings.Contains(e.Hint, "LUFS") {
		t.Errorf("%v", e)
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "anoisesrc=d=12:c=white:r=48000:a=0.9:seed=3,volume='if(lt(mod(t,0.5),0.06),1,0.02)':eval=frame,aformat=channel_layouts=stereo", filepath.Join(w.dir, "hits.wav"))
	for _, suffix := range []string{"mp3", "m4a", "ogg"} {
		r := must[measure.LoudnessApplyOutput](w, "measure.loudness_apply", measure.LoudnessApplyInput{
			Input: "hits.wav", Writing: tool.Writing{Output: cutroom.OutPath("hits." + suffix)}, LoudnessTarget: target,
		})
		t.Logf("%s: %.2f LUFS, %.2f dBTP; %s", suffix, *r.Result.Integrated, *r.Result.TruePeak, r.Result.Note)
		if math.Abs(*r.Result.Integrated+14) > 0.5 || *r.Result.TruePeak > -0.95 {
			t.Errorf("%s: %+v", suffix, r.Result)
		}
	}
}
