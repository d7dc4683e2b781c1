package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
)

// quiet are the options of a call with their defaults.
func quiet(change ...func(*measure.QuietOptions)) measure.QuietOptions {
	o := measure.QuietOptions{Threshold: -35, MinSilence: 600_000, Margin: 150_000, MinKeep: 200_000, FillerLang: "auto", FillerPad: 20_000, MaxCuts: 400}
	for _, c := range change {
		c(&o)
	}
	return o
}

// framePTS are the presentation times of the frames of a file, decoded.
func (w *workspace) framePTS(name string) []float64 {
	w.t.Helper()
	var list []float64
	for line := range strings.Lines(string(testenv.Run(w.t, w.dir, "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of", "csv=p=0", name))) {
		text, _, _ := strings.Cut(strings.TrimSpace(line), ",")
		if text == "" { // side data
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// planned counts the frames whose times lie in the parts that stay: a frame belongs to a
// part when it begins in it, to within half a tick.
func planned(pts []float64, keep [][]cutroom.Micros) (n int, index []int) {
	for i, t := range pts {
		for _, k := range keep {
			if t >= k[0].Seconds()-0.0005-1e-6 && t < k[1].Seconds()-0.0005-1e-6 {
				n++
				index = append(index, i)
			}
		}
	}
	return n, index
}

// Case 16: silences of a file with one key frame are cut out by encoding, and exactly the
// planned frames decode.
func TestSilenceOnSparseKeyFrames(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	in := w.copy(filepath.Join(testenv.Cases(t), "b34_sparsekf.mkv"), "talk.mkv")
	found := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: cutroom.InPath(in), QuietOptions: quiet()})
	if len(found.Found) != 5 || found.Hint != "" {
		t.Fatalf("%+v", found.Silences)
	}
	for i, s := range found.Found {
		if a := s[0].Seconds(); math.Abs(a-float64(6*i+3)) > 0.05 || math.Abs(s[1].Seconds()-float64(6*i+6)) > 0.05 {
			t.Errorf("silence %d is %v", i, s)
		}
	}
	r := must[measure.SilenceApplyOutput](w, "measure.silence_apply", measure.SilenceApplyInput{Input: cutroom.InPath(in), EDL: "keep.txt", QuietOptions: quiet()})
	if r.File == nil || *r.File != "talk_tight.mkv" || r.EditMap == nil {
		t.Fatalf("%+v", r.Made)
	}
	before := w.framePTS(in)
	want, index := planned(before, found.Keep)
	after := w.framePTS(*r.File)
	if want < 380 || len(after) != want {
		t.Errorf("%d frames decode, %d were planned", len(after), want)
	}
	for i, t := range after {
		if at := r.EditMap.Segments; len(at) != len(found.Keep) {
			w.t.Fatalf("%d segments of %d parts", len(at), len(found.Keep))
		}
		_, source, ok := r.EditMap.ToSource(cutroom.MicrosOf(t) + 2000)
		if !ok || math.Abs(source.Seconds()-0.002-before[index[i]]) > 0.021 {
			w.t.Fatalf("frame %d at %.3f s shows %s of the source, not %.3f", i, t, source, before[index[i]])
		}
	}
	list, err := os.ReadFile(filepath.Join(w.dir, "keep.txt"))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := edl.ParseCuts(string(list), nil)
	if err != nil || len(parts) != len(found.Keep) || parts[0].Start != found.Keep[0][0] || parts[4].End != found.Keep[4][1] {
		t.Errorf("%v %v, not %v", err, parts, found.Keep)
	}
	sound := w.decoded(*r.File)
	if got := float64(len(sound)) / 48000; math.Abs(got-r.Kept.Seconds()) > 0.05 {
		t.Errorf("%.3f s of sound, %s were kept", got, r.Kept)
	}
	again := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: cutroom.InPath(*r.File), QuietOptions: quiet()})
	if len(again.Found) != 0 || !strings.Contains(again.Hint, "threshold") && !strings.Contains(again.Hint, "throughout") {
		t.Errorf("what was tightened has silences: %+v", again.Silences)
	}
}

