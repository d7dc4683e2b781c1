package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"cutroom/internal/testenv"
)

// webpHeader is a lossless WebP that promises w by h pixels.
func webpHeader(w, h uint32) []byte {
	body := binary.LittleEndian.AppendUint32([]byte{0x2f}, (w-1)|(h-1)<<14)
	out := append([]byte("RIFF"), 30, 0, 0, 0)
	out = append(out, "WEBPVP8L"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)+1))
	return append(append(out, body...), 0)
}

func TestDecodeRefusesBombs(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"png":        testenv.PNGHeader(20000, 20000, 8, 2),
		"png 16 bit": testenv.PNGHeader(8000, 8000, 16, 6),
		"png thin":   testenv.PNGHeader(1<<30, 1, 8, 0),
		"webp":       webpHeader(16384, 16384),
	} {
		if _, err := Decode(bytes.NewReader(b)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short": []byte("\xff\xd8"), "text": []byte("this is no picture at all"),
		"gif": []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00"), "png cut": testenv.PNGHeader(10, 10, 8, 2),
		"jpeg cut": []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00"), "webp cut": webpHeader(10, 10),
	} {
		if _, err := Decode(bytes.NewReader(b)); err == nil || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
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
	f.Add(webpHeader(3, 3))
	f.Add(testenv.PNGHeader(5, 5, 16, 6))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		im, err := Decode(bytes.NewReader(b))
		if err != nil {
			return
		}
		size := im.Bounds().Size()
		if size.X < 1 || size.Y < 1 || size.X*size.Y > MaxPixels {
			t.Fatalf("size %v", size)
		}
		at := im.Bounds()
		im.At(at.Min.X, at.Min.Y).RGBA()
		im.At(at.Max.X-1, at.Max.Y-1).RGBA()
	})
}
