package sandbox

import (
	"strings"
	"testing"
)

func TestComplaintsAreClassified(t *testing.T) {
	t.Parallel()
	// Lines as ffmpeg 5.1.9, tesseract 5.3 and glibc print them.
	for line, want := range map[string]string{
		"[mov,mp4,m4a,3gp,3g2,mj2 @ 0x55] moov atom not found":                                    "truncated",
		"x.mp4: Invalid data found when processing input":                                         "invalid_data",
		"[h264 @ 0x1] error while decoding MB 23 12, bytestream -5":                               "decode_error",
		"[h264 @ 0x1] concealing 3600 DC, 3600 AC, 3600 MV errors in I frame":                     "decode_error",
		"Error while decoding stream #0:0: Invalid data found when processing input":              "decode_error",
		"Stream map '0:a:0' matches no streams.":                                                  "no_stream",
		"Output file #0 does not contain any stream":                                              "no_stream",
		"av_interleaved_write_frame(): No space left on device":                                   "disk_full",
		"av_interleaved_write_frame(): File too large":                                            "file_too_large",
		"Error while filtering: Cannot allocate memory":                                           "out_of_memory",
		"file:/proc/self/fd/3: Permission denied":                                                 "permission",
		"ffmpeg: error while loading shared libraries: libx.so.1: cannot open shared object file": "library",
		"Decoder (codec vvc) not found for input stream #0:0":                                     "unsupported",
		"[mp4 @ 0x1] Application provided invalid, non monotonically increasing dts to muxer":     "timestamps",
		"Unrecognized option 'zz'.":                                                               "bad_option",
		"No such filter: 'zz'":                                                                    "bad_option",
		"Estimating resolution as 696":                                                            "other",
	} {
		if got := classify([]byte(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestComplaintsAreBounded(t *testing.T) {
	t.Parallel()
	c := complaints(strings.NewReader(strings.Repeat("x", 10<<20)+"\nInvalid data found\n"), nil)
	if c.Lines != 1 {
		t.Errorf("%+v", c)
	}
	c = complaints(strings.NewReader("a\r\rInvalid data found\n\n  \nmoov atom not found"), nil)
	if c.Lines != 3 || c.Kinds["other"] != 1 || c.Kinds["invalid_data"] != 1 || c.Kinds["truncated"] != 1 {
		t.Errorf("%+v", c)
	}
}
