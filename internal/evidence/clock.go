package evidence

import (
	"strings"

	"cutroom"
)

// timing is the time line of a cue.
type timing struct {
	start, end cutroom.Micros
	startOK    bool
	endOK      bool
	negative   bool
	bracket    bool   // "[a --> b] text"
	rest       string // what follows the end: cue settings, or text
}

// parseTiming reads "a --> b rest" and "[a --> b] rest". ok is false when the
// line is not meant as a time line at all; a line that is meant as one but cannot
// be read has startOK or endOK false.
func parseTiming(line string) (t timing, ok bool) {
	i := strings.Index(line, "-->")
	if i < 0 {
		return timing{}, false
	}
	left, right := strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+3:])
	if after, found := strings.CutPrefix(left, "["); found {
		if j := strings.IndexByte(right, ']'); j >= 0 {
			t.bracket, t.rest = true, right[j+1:]
			left, right = strings.TrimSpace(after), strings.TrimSpace(right[:j])
		}
	}
	start, n, neg := clock(left)
	t.start, t.negative = start, neg
	t.startOK = n > 0 && n == len(left)
	end, n, _ := clock(right)
	t.end = end
	t.endOK = n > 0 && (n == len(right) || right[n] == ' ' || right[n] == '\t')
	if t.endOK && !t.bracket {
		t.rest = right[n:]
	}
	if !t.startOK && !timeLike(left) {
		return timing{}, false
	}
	return t, true
}

// timeLike reports whether s was meant as a time: short, begins with a digit and
// has a colon.
func timeLike(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && len(s) <= 24 && s[0] >= '0' && s[0] <= '9' && strings.Contains(s, ":")
}

// clock reads [h:]mm:ss[.,]fraction, and the h:mm:ss:mmm that some writers
// produce, from the start of s. n is the number of bytes read, 0 when there is no
// time. Minutes may exceed 59 when there are no hours ("61:01"). A negative time
// is zero, and said.
func clock(s string) (v cutroom.Micros, n int, negative bool) {
	digits, negative := strings.CutPrefix(s, "-")
	g, count, i := clockGroups(digits)
	frac, width := fraction(digits[i:])
	if count == 4 {
		if g[3].width != 3 || width > 0 {
			return 0, 0, false
		}
		frac = g[3].value * 1000
	}
	h, m, sec := group{}, g[0], g[1]
	if count > 2 {
		h, m, sec = g[0], g[1], g[2]
	}
	switch {
	case count < 2, sec.value > 59, sec.width > 2, count > 2 && m.value > 59:
		return 0, 0, false
	case count == 2 && sec.width != 2 && width == 0: // "3:4" is a ratio
		return 0, 0, false
	}
	n = len(s) - len(digits) + i + width
	if negative {
		return 0, n, true
	}
	return cutroom.Micros((h.value*3600+m.value*60+sec.value)*1_000_000 + frac), n, false
}

// group is one number of a clock and how many digits it has.
type group struct {
	value int64
	width int
}

// clockGroups reads up to four numbers with colons between them. n is the number
// of bytes read.
func clockGroups(s string) (g [4]group, count, n int) {
	for count < 4 {
		i := n
		for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-n < 7 {
			g[count].value = g[count].value*10 + int64(s[i]-'0')
			i++
		}
		g[count].width = i - n
		if i == n {
			return g, 0, 0
		}
		count, n = count+1, i
		if n >= len(s) || s[n] != ':' {
			break
		}
		if count < 4 {
			n++
		}
	}
	return g, count, n
}

// fraction reads a point or comma and decimals. width is the number of bytes read.
func fraction(s string) (v int64, width int) {
	if len(s) < 2 || s[0] != '.' && s[0] != ',' {
		return 0, 0
	}
	from := 1
	for from < 3 && from < len(s) && s[0] == ',' && s[from] == ' ' {
		from++ // "00:00:01, 500"
	}
	to := from
	for to < len(s) && s[to] >= '0' && s[to] <= '9' {
		to++
	}
	if to == from {
		return 0, 0
	}
	return micros(s[from:to]), to
}

// micros reads decimals behind a point as microseconds, rounded.
func micros(digits string) int64 {
	v, place := int64(0), int64(100_000)
	for i := 0; i < len(digits); i++ {
		d := int64(digits[i] - '0')
		if place == 0 {
			if d >= 5 {
				v++
			}
			break
		}
		v += d * place
		place /= 10
	}
	return v
}
