package ffmpeg

import (
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"cutroom"
)

// Ticks is a time in units of a stream's time base.
type Ticks int64

// Rational is an exact ratio: a frame rate in frames per second, an aspect ratio,
// or a time base in seconds per tick. The zero value means unknown.
type Rational struct {
	Num, Den int64
}

// ParseRational reads "30000/1001", "64:45" or "25". What has no positive
// denominator, or is not such text, is the zero value and false: ffprobe prints 0/0
// and 1/0 for unknown.
func ParseRational(s string) (Rational, bool) {
	i := strings.IndexAny(s, "/:")
	num, den := s, "1"
	if i >= 0 {
		num, den = s[:i], s[i+1:]
	}
	n, err1 := strconv.ParseInt(num, 10, 64)
	d, err2 := strconv.ParseInt(den, 10, 64)
	if err1 != nil || err2 != nil || d <= 0 || n < 0 {
		return Rational{}, false
	}
	return Rational{n, d}.Reduced(), n > 0
}

// Reduced returns r in lowest terms.
func (r Rational) Reduced() Rational {
	a, b := r.Num, r.Den
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		a = -a
	}
	if a == 0 {
		return r
	}
	return Rational{r.Num / a, r.Den / a}
}

// Known reports whether r is a positive ratio.
func (r Rational) Known() bool { return r.Num > 0 && r.Den > 0 }

// Float returns r as a floating number, 0 when unknown.
func (r Rational) Float() float64 {
	if r.Den == 0 {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// Inverse returns 1/r: the length of a frame from a rate.
func (r Rational) Inverse() Rational { return Rational{r.Den, r.Num} }

// String returns "num/den".
func (r Rational) String() string { return fmt.Sprintf("%d/%d", r.Num, r.Den) }

// MarshalJSON writes "num/den" as a string, null when unknown.
func (r Rational) MarshalJSON() ([]byte, error) {
	if r.Den == 0 {
		return []byte("null"), nil
	}
	return []byte(`"` + r.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Rational) UnmarshalJSON(b []byte) error {
	*r = Rational{}
	if string(b) == "null" {
		return nil
	}
	s, err := strconv.Unquote(string(b))
	if err != nil {
		return fmt.Errorf("%s is not a ratio", b)
	}
	v, ok := ParseRational(s)
	if !ok && v.Den == 0 {
		return fmt.Errorf("%q is not a ratio", s)
	}
	*r = v
	return nil
}

type rounding int

const (
	nearest rounding = iota // halves away from zero
	floor
	ceil
)

// muldiv returns a·b/c rounded. It is exact for every operand, and saturates at the
// limits of int64.
func muldiv(a, b, c int64, mode rounding) int64 {
	if c == 0 {
		return 0
	}
	neg := (a < 0) != (b < 0) != (c < 0)
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	d := magnitude(c)
	if hi >= d {
		if neg {
			return -1 << 63
		}
		return 1<<63 - 1
	}
	q, r := bits.Div64(hi, lo, d)
	switch {
	case r == 0:
	case mode == nearest && r >= d-r:
		q++
	case mode == floor && neg, mode == ceil && !neg:
		q++
	}
	switch {
	case q > 1<<63-1 && neg:
		return -1 << 63
	case q > 1<<63-1:
		return 1<<63 - 1
	case neg:
		return -int64(q)
	}
	return int64(q)
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// bigTicks returns num/den rounded by mode; den is positive.
func bigTicks(num, den *big.Int, mode rounding) Ticks {
	q, r := new(big.Int).DivMod(num, den, new(big.Int)) // Euclidean: 0 ≤ r < den
	up := false
	switch mode {
	case ceil:
		up = r.Sign() > 0
	case nearest:
		up = r.Lsh(r, 1).Cmp(den) >= 0
	}
	if up {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		if q.Sign() < 0 {
			return -1 << 63
		}
		return 1<<63 - 1
	}
	return Ticks(q.Int64())
}

// Micros returns the time of ticks t of time base tb, to the nearest microsecond.
func (t Ticks) Micros(tb Rational) cutroom.Micros {
	if !tb.Known() {
		return 0
	}
	// t·num may exceed 64 bits only with absurd time bases; go through big then.
	if hi, lo := bits.Mul64(uint64(tb.Num), 1_000_000); hi == 0 && lo < 1<<63 {
		return cutroom.Micros(muldiv(int64(t), int64(lo), tb.Den, nearest))
	}
	n := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(tb.Num))
	return cutroom.Micros(bigTicks(n.Mul(n, big.NewInt(1_000_000)), big.NewInt(tb.Den), nearest))
}

// TicksOf returns the tick of time base tb nearest to m.
func TicksOf(m cutroom.Micros, tb Rational) Ticks { return scaled(m, 0, tb, nearest) }

// scaled returns (m µs − half/2 tick) in ticks of tb, rounded.
func scaled(m cutroom.Micros, half int64, tb Rational, mode rounding) Ticks {
	if !tb.Known() {
		return 0
	}
	// m/10^6 s ÷ (num/den s) − half/2 = (2·m·den − half·10^6·num) / (2·10^6·num)
	unit := new(big.Int).Mul(big.NewInt(1_000_000), big.NewInt(tb.Num))
	n := new(big.Int).Mul(big.NewInt(2*tb.Den), big.NewInt(int64(m)))
	if tb.Den > 1<<61 {
		n.Mul(new(big.Int).Lsh(big.NewInt(tb.Den), 1), big.NewInt(int64(m)))
	}
	n.Sub(n, new(big.Int).Mul(big.NewInt(half), unit))
	return bigTicks(n, unit.Lsh(unit, 1), mode)
}

// LastTick returns the largest tick that a frame naming time m can start at: a time
// names the frame whose presentation interval contains m + 1 µs.
func LastTick(m cutroom.Micros, tb Rational) Ticks { return scaled(m+1, 0, tb, floor) }

// TickRange returns the ticks of the frames of the range [a, b): those with
// a − ½ tick − 1 µs ≤ PTS < b − ½ tick − 1 µs. The second value is the first tick
// that is outside.
func TickRange(a, b cutroom.Micros, tb Rational) (from, to Ticks) {
	return scaled(a-1, 1, tb, ceil), scaled(b-1, 1, tb, ceil)
}

// decimal returns m in seconds, as an option takes a time.
func decimal(m cutroom.Micros) string { return m.String() }
