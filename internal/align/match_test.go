package align

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/testenv"
)

// each calls f for 0 to n−1, on all processors.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// TestPairs: recordings of one scene by two devices with all their faults are laid
// within 10 ms of the truth, at least 99 in 100 of them.
func TestPairs(t *testing.T) {
	t.Parallel()
	n := 24
	if testenv.Soak() {
		n = 200
	}
	var mu sync.Mutex
	var amiss int
	var worst, drift, least float64 = 0, 0, 1
	each(n, func(i int) {
		p := relatedPair(t, uint64(i))
		m := Compare(p.a, p.b)
		off, slip := math.Abs(m.Offset-p.offset), math.Abs(m.Drift*1e6-p.drift)
		mu.Lock()
		defer mu.Unlock()
		if !m.Found || off > 0.010 {
			amiss++
			t.Logf("pair %d, %s: offset %.4f s is said to be %.4f s, drift %.1f %.1f; found %v, confidence %.3f, score %.1f", i, p.kind, p.offset, m.Offset, p.drift, m.Drift*1e6, m.Found, m.Confidence, m.Score)
			return
		}
		worst, drift, least = max(worst, off), max(drift, slip), min(least, m.Confidence)
		if slip > 6*max(m.DriftDoubt*1e6, 3) {
			t.Errorf("pair %d, %s: drift of %.1f ppm is said to be %.1f ± %.1f", i, p.kind, p.drift, m.Drift*1e6, m.DriftDoubt*1e6)
		}
		if m.ByWaves && m.Elsewhere > m.Agreeing/4 {
			t.Errorf("pair %d, %s: %d windows of %d agree, %d lie elsewhere", i, p.kind, m.Agreeing, m.Windows, m.Elsewhere)
		}
	})
	t.Logf("%d of %d pairs within 10 ms; worst %.3f ms, %.2f ppm; least confidence %.3f", n-amiss, n, worst*1e3, drift, least)
	if amiss*100 > n {
		t.Errorf("%d of %d pairs are not laid within 10 ms", amiss, n)
	}
}

// TestStrangers: recordings of different scenes are refused, all of them.
func TestStrangers(t *testing.T) {
	t.Parallel()
	n := 12
	if testenv.Soak() {
		n = 100
	}
	var mu sync.Mutex
	var most float64
	each(n, func(i int) {
		p := strangers(t, uint64(i))
		m := Compare(p.a, p.b)
		mu.Lock()
		defer mu.Unlock()
		most = max(most, m.Confidence)
		if m.Found || m.Reason == "" {
			t.Errorf("pair %d, %s: said to match at %.3f s, confidence %.3f, score %.1f", i, p.kind, m.Offset, m.Confidence, m.Score)
		}
	})
	t.Logf("%d of %d pairs refused; highest confidence %.3f of the needed %.1f", n, n, most, Threshold)
}

// plain is a device without faults.
func plain(begin, seconds float64) device { return device{begin: begin, seconds: seconds, gain: 1} }

func newRand(n uint64) *rand.Rand { return rand.New(rand.NewPCG(6, n)) }

// TestNothingToHear: what cannot be laid says why.
func TestNothingToHear(t *testing.T) {
	t.Parallel()
	rng := newRand(1)
	talk := Samples(0, plain(0, 20).record(rng, talkScene(rng, 20)))
	sine := func(n int, hz float64) *Sound {
		pcm := make([]int16, n)
		for i := range pcm {
			pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/Rate))
		}
		return Samples(0, pcm)
	}
	for name, c := range map[string]struct{ a, b *Sound }{
		"silent reference":   {Samples(0, make([]int16, 80000)), talk},
		"silent second":      {talk, Samples(0, make([]int16, 80000))},
		"no sample":          {talk, Samples(0, nil)},
		"one sample":         {Samples(0, []int16{9000}), Samples(0, []int16{9000})},
		"a sine with a tone": {sine(200_000, 440), sine(160_000, 440)},
		"two tones":          {sine(200_000, 440), sine(160_000, 1000)},
		"talk and a tone":    {talk, sine(160_000, 1000)},
	} {
		if m := Compare(c.a, c.b); m.Found || m.Reason == "" {
			t.Errorf("%s: found %v at %.3f s, confidence %.3f: %q", name, m.Found, m.Offset, m.Confidence, m.Reason)
		}
	}
}

