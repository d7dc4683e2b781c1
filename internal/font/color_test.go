package font_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/font"
)

// A font of pictures draws no outlines: nothing is ever measured in it.
func TestPicturesAreNoLetters(t *testing.T) {
	t.Parallel()
	s := set(t)
	if s.Color() != "Noto Color Emoji" {
		t.Fatalf("the font of pictures is %q", s.Color())
	}
	for _, text := range []string{"123", "#", "\U0001F680"} {
		if f, err := s.Find("", "", text, false); err == nil && strings.Contains(f.Family(), "Emoji") {
			t.Errorf("%q is drawn by %s", text, f.Family())
		}
	}
	if _, err := s.Find("Noto Color Emoji", "", "123", false); err == nil {
		t.Error("a font of pictures was taken for letters")
	}
}

// mean is the mean colour of what is not seen through.
func mean(p *image.NRGBA) (c [3]int) {
	n := 0
	for i := 0; i < len(p.Pix); i += 4 {
		if p.Pix[i+3] > 200 {
			n++
			for k := range 3 {
				c[k] += int(p.Pix[i+k])
			}
		}
	}
	for k := range 3 {
		c[k] /= max(1, n)
	}
	return c
}

// Sequences are one picture each: skin, families, flags, keys, tags.
func TestPictures(t *testing.T) {
	t.Parallel()
	s := set(t)
	single := s.Picture("\U0001F600")
	if single == nil {
		t.Fatal("no picture of a face")
	}
	for _, c := range []string{
		"\U0001F600", "\u2764\ufe0f", "\U0001F44D\U0001F3FF", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466", "\U0001F1E9\U0001F1EA", "1\ufe0f\u20e3",
		"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "\U0001F3F3\ufe0f\u200d\U0001F308",
	} {
		if p := s.Picture(c); p == nil || p.Rect.Dx() != single.Rect.Dx() || p.Rect.Dy() != single.Rect.Dy() {
			t.Errorf("%+q: %v", c, p != nil)
		}
	}
	light, dark := mean(s.Picture("\U0001F44D\U0001F3FB")), mean(s.Picture("\U0001F44D\U0001F3FF"))
	if light[0] < dark[0]+60 {
		t.Errorf("skins of %v and %v", light, dark)
	}
	// What the font has no picture of as a whole stands side by side.
	if p := s.Picture("\U0001F680\u200d\U0001F355"); p == nil || p.Rect.Dx() != 2*single.Rect.Dx() {
		t.Errorf("an unknown sequence: %v", p != nil)
	}
	for _, c := range []string{"", "a", "\u05d0", "\U000F0000", strings.Repeat("\U0001F468\u200d", 1000), strings.Repeat("\U0001F468\u200d", 20) + "\U0001F468"} {
		if p := s.Picture(c); p != nil {
			t.Errorf("%.20q has a picture of %v", c, p.Rect)
		}
	}
	if none := font.NewSet(filepath.Join(t.TempDir(), "i"), t.TempDir()); none.Color() != "" || none.Picture("\U0001F600") != nil {
		t.Error("a set without fonts has pictures")
	}
}

func TestPictureNames(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[string][]string{
		"\U0001F600":           {"1f600", "emoji_u1f600"},
		"\u2764\ufe0f":         {"2764", "2764-fe0f", "emoji_u2764"},
		"#\ufe0f\u20e3":        {"23-20e3", "0023-20e3", "emoji_u0023_20e3", "23-fe0f-20e3"},
		"\U0001F1E9\U0001F1EA": {"1f1e9-1f1ea", "1f1e9_1f1ea", "emoji_u1f1e9_1f1ea"},
	} {
		got := font.PictureNames(cluster)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q is not among %q", w, got)
			}
		}
	}
}

// Pictures of others are refused, whatever they hold; never a crash.
func FuzzDecodePicture(f *testing.F) {
	var b bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Transparent, color.White})
	if err := png.Encode(&b, img); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := font.DecodePicture(data)
		if err == nil && (p.Rect.Dx() < 1 || p.Rect.Dy() < 1 || p.Rect.Dx() > 1024 || p.Rect.Dy() > 1024 || len(p.Pix) != 4*p.Rect.Dx()*p.Rect.Dy()) {
			t.Errorf("a picture of %v with %d bytes", p.Rect, len(p.Pix))
		}
	})
}
