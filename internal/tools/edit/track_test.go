package edit

import (
	"testing"

	"cutroom"
	"cutroom/internal/graph"
)

func box(x, y int) graph.Box { return graph.Box{X: x, Y: y, Width: 40, Height: 20} }

// Two things that pass each other stay two; what is missed for a moment is the same one
// when it comes back; what was gone for long is another.
func TestFollow(t *testing.T) {
	t.Parallel()
	frames := [][]sighting{
		{{"text", box(0, 0)}, {"text", box(200, 60)}},
		{{"text", box(180, 60)}, {"text", box(20, 0)}},
		{{"text", box(40, 0)}},
		{{"text", box(60, 0)}, {"text", box(140, 60)}},
		{},
		{},
		{},
		{},
		{{"text", box(60, 0)}, {"car", box(140, 60)}},
	}
	list := follow(frames)
	if len(list) != 4 || len(list[0].at) != 4 || len(list[1].at) != 3 || list[1].at[2] != 3 || list[2].at[0] != 8 {
		t.Fatalf("%+v", list)
	}
	times := make([]cutroom.Micros, len(frames))
	for i := range times {
		times[i] = cutroom.Micros(i) * cutroom.Second / 2
	}
	p := list[1].path(times, 5*cutroom.Second, 640, 360, nil)
	// It is hidden until the frame after it was last seen, and covers it wherever it was.
	if last := p.Points[len(p.Points)-1].At; p.Points[0].At != 0 || last != 2*cutroom.Second {
		t.Errorf("hidden from %s to %s", p.Points[0].At, last)
	}
	for i, n := range list[1].at {
		b, at := list[1].box[i], times[n]
		if h, ok := p.At(at); !ok || h.X > b.X || h.Y > b.Y || h.X+h.Width < b.X+b.Width || h.Y+h.Height < b.Y+b.Height {
			t.Errorf("at %s %+v is not within %+v", at, b, h)
		}
	}
	if _, ok := p.At(2100 * cutroom.Second / 1000); ok {
		t.Error("it is hidden after that")
	}
}
