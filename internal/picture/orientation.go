package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// Orientation is how a stored picture is meant to be shown, as a camera writes it
// (EXIF, tag 274): 1 as it is stored, 2 mirrored left to right, 3 turned by 180°,
// 4 mirrored top to bottom, 5 mirrored along the diagonal that begins top left, 6
// turned by 90° clockwise, 7 mirrored along the other diagonal, 8 turned by 270°.
type Orientation int

// Upright is the orientation of a picture that says nothing of it.
const Upright Orientation = 1

// Sideways reports whether width and height change places.
func (o Orientation) Sideways() bool { return o >= 5 }

// From returns the place in a stored picture of w by h of what is shown at x, y.
func (o Orientation) From(x, y, w, h int) (int, int) {
	switch o {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// OrientationOf reads what the JPEG at path says; [Upright] when it says nothing, is no
// JPEG, or cannot be read.
func OrientationOf(path string) Orientation {
	f, err := os.Open(path)
	if err != nil {
		return Upright
	}
	defer f.Close()
	return readOrientation(f)
}

// The bounds of what is read to find the orientation: it stands near the beginning.
const (
	maxHeaders = 4 << 20 // bytes
	maxFields  = 512
)

func readOrientation(r io.Reader) Orientation {
	in := bufio.NewReader(io.LimitReader(r, maxHeaders))
	if head, err := take(in, 2); err != nil || head[0] != 0xff || head[1] != 0xd8 {
		return Upright
	}
	for {
		segment, err := take(in, 4)
		if err != nil || segment[0] != 0xff || segment[1] == 0xda { // the picture itself begins
			return Upright
		}
		size := int(binary.BigEndian.Uint16(segment[2:])) - 2
		if size < 0 {
			return Upright
		}
		body, err := take(in, size)
		if err != nil {
			return Upright
		}
		if tiff, ok := bytes.CutPrefix(body, []byte(exifMark)); ok && segment[1] == 0xe1 {
			return tiffOrientation(tiff)
		}
	}
}

func take(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// tiffOrientation looks for the field in the first directory of a TIFF header.
func tiffOrientation(b []byte) Orientation {
	order, err := byteOrder(b)
	if err != nil {
		return Upright
	}
	at := uint64(order.Uint32(b[4:]))
	if at+2 > uint64(len(b)) {
		return Upright
	}
	count := min(int(order.Uint16(b[at:])), maxFields)
	for i := range count {
		field := at + 2 + uint64(i)*12
		if field+12 > uint64(len(b)) {
			break
		}
		const short = 3
		f := b[field:]
		if order.Uint16(f) != 274 || order.Uint16(f[2:]) != short || order.Uint32(f[4:]) != 1 {
			continue
		}
		if o := Orientation(order.Uint16(f[8:])); o >= 1 && o <= 8 {
			return o
		}
		break
	}
	return Upright
}

func byteOrder(b []byte) (binary.ByteOrder, error) {
	if len(b) >= 8 {
		switch string(b[:4]) {
		case "II*\x00":
			return binary.LittleEndian, nil
		case "MM\x00*":
			return binary.BigEndian, nil
		}
	}
	return nil, errors.New("not a TIFF header")
}
