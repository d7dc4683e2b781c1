package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/tools/edit"
)

func (w *workspace) drawn(in edit.GraphicsInput) *edit.GraphicsOutput {
	w.t.Helper()
	out := must[edit.GraphicsOutput](w, "edit.graphics", in)
	w.inOneEncode(out.Made)
	return out
}

// Every template, read off the picture while it is there and gone before and after; its
// parts stand where the answer says.
func TestGraphicsTemplates(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("v.mp4", 640, 360, 3)
	for _, c := range some(5, []struct {
		in   edit.GraphicsInput
		want string // what OCR reads of it, bright letters on dark
	}{
		{edit.GraphicsInput{Template: "lower-third", Name: hostileText, Title: "Analyst & {co}"}, "100%it's:{ok}"},
		{edit.GraphicsInput{Template: "title", Title: hostileText, Subtitle: `C:\N "x"`}, "100%it's:{ok}"},
		{edit.GraphicsInput{Template: "chapter", Title: "Chapter one", Primary: "#102030"}, "Chapterone"},
		{edit.GraphicsInput{Template: "progress"}, ""},
		{edit.GraphicsInput{Template: "countdown", From: 2, Primary: "white"}, "1"},
		{edit.GraphicsInput{Template: "bug", Title: "LIVE", Scale: 2}, "LIVE"},
		{edit.GraphicsInput{Template: "sticker", Text: "NEW", Primary: "#102030"}, "NEW"},
		{edit.GraphicsInput{Template: "hook", Title: "Watch this", TextColor: "#102030", Background: "white"}, "Watchthis"},
		{edit.GraphicsInput{Template: "meme", Top: "ONE DOES NOT", Bottom: "SIMPLY {ok}"}, "ONEDOESNOT"},
	}) {
		name := c.in.Template + ".mp4"
		c.in.Input, c.in.Writing, c.in.Start = video, to(name), "0.5"
		if c.in.Template != "countdown" {
			c.in.End = "2.5"
		}
		out := w.drawn(c.in)
		if row(out.Verified, "rest_unchanged") != "0" || row(out.Verified, "only_in_its_time") != "0" {
			t.Errorf("%s: %+v", name, out.Verified)
		}
		for _, p := range out.Places {
			if p.Start != 500_000 || p.End != 2_500_000 || p.X < 0 || p.Y < 0 || p.X+p.Width > 640 || p.Y+p.Height > 360 {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if got := w.reads(name, "1.9", "eng"); !strings.Contains(got, c.want) {
			t.Errorf("%s reads %q, not %q", name, got, c.want)
		}
		if before, after := w.reads(name, "0.3", "eng"), w.reads(name, "2.7", "eng"); before+after != "" {
			t.Errorf("%s is there before or after its time: %q, %q", name, before, after)
		}
	}
	// A bar is filled as far as its time has gone: from 0.5 s to 2.5 s.
	p := must[edit.GraphicsOutput](w, "edit.graphics", edit.GraphicsInput{Input: video, Template: "progress", Start: "0.5", End: "2.5", Primary: "#00ff00", Writing: to("bar.mp4")})
	at := p.Places[0]
	for time, share := range map[string]float64{"1": 0.25, "1.5": 0.5, "2": 0.75} {
		frame, filled := w.pixels("bar.mp4", time, 640, 360), 0
		for x := at.X; x < at.X+at.Width; x++ {
			if c := rgbAt(frame, 640, x, at.Y+at.Height/2); c[1] > 150 {
				filled++
			}
		}
		if got := float64(filled) / float64(at.Width); got < share-0.02 || got > share+0.04 {
			t.Errorf("at %s s the bar is filled to %.3f, want %.2f", time, got, share)
		}
	}
}

// Text of any script that a font covers is drawn, from its own side; others are refused by
// the name of the script. Sizes keep to the frame's shorter side.
func TestGraphicsScripts(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("tall.mp4", 360, 640, 2)
	left := w.drawn(edit.GraphicsInput{Input: video, Template: "lower-third", Name: "男人都不会", Platform: "tiktok", Primary: "#203040", Scale: 1.8, Writing: to("cjk.mp4")})
	if got := w.reads("cjk.mp4", "1", "chi_sim"); !strings.Contains(got, "男人都不会") {
		t.Errorf("read %q", got)
	}
	if p := left.Places[0]; p.X != 18 || p.Y+p.Height > 640-140 {
		t.Errorf("%+v", p)
	}
	for name, text := range map[string]string{"arabic": "مرحبا بالعالم", "hebrew": "שלום עולם!"} {
		out := w.drawn(edit.GraphicsInput{Input: video, Template: "lower-third", Name: text, WriteASS: cutroom.OutPath(name + ".ass"), Writing: to(name + ".mp4")})
		script, err := os.ReadFile(filepath.Join(w.dir, name+".ass"))
		if err != nil || !strings.Contains(string(script), text) || !strings.Contains(string(script), `\an9`) {
			t.Errorf("%s: %v\n%s", name, err, script)
		}
		// The strip stands at the right, where the text begins.
		p := out.Places[0]
		frame := w.pixels(name+".mp4", "1.2", 360, 640)
		if c := rgbAt(frame, 360, p.X+p.Width-3, p.Y+p.Height/2); c[0] < 200 || c[2] > 90 {
			t.Errorf("%s: the strip is %v", name, c)
		}
	}
	if e := w.fails("edit.graphics", edit.GraphicsInput{Input: video, Template: "title", Title: "हिन्दी"}, cutroom.MissingDependency); !strings.Contains(e.Msg, "Devanagari") {
		t.Error(e)
	}
	long := w.drawn(edit.GraphicsInput{Input: video, Template: "title", Title: strings.Repeat("very long ", 5), Writing: to("long.mp4")})
	if p := long.Places[0]; p.Width > 360-2*16 {
		t.Errorf("%+v", p)
	}
	e := w.fails("edit.graphics", edit.GraphicsInput{Input: video, Template: "bug", Title: strings.Repeat("far too long ", 20)}, cutroom.Invalid)
	if e.Hint == "" || !strings.Contains(e.Msg, "fit") {
		t.Error(e)
	}
}

// A brand file gives colours, fonts and margin; what the call says wins. The colours are
// the brand's in the written picture, to a few code values, whatever the matrix.
func TestGraphicsBrand(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	put(t, filepath.Join(w.dir, "brand.yaml"), "name: Example\nfonts: {heading: DejaVu Sans Mono}\ncolors: {primary: '#ff6600', text: white, background: '#2040c0'}\nmargin_percent: 10\n")
	put(t, filepath.Join(w.dir, "wrong.yaml"), "colors: {primry: red}\n")
	video := w.plain("v.mp4", "#203040", 640, 360, 1)
	out := w.drawn(edit.GraphicsInput{Input: video, Template: "hook", Title: "BRAND", Brand: "brand.yaml", Position: "top-left", TextColor: "#20c030", Writing: to("b.mp4")})
	p := out.Places[0]
	if p.X != 36 || p.Y != 36 || !strings.Contains(strings.Join(out.Fonts, " "), "Mono") {
		t.Errorf("%+v %q", p, out.Fonts)
	}
	frame := w.pixels("b.mp4", "0.5", 640, 360)
	if got := rgbAt(frame, 640, p.X+p.Width/2, p.Y+4); !likeColour(got, [3]int{0x20, 0xc0, 0x30}, 8) {
		t.Errorf("the plate is %v", got)
	}
	out = w.drawn(edit.GraphicsInput{Input: video, Template: "chapter", Title: "II", Brand: "brand.yaml", Margin: 8, Writing: to("c.mp4")})
	p = out.Places[0]
	if got := rgbAt(w.pixels("c.mp4", "0.5", 640, 360), 640, p.X+p.Width/2, p.Y+3); p.X != 8 || !likeColour(got, [3]int{0xf4, 0x63, 0x04}, 14) {
		t.Errorf("the plate at %+v is %v", p, got)
	}
	if e := w.fails("edit.graphics", edit.GraphicsInput{Input: video, Template: "hook", Title: "x", Brand: "wrong.yaml"}, cutroom.Invalid); !strings.Contains(e.Msg+e.Hint, "primary") {
		t.Error(e)
	}
}

// What contradicts itself is refused, with what to do.
func TestGraphicsRefusals(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.plain("v.mp4", "black", 320, 180, 1)
	for name, in := range map[string]edit.GraphicsInput{
		"no template":   {Input: video, Template: "upper-third", Name: "x"},
		"no name":       {Input: video, Template: "lower-third", Title: "x"},
		"other text":    {Input: video, Template: "hook", Title: "x", Bottom: "y"},
		"no text":       {Input: video, Template: "meme"},
		"long count":    {Input: video, Template: "countdown", From: 5},
		"count's end":   {Input: video, Template: "countdown", From: 1, End: "1"},
		"two ends":      {Input: video, Template: "hook", Title: "x", End: "1", Duration: cutroom.Second},
		"no colour":     {Input: video, Template: "hook", Title: "x", Primary: "reddish"},
		"out of frame":  {Input: video, Template: "hook", Title: "x", Position: "310,170"},
		"huge":          {Input: video, Template: "title", Title: "wide and large", Subtitle: "x\ny\nz", Scale: 4},
		"wide margin":   {Input: video, Template: "hook", Title: "x", Margin: 90},
		"blank":         {Input: video, Template: "hook", Title: " \n "},
		"no suffix":     {Input: video, Template: "hook", Title: "x", Writing: to("x.exe")},
		"late":          {Input: video, Template: "hook", Title: "x", Start: "4"},
		"no such track": {Input: video, Template: "hook", Title: "x", AudioStream: ptr(3)},
	} {
		r, err := w.call("edit.graphics", in)
		if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Invalid || e.Hint == "" && !strings.HasSuffix(e.Msg, ")") {
			t.Errorf("%s: %v %v", name, r, err)
		}
	}
}
