package ffmpeg

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cutroom/internal/testenv"
)

func pictureOf(t testing.TB, kind string, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if kind == "jpg" {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func shapeOf(t testing.TB, name string, file []byte) string {
	t.Helper()
	f, err := Sniff(file, name)
	if err != nil {
		t.Fatal(err)
	}
	return Shape(f, file, file[max(0, len(file)-TailLen):])
}

// Pictures of one shape are what ffprobe describes alike; others have another shape, and
// what is cut off has none.
func TestPicturesOfOneShapeAreAlike(t *testing.T) {
	t.Parallel()
	gray, flat, noisy, wide := image.NewGray(image.Rect(0, 0, 20, 10)), image.NewNRGBA(image.Rect(0, 0, 20, 10)), image.NewNRGBA(image.Rect(0, 0, 20, 10)), image.NewNRGBA(image.Rect(0, 0, 22, 10))
	for i := range flat.Pix {
		flat.Pix[i] = 255
	}
	for i := range noisy.Pix {
		noisy.Pix[i] = byte(i*i) | byte(i%4/3*255)
	}
	clear := image.NewNRGBA(flat.Rect)
	clear.Set(1, 1, color.NRGBA{R: 9, A: 90})
	for _, kind := range []string{"png", "jpg"} {
		a, b := pictureOf(t, kind, flat), pictureOf(t, kind, noisy)
		shape := shapeOf(t, "a."+kind, a)
		if shape == "" || shapeOf(t, "b."+kind, b) != shape {
			t.Fatalf("%s: two of the same kind have two shapes", kind)
		}
		da, db := describedAs(t, kind, a), describedAs(t, kind, b)
		if diff := cmp.Diff(db, da.Alike(int64(len(b))), cmpopts.IgnoreUnexported(Document{}, Stream{}, VideoFacts{})); diff != "" {
			t.Errorf("%s:\n%s", kind, diff)
		}
		for name, other := range map[string][]byte{"wide": pictureOf(t, kind, wide), "gray": pictureOf(t, kind, gray), "cut off": a[:len(a)-3]} {
			if s := shapeOf(t, name, other); s == shape || (s == "") != (name == "cut off") {
				t.Errorf("%s: %s has shape %x", kind, name, s)
			}
		}
	}
	if shapeOf(t, "c.png", pictureOf(t, "png", clear)) == shapeOf(t, "a.png", pictureOf(t, "png", flat)) {
		t.Error("a transparent picture has the shape of an opaque one")
	}
	turned := []byte("\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	upright := pictureOf(t, "jpg", flat)
	if shapeOf(t, "a.jpg", upright) == shapeOf(t, "b.jpg", append(append(upright[:2:2], turned...), upright[2:]...)) {
		t.Error("a turned picture has the shape of an upright one")
	}
}

func describedAs(t *testing.T, kind string, file []byte) *Document {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p."+kind)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Sniff(file, path)
	if err != nil {
		t.Fatal(err)
	}
	p := NewProber(0, f, int64(len(file)))
	if err := testenv.NewRunner(t, path).Drive(p); err != nil {
		t.Fatal(err)
	}
	d, err := p.Document()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func FuzzShape(f *testing.F) {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	f.Add(pictureOf(f, "png", img))
	f.Add(pictureOf(f, "jpg", img))
	f.Fuzz(func(t *testing.T, file []byte) {
		tail := file[max(0, len(file)-TailLen):]
		s := Shape(Format{}, file, tail)
		if s != Shape(Format{}, file, tail) || len(s) != 0 && len(s) != 32 {
			t.Errorf("%x", s)
		}
	})
}
