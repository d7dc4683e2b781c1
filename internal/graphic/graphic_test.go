package graphic

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/caption"
)

// wide is a face whose letters are all half as wide as a line is high.
type wide struct{}

func (wide) Family() string              { return "Wide" }
func (wide) Width(text string) float64   { return 0.5 * float64(len([]rune(text))) }
func (wide) Ascent() float64             { return 0.8 }
func (wide) Covers(text string) bool     { return true }
func (wide) Fingerprint() cutroom.Digest { return "" }
func (wide) Color() string               { return "" }
func (wide) Picture(string) *image.NRGBA { return nil }
func (w wide) Find(_, _, _ string, _ bool) (caption.Face, error) {
	return w, nil
}

// every text that a template takes.
func every(t Template, s string) Texts {
	var x Texts
	for _, f := range t.Takes {
		switch f {
		case "name":
			x.Name = s
		case "title":
			x.Title = s
		case "subtitle":
			x.Subtitle = s
		case "text":
			x.Text = s
		case "top":
			x.Top = s
		case "bottom":
			x.Bottom = s
		}
	}
	return x
}

// Whatever the text, frame and scale: what is drawn stands in its place, is there in its
// time, holds the text as it is, and no text becomes a tag. Or it is refused.
func TestDrawKeepsItsPromises(t *testing.T) {
	t.Parallel()
	templates := Templates()
	rapid.Check(t, func(t *rapid.T) {
		tp := rapid.SampledFrom(templates).Draw(t, "template")
		text := rapid.StringOfN(rapid.RuneFrom([]rune(`ab {}\N"%:;,'&שم日 `+"\n\t")), 1, 40, -1).Draw(t, "text")
		w, h := rapid.IntRange(64, 4000).Draw(t, "width"), rapid.IntRange(64, 4000).Draw(t, "height")
		x0, y0 := w/20, h/20
		start := cutroom.Micros(rapid.Int64Range(0, 5e6).Draw(t, "start"))
		o := Options{
			Width: w, Height: h, RoomX: w - 2*x0, RoomY: h - 2*y0, Fonts: wide{}, Color: func(string) string { return "112233" }, Scale: rapid.Float64Range(0.25, 4).Draw(t, "scale"),
			Texts: every(tp, text), Start: start, End: start + cutroom.Micros(rapid.Int64Range(4e5, 9e6).Draw(t, "length")), Count: 3,
			Place: func(_ string, bw, bh int) (int, int, error) { return x0 + (w-2*x0-bw)/2, y0 + (h-2*y0-bh)/2, nil },
		}
		d, err := Draw(tp, o)
		if err != nil {
			if e := cutroom.AsError(err); e.Code != cutroom.Invalid || e.Hint == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if len(d.Marks) == 0 {
			t.Fatal("nothing is marked")
		}
		for _, m := range d.Marks {
			if m.X < x0 || m.Y < y0 || m.X+m.Width > w-x0 || m.Y+m.Height > h-y0 || m.Start != o.Start || m.End != o.End || m.FadeIn+m.FadeOut > m.End-m.Start {
				t.Fatalf("%+v in %d×%d", m, w, h)
			}
		}
		seen := 0
		for line := range strings.Lines(string(d.Script)) {
			rest, ok := strings.CutPrefix(line, "Dialogue: ")
			if !ok {
				continue
			}
			fields := strings.SplitN(rest, ",", 10)
			tags, body, _ := strings.Cut(strings.TrimPrefix(fields[9], "{"), "}")
			if strings.Contains(tags, `\p1`) {
				continue
			}
			seen++
			for _, part := range strings.Split(body, "{")[1:] { // only faces are tags, and what is escaped
				if !strings.HasPrefix(part, `\fn`) && !strings.Contains(body, `\{`) {
					t.Fatalf("a tag out of a text: %q", body)
				}
			}
		}
		if seen == 0 && tp.Name != "progress" {
			t.Fatalf("no text is drawn: %s", d.Script)
		}
	})
}

func TestTemplateRefusals(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`{"templates":[{"name":"x"}]}`: "groups",
		`{"templates":[{"nam":"x"}]}`:  "nam",
		`{"templates":[{"name":"x","groups":[{"width":1,"align":"center","items":[{"text":"title","size":10,"color":"text"}]}]}]}`:                               "take",
		`{"templates":[{"name":"x","takes":["title"],"groups":[{"width":1,"align":"center","items":[{"text":"title","size":10,"color":"red"}]}]}]}`:              "colour",
		`{"templates":[{"name":"x","takes":["title"],"groups":[{"width":2,"align":"center","items":[{"text":"title","size":10,"color":"text"}]}]}]}`:             "width",
		`{"templates":[{"name":"x","takes":["title"],"position":"up","groups":[{"width":1,"align":"center"}]}]}`:                                                 "place",
		`{"templates":[{"name":"x","takes":["heading"],"groups":[{"width":1,"align":"center"}]}]}`:                                                               "text",
		`{"templates":[{"name":"x","takes":["title"],"groups":[{"width":1,"align":"center","in":{"kind":"spin"},"items":[]}]}]}`:                                 "fade",
		`{"templates":[{"name":"x","takes":["title"],"groups":[{"width":1,"align":"center","items":[{"text":"title","count":true,"size":9,"color":"text"}]}]}]}`: "one of",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
