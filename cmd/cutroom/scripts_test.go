package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"cutroom"
	"cutroom/internal/project"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// spoken is text in each script, with the language that reads it.
var spoken = []struct{ script, lang, text string }{
	{"arabic", "ara", "هذا نص عربي جميل!"},
	{"hebrew", "heb", "שלום עולם, מה נשמע?"},
	{"thai", "tha", "สวัสดีครับ ผู้ใหญ่ที่นี่"},
	{"chinese", "chi_sim", "任何一个有远大抱负的男人"},
}

// letters are the letters and marks of a text, in their order, with the end punctuation:
// what OCR may be wrong about (spaces, marks of direction) is left out.
func letters(s string) []rune {
	s = strings.NewReplacer("؟", "?", "！", "!").Replace(s)
	var out []rune
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == '!' || r == '?' {
			out = append(out, r)
		}
	}
	return out
}

// edits is how many runes have to be put in, taken out or changed to make b of a.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0]
		row[0] = i + 1
		for j, y := range b {
			here := row[j+1]
			cost := before
			if x != y {
				cost++
			}
			row[j+1] = min(cost, here+1, row[j]+1)
			before = here
		}
	}
	return row[len(b)]
}

// sees is what OCR of a language reads in a picture, dark letters on bright.
func (w *workspace) sees(file, at, lang string) string {
	w.t.Helper()
	testenv.Needs(w.t, "tesseract")
	picture := filepath.Join(w.t.TempDir(), "p.png")
	testenv.FFmpeg(w.t, "-ss", at, "-i", "file:"+filepath.Join(w.dir, file), "-frames:v", "1", "-vf", "format=gray,lut=y='if(gt(val,150),0,255)'", picture)
	return strings.TrimSpace(string(testenv.Run(w.t, "", "tesseract", picture, "-", "-l", lang, "--psm", "6")))
}

// Cases 42 and 38: what each way of drawing text makes of each script is read again by
// OCR of its language: one letter of six may be wrong, which no line in the wrong order,
// and no Arabic in letters that are not joined, comes near; what ends a sentence stands
// at its end.
func TestTextOfEveryScriptIsRead(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 960, 180, 0.2)
	for _, s := range spoken {
		for way, draw := range map[string]func(cutroom.OutPath){
			"caption": func(out cutroom.OutPath) {
				w.captioned(edit.CaptionInput{Input: video, Cues: []edit.CaptionCue{{Start: "0", End: "0.2", Text: s.text}}, Style: edit.CaptionStyle{Size: 48}, Writing: to(string(out))})
			},
			"overlay": func(out cutroom.OutPath) {
				w.overlaid(edit.OverlayInput{Input: video, Text: s.text, Style: edit.TextStyle{Size: 48, Color: "white"}, Position: "center", Opacity: 1, Writing: to(string(out))})
			},
		} {
			file := cutroom.OutPath(fmt.Sprintf("%s-%s.mp4", way, s.script))
			draw(file)
			got := w.sees(string(file), "0.08", s.lang)
			want, read := letters(s.text), letters(got)
			if n := edits(want, read); n > len(want)/6 {
				t.Errorf("%s of %s reads %q, not %q: %d of %d letters", way, s.script, got, s.text, n, len(want))
			}
			if end := want[len(want)-1]; (end == '!' || end == '?') && (len(read) == 0 || read[len(read)-1] != end) {
				t.Errorf("%s of %s: %q does not end as %q", way, s.script, got, s.text)
			}
			turned := make([]rune, len(want))
			for i, r := range want {
				turned[len(want)-1-i] = r
			}
			if edits(turned, read) <= len(want)/2 {
				t.Errorf("%s of %s: %q could be read backwards: the test says nothing", way, s.script, got)
			}
		}
	}
}

// The other ways of drawing text draw the same: each takes one of the scripts, and what
// breaks filters, scripts and templates.
func TestTextOfEveryWayIsRead(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 960, 180, 0.4)
	w.tone("hum.wav", "0.1*sin(2*PI*300*t)", "0.4")
	ways := map[string]func(text string, to tool.Writing){
		"graphic": func(text string, to tool.Writing) {
			must[edit.GraphicsOutput](w, "edit.graphics", edit.GraphicsInput{Input: video, Template: "bug", Title: text, Position: "center", Scale: 3, Writing: to})
		},
		"grid": func(text string, to tool.Writing) {
			must[edit.GridOutput](w, "edit.grid", edit.GridInput{Inputs: []cutroom.InPath{video, video}, Label: []string{text}, CellWidth: 960, CellHeight: 180, Cols: 1, NoAudio: true, Style: edit.TextStyle{Size: 48, Color: "white"}, Writing: to})
		},
		"waveform": func(text string, to tool.Writing) {
			must[edit.WaveformOutput](w, "edit.waveform", edit.WaveformInput{Input: "hum.wav", Audiogram: project.Audiogram{Title: text, Width: 960, Height: 540, VisHeight: 0.1, Position: "bottom", Background: []string{"black"}}, Writing: to})
		},
		"render": func(text string, to tool.Writing) {
			list, _ := json.Marshal(text)
			must[edit.RenderOutput](w, "edit.render", edit.RenderInput{Text: fmt.Sprintf(`{"clips":[{"src":"v.mp4"}],"captions":{"size":48,"outline":0,"cues":[{"start":0,"end":0.4,"text":%s}]}}`, list), Writing: to})
		},
	}
	hostile := struct{ script, lang, text string }{"latin", "eng", `100% it's: {ok} \N %{pts} "quoted"`}
	for i, way := range []string{"graphic", "grid", "waveform", "render"} {
		for _, s := range []struct{ script, lang, text string }{spoken[i], hostile} {
			file := fmt.Sprintf("%s-%s.mp4", way, s.script)
			ways[way](s.text, to(file))
			got := w.sees(file, "0.2", s.lang)
			want, read := letters(s.text), letters(got)
			if way == "waveform" { // OCR takes the bars beneath the title for letters, too
				read = read[:min(len(read), len(want))]
			}
			if n := edits(want, read); n > len(want)/6 {
				t.Errorf("%s of %s reads %q, not %q: %d of %d letters", way, s.script, got, s.text, n, len(want))
			}
		}
	}
}
