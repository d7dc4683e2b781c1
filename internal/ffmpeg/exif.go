package ffmpeg

import (
	"bytes"
	"encoding/binary"
)

// exifOrientation returns the orientation (1–8) that a JPEG's Exif data states, 0 when
// it states none. ffprobe 5 does not report it, and phone pictures depend on it.
func exifOrientation(h []byte) int {
	for off := 2; off+4 <= len(h) && h[off] == 0xff; {
		marker, size := h[off+1], int(binary.BigEndian.Uint16(h[off+2:]))
		if marker == 0xda || size < 2 {
			return 0
		}
		body := h[off+4 : min(len(h), off+2+size)]
		if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiffOrientation(tiff)
		}
		off += 2 + size
	}
	return 0
}

// tiffOrientation reads tag 274 of the first directory of a TIFF header.
func tiffOrientation(t []byte) int {
	if len(t) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if t[0] == 'M' {
		order = binary.BigEndian
	}
	dir := int64(order.Uint32(t[4:]))
	if dir+2 > int64(len(t)) {
		return 0
	}
	n := int64(order.Uint16(t[dir:]))
	for i := range n {
		e := dir + 2 + 12*i
		if e+12 > int64(len(t)) {
			return 0
		}
		if order.Uint16(t[e:]) == 274 {
			if v := int(order.Uint16(t[e+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 0
		}
	}
	return 0
}

// orient applies an Exif orientation to a picture that no display matrix turns.
func (v *VideoFacts) orient(o int) {
	if o < 2 || v.RotationFrom != "" {
		return
	}
	v.RotationFrom = "exif"
	v.Mirrored = o == 2 || o == 4 || o == 5 || o == 7
	v.Rotation = [...]int{2: 0, 3: 180, 4: 180, 5: 270, 6: 90, 7: 90, 8: 270}[o]
	v.size()
}
