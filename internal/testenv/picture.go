package testenv

import (
	"encoding/binary"
	"hash/crc32"
)

// PNGHeader is a PNG that promises w by h pixels of a colour type and depth and ends
// there.
func PNGHeader(w, h uint32, depth, colour byte) []byte {
	chunk := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
	chunk = append(chunk, depth, colour, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, chunk...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
}
