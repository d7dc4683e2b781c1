package speech

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

const (
	jfkText       = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"
	twoCitiesText = "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness " +
		"it was the epoch of belief it was the epoch of incredulity it was the season of light it was the season of darkness " +
		"it was the spring of hope it was the winter of despair we had everything before us we had nothing before us " +
		"we were all going direct to heaven we were all going direct the other way in short the period was so far like the present period " +
		"that some of its noisiest authorities insisted on its being received for good or for evil in the superlative degree of comparison only"
)

// librivox is human reading that Debian's pocketsphinx-testdata brings.
const librivox = "/usr/share/pocketsphinx/test/data/librivox"

// checkHeard fails the test when more than percent of the words are wrong, or when
// a segment is not plausible.
func checkHeard(t *testing.T, got Transcript, said string, percent int) {
	t.Helper()
	errors, total := wordErrors(said, got.Text())
	t.Logf("%d of %d words wrong", errors, total)
	if 100*errors > percent*total {
		t.Errorf("more than %d %% wrong: %q", percent, got.Text())
	}
	checkTimes(t, got)
}

// checkTimes fails the test when segments overlap, leave the recording, or do not
// add up.
func checkTimes(t *testing.T, got Transcript) {
	t.Helper()
	var end, sum cutroom.Micros
	for _, s := range got.Segments {
		if s.Start < end || s.End <= s.Start || s.End > got.Duration || s.End-s.Start > 15*cutroom.Second+cutroom.Second/5 {
			t.Errorf("segment %v-%v after %v in a recording of %v", s.Start, s.End, end, got.Duration)
		}
		end = s.End
		sum += s.End - s.Start
	}
	if sum != got.SpeechSeconds {
		t.Errorf("segments last %v together, SpeechSeconds is %v", sum, got.SpeechSeconds)
	}
}

func TestHumanSpeech(t *testing.T) {
	t.Parallel()
	for _, model := range []Model{Base, Tiny} {
		for file, said := range map[string]string{"jfk.wav": jfkText, "two_cities_16k.wav": twoCitiesText} {
			t.Run(string(model)+"/"+file, func(t *testing.T) {
				t.Parallel()
				got := transcribe(t, filepath.Join(testenv.Real(t), file), Options{Model: model})
				checkHeard(t, got, said, 5)
				if len(got.Reasons) > 0 || got.Language != "en" || got.Model != "moonshine-"+string(model) {
					t.Errorf("reasons %v, language %q, model %q", got.Reasons, got.Language, got.Model)
				}
			})
		}
	}
}

func TestLibriVox(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(librivox, "transcription"))
	if err != nil {
		t.Fatalf("%v: install pocketsphinx-testdata", err)
	}
	// One after the other, with a second between them.
	var said, inputs []string
	graph := ""
	for i, m := range regexp.MustCompile(`<s> (.*) </s> \((.*)\)`).FindAllStringSubmatch(string(text), -1) {
		// The clip says it once; the transcription has a word too many.
		said = append(said, strings.Replace(m[1], "more a amiable", "more amiable", 1))
		inputs = append(inputs, "-i", filepath.Join(librivox, m[2]+".wav"))
		graph += fmt.Sprintf("[%d]apad=pad_dur=1[p%d];", i, i)
	}
	if len(said) != 5 {
		t.Fatalf("%d sentences in %s", len(said), librivox)
	}
	wav := convert(t, append(inputs, "-filter_complex", graph+"[p0][p1][p2][p3][p4]concat=n=5:v=0:a=1")...)
	for _, model := range []Model{Base, Tiny} {
		t.Run(string(model), func(t *testing.T) {
			t.Parallel()
			checkHeard(t, transcribe(t, wav, Options{Model: model}), strings.Join(said, " "), 5)
		})
	}
}

// TestOneWord: a word alone, after twenty seconds of silence.
func TestOneWord(t *testing.T) {
	t.Parallel()
	got := transcribe(t, convert(t, "-i", filepath.Join(testenv.Real(t), "example.mp4")), Options{})
	checkTimes(t, got)
	last := got.Segments[len(got.Segments)-1]
	if !strings.Contains(strings.ToLower(last.Text), "banana") || last.Unreliable || last.Start < 38*cutroom.Second || last.End > 42*cutroom.Second {
		t.Errorf("heard %+v", last)
	}
}

func TestSyntheticVoice(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "espeak-ng")
	const said = "please open the settings page click the blue button and then restart the server " +
		"our meeting with the engineering team is scheduled for next thursday at ten in the morning"
	raw := filepath.Join(t.TempDir(), "raw.wav")
	testenv.Run(t, "", "espeak-ng", "-v", "en-us", "-s", "150", "-w", raw, said)
	checkHeard(t, transcribe(t, convert(t, "-i", raw), Options{Language: "en-US"}), said, 15)
}

