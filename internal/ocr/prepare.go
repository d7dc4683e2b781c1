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
	return grayCut(g, r, w, inkHeight)
}

// grayCut is [cut] for brightness.
func grayCut(g *image.Gray, r rect, w, h int) *image.Gray {
	rgba := cut(g, r, w, h)
	out := image.NewGray(rgba.Bounds())
	for i := range out.Pix {
		out.Pix[i] = rgba.Pix[4*i] // all three channels are the brightness
	}
	return out
}

// A page is made smaller for Tesseract beyond these.
const (
	pagePixels = 12_000_000
	pageSide   = 8000
)

// page returns the whole picture for Tesseract, dark on light, and the factor by
// which it is larger than g.
func page(g *image.Gray) (*image.Gray, float64) {
	size := g.Bounds().Size()
	f := min(1, math.Sqrt(pagePixels/float64(size.X*size.Y)), pageSide/float64(max(size.X, size.Y)))
	w, h := max(1, int(float64(size.X)*f)), max(1, int(float64(size.Y)*f))
	out := image.NewGray(image.Rect(0, 0, w, h))
	if f == 1 {
		draw.Draw(out, out.Bounds(), g, g.Bounds().Min, draw.Src)
	} else {
		draw.BiLinear.Scale(out, out.Bounds(), g, g.Bounds(), draw.Src, nil)
	}
	if levels(g).middle < 128 {
		for i, v := range out.Pix {
			out.Pix[i] = 255 - v
		}
	}
	return out, f
}

// stretched returns a strip of a flat page as dark letters on white, with a margin
// and without what reaches in from the lines above and below.
func stretched(g *image.Gray) *image.Gray {
	size := g.Bounds().Size()
	out := image.NewGray(image.Rect(0, 0, size.X+2*inkMargin, size.Y+2*inkMargin))
	for i := range out.Pix {
		out.Pix[i] = 255
	}
	ground, ink := levels(g).sides()
	if ground == ink {
		return out
	}
	foreign := make([]bool, size.X*size.Y)
	for _, s := range shapes(pageMask(g), size.X, size.Y) {
		if s.foreign(size.X, size.Y) {
			spreadInto(foreign, s.members, size.X)
		}
	}
	eachPixel(g, func(at int, v uint8) {
		if !foreign[at] {
			out.Pix[(at/size.X+inkMargin)*out.Stride+at%size.X+inkMargin] = uint8(clamp((int(v)-ink)*255/(ground-ink), 0, 255))
		}
	})
	return out
}

// pageMask returns which pixels of a strip of a flat page are ink.
func pageMask(g *image.Gray) []bool {
	ground, ink := levels(g).sides()
	return mask(g, threshold{light: ink > ground, level: (ground + ink) / 2})
}

// The bounds of [tighten], in parts of a line's height.
const (
	tightAir   = 0.15 // left around the letters
	leastTight = 0.45 // of the height before: a row of dashes keeps its line
)

// tighten returns r, a line of a flat page, closely around its letters: detection
// draws small print much too high, so that its neighbours show.
func tighten(g *image.Gray, r rect) rect {
	if r.h >= 1.5*r.w {
		return r
	}
	w := clamp(int(math.Round(r.w/r.h*inkHeight)), 8, inkWidth)
	strip := grayCut(g, r, w, inkHeight)
	top, foot := inkHeight, -1
	for _, s := range shapes(pageMask(strip), w, inkHeight) {
		if s.pixels >= speck && !s.foreign(w, inkHeight) {
			top, foot = min(top, s.y0), max(foot, s.y1+1)
		}
	}
	if foot < 0 {
		return r
	}
	short := leastTight*inkHeight - float64(foot-top)
	air := max(tightAir*float64(foot-top), short/2)
	y0 := max(0, float64(top)-air) / inkHeight * r.h
	y1 := min(inkHeight, float64(foot)+air) / inkHeight * r.h
	r.origin = r.origin.plus(r.across().times(y0))
	r.h = y1 - y0
	return r
}

// brightness holds the levels that the darkest hundredth, half and all but the
// brightest hundredth of a picture do not exceed.
type brightness struct{ low, middle, high int }

// sides returns the brightness of the ground, which most of a flat page is, and of
// the ink.
func (b brightness) sides() (ground, ink int) {
	if b.high-b.middle > b.middle-b.low {
		return b.low, b.high
	}
	return b.high, b.low
}

func levels(g *image.Gray) brightness {
	var count [256]int
	total := 0
	eachPixel(g, func(_ int, v uint8) {
		count[v]++
		total++
	})
	at := func(part float64) int {
		n := 0
		for v, c := range count {
			if n += c; float64(n) >= part*float64(total) {
				return v
			}
		}
		return 255
	}
	return brightness{at(0.01), at(0.5), at(0.99)}
}

// luma returns the brightness of im, BT.601 as JPEG has it, without a copy where
// the picture already holds it.
func luma(im image.Image) *image.Gray {
	b := im.Bounds()
	switch p := im.(type) {
	case *image.Gray:
		return p
	case *image.YCbCr:
		return &image.Gray{Pix: p.Y[p.YOffset(b.Min.X, b.Min.Y):], Stride: p.YStride, Rect: image.Rect(0, 0, b.Dx(), b.Dy())}
	}
	g := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(g, g.Bounds(), im, b.Min, draw.Src)
	return g
}
