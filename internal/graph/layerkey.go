package graph

import (
	"fmt"
	"math"

	"cutroom/internal/ffmpeg"
)

// chain takes the colour out of a picture, which comes in as red, green and blue (rgb)
// or as the video holds it, and goes out with alpha. What counts is the colour as the
// video holds it: by its own matrix and range, which the filter itself does not know.
func (k *Key) chain(v *ffmpeg.VideoFacts, rgb bool) []string {
	matrix, full := v.MatrixOr(), v.FullRange()
	into := "format=yuva444p"
	if rgb {
		matrix, full = "bt709", false
		into = "scale=iw:ih:out_color_matrix=bt709:out_range=limited:flags=bicubic+accurate_rnd+full_chroma_int,format=yuva444p"
	}
	y, cb, cr := codeOf(k.Color, matrix, full)
	list := []string{
		into,
		fmt.Sprintf("chromakey=color=0x%02x%02x%02x:similarity=%s:blend=%s:yuv=1", y, cb, cr, number(max(0.01, k.Similarity)), number(k.Blend)),
		readRGB(matrix, full),
	}
	if k.Despill {
		kind := "green"
		if k.Color[2] > k.Color[1] {
			kind = "blue"
		}
		list = append(list, "despill=type="+kind, "format=gbrap")
	}
	return list
}

// codeOf is a colour in eight bits of a matrix and a range.
func codeOf(rgb [3]uint8, matrix string, full bool) (y, cb, cr uint8) {
	luma, u, w := planesOf(rgb, matrix)
	code := func(x float64) uint8 { return uint8(math.Round(min(max(x, 0), 255))) }
	if full {
		return code(255 * luma), code(255*u + 128), code(255*w + 128)
	}
	return code(219*luma + 16), code(224*u + 128), code(224*w + 128)
}

// ScriptColor is a colour as a script has to name it so that it is seen as meant over a
// picture like v. Before version 7, ffmpeg draws scripts with the matrix of BT.601 on
// whatever it is; what that does to a colour is taken back beforehand.
func ScriptColor(rgb [3]uint8, v *ffmpeg.VideoFacts, hdr bool, a *ffmpeg.Abilities) [3]uint8 {
	matrix := tags(v, hdr).matrix
	if a.AtLeast(7, 0) || scaleMatrix(matrix) == "bt601" {
		return rgb
	}
	y, cb, cr := planesOf(rgb, matrix)
	kr, kb := weightsOf("bt601")
	r, b := y+2*(1-kr)*cr, y+2*(1-kb)*cb
	g := (y - kr*r - kb*b) / (1 - kr - kb)
	code := func(x float64) uint8 { return uint8(math.Round(255 * min(max(x, 0), 1))) }
	return [3]uint8{code(r), code(g), code(b)}
}

// weightsOf are the shares of red and blue in luma.
func weightsOf(matrix string) (kr, kb float64) {
	switch scaleMatrix(matrix) {
	case "bt601":
		return 0.299, 0.114
	case "bt2020":
		return 0.2627, 0.0593
	case "smpte240m":
		return 0.212, 0.087
	case "fcc":
		return 0.30, 0.11
	}
	return 0.2126, 0.0722
}

// planesOf is a colour as luma (0 to 1) and two differences (−0.5 to 0.5).
func planesOf(rgb [3]uint8, matrix string) (y, cb, cr float64) {
	kr, kb := weightsOf(matrix)
	r, g, b := float64(rgb[0])/255, float64(rgb[1])/255, float64(rgb[2])/255
	y = kr*r + (1-kr-kb)*g + kb*b
	return y, (b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr))
}
