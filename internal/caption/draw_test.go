package caption_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/caption"
	"cutroom/internal/testenv"
)

// picture is one grey frame.
type picture struct {
	w, h int
	pix  []byte
}

// draw renders a script over black with the renderer that burns captions.
func draw(t testing.TB, script []byte, w, h int, at string) picture {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.ass"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	out := testenv.Run(t, dir, "ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", fmt.Sprintf("color=black:s=%dx%d:r=10:d=1000", w, h),
		"-ss", at, "-copyts", "-vf", "trim=start="+at+",ass=filename=c.ass,format=gray", "-frames:v", "1", "-f", "rawvideo", "-")
	if len(out) != w*h {
		t.Fatalf("%d bytes, not %d", len(out), w*h)
	}
	return picture{w, h, out}
}

// ink is the box of what is drawn, and how many pixels it has.
func (p picture) ink(level byte) (x0, y0, x1, y1, n int) {
	x0, y0 = p.w, p.h
	for y := range p.h {
		for x := range p.w {
			if p.pix[y*p.w+x] >= level {
				x0, x1, y0, y1 = min(x0, x), max(x1, x+1), min(y0, y), max(y1, y+1)
				n++
			}
		}
	}
	return x0, y0, x1, y1, n
}

// read is what OCR makes of the picture, dark on light.
func (p picture) read(t testing.TB, lang string) string {
	t.Helper()
	testenv.Needs(t, "tesseract")
	var b bytes.Buffer
	fmt.Fprintf(&b, "P5\n%d %d\n255\n", p.w, p.h)
	for _, v := range p.pix {
		b.WriteByte(255 - v)
	}
	file := filepath.Join(t.TempDir(), "p.pgm")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(testenv.Run(t, "", "tesseract", file, "-", "-l", lang, "--psm", "6")))
}

func lay(t testing.TB, o caption.Options, cues ...caption.Cue) *caption.Layout {
	t.Helper()
	l, err := caption.Lay(cues, fonts(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTextIsDrawnAsWritten(t *testing.T) {
	t.Parallel()
	for lang, texts := range map[string][]string{
		"eng":     {"100% it's: {ok}", `She said "no": 5 + 5 = 10; [a], <b> & c`, `C:\New \north \hat {\b1}bold`, "first line\nsecond line"},
		"rus":     {"Привет, мир! Это субтитры."},
		"chi_sim": {"任何一个有远大抱负的男人都不会"},
	} {
		for _, text := range texts {
			l := lay(t, plainOptions(), cue(0, 3, text))
			got := draw(t, l.ASS(), 1280, 720, "1").read(t, lang)
			if squeeze(got) != squeeze(text) {
				t.Errorf("read %q, not %q", got, text)
			}
		}
	}
}

// squeeze leaves out what OCR cannot know: spaces, and the shape of quotes.
func squeeze(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "’", "'", "‘", "'", "“", `"`, "”", `"`).Replace(s)
}

// The measured width of a line is that of its ink: what is laid out is what is drawn.
func TestMeasuredWidthsAreDrawn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The quick brown fox jumps", "AVAToWaYo fi fl ffi", "Съешь ещё этих мягких булок", "Ωμέγα και άλφα", "مرحبا بالعالم كله", "שלום עולם מה נשמע",
		"任何一个有远大抱负的男人", "これは日本語の字幕です", "안녕하세요 여러분", "mixed שלום 日本 abc",
	} {
		for _, bold := range []bool{false, true} {
			o := plainOptions()
			o.Style.Outline, o.Style.Bold, o.Style.Margin = 0, bold, 4
			l := lay(t, o, cue(0, 3, text))
			s := l.Shown()[0]
			x0, y0, x1, y1, n := draw(t, l.ASS(), 1280, 720, "1").ink(100)
			if n == 0 {
				t.Fatalf("%s: nothing is drawn", text)
			}
			// The rim is 1 px here; side bearings and rounding are within a fifth of a size.
			if w, want := x1-x0, s.Width-3; float64(w) > float64(want)*1.02+2 || float64(w) < float64(want)*0.97-12 {
				t.Errorf("%s (bold %v): %d px wide, measured %d", text, bold, w, want)
			}
			if x0 < s.X || y0 < s.Y || x1 > s.X+s.Width || y1 > s.Y+s.Height {
				t.Errorf("%s (bold %v): ink %d,%d–%d,%d lies outside of %+v", text, bold, x0, y0, x1, y1, s)
			}
		}
	}
}
