package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// samples is decoded sound, one slice for each channel.
type samples [][]float64

// work runs the filters of w on files: the first is the track, the others are named by
// from as 1:a:0 and so on.
func work(t *testing.T, w Work, tr strip, from bedding, files ...string) samples {
	t.Helper()
	tr.In, tr.Out = "0:a:0", "out"
	tr.Samples = int64(math.Round(seconds(tr.Length) * float64(tr.Rate)))
	filters, after, err := w.chain(tr, from)
	if err != nil {
		t.Fatal(err)
	}
	r := testenv.NewRunner(t, files...)
	c := argv.Command{Step: "work", Program: "ffmpeg", Args: argv.Words("-v", "error", "-nostdin")}
	for i := range files {
		c.Inputs = append(c.Inputs, i)
		c.Args = append(c.Args, argv.Word("-protocol_whitelist"), argv.Word("file"), argv.Word("-i"), argv.In(i))
	}
	c.Args = append(c.Args, argv.Word("-filter_complex"), argv.Graph(filters), argv.Word("-map"), argv.Word("[out]"),
		argv.Word("-c:a"), argv.Word("pcm_f32le"), argv.Word("-f"), argv.Word("f32le"), argv.Pipe(0))
	out := r.Run(c).Stdout
	s := make(samples, after.Channels)
	for i := 0; i+4*after.Channels <= len(out); i += 4 * after.Channels {
		for ch := range s {
			s[ch] = append(s[ch], float64(math.Float32frombits(binary.LittleEndian.Uint32(out[i+4*ch:]))))
		}
	}
	if want := int(math.Round(seconds(tr.Length) * float64(tr.Rate))); len(s[0]) != want {
		t.Errorf("%d samples, not %d", len(s[0]), want)
	}
	return s
}

// peak is the largest sample of a channel between two times, in dBFS.
func (s samples) peak(ch, rate int, from, to float64) float64 {
	most := 1e-9
	for _, v := range s[ch][int(from*float64(rate)):min(len(s[ch]), int(to*float64(rate)))] {
		most = max(most, math.Abs(v))
	}
	return 20 * math.Log10(most)
}

// wav makes a WAV file out of one expression for each channel.
func wav(t *testing.T, rate int, layout string, length float64, exprs ...string) string {
	t.Helper()
	file := t.TempDir() + "/a.wav"
	testenv.FFmpeg(t, "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='%s':s=%d:d=%g:c=%s", strings.Join(exprs, "|"), rate, length, layout), "-c:a", "pcm_f32le", file)
	return file
}

const second = cutroom.Second

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by {
		t.Errorf("%s: %.2f, not %.2f ± %.2f", what, got, want, by)
	}
}

func TestDuckingTakesTheAmount(t *testing.T) {
	t.Parallel()
	// The voice is loud in 2–4 s, below the threshold in 6–8 s; the music is 12 kHz, to be
	// told apart by a band filter below.
	voice := wav(t, 48000, "mono", 10, "if(between(t,2,4),0.3*sin(2*PI*300*t),if(between(t,6,8),0.02*sin(2*PI*300*t),0))")
	music := wav(t, 48000, "stereo", 10, "0.25*sin(2*PI*12000*t)", "0.25*sin(2*PI*12000*t)")
	for _, amount := range []float64{0, 3, 6, 12, 20, 40, 60} {
		d := DefaultDuck()
		d.Amount = amount
		w := Work{Layout: "stereo", Music: &Bed{Volume: -6}, Duck: &d}
		s := work(t, w, strip{Rate: 48000, Layout: "mono", Channels: 1, Length: 10 * second},
			bedding{Music: bedInput{"1:a:0", "stereo", 2, 10 * second}}, voice, music)
		base := 20*math.Log10(0.25) - 6
		level := func(from, to float64) float64 { return tone(s[1], 48000, 12000, from, to) }
		near(t, fmt.Sprint(amount, " dB before"), level(0.5, 1.5), base, 0.1)
		near(t, fmt.Sprint(amount, " dB under the voice"), level(2.5, 3.5), base-amount, 1)
		near(t, fmt.Sprint(amount, " dB after"), level(5.5, 6), base, 0.2)
		near(t, fmt.Sprint(amount, " dB under a quiet voice"), level(6.5, 7.5), base, 0.2)
	}
}

