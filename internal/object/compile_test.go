package object

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func numbers(t *rapid.T, n int, name string) []float32 {
	return rapid.SliceOfN(rapid.Float32Range(-2, 2), n, n).Draw(t, name)
}

// window works a convolution out as its definition says, in 64 bits.
func window(in, weights, bias []float32, from, to shape, rows, columns, step, top, left int, own, relu bool) []float64 {
	out := make([]float64, to.volume())
	for y := range to.h {
		for x := range to.w {
			for k := range to.c {
				sum := float64(bias[k])
				for r := range rows {
					for q := range columns {
						iy, ix := y*step-top+r, x*step-left+q
						if iy < 0 || ix < 0 || iy >= from.h || ix >= from.w {
							continue
						}
						if own {
							sum += float64(in[(iy*from.w+ix)*from.c+k]) * float64(weights[(r*columns+q)*from.c+k])
							continue
						}
						for c := range from.c {
							sum += float64(in[(iy*from.w+ix)*from.c+c]) * float64(weights[((r*columns+q)*from.c+c)*to.c+k])
						}
					}
				}
				if relu {
					sum = max(sum, 0)
				}
				out[(y*to.w+x)*to.c+k] = sum
			}
		}
	}
	return out
}

func near(t *rapid.T, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d numbers, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 1e-3 {
			t.Fatalf("number %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// A convolution is what its definition says, whatever its window, stride, padding and
// channels are, and the same to the last bit on any number of threads.
func TestConvolution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := shape{rapid.IntRange(1, 12).Draw(t, "h"), rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "c")}
		rows, columns := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")
		step := rapid.IntRange(1, 3).Draw(t, "step")
		own, relu := rapid.Bool().Draw(t, "own"), rapid.Bool().Draw(t, "relu")
		padding := rapid.SampledFrom([]string{"SAME", "VALID"}).Draw(t, "padding")
		if padding == "VALID" {
			rows, columns = min(rows, from.h), min(columns, from.w)
		}
		to, dims, op := shape{c: rapid.IntRange(1, 9).Draw(t, "k")}, []int{rows, columns, from.c, 0}, "_FusedConv2D"
		dims[3] = to.c
		if own {
			to.c, dims[3], op = from.c, 1, "FusedDepthwiseConv2dNative"
		}
		var top, left int
		if to.h, to.w = (from.h-rows)/step+1, (from.w-columns)/step+1; padding == "SAME" {
			// As TensorFlow defines it: the smaller half of the padding comes first.
			to.h, to.w = (from.h+step-1)/step, (from.w+step-1)/step
			top, left = max((to.h-1)*step+rows-from.h, 0)/2, max((to.w-1)*step+columns-from.w, 0)/2
		}
		in, bias := numbers(t, from.volume(), "in"), numbers(t, to.c, "bias")
		weights := numbers(t, dims[0]*dims[1]*dims[2]*dims[3], "weights")
		fused := []string{"BiasAdd"}
		if relu {
			fused = append(fused, "Relu")
		}
		b := newBuilder().floats("k", dims, weights...).floats("b", []int{to.c}, bias...).
			node("out", op, settings(step, padding, fused...), "in", "k", "b")
		m, err := parseModel(b.graph(), b.weights)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile(m, "in", from, "out")
		if err != nil {
			t.Fatal(err)
		}
		if s := p.values[p.outputs[0]].shape; s != to {
			t.Fatalf("shape %v, want %v", s, to)
		}
		got := slices.Clone(p.run(newWork(p, 1), in)[0])
		near(t, got, window(in, weights, bias, from, to, rows, columns, step, top, left, own, relu))
		if many := p.run(newWork(p, rapid.IntRange(2, 9).Draw(t, "threads")), in)[0]; !slices.Equal(got, many) {
			t.Fatal("another number of threads gives another answer")
		}
	})
}

