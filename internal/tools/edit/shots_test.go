package edit

import (
	"testing"

	"cutroom"

	"pgregory.net/rapid"
)

// Whatever is asked for: the shots cover the whole length in order without holes, no
// camera shows while it was not running, and neighbours differ.
func TestShotsCoverEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length := cutroom.Micros(rapid.Int64Range(1, 600_000_000).Draw(t, "length"))
		runs := map[int][2]cutroom.Micros{0: {0, length}}
		for c := 1; c < 4; c++ {
			a := cutroom.Micros(rapid.Int64Range(-1000, int64(length)).Draw(t, "from"))
			runs[c] = [2]cutroom.Micros{a, a + cutroom.Micros(rapid.Int64Range(0, int64(length)).Draw(t, "for"))}
		}
		var asked []shot
		var at cutroom.Micros
		for range rapid.IntRange(0, 8).Draw(t, "shots") {
			from := at + cutroom.Micros(rapid.Int64Range(0, 50_000_000).Draw(t, "gap"))
			to := from + cutroom.Micros(rapid.Int64Range(1, 50_000_000).Draw(t, "long"))
			asked = append(asked, shot{from, to, rapid.IntRange(0, 3).Draw(t, "camera")})
			at = to
		}
		list, lost := covered(asked, length, func(c int) (cutroom.Micros, cutroom.Micros) { return runs[c][0], runs[c][1] })
		at = 0
		for i, s := range list {
			if s.from != at || s.to <= s.from || i > 0 && s.camera == list[i-1].camera {
				t.Fatalf("%v", list)
			}
			if s.camera > 0 && (s.from < runs[s.camera][0] || s.to > runs[s.camera][1]) {
				t.Fatalf("camera %d shows from %v to %v, and ran %v", s.camera, s.from, s.to, runs[s.camera])
			}
			at = s.to
		}
		if at != length || lost < 0 {
			t.Fatalf("%v of %v, lost %v", list, length, lost)
		}
	})
}

// Shots by energy are as long as asked, cover everything, and follow who is louder.
func TestShotsFollowTheLoudest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "stretches")
		levels := map[int][]float64{}
		for c := range 3 {
			levels[c] = rapid.SliceOfN(rapid.Float64Range(-60, 0), n, n).Draw(t, "levels")
		}
		length := cutroom.Micros(n)*energyStep - cutroom.Micros(rapid.Int64Range(0, energyStep-1).Draw(t, "less"))
		least := cutroom.Micros(rapid.Int64Range(1, 5_000_000).Draw(t, "least"))
		list := loudest(levels, []int{0, 1, 2}, length, least)
		var at cutroom.Micros
		for i, s := range list {
			if s.from != at || len(list) > 1 && s.to-s.from < least || i > 0 && s.camera == list[i-1].camera {
				t.Fatalf("%v, at least %v", list, least)
			}
			at = s.to
		}
		if at != length {
			t.Fatalf("%v of %v", list, length)
		}
	})
	quiet, loud := make([]float64, 40), make([]float64, 40)
	for i := range quiet {
		quiet[i], loud[i] = -40, -3
	}
	list := loudest(map[int][]float64{0: append(append([]float64{}, loud...), quiet...), 2: append(append([]float64{}, quiet...), loud...)}, []int{0, 2}, 20*cutroom.Second, cutroom.Second)
	if len(list) != 2 || list[0] != (shot{0, 10 * cutroom.Second, 0}) || list[1].camera != 2 {
		t.Errorf("%v", list)
	}
}

func FuzzShot(f *testing.F) {
	f.Add("12-20.5:1")
	f.Add("00:01:02-:0")
	f.Fuzz(func(t *testing.T, s string) {
		if start, _, camera, err := parseShot(s); err == nil && (start == "" || camera < 0) {
			t.Errorf("%q: %q, %d", s, start, camera)
		}
	})
}
