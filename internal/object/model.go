package object

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
)

// The bounds of a model's two files. The pinned ones have 202 kB and 4 MB.
const (
	maxGraphBytes  = 4 << 20
	maxWeightBytes = 32 << 20
	maxNodes       = 4096
	maxDims        = 6
)

// node is one operation of the graph as the file has it.
type node struct {
	Name  string               `json:"name"`
	Op    string               `json:"op"`
	Input []string             `json:"input"`
	Attr  map[string]attribute `json:"attr"`
}

// attribute is one setting of a node; only what the operations here look at.
type attribute struct {
	Text string `json:"s"` // base64
	Bool bool   `json:"b"`
	List struct {
		Ints  []string `json:"i"`
		Texts []string `json:"s"` // base64
	} `json:"list"`
}

// tensor is a constant of the model.
type tensor struct {
	dims []int
	data []float32
}

// model is a graph with its constants, by name.
type model struct {
	nodes     map[string]*node
	constants map[string]tensor
}

// graphFile is the JSON of a TensorFlow.js graph model.
type graphFile struct {
	Format   string `json:"format"`
	Topology struct {
		Nodes []*node `json:"node"`
	} `json:"modelTopology"`
	Manifest []struct {
		Paths   []string     `json:"paths"`
		Weights []weightSpec `json:"weights"`
	} `json:"weightsManifest"`
}

type weightSpec struct {
	Name         string `json:"name"`
	Shape        []int  `json:"shape"`
	Type         string `json:"dtype"`
	Quantization *struct {
		Type string `json:"dtype"`
	} `json:"quantization"`
}

// loadModel reads the two files of a model.
func loadModel(graph, weights string) (*model, error) {
	text, err := readFile(graph, maxGraphBytes)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	data, err := readFile(weights, maxWeightBytes)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return parseModel(text, data)
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

// parseModel reads a graph model and its weights. Every byte of the weights has to
// be accounted for.
func parseModel(text, data []byte) (*model, error) {
	var f graphFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	switch {
	case f.Format != "graph-model":
		return nil, fmt.Errorf("graph: format %q", f.Format)
	case len(f.Manifest) != 1 || len(f.Manifest[0].Paths) != 1:
		return nil, errors.New("graph: the weights are not in one file")
	case len(f.Topology.Nodes) > maxNodes || len(f.Manifest[0].Weights) > maxNodes:
		return nil, errors.New("graph: too many nodes")
	}
	m := &model{nodes: map[string]*node{}, constants: map[string]tensor{}}
	for _, n := range f.Topology.Nodes {
		if n == nil || n.Name == "" || m.nodes[n.Name] != nil {
			return nil, errors.New("graph: a node without a name of its own")
		}
		m.nodes[n.Name] = n
	}
	for _, w := range f.Manifest[0].Weights {
		if _, double := m.constants[w.Name]; double || w.Name == "" {
			return nil, fmt.Errorf("weights %q: not a name of its own", w.Name)
		}
		t, rest, err := w.read(data)
		if err != nil {
			return nil, fmt.Errorf("weights %q: %w", w.Name, err)
		}
		m.constants[w.Name], data = t, rest
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("weights: %d bytes belong to nothing", len(data))
	}
	return m, nil
}

// read takes one tensor from the front of data and returns the rest.
func (w weightSpec) read(data []byte) (tensor, []byte, error) {
	size, value := 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	switch {
	case w.Type == "int32" && w.Quantization == nil:
		value = func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) }
	case w.Type == "float32" && w.Quantization == nil:
	case w.Type == "float32" && w.Quantization.Type == "float16":
		size, value = 2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }
	default:
		return tensor{}, nil, fmt.Errorf("type %q is not read", w.Type)
	}
	count, err := volume(w.Shape, len(data)/size)
	if err != nil {
		return tensor{}, nil, err
	}
	t := tensor{dims: w.Shape, data: make([]float32, count)}
	for i := range t.data {
		v := value(data[i*size:])
		if v-v != 0 {
			return tensor{}, nil, errors.New("a weight is not finite")
		}
		t.data[i] = v
	}
	return t, data[count*size:], nil
}

// volume is the number of elements of a shape, at most limit.
func volume(dims []int, limit int) (int, error) {
	if len(dims) > maxDims {
		return 0, fmt.Errorf("%d dimensions", len(dims))
	}
	n := 1
	for _, d := range dims {
		if d < 1 || d > limit || n > limit/d {
			return 0, fmt.Errorf("shape %v needs more than there is", dims)
		}
		n *= d
	}
	if n > limit {
		return 0, fmt.Errorf("shape %v needs more than there is", dims)
	}
	return n, nil
}

// half widens a 16-bit floating-point number (IEEE 754 binary16).
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // zero and the subnormal ones: fraction × 2⁻²⁴, exact in 32 bits
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// text is a textual attribute, "" when it is absent or unreadable.
func (n *node) text(key string) string { return decoded(n.Attr[key].Text) }

// fused are the operations that follow this one within the same node.
func (n *node) fused() (bias, relu bool, err error) {
	for _, s := range n.Attr["fused_ops"].List.Texts {
		switch name := decoded(s); name {
		case "BiasAdd":
			bias = true
		case "Relu":
			relu = true
		default:
			return false, false, fmt.Errorf("fused with %q", name)
		}
	}
	return bias, relu, nil
}

// stride is the step of a convolution, the same across and down.
func (n *node) stride() (int, error) {
	list, err := n.numbers("strides")
	if err != nil || len(list) != 4 || list[0] != 1 || list[3] != 1 || list[1] != list[2] || list[1] < 1 || list[1] > 8 {
		return 0, errors.New("unusual strides")
	}
	if d, err := n.numbers("dilations"); err != nil || slices.ContainsFunc(d, func(v int) bool { return v != 1 }) {
		return 0, errors.New("dilated")
	}
	return list[1], nil
}

func (n *node) numbers(key string) ([]int, error) {
	var list []int
	for _, s := range n.Attr[key].List.Ints {
		v, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no number", key, s)
		}
		list = append(list, v)
	}
	return list, nil
}

func decoded(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}
