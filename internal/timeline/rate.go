package timeline

import (
	"math"

	"cutroom/internal/ffmpeg"
)

// rateOf is the exact rate behind a number of frames per second: whole ones, and those of
// NTSC, which are a thousandth slower.
func rateOf(f float64) ffmpeg.Rational {
	if !(f >= 1 && f <= 1000) {
		return ffmpeg.Rational{}
	}
	n := int64(math.Round(f))
	if math.Abs(f-float64(n)) < 1e-4 {
		return ffmpeg.Rational{Num: n, Den: 1}
	}
	n = int64(math.Round(f * 1.001))
	if math.Abs(f-float64(n)*1000/1001) < 0.006 { // 23.98 is one, too
		return ffmpeg.Rational{Num: n * 1000, Den: 1001}
	}
	return Ratio(f, 100_000)
}

// Ratio is the simplest ratio next to f whose denominator is no more than most.
func Ratio(f float64, most int64) ffmpeg.Rational {
	if !(f > 0 && f < 1e9) {
		return ffmpeg.Rational{}
	}
	h0, k0, h1, k1 := int64(0), int64(1), int64(1), int64(0)
	for x := f; ; {
		whole := int64(x)
		h, k := whole*h1+h0, whole*k1+k0
		if k > most || h > 1<<40 {
			break
		}
		h0, k0, h1, k1 = h1, k1, h, k
		if x -= float64(whole); x < 1e-9 || math.Abs(float64(h1)/float64(k1)-f) < 1e-12*f {
			break
		}
		x = 1 / x
	}
	if k1 == 0 {
		return ffmpeg.Rational{}
	}
	return ffmpeg.Rational{Num: h1, Den: k1}
}
