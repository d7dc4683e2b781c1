package ocr

import (
	"image"
	"slices"
)

// A screen or a slide is made of few colours on a still ground; a photograph is
// not. Both shares are needed: a night scene has few colours, a sky is still.
const (
	fewColours  = 8    // so many of 4096 colours …
	colourShare = 0.80 // … cover so much of a flat picture,
	tileSide    = 8    // and of its tiles of so many pixels
	stillSpread = 24   // (brightest − darkest, of 255)
	stillShare  = 0.40 // so many hold nothing, not even text
)

// flat reports whether im, a picture scaled to detection's size, is a clean screen
// or slide.
func flat(im *image.RGBA) bool {
	return topColours(im) >= colourShare && stillTiles(im) >= stillShare
}

// topColours returns the share of im's pixels that have one of its fewColours most
// frequent colours, at four bits a channel.
func topColours(im *image.RGBA) float64 {
	var count [4096]int
	for i := 0; i+3 < len(im.Pix); i += 4 {
		count[int(im.Pix[i]>>4)<<8|int(im.Pix[i+1]>>4)<<4|int(im.Pix[i+2]>>4)]++
	}
	slices.Sort(count[:])
	top := 0
	for _, n := range count[len(count)-fewColours:] {
		top += n
	}
	return float64(top) / float64(max(1, len(im.Pix)/4))
}

// stillTiles returns the share of im's tiles that are of one brightness.
func stillTiles(im *image.RGBA) float64 {
	size := im.Bounds().Size()
	still, all := 0, 0
	for y := 0; y+tileSide <= size.Y; y += tileSide {
		for x := 0; x+tileSide <= size.X; x += tileSide {
			all++
			if spread(im, x, y) <= stillSpread {
				still++
			}
		}
	}
	return float64(still) / float64(max(1, all))
}

// spread returns the difference between the brightest and the darkest pixel of a
// tile, by green, which carries most of the brightness.
func spread(im *image.RGBA, x, y int) int {
	lo, hi := 255, 0
	for dy := range tileSide {
		row := im.Pix[(y+dy)*im.Stride+4*x:]
		for dx := range tileSide {
			v := int(row[4*dx+1])
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return hi - lo
}
