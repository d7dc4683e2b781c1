package ffmpeg

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"cutroom"
)

// Moment returns the time on the public axis that m names in this file. A timecode
// counts from the file's own (its timecode track), else from 00:00:00:00, at the rate
// of the video or the one behind its @.
func (d *Document) Moment(m cutroom.Moment) (cutroom.Micros, error) {
	if t, ok := m.Plain(); ok {
		return t, nil
	}
	label, at, own := strings.Cut(string(m), "@")
	code, err := ParseTimecode(label)
	if err != nil {
		return 0, cutroom.Errorf(cutroom.Invalid, "%s", err).WithHint("give seconds, hh:mm:ss.mmm or a timecode")
	}
	rate, known := Rational{}, false
	if v := d.FirstVideo(); v != nil {
		rate, known = v.Video.FrameRate, v.Video.FrameRate.Known()
	}
	if own {
		if rate, known = ParseRate(at); !known {
			return 0, cutroom.Errorf(cutroom.Invalid, "%q is not a frame rate", at).WithHint("write 25, 29.97 or 30000/1001 behind the @")
		}
	}
	if !known {
		return 0, cutroom.Errorf(cutroom.Invalid, "the timecode %s needs a frame rate, and the file has no video to take it from", m).
			WithHint("write it as %s@25, or give seconds", label)
	}
	n, err := code.Count(Base(rate))
	if err != nil {
		return 0, cutroom.Errorf(cutroom.Invalid, "%s", err).WithHint("give a label that a frame has, or seconds")
	}
	if d.Timecode != nil && !own {
		first, err := ParseTimecode(d.Timecode.Start)
		if err == nil {
			if base, err := first.Count(Base(rate)); err == nil {
				n -= base
			}
		}
		if n < 0 {
			return 0, cutroom.Errorf(cutroom.Invalid, "the timecode %s lies before the recording, which begins at %s", m, d.Timecode.Start).
				WithHint("give a timecode from %s on, or seconds from the beginning", d.Timecode.Start)
		}
	}
	num := new(big.Int).Mul(big.NewInt(n), big.NewInt(rate.Den))
	return cutroom.Micros(bigTicks(num.Mul(num, big.NewInt(1_000_000)), big.NewInt(rate.Num), nearest)), nil
}

// Label returns the timecode of the frame that shows at a time of the public axis, where
// the file has a timecode. An error says why it cannot go on counting.
func (d *Document) Label(at cutroom.Micros) (string, error) {
	v := d.FirstVideo()
	if d.Timecode == nil || v == nil || !v.Video.FrameRate.Known() {
		return "", fmt.Errorf("the file has no timecode")
	}
	rate := v.Video.FrameRate
	first, err := ParseTimecode(d.Timecode.Start)
	if err != nil {
		return "", err
	}
	n, err := first.Count(Base(rate))
	if err != nil {
		return "", err
	}
	n += muldiv(int64(max(0, at)), rate.Num, 1_000_000*rate.Den, nearest)
	return TimecodeOf(n, Base(rate), first.Drop).String(), nil
}

// ParseRate reads a frame rate: "25", "30000/1001", or a rounded decimal, which stands
// for the exact rate of the field: 23.976, 23.98 and 29.97 are 24000/1001 and
// 30000/1001.
func ParseRate(s string) (Rational, bool) {
	if r, ok := ParseRational(s); ok {
		return r, r.Known()
	}
	whole, frac, ok := strings.Cut(s, ".")
	if !ok || len(frac) == 0 || len(frac) > 6 {
		return Rational{}, false
	}
	den := int64(1)
	for range frac {
		den *= 10
	}
	r, ok := ParseRational(whole + frac + "/" + big.NewInt(den).String())
	if !ok || r.Num > 1000*r.Den {
		return Rational{}, false
	}
	for _, ntsc := range []int64{24, 30, 48, 60, 120} {
		exact := Rational{ntsc * 1000, 1001}
		if d := exact.Float() - r.Float(); d < 0.006 && d > -0.006 {
			return exact, true
		}
	}
	return r, true
}

// RateOf is a frame rate in frames per second as an exact ratio, as [ParseRate] reads
// it: 29.97 is 30000/1001. Rates below 1 and above 240 are none.
func RateOf(fps float64) (Rational, bool) {
	if !(fps >= 1 && fps <= 240) {
		return Rational{}, false
	}
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(fps, 'f', 6, 64), "0"), ".")
	return ParseRate(s)
}
