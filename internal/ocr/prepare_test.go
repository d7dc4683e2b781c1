package ocr

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"cutroom/internal/picture"
)

func TestDecodeKeepsWhatShows(t *testing.T) {
	t.Parallel()
	clear := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	clear.Set(1, 1, color.NRGBA{0, 0, 0, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, clear); err != nil {
		t.Fatal(err)
	}
	im, err := picture.Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	g := luma(im)
	if g.GrayAt(0, 0).Y != 255 || g.GrayAt(1, 1).Y != 0 {
		t.Errorf("ground %d, dot %d", g.GrayAt(0, 0).Y, g.GrayAt(1, 1).Y)
	}
	// The brightness of a JPEG is its own, of an odd size too.
	b.Reset()
	gray := image.NewGray(image.Rect(0, 0, 33, 17))
	for i := range gray.Pix {
		gray.Pix[i] = 200
	}
	if err := jpeg.Encode(&b, plainRGBA(gray), nil); err != nil {
		t.Fatal(err)
	}
	if im, err = picture.Decode(bytes.NewReader(b.Bytes())); err != nil {
		t.Fatal(err)
	}
	if g := luma(im); g.Bounds().Size() != image.Pt(33, 17) || g.GrayAt(32, 16).Y < 198 {
		t.Errorf("%v %v", g.Bounds(), g.GrayAt(32, 16))
	}
}

// plainRGBA copies im.
func plainRGBA(im image.Image) *image.RGBA {
	return shrink(im, im.Bounds().Dx(), im.Bounds().Dy())
}

// Whatever was decoded can be looked at.
func FuzzPrepare(f *testing.F) {
	var b bytes.Buffer
	im := image.NewRGBA(image.Rect(0, 0, 9, 7))
	if err := png.Encode(&b, im); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(b.Bytes()))
	b.Reset()
	if err := jpeg.Encode(&b, im, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(b.Bytes()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		im, err := picture.Decode(bytes.NewReader(b))
		if err != nil {
			return
		}
		if size := im.Bounds().Size(); size.X*size.Y <= 1<<20 {
			if g := luma(im).Bounds().Size(); g != size {
				t.Fatalf("brightness of %v for a picture of %v", g, size)
			}
			flat(shrink(im, 64, 64))
		}
	})
}