// TestMetronome: what repeats itself fits in many places, and is refused with the
// second place named.
func TestMetronome(t *testing.T) {
	t.Parallel()
	rng := newRand(2)
	const beat = 0.5
	s := make(scene, 90*fine)
	for k := range int(90 / beat) {
		for i := range 400 {
			s[int(float64(k)*beat*fine)+i] = math.Sin(2*math.Pi*1500*float64(i)/fine) * math.Exp(-float64(i)/80)
		}
	}
	one, two := plain(0, 60), plain(12.25, 60)
	one.hiss, two.hiss = 0.2, 0.2
	m := Compare(Samples(0, one.record(rng, s)), Samples(0, two.record(rng, s)))
	if m.Found || m.RunnerUp == nil {
		t.Fatalf("a metronome is said to match at %.3f s with confidence %.3f, runner-up %+v", m.Offset, m.Confidence, m.RunnerUp)
	}
	beats := (m.RunnerUp.Offset - m.Offset) / beat
	if math.Abs(beats-math.Round(beats)) > 0.05 || math.Round(beats) == 0 {
		t.Errorf("the runner-up lies %.3f beats from the best answer", beats)
	}
}

// TestInside: a clip is found in the recording that holds it, whichever is the
// reference, and however short it is.
func TestInside(t *testing.T) {
	t.Parallel()
	for i, kind := range []string{"noise", "talk", "real", "music"} {
		rng := newRand(uint64(10 + i))
		s := makeScene(t, rng, kind, 60)
		whole := Samples(0, plain(0, 60).record(rng, s))
		for _, length := range []float64{0.5, 1, 3, 10} {
			// Where there is sound: a pause of half a second fits everywhere.
			begin := loudPart(s, length)
			d := plain(begin, length)
			d.hiss = 0.1
			clip := Samples(0, d.record(rng, s))
			for k, m := range []Match{Compare(whole, clip), Compare(clip, whole)} {
				want := begin
				if k == 1 {
					want = -begin
				}
				// A band repeats itself: a beat or two of it may be refused, never laid wrongly.
				if !m.Found && kind == "music" && length < 3 && m.RunnerUp != nil {
					continue
				}
				if !m.Found || math.Abs(m.Offset-want) > 0.005 {
					t.Errorf("%s, %.1f s, way %d: said to lie at %.4f s, not %.4f s; found %v, confidence %.3f, score %.1f, %s", kind, length, k, m.Offset, want, m.Found, m.Confidence, m.Score, m.Reason)
				}
			}
		}
	}
}

// loudPart is where the loudest part of that length begins, in seconds.
func loudPart(s scene, length float64) float64 {
	best, most := 0.0, -1.0
	for at := 1.0; at+length+1 < float64(len(s))/fine; at += 0.37 {
		var sum float64
		for _, v := range s[int(at*fine):int((at+length)*fine)] {
			sum += v * v
		}
		if sum > most {
			best, most = at, sum
		}
	}
	return best
}

// TestShortStrangers: half a second of another scene is not found in a long one.
func TestShortStrangers(t *testing.T) {
	t.Parallel()
	n := 24
	if testenv.Soak() {
		n = 200
	}
	each(n, func(i int) {
		rng := newRand(uint64(100 + i))
		kind := []string{"noise", "talk", "music"}[i%3]
		a := plain(0, 40).record(rng, makeScene(t, rng, kind, 40))
		b := plain(1, []float64{0.5, 1, 2, 5}[i%4]).record(rng, makeScene(t, rng, kind, 8))
		if m := Compare(Samples(0, a), Samples(0, b)); m.Found {
			t.Errorf("%s %d: said to match with confidence %.3f, score %.1f", kind, i, m.Confidence, m.Score)
		}
	})
}

