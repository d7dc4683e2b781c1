package ocr

import (
	"path/filepath"
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
