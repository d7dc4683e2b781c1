package rhythm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

// player makes sound: a second has rate samples.
type player struct {
	rate int
	x    []float32
	rng  *rand.Rand
}

func newPlayer(rate int, seconds float64, seed uint64) *player {
	return &player{rate, make([]float32, int(seconds*float64(rate))), rand.New(rand.NewPCG(seed, 1))}
}

// hit adds a decaying tone or noise at a time.
func (p *player) hit(at, freq, gain, decay float64, noise bool) {
	from := int(math.Round(at * float64(p.rate)))
	for i := 0; i < int(6*decay*float64(p.rate)) && from+i < len(p.x); i++ {
		if from+i < 0 {
			continue
		}
		s := float64(i) / float64(p.rate)
		v := math.Sin(2 * math.Pi * freq * s)
		if noise {
			v = 2*p.rng.Float64() - 1
		}
		p.x[from+i] += float32(gain * v * math.Exp(-s/decay))
	}
}

func (p *player) hiss(gain float64) {
	for i := range p.x {
		p.x[i] += float32(gain * (2*p.rng.Float64() - 1))
	}
}

func (p *player) envelope(start cutroom.Micros) Envelope {
	o := NewOnsets(p.rate, 0)
	for x := p.x; len(x) > 0; {
		n := min(len(x), 1000+p.rng.IntN(3000))
		o.Add(x[:n])
		x = x[n:]
	}
	return o.Envelope(start)
}

// drums plays a pattern of kick, snare and hats over a bass line, with a human's
// timing; swing is how much later every other eighth comes.
func (p *player) drums(bpm, start, jitter, swing float64, drift float64) (beats []float64) {
	at := start
	total := float64(len(p.x)) / float64(p.rate)
	for k := 0; at < total-0.1; k++ {
		beats = append(beats, at)
		j := func() float64 { return jitter * p.rng.NormFloat64() }
		p.hit(at+j(), 3000, 0.08, 0.015, true)
		p.hit(at+30/bpm*(1+swing)+j(), 3000, 0.06, 0.015, true)
		if k%2 == 0 {
			p.hit(at+j(), 55, 0.6, 0.12, false)
		} else {
			p.hit(at+j(), 180, 0.3, 0.08, true)
		}
		p.hit(at+j(), []float64{82, 98, 110, 73}[k/4%4], 0.2, 0.25, false)
		bpm *= 1 + drift
		at += 60 / bpm
	}
	return beats
}

func score(b Beats, want []float64) (right, bias float64) {
	hits := 0
	for _, w := range want {
		for _, g := range b.Times {
			if d := g.Seconds() - w; math.Abs(d) < 0.03 {
				hits++
				bias += d
				break
			}
		}
	}
	return 2 * float64(hits) / float64(len(want)+len(b.Times)), bias / float64(max(1, hits))
}

// TestClicksGiveTheirTempo: every tempo of the range, to a tenth of a percent, and each
// click within 5 ms, at the rates that recordings have.
func TestClicksGiveTheirTempo(t *testing.T) {
	t.Parallel()
	for i, bpm := range []float64{60, 66, 75, 90, 100, 110, 120, 128, 140, 150, 160, 174, 180, 200} {
		rate := []int{44_100, 48_000, 16_000, 8_000, 22_050}[i%5]
		p := newPlayer(rate, 20, 1)
		var want []float64
		for at := 0.3; at < 19.9; at += 60 / bpm {
			want = append(want, at)
			p.hit(at, 1000, 0.5, 0.02, false)
		}
		b := FindBeats(p.envelope(5*cutroom.Second), BeatOptions{})
		for k := range want {
			want[k] += 5
		}
		right, bias := score(b, want)
		if math.Abs(b.Tempo/bpm-1) > 0.001 || right < 0.99 || math.Abs(bias) > 0.005 || b.Confidence < 0.9 || b.Spread > 3000 {
			t.Errorf("%v a minute at %d Hz: %v, %.2f right, %.4f s off, confidence %v, spread %v", bpm, rate, b.Tempo, right, bias, b.Confidence, b.Spread)
		}
	}
}

// TestBeatsOfDrums: timing of a human, swing, noise, and a tempo that drifts by 2 to 5 %.
// Where every half beat sounds alike either octave is right.
func TestBeatsOfDrums(t *testing.T) {
	t.Parallel()
	for _, bpm := range []float64{62, 75, 90, 120, 150, 174} {
		for _, c := range []struct{ jitter, swing, drift, hiss float64 }{{0, 0, 0, 0}, {0.006, 0.33, 0, 0.01}, {0.004, 0, 0.001, 0.05}} {
			p := newPlayer(22_050, 20, uint64(bpm))
			p.hiss(c.hiss)
			want := p.drums(bpm, 0.7, c.jitter, c.swing, c.drift)
			b := FindBeats(p.envelope(0), BeatOptions{Low: bpm * 0.75, High: bpm * 1.4})
			right, bias := score(b, want)
			if right < 0.95 || math.Abs(bias) > 0.01 || b.Confidence < 0.7 || b.Tempo < bpm*0.99 || b.Tempo > bpm*1.06 {
				t.Errorf("%v %+v: tempo %v, %.2f right, %.4f s off, confidence %v", bpm, c, b.Tempo, right, bias, b.Confidence)
			}
			if c.drift == 0 && math.Abs(b.Tempo/bpm-1) > 0.003 {
				t.Errorf("%v %+v: tempo %v", bpm, c, b.Tempo)
			}
		}
	}
}

