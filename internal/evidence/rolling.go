package evidence

import (
	"slices"
	"strings"

	"cutroom"
)

// rollingGap is how far apart two cues of one rolling caption can stand.
const rollingGap cutroom.Micros = 200_000

// collapseRolling undoes captions that scroll: each cue repeats the last lines
// of the one before it and adds some (YouTube's automatic captions), or repeats
// it whole and adds words (live captions). Each line is kept once, at the time it
// first appeared, so no word is lost.
//
// A file is only touched when it scrolls throughout, so that a refrain which is
// really said twice stays.
func collapseRolling(cues []caption) []caption {
	rolls, grows, steps, timed := countRolling(cues)
	rolling := rolls >= 2 && rolls*3 >= steps || rolls >= 1 && timed
	growing := grows >= 2 && grows*3 >= steps
	if !rolling && !growing {
		return cues
	}
	out := make([]caption, 0, len(cues))
	for i, cur := range cues {
		if i == 0 || !follows(cues[i-1], cur) {
			out = append(out, cur)
			continue
		}
		before, last := cues[i-1], &out[len(out)-1]
		if growing && grew(before, cur) {
			lines := slices.Clone(trimLines(last.lines))
			grown := trimLines(cur.lines)
			lines[len(lines)-1] = grown[len(grown)-1]
			last.lines, last.end, last.hasEnd = lines, cur.end, cur.hasEnd
			continue
		}
		k := repeated(before, cur)
		if k == 0 || !rolling && k < len(trimLines(cur.lines)) {
			out = append(out, cur)
			continue
		}
		fresh := trimLines(cur.lines)[k:]
		if len(fresh) == 0 { // the same picture, held a little longer
			if cur.hasEnd && cur.end > last.end {
				last.end = cur.end
			}
			continue
		}
		if last.end > cur.start {
			last.end = max(cur.start, last.start)
		}
		cur.lines = fresh
		out = append(out, cur)
	}
	return out
}

// countRolling counts the neighbours in time, and those of them that scroll or
// grow. timed tells whether any word has its own time.
func countRolling(cues []caption) (rolls, grows, steps int, timed bool) {
	for i, cur := range cues {
		for _, l := range cur.lines {
			timed = timed || l.words != nil
		}
		if i == 0 || !follows(cues[i-1], cur) {
			continue
		}
		k := repeated(cues[i-1], cur)
		switch {
		case grew(cues[i-1], cur):
			grows++
			if k > 0 {
				rolls++
			}
		case k > 0 && k < len(trimLines(cur.lines)):
			rolls++
		case k > 0:
			continue // held: says nothing either way
		}
		steps++
	}
	return rolls, grows, steps, timed
}

// follows reports whether b begins while a is shown, or just after it.
func follows(a, b caption) bool {
	return b.start >= a.start && a.hasEnd && b.start <= a.end+rollingGap && a.speaker == b.speaker
}

// trimLines returns the lines that are not blank.
func trimLines(lines []captionLine) []captionLine {
	out := make([]captionLine, 0, len(lines))
	for _, l := range lines {
		if strings.TrimSpace(l.text) != "" {
			out = append(out, l)
		}
	}
	return out
}

// repeated returns how many lines at the start of b are the last lines of a; at
// most four, more than any scrolling caption shows.
func repeated(a, b caption) int {
	al, bl := trimLines(a.lines), trimLines(b.lines)
	for k := min(len(al), len(bl), 4); k > 0; k-- {
		same := true
		for i := range k {
			if strings.TrimSpace(al[len(al)-k+i].text) != strings.TrimSpace(bl[i].text) {
				same = false
				break
			}
		}
		if same {
			return k
		}
	}
	return 0
}

// grew reports whether b is a with words added to its last line.
func grew(a, b caption) bool {
	al, bl := trimLines(a.lines), trimLines(b.lines)
	if len(al) == 0 || len(al) != len(bl) {
		return false
	}
	last := len(al) - 1
	for i := range last {
		if strings.TrimSpace(al[i].text) != strings.TrimSpace(bl[i].text) {
			return false
		}
	}
	x, y := strings.TrimSpace(al[last].text), strings.TrimSpace(bl[last].text)
	return len(y) > len(x) && strings.HasPrefix(y, x) && y[len(x)] == ' '
}
