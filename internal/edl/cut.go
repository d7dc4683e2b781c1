package edl

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
)

// maxCuts bounds what one list may hold; a longer one is no cut list.
const maxCuts = 100_000

// ParseCuts reads a cut list: the parts that are kept, one START-END per line. Empty
// lines and what follows a # say nothing. A time is seconds, mm:ss.mmm or hh:mm:ss.mmm;
// a timecode is resolved by at, and refused where at is nil. Without an END a part goes
// to the end of its source: its End is 0 then. Parts keep the order of their lines and
// may overlap: whoever cuts decides. Errors name the line.
func ParseCuts(text string, at func(cutroom.Moment) (cutroom.Micros, error)) ([]Range, error) {
	var list []Range
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		r, err := parseCut(line, at)
		if err != nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "line %d of the cut list: %s", n, cutroom.AsError(err).Error()).
				WithHint("write one part per line, START-END, such as 1.5-3.25 or 00:01:02.500-00:01:04")
		}
		if list = append(list, r); len(list) > maxCuts {
			return nil, cutroom.Errorf(cutroom.Limit, "the cut list has more than %d parts", maxCuts)
		}
	}
	return list, nil
}

func parseCut(line string, at func(cutroom.Moment) (cutroom.Micros, error)) (r Range, err error) {
	from, to, ok := strings.Cut(strings.Replace(line, "-->", "-", 1), "-")
	if !ok {
		return r, invalid("%q has no END", clip(line))
	}
	if r.Start, err = moment(from, at); err != nil {
		return r, err
	}
	if strings.TrimSpace(to) == "" {
		return r, nil
	}
	if r.End, err = moment(to, at); err != nil {
		return r, err
	}
	if r.End <= r.Start {
		return r, invalid("%s s does not lie after %s s", r.End, r.Start)
	}
	return r, nil
}

func moment(text string, at func(cutroom.Moment) (cutroom.Micros, error)) (cutroom.Micros, error) {
	m, err := cutroom.ParseMoment(strings.TrimSpace(text))
	if err != nil {
		return 0, invalid("%q is not a time", clip(strings.TrimSpace(text)))
	}
	if t, ok := m.Plain(); ok {
		if t < 0 {
			return 0, invalid("%q lies before the beginning", clip(text))
		}
		return t, nil
	}
	if at == nil {
		return 0, invalid("%q is a timecode, and no recording says when it is", clip(string(m)))
	}
	return at(m)
}

func invalid(format string, args ...any) error {
	return cutroom.Errorf(cutroom.Invalid, format, args...)
}

// clip keeps what an error repeats short.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// FormatCuts writes a cut list as [ParseCuts] reads it: seconds with three decimals, six
// where three would say another time.
func FormatCuts(list []Range) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString(seconds(r.Start))
		b.WriteByte('-')
		if r.End > 0 {
			b.WriteString(seconds(r.End))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func seconds(t cutroom.Micros) string {
	if t%1000 == 0 {
		return fmt.Sprintf("%d.%03d", t/cutroom.Second, t%cutroom.Second/1000)
	}
	return fmt.Sprintf("%d.%06d", t/cutroom.Second, t%cutroom.Second)
}

// Merge sorts ranges and joins those that overlap or touch; empty ones go.
func Merge(list []Range) []Range {
	list = slices.DeleteFunc(slices.Clone(list), func(r Range) bool { return r.End <= r.Start })
	slices.SortFunc(list, func(a, b Range) int { return int(a.Start - b.Start) })
	out := list[:0]
	for _, r := range list {
		if n := len(out) - 1; n >= 0 && r.Start <= out[n].End {
			out[n].End = max(out[n].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Without returns what of the whole lies in none of the ranges, in order.
func Without(whole Range, list []Range) []Range {
	var out []Range
	at := whole.Start
	for _, r := range Merge(list) {
		if r.Start > at {
			out = append(out, Range{at, min(r.Start, whole.End)})
		}
		if at = max(at, r.End); at >= whole.End {
			break
		}
	}
	if at < whole.End {
		out = append(out, Range{at, whole.End})
	}
	return slices.DeleteFunc(out, func(r Range) bool { return r.End <= r.Start })
}

// Total is the length of all ranges together.
func Total(list []Range) (sum cutroom.Micros) {
	for _, r := range list {
		sum += r.End - r.Start
	}
	return sum
}