func TestWhatHasNoBeatIsNotTrusted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		hiss := newPlayer(16_000, 30, seed)
		hiss.hiss(0.1)
		random := newPlayer(16_000, 30, seed)
		for range 40 + 15*seed {
			random.hit(random.rng.Float64()*30, 200+random.rng.Float64()*2000, 0.3, 0.05, random.rng.IntN(2) == 0)
		}
		for name, p := range map[string]*player{"noise": hiss, "hits at random": random} {
			if b := FindBeats(p.envelope(0), BeatOptions{}); b.Confidence >= 0.3 {
				t.Errorf("%s %d: %v a minute, confidence %v", name, seed, b.Tempo, b.Confidence)
			}
		}
	}
	for name, p := range map[string]*player{"silence": newPlayer(8000, 10, 1), "nothing": newPlayer(8000, 0, 1)} {
		if b := FindBeats(p.envelope(0), BeatOptions{}); b.Tempo != 0 || b.Confidence != 0 || len(b.Times) != 0 {
			t.Errorf("%s: %+v", name, b)
		}
	}
	tone := newPlayer(8000, 10, 1)
	tone.hit(0, 440, 0.5, 1e9, false)
	if b := FindBeats(tone.envelope(0), BeatOptions{}); b.Confidence >= 0.3 {
		t.Errorf("a steady tone: %+v", b)
	}
}

// TestOnlyTheMusicHasBeats: none is made up before it or after it, and those in a break
// are not said to be supported.
func TestOnlyTheMusicHasBeats(t *testing.T) {
	t.Parallel()
	p := newPlayer(16_000, 30, 3)
	for k := range 41 {
		if k < 16 || k > 23 {
			p.hit(5+0.5*float64(k), 800, 0.5, 0.03, false)
		}
	}
	b := FindBeats(p.envelope(0), BeatOptions{})
	if len(b.Times) != 41 || len(b.Supported) != 33 || b.Times[0] < 4_990_000 || b.Times[40] > 25_010_000 || b.Confidence < 0.5 {
		t.Errorf("%d beats, %d supported, %v to %v, confidence %v", len(b.Times), len(b.Supported), b.Times[0], b.Times[len(b.Times)-1], b.Confidence)
	}
	for _, s := range b.Supported {
		if s > 12_600_000 && s < 16_900_000 {
			t.Errorf("a supported beat at %v, where nothing sounds", s)
		}
	}
}

// TestPoisonedEnvelopes: whatever the numbers are, there is an answer.
func TestPoisonedEnvelopes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Envelope{Hop: rapid.IntRange(0, 500).Draw(t, "hop"), Rate: rapid.IntRange(0, 50_000).Draw(t, "rate")}
		e.Onset = rapid.SliceOfN(rapid.Float32(), 0, 400).Draw(t, "onset")
		b := FindBeats(e, BeatOptions{Low: rapid.Float64Range(0, 300).Draw(t, "low"), High: rapid.Float64Range(0, 300).Draw(t, "high")})
		if b.Confidence < 0 || b.Confidence > 1 || b.Confidence != b.Confidence || !slices.IsSorted(b.Times) || len(b.Supported) > len(b.Times) {
			t.Fatalf("%+v", b)
		}
	})
}

func TestSnap(t *testing.T) {
	t.Parallel()
	got := Snap([]cutroom.Micros{90, 150, 500, 1000}, []cutroom.Micros{200, 100}, 50)
	want := []Snapped{{90, 100, true}, {150, 100, true}, {500, 500, false}, {1000, 1000, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Map(rapid.Int64Range(0, 1000), func(v int64) cutroom.Micros { return cutroom.Micros(v) })
		times, targets := rapid.SliceOf(micros).Draw(t, "times"), rapid.SliceOf(micros).Draw(t, "targets")
		tolerance := cutroom.Micros(rapid.Int64Range(0, 100).Draw(t, "tolerance"))
		for i, s := range Snap(times, targets, tolerance) {
			best := cutroom.Micros(1 << 40)
			for _, g := range targets {
				best = min(best, max(g-times[i], times[i]-g))
			}
			if s.From != times[i] || s.Moved != (best <= tolerance) || s.Moved && max(s.To-s.From, s.From-s.To) != best || !s.Moved && s.To != s.From {
				t.Fatalf("%v of %v within %v: %+v, nearest is %v away", times[i], targets, tolerance, s, best)
			}
		}
	})
}
