package sprite_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/sprite"
	"cutroom/internal/testenv"
)

// plain is a picture of one colour.
func plain(w, h int, c color.NRGBA) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(p, p.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	return p
}

var red = color.NRGBA{R: 255, A: 255}

// play decodes a reel with ffmpeg at a rate and returns its frames as red, green, blue, alpha.
func play(t testing.TB, r *sprite.Reel, rate, frames int) [][]byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.png")
	if err := os.WriteFile(file, r.PNG, 0o600); err != nil {
		t.Fatal(err)
	}
	raw := testenv.Run(t, "", "ffmpeg", "-v", "error", "-nostdin", "-f", "apng", "-i", file, "-vf", fmt.Sprintf("fps=100:start_time=0,select='not(mod(n,%d))',tpad=stop_mode=clone:stop=-1", 100/rate), "-fps_mode", "passthrough", "-frames:v", fmt.Sprint(frames), "-pix_fmt", "rgba", "-f", "rawvideo", "-")
	size := 4 * r.Width * r.Height
	if len(raw) != size*frames {
		t.Fatalf("%d bytes, not %d frames of %d", len(raw), frames, size)
	}
	var list [][]byte
	for i := range frames {
		list = append(list, raw[i*size:(i+1)*size])
	}
	return list
}

// at is the colour of a pixel of the frame.
func at(r *sprite.Reel, frame []byte, x, y int) [4]byte {
	if !image.Pt(x, y).In(image.Rect(r.X, r.Y, r.X+r.Width, r.Y+r.Height)) {
		return [4]byte{}
	}
	return [4]byte(frame[4*((y-r.Y)*r.Width+x-r.X):])
}

