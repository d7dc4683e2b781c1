package ffmpeg

import (
	"encoding/binary"
	"strings"

	"cutroom"
)

// topBoxes are the boxes that may open an ISO base media or QuickTime file (ISO/IEC
// 14496-12).
const topBoxes = "ftyp moov mdat free skip wide pnot styp sidx moof uuid"

func boxAt(h []byte, off int64) (kind string, size int64, ok bool) {
	if off < 0 || off+8 > int64(len(h)) {
		return "", 0, false
	}
	size, kind = int64(binary.BigEndian.Uint32(h[off:])), string(h[off+4:off+8])
	if size == 1 && off+16 <= int64(len(h)) {
		size = int64(binary.BigEndian.Uint64(h[off+8:]))
	}
	return kind, size, strings.Contains(topBoxes, kind) && !strings.Contains(kind, " ") && (size >= 8 || size == 0)
}

func isBox(h []byte) bool {
	_, _, ok := boxAt(h, 0)
	return ok
}

// byBoxes reads the brands of a file of boxes and how long its boxes say it is.
func byBoxes(h []byte) (Format, bool, error) {
	f := Format{Demuxers: []string{"mov"}, MediaType: "video/quicktime", Kind: Video}
	var off int64
	for {
		kind, size, ok := boxAt(h, off)
		if !ok {
			break
		}
		switch kind {
		case "ftyp":
			if err := f.brands(h[off+8 : min(off+max(size, 8), int64(len(h)))]); err != nil {
				return f, false, err
			}
		case "moof", "styp", "sidx":
			f.Fragmented = true
		case "moov":
			body := h[off:min(off+max(size, 8), int64(len(h)))]
			f.Fragmented = f.Fragmented || strings.Contains(string(body), "mvex")
		}
		if size == 0 || off+size < off { // to the end of the file
			break
		}
		off += size
		f.Claims = off
	}
	return f, true, nil
}

func (f *Format) brands(ftyp []byte) error {
	if len(ftyp) < 4 {
		return nil
	}
	has := map[string]bool{}
	for i := 0; i+4 <= len(ftyp) && i < 256; i += 4 {
		if i != 4 { // the minor version
			has[string(ftyp[i:i+4])] = true
		}
	}
	major := string(ftyp[:4])
	switch {
	case has["avif"] || has["avis"]:
		f.MediaType, f.Kind = "image/avif", Image
	case has["heic"] || has["heix"] || has["hevc"] && has["mif1"] || major == "mif1" || major == "msf1" || has["heim"] || has["heis"]:
		return cutroom.Errorf(cutroom.MissingDependency, "the file is a HEIC/HEIF picture, whose tiles this ffmpeg would read as separate pictures").
			WithHint("convert it with `heif-convert IN.heic OUT.jpg` (package libheif-examples), then give the JPEG")
	case major == "M4A " || major == "M4B ":
		f.MediaType, f.Kind = "audio/mp4", Audio
	case major == "qt  ":
	default:
		f.MediaType = "video/mp4"
	}
	return nil
}
