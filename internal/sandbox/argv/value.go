package argv

import "strings"

// The forms of values, written out by hand: regular expressions compiled at the
// start of every process would cost more than the sandbox's helper.

// only reports whether s has 1 to most characters, each a letter, a digit or one of
// extra.
func only(s, extra string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c-'a' < 26 || c-'A' < 26 || digit(c)
}

func digit(c byte) bool { return c-'0' < 10 }

// digits takes 1 to most digits off the front of s.
func digits(s string, most int) (rest string, ok bool) {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return s[n:], n > 0 && n <= most
}

// isDecimal reports whether s is a plain decimal number: -12.5.
func isDecimal(s string) bool {
	rest, ok := decimalHead(s)
	return ok && rest == ""
}

func decimalHead(s string) (rest string, ok bool) {
	rest, ok = digits(strings.TrimPrefix(s, "-"), 15)
	if ok && strings.HasPrefix(rest, ".") {
		rest, ok = digits(rest[1:], 12)
	}
	return rest, ok
}

// isNumber reports whether s is a decimal number, perhaps with a unit of ffmpeg.
func isNumber(s string) bool {
	rest, ok := decimalHead(s)
	if !ok {
		return false
	}
	switch rest {
	case "", "k", "K", "M", "G", "s", "ms", "us":
		return true
	}
	return false
}

// isWord reports whether s is a word or a list of words: no slash, no blank, no "..",
// and not the look of an option (-1 is none).
func isWord(s string) bool {
	if !only(s, "_+.:,#-", 512) || strings.Contains(s, "..") {
		return false
	}
	return s[0] != '-' || len(s) > 1 && digit(s[1])
}

// isSize reports whether s is 1280x720 or the name of a size.
func isSize(s string) bool {
	if rest, ok := digits(s, 5); ok && strings.HasPrefix(rest, "x") {
		rest, ok = digits(rest[1:], 5)
		return ok && rest == ""
	}
	return only(s, "", 12)
}

// isExpr reports whether s can be an arithmetic expression or a list of ranges. A
// slash divides by a number or a bracket, so that no path looks like one.
func isExpr(s string) bool {
	if !only(s, "_+*/().,:;<>=!%#~ -", 4096) || strings.Contains(s, "..") {
		return false
	}
	if s[0] == '-' && (len(s) == 1 || !digit(s[1]) && s[1] != '(') {
		return false
	}
	for i := range len(s) {
		if s[i] == '/' && (i == 0 || i == len(s)-1 || !digit(s[i+1]) && s[i+1] != '(') {
			return false
		}
	}
	return true
}

// isRatio reports whether s is a number, a ratio (30000/1001, 16:9) or a word.
func isRatio(s string) bool {
	for _, sep := range []string{"/", ":"} {
		if a, b, found := strings.Cut(s, sep); found {
			return isDecimal(a) && isDecimal(b)
		}
	}
	return isDecimal(s) || only(s, "_", 16)
}

// isStreamMap reports whether s is a value of -map (ffmpeg(1)).
func isStreamMap(s string) bool {
	if l := linkLabel(s); l != "" {
		return l == s
	}
	rest, ok := digits(strings.TrimPrefix(s, "-"), 3)
	return ok && (rest == "" || rest == "?" || rest[0] == ':' && only(rest, ":_#?", 64))
}

// linkLabel returns the [label] that s begins with, or "".
func linkLabel(s string) string {
	end := strings.IndexByte(s, ']')
	if end > 1 && s[0] == '[' && only(s[1:end], "_:", 64) {
		return s[:end+1]
	}
	return ""
}

// isLongOption reports whether s is --name or -name of our own children.
func isLongOption(s string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "-")
	return name != s && only(name, "-", 40) && name == strings.ToLower(name) && !digit(name[0]) && name[0] != '-'
}

// head returns the longest beginning of s that is made of letters, digits and extra.
func head(s, extra string) string {
	n := 0
	for n < len(s) && (alphanumeric(s[n]) || strings.IndexByte(extra, s[n]) >= 0) {
		n++
	}
	return s[:n]
}

// SafeName reports whether name can be a file of the private folder: letters, digits,
// dot, dash and underscore, at most 128 characters, beginning with a letter or
// digit; no colon, which would make it a protocol. One %Nd or %0Nd may count frames.
func SafeName(name string) bool {
	if before, after, found := strings.Cut(name, "%"); found {
		after = strings.TrimPrefix(after, "0")
		if len(after) < 2 || after[0] < '1' || after[0] > '9' || after[1] != 'd' {
			return false
		}
		name = before + "0" + after[2:]
	}
	return only(name, "_.-", 128) && alphanumeric(name[0]) && !strings.Contains(name, "..")
}
