package graph_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"cutroom/internal/graph"
	"cutroom/internal/testenv"
)

// TestClockRatio: the ratio is exact to 1e-9 and made of whole sampling rates.
func TestClockRatio(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drift := rapid.Float64Range(-0.002, 0.002).Draw(t, "drift")
		r := graph.ClockRatio(drift)
		if r.Num < 1 || r.Den < 1 || r.Num > 1_000_000 || r.Den > 1_000_000 {
			t.Fatalf("%v", r)
		}
		if off := math.Abs(float64(r.Num)/float64(r.Den) - 1 - drift); off > 1e-9 && math.Abs(drift) > 1e-6 {
			t.Fatalf("%v is off by %g of %g", r, off, drift)
		}
	})
	for _, odd := range []float64{math.NaN(), math.Inf(1), -1, -5, 0} {
		if r := graph.ClockRatio(odd); r.Num != 1 || r.Den != 1 {
			t.Errorf("%v: %v", odd, r)
		}
	}
}

// clicks are the times of the samples of a file, in seconds, at which a click begins.
func clicks(t *testing.T, file string) []float64 {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "pcm")
	testenv.FFmpeg(t, "-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "s16le", raw)
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	var at []float64
	last := -48000
	for i := 0; i+1 < len(b); i += 2 {
		if v := int16(binary.LittleEndian.Uint16(b[i:])); (v > 6000 || v < -6000) && i/2-last > 12000 {
			at, last = append(at, float64(i/2)/48000), i/2
		}
	}
	return at
}

// A click and a white frame every second, picture and sound at once.
const clapper = `-f lavfi -i color=black:s=160x120:r=25:d=12,drawbox=color=white:t=fill:enable='lt(mod(t\,1)\,0.04)' -f lavfi -i aevalsrc='0.8*lt(mod(t\,1)\,0.002)':s=48000:d=12 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a pcm_s16le`

// TestLeadAndExactStart: a clip begins behind its lead to the sample, and where it is
// told to begin, frame or not.
func TestLeadAndExactStart(t *testing.T) {
	t.Parallel()
	in := made(t, "in.mov", clapper)
	for name, c := range map[string]struct {
		clip  graph.Clip
		first float64
		n     int
	}{
		"lead":            {graph.Clip{Lead: sec(2.3333)}, 2.3333, 12},
		"exact":           {graph.Clip{Start: sec(3.357), Exact: true}, 4 - 3.357, 8},
		"lead and clock":  {graph.Clip{Lead: sec(0.517), Speed: graph.ClockRatio(500e-6), Resample: true}, 0.517, 12},
		"lead, cut, slow": {graph.Clip{Lead: sec(0.25), Start: sec(2.5), Exact: true, Speed: graph.ClockRatio(-400e-6), Resample: true}, 0.25 + 0.5*1.0004, 9},
	} {
		l := newLab(t, in)
		out, res := l.render(graph.Graph{Clips: []graph.Clip{c.clip}, Picture: &graph.Picture{}, Sound: &graph.Sound{}, Target: graph.Target{File: "out.mov", Container: "mov"}})
		got := clicks(t, out)
		if len(got) != c.n {
			t.Errorf("%s: %d clicks, not %d: %v", name, len(got), c.n, got)
			continue
		}
		speed := 1.0
		if s := c.clip.Speed; s.Known() {
			speed = s.Float()
		}
		for i, at := range got {
			if want := c.first + float64(i)/speed; math.Abs(at-want) > 0.0005 {
				t.Errorf("%s: click %d is at %.5f s, not %.5f s", name, i, at, want)
			}
		}
		seg := res.Map.Segments
		if len(seg) != 1 || seg[0].Start != c.clip.Lead || seg[0].SourceStart != c.clip.Start {
			t.Errorf("%s: the map is %+v", name, seg)
		}
	}
}

// TestReplacedSoundKeepsTime: a sound that takes another's place begins where it is
// told to, and its clock is corrected.
func TestReplacedSoundKeepsTime(t *testing.T) {
	t.Parallel()
	picture := made(t, "in.mp4", av)
	in := made(t, "clicks.mov", clapper)
	for _, offset := range []float64{1.25, -2.125} {
		l := newLab(t, picture, in)
		out, _ := l.render(graph.Graph{
			Clips: []graph.Clip{{}}, Picture: &graph.Picture{Copy: true},
			Sound:  &graph.Sound{Work: &graph.Work{Replace: &graph.Bed{Source: 1, Offset: sec(offset), Speed: graph.ClockRatio(1e-3)}}},
			Target: graph.Target{File: "out.mov", Container: "mov"},
		})
		first := offset
		for first < 0 {
			first += 1 / 1.001
		}
		got := clicks(t, out)
		if len(got) < 2 {
			t.Fatalf("%v", got)
		}
		for i, at := range got {
			if want := first + float64(i)/1.001; math.Abs(at-want) > 0.001 {
				t.Errorf("offset %g: click %d is at %.5f s, not %.5f s", offset, i, at, want)
			}
		}
	}
}
