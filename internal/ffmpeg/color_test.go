package ffmpeg

import (
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

func TestParseColor(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"black": "0x000000ff", "Navy": "0x000080ff", "#FF8000": "0xff8000ff", "ff8000": "0xff8000ff", "0xFF8000@0.5": "0xff800080",
		"white@0": "0xffffff00", "white@1": "0xffffffff", "white@0x7F": "0xffffff7f", " red ": "0xff0000ff",
		"": "", "blue:d=1": "", "#12345": "", "#12345g": "", "red@2": "", "red@": "", "red@-0.1": "", "red@0:01": "", "@1": "", "0x": "", "random": "", "black,drawbox": "",
	} {
		got, err := ParseColor(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
}

// The names are those of the ffmpeg that is installed.
func TestColorNamesAreFFmpegs(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.Lines(string(testenv.Run(t, "", "ffmpeg", "-v", "error", "-colors"))) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] == "name" {
			continue
		}
		n++
		if got, err := ParseColor(f[0]); err != nil || got != "0x"+strings.ToLower(f[1][1:])+"ff" {
			t.Errorf("%s: %s %v", line, got, err)
		}
	}
	if n != len(colors()) || n < 140 {
		t.Errorf("%d names, ffmpeg has %d", len(colors()), n)
	}
}

func FuzzParseColor(f *testing.F) {
	f.Add("navy@0.3")
	f.Add("#00ff00")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseColor(s)
		if err == nil && (len(c) != 10 || strings.Trim(c[2:], "0123456789abcdef") != "") {
			t.Errorf("%q is %q", s, c)
		}
	})
}
