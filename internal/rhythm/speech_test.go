package rhythm

import (
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/testenv"
)

// hear feeds a file's sound to an ear.
func hear(t *testing.T, path string) *Onsets {
	t.Helper()
	d, f := probe(t, path)
	a, err := d.AudioStream(0)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOnsets(a.Audio.SampleRate, 0)
	m, err := ffmpeg.NewMeasure(0, f, d, ffmpeg.MeasureOptions{Hear: o.Add})
	if err != nil {
		t.Fatal(err)
	}
	if err := testenv.NewRunner(t, path).Drive(m); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSpeechAndMusic: real speech of three speakers, one with music before it, and a real
// piano; the piano has a beat, speech has none.
func TestSpeechAndMusic(t *testing.T) {
	t.Parallel()
	real := testenv.Real(t)
	for name, speech := range map[string]bool{"jfk.wav": true, "two_cities_16k.wav": true, "pv_test_es.wav": true, "chaplin.mp4": false, "viper.mp3": false} {
		o := hear(t, filepath.Join(real, name))
		talk := o.Talk(0)
		right := 0
		for _, k := range talk {
			if (k.Share > 0.5) == speech {
				right++
			}
		}
		if len(talk) == 0 || right*10 < len(talk)*8 {
			t.Errorf("%s: %d of %d right: %v", name, right, len(talk), talk)
		}
		b := FindBeats(o.Envelope(0), BeatOptions{})
		if b.Confidence >= 0.5 == speech {
			t.Errorf("%s: beats at %v a minute, confidence %v", name, b.Tempo, b.Confidence)
		}
	}
}

// TestMadeSounds: drums alone have pauses but no voice; with tones above them they have
// neither; silence is left out.
func TestMadeSounds(t *testing.T) {
	t.Parallel()
	drums, band, silence := newPlayer(22_050, 12, 1), newPlayer(22_050, 12, 2), newPlayer(22_050, 12, 3)
	drums.drums(100, 0.1, 0.004, 0, 0)
	band.drums(100, 0.1, 0.004, 0, 0)
	for k := range 24 {
		band.hit(float64(k)/2, []float64{220, 277, 330, 440}[k%4], 0.3, 0.6, false)
	}
	for i, p := range []*player{drums, band, silence} {
		o := NewOnsets(p.rate, 0)
		o.Add(p.x)
		talk := o.Talk(cutroom.Second)
		if i == 2 {
			if len(talk) > 0 {
				t.Errorf("silence: %v", talk)
			}
			continue
		}
		if len(talk) != 3 || talk[1].At < 4_900_000 || talk[1].At > 5_100_000 {
			t.Fatalf("%v", talk)
		}
		for _, k := range talk {
			if k.Share > 0.2 {
				t.Errorf("%d: %v", i, talk)
			}
		}
	}
}
