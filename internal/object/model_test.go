package object

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All 65536 half-precision numbers, by their definition.
func TestHalf(t *testing.T) {
	t.Parallel()
	for h := range 1 << 16 {
		sign, e, f := h>>15, h>>10&31, h&1023
		var want float64
		switch e {
		case 0:
			want = math.Ldexp(float64(f), -24)
		case 31:
			want = math.Inf(1)
			if f != 0 {
				want = math.NaN()
			}
		default:
			want = math.Ldexp(float64(1024+f), e-25)
		}
		if sign == 1 {
			want = -want
		}
		got := float64(half(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (sign == 1) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
	}
}

func TestParseModelRefuses(t *testing.T) {
	t.Parallel()
	one := newBuilder().floats("k", []int{2}, 1, 2)
	manifest := func(weights string) string {
		return `{"format":"graph-model","weightsManifest":[{"paths":["w"],"weights":[` + weights + `]}]}`
	}
	for want, f := range map[string]struct {
		graph string
		data  []byte
	}{
		"unexpected end":    {`{`, nil},
		"format \"layers":   {`{"format":"layers-model"}`, nil},
		"not in one file":   {`{"format":"graph-model","weightsManifest":[{"paths":["a","b"]}]}`, nil},
		"name of its own":   {`{"format":"graph-model","modelTopology":{"node":[null]},"weightsManifest":[{"paths":["a"]}]}`, nil},
		"belong to nothing": {string(one.graph()), append(one.weights, 0)},
		"more than there":   {string(one.graph()), one.weights[:7]},
		"shape [-1]":        {manifest(`{"name":"a","dtype":"float32","shape":[-1]}`), make([]byte, 64)},
		"shape [1048576":    {manifest(`{"name":"a","dtype":"float32","shape":[1048576,1048576,1048576,1048576]}`), make([]byte, 64)},
		"7 dimensions":      {manifest(`{"name":"a","dtype":"float32","shape":[1,1,1,1,1,1,1]}`), make([]byte, 64)},
		"is not read":       {manifest(`{"name":"a","dtype":"float64","shape":[1]}`), make([]byte, 64)},
		"is not finite":     {manifest(`{"name":"a","dtype":"float32","shape":[1],"quantization":{"dtype":"float16"}}`), []byte{0, 0x7c}},
	} {
		if _, err := parseModel([]byte(f.graph), f.data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxGraphBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := loadModel(big, big); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a graph of more than the limit: %v", err)
	}
	if _, err := loadModel(filepath.Join(t.TempDir(), "none"), big); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("a graph that is not there: %v", err)
	}
}

func unwrapped(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

// Whatever two files say, they are refused, or make a program that keeps within its
// bounds and can be worked out.
func FuzzModel(f *testing.F) {
	add := func(b *builder) { f.Add(b.graph(), b.weights) }
	add(newBuilder().floats("k", []int{3, 3, 3, 2}, make([]float32, 54)...).floats("b", []int{2}, 1, 2).
		node("a", "_FusedConv2D", settings(2, "SAME", "BiasAdd", "Relu"), "in", "k", "b").
		floats("d", []int{3, 3, 2, 1}, make([]float32, 18)...).
		node("out", "DepthwiseConv2dNative", settings(1, "VALID"), "a", "d"))
	add(newBuilder().ints("axes", []int{2}, 1, 2).node("m", "Mean", `{"keep_dims":{"b":true}}`, "in", "axes").
		node("s", "Sigmoid", "{}", "m").node("x", "Mul", "{}", "s", "in").ints("z", []int{2}, 5, 9).
		node("r", "ResizeBilinear", "{}", "x", "z").ints("axis", nil, 3).node("out", "ConcatV2", "{}", "r", "r", "axis"))
	add(newBuilder().floats("k", nil, 3).node("a", "Add", "{}", "in", "k").node("b", "Relu6", "{}", "a").node("out", "Identity", "{}", "b"))
	f.Fuzz(func(t *testing.T, graph, data []byte) {
		if len(graph) > 1<<16 || len(data) > 1<<16 {
			return
		}
		m, err := parseModel(graph, data)
		if err != nil {
			return
		}
		in := shape{7, 9, 3}
		p, err := compile(m, "in", in, "out")
		if err != nil {
			return
		}
		total := 0
		for _, n := range p.slabs {
			total += n
		}
		if total > maxMemory || p.effort > maxWork || len(p.steps) > maxSteps {
			t.Fatalf("%d numbers kept, %d multiplications, %d steps", total, p.effort, len(p.steps))
		}
		if total > 1<<20 || p.effort > 1<<24 {
			return // within the bounds, and too slow for a fuzzer
		}
		one := append([]float32(nil), p.run(newWork(p, 1), make([]float32, in.volume()))[0]...)
		many := p.run(newWork(p, 3), make([]float32, in.volume()))[0]
		for i := range one {
			if math.Float32bits(one[i]) != math.Float32bits(many[i]) {
				t.Fatal("another number of threads gives another answer")
			}
		}
	})
}