// Case 30: all tracks stay, cut alike, and the answer names the track that decided.
func TestSilenceTracks(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=6:s=160x120:r=25", "-f", "lavfi", "-i", "sine=f=880:d=6:r=48000", "-f", "lavfi", "-i", "sine=f=440:d=6:r=48000,volume='if(between(t,2,4),0,1)':eval=frame",
		"-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=spa", filepath.Join(w.dir, "game.mp4"))
	none := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: "game.mp4", QuietOptions: quiet()})
	if len(none.Found) != 0 || none.Track.Number != 0 || none.Track.Of != 2 || none.Hint == "" {
		t.Errorf("%+v", none.Silences)
	}
	r := must[measure.SilenceApplyOutput](w, "measure.silence_apply", measure.SilenceApplyInput{
		Input: "game.mp4", Writing: tool.Writing{Output: "cut.mp4"}, QuietOptions: quiet(func(o *measure.QuietOptions) { o.AudioStream = 1 }),
	})
	if r.Track.Number != 1 || r.Track.Language != "spa" || len(r.Found) != 1 {
		t.Errorf("%+v", r.Silences)
	}
	audio := r.Probe.AudioStreams()
	if len(audio) != 2 || audio[0].Language != "eng" || audio[1].Language != "spa" {
		t.Fatalf("%+v", audio)
	}
	for _, a := range audio {
		if d := (a.EndSeconds - a.StartSeconds - r.Kept).Seconds(); math.Abs(d) > 0.05 {
			t.Errorf("a track is %.3f s longer than what was kept", d)
		}
	}
	w.fails("measure.silence", measure.SilenceInput{Input: "game.mp4", QuietOptions: quiet(func(o *measure.QuietOptions) { o.AudioStream = 2 })}, cutroom.Invalid)
}

// Sound alone is cut to the sample, whatever the container.
func TestSilenceOfSoundAlone(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"wav", "flac", "mp3", "m4a", "opus"} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			w := open(t, "")
			in := "talk." + suffix
			testenv.FFmpeg(t, "-f", "lavfi", "-i", "sine=f=440:d=9:r=48000,volume='if(between(t,3,6),0,1)':eval=frame", filepath.Join(w.dir, in))
			r := must[measure.SilenceApplyOutput](w, "measure.silence_apply", measure.SilenceApplyInput{Input: cutroom.InPath(in), QuietOptions: quiet()})
			if len(r.Found) != 1 || math.Abs(r.Kept.Seconds()-6.3) > 0.1 {
				t.Errorf("%+v", r.Silences)
			}
			got := float64(len(w.decoded(*r.File))) / 48000
			slack := 1.5 / 48000
			if suffix == "mp3" || suffix == "m4a" || suffix == "opus" {
				slack = 0.05
			}
			if math.Abs(got-r.Kept.Seconds()) > slack {
				t.Errorf("%.6f s, %s were kept", got, r.Kept)
			}
		})
	}
}

func TestSilenceRefusals(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	cases := testenv.Cases(t)
	silent := w.copy(filepath.Join(cases, "b27_silence.wav"), "silence.wav")
	mute := w.copy(filepath.Join(cases, "b06_noaudio.mp4"), "mute.mp4")
	if r := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: cutroom.InPath(silent), QuietOptions: quiet()}); r.Kept != 0 || len(r.Keep) != 0 || r.Removed != 3*cutroom.Second {
		t.Errorf("%+v", r.Silences)
	}
	e := w.fails("measure.silence_apply", measure.SilenceApplyInput{Input: cutroom.InPath(silent), QuietOptions: quiet()}, cutroom.Invalid)
	if !strings.Contains(e.Msg, "nothing would stay") || e.Hint == "" {
		t.Errorf("%v", e)
	}
	w.fails("measure.silence", measure.SilenceInput{Input: cutroom.InPath(mute), QuietOptions: quiet()}, cutroom.Invalid)
	w.fails("measure.silence", measure.SilenceInput{Input: cutroom.InPath(silent), QuietOptions: quiet(func(o *measure.QuietOptions) { o.Filler = true })}, cutroom.Invalid)
	w.fails("measure.silence", measure.SilenceInput{Input: cutroom.InPath(silent), QuietOptions: quiet(func(o *measure.QuietOptions) { o.Filler, o.Transcribe = true, true })}, cutroom.Invalid)
	sparse := w.copy(filepath.Join(cases, "b34_sparsekf.mkv"), "talk.mkv")
	w.fails("measure.silence_apply", measure.SilenceApplyInput{Input: cutroom.InPath(sparse), QuietOptions: quiet(func(o *measure.QuietOptions) { o.MaxCuts = 3 })}, cutroom.Limit)
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*_tight*")); len(left) > 0 {
		t.Errorf("refused calls left %v", left)
	}
}

