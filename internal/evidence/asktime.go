package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// namedTime is a time or a range that a question names. slack is how fast
// relevance fades outside it.
type namedTime struct {
	from, to cutroom.Micros
	slack    cutroom.Micros
	words    string
}

var (
	clockPattern  = regexp.MustCompile(`\b\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?`)
	lengthPattern = regexp.MustCompile(`(?i)(\d+(?:[.,]\d+)?)\s*(?:-?(?:я|й|ой|ю|th|st|nd|rd)\s*)?(hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|час\p{Cyrillic}*|мин\p{Cyrillic}*|сек\p{Cyrillic}*|小时|分钟|分|秒)(?:$|[^\p{L}\d])`)
	edgePattern   = regexp.MustCompile(`(?i)\b(?:first|last)\s*$`)
	afterPattern  = regexp.MustCompile(`(?i)(?:\b(?:after|since|from)|(?:^|\s)(?:после|с))\s*$`)
	beforePattern = regexp.MustCompile(`(?i)(?:\b(?:before|until|by)|(?:^|\s)(?:до|перед))\s*$`)
	rangePattern  = regexp.MustCompile(`(?i)^\s*(?:and|to|until|-|–|—|и|до)\s*$`)
	beginPattern  = regexp.MustCompile(`(?i)\bat the (?:very )?(?:beginning|start)\b|\bbegin(?:s|ning)? of\b|в начале`)
	endPattern    = regexp.MustCompile(`(?i)\bat the (?:very )?end\b|\bend of\b|в конце`)
	numberWord    = regexp.MustCompile(`(?i)\b(one|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|thirty|forty|fifty|sixty|ninety)\s+(?:seconds?|minutes?|hours?)\b`)
)

// mention is a time in the question, and where its words stand.
type mention struct {
	at       cutroom.Micros
	from, to int
}

// namedTimes finds the times that a question names and returns the question
// without them.
func namedTimes(question string, duration cutroom.Micros) (named []namedTime, rest string) {
	q := numberWord.ReplaceAllStringFunc(question, digitsFor)
	mentions := findMentions(q)
	kept := []byte(q)
	for i := 0; i < len(mentions); i++ {
		m := mentions[i]
		blank(kept, m.from, m.to)
		before, words := q[:m.from], q[m.from:m.to]
		n := namedTime{from: m.at, to: m.at, slack: 5 * cutroom.Second}
		edge := strings.ToLower(strings.TrimSpace(edgePattern.FindString(before)))
		switch {
		case i+1 < len(mentions) && rangePattern.MatchString(q[m.to:mentions[i+1].from]) && m.at < mentions[i+1].at:
			i++
			blank(kept, mentions[i].from, mentions[i].to)
			n.to, words = mentions[i].at, q[m.from:mentions[i].to]
		case edge == "first":
			n.from, words = 0, edge+" "+words
		case edge == "last":
			n.from, n.to, words = max(0, duration-m.at), duration, edge+" "+words
		case afterPattern.MatchString(before):
			n.to, words = max(duration, m.at), "after "+words
		case beforePattern.MatchString(before):
			n.from, words = 0, "before "+words
		}
		n.words = strings.TrimSpace(words)
		named = append(named, n)
	}
	tenth := min(max(duration/10, cutroom.Second), 30*cutroom.Second)
	if loc := beginPattern.FindStringIndex(q); loc != nil {
		blank(kept, loc[0], loc[1])
		named = append(named, namedTime{to: tenth, slack: 3 * cutroom.Second, words: "the beginning"})
	}
	if loc := endPattern.FindStringIndex(q); loc != nil {
		blank(kept, loc[0], loc[1])
		named = append(named, namedTime{from: max(0, duration-tenth), to: duration, slack: 3 * cutroom.Second, words: "the end"})
	}
	return named, string(kept)
}

func blank(b []byte, from, to int) {
	for i := from; i < to; i++ {
		b[i] = ' '
	}
}

// digitsFor writes the number word of a length in digits ("two minutes").
func digitsFor(s string) string {
	word, unit, _ := strings.Cut(s, " ")
	word = strings.ToLower(word)
	for n := range 100 {
		if w := numberWords(n); len(w) == 1 && w[0] == word {
			return strconv.Itoa(n) + " " + unit
		}
	}
	return s
}

// findMentions finds clocks ("1:02:03") and lengths ("40 seconds", "2 min 30 s"),
// in their order. Lengths that follow each other are added up.
func findMentions(q string) []mention {
	var out []mention
	for _, loc := range clockPattern.FindAllStringIndex(q, -1) {
		if at, err := cutroom.ParseMicros(strings.Replace(q[loc[0]:loc[1]], ",", ".", 1)); err == nil {
			out = append(out, mention{at, loc[0], loc[1]})
		}
	}
	var last rune
	for from := 0; from < len(q); {
		loc := lengthPattern.FindStringSubmatchIndex(q[from:])
		if loc == nil {
			break
		}
		number, unit := q[from+loc[2]:from+loc[3]], unitOf(q[from+loc[4]:from+loc[5]])
		m := mention{from: from + loc[2], to: from + loc[5]}
		from += loc[5]
		v, err := cutroom.ParseMicros(strings.Replace(number, ",", ".", 1))
		scale := map[rune]cutroom.Micros{'h': 3600, 'm': 60, 's': 1}[unit]
		if err != nil || v > cutroom.MaxMicros/3600 || slices.ContainsFunc(out, func(o mention) bool { return m.from < o.to && o.from < m.to }) {
			continue // too large, or a part of a clock
		}
		m.at = v * scale
		if n := len(out); n > 0 && smaller(unit, last) && strings.Trim(q[out[n-1].to:max(out[n-1].to, m.from)], " ,and") == "" && out[n-1].to <= m.from {
			out[n-1].at += m.at
			out[n-1].to = m.to
		} else {
			out = append(out, m)
		}
		last = unit
	}
	sortMentions(out)
	return out
}

// unitOf reduces a unit of time to h, m or s.
func unitOf(s string) rune {
	switch r := firstRune(strings.ToLower(s)); r {
	case 'h', 'ч', '小':
		return 'h'
	case 'm', 'м', '分':
		return 'm'
	}
	return 's'
}

// smaller reports whether unit a can follow unit b in one length.
func smaller(a, b rune) bool {
	return strings.IndexRune("hms", a) > strings.IndexRune("hms", b) && b != 0
}

func sortMentions(m []mention) {
	slices.SortFunc(m, func(a, b mention) int { return cmp.Compare(a.from, b.from) })
}