// tone is the level of one frequency between two times, in dBFS of its amplitude.
func tone(x []float64, rate int, hz, from, to float64) float64 {
	var re, im float64
	n := 0
	for i := int(from * float64(rate)); i < int(to*float64(rate)); i++ {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re, im, n = re+x[i]*cos, im+x[i]*sin, n+1
	}
	return 20 * math.Log10(max(1e-9, 2*math.Hypot(re, im)/float64(n)))
}

// TestPictureLengthWins: whatever is laid under or put in its place, the sound is as
// long as the edit.
func TestPictureLengthWins(t *testing.T) {
	t.Parallel()
	long := wav(t, 44100, "stereo", 5.5, "0.1*sin(2*PI*500*t)", "0.1*sin(2*PI*500*t)")
	short := wav(t, 22050, "mono", 1.37, "0.5*sin(2*PI*700*t)")
	tr := strip{Rate: 44100, Layout: "stereo", Channels: 2, Length: 5*second + 123456}
	in := bedInput{"1:a:0", "mono", 1, 1*second + 370000}

	s := work(t, Work{Replace: &Bed{}}, tr, bedding{Replace: in}, long, short)
	if len(s) != 1 {
		t.Fatalf("the replacement has %d channels", len(s))
	}
	near(t, "replacement", s.peak(0, 44100, 0.2, 1.3), -6, 0.2)
	near(t, "behind the replacement", s.peak(0, 44100, 1.4, 5.12), -180, 1)

	s = work(t, Work{Replace: &Bed{Offset: 2 * second}}, tr, bedding{Replace: in}, long, short)
	near(t, "before the offset", s.peak(0, 44100, 0, 1.99), -180, 60)
	near(t, "at the offset", s.peak(0, 44100, 2.1, 3.3), -6, 0.2)

	s = work(t, Work{Replace: &Bed{Offset: -1 * second}}, tr, bedding{Replace: in}, long, short)
	near(t, "what is left", s.peak(0, 44100, 0.05, 0.3), -6, 0.2)
	near(t, "behind it", s.peak(0, 44100, 0.45, 5), -180, 1)

	s = work(t, Work{Music: &Bed{Loop: true, FadeOut: 2 * second}}, tr, bedding{Music: in}, short, short)
	for _, at := range []float64{0.2, 1.5, 2.9} { // every round of the loop
		if got := s.peak(1, 44100, at, at+0.2); got < -7 {
			t.Errorf("the loop is quiet at %v s: %.1f", at, got)
		}
	}
	near(t, "at the end of the fade", s.peak(0, 44100, 5.1, 5.12), -46, 8)

	s = work(t, Work{Effects: &Bed{Offset: 5 * second}}, strip{Rate: 44100, Layout: "stereo", Channels: 2, Length: 3 * second}, bedding{Effects: in}, long, short)
	near(t, "effects beyond the end", tone(s[0], 44100, 700, 0, 3), -180, 90)
}

func TestLoopIsSeamless(t *testing.T) {
	t.Parallel()
	// One period is a whole number of samples, and the piece a whole number of periods.
	quiet := wav(t, 48000, "mono", 5, "0")
	piece := wav(t, 48000, "mono", 0.5, "0.5*sin(2*PI*480*t)")
	s := work(t, Work{Music: &Bed{Loop: true}}, strip{Rate: 48000, Layout: "mono", Channels: 1, Length: 5 * second},
		bedding{Music: bedInput{"1:a:0", "mono", 1, second / 2}}, quiet, piece)
	for i, v := range s[0] {
		if want := 0.5 * math.Sin(2*math.Pi*480*float64(i)/48000); math.Abs(v-want) > 1e-4 {
			t.Fatalf("sample %d is %v, not %v", i, v, want)
		}
	}
}

