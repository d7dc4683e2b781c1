package ffmpeg

import (
	"fmt"
	"image"
	"image/color"
)

// MarkedRegion is what one region of a picture holds besides the background.
type MarkedRegion struct {
	Region string  `json:"region" doc:"Which ninth of the picture: top left … bottom right; all is the whole."`
	Pixels int     `json:"pixels" min:"0" doc:"Pixels of the region."`
	Ink    int     `json:"ink" min:"0" doc:"Pixels that differ from the background."`
	Share  float64 `json:"share" min:"0" max:"1" doc:"Ink over pixels."`
	Box    []int   `json:"box,omitempty" unit:"px" doc:"Left, top, width and height of what holds the ink, in the picture."`
}

// Markings are what a picture shows besides its background.
type Markings struct {
	Background string         `json:"background" doc:"The commonest colour, #rrggbb."`
	Regions    []MarkedRegion `json:"regions" doc:"The whole, then its nine parts."`
}

// inkDistance is how far a channel must be from the background to count as ink: what
// JPEG makes of a flat surface stays below it.
const inkDistance = 48

var inkNames = [...]string{"top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right"}

// CountMarkings counts the pixels that differ from the commonest colour of a picture, in the
// whole and in its nine parts.
func CountMarkings(img *image.RGBA) Markings {
	b := img.Bounds()
	back := commonest(img)
	ink := Markings{Background: fmt.Sprintf("#%02x%02x%02x", back.R, back.G, back.B)}
	ink.Regions = append(ink.Regions, inkOf(img, b, back, "all"))
	for i, name := range inkNames {
		x, y := i%3, i/3
		part := image.Rect(b.Min.X+x*b.Dx()/3, b.Min.Y+y*b.Dy()/3, b.Min.X+(x+1)*b.Dx()/3, b.Min.Y+(y+1)*b.Dy()/3)
		ink.Regions = append(ink.Regions, inkOf(img, part, back, name))
	}
	return ink
}

// commonest is the mean colour of the fullest of 4096 bins.
func commonest(img *image.RGBA) color.RGBA {
	var n [4096]int
	var sum [4096][3]int
	best := 0
	for i := 0; i+3 < len(img.Pix); i += 4 {
		r, g, b := img.Pix[i], img.Pix[i+1], img.Pix[i+2]
		k := int(r>>4)<<8 | int(g>>4)<<4 | int(b>>4)
		n[k]++
		sum[k][0] += int(r)
		sum[k][1] += int(g)
		sum[k][2] += int(b)
		if n[k] > n[best] {
			best = k
		}
	}
	if n[best] == 0 {
		return color.RGBA{}
	}
	return color.RGBA{uint8(sum[best][0] / n[best]), uint8(sum[best][1] / n[best]), uint8(sum[best][2] / n[best]), 255}
}

func inkOf(img *image.RGBA, part image.Rectangle, back color.RGBA, name string) MarkedRegion {
	r := MarkedRegion{Region: name, Pixels: part.Dx() * part.Dy()}
	var box image.Rectangle
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > inkDistance }
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			p := img.Pix[img.PixOffset(x, y):]
			if far(p[0], back.R) || far(p[1], back.G) || far(p[2], back.B) {
				r.Ink++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if r.Pixels > 0 {
		r.Share = float64(r.Ink*10000/r.Pixels) / 10000
	}
	if r.Ink > 0 {
		r.Box = []int{box.Min.X, box.Min.Y, box.Dx(), box.Dy()}
	}
	return r
}
