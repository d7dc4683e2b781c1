package picture

import (
	"bytes"
	"encoding/binary"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	soi   = 0xd8 // the beginning
	eoi   = 0xd9 // the end
	sos   = 0xda // a scan: coded data follows
	rst0  = 0xd0
	rst7  = 0xd7
	tem   = 0x01
	app0  = 0xe0
	app1  = 0xe1
	app2  = 0xe2
	app14 = 0xee
	app15 = 0xef
	com   = 0xfe
)

// cleanJPEG keeps what decoding takes, the colour profile and the orientation. A JPEG
// without an end is kept as far as it goes.
func cleanJPEG(data []byte) ([]byte, error) {
	rest := data[2:]
	out := append(make([]byte, 0, len(data)), 0xff, soi)
	var turned, shown bool
	for len(rest) > 0 {
		marker, err := nextMarker(&rest)
		if err != nil {
			return nil, err
		}
		if marker == eoi && shown {
			return append(out, 0xff, eoi), nil // other pictures may follow, and films
		}
		if marker == tem || marker >= rst0 && marker <= eoi { // they have no place here
			return nil, errParts
		}
		body, err := segment(&rest)
		if err != nil {
			return nil, err
		}
		if body, ok := keptSegment(marker, body, &turned); ok {
			out = binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(body)+2))
			out = append(out, body...)
		}
		if marker == sos {
			coded, _ := cut(&rest, codedLength(rest))
			out, shown = append(out, coded...), true
		}
	}
	if !shown {
		return nil, errParts
	}
	return out, nil
}

// nextMarker reads a marker with the filling bytes in front.
func nextMarker(rest *[]byte) (byte, error) {
	b, err := cut(rest, 1)
	if err != nil || b[0] != 0xff {
		return 0, errParts
	}
	for b[0] == 0xff {
		if b, err = cut(rest, 1); err != nil {
			return 0, err
		}
	}
	if b[0] == 0 {
		return 0, errParts
	}
	return b[0], nil
}

// segment reads what a marker has to say.
func segment(rest *[]byte) ([]byte, error) {
	n, err := cut(rest, 2)
	if err != nil {
		return nil, err
	}
	return cut(rest, int(binary.BigEndian.Uint16(n))-2)
}

// keptSegment is what of a segment stays; false when nothing does. The first orientation
// is the one that counts.
func keptSegment(marker byte, body []byte, turned *bool) ([]byte, bool) {
	switch {
	case marker == app0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		body = bytes.Clone(body[:14])
		body[12], body[13] = 0, 0 // no smaller picture
		return body, true
	case marker == app1 && bytes.HasPrefix(body, []byte(exifMark)) && !*turned:
		*turned = true
		exif := turnedOnly(body)
		return append([]byte(exifMark), exif...), exif != nil
	case marker == app2:
		return body, bytes.HasPrefix(body, []byte("ICC_PROFILE\x00"))
	case marker == app14: // which colours the numbers are
		return body[:min(len(body), 12)], bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12
	case marker >= app0 && marker <= app15, marker == com, marker >= 0xf0: // those reserved for extensions, too
		return nil, false
	}
	return body, true
}

// codedLength is how far the coded data of a scan goes: up to the next marker that is not
// part of it.
func codedLength(b []byte) int {
	for at := 0; ; at += 2 {
		next := bytes.IndexByte(b[at:], 0xff)
		if next < 0 || at+next+1 == len(b) {
			return len(b)
		}
		at += next
		switch c := b[at+1]; {
		case c == 0, c >= rst0 && c <= rst7:
		case c == 0xff:
			at-- // a filling byte: the next one may begin a marker
		default:
			return at
		}
	}
}
