package ocr

import (
	"bufio"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/draw"
)

// gallery writes pictures for Tesseract beside its list, which names them one a
// line: the n-th picture of the list is page n of what Tesseract prints.
type gallery struct {
	list  *os.File
	names *bufio.Writer
	stem  string
	count int
}

// newGallery creates the list at path, which must not exist.
func newGallery(path string) (*gallery, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create list: %w", err)
	}
	return &gallery{list: f, names: bufio.NewWriter(f), stem: strings.TrimSuffix(path, filepath.Ext(path))}, nil
}

// add writes g and returns its number, counted from 1.
func (a *gallery) add(g *image.Gray) (int, error) {
	name := fmt.Sprintf("%s-%05d.png", a.stem, a.count+1)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("create picture: %w", err)
	}
	w := bufio.NewWriter(f)
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	err = enc.Encode(w, g)
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, fmt.Errorf("write picture: %w", err)
	}
	a.count++
	if _, err := fmt.Fprintln(a.names, name); err != nil {
		return 0, fmt.Errorf("write list: %w", err)
	}
	return a.count, nil
}

// close ends the list.
func (a *gallery) close() error {
	err := a.names.Flush()
	if cerr := a.list.Close(); err == nil {
		err = cerr
	}
	return err
}

// lineStrip returns the brightness of the line at r, with a little of what is
// around it, inkHeight high.
func lineStrip(g *image.Gray, r rect) *image.Gray {
	if r.h >= 1.5*r.w { // a column: Tesseract gets it turned, read downwards
		r = stances(r)[1]
	}
	r = r.grown(r.h / 12)
	w := clamp(int(math.Round(r.w/r.h*inkHeight)), 8, inkWidth)
	rgba := cut(g, r, w, inkHeight)
	out := image.NewGray(rgba.Bounds())
	for i := range out.Pix {
		out.Pix[i] = rgba.Pix[4*i] // all three channels are the brightness
	}
	return out
}

// A page is enlarged for Tesseract while its lines are lower than smallLine, as
// long as it stays within pagePixels.
const (
	smallLine  = 34 // height of a region, letters and air
	pagePixels = 12_000_000
	pageSide   = 8000
)

// page returns the whole picture for Tesseract, dark on light, and the factor by
// which it is larger than g.
func page(g *image.Gray, rs []region) (*image.Gray, float64) {
	f := pageScale(g.Bounds().Size(), rs)
	w, h := int(float64(g.Bounds().Dx())*f), int(float64(g.Bounds().Dy())*f)
	out := image.NewGray(image.Rect(0, 0, max(1, w), max(1, h)))
	scaler := draw.Interpolator(draw.BiLinear)
	if f > 1 {
		scaler = draw.CatmullRom
	}
	if f == 1 {
		draw.Draw(out, out.Bounds(), g, g.Bounds().Min, draw.Src)
	} else {
		scaler.Scale(out, out.Bounds(), g, g.Bounds(), draw.Src, nil)
	}
	if dark(g) {
		for i, v := range out.Pix {
			out.Pix[i] = 255 - v
		}
	}
	return out, f
}

// pageScale returns 2 for a picture of small print, less than 1 for one that is
// larger than Tesseract should see, else 1.
func pageScale(size image.Point, rs []region) float64 {
	n := size.X * size.Y
	if n > pagePixels || max(size.X, size.Y) > pageSide {
		return min(math.Sqrt(pagePixels/float64(n)), pageSide/float64(max(size.X, size.Y)))
	}
	small := 0
	for _, r := range rs {
		if min(r.rect.w, r.rect.h) < smallLine {
			small++
		}
	}
	if 2*small > len(rs) && 4*n <= pagePixels && 2*max(size.X, size.Y) <= pageSide {
		return 2
	}
	return 1
}

// dark reports whether most of g is darker than the middle.
func dark(g *image.Gray) bool {
	below, all := 0, 0
	eachPixel(g, func(_ int, v uint8) {
		all++
		if v < 128 {
			below++
		}
	})
	return 2*below > all
}
