package object

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom/internal/picture"
	"cutroom/internal/testenv"
)

// real is the pinned model.
func real(t testing.TB, threads int) *Detector {
	t.Helper()
	dir := testenv.Models(t)
	d, err := Load(filepath.Join(dir, filepath.FromSlash(GraphFile)), filepath.Join(dir, filepath.FromSlash(WeightsFile)), threads)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t testing.TB, path string) image.Image {
	t.Helper()
	im, err := picture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// sample is the photograph that comes with the model: five people stand in a row, and
// two smaller ones behind them.
func sample(t testing.TB) string {
	t.Helper()
	return filepath.Join(testenv.Models(t), filepath.FromSlash(SampleFile))
}

// The answer to the sample is known to the last digit, for any number of threads.
func TestPeopleOfTheSample(t *testing.T) {
	t.Parallel()
	want := []Object{
		{"person", 0.656, Box{0.0157, 0.4878, 0.1818, 0.2026}},
		{"person", 0.634, Box{0.3967, 0.4786, 0.1936, 0.2122}},
		{"person", 0.623, Box{0.2037, 0.4827, 0.1912, 0.2051}},
		{"person", 0.61, Box{0.5955, 0.4793, 0.1874, 0.2081}},
		{"person", 0.526, Box{0.7889, 0.477, 0.198, 0.2204}},
		{"person", 0.426, Box{0.0024, 0.1448, 0.1115, 0.197}},
		{"person", 0.395, Box{0.5544, 0.2015, 0.0805, 0.1394}},
	}
	im := open(t, sample(t))
	for _, threads := range []int{1, 3} {
		if diff := cmp.Diff(want, real(t, threads).Find(im, picture.Upright, DefaultScore, DefaultLimit)); diff != "" {
			t.Errorf("%d threads: %s", threads, diff)
		}
	}
}

// A photograph of a dog before a bicycle and a car, whose places are known.
func TestDogBicycleAndCar(t *testing.T) {
	t.Parallel()
	got := real(t, 2).Find(open(t, filepath.Join(testenv.Real(t), "dog.jpg")), picture.Upright, DefaultScore, DefaultLimit)
	var labels []string
	for _, o := range got {
		labels = append(labels, o.Label)
	}
	if want := []string{"bicycle", "car", "dog"}; !slices.Equal(labels, want) {
		t.Fatalf("%v, want %v", labels, want)
	}
	// Where they are, by eye, in parts of 768 by 576.
	for i, want := range []Box{{0.15, 0.23, 0.59, 0.51}, {0.61, 0.13, 0.28, 0.17}, {0.17, 0.38, 0.24, 0.55}} {
		if s := around(got[i].Box).shared(around(want)); s < 0.7 {
			t.Errorf("%s at %v shares %.2f with %v", got[i].Label, got[i].Box, s, want)
		}
	}
}

// In a film of 16:9 the two men are found where they are, by eye; stretched to a square
// the picture shows the model neither.
func TestPeopleOfAFilm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "frame.png")
	testenv.FFmpeg(t, "-ss", "4", "-i", filepath.Join(testenv.Real(t), "chaplin.mp4"), "-frames:v", "1", path)
	got := real(t, 2).Find(open(t, path), picture.Upright, 0.45, 10)
	for _, want := range []Box{{0.18, 0.12, 0.153, 0.8}, {0.442, 0.07, 0.19, 0.93}} {
		if !slices.ContainsFunc(got, func(o Object) bool { return o.Label == "person" && around(o.Box).shared(around(want)) > 0.7 }) {
			t.Errorf("nobody at %v: %+v", want, got)
		}
	}
}

func around(b Box) found { return found{x0: b[0], y0: b[1], x1: b[0] + b[2], y1: b[1] + b[3]} }

