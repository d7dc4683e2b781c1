package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errParts marks a picture whose file cannot be taken apart.
var errParts = errors.New("the picture's file cannot be taken apart")

// Anonymous returns a JPEG, PNG, WebP or GIF without what its file says beside the
// picture: where, when and with what it was taken, by whom, comments, smaller pictures of
// an earlier state, and whatever follows the picture's end. The picture itself, its
// orientation, colour profile and animation stay, byte for byte; nothing is decoded.
//
// What is not known to belong to the picture goes. A file that cannot be taken apart is an
// error: it must not pass for one that says nothing.
func Anonymous(data []byte) ([]byte, error) {
	for _, f := range []struct {
		magic string
		clean func([]byte) ([]byte, error)
	}{
		{"\xff\xd8\xff", cleanJPEG},
		{pngMagic, cleanPNG},
		{"RIFF????WEBP", cleanWebP},
		{"GIF87a", cleanGIF},
		{"GIF89a", cleanGIF},
	} {
		if matches(f.magic, data) {
			return f.clean(data)
		}
	}
	return nil, errParts
}

// cut takes n bytes from the front of rest.
func cut(rest *[]byte, n int) ([]byte, error) {
	if n < 0 || n > len(*rest) {
		return nil, errParts
	}
	head := (*rest)[:n:n]
	*rest = (*rest)[n:]
	return head, nil
}

// turnedOnly is an EXIF block, from its TIFF header on, that says nothing but the
// orientation of another; nil when that says none, or that nothing is to be turned.
func turnedOnly(exif []byte) []byte {
	const orientation, short = 274, 3
	o := tiffOrientation(bytes.TrimPrefix(exif, []byte(exifMark)))
	if o == Upright {
		return nil
	}
	big := binary.BigEndian
	b := big.AppendUint16(big.AppendUint32([]byte("MM\x00*"), 8), 1) // one field
	b = big.AppendUint32(big.AppendUint16(big.AppendUint16(b, orientation), short), 1)
	b = big.AppendUint16(big.AppendUint16(b, uint16(o)), 0)
	return big.AppendUint32(b, 0) // no further directory
}

// exifMark stands before the TIFF header in a JPEG, and by mistake in other files.
const exifMark = "Exif\x00\x00"
