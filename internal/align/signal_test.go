package align

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// fine is the sampling rate at which what was to be heard is made, before two devices
// record it.
const fine = 16000

// scene is what was to be heard.
type scene []float64

// noise is white, or pink when soft.
func noiseScene(rng *rand.Rand, seconds float64) scene {
	s := make(scene, int(seconds*fine))
	soft := rng.Float64() < 0.5
	var low float64
	for i := range s {
		v := rng.NormFloat64()
		if soft {
			low += 0.05 * (v - low)
			v = low*4 + 0.1*v
		}
		s[i] = v
	}
	return s
}

// resonance is a two-pole filter.
type resonance struct{ a, b, g, y1, y2 float64 }

func newResonance(hz, width float64) *resonance {
	r := math.Exp(-math.Pi * width / fine)
	return &resonance{a: 2 * r * math.Cos(2*math.Pi*hz/fine), b: -r * r, g: 1 - r}
}

func (f *resonance) step(x float64) float64 {
	y := f.g*x + f.a*f.y1 + f.b*f.y2
	f.y2, f.y1 = f.y1, y
	return y
}

// talkScene is like speech: syllables of a buzz or of hiss through wandering
// resonances, words, pauses.
func talkScene(rng *rand.Rand, seconds float64) scene {
	s := make(scene, int(seconds*fine))
	for i := 0; i < len(s); {
		i += int(fine * (0.02 + 0.05*rng.Float64()))
		if rng.Float64() < 0.18 {
			i += int(fine * (0.2 + 0.9*rng.Float64())) // a breath
		}
		length := int(fine * (0.06 + 0.22*rng.Float64()))
		pitch := 90 + 120*rng.Float64()
		glide := (rng.Float64() - 0.5) * 60
		voiced := rng.Float64() < 0.75
		formants := []*resonance{newResonance(300+500*rng.Float64(), 80), newResonance(900+1400*rng.Float64(), 120), newResonance(2300+900*rng.Float64(), 180)}
		hiss := newResonance(2500+2500*rng.Float64(), 1500)
		loud := 0.4 + 0.6*rng.Float64()
		phase := rng.Float64()
		for k := 0; k < length && i+k < len(s); k++ {
			t := float64(k) / float64(length)
			shape := loud * math.Sin(math.Pi*t)
			var v float64
			if voiced {
				phase += (pitch + glide*t) / fine
				x := 0.02 * rng.NormFloat64()
				if phase >= 1 {
					phase--
					x++
				}
				for _, f := range formants {
					v += 30 * f.step(x)
				}
			} else {
				v = 1.5 * hiss.step(rng.NormFloat64())
			}
			s[i+k] += shape * v
		}
		i += length
	}
	return s
}

// musicScene is a band with a steady beat: plucked notes, chords, a drum.
func musicScene(rng *rand.Rand, seconds float64) scene {
	s := make(scene, int(seconds*fine))
	beat := 60 / (80 + 70*rng.Float64())
	scale := []int{0, 2, 3, 5, 7, 8, 10}
	pluck := func(at, hz, length, loud float64) {
		from := int(at * fine)
		for k := 0; k < int(length*fine) && from+k < len(s); k++ {
			t := float64(k) / fine
			v := 0.0
			for h := 1; h <= 6; h++ {
				v += math.Sin(2*math.Pi*hz*float64(h)*t) / float64(h) * math.Exp(-t*float64(2+h))
			}
			s[from+k] += loud * v * min(1, t*200)
		}
	}
	for n := 0; float64(n)*beat/2 < seconds; n++ {
		at := float64(n) * beat / 2
		note := func(octave int) float64 {
			return 110 * math.Pow(2, float64(octave)+float64(scale[rng.IntN(len(scale))])/12)
		}
		if n%8 == 0 {
			for range 3 {
				pluck(at, note(0), 4*beat, 0.3)
			}
		}
		if rng.Float64() < 0.7 {
			pluck(at, note(1+rng.IntN(2)), beat, 0.5)
		}
		if n%2 == 0 { // the same drum, always
			from := int(at * fine)
			for k := 0; k < fine/8 && from+k < len(s); k++ {
				t := float64(k) / fine
				s[from+k] += math.Sin(2*math.Pi*60*t+8*math.Exp(-t*30)) * math.Exp(-t*25)
			}
		}
	}
	return s
}

