package ffmpeg

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Frames are told apart by their numbers whatever passes between them, and what lies
// outside of all places counts apart.
func TestStills(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := StillsOf{Width: 4, Height: 2, Steady: rapid.Bool().Draw(t, "steady")}
		of.Frames = rapid.SliceOfNDistinct(rapid.Int64Range(0, 60), 1, 5, rapid.ID).Draw(t, "frames")
		var stream bytes.Buffer
		for n := range int64(61) {
			wanted := false
			for _, f := range of.Frames {
				wanted = wanted || f == n
			}
			if wanted || of.Steady && n%steadily == 0 {
				stream.Write(bytes.Repeat([]byte{byte(n)}, 24))
			}
		}
		v, err := of.Read(&stream)
		if err != nil {
			t.Fatal(err)
		}
		got := v.(Stills)
		for _, n := range of.Frames {
			if f := got.frames[n]; len(f) != 24 || f[0] != byte(n) {
				t.Fatalf("frame %d is %v", n, f)
			}
		}
	})
}

func TestStillsApart(t *testing.T) {
	t.Parallel()
	frame := func(set ...int) Stills {
		b := make([]byte, 3*20*10)
		for _, i := range set {
			b[i] = 200
		}
		return Stills{Width: 20, Height: 10, frames: map[int64][]byte{7: b}}
	}
	at, other := Place{X: 4, Y: 4, Width: 2, Height: 2}, Place{X: 12, Y: 2, Width: 4, Height: 4}
	drawn := frame(4*20+4, 4*20+5, 3*20+13, 200+9*20+19) // two inside, one in the other place, hue in the corner
	if got, want := drawn.Apart(frame(), 7, 20, 10, at, []Place{at, other}, 64, false), (Apart{Inside: 2.0 / 25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := drawn.Apart(frame(), 7, 20, 10, at, []Place{at, other}, 64, true); got.Outside == 0 {
		t.Error("a change of hue is not seen")
	}
	if got := drawn.Apart(frame(), 8, 20, 10, at, nil, 64, true); got != (Apart{}) {
		t.Errorf("a frame that is not there: %+v", got)
	}
}
