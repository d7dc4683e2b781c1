package ffmpeg

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// noise is a picture that compresses badly.
func noise(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.IntN(256))
	}
	return img
}

func encodeJPEG(t *testing.T, img image.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFitJPEG(t *testing.T) {
	t.Parallel()
	var asPNG bytes.Buffer
	plain := image.NewUniform(color.RGBA{200, 10, 10, 255})
	small := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for x := range 40 {
		for y := range 30 {
			small.Set(x, y, plain.C)
		}
	}
	if err := png.Encode(&asPNG, small); err != nil {
		t.Fatal(err)
	}
	fits := encodeJPEG(t, noise(300, 200), 80)
	rows := []struct {
		name      string
		data      []byte
		side, max int
		w, h      int // of the result; 0: any
	}{
		{"fits", fits, 300, len(fits), 300, 200},
		{"too wide", encodeJPEG(t, noise(2000, 1000), 80), 1568, 10 << 20, 1568, 784},
		{"too high", encodeJPEG(t, noise(10, 4000), 80), 1568, 10 << 20, 3, 1568},
		{"too many bytes", encodeJPEG(t, noise(1500, 1500), 95), 1568, 300_000, 0, 0},
		{"PNG", asPNG.Bytes(), 1568, 100_000, 40, 30},
	}
	for _, r := range rows {
		got, err := FitJPEG(r.data, r.side, r.max)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		size := img.Bounds().Size()
		if len(got) > r.max || max(size.X, size.Y) > r.side || r.w > 0 && size != image.Pt(r.w, r.h) {
			t.Errorf("%s: %d bytes, %v", r.name, len(got), size)
		}
	}
	if got, _ := FitJPEG(fits, 300, len(fits)); !bytes.Equal(got, fits) {
		t.Error("a picture that fits was encoded anew")
	}
}

func TestFitJPEGRefuses(t *testing.T) {
	t.Parallel()
	huge := encodeJPEG(t, noise(16, 16), 80)
	i := bytes.Index(huge, []byte{0xff, 0xc0}) // the frame header: height and width are its bytes 5 to 8
	copy(huge[i+5:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, data := range map[string][]byte{"empty": nil, "no picture": []byte("hello"), "cut": encodeJPEG(t, noise(600, 600), 80)[:2000], "65535 × 65535": huge} {
		if _, err := FitJPEG(data, 500, 100_000); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := FitJPEG(encodeJPEG(t, noise(600, 600), 80), 500, 300); err == nil {
		t.Error("a picture of 300 bytes was promised")
	}
}

func FuzzFitJPEG(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0"), 100, 1000)
	f.Fuzz(func(t *testing.T, data []byte, side, most int) {
		if side < 1 || side > 4000 || most < 1 {
			return
		}
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width*c.Height > 1<<22 {
			return // right, but slow
		}
		got, err := FitJPEG(data, side, most)
		if err == nil && len(got) > most {
			t.Errorf("%d bytes of %d", len(got), most)
		}
	})
}
