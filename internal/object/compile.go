package object

import (
	"errors"
	"fmt"
	"strings"
)

// The bounds of what a graph may take, known before it is worked out: the pinned
// one takes 1.3 billion multiplications and 48 MB.
const (
	maxSteps  = 2048
	maxVolume = 16 << 20 // elements of one value
	maxMemory = 64 << 20 // elements of all values that are kept at once
	maxWork   = 8 << 30  // multiplications
	maxDepth  = 1024     // nodes behind one another
)

// shape is the size of one picture of numbers: rows, columns, and the numbers of
// each place side by side.
type shape struct{ h, w, c int }

func (s shape) volume() int { return s.h * s.w * s.c }

// value is what a step makes, or what is put in.
type value struct {
	shape
	slab int // where it is kept while it is needed
	last int // the last step that reads it
}

// step is one operation on values, in an order in which it can be worked out.
type step struct {
	name string
	in   []int // values
	out  int   // value
	do   func(w *work, out []float32, in [][]float32)
}

// program is a graph made ready: what to do in which order, in how much memory.
type program struct {
	values  []value
	steps   []step
	slabs   []int // elements of each
	input   int   // value
	outputs []int // values
	effort  int64 // multiplications
}

// compiler makes a program of a model.
type compiler struct {
	*program
	model *model
	known map[string]int // values by the node that makes them
	busy  map[string]bool
	// packed is how many numbers of weights are kept for the products.
	packed int
}

// compile makes ready what outputs need, given a picture of the shape in at the
// node input.
func compile(m *model, input string, in shape, outputs ...string) (*program, error) {
	if n := m.nodes[input]; n == nil || n.Op != "Placeholder" {
		return nil, fmt.Errorf("the graph has no input %q", input)
	}
	c := &compiler{program: &program{values: []value{{shape: in}}}, model: m, known: map[string]int{input: 0}, busy: map[string]bool{}}
	for _, name := range outputs {
		v, err := c.node(name, 0)
		if err != nil {
			return nil, err
		}
		c.outputs = append(c.outputs, v)
	}
	return c.program, c.place()
}

// node returns the value that the node of that name makes.
func (c *compiler) node(name string, depth int) (int, error) {
	name = strings.TrimSuffix(name, ":0")
	if v, ok := c.known[name]; ok {
		return v, nil
	}
	n := c.model.nodes[name]
	switch {
	case n == nil:
		return 0, fmt.Errorf("there is no node %q", name)
	case c.busy[name] || depth > maxDepth:
		return 0, fmt.Errorf("node %q: it needs itself, or too many others", name)
	}
	c.busy[name] = true
	v, err := c.operation(n, depth)
	if err != nil {
		return 0, fmt.Errorf("node %q: %w", name, err)
	}
	c.known[name] = v
	return v, nil
}

// operation appends the step that a node is.
func (c *compiler) operation(n *node, depth int) (int, error) {
	args := 1
	switch n.Op {
	case "Identity", "Relu", "Relu6", "Sigmoid":
	case "Mul", "Add", "AddV2", "Mean", "ResizeBilinear", "Conv2D", "_FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2dNative":
		args = 2
	case "ConcatV2":
		args = 3
	default:
		return 0, fmt.Errorf("operation %q is not known", n.Op)
	}
	if len(n.Input) < args {
		return 0, fmt.Errorf("%s of %d inputs", n.Op, len(n.Input))
	}
	switch n.Op {
	case "Identity":
		return c.node(n.Input[0], depth+1)
	case "Relu", "Relu6", "Sigmoid":
		return c.each(n, depth)
	case "Mul", "Add", "AddV2":
		return c.pair(n, depth)
	case "Mean":
		return c.mean(n, depth)
	case "ResizeBilinear":
		return c.resize(n, depth)
	case "ConcatV2":
		return c.join(n, depth)
	}
	return c.convolution(n, depth)
}

// add appends a step and returns the value that it makes. effort is how many
// multiplications it takes.
func (c *compiler) add(n *node, out shape, effort int64, do func(*work, []float32, [][]float32), in ...int) (int, error) {
	if out.h < 1 || out.w < 1 || out.c < 1 || out.h > maxVolume || out.w > maxVolume/out.h || out.c > maxVolume/(out.h*out.w) {
		return 0, errors.New("its result is too large")
	}
	if c.effort += max(effort, int64(out.volume())); c.effort > maxWork || len(c.steps) == maxSteps {
		return 0, errors.New("too much to work out")
	}
	for _, v := range in {
		c.values[v].last = len(c.steps)
	}
	c.values = append(c.values, value{shape: out, last: len(c.steps)})
	c.steps = append(c.steps, step{name: n.Name, in: in, out: len(c.values) - 1, do: do})
	return len(c.values) - 1, nil
}

// place decides where each value is kept: a slab is used again once nothing needs
// what is in it. A step never reads the slab that it writes.
func (c *compiler) place() error {
	for _, v := range c.outputs {
		c.values[v].last = len(c.steps)
	}
	var free []int
	take := func(v int) {
		need, best := c.values[v].volume(), -1
		for i, s := range free {
			if best < 0 || fits(c.slabs[s], c.slabs[free[best]], need) {
				best = i
			}
		}
		if best < 0 {
			c.slabs, free = append(c.slabs, 0), append(free, len(c.slabs))
			best = len(free) - 1
		}
		s := free[best]
		free = append(free[:best], free[best+1:]...)
		c.slabs[s] = max(c.slabs[s], need)
		c.values[v].slab = s
	}
	take(c.input)
	for at, s := range c.steps {
		take(s.out)
		for i, v := range append([]int{s.out}, s.in...) {
			fresh := true // an input may be named twice
			for _, w := range s.in[:max(0, i-1)] {
				fresh = fresh && w != v
			}
			if c.values[v].last == at && fresh {
				free = append(free, c.values[v].slab)
			}
		}
	}
	total := 0
	for _, n := range c.slabs {
		if total += n; total > maxMemory {
			return errors.New("the graph takes too much memory")
		}
	}
	return nil
}

// fits reports whether a slab of size a serves need better than one of size b.
func fits(a, b, need int) bool {
	if (a >= need) != (b >= need) {
		return a >= need
	}
	if a >= need {
		return a < b // the smallest that is large enough
	}
	return a > b // the one that grows least
}

// constant returns the constant that the i-th input of n is.
func (c *compiler) constant(n *node, i int) (tensor, error) {
	if i >= len(n.Input) {
		return tensor{}, fmt.Errorf("input %d is missing", i)
	}
	t, ok := c.model.constants[strings.TrimSuffix(n.Input[i], ":0")]
	if !ok {
		return tensor{}, fmt.Errorf("input %d is no constant", i)
	}
	return t, nil
}
