package ffmpeg

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cutroom"
)

// byContent recognises a container by its signature.
func byContent(h []byte) (Format, bool, error) {
	at := func(i int, s string) bool { return len(h) >= i+len(s) && string(h[i:i+len(s)]) == s }
	is := func(k Kind, mt string, demuxers ...string) (Format, bool, error) {
		return Format{Demuxers: demuxers, MediaType: mt, Kind: k}, true, nil
	}
	switch {
	case isBox(h):
		return byBoxes(h)
	case at(0, "\x1a\x45\xdf\xa3"):
		if bytes.Contains(h[:min(len(h), 128)], []byte("webm")) {
			return is(Video, "video/webm", "matroska")
		}
		return is(Video, "video/x-matroska", "matroska")
	case (at(0, "RIFF") || at(0, "RF64") || at(0, "RIFX")) && len(h) >= 12:
		return byRIFF(h)
	case at(0, "OggS"):
		return is(Audio, "audio/ogg", "ogg")
	case at(0, "fLaC"):
		return is(Audio, "audio/flac", "flac")
	case at(0, "ID3"):
		return byID3(h)
	case at(0, "GIF87a"), at(0, "GIF89a"):
		return is(Image, "image/gif", "gif")
	case at(0, "\x89PNG\r\n\x1a\n"):
		if i, d := bytes.Index(h, []byte("acTL")), bytes.Index(h, []byte("IDAT")); i >= 0 && (d < 0 || i < d) {
			return is(Image, "image/apng", "apng")
		}
		return is(Image, "image/png", "png_pipe")
	case at(0, "\xff\xd8\xff"):
		return Format{Demuxers: []string{"jpeg_pipe"}, MediaType: "image/jpeg", Kind: Image, Orientation: exifOrientation(h)}, true, nil
	case at(0, "BM") && len(h) >= 26 && binary.LittleEndian.Uint16(h[6:]) == 0 && binary.LittleEndian.Uint32(h[14:]) <= 124:
		return is(Image, "image/bmp", "bmp_pipe")
	case at(0, "FLV\x01"):
		return is(Video, "video/x-flv", "flv")
	case at(0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"):
		return is(Video, "video/x-ms-asf", "asf")
	case at(0, "\x00\x00\x01\xba"):
		return is(Video, "video/mpeg", "mpeg")
	case at(0, "\x00\x00\x01\xb3"):
		return is(Video, "video/mpeg", "mpegvideo")
	case at(0, "\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02"):
		return is(Video, "application/mxf", "mxf")
	case at(0, "DKIF"):
		return is(Video, "video/x-ivf", "ivf")
	case at(0, "FORM") && (at(8, "AIFF") || at(8, "AIFC")):
		return is(Audio, "audio/aiff", "aiff")
	case at(0, "caff"):
		return is(Audio, "audio/x-caf", "caf")
	case at(0, "#!AMR"):
		return is(Audio, "audio/amr", "amr")
	case at(0, "\x0b\x77"):
		return is(Audio, "audio/ac3", "ac3")
	case isTransportStream(h):
		return is(Video, "video/mp2t", "mpegts")
	case len(h) > 4 && h[0] == 0xff && h[1]&0xf6 == 0xf0:
		return is(Audio, "audio/aac", "aac")
	case isMP3(h):
		return is(Audio, "audio/mpeg", "mp3")
	}
	return Format{}, false, nil
}

// isTransportStream finds the sync byte of MPEG-TS packets (ISO/IEC 13818-1) of 188
// bytes, or of 192 and 204 with their extra bytes, at an offset below one packet.
func isTransportStream(h []byte) bool {
	for _, size := range []int{188, 192, 204} {
		for off := 0; off < size && off+4*size < len(h); off++ {
			n := 0
			for n < 8 && off+n*size < len(h) && h[off+n*size] == 0x47 {
				n++
			}
			if n >= 5 {
				return true
			}
		}
	}
	return false
}

// isMP3 reports whether two frames of MPEG audio follow each other at the start.
func isMP3(h []byte) bool {
	n := mp3FrameLen(h)
	return n > 0 && (n+4 > len(h) || mp3FrameLen(h[n:]) > 0)
}

func mp3FrameLen(h []byte) int {
	if len(h) < 4 || h[0] != 0xff || h[1]&0xe0 != 0xe0 {
		return 0
	}
	version, layer := h[1]>>3&3, h[1]>>1&3
	rateIdx, bitIdx := h[2]>>2&3, h[2]>>4
	if version == 1 || layer == 0 || rateIdx == 3 || bitIdx == 0 || bitIdx == 15 {
		return 0
	}
	if layer != 1 { // layers I and II: the sync and fields are enough here
		return 4
	}
	bitrates := [15]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	samples, rate := 144, [3]int{44100, 48000, 32000}[rateIdx]
	if version != 3 {
		bitrates = [15]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
		samples, rate = 72, rate/2
		if version == 0 {
			rate /= 2
		}
	}
	return samples*bitrates[bitIdx]*1000/rate + int(h[2]>>1&1)
}

// byID3 looks behind an ID3v2 tag, which MP3, AAC and FLAC may carry.
func byID3(h []byte) (Format, bool, error) {
	f := Format{Demuxers: []string{"mp3"}, MediaType: "audio/mpeg", Kind: Audio}
	if len(h) < 10 {
		return f, true, nil
	}
	end := 10 + int(h[6]&0x7f)<<21 + int(h[7]&0x7f)<<14 + int(h[8]&0x7f)<<7 + int(h[9]&0x7f)
	f.Claims = int64(end)
	if end+4 < len(h) {
		switch rest := h[end:]; {
		case bytes.HasPrefix(rest, []byte("fLaC")):
			f.Demuxers, f.MediaType = []string{"flac"}, "audio/flac"
		case rest[0] == 0xff && rest[1]&0xf6 == 0xf0:
			f.Demuxers, f.MediaType = []string{"aac"}, "audio/aac"
		}
	}
	return f, true, nil
}

func byRIFF(h []byte) (Format, bool, error) {
	f := Format{Claims: int64(binary.LittleEndian.Uint32(h[4:])) + 8}
	if f.Claims >= 0xffffffff || string(h[:4]) != "RIFF" {
		f.Claims = 0 // streamed, or RF64: the length is elsewhere
	}
	switch string(h[8:12]) {
	case "WAVE":
		f.Demuxers, f.MediaType, f.Kind = []string{"wav"}, "audio/wav", Audio
	case "AVI ":
		f.Demuxers, f.MediaType, f.Kind = []string{"avi"}, "video/x-msvideo", Video
		f.Claims = 0 // OpenDML files hold several RIFF chunks
	case "WEBP":
		if len(h) > 20 && string(h[12:16]) == "VP8X" && h[20]&0x02 != 0 {
			return f, false, cutroom.Errorf(cutroom.MissingDependency, "the file is an animated WebP, which needs ffmpeg 9 or newer").
				WithHint("take its pictures out with libwebp (`webpmux -get frame N`, then `dwebp`), or save it as GIF, APNG or MP4")
		}
		f.Demuxers, f.MediaType, f.Kind = []string{"webp_pipe"}, "image/webp", Image
	default:
		return f, false, nil
	}
	return f, true, nil
}

// refuseText refuses what ffmpeg would follow to other files, and text in general:
// text is read by the transcript parser, never by ffmpeg.
func refuseText(h []byte) error {
	start := strings.TrimLeft(strings.TrimPrefix(opening(h), "\xef\xbb\xbf"), " \t\r\n")
	low := strings.ToLower(start)
	switch {
	case strings.HasPrefix(start, "#EXTM3U"):
		return unreadable("download the stream it names, then give that file", "the file is an HLS playlist: it names other files and holds no media")
	case strings.HasPrefix(low, "<?xml") && strings.Contains(low, "<mpd"), strings.HasPrefix(low, "<mpd"):
		return unreadable("download the stream it names, then give that file", "the file is a DASH manifest: it names other files and holds no media")
	case strings.HasPrefix(low, "ffconcat version"), strings.HasPrefix(low, "file '"), strings.HasPrefix(low, "file \""):
		return unreadable("give the files that it names", "the file is a concat script: it names other files and holds no media")
	case strings.HasPrefix(start, "WEBVTT"), strings.HasPrefix(low, "[script info]"), subRip(start):
		return unreadable("give it as a transcript (source kind transcript, or `cutroom video transcript`)", "the file is subtitle text, not media")
	case strings.HasPrefix(start, "v=0\r\n"), strings.HasPrefix(start, "v=0\n"):
		return unreadable("give a recording of the session", "the file is a session description: it names network addresses and holds no media")
	case isText(h):
		return unreadable("check that this is the right file; text is given as a transcript", "the file is plain text, not media")
	}
	return nil
}

// opening returns the first characters of h, from UTF-16 when it has that mark.
func opening(h []byte) string {
	h = h[:min(len(h), 4096)]
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case bytes.HasPrefix(h, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case !bytes.HasPrefix(h, []byte{0xff, 0xfe}):
		return string(h)
	}
	var units []uint16
	for i := 2; i+1 < len(h); i += 2 {
		units = append(units, order.Uint16(h[i:]))
	}
	return string(utf16.Decode(units))
}

// subRip reports whether a cue number and a timing line open the text.
func subRip(s string) bool {
	first, rest, _ := strings.Cut(s, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(first, "0123456789\r ") == "" && first != "" && strings.Contains(second, " --> ")
}

// isText reports whether h is text in UTF-8 or UTF-16: no control characters but
// white space. Every media format has other bytes within its first 512.
func isText(h []byte) bool {
	if bytes.HasPrefix(h, []byte{0xff, 0xfe}) || bytes.HasPrefix(h, []byte{0xfe, 0xff}) {
		return len(h)%2 == 0 && mostlyUTF16(h)
	}
	h = h[:min(len(h), 4096)]
	for _, c := range h {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f {
			return false
		}
	}
	for cut := 0; cut < 4 && cut < len(h); cut++ { // a character may be cut at the window's end
		if utf8.Valid(h[:len(h)-cut]) {
			return true
		}
	}
	return false
}

func mostlyUTF16(h []byte) bool {
	zero := 0
	n := min(len(h), 512) &^ 1
	for i := 2; i < n; i += 2 {
		if h[i] == 0 || h[i+1] == 0 {
			zero++
		}
	}
	return n > 2 && zero*4 > n/2
}
