package rhythm

import (
	"math"

	"cutroom"
)

// The size of a small picture: brightness, and both colours at half of it.
const (
	Width  = 64
	Height = 36
)

// Frame is one picture of a recording, small. Its slices are read during the call only.
type Frame struct {
	At     cutroom.Micros
	Score  float64 // how abruptly the picture changed, 0–100, from all its pixels
	Luma   []uint8 // Width×Height means, rows from top to bottom
	Cb, Cr []uint8 // Width/2×Height/2
}

// The size of what is kept of a picture for a while.
const (
	keptWidth  = Width / 2
	keptHeight = Height / 2
	keptLuma   = keptWidth * keptHeight
	keptColour = keptLuma / 4
	keptSize   = keptLuma + 2*keptColour
)

// kept is a frame that later ones are compared with: brightness, then both colours.
type kept struct {
	at        cutroom.Micros
	score     float64
	colour    float64 // mean change of the colours from the frame before
	mean, dev float64 // of the brightness
	v         [keptSize]uint8
}

func keep(f *Frame) *kept {
	k := &kept{at: f.At, score: f.Score}
	halve(k.v[:keptLuma], f.Luma, Width, Height)
	halve(k.v[keptLuma:keptLuma+keptColour], f.Cb, Width/2, Height/2)
	halve(k.v[keptLuma+keptColour:], f.Cr, Width/2, Height/2)
	var sum, square int
	for _, v := range k.v[:keptLuma] {
		sum += int(v)
		square += int(v) * int(v)
	}
	k.mean = float64(sum) / keptLuma
	k.dev = math.Sqrt(math.Max(0, float64(square)/keptLuma-k.mean*k.mean))
	return k
}

// halve reduces a picture of w×h to half of it.
func halve(out, in []uint8, w, h int) {
	if len(in) < w*h {
		return
	}
	for y := range h / 2 {
		a, b := in[2*y*w:], in[(2*y+1)*w:]
		for x := range w / 2 {
			out[y*w/2+x] = uint8((int(a[2*x]) + int(a[2*x+1]) + int(b[2*x]) + int(b[2*x+1]) + 2) / 4)
		}
	}
}

// difference is the mean absolute difference of two pictures, 0–255.
func difference(a, b []uint8) float64 {
	sum := 0
	for i, v := range a {
		d := int(v) - int(b[i])
		if d < 0 {
			d = -d
		}
		sum += d
	}
	return float64(sum) / float64(len(a))
}

func (k *kept) distance(o *kept) float64 { return difference(k.v[:], o.v[:]) }

// likeness is the correlation of two pictures' brightness: 1 for the same picture, however
// bright. ok is false when one of them is flat.
func (k *kept) likeness(o *kept) (r float64, ok bool) {
	if k.dev < 2 || o.dev < 2 {
		return 0, false
	}
	var sum float64
	for i := range keptLuma {
		sum += (float64(k.v[i]) - k.mean) * (float64(o.v[i]) - o.mean)
	}
	return sum / keptLuma / (k.dev * o.dev), true
}

// blank reports whether the picture is nothing but black, or nothing but white.
func (k *kept) blank() bool {
	return k.dev <= blankDev && (k.mean <= blackMean || k.mean >= whiteMean)
}

const (
	blankDev  = 5.0
	blackMean = 26.0 // black is 16
	whiteMean = 225.0
)

// shifted compares two pictures when one is moved and scaled to lie on the other as well
// as it can: the best mean difference of brightness over what both show, and how far
// that is moved, in shares of the picture.
func (k *kept) shifted(o *kept, across, down int) (best, dx, dy float64) {
	best = difference(k.v[:keptLuma], o.v[:keptLuma])
	for y := -down; y <= down; y++ {
		for x := -across; x <= across; x++ {
			if d := k.offset(o, x, y); d < best {
				best, dx, dy = d, float64(x)/keptWidth, float64(y)/keptHeight
			}
		}
	}
	return best, dx, dy
}

// offset is the mean difference of brightness when o is moved by x, y.
func (k *kept) offset(o *kept, x, y int) float64 {
	return planeOffset(k.v[:keptLuma], o.v[:keptLuma], keptWidth, keptHeight, x, y)
}

// colourOffset is the mean difference of the colours when o is moved by shares of the
// picture.
func (k *kept) colourOffset(o *kept, dx, dy float64) float64 {
	const w, h = keptWidth / 2, keptHeight / 2
	x, y := int(math.Round(dx*w)), int(math.Round(dy*h))
	b, r := keptLuma, keptLuma+keptColour
	return (planeOffset(k.v[b:r], o.v[b:r], w, h, x, y) + planeOffset(k.v[r:], o.v[r:], w, h, x, y)) / 2
}

func planeOffset(a, b []uint8, w, h, x, y int) float64 {
	x0, x1 := max(0, x), min(w, w+x)
	y0, y1 := max(0, y), min(h, h+y)
	sum := 0
	for r := y0; r < y1; r++ {
		row := b[(r-y)*w+x0-x:]
		for i, v := range a[r*w+x0 : r*w+x1] {
			d := int(v) - int(row[i])
			if d < 0 {
				d = -d
			}
			sum += d
		}
	}
	return float64(sum) / float64((x1-x0)*(y1-y0))
}