// TestNothingIsLate: an impulse stays where it is through every step.
func TestNothingIsLate(t *testing.T) {
	t.Parallel()
	gate, comp, limit := DefaultGate(), DefaultCompressor(), DefaultLimiter()
	for _, rate := range []int{8000, 22050, 44100, 48000, 96000} {
		file := wav(t, rate, "stereo", 2, "if(eq(n,4000),0.9,0)", "if(eq(n,4000),0.9,0)")
		for name, w := range map[string]Work{
			"denoise": {Denoise: 12}, "gate": {Gate: &gate}, "compressor": {Compressor: &comp}, "limiter": {Limiter: &limit},
			"light": {Voice: "light"}, "medium": {Voice: "medium"}, "strong": {Voice: "strong"},
			"mono": {Layout: "mono"}, "widen": {Widen: 1}, "fades": {FadeIn: second / 10, FadeOut: second / 10},
		} {
			s := work(t, w, strip{Rate: rate, Layout: "stereo", Channels: 2, Length: 2 * second}, bedding{}, file)
			at, most := 0, 0.0
			for i, v := range s[0] {
				if math.Abs(v) > most {
					at, most = i, math.Abs(v)
				}
			}
			if at != 4000 || most < 0.05 {
				t.Errorf("%s at %d Hz: the impulse lies at %d (%.3f)", name, rate, at, most)
			}
		}
	}
}

// TestMixdown measures every channel's share against the table of the standard.
func TestMixdown(t *testing.T) {
	t.Parallel()
	for _, l := range layouts() {
		if l.name == "downmix" { // no source of ffmpeg makes it
			continue
		}
		n := len(l.channels)
		exprs := make([]string, n) // every channel has a frequency of its own
		for i := range exprs {
			exprs[i] = fmt.Sprintf("0.9*sin(2*PI*%d*t)", 500*(i+1))
		}
		file := wav(t, 48000, l.name, 1, exprs...)
		for _, to := range []string{"stereo", "mono"} {
			s := work(t, Work{Layout: to}, strip{Rate: 48000, Layout: l.name, Channels: n, Length: second}, bedding{}, file)
			for side := range s {
				var total float64
				want := make([]float64, n)
				for i, name := range l.channels {
					left, right := share(name)
					switch {
					case n == 1:
						want[i] = 1
					case to == "mono":
						want[i] = left + right
					default:
						want[i] = []float64{left, right}[side]
					}
					total += want[i]
				}
				for i, name := range l.channels {
					got := math.Pow(10, tone(s[side], 48000, float64(500*(i+1)), 0.1, 0.9)/20) / 0.9
					if expect := want[i] / total; math.Abs(got-expect) > 0.004 {
						t.Errorf("%s to %s, side %d: %s has %.3f, not %.3f", l.name, to, side, name, got, expect)
					}
				}
				if p := s.peak(side, 48000, 0, 1); p > 0 {
					t.Errorf("%s to %s: %.2f dBFS", l.name, to, p)
				}
			}
		}
	}
}

// TestCentreIsKept: speech of surround sound lies in its centre.
func TestCentreIsKept(t *testing.T) {
	t.Parallel()
	file := wav(t, 48000, "5.1", 1, "0", "0", "0.5*sin(2*PI*440*t)", "0", "0", "0")
	for _, to := range []string{"stereo", "mono", "downmix"} {
		s := work(t, Work{Layout: to}, strip{Rate: 48000, Layout: "5.1", Channels: 6, Length: second}, bedding{}, file)
		for side := range s {
			if p := s.peak(side, 48000, 0.1, 0.9); p < -18 {
				t.Errorf("%s, side %d: %.1f dBFS", to, side, p)
			}
		}
	}
	s := work(t, Work{}, strip{Rate: 48000, Layout: "5.1", Channels: 6, Length: second}, bedding{}, file)
	near(t, "the layout stays unless asked", s.peak(2, 48000, 0.1, 0.9), -6, 0.1)
	near(t, "nothing else is there", s.peak(0, 48000, 0.1, 0.9), -180, 1)
}

