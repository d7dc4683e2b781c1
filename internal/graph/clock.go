package graph

import (
	"fmt"

	"cutroom/internal/ffmpeg"
)

// maxRate bounds the sampling rates that a clock's ratio is made of: ffmpeg's resampler
// counts in 1024ths of a sample with 30 bits.
const maxRate = 1_000_000

// ClockRatio is the speed at which a recording whose clock runs fast by drift (1e-6 is
// one millionth) plays true: the nearest ratio of whole numbers that sampling rates can
// be, off by less than 1e-9. Less than a millionth may be left as it is: that is 4 ms
// an hour.
func ClockRatio(drift float64) ffmpeg.Rational {
	x := 1 + drift
	if !(x > 0.5 && x < 2) {
		return ffmpeg.Rational{Num: 1, Den: 1}
	}
	// Continued fraction: h over k comes nearer with each step.
	h0, k0, h1, k1 := int64(0), int64(1), int64(1), int64(0)
	for rest := x; ; {
		whole := int64(rest)
		h, k := whole*h1+h0, whole*k1+k0
		if h > maxRate || k > maxRate {
			break
		}
		h0, k0, h1, k1 = h1, k1, h, k
		if rest -= float64(whole); rest < 1e-9 {
			break
		}
		if rest = 1 / rest; rest > maxRate {
			break
		}
	}
	return ffmpeg.Rational{Num: h1, Den: k1}
}

// clock is the chain that plays sound of that sampling rate at another speed as a clock
// would, pitch included: its samples are counted as speed's numerator a second and
// resampled to its denominator, which is exact over any length. "" for speed 1.
func clock(speed ffmpeg.Rational, rate int) string {
	s := speed.Reduced()
	if !s.Known() || s.Num == s.Den {
		return ""
	}
	k := max(1, (int64(rate)+s.Num-1)/s.Num)
	return fmt.Sprintf(",asetrate=%d,aresample=%d,asetrate=%d", s.Num*k, s.Den*k, rate)
}
