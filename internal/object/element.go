package object

import (
	"errors"
	"fmt"
	"math"
)

// each compiles an operation on every number alone.
func (c *compiler) each(n *node, depth int) (int, error) {
	in, err := c.node(n.Input[0], depth+1)
	if err != nil {
		return 0, err
	}
	f := relu
	switch n.Op {
	case "Relu6":
		f = relu6
	case "Sigmoid":
		f = sigmoid
	}
	do := func(w *work, out []float32, in [][]float32) {
		w.split(len(out), grain, func(a, b int) { f(out[a:b], in[0][a:b]) })
	}
	return c.add(n, c.values[in].shape, 0, do, in)
}

func relu(out, in []float32) {
	for i, v := range in {
		out[i] = max(v, 0)
	}
}

func relu6(out, in []float32) {
	for i, v := range in {
		out[i] = min(max(v, 0), 6)
	}
}

func sigmoid(out, in []float32) {
	for i, v := range in {
		out[i] = float32(1 / (1 + math.Exp(-float64(v))))
	}
}

// pair compiles a sum or a product: of two values of one shape, of a value and one
// number for each channel, or of a value and one constant number.
func (c *compiler) pair(n *node, depth int) (int, error) {
	for i := range 2 {
		if k, err := c.constant(n, i); err == nil {
			return c.scale(n, n.Input[1-i], k, depth)
		}
	}
	a, err := c.node(n.Input[0], depth+1)
	if err != nil {
		return 0, err
	}
	b, err := c.node(n.Input[1], depth+1)
	if err != nil {
		return 0, err
	}
	if c.values[a].volume() < c.values[b].volume() {
		a, b = b, a
	}
	large, small := c.values[a].shape, c.values[b].shape
	f := plus
	if n.Op == "Mul" {
		f = times
	}
	switch small {
	case large:
		return c.add(n, large, 0, func(w *work, out []float32, in [][]float32) {
			w.split(len(out), grain, func(a, b int) { f(out[a:b], in[0][a:b], in[1][a:b]) })
		}, a, b)
	case shape{1, 1, large.c}:
		return c.add(n, large, 0, func(w *work, out []float32, in [][]float32) {
			w.split(large.h*large.w, 1+grain/large.c, func(a, b int) {
				for p := a; p < b; p++ {
					f(out[p*large.c:(p+1)*large.c], in[0][p*large.c:(p+1)*large.c], in[1])
				}
			})
		}, a, b)
	}
	return 0, fmt.Errorf("%v and %v do not go together", large, small)
}

func plus(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

func times(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] * b[i]
	}
}

// scale compiles a sum or a product with a constant number.
func (c *compiler) scale(n *node, of string, k tensor, depth int) (int, error) {
	if len(k.data) != 1 {
		return 0, errors.New("a constant of several numbers")
	}
	in, err := c.node(of, depth+1)
	if err != nil {
		return 0, err
	}
	by := k.data[0]
	f := func(out, in []float32) {
		for i, v := range in {
			out[i] = v + by
		}
	}
	if n.Op == "Mul" {
		f = func(out, in []float32) {
			for i, v := range in {
				out[i] = v * by
			}
		}
	}
	do := func(w *work, out []float32, in [][]float32) {
		w.split(len(out), grain, func(a, b int) { f(out[a:b], in[0][a:b]) })
	}
	return c.add(n, c.values[in].shape, 0, do, in)
}

// mean compiles the average over all places.
func (c *compiler) mean(n *node, depth int) (int, error) {
	axes, err := c.constant(n, 1)
	if err != nil {
		return 0, err
	}
	if len(axes.data) != 2 || axes.data[0] != 1 || axes.data[1] != 2 || !n.Attr["keep_dims"].Bool {
		return 0, errors.New("an average other than over all places")
	}
	in, err := c.node(n.Input[0], depth+1)
	if err != nil {
		return 0, err
	}
	s := c.values[in].shape
	return c.add(n, shape{1, 1, s.c}, int64(s.volume()), func(_ *work, out []float32, in [][]float32) {
		clear(out)
		for p := range s.h * s.w {
			plus(out, out, in[0][p*s.c:(p+1)*s.c])
		}
		for i := range out {
			out[i] /= float32(s.h * s.w)
		}
	}, in)
}

// join compiles values side by side, channel after channel.
func (c *compiler) join(n *node, depth int) (int, error) {
	count := len(n.Input) - 1
	axis, err := c.constant(n, count)
	if err != nil {
		return 0, err
	}
	if len(axis.data) != 1 || axis.data[0] != 3 && axis.data[0] != -1 {
		return 0, errors.New("joined other than by channels")
	}
	var in []int
	var out shape
	for _, name := range n.Input[:count] {
		v, err := c.node(name, depth+1)
		if err != nil {
			return 0, err
		}
		s := c.values[v].shape
		if len(in) > 0 && (s.h != out.h || s.w != out.w) {
			return 0, errors.New("joined values of several sizes")
		}
		in = append(in, v)
		out = shape{s.h, s.w, out.c + s.c}
	}
	return c.add(n, out, 0, func(_ *work, to []float32, from [][]float32) {
		at := 0
		for _, f := range from {
			width := len(f) / (out.h * out.w)
			for p := range out.h * out.w {
				copy(to[p*out.c+at:], f[p*width:(p+1)*width])
			}
			at += width
		}
	}, in...)
}

// resize compiles a picture made larger or smaller, blended between neighbours. The
// first place of both is the same, as the model was trained.
func (c *compiler) resize(n *node, depth int) (int, error) {
	size, err := c.constant(n, 1)
	if err != nil {
		return 0, err
	}
	if len(size.data) != 2 || n.Attr["align_corners"].Bool || n.Attr["half_pixel_centers"].Bool {
		return 0, errors.New("an unusual way to resize")
	}
	in, err := c.node(n.Input[0], depth+1)
	if err != nil {
		return 0, err
	}
	from := c.values[in].shape
	for _, v := range size.data {
		if !(v >= 1 && v <= maxVolume) {
			return 0, errors.New("its result is too large")
		}
	}
	to := shape{int(size.data[0]), int(size.data[1]), from.c}
	effort := 4 * int64(to.h) * int64(to.w) * int64(to.c)
	return c.add(n, to, effort, func(w *work, out []float32, in [][]float32) {
		w.split(to.h, 1, func(a, b int) {
			for y := a; y < b; y++ {
				blendRow(out[y*to.w*to.c:(y+1)*to.w*to.c], in[0], y, from, to)
			}
		})
	}, in)
}

// blendRow writes row y of a resized picture.
func blendRow(out, in []float32, y int, from, to shape) {
	y0, y1, dy := neighbours(y, from.h, to.h)
	for x := range to.w {
		x0, x1, dx := neighbours(x, from.w, to.w)
		a, b := in[(y0*from.w+x0)*to.c:][:to.c], in[(y0*from.w+x1)*to.c:][:to.c]
		d, e := in[(y1*from.w+x0)*to.c:][:to.c], in[(y1*from.w+x1)*to.c:][:to.c]
		o := out[x*to.c:][:to.c]
		for i := range o {
			top := float32(a[i]*(1-dx)) + float32(b[i]*dx)
			low := float32(d[i]*(1-dx)) + float32(e[i]*dx)
			o[i] = float32(top*(1-dy)) + float32(low*dy)
		}
	}
}

// neighbours are the two places that place i of to lies between among from, and how
// far it is from the first.
func neighbours(i, from, to int) (a, b int, part float32) {
	at := float32(i) * float32(from) / float32(to)
	a = min(int(at), from-1)
	return a, min(a+1, from-1), at - float32(a)
}
