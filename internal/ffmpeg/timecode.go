package ffmpeg

import (
	"fmt"
	"strconv"
	"strings"
)

// Timecode is a label of a frame (SMPTE ST 12-1): hours, minutes, seconds and
// frames. Drop-frame is a numbering of frames, not a rate: two labels (four at 60)
// are left out at the start of each minute that is not a multiple of ten.
type Timecode struct {
	Hour, Minute, Second, Frame int
	Drop                        bool
}

// ParseTimecode reads "hh:mm:ss:ff", or "hh:mm:ss;ff" (also "hh:mm:ss.ff") for
// drop-frame.
func ParseTimecode(s string) (Timecode, error) {
	bad := fmt.Errorf("%q is not a timecode: use hh:mm:ss:ff, or hh:mm:ss;ff for drop-frame", s)
	i := strings.LastIndexAny(s, ":;.")
	if i < 0 {
		return Timecode{}, bad
	}
	parts := append(strings.Split(strings.ReplaceAll(s[:i], ";", ":"), ":"), s[i+1:])
	if len(parts) != 4 {
		return Timecode{}, bad
	}
	var n [4]int
	for k, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || len(p) < 1 || len(p) > 3 || p[0] == '+' || p[0] == '-' {
			return Timecode{}, bad
		}
		n[k] = v
	}
	if n[1] > 59 || n[2] > 59 {
		return Timecode{}, bad
	}
	return Timecode{n[0], n[1], n[2], n[3], s[i] != ':'}, nil
}

// String returns the label with ';' before the frames of drop-frame.
func (t Timecode) String() string {
	sep := ':'
	if t.Drop {
		sep = ';'
	}
	return fmt.Sprintf("%02d:%02d:%02d%c%02d", t.Hour, t.Minute, t.Second, sep, t.Frame)
}

// Base returns the whole number of frames that a timecode second of rate counts:
// 30 for 30000/1001.
func Base(rate Rational) int {
	if !rate.Known() {
		return 0
	}
	return int(muldiv(rate.Num, 1, rate.Den, nearest))
}

// dropped returns how many labels a minute of base leaves out: 2 at 30, 4 at 60.
func dropped(base int) int { return base / 15 }

// Count returns the number of the frame, counted from 00:00:00:00, that t labels at
// base frames per timecode second. A label that drop-frame leaves out is an error.
func (t Timecode) Count(base int) (int64, error) {
	if base <= 0 || t.Frame >= base {
		return 0, fmt.Errorf("timecode %s has no frame %d at %d frames per second", t, t.Frame, base)
	}
	minutes := int64(t.Hour)*60 + int64(t.Minute)
	n := (minutes*60+int64(t.Second))*int64(base) + int64(t.Frame)
	if !t.Drop {
		return n, nil
	}
	d := dropped(base)
	if d == 0 || base%30 != 0 {
		return 0, fmt.Errorf("drop-frame timecode needs 30 or 60 frames per second, not %d", base)
	}
	if t.Minute%10 != 0 && t.Second == 0 && t.Frame < d {
		return 0, fmt.Errorf("timecode %s does not exist: drop-frame leaves it out", t)
	}
	return n - int64(d)*(minutes-minutes/10), nil
}

// TimecodeOf returns the label of frame n, counted from 00:00:00:00; it wraps at 24
// hours. Drop is honoured for bases that are multiples of 30.
func TimecodeOf(n int64, base int, drop bool) Timecode {
	if base <= 0 {
		return Timecode{}
	}
	drop = drop && base%30 == 0
	if drop {
		d := int64(dropped(base))
		minute := int64(base)*60 - d
		ten := minute*10 + d // the tenth minute drops nothing
		n = mod(n, ten*6*24)
		tens, rest := n/ten, n%ten
		n += 9 * d * tens
		if rest >= int64(base)*60 {
			n += d * ((rest-int64(base)*60)/minute + 1)
		}
	}
	b := int64(base)
	n = mod(n, b*86400)
	s := n / b
	return Timecode{int(s / 3600), int(s / 60 % 60), int(s % 60), int(n % b), drop}
}

func mod(a, m int64) int64 { return (a%m + m) % m }