// What is turned over is found turned over: the boxes are those of the picture that
// was given.
func TestMirrored(t *testing.T) {
	t.Parallel()
	im := open(t, sample(t))
	b := im.Bounds()
	turned := image.NewRGBA(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			turned.Set(b.Max.X-1-x+b.Min.X, y, im.At(x, y))
		}
	}
	d := real(t, 2)
	plain, mirrored := d.Find(im, picture.Upright, 0.45, 10), d.Find(turned, picture.Upright, 0.45, 10)
	if len(plain) < 5 || len(mirrored) < 4 {
		t.Fatalf("%d people, mirrored %d", len(plain), len(mirrored))
	}
	for _, m := range mirrored {
		at := around(m.Box)
		at.x0, at.x1 = 1-at.x1, 1-at.x0
		if !slices.ContainsFunc(plain, func(p Object) bool { return p.Label == m.Label && around(p.Box).shared(at) > 0.7 }) {
			t.Errorf("%+v is nowhere in %+v", m, plain)
		}
	}
}

// A picture that is stored turned or mirrored gives the model what the picture as it is
// shown would.
func TestTurned(t *testing.T) {
	t.Parallel()
	const w, h = side, 2 * side
	im := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		im.Set(i%w, i/w, color.RGBA{uint8(i), uint8(i / w), uint8(i / 77), 255})
	}
	want, got := make([]float32, 3*side*side), make([]float32, 3*side*side)
	frame := fill(want, im)
	for o := picture.Orientation(1); o <= 8; o++ {
		stored := image.NewRGBA(image.Rect(0, 0, w, h))
		if o.Sideways() {
			stored = image.NewRGBA(image.Rect(0, 0, h, w))
		}
		size := stored.Bounds().Size()
		for i := range w * h {
			x, y := o.From(i%w, i/w, size.X, size.Y)
			stored.SetRGBA(x, y, im.RGBAAt(i%w, i/w))
		}
		if back, f := turn(got, fill(got, stored), o); f != frame || !slices.Equal(back, want) {
			t.Errorf("orientation %d is not turned back: %+v, want %+v", o, f, frame)
		}
	}
}

// In pictures that show nothing nothing is found.
func TestNothing(t *testing.T) {
	t.Parallel()
	d := real(t, 2)
	for name, paint := range map[string]func(x, y int) color.Color{
		"white": func(int, int) color.Color { return color.White },
		"black": func(int, int) color.Color { return color.Black },
		"ramp":  func(x, y int) color.Color { return color.RGBA{uint8(x), uint8(y), uint8(x + y), 255} },
		"noise": func(x, y int) color.Color { v := uint8((x*7919 ^ y*104729) * 2654435761 >> 13); return color.Gray{v} },
	} {
		im := image.NewRGBA(image.Rect(0, 0, 256, 256))
		for i := range 256 * 256 {
			im.Set(i%256, i/256, paint(i%256, i/256))
		}
		if got := d.Find(im, picture.Upright, DefaultScore, DefaultLimit); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What the pinned model takes: a change of the planner shows here.
func TestMemoryOfTheModel(t *testing.T) {
	t.Parallel()
	p := real(t, 1).program
	total := 0
	for _, n := range p.slabs {
		total += 4 * n
	}
	if total > 40<<20 || p.effort > 1_400_000_000 {
		t.Errorf("%d bytes and %d multiplications", total, p.effort)
	}
}

// Whatever a model answers, what is passed on passes the check, overlaps nothing and
// is in order.
func TestBestIsInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := &Detector{cell: 64} // 8 by 8 places
		scores, sizes := make([]float32, 64*kinds), make([]float32, 64*4)
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			scores[rapid.IntRange(0, len(scores)-1).Draw(t, "at")] = rapid.Float32Range(-1, 1).Draw(t, "score")
		}
		for i := range sizes {
			sizes[i] = rapid.OneOf(rapid.Float32Range(-50, 400), rapid.Float32()).Draw(t, "size")
		}
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		f := frameOf(rapid.IntRange(1, 5000).Draw(t, "width"), rapid.IntRange(1, 5000).Draw(t, "height"))
		got := best(d.peaks(scores, sizes, f, 0.1), limit)
		v := View{Width: 1, Height: 1, Objects: got}
		if err := v.check(limit); err != nil {
			t.Fatal(err)
		}
		for i, a := range got {
			for _, b := range got[:i] {
				if around(a.Box).shared(around(b.Box)) > overlap+0.01 {
					t.Fatalf("%+v and %+v", a, b)
				}
			}
		}
	})
}

