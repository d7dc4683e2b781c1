package picture

import "encoding/binary"

// Flags of a WebP's header chunk that announce what is taken out.
const (
	webpXMP  = 0x04
	webpEXIF = 0x08
)

// cleanWebP keeps the picture, its transparency, animation and colour profile, and the
// orientation.
func cleanWebP(data []byte) ([]byte, error) {
	rest := data[8:]
	size := int64(binary.LittleEndian.Uint32(data[4:]))
	if size > int64(len(rest)) || size < 4 {
		return nil, errParts
	}
	rest = rest[4:size] // what follows is not part of it
	out := append(make([]byte, 0, len(data)), "RIFF????WEBP"...)
	header := -1 // where its flags are
	for len(rest) > 0 {
		name, body, err := riffChunk(&rest)
		if err != nil {
			return nil, err
		}
		switch name {
		case "VP8X":
			if len(body) < 10 || header >= 0 {
				return nil, errParts
			}
			header = len(out) + 8
			out = appendRIFF(out, name, body[:10])
			out[header] &^= webpXMP | webpEXIF
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ICCP":
			out = appendRIFF(out, name, body)
		case "ANMF":
			if body, err = cleanFrame(body); err != nil {
				return nil, err
			}
			out = appendRIFF(out, name, body)
		case "EXIF":
			if exif := turnedOnly(body); exif != nil && header >= 0 && out[header]&webpEXIF == 0 {
				out = appendRIFF(out, name, exif)
				out[header] |= webpEXIF
			}
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// cleanFrame keeps what belongs to one frame of an animation.
func cleanFrame(body []byte) ([]byte, error) {
	rest := body
	head, err := cut(&rest, 16) // place, length and flags
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(body)), head...)
	for len(rest) > 0 {
		name, part, err := riffChunk(&rest)
		if err != nil {
			return nil, err
		}
		switch name {
		case "VP8 ", "VP8L", "ALPH":
			out = appendRIFF(out, name, part)
		}
	}
	return out, nil
}

// riffChunk reads one chunk with its filling byte, which may lack at the end.
func riffChunk(rest *[]byte) (string, []byte, error) {
	head, err := cut(rest, 8)
	if err != nil {
		return "", nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > int64(len(*rest)) {
		return "", nil, errParts
	}
	body, err := cut(rest, int(size))
	if size%2 == 1 && len(*rest) > 0 {
		*rest = (*rest)[1:]
	}
	return string(head[:4]), body, err
}

func appendRIFF(out []byte, name string, body []byte) []byte {
	out = binary.LittleEndian.AppendUint32(append(out, name...), uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}