func TestLevels(t *testing.T) {
	t.Parallel()
	file := wav(t, 48000, "stereo", 4, "if(lt(t,2),0.5,0.001)*sin(2*PI*440*t)", "-if(lt(t,2),0.5,0.001)*sin(2*PI*440*t)")
	tr := strip{Rate: 48000, Layout: "stereo", Channels: 2, Length: 4 * second}
	limit := DefaultLimiter()
	limit.Ceiling = -12
	gate := DefaultGate()
	comp := DefaultCompressor()
	for _, c := range []struct {
		name string
		w    Work
		from float64 // a quiet part is looked at from 2.5 s on
		want float64
		by   float64
	}{
		{"gain", Work{Gain: -10}, 0.5, -16, 0.05},
		{"gain above full scale is kept until the limiter", Work{Gain: 20, Limiter: &limit}, 0.5, -12, 0.1},
		{"a limiter raises nothing", Work{Limiter: &limit}, 2.5, -60, 0.1},
		{"gate", Work{Gate: &gate}, 3, -100, 1},
		{"the gate lets loud sound through", Work{Gate: &gate}, 0.5, -6, 0.2},
		// 14 dB above the threshold at ratio 3: two thirds of it less.
		{"compressor", Work{Compressor: &comp}, 0.5, -6 - 14*2.0/3, 1},
		{"widening opposite sides", Work{Widen: 0.5}, 0.5, -6 + 3.52, 0.1},
		{"fade in", Work{FadeIn: 2 * second}, 0.5, -6, 3.6},
	} {
		s := work(t, c.w, tr, bedding{}, file)
		near(t, c.name, s.peak(0, 48000, c.from, c.from+1), c.want, c.by)
	}
	s := work(t, Work{FadeIn: second, FadeOut: second}, strip{Rate: 48000, Layout: "stereo", Channels: 2, Length: 2 * second}, bedding{}, file)
	near(t, "the first samples", s.peak(0, 48000, 0, 0.01), -46, 8)
	near(t, "the last samples", s.peak(0, 48000, 1.99, 2), -46, 8)
	near(t, "half-way in", s.peak(0, 48000, 0.49, 0.51), -12, 0.6)
}

