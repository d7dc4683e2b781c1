package object

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// builder makes the two files of a small model.
type builder struct {
	nodes   []string
	specs   []string
	weights []byte
}

// input names the input of every model that is built.
func newBuilder() *builder {
	return &builder{nodes: []string{`{"name":"in","op":"Placeholder"}`}}
}

// node adds an operation; attr is JSON.
func (b *builder) node(name, op, attr string, inputs ...string) *builder {
	names, err := json.Marshal(inputs)
	if err != nil {
		panic(err)
	}
	b.nodes = append(b.nodes, fmt.Sprintf(`{"name":%q,"op":%q,"input":%s,"attr":%s}`, name, op, names, attr))
	return b
}

// floats adds a constant of 32-bit numbers.
func (b *builder) floats(name string, dims []int, data ...float32) *builder {
	shape, err := json.Marshal(append([]int{}, dims...))
	if err != nil {
		panic(err)
	}
	b.specs = append(b.specs, fmt.Sprintf(`{"name":%q,"dtype":"float32","shape":%s}`, name, shape))
	for _, v := range data {
		b.weights = binary.LittleEndian.AppendUint32(b.weights, math.Float32bits(v))
	}
	return b
}

// ints adds a constant of whole numbers.
func (b *builder) ints(name string, dims []int, data ...int32) *builder {
	shape, err := json.Marshal(append([]int{}, dims...))
	if err != nil {
		panic(err)
	}
	b.specs = append(b.specs, fmt.Sprintf(`{"name":%q,"dtype":"int32","shape":%s}`, name, shape))
	for _, v := range data {
		b.weights = binary.LittleEndian.AppendUint32(b.weights, uint32(v))
	}
	return b
}

func (b *builder) graph() []byte {
	join := func(list []string) string {
		out := "["
		for i, s := range list {
			if i > 0 {
				out += ","
			}
			out += s
		}
		return out + "]"
	}
	return []byte(`{"format":"graph-model","modelTopology":{"node":` + join(b.nodes) + `},"weightsManifest":[{"paths":["w.bin"],"weights":` + join(b.specs) + `}]}`)
}

// program parses and compiles the model up to out.
func (b *builder) program(t testing.TB, in shape, out string) *program {
	t.Helper()
	m, err := parseModel(b.graph(), b.weights)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile(m, "in", in, out)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// settings are the attributes of a convolution.
func settings(step int, padding string, fused ...string) string {
	list := make([]string, len(fused))
	for i, f := range fused {
		list[i] = base64.StdEncoding.EncodeToString([]byte(f))
	}
	names, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"strides":{"list":{"i":["1","%d","%d","1"]}},"dilations":{"list":{"i":["1","1","1","1"]}},"padding":{"s":%q},"fused_ops":{"list":{"s":%s}}}`,
		step, step, base64.StdEncoding.EncodeToString([]byte(padding)), names)
}
