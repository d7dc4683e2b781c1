package object

import (
	"errors"
	"fmt"
)

// kernel is a convolution: its weights, and where its window stands.
type kernel struct {
	rows, columns, step int // of the window
	top, left           int // rows and columns of padding before the picture
	in, out             shape
	weights, bias       []float32 // bias is one number for each channel
	relu                bool
}

// convolution compiles one, with what is fused to it: every channel from all
// channels, or from its own alone.
func (c *compiler) convolution(n *node, depth int) (int, error) {
	weights, err := c.constant(n, 1)
	if err != nil {
		return 0, err
	}
	in, err := c.node(n.Input[0], depth+1)
	if err != nil {
		return 0, err
	}
	own := n.Op == "DepthwiseConv2dNative" || n.Op == "FusedDepthwiseConv2dNative"
	k, err := newKernel(n, c.values[in].shape, weights, own)
	if err != nil {
		return 0, err
	}
	if k.bias, k.relu, err = c.following(n, k.out.c); err != nil {
		return 0, err
	}
	effort := int64(k.out.h) * int64(k.out.w) * int64(len(k.weights))
	if own {
		return c.add(n, k.out, effort, k.ownChannels, in)
	}
	size := k.rows * k.columns * k.in.c
	if c.packed += lanes * size * (1 + k.out.c/lanes); c.packed > maxMemory || k.out.w > maxVolume/size {
		return 0, errors.New("its weights take too much memory")
	}
	m := pack(k.weights, k.out.c)
	return c.add(n, k.out, effort, func(w *work, out []float32, in [][]float32) { k.allChannels(w, m, out, in[0]) }, in)
}

// newKernel is the convolution that a node says, over a picture of the shape in.
func newKernel(n *node, in shape, weights tensor, own bool) (*kernel, error) {
	d := weights.dims
	step, err := n.stride()
	switch {
	case err != nil:
		return nil, err
	case len(d) != 4 || d[2] != in.c || own && d[3] != 1:
		return nil, fmt.Errorf("weights %v for %d channels", d, in.c)
	case d[0] > 16 || d[1] > 16:
		return nil, errors.New("a window larger than 16")
	}
	k := &kernel{rows: d[0], columns: d[1], step: step, in: in, weights: weights.data, bias: make([]float32, d[3])}
	k.out.c = d[3]
	if own {
		k.out.c, k.bias = d[2], make([]float32, d[2])
	}
	switch n.text("padding") {
	case "SAME":
		k.out.h, k.top = padded(in.h, k.rows, step)
		k.out.w, k.left = padded(in.w, k.columns, step)
	case "VALID":
		k.out.h, k.out.w = (in.h-k.rows)/step+1, (in.w-k.columns)/step+1
		if in.h < k.rows || in.w < k.columns {
			return nil, errors.New("the window is larger than the picture")
		}
	default:
		return nil, errors.New("an unusual padding")
	}
	return k, nil
}

// padded is how many places a window has along n when it may reach out of the
// picture, and how far it does so before the first.
func padded(n, window, step int) (places, before int) {
	places = (n + step - 1) / step
	return places, max(0, (places-1)*step+window-n) / 2
}

// following is what is fused to a convolution of that many channels.
func (c *compiler) following(n *node, channels int) (bias []float32, relu bool, err error) {
	has, relu, err := n.fused()
	bias = make([]float32, channels)
	if err != nil || !has {
		return bias, relu, err
	}
	t, err := c.constant(n, 2)
	if err == nil && len(t.data) != channels {
		err = fmt.Errorf("%d numbers to add to %d channels", len(t.data), channels)
	}
	if err != nil {
		return nil, false, err
	}
	return t.data, relu, nil
}

// matrix holds weights as the product reads them: lanes columns side by side, the
// last of them filled up with zeros.
type matrix struct {
	rows, columns int
	panels        [][][lanes]float32 // for each group of columns its rows
}

// lanes is how many columns the product makes at once.
const lanes = 4

// pack arranges weights, of which one row holds so many columns.
func pack(weights []float32, columns int) matrix {
	m := matrix{rows: len(weights) / columns, columns: columns}
	for at := 0; at < columns; at += lanes {
		panel := make([][lanes]float32, m.rows)
		for r := range panel {
			copy(panel[r][:], weights[r*columns+at:r*columns+min(at+lanes, columns)])
		}
		m.panels = append(m.panels, panel)
	}
	return m
}