func TestWorkRefuses(t *testing.T) {
	t.Parallel()
	stereo := strip{In: "a", Out: "o", Rate: 48000, Layout: "stereo", Channels: 2, Length: second}
	gate, comp, limit, duck := DefaultGate(), DefaultCompressor(), DefaultLimiter(), DefaultDuck()
	gate.Ratio, comp.Ratio, limit.Ceiling, duck.Amount = 0, 21, 1, 61
	for name, w := range map[string]Work{
		"gain": {Gain: 61}, "not a number": {Gain: math.NaN()}, "gate": {Gate: &gate}, "compressor": {Compressor: &comp},
		"limiter": {Limiter: &limit}, "ducking": {Music: &Bed{}, Duck: &duck}, "no music": {Duck: &Duck{Amount: 3, Attack: 1, Release: 1}},
		"voice": {Voice: "huge"}, "layout": {Layout: "5.1"}, "a fade": {FadeIn: -1}, "widening mono": {Layout: "mono", Widen: 0.5},
		"a volume": {Effects: &Bed{Volume: 31}}, "endless loop": {Music: &Bed{Loop: true}},
	} {
		tr := stereo
		if name == "endless loop" {
			tr.Length = 3 * 3600 * second
		}
		if _, _, err := w.chain(tr, bedding{Music: bedInput{"m", "stereo", 2, 3600 * second}}); err == nil {
			t.Errorf("passed: %s", name)
		} else if e := cutroom.AsError(err); e.Code == cutroom.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWorkIsWellFormed: whatever is asked, the argument checker knows every filter, and
// every inner link is made once and used once.
func TestWorkIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := Work{
			Denoise: rapid.SampledFrom([]float64{0, 1, 12, 97}).Draw(rt, "denoise"), Voice: rapid.SampledFrom([]string{"", "light", "medium", "strong"}).Draw(rt, "voice"),
			Gain: rapid.Float64Range(-60, 60).Draw(rt, "gain"), Layout: rapid.SampledFrom([]string{"", "stereo", "mono", "downmix"}).Draw(rt, "layout"),
			FadeIn: cutroom.Micros(rapid.Int64Range(0, 1e7).Draw(rt, "in")), FadeOut: cutroom.Micros(rapid.Int64Range(0, 1e7).Draw(rt, "out")),
		}
		bed := func(name string) *Bed {
			if !rapid.Bool().Draw(rt, name) {
				return nil
			}
			return &Bed{
				Volume: rapid.Float64Range(-60, 30).Draw(rt, "volume"), Loop: rapid.Bool().Draw(rt, "loop"),
				Offset: cutroom.Micros(rapid.Int64Range(-1e7, 1e7).Draw(rt, "offset")), FadeOut: cutroom.Micros(rapid.Int64Range(0, 1e7).Draw(rt, "fade")),
			}
		}
		w.Replace, w.Music, w.Effects = bed("replace"), bed("music"), bed("effects")
		if w.Music != nil && rapid.Bool().Draw(rt, "duck") {
			d := DefaultDuck()
			w.Duck = &d
		}
		ls := layouts()
		l := rapid.SampledFrom(ls).Draw(rt, "layout of the track")
		m := rapid.SampledFrom(ls).Draw(rt, "layout of the beds")
		in := func(link string) bedInput {
			return bedInput{link, m.name, len(m.channels), cutroom.Micros(rapid.Int64Range(0, 2e7).Draw(rt, "bed"))}
		}
		tr := strip{In: "in", Out: "out", Rate: rapid.IntRange(8000, 192000).Draw(rt, "rate"), Layout: l.name, Channels: len(l.channels), Length: cutroom.Micros(rapid.Int64Range(1, 1e8).Draw(rt, "length"))}
		filters, after, err := w.chain(tr, bedding{in("r"), in("m"), in("e")})
		if err != nil {
			rt.Fatal(err)
		}
		if after.Channels != len(channelsOf(after.Layout, after.Channels)) {
			rt.Fatalf("%+v", after)
		}
		c := argv.Command{Program: "ffmpeg", Args: argv.Words("-nostdin", "-protocol_whitelist", "file", "-i")}
		c.Inputs = []int{0}
		c.Args = append(c.Args, argv.In(0), argv.Word("-filter_complex"), argv.Graph(filters), argv.Out("o.wav"))
		table := argv.Programs()["ffmpeg"]
		args, err := argv.Render(c, table, argv.GrantsOf(c, nil))
		if err == nil {
			err = argv.Check(table, args, argv.GrantsOf(c, nil))
		}
		if err != nil {
			rt.Fatalf("%s: %v", filters, err)
		}
		links := map[string]int{}
		for _, part := range strings.FieldsFunc(filters, func(r rune) bool { return r == '[' || r == ']' }) {
			if strings.HasPrefix(part, "outw") {
				links[part]++
			}
		}
		for l, n := range links {
			if n != 2 {
				rt.Fatalf("%s stands %d times in %s", l, n, filters)
			}
		}
	})
}

func TestLayoutsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	counts := map[int]int{}
	for _, l := range layouts() {
		if l.usual {
			counts[len(l.channels)]++
		}
		if got := channelsOf(l.name, len(l.channels)); !slices.Equal(got, l.channels) {
			t.Errorf("%s: %v", l.name, got)
		}
	}
	for n := 1; n <= 8; n++ {
		if counts[n] != 1 {
			t.Errorf("%d layouts are the usual one of %d channels", counts[n], n)
		}
	}
	if got := channelsOf("no such", 6); !slices.Contains(got, "LFE") {
		t.Error(got)
	}
	if channelsOf("", 17) != nil {
		t.Error("17 channels")
	}
}
