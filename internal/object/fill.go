package object

import (
	"image"
	"image/color"

	"cutroom/internal/picture"
)

// frame is where a picture stands in the model's input. What is beside it is black.
type frame struct{ left, top, w, h int }

// frameOf is the frame of a picture of w by h: as large as fits, in its own shape, in
// the middle. Sizes are even, so that both margins are alike.
func frameOf(w, h int) frame {
	n := max(w, h)
	f := frame{w: max(2, side*w/n&^1), h: max(2, side*h/n&^1)}
	f.left, f.top = (side-f.w)/2, (side-f.h)/2
	return f
}

// fill makes im the model's input: its red, green and blue, 0 to 255, each the
// average of what falls together. Stretched to the square instead, a picture of 16:9
// loses half of what is found in it.
func fill(input []float32, im image.Image) frame {
	b := im.Bounds()
	f := frameOf(b.Dx(), b.Dy())
	clear(input)
	row := make([]uint8, 3*b.Dx())
	var sums [3 * side]uint32
	read := -1 // the row of im that row holds
	for y := range f.h {
		from, to := span(y, f.h, b.Dy())
		clear(sums[:])
		for sy := from; sy < to; sy++ {
			if sy != read {
				readRow(row, im, b.Min.Y+sy)
				read = sy
			}
			addRow(sums[:3*f.w], row)
		}
		out := input[((f.top+y)*side+f.left)*3:][:f.w*3]
		for x := range f.w {
			first, last := span(x, f.w, b.Dx())
			count := float32((to - from) * (last - first))
			for c := range 3 {
				out[3*x+c] = float32(sums[3*x+c]) / count
			}
		}
	}
	return f
}

// turn returns the input of a picture that is shown in another orientation than it is
// stored in. The input is square: it is turned after it was made, at no cost.
func turn(input []float32, f frame, shown picture.Orientation) ([]float32, frame) {
	if shown == picture.Upright {
		return input, f
	}
	out := make([]float32, len(input))
	for at := range side * side {
		x, y := shown.From(at%side, at/side, side, side)
		copy(out[3*at:3*at+3], input[3*(y*side+x):])
	}
	if shown.Sideways() {
		f = frame{f.top, f.left, f.h, f.w}
	}
	return out, f
}

// span is which of n pixels fall on place i of parts: at least one.
func span(i, parts, n int) (from, to int) {
	from = i * n / parts
	return from, max((i+1)*n/parts, from+1)
}

func addRow(sums []uint32, row []uint8) {
	for x := range len(sums) / 3 {
		first, last := span(x, len(sums)/3, len(row)/3)
		var r, g, b uint32
		for p := row[3*first : 3*last]; len(p) >= 3; p = p[3:] {
			r, g, b = r+uint32(p[0]), g+uint32(p[1]), b+uint32(p[2])
		}
		sums[3*x] += r
		sums[3*x+1] += g
		sums[3*x+2] += b
	}
}

// readRow writes row y of im as red, green and blue.
func readRow(row []uint8, im image.Image, y int) {
	b := im.Bounds()
	switch p := im.(type) {
	case *image.YCbCr:
		for x := range b.Dx() {
			c := p.COffset(b.Min.X+x, y)
			row[3*x], row[3*x+1], row[3*x+2] = color.YCbCrToRGB(p.Y[p.YOffset(b.Min.X+x, y)], p.Cb[c], p.Cr[c])
		}
	case *image.Gray:
		for x, v := range p.Pix[p.PixOffset(b.Min.X, y):][:b.Dx()] {
			row[3*x], row[3*x+1], row[3*x+2] = v, v, v
		}
	case *image.RGBA:
		pix := p.Pix[p.PixOffset(b.Min.X, y):][:4*b.Dx()]
		for x := range b.Dx() {
			copy(row[3*x:3*x+3], pix[4*x:4*x+3])
		}
	default:
		for x := range b.Dx() {
			r, g, bl, _ := im.At(b.Min.X+x, y).RGBA()
			row[3*x], row[3*x+1], row[3*x+2] = uint8(r>>8), uint8(g>>8), uint8(bl>>8)
		}
	}
}