// TestBursts: two bursts of noise and a copy of them shifted by more than a bound
// would allow, which in others made a false answer at the bound.
func TestBursts(t *testing.T) {
	t.Parallel()
	rng := newRand(3)
	s := make(scene, 200*fine)
	for _, at := range []int{100, 104} {
		for i := range fine / 2 {
			s[at*fine+i] = rng.NormFloat64()
		}
	}
	a, b := plain(0, 110), plain(72.125, 120)
	a.hiss, b.hiss = 0.05, 0.05
	m := Compare(Samples(0, a.record(rng, s)), Samples(0, b.record(rng, s)))
	if !m.Found || math.Abs(m.Offset-72.125) > 0.001 {
		t.Errorf("said to lie at %.4f s: found %v, confidence %.3f", m.Offset, m.Found, m.Confidence)
	}
}

// TestDifferentWaves: where waveforms have nothing in common, the course of the
// spectrum still tells, and the answer says so.
func TestDifferentWaves(t *testing.T) {
	t.Parallel()
	rng := newRand(4)
	s := talkScene(rng, 90)
	a, b := plain(0, 70), plain(13.37, 70)
	b.drift = 200e-6
	one, two := a.record(rng, s), b.record(rng, s)
	// A receiver that is out of tune moves every frequency by 40 Hz.
	detune(two, 40)
	m := Compare(Samples(0, one), Samples(0, two))
	if !m.Found || m.ByWaves || m.Agreeing != 0 || math.Abs(m.Offset-13.37) > 0.010 {
		t.Errorf("said to lie at %.4f s by waves %v, agreeing %d: found %v, confidence %.3f; drift %.1f ± %.1f", m.Offset, m.ByWaves, m.Agreeing, m.Found, m.Confidence, m.Drift*1e6, m.DriftDoubt*1e6)
	}
	if math.Abs(m.Drift-b.drift) > 4*m.DriftDoubt+20e-6 {
		t.Errorf("the drift is said to be %.1f ± %.1f ppm", m.Drift*1e6, m.DriftDoubt*1e6)
	}
}

// detune moves every frequency up by hz: single-sideband modulation by a Hilbert
// filter.
func detune(pcm []int16, hz float64) {
	const half = 64
	out := make([]int16, len(pcm))
	for i := range pcm {
		var quad float64
		for k := 1; k <= half; k += 2 {
			w := 2 / (math.Pi * float64(k)) * (0.5 + 0.5*math.Cos(math.Pi*float64(k)/half))
			if i-k >= 0 {
				quad += w * float64(pcm[i-k])
			}
			if i+k < len(pcm) {
				quad -= w * float64(pcm[i+k])
			}
		}
		phase := 2 * math.Pi * hz * float64(i) / Rate
		out[i] = int16(max(-32768, min(32767, float64(pcm[i])*math.Cos(phase)-quad*math.Sin(phase))))
	}
	copy(pcm, out)
}

