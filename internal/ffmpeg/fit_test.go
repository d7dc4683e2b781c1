package ffmpeg

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// png16 is the beginning of a PNG with 16 bits a sample.
func png16(w, h int) []byte {
	head := []byte{'I', 'H', 'D', 'R', byte(w >> 24), byte(w >> 16), byte(w >> 8), byte(w), byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h), 16, 6, 0, 0, 0}
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(head))
}

// Not parallel: it counts what is allocated.
func TestFitJPEGRefuses(t *testing.T) {
	huge := encodeJPEG(t, noise(16, 16), 80)
	i := bytes.Index(huge, []byte{0xff, 0xc0}) // the frame header: height and width are its bytes 5 to 8
	copy(huge[i+5:], []byte{0xff, 0xff, 0xff, 0xff})
	sized := func(marker byte, h, w, bytes int) []byte { // a header that says so, then nothing of worth
		data := append([]byte{0xff, 0xd8, 0xff, marker, 0, 17, 8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0}, make([]byte, bytes)...)
		return append(data, 0xff, 0xd9)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "no picture": []byte("hello"), "65535 × 65535": huge,
		"cut":                           encodeJPEG(t, noise(600, 600), 80)[:2000],
		"cut, else it would fit":        encodeJPEG(t, noise(400, 400), 80)[:2000],
		"6000 × 6000 in 100 bytes":      sized(0xc0, 6000, 6000, 100),
		"progressive 5000 × 5000":       sized(0xc2, 5000, 5000, 50_000),
		"says it fits, 400 × 400 in 30": sized(0xc0, 400, 400, 30),
		"PNG of 16 bits, 7000 × 3500":   png16(7000, 3500),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := FitJPEG(data, 500, 100_000)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s was taken", name)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MB were allocated to refuse it", name, n>>20)
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

func TestSharePictures(t *testing.T) {
	t.Parallel()
	const k = 1000
	rows := []struct {
		name        string
		sizes       []int
		total, most int
		taken       int
		whole       []int // pictures that keep all their bytes
	}{
		{"all fit", []int{90 * k, 80 * k, 250 * k}, 1_500_000, 12, 3, []int{0, 1, 2}},
		{"a sheet has what the frames leave", []int{900 * k, 60 * k, 60 * k, 60 * k}, 1_500_000, 12, 4, []int{0, 1, 2, 3}},
		{"fifteen sheets are too many", slices.Repeat([]int{250 * k}, 15), 1_500_000, 12, 12, nil},
		{"fewer good ones rather than many bad ones", slices.Repeat([]int{250 * k}, 15), 500_000, 12, 5, nil},
		{"one that is too large is made smaller", []int{5000 * k}, 1_500_000, 12, 1, nil},
		{"little room", []int{250 * k, 250 * k}, 20_000, 12, 1, nil},
		{"none", nil, 1_500_000, 12, 0, nil},
	}
	for _, r := range rows {
		got := SharePictures(r.sizes, r.total, r.most)
		taken := 0
		for _, n := range got {
			if n > 0 {
				taken++
			}
		}
		if taken != r.taken {
			t.Errorf("%s: %d pictures, %v", r.name, taken, got)
		}
		for _, i := range r.whole {
			if got[i] != r.sizes[i] {
				t.Errorf("%s: picture %d has %d of %d bytes", r.name, i, got[i], r.sizes[i])
			}
		}
	}
}

func TestSharePicturesProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 200_000), rapid.IntRange(0, 8_000_000)), 0, 40).Draw(t, "sizes")
		total, most := rapid.IntRange(0, 3_000_000).Draw(t, "total"), rapid.IntRange(0, 15).Draw(t, "most")
		got := SharePictures(sizes, total, most)
		if len(got) != len(sizes) {
			t.Fatalf("%d shares of %d pictures", len(got), len(sizes))
		}
		sum, taken, cut, any := 0, 0, 0, false
		for i, n := range got {
			if n < 0 || n > sizes[i] {
				t.Fatalf("picture %d of %d bytes has %d", i, sizes[i], n)
			}
			any = any || sizes[i] > 0
			if n == 0 {
				continue
			}
			taken++
			sum += base64.StdEncoding.EncodedLen(n)
			if n < sizes[i] {
				if cut > 0 && n < cut-3 || cut > 0 && n > cut+8*len(sizes) {
					t.Fatalf("unequal shares %d and %d", cut, n)
				}
				cut = n
			}
			if n < sizes[i] && taken > 1 && n < leastPicture-8 {
				t.Fatalf("picture %d has %d bytes", i, n)
			}
		}
		if sum > total || taken > most {
			t.Fatalf("%d bytes of %d, %d pictures of %d", sum, total, taken, most)
		}
		if any && most > 0 && total >= 4 && taken == 0 {
			t.Fatal("no picture, though one could be sent")
		}
	})
}

func TestSheetLayout(t *testing.T) {
	t.Parallel()
	rows := []struct{ n, w, h, columns, least int }{
		{16, 1280, 720, 4, 384},
		{16, 720, 1280, 6, 250},
		{8, 1280, 720, 3, 500},
		{3, 1280, 720, 3, 512},
		{2, 720, 1280, 2, 400},
		{16, 640, 640, 4, 340},
		{1, 64, 64, 1, 64},
		{16, 4000, 20, 3, 500},
		{16, 20, 4000, 16, 32},
	}
	for _, r := range rows {
		picture := encodeJPEG(t, image.NewGray(image.Rect(0, 0, r.w, r.h)), 50)
		columns, width, err := SheetLayout(r.n, picture, 1568)
		if err != nil || columns != r.columns || width < r.least {
			t.Errorf("%d of %d×%d: %d columns of %d, %v", r.n, r.w, r.h, columns, width, err)
			continue
		}
		sheet, err := Sheet(slices.Repeat([]SheetFrame{{JPEG: picture, Label: "0:00:00.000"}}, r.n), columns, width)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := jpeg.DecodeConfig(bytes.NewReader(sheet)); err != nil || max(c.Width, c.Height) > 1568 {
			t.Errorf("%d of %d×%d: a sheet of %d×%d, %v", r.n, r.w, r.h, c.Width, c.Height, err)
		}
	}
	if _, _, err := SheetLayout(4, []byte("text"), 1568); err == nil {
		t.Error("a text has a layout")
	}
}
