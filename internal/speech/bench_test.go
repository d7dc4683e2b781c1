package speech

import (
	"path/filepath"
	"testing"

	"cutroom/internal/onnx"
	"cutroom/internal/testenv"
)

// heard returns the samples of the test recording that everybody has.
func heard(b *testing.B) []int16 {
	b.Helper()
	wav := convert(b, "-i", filepath.Join(librivox, "sense_and_sensibility_01_austen_64kb-0870.wav"))
	return readFile(b, wav)
}

func runtimeOf(b *testing.B) *onnx.Runtime {
	b.Helper()
	r, err := onnx.Open(filepath.Join(testenv.Models(b), DataFiles(Base)[0]))
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func engineOf(b *testing.B, m Model) *moonshine {
	b.Helper()
	f := dataFiles(m)
	for _, p := range []*string{&f.Encoder, &f.Decoder, &f.Vocabulary} {
		*p = filepath.Join(testenv.Models(b), *p)
	}
	e, err := newMoonshine(runtimeOf(b), m, f, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.close)
	return e
}

// meter reports how much processor time a second of audio takes, which other work
// on the machine hardly changes.
func meter(b *testing.B, samples int) (stop func()) {
	b.Helper()
	before := processorTime()
	return func() {
		b.ReportMetric(float64((processorTime()-before).Microseconds())/1e3/float64(b.N)/(float64(samples)/SampleRate), "cpu-ms/s")
	}
}

func BenchmarkDetector(b *testing.B) {
	samples := heard(b)
	d, err := newDetector(runtimeOf(b), filepath.Join(testenv.Models(b), DataFiles(Base)[1]))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(d.close)
	n := len(samples) / frameSize * frameSize
	defer meter(b, n)()
	for b.Loop() {
		for i := 0; i < n; i += frameSize {
			if _, err := d.probability(samples[i : i+frameSize]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkTranscribe(b *testing.B) {
	samples := heard(b)
	audio := make([]float32, len(samples))
	for i, s := range samples {
		audio[i] = float32(s) / 32768
	}
	for _, m := range []Model{Base, Tiny} {
		b.Run(string(m), func(b *testing.B) {
			e := engineOf(b, m)
			defer meter(b, len(audio))()
			for b.Loop() {
				if _, err := e.transcribe(audio); err != nil {
					b.Fatal(err)
				}
			}
		})
		// The same runs of the same networks, and nothing else: what the rest costs is
		// the difference.
		b.Run(string(m)+"/networks", func(b *testing.B) {
			e := engineOf(b, m)
			h, err := e.transcribe(audio)
			if err != nil {
				b.Fatal(err)
			}
			defer meter(b, len(audio))()
			for b.Loop() {
				runNetworks(b, e, audio, h.tokens+1)
			}
		})
	}
}

// runNetworks runs the encoder once and the decoder so many times.
func runNetworks(b *testing.B, e *moonshine, audio []float32, steps int) {
	out, err := e.encoder.Run(map[string]*onnx.Tensor{"input_values": onnx.Float32(audio, 1, int64(len(audio)))})
	if err != nil {
		b.Fatal(err)
	}
	hidden := out["last_hidden_state"]
	defer hidden.Free()
	d := e.decode(hidden)
	defer d.close()
	for range steps {
		if _, err := d.next(tokenStart); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	scores := make([]float32, 32768)
	for i := range scores {
		scores[i] = float32(i*7919%1000)/60 - 10
	}
	for b.Loop() {
		best(scores)
	}
}