// However a picture is held in memory, the model gets the same of it; a picture of one
// colour stays of that colour at every size.
func TestFill(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 1200).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		if rapid.Bool().Draw(t, "upright") {
			w, h = h, w
		}
		off := rapid.IntRange(0, 5).Draw(t, "off")
		gray := image.NewGray(image.Rect(off, off, off+w, off+h))
		for i := range gray.Pix {
			gray.Pix[i] = uint8(i * 31)
		}
		rgba := image.NewRGBA(gray.Rect)
		draw.Draw(rgba, rgba.Bounds(), gray, gray.Rect.Min, draw.Src)
		deep := image.NewGray16(gray.Rect)
		draw.Draw(deep, deep.Bounds(), gray, gray.Rect.Min, draw.Src)
		ycc := image.NewYCbCr(gray.Rect, image.YCbCrSubsampleRatio420)
		for y := off; y < off+h; y++ {
			copy(ycc.Y[ycc.YOffset(off, y):], gray.Pix[gray.PixOffset(off, y):][:w])
		}
		for i := range ycc.Cb {
			ycc.Cb[i], ycc.Cr[i] = 128, 128
		}
		want, got := make([]float32, side*side*3), make([]float32, side*side*3)
		fill(want, gray)
		for _, im := range []image.Image{rgba, deep, ycc} {
			if fill(got, im); !slices.Equal(got, want) {
				t.Fatalf("%T is not as the gray one", im)
			}
		}
		draw.Draw(rgba, rgba.Bounds(), image.NewUniform(color.RGBA{10, 20, 30, 255}), image.Point{}, draw.Src)
		f := fill(got, rgba)
		if want := frameOf(w, h); f != want || f.left*2+f.w != side || f.top*2+f.h != side || max(f.w, f.h) != side {
			t.Fatalf("%d by %d stands at %+v", w, h, f)
		}
		for i, v := range got {
			x, y, want := i/3%side, i/3/side, float32(0)
			if x >= f.left && x < f.left+f.w && y >= f.top && y < f.top+f.h {
				want = float32(10 + i%3*10)
			}
			if v != want {
				t.Fatalf("number %d of a picture of one colour is %v, want %v", i, v, want)
			}
		}
	})
}

