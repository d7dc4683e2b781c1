package cutroom

import (
	"fmt"
	"strings"
)

// Moment is a time in a recording as a caller says it: seconds, mm:ss.mmm,
// hh:mm:ss.mmm, or the SMPTE timecode of a frame, hh:mm:ss:ff or hh:mm:ss;ff
// (drop-frame), perhaps followed by @rate where the recording's own does not hold.
// Only a recording can say when a timecode is. Empty is unset.
type Moment string

// ParseMoment reads a moment. A plain time gets one spelling, so that 1.5 and 00:01.50
// are the same request.
func ParseMoment(s string) (Moment, error) {
	if label, _, _ := strings.Cut(s, "@"); strings.Count(label, ":")+strings.Count(label, ";") == 3 {
		if strings.Trim(s, "0123456789:;@/.") != "" {
			return "", fmt.Errorf("%q is not a timecode: use hh:mm:ss:ff, or hh:mm:ss;ff for drop-frame", s)
		}
		return Moment(s), nil
	}
	m, err := ParseMicros(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a time: use seconds, mm:ss, hh:mm:ss.mmm or a timecode hh:mm:ss:ff", s)
	}
	return Moment(m.String()), nil
}

// Plain returns the time of a moment that is no timecode.
func (m Moment) Plain() (Micros, bool) {
	t, err := ParseMicros(string(m))
	return t, err == nil && m != ""
}
