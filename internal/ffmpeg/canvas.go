package ffmpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"cutroom"
)

// Insets are the parts of a picture's sides that something is drawn over, as fractions
// of its height (Top, Bottom) and width (Left, Right).
type Insets struct{ Top, Bottom, Left, Right float64 }

// Inside returns what the insets leave of a picture.
func (s Insets) Inside(b image.Rectangle) image.Rectangle {
	w, h := float64(b.Dx()), float64(b.Dy())
	return image.Rect(
		b.Min.X+int(math.Round(s.Left*w)), b.Min.Y+int(math.Round(s.Top*h)),
		b.Max.X-int(math.Round(s.Right*w)), b.Max.Y-int(math.Round(s.Bottom*h)))
}

var safeLine = color.RGBA{0xff, 0x30, 0x30, 0xff}

// Shade darkens what lies within the insets to a third and draws a line around the rest.
func Shade(img *image.RGBA, s Insets) {
	in := s.Inside(img.Bounds())
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if image.Pt(x, y).In(in) {
				x = in.Max.X - 1
				continue
			}
			p := img.Pix[img.PixOffset(x, y):]
			p[0], p[1], p[2] = p[0]/3, p[1]/3, p[2]/3
		}
	}
	thick := max(1, b.Dx()/400)
	for _, side := range []image.Rectangle{
		{in.Min, image.Pt(in.Max.X, in.Min.Y+thick)},
		{image.Pt(in.Min.X, in.Max.Y-thick), in.Max},
		{in.Min, image.Pt(in.Min.X+thick, in.Max.Y)},
		{image.Pt(in.Max.X-thick, in.Min.Y), in.Max},
	} {
		draw.Draw(img, side.Intersect(in), image.NewUniform(safeLine), image.Point{}, draw.Src)
	}
}

// DecodeJPEG reads a JPEG picture of at most 64 megapixels.
func DecodeJPEG(data []byte) (*image.RGBA, error) {
	src, err := readJPEG(data)
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(src.Bounds())
	draw.Draw(img, img.Bounds(), src, src.Bounds().Min, draw.Src)
	return img, nil
}

// readJPEG reads a JPEG picture, unless it is too large to be held.
func readJPEG(data []byte) (image.Image, error) {
	conf, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if conf.Width*conf.Height > maxJPEGPixels {
		return nil, fmt.Errorf("%d×%d pixels are too many", conf.Width, conf.Height)
	}
	return jpeg.Decode(bytes.NewReader(data))
}

// EncodePicture writes a picture as what the suffix says: .png, else JPEG.
func EncodePicture(img image.Image, suffix string) ([]byte, error) {
	var b bytes.Buffer
	var err error
	if suffix == ".png" {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img)
	} else {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 90})
	}
	if err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return b.Bytes(), nil
}

// caption draws ASCII text in the built-in font, its top left corner at p.
func caption(img *image.RGBA, p image.Point, c color.Color, s string) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: basicfont.Face7x13, Dot: fixed.P(p.X, p.Y+basicfont.Face7x13.Ascent)}
	d.DrawString(s)
}

// Most tiles of a contact sheet, and of one side of it.
const (
	mostTiles    = 100
	mostTileSide = 20
)

// ParseTiles reads the size of a contact sheet: columns, x, rows, as in 4x3. A fault is
// an error for the caller.
func ParseTiles(s string) (columns, rows int, err error) {
	c, r, ok := strings.Cut(strings.ToLower(s), "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	switch {
	case !ok || err1 != nil || err2 != nil || columns < 1 || rows < 1:
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "%q is not a number of tiles", clipText(s)).WithHint("write COLUMNSxROWS, such as 4x3")
	case columns > mostTileSide || rows > mostTileSide || columns*rows > mostTiles:
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "%dx%d tiles are too many", columns, rows).WithHint("ask for at most %d, and at most %d in a row or column", mostTiles, mostTileSide)
	}
	return columns, rows, nil
}

func clipText(s string) string {
	if len(s) > 24 {
		return strings.ToValidUTF8(s[:24], "") + "…"
	}
	return s
}

// Spread returns n times over a length, the first and the last moment included.
func Spread(length cutroom.Micros, n int) []cutroom.Micros {
	if n <= 1 || length <= 0 {
		return []cutroom.Micros{0}
	}
	times := make([]cutroom.Micros, n)
	for i := range times {
		times[i] = cutroom.Micros(muldiv(int64(length), int64(i), int64(n-1), nearest))
	}
	return times
}
