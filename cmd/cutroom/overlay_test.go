package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
)

// rgbAt is one pixel of a frame.
func rgbAt(p []byte, width, x, y int) [3]int {
	i := 3 * (y*width + x)
	return [3]int{int(p[i]), int(p[i+1]), int(p[i+2])}
}

// likeColour reports whether two colours are the same but for what encoding changes.
func likeColour(a, b [3]int, by int) bool {
	for i := range a {
		if d := a[i] - b[i]; d > by || d < -by {
			return false
		}
	}
	return true
}

// overlaid lays something over a video, and everything that was measured holds.
func (w *workspace) overlaid(in edit.OverlayInput) *edit.OverlayOutput {
	w.t.Helper()
	out := must[edit.OverlayOutput](w, "edit.overlay", in)
	w.inOneEncode(out.Made)
	return out
}

// inOneEncode checks that all that was measured of a file holds, and that its picture was
// encoded once.
func (w *workspace) inOneEncode(made tool.Made) {
	w.t.Helper()
	w.proved(made.Verified)
	if n := encodes(made.Commands); n != 1 {
		w.t.Errorf("%d encodes: %q", n, made.Commands)
	}
}

// plain makes a video of one colour.
func (w *workspace) plain(name, colour string, width, height int, seconds float64, more ...string) cutroom.InPath {
	w.t.Helper()
	args := []string{"-f", "lavfi", "-i", fmt.Sprintf("color=%s:s=%dx%d:r=25:d=%g,format=gbrp,scale=out_color_matrix=bt709:out_range=limited,format=yuv420p,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv", colour, width, height, seconds)}
	testenv.FFmpeg(w.t, append(append(args, more...), "-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", "-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

// disc makes a picture, or a video, of a red disc of radius 40 in 100×100 transparent
// pixels, whose colour beneath the transparency is black.
func (w *workspace) disc(name string, codec ...string) cutroom.InPath {
	w.t.Helper()
	args := []string{"-f", "lavfi", "-i", "color=black@0:s=100x100:r=25:d=1,format=rgba,geq=r='255*lt(hypot(X-50,Y-50),40)':g=0:b=0:a='255*lt(hypot(X-50,Y-50),40)'"}
	testenv.FFmpeg(w.t, append(append(args, codec...), filepath.Join(w.dir, name))...)
	return cutroom.InPath(name)
}

// Transparency of every sort: beneath what is transparent the picture is as it was, what
// is opaque has its own colour, and the edge lies between the two, without the dark rim
// of a colour that nobody sees. Case 11, and the colours of case 10.
func TestOverlayAlpha(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	base := w.plain("base.mp4", "white", 320, 180, 1)
	rgba := "scale=out_color_matrix=bt709:out_range=limited,format=yuva444p,setparams=colorspace=bt709:range=tv"
	files := map[string]edit.OverlayInput{
		"png":      {Image: w.disc("disc.png", "-frames:v", "1")},
		"vp9":      {Video: w.disc("disc.webm", "-vf", rgba+",format=yuva420p", "-c:v", "libvpx-vp9", "-crf", "10", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "8", "-auto-alt-ref", "0")},
		"vp8":      {Video: w.disc("disc8.webm", "-vf", rgba+",format=yuva420p", "-c:v", "libvpx", "-crf", "4", "-b:v", "4M", "-deadline", "realtime", "-auto-alt-ref", "0")},
		"prores":   {Video: w.disc("disc.mov", "-vf", rgba, "-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuva444p10le")},
		"qtrle":    {Video: w.disc("rle.mov", "-c:v", "qtrle", "-pix_fmt", "argb")},
		"animated": {Image: w.disc("disc.gif", "-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse"), Ended: "loop"},
	}
	for kind, in := range files {
		in.Input, in.Position, in.Opacity, in.Writing = base, "60,40", 1, to(kind+".mp4")
		out := w.overlaid(in)
		if p := out.Overlay; p.X != 60 || p.Y != 40 || p.Width != 100 || p.Height != 100 {
			t.Errorf("%s: %+v", kind, p)
		}
		p := w.pixels(kind+".mp4", "0.5", 320, 180)
		for at, want := range map[[2]int][3]int{
			{110, 90}: {255, 0, 0}, {80, 90}: {255, 0, 0}, {140, 90}: {255, 0, 0}, // in the disc
			{62, 42}: {255, 255, 255}, {158, 138}: {255, 255, 255}, {110, 44}: {255, 255, 255}, // in its box
			{20, 20}: {255, 255, 255}, {300, 170}: {255, 255, 255}, // elsewhere
		} {
			if got := rgbAt(p, 320, at[0], at[1]); !likeColour(got, want, 8) {
				t.Errorf("%s: at %v it is %v, want %v", kind, at, got, want)
			}
		}
		// Red over white is nowhere darker than red, and has no other hue.
		for x := 66; x < 76; x++ {
			got := rgbAt(p, 320, x, 90)
			if luma := 0.2126*float64(got[0]) + 0.7152*float64(got[1]) + 0.0722*float64(got[2]); luma < 46 || got[0] < got[1]-4 || got[1]-got[2] > 12 || got[2]-got[1] > 12 {
				t.Errorf("%s: the edge at %d is %v", kind, x, got)
			}
		}
	}
}

// A green screen goes, what stands before it stays, and no green is left at its edge.
func TestOverlayChromaKey(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	base := w.plain("base.mp4", "blue", 320, 180, 2)
	for name, colours := range map[string]string{"709.mp4": "bt709", "601.mp4": "smpte170m"} {
		m := map[string]string{"bt709": "bt709", "smpte170m": "bt601"}[colours]
		testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=lime:s=200x120:r=25:d=1,format=gbrp,geq=r='255*lt(hypot(X-100,Y-60),40)':g='255*gte(hypot(X-100,Y-60),40)':b=0,scale=out_color_matrix="+m+":out_range=limited,format=yuv420p,setparams=range=tv:colorspace="+colours,
			"-c:v", "libx264", "-preset", "ultrafast", "-qp", "8", "-colorspace", colours, filepath.Join(w.dir, name))
		out := w.overlaid(edit.OverlayInput{Input: base, Video: cutroom.InPath(name), Chromakey: "#00ff00", Similarity: 0.15, Blend: 0.05, Opacity: 1, Position: "0,0", Start: "0.5", Writing: to("key-" + name)})
		if out.Overlay.Start != 500_000 || out.Overlay.End != 1_500_000 {
			t.Errorf("%+v", out.Overlay)
		}
		before, p, after := w.pixels("key-"+name, "0.3", 320, 180), w.pixels("key-"+name, "1", 320, 180), w.pixels("key-"+name, "1.7", 320, 180)
		blue := rgbAt(before, 320, 100, 60)
		if !likeColour(blue, [3]int{0, 0, 255}, 13) || !likeColour(rgbAt(after, 320, 100, 60), blue, 4) {
			t.Errorf("%s: it is there before its time or stays behind: %v, %v", name, blue, rgbAt(after, 320, 100, 60))
		}
		if got := rgbAt(p, 320, 100, 60); !likeColour(got, [3]int{255, 0, 0}, 14) {
			t.Errorf("%s: the disc is %v", name, got)
		}
		for _, at := range [][2]int{{4, 4}, {190, 110}, {30, 60}, {100, 10}, {250, 150}} {
			if got := rgbAt(p, 320, at[0], at[1]); !likeColour(got, blue, 8) {
				t.Errorf("%s: at %v the screen is %v", name, at, got)
			}
		}
		for x := 50; x < 70; x++ {
			if got := rgbAt(p, 320, x, 60); got[1] > (got[0]+got[2])/2+8 {
				t.Errorf("%s: the edge is green at %d: %v", name, x, got)
			}
		}
	}
}

// Where it stands, how large it is and when: names and points, margins, platforms, a
// share of the frame, opacity and fades, measured in the picture.
func TestOverlayPlaces(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	base := w.plain("base.mp4", "black", 180, 320, 2)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=60x30", "-frames:v", "1", filepath.Join(w.dir, "bar.png"))
	for i, c := range []struct {
		in         edit.OverlayInput
		x, y, w, h int
	}{
		{edit.OverlayInput{Position: "top-left", Margin: 10}, 10, 10, 60, 30},
		{edit.OverlayInput{Position: "center"}, 60, 144, 60, 30},
		{edit.OverlayInput{Position: "bottom-right", Margin: 4, Scale: 30}, 146, 300, 30, 15},
		{edit.OverlayInput{Position: "-6,-8", ScalePercent: 20}, 138, 294, 36, 18},
		{edit.OverlayInput{Position: "top-right", Platform: "tiktok", Margin: 2}, 94, 32, 60, 30},
		{edit.OverlayInput{Position: "bottom", Scale: 178, Margin: 24}, 0, 230, 178, 89},
	} {
		c.in.Input, c.in.Image, c.in.Opacity, c.in.Writing = base, "bar.png", 1, to(fmt.Sprintf("p%d.mp4", i))
		got := w.overlaid(c.in).Overlay
		if got.Width != c.w || got.Height != c.h || got.X != c.x && i != 5 || got.Y != c.y && i != 5 {
			t.Errorf("%d: %+v, want %+v", i, got, c)
		}
		p := w.pixels(fmt.Sprintf("p%d.mp4", i), "1", 180, 320)
		for _, at := range [][2]int{{got.X + 2, got.Y + 2}, {got.X + got.Width - 3, got.Y + got.Height - 3}} {
			if c := rgbAt(p, 180, at[0], at[1]); c[1] < 240 {
				t.Errorf("%d: at %v it is %v", i, at, c)
			}
		}
		for _, at := range [][2]int{{max(0, got.X-4), got.Y + 2}, {got.X + 2, max(0, got.Y-4)}, {min(179, got.X+got.Width+3), got.Y + 2}, {got.X + 2, min(319, got.Y+got.Height+3)}} {
			if c := rgbAt(p, 180, at[0], at[1]); c[1] > 20 && (at[0] < got.X || at[1] < got.Y || at[0] >= got.X+got.Width || at[1] >= got.Y+got.Height) {
				t.Errorf("%d: beside it at %v it is %v", i, at, c)
			}
		}
	}
	out := w.overlaid(edit.OverlayInput{Input: base, Image: "bar.png", Position: "center", Opacity: 0.5, Start: "0.4", End: "1.6", Fade: 400_000, Writing: to("fade.mp4")})
	if o := out.Overlay; o.Start != 400_000 || o.End != 1_600_000 {
		t.Errorf("%+v", o)
	}
	for at, want := range map[string]int{"0.36": 0, "0.6": 64, "1": 128, "1.4": 64, "1.62": 0} {
		if got := rgbAt(w.pixels("fade.mp4", at, 180, 320), 180, 90, 158)[1]; math.Abs(float64(got-want)) > 16 {
			t.Errorf("at %s s it is %d, want %d", at, got, want)
		}
	}
}

// hostileText is text as people write it; OCR reads what it can of it.
const hostileText = `100% it's: {ok}`

// Text of any script survives, and stands where and when it was asked for. Cases 36 and
// 38.
func TestOverlayText(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.blank("it's [a] 100%: v.mp4", 640, 360, 2)
	style := edit.TextStyle{Size: 42, Color: "white", Border: 2, Outlined: "black"}
	for i, c := range []struct{ text, lang, want string }{
		{hostileText, "eng", "100%it's:{ok}"},
		{`C:\new\N [x], "ok"; a=b`, "eng", `C:\new\N[x],"ok";a=b`},
		{"男人都不会", "chi_sim", "男人都不会"},
	} {
		out := w.overlaid(edit.OverlayInput{Input: video, Text: c.text, Style: style, Position: "center", Margin: 24, Opacity: 1, Start: "0.5", End: "1.5", Writing: to(fmt.Sprintf("t%d.mp4", i))})
		name := fmt.Sprintf("t%d.mp4", i)
		if got := w.reads(name, "1", c.lang); got != c.want {
			t.Errorf("read %q, not %q", got, c.want)
		}
		if a, b := w.reads(name, "0.2", "eng"), w.reads(name, "1.7", "eng"); a != "" || b != "" {
			t.Errorf("before and after it reads %q and %q", a, b)
		}
		if row(out.Verified, "rest_unchanged") != "0" || row(out.Verified, "only_in_its_time") != "0" || len(out.Overlay.Fonts) == 0 {
			t.Errorf("%+v %+v", out.Overlay, out.Verified)
		}
	}
	for i, text := range []string{"مرحبا بالعالم", "שלום עולם!"} {
		out := w.overlaid(edit.OverlayInput{Input: video, Text: text, Style: style, Position: "-20,30", Margin: 24, Opacity: 1, Writing: to(fmt.Sprintf("r%d.mp4", i))})
		if o := out.Overlay; o.X+o.Width > 622 || o.X+o.Width < 612 || o.Y < 28 || o.Y > 36 {
			t.Errorf("%+v", o)
		}
	}
	if e := w.fails("edit.overlay", edit.OverlayInput{Input: video, Text: "हिन्दी", Style: style, Position: "top", Opacity: 1}, cutroom.MissingDependency); !strings.Contains(e.Msg, "Devanagari") {
		t.Error(e)
	}
	faint := w.fails("edit.overlay", edit.OverlayInput{Input: video, Text: "unseen", Style: edit.TextStyle{Size: 42, Color: "#203040", Outlined: "#203040"}, Position: "top", Opacity: 1}, cutroom.Verification)
	if !strings.Contains(faint.Msg, "drawn_visible") || faint.Hint == "" {
		t.Error(faint)
	}
}

// What contradicts itself is refused before any work, with what to do.
func TestOverlayRefusals(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.plain("v.mp4", "black", 320, 180, 1)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=60x30", "-frames:v", "1", filepath.Join(w.dir, "bar.png"))
	for name, in := range map[string]edit.OverlayInput{
		"nothing":      {Input: video},
		"two":          {Input: video, Image: "bar.png", Text: "x"},
		"key of text":  {Input: video, Text: "x", Chromakey: "lime"},
		"no place":     {Input: video, Image: "bar.png", Position: "upwards"},
		"no colour":    {Input: video, Image: "bar.png", Chromakey: "greenish"},
		"backwards":    {Input: video, Image: "bar.png", Position: "top", Start: "0.8", End: "0.2"},
		"outside":      {Input: video, Image: "bar.png", Position: "400,10"},
		"no platform":  {Input: video, Image: "bar.png", Position: "top", Platform: "tictac"},
		"still video":  {Input: video, Video: "bar.png", Position: "top"},
		"long fades":   {Input: video, Image: "bar.png", Position: "top", End: "0.5", Fade: 400_000},
		"late":         {Input: video, Image: "bar.png", Position: "top", Start: "3"},
		"not a file":   {Input: video, Image: "bar.png", Position: "top", Writing: to("x.exe")},
		"a picture":    {Input: "bar.png", Image: "bar.png", Position: "top"},
		"much text":    {Input: video, Text: strings.Repeat("word ", 300), Position: "top"},
		"text outside": {Input: video, Text: "x", Position: "318,10"},
	} {
		in.Opacity = 1
		if e := w.fails("edit.overlay", in, cutroom.Invalid); e.Hint == "" && !strings.HasSuffix(e.Msg, ")") {
			t.Errorf("%s: no hint: %v", name, e)
		}
	}
}

// The brand file's logo is found beside it, and stands as the file says; captions and text
// take its fonts, colours and margin, and what a call says wins.
func TestBrandFile(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	base := w.plain("base.mp4", "black", 320, 180, 1)
	if err := os.MkdirAll(filepath.Join(w.dir, "kit", "art"), 0o700); err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=white:s=60x30", "-frames:v", "1", filepath.Join(w.dir, "kit", "art", "logo.png"))
	put(t, filepath.Join(w.dir, "kit", "brand.yaml"), "fonts: {body: DejaVu Sans Mono}\ncolors: {text: '#ff6600', outline: '#102030'}\nlogo: {file: art/logo.png, position: bottom-left, width_percent: 20, opacity: 0.5}\nmargin_percent: 10\ncaptions: {size: 30, position: top}\n")
	put(t, filepath.Join(w.dir, "bare.json"), `{"colors": {"text": "white"}}`)
	put(t, filepath.Join(w.dir, "gone.yaml"), "logo: {file: gone.png}\n")
	put(t, filepath.Join(w.dir, "out.yaml"), "logo: {file: ../secret.png}\n")
	out := w.overlaid(edit.OverlayInput{Input: base, Logo: true, Brand: "kit/brand.yaml", Writing: to("logo.mp4")})
	if p := out.Overlay; p.X != 18 || p.Y != 180-18-32 || p.Width != 64 || p.Height != 32 || p.Opacity != 0.5 {
		t.Errorf("%+v", p)
	}
	if got := rgbAt(w.pixels("logo.mp4", "0.5", 320, 180), 320, 40, 145); !likeColour(got, [3]int{127, 127, 127}, 6) {
		t.Errorf("the logo is %v", got)
	}
	out = w.overlaid(edit.OverlayInput{Input: base, Logo: true, Brand: "kit/brand.yaml", Position: "0,0", Opacity: 1, Writing: to("own.mp4")})
	if p := out.Overlay; p.X != 0 || p.Y != 0 || p.Opacity != 1 {
		t.Errorf("%+v", p)
	}
	text := w.overlaid(edit.OverlayInput{Input: base, Text: "Text", Brand: "kit/brand.yaml", Position: "left", Writing: to("text.mp4")})
	if p := text.Overlay; p.X != 18 || strings.Join(p.Fonts, "") != "DejaVu Sans Mono" {
		t.Errorf("%+v", p)
	}
	said := w.captioned(edit.CaptionInput{Input: base, Cues: []edit.CaptionCue{{Start: "0", End: "1", Text: "said"}}, Style: edit.CaptionStyle{Size: 24, Color: "FFFFFF", Outlined: "000000", Outline: 2, Position: "bottom"}, Brand: "kit/brand.yaml", WriteASS: "said.ass", Writing: to("said.mp4")})
	script, _ := os.ReadFile(filepath.Join(w.dir, "said.ass"))
	if !strings.Contains(string(script), "DejaVu Sans Mono,18.5,&H000066FF") || !strings.Contains(string(script), "&H00302010") || said.Caption.Requested != 30 {
		t.Errorf("%+v\n%s", said.Caption, script)
	}
	for file, says := range map[string]string{"bare.json": "names no logo", "gone.yaml": "gone.png", "out.yaml": "beside it"} {
		_, err := w.call("edit.overlay", edit.OverlayInput{Input: base, Logo: true, Brand: cutroom.InPath(file), Writing: to("no.mp4")})
		if e := cutroom.AsError(err); err == nil || !strings.Contains(e.Msg, says) || e.Hint == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}