// A picture is there from its start to its end, and nowhere else.
func TestPicturesComeAndGo(t *testing.T) {
	t.Parallel()
	s := cutroom.Second
	r, err := sprite.Draw([]sprite.Show{
		{Picture: plain(20, 20, red), X: 31, Y: 11, Width: 10, Height: 10, Start: s / 2, End: s},
		{Picture: plain(8, 8, color.NRGBA{B: 255, A: 255}), X: 60, Y: 40, Width: 8, Height: 8, Start: 7 * s / 10, End: 3 * s / 2, Opacity: 0.5},
	}, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	if r.X != 30 || r.Y != 10 || r.Width > 40 || r.Height > 40 || r.End != 3*s/2 || r.X%2+r.Y%2+r.Width%2+r.Height%2 != 0 {
		t.Errorf("the reel stands at %d,%d %d×%d, to %s", r.X, r.Y, r.Width, r.Height, r.End)
	}
	frames := play(t, r, 10, 18)
	for i, f := range frames {
		a, b := at(r, f, 36, 16), at(r, f, 64, 44)
		wantA, wantB := [4]byte{}, [4]byte{}
		if i >= 5 && i < 10 {
			wantA = [4]byte{255, 0, 0, 255}
		}
		if i >= 7 && i < 15 {
			wantB = [4]byte{0, 0, 255, 128}
		}
		if a != wantA || b != wantB {
			t.Errorf("at %d/10 s: %v and %v, not %v and %v", i, a, b, wantA, wantB)
		}
		if c := at(r, f, 50, 30); c != [4]byte{} {
			t.Errorf("at %d/10 s something stands between the two: %v", i, c)
		}
	}
}

// Pictures move, grow, fade, are uncovered and turned as they are told.
func TestPicturesMove(t *testing.T) {
	t.Parallel()
	s := cutroom.Second
	base := sprite.Show{Picture: plain(16, 16, red), X: 40, Y: 40, Width: 20, Height: 20, End: 2 * s}
	for name, x := range map[string]struct {
		m          sprite.Motion
		early      image.Point // is covered at first, and not at rest
		late       image.Point // the other way round
		rests      image.Point
		earlyAlpha byte
	}{
		"slide": {sprite.Motion{Lasts: s, DY: -30}, image.Pt(50, 25), image.Pt(50, 57), image.Pt(50, 50), 255},
		"grow":  {sprite.Motion{Lasts: s, Grow: 0.2, AtX: 10, AtY: 10}, image.Pt(25, 25), image.Pt(58, 58), image.Pt(50, 50), 255},
		"wipe":  {sprite.Motion{Wipe: s, WipeFrom: 40, WipeTo: 60}, image.Pt(-1, 0), image.Pt(55, 50), image.Pt(50, 50), 0},
		"fade":  {sprite.Motion{FadeIn: s}, image.Pt(-1, 0), image.Pt(-1, 0), image.Pt(50, 50), 0},
	} {
		show := base
		show.Motion = x.m
		r, err := sprite.Draw([]sprite.Show{show}, 100, 100)
		if err != nil {
			t.Fatal(err)
		}
		frames := play(t, r, 10, 20)
		if f := frames[15]; at(r, f, x.rests.X, x.rests.Y)[3] != 255 || x.early.X >= 0 && at(r, f, x.early.X, x.early.Y)[3] != 0 {
			t.Errorf("%s: at rest %v", name, at(r, f, x.rests.X, x.rests.Y))
		}
		f := frames[2]
		if x.early.X >= 0 && at(r, f, x.early.X, x.early.Y)[3] != x.earlyAlpha || x.late.X >= 0 && at(r, f, x.late.X, x.late.Y)[3] != 0 {
			t.Errorf("%s: early %v, late %v", name, at(r, f, x.early.X, x.early.Y), at(r, f, x.late.X, x.late.Y))
		}
		if name == "fade" {
			if a := at(r, frames[5], 50, 50)[3]; a < 115 || a > 140 {
				t.Errorf("half-way through the fade alpha is %d", a)
			}
		}
	}
	base.Motion = sprite.Motion{Turn: 90, TurnX: 40, TurnY: 40} // counter-clockwise: up and to the right
	r, err := sprite.Draw([]sprite.Show{base}, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	if f := play(t, r, 10, 1)[0]; at(r, f, 50, 30)[3] != 255 || at(r, f, 50, 50)[3] != 0 {
		t.Errorf("turned: %v, %v", at(r, f, 50, 30), at(r, f, 50, 50))
	}
}

// What lasts longer than a frame may is there all the time, on the corner, too.
func TestLongShows(t *testing.T) {
	t.Parallel()
	r, err := sprite.Draw([]sprite.Show{{Picture: plain(4, 4, red), X: 0, Y: 0, Width: 8, Height: 8, Start: 700 * cutroom.Second, End: 800 * cutroom.Second}}, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range play(t, r, 1, 805) {
		if c, want := at(r, f, 0, 0), i >= 700 && i < 800; (c == [4]byte{255, 0, 0, 255}) != want {
			t.Fatalf("after %d s: %v", i, c)
		}
	}
}

// The work is bounded whatever moves; nothing is drawn outside of the frame.
func TestReelsAreBounded(t *testing.T) {
	t.Parallel()
	p := plain(6, 6, red)
	rapid.Check(t, func(t *rapid.T) {
		var list []sprite.Show
		for range rapid.IntRange(0, 60).Draw(t, "shows") {
			start := cutroom.Micros(rapid.Int64Range(-1e6, 20e6).Draw(t, "start"))
			list = append(list, sprite.Show{
				Picture: p, X: rapid.Float64Range(-50, 150).Draw(t, "x"), Y: rapid.Float64Range(-50, 150).Draw(t, "y"), Width: rapid.Float64Range(-1, 30).Draw(t, "w"), Height: 10,
				Start: start, End: start + cutroom.Micros(rapid.Int64Range(-1e6, 5e6).Draw(t, "length")), Opacity: rapid.Float64Range(0, 1).Draw(t, "opacity"),
				Motion: sprite.Motion{FadeIn: cutroom.Micros(rapid.Int64Range(0, 9e6).Draw(t, "in")), FadeOut: 300_000, Lasts: 200_000, DX: 5, Grow: rapid.Float64Range(0, 2).Draw(t, "grow"), Turn: rapid.Float64Range(-180, 180).Draw(t, "turn")},
			})
		}
		r, err := sprite.Draw(list, 100, 80)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return
		}
		if r.X < 0 || r.Y < 0 || r.X+r.Width > 100 || r.Y+r.Height > 80 || r.Width < 1 || r.Frames > 3000+len(list)*8+3 {
			t.Fatalf("%d,%d %d×%d with %d frames of %d shows", r.X, r.Y, r.Width, r.Height, r.Frames, len(list))
		}
	})
}
