package graph_test

import (
	"math"
	"testing"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"

	"pgregory.net/rapid"
)

func TestParseAspect(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]ffmpeg.Rational{"16:9": {Num: 16, Den: 9}, "1920:1080": {Num: 16, Den: 9}, "9/16": {Num: 9, Den: 16}, "1:1": {Num: 1, Den: 1}} {
		if got, err := graph.ParseAspect(in); err != nil || got != want {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
	for _, in := range []string{"", "16", "16:", ":9", "0:1", "-1:1", "1.5:1", "1:1:1", "1000:1", "99999999999:1", "a:b"} {
		if got, err := graph.ParseAspect(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, a, b, fw, fh int }{
		{1920, 1080, 9, 16, 606, 1080}, {1080, 1920, 16, 9, 1080, 606}, {1920, 1080, 16, 9, 1920, 1080}, {321, 181, 16, 9, 320, 180}, {1920, 1080, 21, 9, 1920, 822}, {1024, 576, 4, 5, 460, 576},
	} {
		if w, h := graph.Inside(c.w, c.h, ffmpeg.Rational{Num: int64(c.a), Den: int64(c.b)}); w != c.fw || h != c.fh {
			t.Errorf("%+v: %d×%d", c, w, h)
		}
	}
	if n := graph.Across(1080, ffmpeg.Rational{Num: 9, Den: 16}); n != 1920 {
		t.Error(n)
	}
	if n := graph.Across(480, ffmpeg.Rational{Num: 9, Den: 16}); n != 854 {
		t.Error(n)
	}
}

func TestInsideNeverLarger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(16, 8000).Draw(t, "w"), rapid.IntRange(16, 8000).Draw(t, "h")
		a := ffmpeg.Rational{Num: rapid.Int64Range(1, 40).Draw(t, "a"), Den: rapid.Int64Range(1, 40).Draw(t, "b")}
		fw, fh := graph.Inside(w, h, a)
		if fw > w || fh > h || fw%2 != 0 || fh%2 != 0 || fw < 2 || fh < 2 {
			t.Fatalf("%d×%d", fw, fh)
		}
		if fw < w-1 && fh < h-1 && fw > 2 && fh > 2 {
			t.Fatalf("%d×%d touches no side of %d×%d", fw, fh, w, h)
		}
	})
}

// A crop keeps all of one subject that fits, wherever it is, and lies around its
// middle where the picture allows it.
func TestAnchorKeepsTheSubject(t *testing.T) {
	t.Parallel()
	nine := ffmpeg.Rational{Num: 9, Den: 16}
	for _, c := range []struct {
		box  graph.Box
		want float64
	}{{graph.Box{X: 0, Y: 0, Width: 100, Height: 100}, 0}, {graph.Box{X: 1820, Y: 900, Width: 100, Height: 100}, 1}, {graph.Box{X: 910, Y: 10, Width: 100, Height: 100}, 0.5}} {
		x, y, kept := graph.Anchor([]graph.Box{c.box}, 1920, 1080, nine)
		if math.Abs(x-c.want) > 0.001 || y != 0.5 || kept != 1 {
			t.Errorf("%+v: %v %v %v", c, x, y, kept)
		}
	}
	x, _, kept := graph.Anchor([]graph.Box{{X: 0, Width: 100, Height: 50}, {X: 1500, Width: 400, Height: 50}}, 1920, 1080, nine)
	if lo := x * (1920 - 607); lo > 1500 || lo+607 < 1900 || kept != 0.8 {
		t.Errorf("the larger of two subjects is kept: %v %v", x, kept)
	}
}

// No other place keeps more.
func TestAnchorIsBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(40, 200).Draw(t, "w"), 40
		boxes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graph.Box {
			x := rapid.IntRange(0, w-2).Draw(t, "x")
			return graph.Box{X: x, Y: 0, Width: rapid.IntRange(1, w-x).Draw(t, "width"), Height: rapid.IntRange(1, 40).Draw(t, "height")}
		}), 1, 5).Draw(t, "boxes")
		cw := min(w, h)
		x, _, kept := graph.Anchor(boxes, w, h, ffmpeg.Rational{Num: 1, Den: 1})
		held := func(at int) (n float64) {
			all := 0
			for _, b := range boxes {
				n += float64(max(0, min(b.X+b.Width, at+cw)-max(b.X, at)) * b.Height)
				all += b.Width * b.Height
			}
			return n / float64(all)
		}
		if w > cw {
			if got := held(int(math.Round(x * float64(w-cw)))); math.Abs(got-kept) > 1e-9 {
				t.Fatalf("it says %v and keeps %v", kept, got)
			}
		}
		for at := range w - cw + 1 {
			if held(at) > kept+1e-9 {
				t.Fatalf("%d keeps %v, not %v", at, held(at), kept)
			}
		}
	})
}

// Turning a box four times, or flipping it twice, leaves it where it was.
func TestTurnedComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 100).Draw(t, "w"), rapid.IntRange(1, 100).Draw(t, "h")
		b := graph.Box{X: rapid.IntRange(0, w-1).Draw(t, "x"), Y: rapid.IntRange(0, h-1).Draw(t, "y"), Width: 1, Height: 1}
		q := b.Turned(w, h, 90, false, false)
		if q.X < 0 || q.X >= h || q.Y < 0 || q.Y >= w {
			t.Fatalf("%+v left the picture", q)
		}
		if back := q.Turned(h, w, 270, false, false); back != b {
			t.Fatalf("%+v", back)
		}
		if back := b.Turned(w, h, 180, true, true); back != b {
			t.Fatalf("%+v", back)
		}
	})
	if b := (graph.Box{X: 10, Y: 20, Width: 30, Height: 5}).Turned(100, 50, 90, false, false); b != (graph.Box{X: 25, Y: 10, Width: 5, Height: 30}) {
		t.Errorf("a quarter clockwise: %+v", b)
	}
}
