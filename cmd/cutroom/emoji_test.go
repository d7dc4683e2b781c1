package main

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/tools/edit"
)

// Pictures of the caller's stand where the text has the character, in their own colours,
// in one encode: at the left of what runs to the right, at the right of what runs to the left.
func TestEmojiStandInTheirPlace(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	video := w.plain("v.mp4", "navy", 320, 180, 1)
	green := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	draw.Draw(green, green.Rect, image.NewUniform(color.NRGBA{G: 200, A: 255}), image.Point{}, draw.Src)
	if err := os.Mkdir(filepath.Join(w.dir, "pics"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(w.dir, "pics", "emoji_u1f680.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, green); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"right.mp4": "\U0001F680 abc", "left.mp4": "\U0001F680 שלום"} {
		in := edit.OverlayInput{Input: video, Text: text, Position: "20,20", Writing: to(name)}
		in.Emoji, in.Assets = "png", cutroom.InPath("pics")
		out := w.overlaid(in)
		if e := out.Emoji; e == nil || e.Mode != "png" || e.Count != 1 || e.Pictures != 1 || e.Assets != 1 {
			t.Fatalf("%s: %+v", name, out.Emoji)
		}
		o := out.Overlay
		p := w.pixels(name, "0.5", 320, 180)
		a, b := rgbAt(p, 320, o.X+o.Height/2, o.Y+o.Height/2), rgbAt(p, 320, o.X+o.Width-o.Height/2, o.Y+o.Height/2)
		if name == "left.mp4" {
			a, b = b, a
		}
		if !likeColour(a, [3]int{0, 200, 0}, 16) || likeColour(b, [3]int{0, 200, 0}, 60) {
			t.Errorf("%s: %v where the picture stands, %v at the other end", name, a, b)
		}
	}
}