// The other operations, each with its value worked out by hand.
func TestOperations(t *testing.T) {
	t.Parallel()
	in := []float32{-1, 2, 3, 8, 0, -4, 5, 1} // 2 rows, 2 columns, 2 channels
	half := newBuilder
	for name, c := range map[string]struct {
		b    *builder
		want []float32
	}{
		"relu":     {half().node("out", "Relu", "{}", "in"), []float32{0, 2, 3, 8, 0, 0, 5, 1}},
		"relu6":    {half().node("out", "Relu6", "{}", "in"), []float32{0, 2, 3, 6, 0, 0, 5, 1}},
		"identity": {half().node("out", "Identity", "{}", "in"), in},
		"add":      {half().floats("k", nil, 3).node("out", "AddV2", "{}", "in", "k"), []float32{2, 5, 6, 11, 3, -1, 8, 4}},
		"scaled":   {half().floats("k", nil, -2).node("out", "Mul", "{}", "k", "in:0"), []float32{2, -4, -6, -16, 0, 8, -10, -2}},
		"square":   {half().node("out", "Mul", "{}", "in", "in"), []float32{1, 4, 9, 64, 0, 16, 25, 1}},
		"mean": {
			half().ints("axes", []int{2}, 1, 2).node("out", "Mean", `{"keep_dims":{"b":true}}`, "in", "axes"),
			[]float32{1.75, 1.75},
		},
		"by channel": {
			half().ints("axes", []int{2}, 1, 2).node("m", "Mean", `{"keep_dims":{"b":true}}`, "in", "axes").node("out", "Mul", "{}", "m", "in"),
			[]float32{-1.75, 3.5, 5.25, 14, 0, -7, 8.75, 1.75},
		},
		"joined": {
			half().ints("axis", nil, 3).node("r", "Relu", "{}", "in").node("out", "ConcatV2", "{}", "in", "r", "in", "axis"),
			[]float32{-1, 2, 0, 2, -1, 2, 3, 8, 3, 8, 3, 8, 0, -4, 0, 0, 0, -4, 5, 1, 5, 1, 5, 1},
		},
		"larger": {
			half().ints("size", []int{2}, 2, 4).node("out", "ResizeBilinear", "{}", "in", "size"),
			[]float32{-1, 2, 1, 5, 3, 8, 3, 8, 0, -4, 2.5, -1.5, 5, 1, 5, 1},
		},
	} {
		p := c.b.program(t, shape{2, 2, 2}, "out")
		if got := p.run(newWork(p, 3), in)[0]; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	p := newBuilder().node("out", "Sigmoid", "{}", "in").program(t, shape{1, 1, 1}, "out")
	for _, v := range []float32{-200, -1, 0, 1, 200} {
		if got, want := p.run(newWork(p, 1), []float32{v})[0][0], 1/(1+math.Exp(-float64(v))); math.Abs(float64(got)-want) > 1e-7 {
			t.Errorf("sigmoid of %v is %v, want %v", v, got, want)
		}
	}
}

// What a value is kept in is used again only when nothing needs the value any more:
// a long chain with a branch to its beginning takes three places, and is right.
func TestMemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	b := newBuilder().floats("one", nil, 1)
	last := "in"
	for i := range 40 {
		name := fmt.Sprint("n", i)
		b.node(name, "AddV2", "{}", last, "one")
		last = name
	}
	b.node("out", "AddV2", "{}", last, "in")
	p := b.program(t, shape{1, 1, 4}, "out")
	if got := p.run(newWork(p, 2), []float32{0, 1, 2, 3})[0]; !slices.Equal(got, []float32{40, 42, 44, 46}) {
		t.Errorf("%v", got)
	}
	if len(p.slabs) != 3 {
		t.Errorf("%d places in memory, want 3", len(p.slabs))
	}
}