func TestNobodySpeaks(t *testing.T) {
	t.Parallel()
	sources := map[string][]string{
		"silence":     {"-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "20"},
		"white noise": {"-f", "lavfi", "-i", "anoisesrc=c=white:a=0.3:d=20:seed=1"},
		"pink noise":  {"-f", "lavfi", "-i", "anoisesrc=c=pink:a=0.5:d=20:seed=2"},
		"brown noise": {"-f", "lavfi", "-i", "anoisesrc=c=brown:a=0.8:d=20:seed=3"},
		"tone":        {"-f", "lavfi", "-i", "sine=f=440:d=20"},
		"beeps":       {"-f", "lavfi", "-i", "sine=f=300:b=4:d=20"},
		"sweep":       {"-f", "lavfi", "-i", "aevalsrc='0.4*sin(2*PI*(100+80*t)*t)':d=20"},
		"clicks":      {"-f", "lavfi", "-i", "aevalsrc='lt(mod(t,0.5),0.001)':d=10"},
		"one sample":  {"-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono,atrim=end_sample=1"},
	}
	for name, args := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSilent(t, convert(t, args...), true)
		})
	}
	t.Run("music", func(t *testing.T) {
		t.Parallel()
		checkSilent(t, convert(t, "-i", filepath.Join(testenv.Real(t), "viper.mp3")), false)
	})
	t.Run("room", func(t *testing.T) {
		t.Parallel()
		checkSilent(t, filepath.Join(testenv.Real(t), "pv_empty.wav"), true)
	})
}

// checkSilent: in most of what nobody says even the detector alone hears nothing;
// music takes the model's opinion too.
func checkSilent(t *testing.T, wav string, voiceOnly bool) {
	t.Helper()
	got := transcribe(t, wav, Options{Model: Tiny, VADOnly: voiceOnly})
	if len(got.Segments) > 0 || got.SpeechSeconds != 0 || len(got.Reasons) > 0 || got.Duration <= 0 {
		t.Errorf("heard %+v", got)
	}
}

func TestOtherLanguage(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "espeak-ng")
	raw := filepath.Join(t.TempDir(), "raw.wav")
	testenv.Run(t, "", "espeak-ng", "-v", "es", "-w", raw,
		"Buenos días a todos. Hoy vamos a hablar de los resultados del último trimestre y de los planes para el año que viene.")
	recordings := map[string]func(*testing.T) string{
		"voice":  func(t *testing.T) string { return convert(t, "-i", raw) },
		"person": func(t *testing.T) string { return filepath.Join(testenv.Real(t), "pv_test_es.wav") },
	}
	for name, recording := range recordings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkForeign(t, recording(t))
		})
	}
}

func checkForeign(t *testing.T, wav string) {
	t.Helper()
	unknown := transcribe(t, wav, Options{})
	if len(unknown.Segments) == 0 || unknown.Text() != "" || !slices.Contains(unknown.Reasons, NotEnglish) || unknown.Language != "" {
		t.Errorf("Spanish taken as fact: %+v", unknown)
	}
	for _, s := range unknown.Segments {
		if !s.Unreliable {
			t.Errorf("not marked: %+v", s)
		}
	}
	said := transcribe(t, wav, Options{Language: "es-MX"})
	if diff := cmp.Diff([]Reason{LanguageNotSpoken}, said.Reasons); diff != "" {
		t.Error(diff)
	}
	for _, s := range said.Segments {
		if s.Text != "" || s.Tokens != 0 || s.Unreliable {
			t.Errorf("invented: %+v", s)
		}
	}
	if said.SpeechSeconds != unknown.SpeechSeconds || said.SpeechSeconds == 0 {
		t.Errorf("speech lasts %v, or %v", said.SpeechSeconds, unknown.SpeechSeconds)
	}
}

// TestThreadsAgree: how many stretches are transcribed at a time changes nothing.
func TestThreadsAgree(t *testing.T) {
	t.Parallel()
	wav := filepath.Join(testenv.Real(t), "two_cities_16k.wav")
	one := transcribe(t, wav, Options{Model: Tiny, Threads: 1})
	three := transcribe(t, wav, Options{Model: Tiny, Threads: 3})
	if diff := cmp.Diff(one, three); diff != "" {
		t.Error(diff)
	}
}

// TestConfined runs the child without the right to open sockets or start processes,
// within the memory that [Command] asks for, from a pipe-written header.
func TestConfined(t *testing.T) {
	t.Parallel()
	wav := filepath.Join(testenv.Real(t), "two_cities_16k.wav")
	c := Command("speech", filepath.Base(wav), Options{Threads: 4})
	env := []string{fmt.Sprintf("%s=%d", confineEnv, c.Limits.Memory)}
	lines, rss, code := separate(t, env, render(t, c, filepath.Dir(wav))...)
	if code != 0 || len(lines) != 4 || lines[3].Summary == nil {
		t.Fatalf("exit %d, %+v", code, lines)
	}
	t.Logf("%d MB resident", rss>>20)
}

// TestCollectorAlwaysRunning: what the library computes does not depend on where
// Go's memory lies or when it is reclaimed.
func TestCollectorAlwaysRunning(t *testing.T) {
	t.Parallel()
	wav := filepath.Join(testenv.Real(t), "two_cities_16k.wav")
	args := render(t, Command("speech", filepath.Base(wav), Options{Model: Tiny, Threads: 2}), filepath.Dir(wav))
	calm, _, _ := separate(t, nil, args...)
	busy, _, code := separate(t, []string{"GOGC=1", "GODEBUG=clobberfree=1"}, args...)
	if diff := cmp.Diff(calm, busy); diff != "" || code != 0 || len(calm) != 4 {
		t.Errorf("exit %d: %s", code, diff)
	}
}
