package ffmpeg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// TailLen is how much of a picture's end [Shape] looks at.
const TailLen = 12

// Shape returns what the description of a still picture rests on, apart from its size in
// bytes: two pictures of one shape are described alike. head are the file's first bytes,
// tail its last [TailLen]. It is "" for other files, for pictures that are not whole, and
// where head does not reach to the samples. Of a JPEG's Exif data only the orientation
// counts, of texts nothing.
func Shape(f Format, head, tail []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", f.Demuxers)
	keep := func(name string, body []byte) { fmt.Fprintf(h, "%s %d\n%s\n", name, len(body), body) }
	whole := false
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		whole = bytes.Equal(tail, []byte("\x00\x00\x00\x00IEND\xaeB`\x82")) && pngShape(head, keep)
	case bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}):
		whole = bytes.HasSuffix(tail, []byte{0xff, 0xd9}) && jpegShape(head, keep)
	}
	if !whole {
		return ""
	}
	return string(h.Sum(nil))
}

// pngShape keeps the chunks before the samples, and reports whether it came that far. An
// animation has no shape.
func pngShape(head []byte, keep func(string, []byte)) bool {
	for off := 8; off+8 <= len(head); {
		size, name := int64(binary.BigEndian.Uint32(head[off:])), string(head[off+4:off+8])
		switch {
		case name == "IDAT":
			return true
		case name == "acTL" || int64(off)+12+size > int64(len(head)):
			return false
		case !slices.Contains([]string{"tIME", "tEXt", "zTXt", "iTXt"}, name):
			keep(name, head[off+8:off+8+int(size)])
		}
		off += 12 + int(size)
	}
	return false
}

// jpegShape keeps the segments that say what the samples are, and reports whether it came
// as far as them.
func jpegShape(head []byte, keep func(string, []byte)) bool {
	for off := 2; off+4 <= len(head) && head[off] == 0xff; {
		marker, size := head[off+1], int(binary.BigEndian.Uint16(head[off+2:]))
		if size < 2 || off+2+size > len(head) {
			return false
		}
		body := head[off+4 : off+2+size]
		switch {
		case marker == 0xda:
			keep("orientation", []byte{byte(exifOrientation(head))})
			return true
		case marker == 0xe0 || marker == 0xee || marker >= 0xc0 && marker <= 0xcf && marker != 0xc4, // JFIF, Adobe, frame
			marker == 0xe2 && bytes.HasPrefix(body, []byte("ICC_PROFILE")):
			keep(fmt.Sprintf("%x", marker), body)
		}
		off += 2 + size
	}
	return false
}

// Alike is the description of another picture of the same [Shape], of size bytes; nil
// where d says something of its own file: a title, a bit rate, a problem.
func (d *Document) Alike(size int64) *Document {
	own := d.Kind != Image || d.Title != "" || d.BitRate != 0 || d.Truncated || len(d.Problems) > 0 || len(d.Streams) != 1 || len(d.CoverArt)+len(d.Chapters) > 0
	if own || !d.Streams[0].Decodable || d.Streams[0].Title != "" || d.Streams[0].BitRate != 0 || d.Streams[0].Video == nil {
		return nil
	}
	twin := *d
	twin.SizeBytes, twin.tags = size, nil
	twin.Streams = slices.Clone(d.Streams)
	facts := *d.Streams[0].Video
	twin.Streams[0].Video = &facts
	return &twin
}
