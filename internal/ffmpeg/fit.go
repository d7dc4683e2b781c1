package ffmpeg

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // recorded pictures are JPEG or PNG

	"golang.org/x/image/draw"
)

// Bounds of [FitJPEG].
const (
	smallestSide = 160       // px: below it nothing can be seen
	maxFitPixels = 40 << 20  // of a picture that is read
	maxFitMemory = 160 << 20 // bytes that decoding may take
	maxPacking   = 1024      // pixels that one byte of a JPEG can stand for, at most
)

// PictureSize returns the size of a picture that was recorded.
func PictureSize(data []byte) (w, h int, err error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0, fmt.Errorf("the picture cannot be read: %w", err)
	}
	return c.Width, c.Height, nil
}

// FitJPEG returns a picture as a JPEG whose longer side has at most maxSide pixels and
// that has at most maxBytes bytes; one that fits is returned as it is. Quality is given
// up before size. The picture may come from anywhere: one that is damaged is refused,
// and so is, before it is decoded, one of more than 40 megapixels, one whose form would
// take more than 160 MiB to decode, and a JPEG that says it is larger than its bytes
// can be.
func FitJPEG(data []byte, maxSide, maxBytes int) ([]byte, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	if err := readable(c, format, data); err != nil {
		return nil, err
	}
	ended := bytes.HasSuffix(data, []byte{0xff, 0xd9}) // else decoding says whether it is cut
	if format == "jpeg" && ended && max(c.Width, c.Height) <= maxSide && len(data) <= maxBytes {
		return data, nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	for side := min(maxSide, max(c.Width, c.Height)); side > 0; side = side * 4 / 5 {
		img = shrink(img, side)
		for _, quality := range []int{85, 75, 60} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
				return nil, err
			}
			if b.Len() <= maxBytes {
				return b.Bytes(), nil
			}
			if b.Len()/2 > maxBytes {
				break // no quality that is worth looking at halves it
			}
		}
		if side <= smallestSide {
			break
		}
	}
	return nil, errTooSmall
}

var errTooSmall = errors.New("the picture does not fit in so few bytes")

// readable refuses what would take too much to decode, by its head alone.
func readable(c image.Config, format string, data []byte) error {
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxFitPixels/c.Height {
		return fmt.Errorf("a picture of %d×%d is too large", c.Width, c.Height)
	}
	pixels := c.Width * c.Height
	each := 4 // bytes a pixel
	switch {
	case format == "jpeg" && progressive(data):
		each = 16 // the coefficients of all components are kept
	case c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model:
		each = 8
	}
	if pixels > maxFitMemory/each {
		return fmt.Errorf("a picture of %d×%d in this form is too large", c.Width, c.Height)
	}
	if format == "jpeg" && pixels > maxPacking*len(data) {
		return fmt.Errorf("a picture of %d×%d does not have %d bytes", c.Width, c.Height, len(data))
	}
	return nil
}

// progressive reports a JPEG whose frame header (ITU-T T.81 B.2.2) is that of the
// progressive mode: what is kept while decoding one is four times a plain picture's.
func progressive(data []byte) bool {
	for i := 2; i+4 <= len(data); {
		if data[i] != 0xff {
			i++
			continue
		}
		switch m := data[i+1]; {
		case m == 0xc2:
			return true
		case m == 0xc0 || m == 0xc1 || m == 0xda:
			return false
		case m == 0xff:
			i++
		case m == 0x00 || m == 0x01 || m >= 0xd0 && m <= 0xd9: // stand alone
			i += 2
		default:
			i += 2 + int(data[i+2])<<8 + int(data[i+3])
		}
	}
	return false
}

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

// leastPicture is how many bytes make a picture worth sending; one that has fewer is
// sent whole or not at all.
const leastPicture = 64 << 10

// SharePictures shares total bytes among pictures of these sizes, the most telling
// first, and returns how many each may have: 0 for one that is left out. Bytes count
// as base64, in which pictures are sent. At most most pictures are taken, each of
// which gets its size or a share worth sending; a small one leaves what it does not
// need to the large ones, so that a sheet has more than a frame. The first one that
// can be sent is, however little there is. It is called anew for the rest when a
// picture came out smaller than its share.
func SharePictures(sizes []int, total, most int) []int {
	shares := make([]int, len(sizes))
	var taken []int
	need := 0
	for i, size := range sizes {
		if len(taken) == most {
			break
		}
		least := base64.StdEncoding.EncodedLen(min(size, leastPicture))
		if size <= 0 || need+least > total && (len(taken) > 0 || total < 4) {
			continue
		}
		taken = append(taken, i)
		need += least
	}
	// The smallest first: what each leaves of an equal share goes to the larger ones.
	for len(taken) > 0 {
		share := total / len(taken) / 4 * 3
		at := 0
		for j, i := range taken {
			if sizes[i] < sizes[taken[at]] {
				at = j
			}
		}
		i := taken[at]
		shares[i] = min(sizes[i], share)
		total -= base64.StdEncoding.EncodedLen(shares[i])
		taken = append(taken[:at:at], taken[at+1:]...)
	}
	return shares
}
