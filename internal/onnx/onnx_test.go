package onnx

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

func open(t testing.TB) *Runtime {
	t.Helper()
	r, err := Open(filepath.Join(testenv.Models(t), "lib/libonnxruntime.so"))
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	return r
}

func silero(t testing.TB) *Session {
	t.Helper()
	s, err := open(t).Load(filepath.Join(testenv.Models(t), "vad/silero_vad_v6.onnx"), 1)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	t.Cleanup(s.Close)
	return s
}

// frame returns the inputs of one step of the voice detector.
func frame() map[string]*Tensor {
	x := make([]float32, 576)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)/9)) / 4
	}
	return map[string]*Tensor{
		"input": Float32(x, 1, 576),
		"state": Float32(make([]float32, 256), 2, 1, 128),
		"sr":    Int64([]int64{16000}),
	}
}

func TestSessionDescribesModel(t *testing.T) {
	t.Parallel()
	s := silero(t)
	if diff := cmp.Diff([]string{"input", "state", "sr"}, s.Inputs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"output", "stateN"}, s.Outputs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2, -1, 128}, s.InputShape("state")); diff != "" {
		t.Error(diff)
	}
	if got := s.InputShape("nothing"); got != nil {
		t.Errorf("shape of an unknown input: %v", got)
	}
	if v := open(t).Version(); !strings.HasPrefix(v, "1.") {
		t.Errorf("version %q", v)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := silero(t)
	in := frame()
	out, err := s.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 1}, out["output"].Shape()); diff != "" {
		t.Error(diff)
	}
	p := out["output"].Floats()
	if len(p) != 1 || p[0] <= 0 || p[0] >= 0.5 {
		t.Errorf("a tone has voice probability %v", p)
	}
	// An output is an input of the next run, and the answer depends on it.
	in["state"] = out["stateN"]
	next, err := s.Run(in, "output")
	if err != nil {
		t.Fatal(err)
	}
	if len(next) != 1 || next["output"].Floats()[0] == p[0] {
		t.Errorf("the carried state changed nothing: %v", next["output"].Floats())
	}
	next["output"].Free()
	for _, o := range out {
		o.Free()
		o.Free()
		if o.Floats() != nil {
			t.Error("floats of a freed tensor")
		}
	}
	(*Tensor)(nil).Free()
	if _, err := s.Run(in); err == nil {
		t.Error("a freed tensor was accepted")
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	s := silero(t)
	closed := silero(t)
	closed.Close()
	closed.Close()
	with := func(name string, tensor *Tensor) map[string]*Tensor {
		in := frame()
		in[name] = tensor
		return in
	}
	for name, c := range map[string]struct {
		session *Session
		in      map[string]*Tensor
		want    []string
	}{
		"missing input":     {s, map[string]*Tensor{"input": Float32(nil, 0)}, nil},
		"unknown input":     {s, with("extra", Bool([]bool{true}, 1)), nil},
		"nil tensor":        {s, with("sr", nil), nil},
		"wrong type":        {s, with("sr", Float32([]float32{16000})), nil},
		"shape too large":   {s, with("input", Float32(make([]float32, 576), 1, 577)), nil},
		"shape negative":    {s, with("input", Float32(make([]float32, 576), -1, -576)), nil},
		"shape overflowing": {s, with("input", Float32(nil, math.MaxInt64, math.MaxInt64, 0)), nil},
		"wrong rank":        {s, with("state", Float32(make([]float32, 256), 256)), nil},
		"unknown output":    {s, frame(), []string{"nothing"}},
		"an input wanted":   {s, frame(), []string{"sr"}},
		"output twice":      {s, frame(), []string{"output", "output"}},
		"closed":            {closed, frame(), nil},
	} {
		if out, err := c.session.Run(c.in, c.want...); err == nil {
			t.Errorf("%s: ran, %v", name, out)
		}
	}
	// A refusal leaves the session usable.
	if _, err := s.Run(frame()); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, lib := range []string{filepath.Join(dir, "absent.so"), dir, text} {
		_, err := Open(lib)
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.MissingDependency || e.Hint == "" {
			t.Errorf("%s: %v", lib, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	r := open(t)
	whole, err := os.ReadFile(filepath.Join(testenv.Models(t), "vad/silero_vad_v6.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, body := range map[string][]byte{"empty": nil, "text": []byte("not a model"), "cut": whole[:len(whole)/2]} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := r.Load(path, 1)
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.MissingDependency || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Load(filepath.Join(dir, "absent"), 1); err == nil {
		t.Error("loaded a model that is not there")
	}
}

// TestStress runs on growing stacks from several goroutines while the collector
// works all the time: memory that moved or died under the library would crash it
// or change its answer.
func TestStress(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	s := silero(t)
	first, err := s.Run(frame(), "output")
	if err != nil {
		t.Fatal(err)
	}
	want := first["output"].Floats()[0]
	first["output"].Free()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 150 {
				if got := deep(t, s, i%40); got != want {
					t.Errorf("run %d answers %v instead of %v", i, got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// deep runs s at the given depth of a stack that it makes large.
func deep(t *testing.T, s *Session, depth int) float32 {
	var ballast [512]byte
	if depth > 0 {
		v := deep(t, s, depth-1)
		runtime.KeepAlive(&ballast)
		return v
	}
	out, err := s.Run(frame())
	if err != nil {
		t.Error(err)
		return -1
	}
	v := out["output"].Floats()[0]
	for _, o := range out {
		o.Free()
	}
	return v
}

func TestRunLeaksNothing(t *testing.T) {
	s := silero(t)
	once := func(n int) {
		for range n {
			out, err := s.Run(frame())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range out {
				o.Free()
			}
			if _, err := s.Run(frame(), "nothing"); err == nil {
				t.Fatal("unknown output")
			}
			bad := frame()
			bad["input"] = Float32(make([]float32, 576), 576)
			if _, err := s.Run(bad); err == nil {
				t.Fatal("wrong rank")
			}
		}
	}
	once(500)
	before := resident(t)
	once(4000)
	// One leaked output tensor per run alone would be over 4 MB.
	if grown := resident(t) - before; grown > 3<<20 {
		t.Errorf("4000 runs left %d bytes behind", grown)
	}
}

// resident returns the process's resident memory after a collection.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func BenchmarkRun(b *testing.B) {
	s := silero(b)
	in := frame()
	b.ReportAllocs()
	for b.Loop() {
		out, err := s.Run(in)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range out {
			o.Free()
		}
	}
}
