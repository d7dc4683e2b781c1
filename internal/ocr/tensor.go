package ocr

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// Normalisation of the two models, as they were trained: detection takes the mean
// and deviation of ImageNet, recognition maps 0..255 to -1..1. Channels are in the
// order blue, green, red.
type normal struct{ mean, dev [3]float32 }

func forDetection() normal {
	return normal{mean: [3]float32{0.406, 0.456, 0.485}, dev: [3]float32{0.225, 0.224, 0.229}}
}

func forRecognition() normal {
	return normal{mean: [3]float32{0.5, 0.5, 0.5}, dev: [3]float32{0.5, 0.5, 0.5}}
}

// planes writes im as three planes of rows by width numbers into out, which is
// len 3*rows*width; what im does not cover stays as it is.
func (n normal) planes(im *image.RGBA, rows, width int, out []float32) {
	var table [3][256]float32
	for c := range table {
		for v := range table[c] {
			table[c][v] = (float32(v)/255 - n.mean[c]) / n.dev[c]
		}
	}
	size := im.Bounds().Size()
	area := rows * width
	for y := range min(rows, size.Y) {
		row := im.Pix[y*im.Stride:]
		for x := range min(width, size.X) {
			at := y*width + x
			out[at] = table[0][row[4*x+2]]
			out[area+at] = table[1][row[4*x+1]]
			out[2*area+at] = table[2][row[4*x]]
		}
	}
}

// shrink returns im scaled to w by h, averaging what falls together.
func shrink(im image.Image, w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if b := im.Bounds(); b.Dx() == w && b.Dy() == h {
		draw.Draw(out, out.Bounds(), im, b.Min, draw.Src)
		return out
	}
	draw.BiLinear.Scale(out, out.Bounds(), im, im.Bounds(), draw.Src, nil)
	return out
}

// cut returns the part r of im as a picture of w by h pixels, turned upright. What
// lies outside of im is white.
func cut(im image.Image, r rect, w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	u := r.along.times(float64(w) / r.w)
	v := r.across().times(float64(h) / r.h)
	m := f64.Aff3{u.x, u.y, -u.dot(r.origin), v.x, v.y, -v.dot(r.origin)}
	// Only the neighbourhood is transformed: the cost is that of the crop.
	b := im.Bounds()
	box := r.grown(2+r.h/float64(h)).upright(b.Dx(), b.Dy())
	part := image.Rect(box.X, box.Y, box.X+box.W, box.Y+box.H).Add(b.Min)
	draw.BiLinear.Transform(out, m, im, part, draw.Src, nil)
	return out
}

// mapSize returns the size of detection's input for a picture of w by h: at most
// side along its longer side, both multiples of 32.
func mapSize(w, h, side int) (int, int) {
	f := min(1, float64(side)/float64(max(w, h)))
	round := func(v int) int { return max(32, int(math.Round(float64(v)*f/32))*32) }
	return round(w), round(h)
}
