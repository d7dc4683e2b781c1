package ffmpeg

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// stats is what signalstats prints of one picture of ten bits.
func stats(low, p10, avg, p90, high, sat float64) string {
	return fmt.Sprintf("frame:0    pts:0       pts_time:0\nlavfi.signalstats.YMIN=%g\nlavfi.signalstats.YLOW=%g\nlavfi.signalstats.YAVG=%g\nlavfi.signalstats.YHIGH=%g\nlavfi.signalstats.YMAX=%g\nlavfi.signalstats.SATAVG=%g\n",
		low, p10, avg, p90, high, sat)
}

func TestLevels(t *testing.T) {
	t.Parallel()
	flat := stats(150, 240, 400, 560, 640, 40)
	got, err := readLevels(strings.NewReader(flat+stats(140, 260, 420, 580, 650, 60)), false, "")
	want := Levels{Frames: 2, LumaMin: 8.7, LumaLow: 21.2, LumaAverage: 39.5, LumaHigh: 57.8, LumaMax: 66.9, Saturation: 6.9, Log: true, Evidence: got.Evidence}
	if err != nil || got != want || got.Evidence == "" {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"contrast": stats(64, 100, 400, 800, 940, 40), "colours": stats(150, 240, 400, 560, 640, 200), "one colour": stats(400, 400, 400, 400, 400, 0),
		"black": stats(64, 64, 64, 64, 64, 0),
	} {
		if got, err := readLevels(strings.NewReader(text), false, ""); err != nil || got.Log {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, _ := readLevels(strings.NewReader(flat), false, "hlg"); got.Log {
		t.Errorf("HLG is taken for log: %+v", got)
	}
	if got, _ := readLevels(strings.NewReader(stats(0, 0, 512, 1023, 1023, 0)), true, ""); got.LumaMin != 0 || got.LumaMax != 100 {
		t.Errorf("full range: %+v", got)
	}
}

func FuzzLevels(f *testing.F) {
	f.Add(stats(150, 240, 400, 560, 640, 40), false)
	f.Add("lavfi.signalstats.YMIN=NaN\nlavfi.signalstats.YMAX=1e309\n", true)
	f.Fuzz(func(t *testing.T, text string, full bool) {
		l, err := readLevels(strings.NewReader(text), full, "")
		if err != nil {
			return
		}
		for _, v := range []float64{l.LumaMin, l.LumaLow, l.LumaAverage, l.LumaHigh, l.LumaMax, l.Saturation} {
			if math.IsNaN(v) || v < -10 || v > 150 {
				t.Errorf("%+v", l)
			}
		}
	})
}
