package ocr

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

func TestSubtitlesOverPhoto(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		language, font, first, second string
		engine                        Engine
	}{
		"english": {"eng", sans, "We deployed the new release on Monday", "and nobody noticed the outage at 03:17.", PaddleOCR},
		"chinese": {"chi_sim", cjk, "我们在星期一发布了新版本", "没有人注意到凌晨三点的故障", PaddleOCR},
		"russian": {"rus", sans, "Мы выпустили новую версию в понедельник", "и никто не заметил сбоя в 03:17.", Tesseract},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frame := drawOver(t, photo(t), subtitles(c.font, c.first, c.second)...)
			p := read(t, Options{Language: c.language}, frame)[0]
			if diff := cmp.Diff(c.first+"\n"+c.second, p.Text); diff != "" {
				t.Error(diff)
			}
			for _, l := range p.Lines {
				if l.Engine != c.engine || l.Confidence == "low" || l.Box.Y < 860 {
					t.Errorf("line %+v", l)
				}
			}
			if p.Flat {
				t.Error("a photograph is called flat")
			}
		})
	}
}

func TestRealTimecodes(t *testing.T) {
	t.Parallel()
	real := testenv.Real(t)
	for _, c := range []struct{ file, at, want string }{
		{"smpte-2997.mp4", "3", "90.000\n3.003 00:00:03;00"},
		{"example.mp4", "5", "01:00:05:00"},
		{"example.mp4", "40", "01:00:40:00"},
	} {
		t.Run(c.file+"@"+c.at, func(t *testing.T) {
			t.Parallel()
			frame := filepath.Join(t.TempDir(), "frame.png")
			testenv.FFmpeg(t, "-ss", c.at, "-i", filepath.Join(real, c.file), "-frames:v", "1", frame)
			if diff := cmp.Diff(c.want, read(t, Options{}, frame)[0].Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScreens(t *testing.T) {
	t.Parallel()
	const code = "$ go test ./internal/ocr\nfunc (s *Session) Run(in map[string]*Tensor) error {\n\tfor i := 0; i < len(in); i++ { sum += x[i] }\nok      cutroom/internal/ocr    0.013s"
	const readCode = "$ go test ./internal/ocr\nfunc (s *Session) Run(in map[string]*Tensor) error {\nfor i := 0; i < len(in); i++ { sum += x[i] }\nok cutroom/internal/ocr 0.013s"
	const slide = "Quarterly results\nRevenue 1,284,500 +12.4 %\nCosts 903,220 -3.1 %\nUsers 48,017 in 23 countries"
	for name, c := range map[string]struct {
		ground string
		text   text
		want   string
	}{
		"terminal":       {"color=0x1e1e2e:s=1920x1080", text{font: mono, size: 28, colour: "0xd0d0d0", lines: code}, readCode},
		"small terminal": {"color=0x1e1e2e:s=1920x1080", text{font: mono, size: 15, colour: "0xd0d0d0", lines: code}, readCode},
		"slide":          {"color=white:s=1920x1080", text{font: sans, size: 60, colour: "0x202020", lines: slide}, slide},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.text.x, c.text.y, c.text.lineSpacing = "120", "140", c.text.size/3
			p := read(t, Options{}, drawOver(t, c.ground, c.text))[0]
			if !p.Flat {
				t.Error("a clean screen is not called flat")
			}
			// Percent signs stand apart in some readings: spaces count, that one does not.
			if diff := cmp.Diff(strings.ReplaceAll(c.want, " %", "%"), strings.ReplaceAll(p.Text, " %", "%")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Dense code at 15 px: at detection's own size its lines run into each other.
func TestDenseScreen(t *testing.T) {
	t.Parallel()
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("line %d holds the value of item %d and is as long as it needs to be", 100+i, 7*i+11))
	}
	frame := drawOver(t, "color=0x1e1e2e:s=1920x1080", text{font: mono, size: 15, colour: "0xd0d0d0", x: "20", y: "10", lines: strings.Join(want, "\n")})
	got := read(t, Options{}, frame)[0].Text
	seen := map[string]int{}
	for _, w := range strings.Fields(got) {
		seen[w]++
	}
	all, missing := 0, 0
	for _, w := range strings.Fields(strings.Join(want, " ")) {
		all++
		if seen[w]--; seen[w] < 0 {
			missing++
		}
	}
	if 10*missing > all {
		t.Errorf("%d of %d words missing:\n%s", missing, all, got)
	}
}

func TestLowResolutionKeepsSpaces(t *testing.T) {
	t.Parallel()
	frame := drawOver(t, photo(t), subtitles(sans, "We deployed the new release on Monday", "and nobody noticed the outage at 03:17.")...)
	dir := t.TempDir()
	clip, small := filepath.Join(dir, "clip.mp4"), filepath.Join(dir, "small.png")
	testenv.FFmpeg(t, "-i", frame, "-vf", "scale=640:360", "-c:v", "libx264", "-crf", "32", "-pix_fmt", "yuv420p", clip)
	testenv.FFmpeg(t, "-i", clip, "-frames:v", "1", small)
	want := "We deployed the new release on Monday\nand nobody noticed the outage at 03:17."
	if diff := cmp.Diff(want, read(t, Options{}, small)[0].Text); diff != "" {
		t.Error(diff)
	}
}

func TestTurnedText(t *testing.T) {
	t.Parallel()
	upright := drawOver(t, photo(t), text{font: sans, size: 64, colour: "white", outline: 4, x: "(w-tw)/2", y: "h/2-32", lines: "Deliveries to the back door"})
	for name, filter := range map[string]string{
		"slightly": "rotate=6*PI/180:ow=iw:oh=ih", "steeply": "rotate=-25*PI/180:ow=iw:oh=ih", "upwards": "transpose=2", "downwards": "transpose=1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turned := filepath.Join(t.TempDir(), "turned.png")
			testenv.FFmpeg(t, "-i", upright, "-vf", filter, turned)
			got := read(t, Options{}, turned)[0].Text
			if !slices.Contains(strings.Split(got, "\n"), "Deliveries to the back door") {
				t.Error(got)
			}
		})
	}
}

// One run holds every kind of picture: none stops the others.
func TestMixedRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slide := drawOver(t, "color=white:s=1280x720", text{font: sans, size: 60, colour: "black", x: "100", y: "100", lines: "Agenda"})
	jpeg, webp := filepath.Join(dir, "slide.jpg"), filepath.Join(dir, "slide.webp")
	testenv.FFmpeg(t, "-i", slide, "-q:v", "3", jpeg)
	testenv.FFmpeg(t, "-i", slide, webp)
	blank := drawOver(t, "color=black:s=640x360")
	write := func(name string, body []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tiny := image.NewGray(image.Rect(0, 0, 1, 1))
	var b bytes.Buffer
	if err := png.Encode(&b, tiny); err != nil {
		t.Fatal(err)
	}
	bomb, prose := write("bomb.png", testenv.PNGHeader(60000, 60000, 8, 2)), write("text.png", []byte("no picture, but text"))
	dot, absent := write("dot.png", b.Bytes()), filepath.Join(dir, "absent.png")
	for _, o := range []Options{{}, {WithoutTesseract: true}, {WithoutModels: true}, {Language: "eng+rus"}} {
		var got []string
		for _, p := range read(t, o, jpeg, bomb, blank, prose, webp, dot, absent) {
			got = append(got, string(p.Problem)+p.Text)
		}
		want := []string{"Agenda", "too_large", "", "unreadable", "Agenda", "", "unreadable"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
	}
}
