package ffmpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // recorded pictures are JPEG or PNG

	"golang.org/x/image/draw"
)

// smallestSide is where making a picture smaller ends: below it nothing can be seen.
const smallestSide = 160

// FitJPEG returns a picture as a JPEG whose longer side has at most maxSide pixels and
// that has at most maxBytes bytes; one that fits is returned as it is. Quality is given
// up before size. A picture of more than 64 megapixels is refused unread.
func FitJPEG(data []byte, maxSide, maxBytes int) ([]byte, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	if format == "jpeg" && max(c.Width, c.Height) <= maxSide && len(data) <= maxBytes {
		return data, nil
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxJPEGPixels/c.Height {
		return nil, fmt.Errorf("a picture of %d×%d is too large", c.Width, c.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	for side := min(maxSide, max(c.Width, c.Height)); ; side = side * 4 / 5 {
		img = shrink(img, side)
		for _, quality := range []int{85, 75, 60} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
				return nil, err
			}
			if b.Len() <= maxBytes {
				return b.Bytes(), nil
			}
		}
		if side <= smallestSide {
			return nil, errTooSmall
		}
	}
}

var errTooSmall = errors.New("the picture does not fit in so few bytes")

// shrink scales a picture so that its longer side has at most side pixels.
func shrink(img image.Image, side int) image.Image {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if max(w, h) <= side {
		return img
	}
	if w >= h {
		w, h = side, max(1, h*side/w)
	} else {
		w, h = max(1, w*side/h), side
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}
