package evidence

import (
	"slices"
	"testing"

	"cutroom"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const gridW, gridH = 32, 18

// picture returns the grid of a grey picture of one level with a bright square of
// side pixels at x, y, in 320 × 180.
func picture(level byte, x, y, side int) []byte {
	const w, h = 320, 180
	p := make([]byte, w*h)
	for i := range p {
		p[i] = level
	}
	for dy := range side {
		for dx := range side {
			p[(y+dy)*w+x+dx] = 255
		}
	}
	return BlockMeans(p, w, h, gridW, gridH)
}

// clip samples n pictures, one per second.
func clip(n int, at func(i int) []byte) []Sample {
	var out []Sample
	for i := range n {
		out = append(out, Sample{At: sec(float64(i)), Grid: at(i)})
	}
	return out
}

func times(c Chosen) []string {
	var out []string
	for _, f := range c.Frames {
		out = append(out, f.At.String()+" "+f.Why)
	}
	return out
}

func TestChoose(t *testing.T) {
	t.Parallel()
	still := clip(21, func(int) []byte { return picture(100, 0, 0, 0) })
	shots := clip(21, func(i int) []byte { return picture(byte(40*(i/6)), 0, 0, 0) })
	for _, tt := range []struct {
		name   string
		in     ChooseInput
		method string
		want   []string
	}{
		{"a still clip", ChooseInput{End: sec(20), Samples: still}, ByChange, []string{"0 first", "10 middle", "20 last"}},
		{"a clip that is shorter than the step of the samples", ChooseInput{End: sec(0.3), Samples: still[:1], Max: 3}, ByChange, []string{"0 first", "0.15 middle", "0.3 last"}},
		{"a still clip, one frame", ChooseInput{End: sec(20), Samples: still, Max: 1}, ByChange, []string{"10 middle"}},
		{"a still clip, two frames", ChooseInput{End: sec(20), Samples: still, Max: 2}, ByChange, []string{"0 first", "20 last"}},
		{"one frame only", ChooseInput{Samples: still[:1]}, ByChange, []string{"0 first"}},
		{
			"cuts",
			ChooseInput{End: sec(20), Samples: shots, Cuts: []Cut{{sec(6), 30}, {sec(12), 50}, {sec(18), 40}}},
			ByScene,
			[]string{"0 first", "10 middle", "15 floor", "20 last"}, // one frame of each shot; a second would repeat it
		},
		{
			"cuts, four frames: the strongest that shows something new",
			ChooseInput{End: sec(20), Samples: shots, Cuts: []Cut{{sec(6), 30}, {sec(12), 50}, {sec(18), 40}}, Max: 4, Floor: sec(20)},
			ByScene,
			[]string{"0 first", "10 middle", "12 scene", "20 last"},
		},
		{"a range", ChooseInput{Start: sec(5), End: sec(15), Samples: still}, ByChange, []string{"5 first", "10 middle", "15 last"}},
		{"nothing measured", ChooseInput{End: sec(20), Max: 5}, ByTime, []string{"0 first", "5 floor", "10 middle", "15 floor", "20 last"}},
		{"cuts without pictures", ChooseInput{End: sec(20), Max: 4, Floor: sec(20), Cuts: []Cut{{sec(3), 30}}}, ByScene, []string{"0 first", "3 scene", "10 middle", "20 last"}},
		{"no length", ChooseInput{}, ByTime, []string{"0 first"}},
		{"end before start", ChooseInput{Start: sec(3), End: sec(1)}, ByTime, []string{"3 first"}},
	} {
		got := Choose(tt.in)
		if got.Method != tt.method {
			t.Errorf("%s: method %s, want %s", tt.name, got.Method, tt.method)
		}
		if diff := cmp.Diff(tt.want, times(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestChooseSeesSmallSubjects puts a square of 0.07 % of the picture into a still
// one, for two seconds.
func TestChooseSeesSmallSubjects(t *testing.T) {
	t.Parallel()
	got := Choose(ChooseInput{End: sec(60), Samples: clip(61, func(i int) []byte {
		if i == 17 || i == 18 {
			return picture(100, 203, 51, 6)
		}
		return picture(100, 0, 0, 0)
	})})
	if diff := cmp.Diff([]string{"0 first", "17 floor", "30 middle", "60 last"}, times(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChooseKeepsTheFloor has all its cuts in the first ten seconds of ten minutes.
func TestChooseKeepsTheFloor(t *testing.T) {
	t.Parallel()
	var cuts []Cut
	for i := range 30 {
		cuts = append(cuts, Cut{At: sec(float64(i) / 3), Score: 90})
	}
	got := Choose(ChooseInput{End: sec(600), Max: 24, Floor: sec(60), Cuts: cuts, Samples: clip(601, func(i int) []byte { return picture(byte(i/3), i%300, 20, 12) })})
	if len(got.Frames) != 24 {
		t.Errorf("%d frames", len(got.Frames))
	}
	for i := 1; i < len(got.Frames); i++ {
		if gap := got.Frames[i].At - got.Frames[i-1].At; gap > sec(60) {
			t.Errorf("a gap of %s s before %s", gap, got.Frames[i].At)
		}
	}
}

func TestChooseProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := ChooseInput{
			Start: cutroom.Micros(rapid.Int64Range(0, 5e6).Draw(t, "start")),
			End:   cutroom.Micros(rapid.Int64Range(0, 60e6).Draw(t, "end")),
			Max:   rapid.IntRange(0, 20).Draw(t, "max"),
			Floor: cutroom.Micros(rapid.Int64Range(0, 20e6).Draw(t, "floor")),
		}
		for range rapid.IntRange(0, 40).Draw(t, "samples") {
			in.Samples = append(in.Samples, Sample{
				At:   cutroom.Micros(rapid.Int64Range(0, 60e6).Draw(t, "at")),
				Grid: rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "grid"),
			})
		}
		for range rapid.IntRange(0, 8).Draw(t, "cuts") {
			in.Cuts = append(in.Cuts, Cut{At: cutroom.Micros(rapid.Int64Range(0, 60e6).Draw(t, "cut")), Score: rapid.Float64Range(0, 100).Draw(t, "score")})
		}
		got := Choose(in)
		most := in.Max
		if most == 0 {
			most = defaultFrames
		}
		if len(got.Frames) == 0 || len(got.Frames) > most {
			t.Fatalf("%d frames, at most %d", len(got.Frames), most)
		}
		end := max(in.Start, in.End)
		if most >= 2 && (got.Frames[0].At != in.Start || got.Frames[len(got.Frames)-1].At != end) {
			t.Fatalf("first or last frame is missing: %v", times(got))
		}
		if !slices.IsSortedFunc(got.Frames, func(a, b Choice) int { return int(a.At - b.At) }) {
			t.Fatalf("not in order: %v", times(got))
		}
		for i, f := range got.Frames {
			if f.At < in.Start || f.At > end || i > 0 && f.At == got.Frames[i-1].At {
				t.Fatalf("frame %s outside, or twice: %v", f.At, times(got))
			}
		}
		reversed := in
		reversed.Samples, reversed.Cuts = slices.Clone(in.Samples), slices.Clone(in.Cuts)
		if diff := cmp.Diff(got, Choose(reversed)); diff != "" {
			t.Fatalf("not deterministic: %s", diff)
		}
	})
}

func TestBlockMeans(t *testing.T) {
	t.Parallel()
	got := BlockMeans([]byte{0, 0, 10, 20, 2, 2, 30, 40}, 4, 2, 2, 1)
	if diff := cmp.Diff([]byte{1, 25}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]byte{BlockMeans(nil, 4, 4, 2, 2), BlockMeans(make([]byte, 16), 1, 16, 2, 2), BlockMeans(make([]byte, 16), 4, 4, 0, 2)} {
		if bad != nil {
			t.Errorf("got %v", bad)
		}
	}
}