// realScene is people speaking: the readings beside the repository, in a row and none
// twice. Without them it is like speech.
func realScene(tb testing.TB, rng *rand.Rand, seconds float64) scene {
	dir := realFolder()
	if dir == "" {
		return talkScene(rng, seconds)
	}
	var s scene
	for _, name := range []string{"two_cities_16k.wav", "jfk.wav", "pv_test_es.wav"} {
		s = append(s, readWAV(tb, filepath.Join(dir, name))...)
	}
	turn := rng.IntN(len(s))
	s = append(append(scene{}, s[turn:]...), s[:turn]...)
	return s[:min(len(s), int(seconds*fine))]
}

// realFolder is where real recordings are, "" where the repository stands alone.
func realFolder() string {
	dir, err := os.Getwd()
	for err == nil && dir != "/" {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	for _, real := range []string{filepath.Join(dir, "..", "shared", "cases", "real")} {
		if _, err := os.Stat(filepath.Join(real, "two_cities_16k.wav")); err == nil {
			return real
		}
	}
	return ""
}

// readWAV reads 16-bit mono samples at 16 kHz.
func readWAV(tb testing.TB, path string) scene {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for at := 12; at+8 <= len(raw); {
		size := int(binary.LittleEndian.Uint32(raw[at+4:]))
		if string(raw[at:at+4]) == "data" {
			data := raw[at+8 : min(len(raw), at+8+size)]
			s := make(scene, len(data)/2)
			for i := range s {
				s[i] = float64(int16(binary.LittleEndian.Uint16(data[2*i:]))) / 32768
			}
			return s
		}
		at += 8 + size + size%2
	}
	tb.Fatalf("%s holds no samples", path)
	return nil
}

// device records a scene.
type device struct {
	begin   float64 // seconds of the scene
	seconds float64 // of the scene, at most
	drift   float64 // how much faster its clock runs: 1e-6 is one millionth
	gain    float64
	tone    []*resonance // equaliser
	clip    float64      // 0: none
	hiss    float64      // noise of its own, relative to the sound: 1 is 0 dB
	coarse  bool         // companded to 8 bits, as telephones do
	room    float64      // 0–1: echoes of a room of its own
	invert  bool
}

// taps of the resampling filter on each side; its table has phases between samples.
const (
	taps   = 16
	phases = 512
)

// kernels are the filter's weights, by phase: a low pass at 3.7 kHz.
var kernels = sync.OnceValue(func() *[phases + 1][2 * taps]float64 {
	k := new([phases + 1][2 * taps]float64)
	for p := range k {
		for i := range k[p] {
			t := float64(i-taps+1) - float64(p)/phases
			x, v := t*0.46, 0.46
			if x != 0 {
				v *= math.Sin(math.Pi*x) / (math.Pi * x)
			}
			k[p][i] = v * (0.5 + 0.5*math.Cos(math.Pi*max(-1, min(1, t/taps))))
		}
	}
	return k
})

// record returns what the device heard, as 16 bits at Rate.
func (d device) record(rng *rand.Rand, s scene) []int16 {
	n := int(min(d.seconds, float64(len(s))/fine-d.begin) * Rate * (1 + d.drift))
	x := make([]float64, n)
	table := kernels()
	padded := make([]float64, len(s)+4*taps)
	copy(padded[taps:], s)
	for i := range x {
		t := (d.begin + float64(i)/Rate/(1+d.drift)) * fine
		whole := math.Floor(t)
		kernel := &table[int(math.Round((t-whole)*phases))]
		near := padded[int(whole)+1:][:2*taps]
		var v float64
		for k, w := range kernel {
			v += near[k] * w
		}
		x[i] = v
	}
	d.colour(rng, x)
	var power float64
	for _, v := range x {
		power += v * v
	}
	power = math.Sqrt(power / float64(max(1, n)))
	pcm := make([]int16, n)
	for i, v := range x {
		v = (v/power + d.hiss*rng.NormFloat64()) * 0.1 * d.gain
		if d.clip > 0 {
			v = max(-d.clip*0.1*d.gain, min(d.clip*0.1*d.gain, v))
		}
		if d.coarse {
			c := math.Round(127*math.Copysign(math.Log1p(255*min(1, math.Abs(v)))/math.Log(256), v)) / 127
			v = math.Copysign((math.Pow(256, math.Abs(c))-1)/255, c)
		}
		if d.invert {
			v = -v
		}
		pcm[i] = int16(max(-32768, min(32767, math.Round(v*32768))))
	}
	return pcm
}

// colour applies equaliser and room.
func (d device) colour(rng *rand.Rand, x []float64) {
	for _, f := range d.tone {
		for i, v := range x {
			x[i] = 0.3*v + 6*f.step(v)
		}
	}
	if d.room > 0 {
		type echo struct {
			delay int
			share float64
		}
		var echoes []echo
		for range 12 {
			t := 0.003 + 0.15*rng.Float64()
			echoes = append(echoes, echo{int(t * Rate), d.room * math.Exp(-t/0.06) * rng.NormFloat64() * 0.5})
		}
		dry := append([]float64{}, x...)
		for i := range x {
			for _, e := range echoes {
				if i >= e.delay {
					x[i] += e.share * dry[i-e.delay]
				}
			}
		}
	}
}

// pair is two recordings of one scene, or of two.
type pair struct {
	kind   string
	a, b   *Sound
	offset float64 // seconds
	drift  float64 // millionths
}

var kinds = []string{"noise", "talk", "real", "music"}

func makeScene(tb testing.TB, rng *rand.Rand, kind string, seconds float64) scene {
	switch kind {
	case "noise":
		return noiseScene(rng, seconds)
	case "talk":
		return talkScene(rng, seconds)
	case "real":
		return realScene(tb, rng, seconds)
	}
	return musicScene(rng, seconds)
}

// anyDevice is a device with faults.
func anyDevice(rng *rand.Rand) device {
	d := device{seconds: 1e9, gain: math.Pow(10, rng.Float64()*1.5-1), invert: rng.Float64() < 0.1}
	if rng.Float64() < 0.5 {
		d.tone = append(d.tone, newResonance(200+3000*rng.Float64(), 300+1000*rng.Float64()))
	}
	if rng.Float64() < 0.25 {
		d.clip = 0.7 + rng.Float64()
	}
	if rng.Float64() < 0.6 {
		d.hiss = 1
	}
	if rng.Float64() < 0.3 {
		d.room = rng.Float64()
	}
	d.coarse = rng.Float64() < 0.25
	return d
}

// relatedPair makes the n-th pair of a seed: offsets of up to 30 s either way, clocks
// that differ by up to 500 millionths, noise as loud as the sound.
func relatedPair(tb testing.TB, n uint64) pair {
	rng := rand.New(rand.NewPCG(4, n))
	p := pair{kind: kinds[n%4]}
	p.offset, p.drift = rng.Float64()*60-30, rng.Float64()*1000-500
	s := makeScene(tb, rng, p.kind, 75+45*rng.Float64())
	one, two := anyDevice(rng), anyDevice(rng)
	one.begin, two.begin = max(0, -p.offset), max(0, p.offset)
	two.drift = p.drift * 1e-6
	p.a, p.b = Samples(0, one.record(rng, s)), Samples(0, two.record(rng, s))
	return p
}

// strangers makes two recordings of different scenes of one kind, or of two.
func strangers(tb testing.TB, n uint64) pair {
	rng := rand.New(rand.NewPCG(5, n))
	kind := kinds[n%4]
	if kind == "real" {
		kind = "talk" // the readings are too short to be two scenes
	}
	other := kind
	if n%8 >= 6 {
		other = kinds[rng.IntN(2)]
	}
	p := pair{kind: kind + " and " + other}
	p.a = Samples(0, anyDevice(rng).record(rng, makeScene(tb, rng, kind, 75+45*rng.Float64())))
	p.b = Samples(0, anyDevice(rng).record(rng, makeScene(tb, rng, other, 75+45*rng.Float64())))
	return p
}