// A model that asks for too much, or for what is not known, is refused before
// anything is worked out.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	huge := newBuilder().ints("size", []int{2}, 100000, 100000).node("out", "ResizeBilinear", "{}", "in", "size")
	deep := newBuilder()
	name := "in"
	for i := range 3000 {
		next := fmt.Sprint("n", i)
		deep.node(next, "Relu", "{}", name)
		name = next
	}
	deep.node("out", "Relu", "{}", name)
	slow := newBuilder().floats("k", []int{1, 1, 3, 1500}, make([]float32, 4500)...).floats("k2", []int{1, 1, 1500, 1500}, make([]float32, 1500*1500)...).
		node("a", "Conv2D", settings(1, "SAME"), "in", "k").node("out", "Conv2D", settings(1, "SAME"), "a", "k2")
	many := newBuilder().floats("k", []int{1, 1, 3, 3}, make([]float32, 9)...).floats("up", []int{1, 1, 3, 700}, make([]float32, 2100)...).
		floats("down", []int{16, 16, 700, 3}, make([]float32, 16*16*2100)...).ints("s", []int{2}, 1, 1)
	many.node("in2", "ResizeBilinear", "{}", "in", "s")
	name = "in2"
	for i := range 200 {
		many.node(fmt.Sprint("u", i), "Conv2D", settings(1, "SAME"), name, "up").node(fmt.Sprint("d", i), "Conv2D", settings(1, "SAME"), fmt.Sprint("u", i), "down")
		name = fmt.Sprint("d", i)
	}
	many.node("out", "Relu", "{}", name)
	for want, b := range map[string]*builder{
		"take too much memory": many,
		"too large":            huge,
		"too many others":      deep,
		"too much to work":     slow,
		"needs itself":         newBuilder().node("out", "Relu", "{}", "b").node("b", "Relu", "{}", "out"),
		"no node":              newBuilder().node("out", "Relu", "{}", "gone"),
		"not known":            newBuilder().node("out", "ReadFile", "{}", "in"),
		"of 0 inputs":          newBuilder().node("out", "Relu", "{}"),
		"unusual strides":      newBuilder().floats("k", []int{1, 1, 3, 1}, 1, 1, 1).node("out", "Conv2D", settings(0, "SAME"), "in", "k"),
		"unusual padding":      newBuilder().floats("k", []int{1, 1, 3, 1}, 1, 1, 1).node("out", "Conv2D", settings(1, "NONE"), "in", "k"),
		"fused with":           newBuilder().floats("k", []int{1, 1, 3, 1}, 1, 1, 1).node("out", "_FusedConv2D", settings(1, "SAME", "Elu"), "in", "k"),
		"for 3 channels":       newBuilder().floats("k", []int{1, 1, 2, 1}, 1, 1).node("out", "Conv2D", settings(1, "SAME"), "in", "k"),
		"larger than the":      newBuilder().floats("k", []int{9, 9, 3, 1}, make([]float32, 243)...).node("out", "Conv2D", settings(1, "VALID"), "r", "k").node("r", "ResizeBilinear", "{}", "in", "s").ints("s", []int{2}, 3, 3),
		"is no constant":       newBuilder().node("k", "Relu", "{}", "in").node("out", "Conv2D", settings(1, "SAME"), "in", "k"),
		"do not go":            newBuilder().ints("s", []int{2}, 3, 3).node("r", "ResizeBilinear", "{}", "in", "s").node("out", "AddV2", "{}", "in", "r"),
		"other than over":      newBuilder().ints("axes", []int{1}, 3).node("out", "Mean", `{"keep_dims":{"b":true}}`, "in", "axes"),
		"other than by":        newBuilder().ints("axis", nil, 1).node("out", "ConcatV2", "{}", "in", "in", "axis"),
		"of several sizes":     newBuilder().ints("axis", nil, 3).ints("s", []int{2}, 3, 3).node("r", "ResizeBilinear", "{}", "in", "s").node("out", "ConcatV2", "{}", "in", "r", "axis"),
		"several numbers":      newBuilder().floats("k", []int{3}, 1, 2, 3).node("out", "Mul", "{}", "in", "k"),
		"an unusual way":       newBuilder().ints("s", []int{2}, 3, 3).node("out", "ResizeBilinear", `{"align_corners":{"b":true}}`, "in", "s"),
		"no input \"in\"":      {nodes: []string{`{"name":"in","op":"Const"}`, `{"name":"out","op":"Relu","input":["in"]}`}},
		"input 2 is missing":   newBuilder().floats("k", []int{1, 1, 3, 1}, 1, 1, 1).node("out", "_FusedConv2D", settings(1, "SAME", "BiasAdd"), "in", "k"),
	} {
		m, err := parseModel(b.graph(), b.weights)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if _, err := compile(m, "in", shape{64, 64, 3}, "out"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