// TestLaterStretch: the end of a long overlap makes drift and offset more exact.
func TestLaterStretch(t *testing.T) {
	t.Parallel()
	rng := newRand(5)
	s := talkScene(rng, 400)
	a, b := plain(0, 400), plain(9.5, 390)
	b.drift = -321e-6
	one, two := a.record(rng, s), b.record(rng, s)
	cut := func(pcm []int16, from, to int) *Sound {
		return Samples(cutroom.Micros(from)*cutroom.Second, pcm[from*Rate:min(len(pcm), to*Rate)])
	}
	m := Compare(cut(one, 0, 60), cut(two, 0, 60))
	before := m.DriftDoubt
	at, second, ok := m.Later(400*cutroom.Second, cutroom.MicrosOf(float64(len(two))/Rate), 24*cutroom.Second)
	if !ok {
		t.Fatalf("no later stretch: %+v", m)
	}
	whole := func(u cutroom.Micros) int { return int(u / cutroom.Second) }
	if !m.Extend(cut(one, whole(at), whole(at)+24), cut(two, whole(second), whole(second)+24)) {
		t.Fatal("the later stretch does not fit")
	}
	if math.Abs(m.Offset-9.5) > 0.0005 || math.Abs(m.Drift-b.drift) > 1e-6 || m.DriftDoubt > before/2 || m.To < 398 {
		t.Errorf("offset %.5f, drift %.2f ± %.2f ppm (before ± %.2f), to %.1f", m.Offset, m.Drift*1e6, m.DriftDoubt*1e6, before*1e6, m.To)
	}
	if _, _, more := m.Later(400*cutroom.Second, 390*cutroom.Second, 24*cutroom.Second); more {
		t.Error("the end is asked for twice")
	}
	if m.Extend(cut(one, 100, 124), cut(two, 200, 224)) {
		t.Error("a stretch that lies elsewhere is said to fit")
	}
}

// TestLostSamples: a recorder that lost samples fits in two places, which is said.
func TestLostSamples(t *testing.T) {
	t.Parallel()
	rng := newRand(7)
	s := talkScene(rng, 60)
	one, two := plain(0, 60).record(rng, s), plain(0, 60).record(rng, s)
	two = append(two[:30*Rate:30*Rate], two[30*Rate+Rate/40:]...) // 25 ms
	m := Compare(Samples(0, one), Samples(0, two))
	if !m.Found || m.Elsewhere < m.Windows/4 {
		t.Errorf("found %v, %d windows: %d agree, %d lie elsewhere", m.Found, m.Windows, m.Agreeing, m.Elsewhere)
	}
}

// TestPublicAxes: sound that begins late in its file is laid on the file's time.
func TestPublicAxes(t *testing.T) {
	t.Parallel()
	rng := newRand(8)
	s := talkScene(rng, 40)
	one, two := plain(0, 40).record(rng, s), plain(5, 35).record(rng, s)
	m := Compare(Samples(700_000, one), Samples(250_000, two))
	if !m.Found || math.Abs(m.Offset-(5+0.7-0.25)) > 0.001 {
		t.Errorf("said to lie at %.4f s", m.Offset)
	}
	if got := m.Second(m.Reference(17)); math.Abs(got-17) > 1e-9 {
		t.Errorf("there and back is %v, not 17", got)
	}
}

// TestAnySamples: whatever is given, there is an answer that keeps its promises.
func TestAnySamples(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *Sound {
			n := rapid.IntRange(0, 20_000).Draw(t, name)
			pcm := make([]int16, n)
			rng := newRand(rapid.Uint64().Draw(t, name+" seed"))
			form := rapid.IntRange(0, 3).Draw(t, name+" form")
			for i := range pcm {
				switch form {
				case 0:
					pcm[i] = int16(rng.IntN(65536) - 32768)
				case 1:
					pcm[i] = int16(32767 * (i / 37 % 2))
				case 2:
					pcm[i] = -32768
				}
			}
			return Samples(cutroom.Micros(rapid.Int64Range(-1e9, 1e9).Draw(t, name+" start")), pcm)
		}
		a, b := draw("a"), draw("b")
		m := Compare(a, b)
		for _, v := range []float64{m.Offset, m.Drift, m.DriftDoubt, m.Confidence, m.Score, m.Scatter, m.From, m.To} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%+v", m)
			}
		}
		if m.Found == (m.Reason != "") || m.Confidence < 0 || m.Confidence > 1 || math.Abs(m.Drift) > 0.01 || m.Agreeing > m.Windows {
			t.Fatalf("%+v", m)
		}
	})
}
