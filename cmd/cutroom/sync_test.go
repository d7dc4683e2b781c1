package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/measure"
)

// hall makes recordings of one event in w: people speak, for a minute and a bit.
func hall(w *workspace) string {
	w.t.Helper()
	dir := testenv.Real(w.t)
	testenv.FFmpeg(w.t, "-i", filepath.Join(dir, "two_cities_16k.wav"), "-i", filepath.Join(dir, "jfk.wav"), "-i", filepath.Join(dir, "pv_test_es.wav"),
		"-filter_complex", "[0:a][1:a][2:a]concat=n=3:v=0:a=1,aresample=48000", filepath.Join(w.dir, "hall.wav"))
	return filepath.Join(w.dir, "hall.wav")
}

func (w *workspace) record(name string, args ...string) cutroom.InPath {
	w.t.Helper()
	testenv.FFmpeg(w.t, append(args, filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

func synced(w *workspace, in measure.SyncInput) *measure.SyncOutput {
	w.t.Helper()
	return must[measure.SyncOutput](w, "measure.sync", in)
}

func laid(t *testing.T, what string, a measure.Alignment, offset, ppm float64) {
	t.Helper()
	if !a.Matched || a.Offset == nil || a.Drift == nil {
		t.Errorf("%s: %+v", what, a)
		return
	}
	if off := a.Offset.Seconds() - offset; math.Abs(off) > 0.002 {
		t.Errorf("%s: %s s, which is off by %.4f s", what, a.Offset, off)
	}
	if math.Abs(a.Drift.PPM-ppm) > 5 {
		t.Errorf("%s: %.1f ± %.1f ppm, not %.1f", what, a.Drift.PPM, a.Drift.Uncertainty, ppm)
	}
}

// TestSyncOfManySources: recorders with codecs, levels, clocks and file times of their
// own are measured against one reference in one call; strangers are told apart.
func TestSyncOfManySources(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	event := hall(w)
	camera := w.record("camera.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=60", "-ss", "2", "-i", event, "-map", "0", "-map", "1", "-shortest",
		"-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", "48k")
	phone := w.record("phone.mp3", "-ss", "9.5", "-i", event, "-af", "asetrate=48024,aresample=44100,volume=-15dB", "-b:a", "32k")
	early := w.record("early.opus", "-i", event, "-af", "highpass=f=400,volume=20dB", "-c:a", "libopus", "-b:a", "16k")
	// Case 32: the voice is in the centre alone.
	surround := w.record("surround.m4a", "-ss", "5", "-i", event, "-af", "pan=5.1|FL=0*c0|FR=0*c0|FC=c0|LFE=0*c0|BL=0*c0|BR=0*c0", "-c:a", "aac")
	// Case 17: its own clock begins at ten seconds, and its sound after its picture.
	late := w.record("late.ts", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=40", "-itsoffset", "0.7", "-ss", "4", "-i", event, "-map", "0", "-map", "1", "-shortest",
		"-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-output_ts_offset", "10", "-f", "mpegts")
	stranger := cutroom.InPath(w.copy(filepath.Join(testenv.Real(t), "viper.mp3"), "viper.mp3"))
	out := synced(w, measure.SyncInput{Reference: camera, Second: phone, MoreSources: []cutroom.InPath{early, surround, late, stranger}})
	if len(out.Sources) != 5 || out.Reference != "camera.mp4" || out.Sources[4].Path != "viper.mp3" {
		t.Fatalf("%+v", out)
	}
	laid(t, "phone", out.Alignment, 7.5, -499.75)
	laid(t, "early", out.Sources[1].Alignment, -2, 0)
	laid(t, "surround", out.Sources[2].Alignment, 3, 0)
	laid(t, "late", out.Sources[3].Alignment, 2-0.7, 0)
	if s := out.Sources[4]; s.Matched || s.Offset != nil || s.Drift != nil || s.Reason == "" || s.RunnerUp == nil {
		t.Errorf("a song is said to be of the event: %+v", s)
	}
	// A limit is a test of the answer, not a bound of the search.
	far := synced(w, measure.SyncInput{Reference: camera, Second: phone, Hearing: measure.Hearing{MaxOffset: 5 * cutroom.Second}})
	if far.Matched || far.Offset != nil || !strings.Contains(far.Reason, "7.5") {
		t.Errorf("beyond the limit: %+v", far.Alignment)
	}
}

// TestSyncRefuses: what has no sound is named; what is silent, short or steady is no
// match.
func TestSyncRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	talk := cutroom.InPath(w.copy(filepath.Join(testenv.Real(t), "jfk.wav"), "jfk.wav"))
	mute := w.record("mute.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx264", "-preset", "ultrafast")
	if e := w.fails("measure.sync", measure.SyncInput{Reference: talk, Second: mute}, cutroom.Invalid); !strings.Contains(e.Msg, "mute.mp4") || e.Hint == "" {
		t.Errorf("%q, %q does not name the file", e.Msg, e.Hint)
	}
	silent := w.record("silent.wav", "-f", "lavfi", "-i", "anullsrc=r=48000:d=5")
	tone := w.record("tone.m4a", "-f", "lavfi", "-i", "sine=f=440:d=20", "-c:a", "aac")
	short := w.record("short.wav", "-ss", "4", "-t", "0.5", "-i", filepath.Join(w.dir, "jfk.wav"))
	for file, why := range map[cutroom.InPath]string{silent: "silent", tone: ""} {
		out := synced(w, measure.SyncInput{Reference: talk, Second: file})
		if out.Matched || !strings.Contains(out.Reason, why) || !strings.Contains(out.Meaning, "no confident match") {
			t.Errorf("%s: %+v", file, out.Alignment)
		}
		e := w.fails("measure.sync_apply", measure.SyncApplyInput{Reference: talk, Second: file}, cutroom.Invalid)
		if !strings.Contains(e.Msg, "nothing is written") {
			t.Errorf("%s: %q", file, e.Msg)
		}
	}
	if out := synced(w, measure.SyncInput{Reference: talk, Second: short}); out.Matched && math.Abs(out.Offset.Seconds()-4) > 0.002 {
		t.Errorf("half a second is laid at %s s", out.Offset)
	}
	made, err := filepath.Glob(filepath.Join(w.dir, "*_synced*"))
	if err != nil || len(made) > 0 {
		t.Errorf("written all the same: %v %v", made, err)
	}
}

// TestSyncApply: what is written lies on the reference's time, clock and all, by
// another measurement than the one that wrote it.
func TestSyncApply(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	event := hall(w)
	camera := w.record("camera.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=40", "-ss", "6", "-i", event, "-map", "0", "-map", "1", "-shortest",
		"-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac")
	recorder := w.record("recorder.flac", "-ss", "8.25", "-i", event, "-af", "asetrate=47982,aresample=48000,volume=-6dB")
	other := w.record("other.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30:d=30", "-ss", "1.5", "-i", event, "-map", "0", "-map", "1", "-shortest",
		"-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac")
	for i, in := range []measure.SyncApplyInput{
		{Reference: camera, Second: recorder, FixDrift: true},
		{Reference: camera, Second: recorder, FixDrift: true, ReplaceAudio: true},
		{Reference: camera, Second: other},
		{Reference: other, Second: camera},
		{Reference: other, Second: camera, TrimSecond: true},
	} {
		in.Output = cutroom.OutPath(fmt.Sprintf("out%d%s", i, []string{".wav", ".mp4", ".mp4", ".mp4", ".mp4"}[i]))
		out := must[measure.SyncApplyOutput](w, "measure.sync_apply", in)
		name := fmt.Sprintf("%d: %s", i, in.Output)
		rows := 0
		for _, v := range out.Verified {
			if strings.HasPrefix(v.Check, "offset_to_reference") && v.OK {
				rows++
			}
			if !v.OK {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if want := map[bool]int{false: 1, true: 2}[in.FixDrift]; rows != want || out.EditMap == nil || out.Probe == nil || out.File == nil {
			t.Errorf("%s: %d rows; %+v", name, rows, out)
		}
		again := synced(w, measure.SyncInput{Reference: in.Reference, Second: cutroom.InPath(in.Output)})
		laid(t, name, again.Alignment, out.Begins.Seconds(), 0)
		if in.TrimSecond && math.Abs(out.Begins.Seconds()-4.5) > 0.01 {
			t.Errorf("%s begins at %s s of the reference", name, out.Begins)
		}
	}
	// The map tells where a moment of the second went.
	out := must[measure.SyncApplyOutput](w, "measure.sync_apply", measure.SyncApplyInput{Reference: other, Second: camera, Writing: writing("map.mp4")})
	if at := out.EditMap.ToEdit(0, 2*cutroom.Second); len(at) != 1 || math.Abs(at[0].Seconds()-6.5) > 0.01 {
		t.Errorf("2 s of the second show at %v", at)
	}
	w.fails("measure.sync_apply", measure.SyncApplyInput{Reference: camera, Second: recorder, TrimSecond: true, ReplaceAudio: true}, cutroom.Invalid)
}

// TestSyncDryRun: nothing runs and nothing is written, and what is not known yet says
// so.
func TestSyncDryRun(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.copy(filepath.Join(testenv.Real(t), "jfk.wav"), "jfk.wav")
	w.copy(filepath.Join(testenv.Real(t), "two_cities_16k.wav"), "two.wav")
	c := command(t, w.dir, "measure", "sync-apply", "jfk.wav", "two.wav", "--dry-run", "--json", "--quiet")
	raw, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		DryRun   bool     `json:"dry_run"`
		Commands []string `json:"commands"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if !doc.DryRun || len(doc.Commands) != 2 || !strings.Contains(doc.Commands[1], "<measured>") {
		t.Errorf("%s", raw)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "two_synced.wav")); err == nil {
		t.Error("a file was written")
	}
}
