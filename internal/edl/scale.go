package edl

import (
	"math/bits"

	"cutroom"
)

// scale returns t·a/b to the nearest microsecond, for t, a ≥ 0 and b > 0.
func scale(t, a, b cutroom.Micros) cutroom.Micros {
	if a == b || b <= 0 || t <= 0 || a <= 0 {
		return max(0, t)
	}
	hi, lo := bits.Mul64(uint64(t), uint64(a))
	lo, carry := bits.Add64(lo, uint64(b)/2, 0)
	hi += carry
	if hi >= uint64(b) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(b))
	return cutroom.Micros(min(q, 1<<63-1))
}