// The child answers for every picture, whatever the others are, and the parent takes
// the answer.
func TestChild(t *testing.T) {
	t.Parallel()
	dir, models := t.TempDir(), testenv.Models(t)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encoded := func(w, h int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	bomb := encoded(1, 1)
	copy(bomb[16:], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60}) // 60000 by 60000
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	whole, err := os.ReadFile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	// Orientation 6, little-endian, in a directory of one field.
	turned := slices.Concat(whole[:2], []byte("\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"), whole[2:])
	args := []string{
		"--graph", filepath.Join(models, GraphFile), "--weights", filepath.Join(models, WeightsFile), "--limit", "3", "--",
		write("text.jpg", []byte("no picture at all")), sample(t), filepath.Join(dir, "gone.png"),
		write("cut.jpg", whole[:len(whole)/3]), write("one.png", encoded(1, 1)), write("thin.png", encoded(3000, 1)), write("bomb.png", bomb), write("turned.jpg", turned),
	}
	var out, said bytes.Buffer
	if code := Child(args, nil, &out, &said); code != 0 {
		t.Fatalf("code %d: %s", code, said.Bytes())
	}
	views, err := readViews(&out, 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []View{{Problem: Unreadable}, {Width: 800, Height: 718}, {Problem: Unreadable}, {Problem: Unreadable}, {Width: 1, Height: 1}, {Width: 3000, Height: 1}, {Problem: TooLarge}, {Width: 718, Height: 800}} {
		if v := views[i]; v.Problem != want.Problem || v.Width != want.Width || v.Height != want.Height {
			t.Errorf("picture %d: %+v, want %+v", i, v, want)
		}
	}
	if len(views[1].Objects) != 3 {
		t.Errorf("%d objects, want the limit of 3", len(views[1].Objects))
	}
	for _, args := range [][]string{
		{},
		{"--graph", "a"},
		{"--graph", "a", "--weights", "b", "--score", "NaN"},
		{"--graph", "a", "--weights", "b", "--limit", "0"},
		{"--graph", "a", "--weights", "b", "--threads", "99"},
		{"--no-such"},
	} {
		if code := Child(args, nil, &out, &said); code != 2 {
			t.Errorf("%q: code %d, want 2", args, code)
		}
	}
	if code := Child([]string{"--graph", sample(t), "--weights", sample(t)}, nil, &out, &said); code != 1 {
		t.Errorf("a photograph as the model: code %d, want 1", code)
	}
}

// The JPEG, PNG and JPEG-again of one picture show the same.
func TestFormats(t *testing.T) {
	t.Parallel()
	im := open(t, sample(t))
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	d := real(t, 2)
	again, err := picture.Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	want := d.Find(im, picture.Upright, DefaultScore, DefaultLimit)
	if diff := cmp.Diff(want, d.Find(again, picture.Upright, DefaultScore, DefaultLimit)); diff != "" {
		t.Errorf("as PNG: %s", diff)
	}
	b.Reset()
	if err := jpeg.Encode(&b, im, &jpeg.Options{Quality: 60}); err != nil {
		t.Fatal(err)
	}
	if again, err = picture.Decode(bytes.NewReader(b.Bytes())); err != nil {
		t.Fatal(err)
	}
	if got := d.Find(again, picture.Upright, DefaultScore, DefaultLimit); len(got) < len(want)-2 || got[0].Label != "person" {
		t.Errorf("as a hard-pressed JPEG: %+v", got)
	}
}

// What the child could be made to say is refused, or it is what it would say.
func FuzzReadViews(f *testing.F) {
	f.Add([]byte(`{"index":0,"width":4,"height":3,"objects":[{"label":"dog","score":0.5,"box":[0,0,1,1]}]}`+"\n"+`{"index":1,"problem":"unreadable"}`), 2, 20)
	f.Add([]byte(`{"index":0,"width":4,"height":3,"objects":[{"label":"dog,cat","score":2,"box":[0,0.5,1,0.6]}]}`), 1, 1)
	f.Fuzz(func(t *testing.T, b []byte, want, limit int) {
		views, err := readViews(bytes.NewReader(b), want, limit)
		if err != nil {
			return
		}
		if len(views) != want {
			t.Fatalf("%d views of %d", len(views), want)
		}
		names := Labels()
		for i, v := range views {
			if v.Index != i || len(v.Objects) > max(limit, 0) || int64(v.Width)*int64(v.Height) > picture.MaxPixels || v.Problem != "" && len(v.Objects) > 0 {
				t.Fatalf("%+v", v)
			}
			for _, o := range v.Objects {
				if !slices.Contains(names, o.Label) || !(o.Score >= 0 && o.Score <= 1) || !(o.Box[0]+o.Box[2] < 1.001 && o.Box[1]+o.Box[3] < 1.001) {
					t.Fatalf("%+v", o)
				}
			}
			if _, err := json.Marshal(v); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The longest answer that a picture can have is read.
func TestLongestView(t *testing.T) {
	t.Parallel()
	v := View{Width: picture.MaxPixels, Height: 1}
	for range MaxLimit {
		v.Objects = append(v.Objects, Object{"baseball glove", 0.123, Box{0.1234, 0.1234, 0.8765, 0.8765}})
	}
	line, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readViews(bytes.NewReader(append(line, '\n')), 1, MaxLimit)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]View{v}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := readViews(bytes.NewReader(line), 1, MaxLimit-1); err == nil {
		t.Error("more objects than were asked for are taken")
	}
	if len(Labels()) != kinds || slices.Contains(Labels(), "") {
		t.Errorf("labels %q", Labels())
	}
}

func BenchmarkFind(b *testing.B) {
	im := open(b, sample(b))
	for _, threads := range []int{1, 2} {
		d := real(b, threads)
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			for b.Loop() {
				d.Find(im, picture.Upright, DefaultScore, DefaultLimit)
			}
		})
	}
}
