package cutroom

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Micros is a time or a length of time in whole microseconds. It is the time of
// the doors: zero is where playback starts. Inside ffmpeg and edl time is
// counted in stream ticks instead, because a frame's start seldom falls on a
// whole microsecond.
type Micros int64

// Second is one second in microseconds.
const Second Micros = 1_000_000

// MaxMicros bounds what a door accepts: 2^53-1 microseconds, the largest integer
// that JSON numbers carry exactly (RFC 8259 section 6), about 285 years.
const MaxMicros Micros = 1<<53 - 1

// ParseMicros reads seconds ("12", "12.5", "1.2e3") or a clock ("1:02.5",
// "01:02:03.004") and rounds to the nearest microsecond, halves away from zero.
// Any number of digits is accepted.
func ParseMicros(s string) (Micros, error) {
	t := strings.TrimSpace(s)
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "…" // what an error repeats
	}
	neg := strings.HasPrefix(t, "-")
	parts := strings.Split(strings.TrimPrefix(t, "-"), ":")
	if len(parts) > 3 {
		return 0, fmt.Errorf("%q is not a time: use seconds, mm:ss or hh:mm:ss.mmm", s)
	}
	var total Micros
	for i, p := range parts {
		last := i == len(parts)-1
		v, err := parseSeconds(p, last && len(parts) == 1)
		if err != nil || (!last && strings.ContainsAny(p, ".eE")) || (i > 0 && v >= 60*Second) {
			return 0, fmt.Errorf("%q is not a time: use seconds, mm:ss or hh:mm:ss.mmm", s)
		}
		if total > MaxMicros/60 {
			return 0, fmt.Errorf("time %q is too large", s)
		}
		total = total*60 + v
	}
	if total > MaxMicros {
		return 0, fmt.Errorf("time %q is too large", s)
	}
	if neg {
		total = -total
	}
	return total, nil
}

// parseSeconds reads one unsigned decimal number of seconds exactly.
func parseSeconds(s string, exponent bool) (Micros, error) {
	mantissa, exp := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || !exponent || n > 40 || n < -40 {
			return 0, strconv.ErrSyntax
		}
		mantissa, exp = s[:i], n
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	// The value is digits × 10^(exp - len(frac)) seconds; shift is the number of
	// its digits that stand before the point of a microsecond count.
	shift := len(whole) + exp + 6
	switch {
	case shift < 0:
		return 0, nil
	case shift > len(digits):
		digits += strings.Repeat("0", shift-len(digits))
	}
	head, tail := strings.TrimLeft(digits[:shift], "0"), digits[shift:]
	if len(head) > 16 {
		return 0, strconv.ErrRange
	}
	var n int64
	for _, c := range head {
		n = n*10 + int64(c-'0')
	}
	if tail != "" && tail[0] >= '5' {
		n++
	}
	return Micros(n), nil
}

// MicrosOf rounds seconds to the nearest microsecond. It is for numbers that are
// floating already (a model's output); exact text goes through [ParseMicros].
func MicrosOf(seconds float64) Micros { return Micros(math.Round(seconds * 1e6)) }

// Seconds returns m as a floating number of seconds.
func (m Micros) Seconds() float64 { return float64(m) / 1e6 }

// String returns m in seconds with at most six decimals and no trailing zeros:
// the form that JSON documents carry.
func (m Micros) String() string {
	sign := ""
	u := uint64(m)
	if m < 0 {
		sign, u = "-", uint64(-m)
	}
	s := fmt.Sprintf("%s%d.%06d", sign, u/1e6, u%1e6)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Clock returns m as h:mm:ss.mmm, for people. Milliseconds are cut, not rounded,
// so that a clock never names a later frame.
func (m Micros) Clock() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	ms := int64(m) / 1000
	return fmt.Sprintf("%s%d:%02d:%02d.%03d", sign, ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// MarshalJSON writes seconds as a JSON number with at most six decimals.
func (m Micros) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads seconds as a JSON number, or a time in a JSON string as
// [ParseMicros] takes it.
func (m *Micros) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(s) >= 2 && s[0] == '"' {
		unquoted, err := strconv.Unquote(s)
		if err != nil {
			return fmt.Errorf("%s is not a time", s)
		}
		s = unquoted
	}
	v, err := ParseMicros(s)
	if err != nil {
		return err
	}
	*m = v
	return nil
}
