package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

// turned is a JPEG of w by h that says an orientation, in a byte order.
func turned(t testing.TB, w, h int, o uint16, order binary.AppendByteOrder) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil); err != nil {
		t.Fatal(err)
	}
	mark := "II*\x00"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		mark = "MM\x00*"
	}
	tiff := order.AppendUint16(order.AppendUint32([]byte(mark), 8), 2)
	for _, f := range []struct{ tag, value uint16 }{{256, 7}, {274, o}} {
		tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, f.tag), 3), 1)
		tiff = order.AppendUint16(order.AppendUint16(tiff, f.value), 0)
	}
	exif := append([]byte("Exif\x00\x00"), tiff...)
	out := []byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 'J', 'F', 0xff, 0xe1}
	out = binary.BigEndian.AppendUint16(out, uint16(len(exif)+2))
	return append(append(out, exif...), b.Bytes()[2:]...)
}

func TestOrientation(t *testing.T) {
	t.Parallel()
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for said := range uint16(12) {
			want := Orientation(said)
			if said < 1 || said > 8 {
				want = Upright
			}
			data := turned(t, 8, 8, said, order)
			if got := readOrientation(bytes.NewReader(data)); got != want {
				t.Errorf("%v, %d: %d, want %d", order, said, got, want)
			}
			path := filepath.Join(t.TempDir(), "a.jpg")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := OrientationOf(path); got != want {
				t.Errorf("of the file: %d, want %d", got, want)
			}
			if _, err := Decode(bytes.NewReader(data)); err != nil {
				t.Errorf("not decoded: %v", err)
			}
		}
	}
	for _, b := range []string{"", "\xff\xd8", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe1\x00\x01", "\xff\xd8\xff\xe1\xff\xffExif\x00\x00II*\x00"} {
		if got := readOrientation(bytes.NewReader([]byte(b))); got != Upright {
			t.Errorf("%q: %d", b, got)
		}
	}
	if got := OrientationOf(filepath.Join(t.TempDir(), "none")); got != Upright {
		t.Errorf("a file that is not there: %d", got)
	}
}

// How a stored picture of 3 by 2 is shown, as EXIF says.
func TestOrientationFrom(t *testing.T) {
	t.Parallel()
	stored := []string{"abc", "def"}
	for o, want := range map[Orientation][]string{
		1: {"abc", "def"}, 2: {"cba", "fed"}, 3: {"fed", "cba"}, 4: {"def", "abc"},
		5: {"ad", "be", "cf"}, 6: {"da", "eb", "fc"}, 7: {"fc", "eb", "da"}, 8: {"cf", "be", "ad"},
	} {
		if o.Sideways() != (len(want) == 3) {
			t.Errorf("%d: sideways %v", o, o.Sideways())
		}
		for y, row := range want {
			for x := range row {
				sx, sy := o.From(x, y, 3, 2)
				if got := stored[sy][sx]; got != row[x] {
					t.Errorf("%d: at %d, %d is %c, want %c", o, x, y, got, row[x])
				}
			}
		}
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(turned(f, 2, 2, 6, binary.LittleEndian))
	f.Add(turned(f, 2, 2, 3, binary.BigEndian))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o := readOrientation(bytes.NewReader(b)); o < 1 || o > 8 {
			t.Fatalf("orientation %d", o)
		}
	})
}
