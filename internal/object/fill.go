package object

import (
	"image"
	"image/color"

	"cutroom/internal/picture"
)

// fill makes im the model's input: its red, green and blue, 0 to 255, each the
// average of what falls together; the picture is stretched to a square, as the model
// is used everywhere.
func fill(input []float32, im image.Image) {
	b := im.Bounds()
	row := make([]uint8, 3*b.Dx())
	var sums [3 * side]uint32
	read := -1 // the row of im that row holds
	for y := range side {
		from, to := span(y, b.Dy())
		clear(sums[:])
		for sy := from; sy < to; sy++ {
			if sy != read {
				readRow(row, im, b.Min.Y+sy)
				read = sy
			}
			addRow(&sums, row, b.Dx())
		}
		out := input[y*side*3:][:side*3]
		for x := range side {
			first, last := span(x, b.Dx())
			count := float32((to - from) * (last - first))
			for c := range 3 {
				out[3*x+c] = float32(sums[3*x+c]) / count
			}
		}
	}
}

// turn returns the input of a picture that is shown in another orientation than it is
// stored in. The input is square: it is turned after it was made, at no cost.
func turn(input []float32, shown picture.Orientation) []float32 {
	if shown == picture.Upright {
		return input
	}
	out := make([]float32, len(input))
	for at := range side * side {
		x, y := shown.From(at%side, at/side, side, side)
		copy(out[3*at:3*at+3], input[3*(y*side+x):])
	}
	return out
}

// span is which of n pixels fall on place i of the input: at least one.
func span(i, n int) (from, to int) {
	from = i * n / side
	return from, max((i+1)*n/side, from+1)
}

func addRow(sums *[3 * side]uint32, row []uint8, width int) {
	for x := range side {
		first, last := span(x, width)
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