// allChannels works out a convolution of all channels as products of matrices: each
// row of the left one is what a window sees.
func (k *kernel) allChannels(w *work, m matrix, out, in []float32) {
	if k.rows == 1 && k.columns == 1 && k.step == 1 {
		const block = 32 // rows that stay near the processor while all panels pass
		blocks := (k.out.h*k.out.w + block - 1) / block
		w.split(blocks, 1, func(from, to int) {
			for b := from; b < to; b++ {
				first, last := b*block, min((b+1)*block, k.out.h*k.out.w)
				k.product(m, out[first*k.out.c:last*k.out.c], in[first*k.in.c:last*k.in.c])
			}
		})
		return
	}
	w.split(k.out.h, 1, func(from, to int) {
		seen := make([]float32, k.out.w*m.rows)
		for y := from; y < to; y++ {
			k.gather(seen, in, y)
			k.product(m, out[y*k.out.w*k.out.c:(y+1)*k.out.w*k.out.c], seen)
		}
	})
}

// gather writes what the windows of row y see, one after the other; beyond the
// picture they see zeros.
func (k *kernel) gather(seen, in []float32, y int) {
	size := k.rows * k.columns * k.in.c
	clear(seen)
	for x := range k.out.w {
		window := seen[x*size : (x+1)*size]
		first := x*k.step - k.left
		from, to := max(0, -first), min(k.columns, k.in.w-first)
		for r := range k.rows {
			row := y*k.step - k.top + r
			if row < 0 || row >= k.in.h || from >= to {
				continue
			}
			copy(window[(r*k.columns+from)*k.in.c:(r*k.columns+to)*k.in.c], in[(row*k.in.w+first+from)*k.in.c:])
		}
	}
}

// product writes left × m, with what follows it. Rows of left have m.rows numbers.
func (k *kernel) product(m matrix, out, left []float32) {
	count := len(left) / m.rows
	var rows [4][]float32
	var sums [4][lanes]float32
	for p, panel := range m.panels {
		column := p * lanes
		width := min(lanes, m.columns-column)
		bias := k.bias[column : column+width]
		for r := 0; r < count; r += len(rows) {
			for i := range rows { // beyond the last row it is worked out again
				rows[i] = left[min(r+i, count-1)*m.rows:][:m.rows]
			}
			fourRows(panel, &rows, &sums)
			for i := range min(len(rows), count-r) {
				k.finish(out[(r+i)*m.columns+column:][:width], sums[i][:width], bias)
			}
		}
	}
}

// finish writes sums with what follows them.
func (k *kernel) finish(out, sums, bias []float32) {
	for i, v := range sums {
		v += bias[i]
		if k.relu {
			v = max(v, 0)
		}
		out[i] = v
	}
}

// ownChannels works out a convolution in which every channel is made from its own
// alone.
func (k *kernel) ownChannels(w *work, out []float32, in [][]float32) {
	w.split(k.out.h, 1, func(from, to int) {
		for y := from; y < to; y++ {
			for x := range k.out.w {
				o := out[(y*k.out.w+x)*k.out.c:][:k.out.c]
				copy(o, k.bias)
				k.window(o, in[0], y, x)
				if k.relu {
					relu(o, o)
				}
			}
		}
	})
}

// window adds to o what the window at row y, column x sees, weighted.
func (k *kernel) window(o, in []float32, y, x int) {
	c := k.in.c
	first := x*k.step - k.left
	from, to := max(0, -first), min(k.columns, k.in.w-first)
	for r := range k.rows {
		row := y*k.step - k.top + r
		if row < 0 || row >= k.in.h {
			continue
		}
		i := from
		for ; i+3 <= to; i += 3 {
			threeTaps(o, in[(row*k.in.w+first+i)*c:][:3*c], k.weights[(r*k.columns+i)*c:][:3*c])
		}
		for ; i < to; i++ {
			oneTap(o, in[(row*k.in.w+first+i)*c:][:c], k.weights[(r*k.columns+i)*c:][:c])
		}
	}
}

func oneTap(o, v, w []float32) {
	v, w = v[:len(o)], w[:len(o)]
	for i := range o {
		o[i] += float32(v[i] * w[i])
	}
}

// threeTaps adds three neighbours at once: v and w hold them one after the other.
func threeTaps(o, v, w []float32) {
	n := len(o)
	v0, v1, v2 := v[:n], v[n:][:n], v[2*n:][:n]
	w0, w1, w2 := w[:n], w[n:][:n], w[2*n:][:n]
	for i := range o {
		s := o[i] + float32(v0[i]*w0[i])
		s += float32(v1[i] * w1[i])
		o[i] = s + float32(v2[i]*w2[i])
	}
}
