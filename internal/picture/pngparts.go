package picture

import (
	"encoding/binary"
	"hash/crc32"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// ownChunks are the chunks of a PNG that belong to the picture: what it cannot be decoded
// without, transparency, colours, how large a pixel is, and animation.
var ownChunks = map[string]bool{
	"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true,
	"gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "cICP": true, "mDCV": true, "mDCv": true, "cLLI": true, "cLLi": true, "sBIT": true,
	"bKGD": true, "hIST": true, "pHYs": true, "acTL": true, "fcTL": true, "fdAT": true,
}

// cleanPNG keeps the picture's own chunks and the orientation. A PNG without an end is
// kept as far as it goes.
func cleanPNG(data []byte) ([]byte, error) {
	rest := data[len(pngMagic):]
	out := append(make([]byte, 0, len(data)), pngMagic...)
	for len(rest) > 0 {
		whole := rest
		head, err := cut(&rest, 8)
		if err != nil {
			return nil, err
		}
		name, size := string(head[4:]), binary.BigEndian.Uint32(head)
		if size > 1<<31-1 {
			return nil, errParts
		}
		body := rest[:min(int(size), len(rest))]
		if _, err := cut(&rest, int(size)+4); err != nil {
			if name == "IDAT" { // what there is of the picture
				return append(out, whole...), nil
			}
			return nil, errParts
		}
		switch {
		case ownChunks[name]:
			out = append(out, whole[:len(whole)-len(rest)]...)
		case name == "eXIf":
			out = appendChunk(out, name, turnedOnly(body))
		case name[0]&0x20 == 0: // it cannot be done without, and nobody knows what it is
			return nil, errParts
		}
		if name == "IEND" {
			break
		}
	}
	return out, nil
}

// appendChunk writes a chunk, unless it is empty.
func appendChunk(out []byte, name string, body []byte) []byte {
	if len(body) == 0 {
		return out
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	from := len(out)
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