// Fillers go with their pauses' edges, and no word beside them is touched.
func TestFillersAreCutOut(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "sine=f=440:d=6:r=48000", filepath.Join(w.dir, "talk.wav"))
	put(t, filepath.Join(w.dir, "words.json"), `{"language":"en","segments":[{"start":0,"end":6,"text":"so ummm, the er thing","words":[
		{"word":" so","start":0.2,"end":1.0},{"word":" ummm,","start":1.3,"end":1.8},{"word":" the","start":1.81,"end":3},{"word":" er","start":3.0,"end":3.4},{"word":" thing","start":3.4,"end":5}]}]}`)
	in := measure.SilenceApplyInput{Input: "talk.wav", QuietOptions: quiet(func(o *measure.QuietOptions) { o.Filler, o.Words = true, "words.json" })}
	r := must[measure.SilenceApplyOutput](w, "measure.silence_apply", in)
	want := [][]cutroom.Micros{{0, 1_280_000}, {1_810_000, 3_000_000}, {3_400_000, 6_000_000}}
	if !slices.EqualFunc(r.Keep, want, slices.Equal) || r.Filler.Count != 2 || r.Filler.Removed[0].Text != "ummm," || r.Filler.Lang != "en" {
		t.Errorf("%v %+v", r.Keep, r.Filler)
	}
	if got := float64(len(w.decoded(*r.File))) / 48000; math.Abs(got-5.07) > 0.001 {
		t.Errorf("%.4f s", got)
	}
	put(t, filepath.Join(w.dir, "plain.json"), `{"segments":[{"start":0,"end":6,"text":"so um"}]}`)
	in.Words, in.Output = "plain.json", "other.wav"
	if e := w.fails("measure.silence_apply", in, cutroom.Invalid); !strings.Contains(e.Msg, "single words") {
		t.Errorf("%v", e)
	}
}

// Speech below the threshold stays where voices are listened for.
func TestSilenceHearsVoices(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	jfk := filepath.Join(testenv.Real(t), "jfk.wav")
	testenv.FFmpeg(t, "-i", jfk, "-filter_complex", "[0]aresample=48000,asplit[a][b];[a]volume=-30dB,apad=pad_dur=3[q];[q][b]concat=n=2:v=0:a=1[o];[o]apad=pad_dur=4", "-t", "29", filepath.Join(w.dir, "talk.wav"))
	plain := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: "talk.wav", QuietOptions: quiet()})
	aware := must[measure.SilenceOutput](w, "measure.silence", measure.SilenceInput{Input: "talk.wav", QuietOptions: quiet(func(o *measure.QuietOptions) { o.SpeechAware = true })})
	if plain.Removed < 10*cutroom.Second {
		t.Errorf("the soft half is not below the threshold: %+v", plain.Silences)
	}
	if aware.Removed > 13*cutroom.Second || aware.Removed < 4*cutroom.Second || aware.SpeechAware == nil || aware.SpeechAware.Voice < 12*cutroom.Second {
		t.Errorf("%+v %+v", aware.Silences, aware.SpeechAware)
	}
	t.Logf("removed %s s by level, %s s where nobody speaks; %d breaths kept", plain.Removed, aware.Removed, aware.SpeechAware.Kept)
}
