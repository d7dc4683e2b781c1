package edl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cutroom"
)

// Moved says what became of the entries that were carried from one timeline to another.
type Moved struct {
	Kept    int // entries with a place
	Dropped int // entries that show nowhere
	Split   int // entries that show in several places
}

func (m *Moved) count(places int) {
	switch {
	case places == 0:
		m.Dropped++
	default:
		m.Kept++
		if places > 1 {
			m.Split++
		}
	}
}

const clock = `(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})`

var (
	timing = regexp.MustCompile(`^\s*` + clock + `\s*-->\s*` + clock + `(.*)$`)
	inText = regexp.MustCompile(`<` + clock + `>`)
)

// block is one cue as it was written: its number or name, its timing, and its lines.
type block struct {
	name     string
	at       Range
	settings string // behind the timing: the place of a WebVTT cue
	text     []string
}

// MoveCues carries the cues of SRT or WebVTT text to another timeline. What a cue says,
// and how it is placed, stays as it was written; only times change, those inside the text
// too. A cue of which nothing shows goes; one that shows in several places is repeated,
// with the whole text each time; one over a part that was cut out stays one cue. SRT is
// numbered anew. Text in which no cue is found is an error.
func MoveCues(text string, move Move) (string, Moved, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
	vtt := strings.HasPrefix(text, "WEBVTT")
	head, cues := blocks(strings.Split(text, "\n"))
	var moved Moved
	if len(cues) == 0 {
		return "", moved, cutroom.Errorf(cutroom.Invalid, "there is no cue in this text").WithHint("give SRT or WebVTT")
	}
	var out []block
	size := 0
	for _, c := range cues {
		places := move(c.at)
		moved.count(len(places))
		for _, p := range places {
			for _, line := range c.text {
				size += len(line)
			}
			if size > maxMoved {
				return "", moved, cutroom.Errorf(cutroom.Limit, "the text shows in so many places that it would be longer than %d MiB", maxMoved>>20).WithHint("carry a part of it at a time")
			}
			n := block{name: c.name, at: p, settings: c.settings}
			for _, line := range c.text {
				n.text = append(n.text, moveInText(line, p, move))
			}
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b block) int { return int(a.at.Start - b.at.Start) })
	var b strings.Builder
	if vtt {
		b.WriteString(strings.TrimRight(strings.Join(head, "\n"), "\n") + "\n\n")
	}
	for i, c := range out {
		c.write(&b, i+1, vtt)
	}
	return b.String(), moved, nil
}

// maxMoved bounds the text of cues that are repeated, in bytes.
const maxMoved = 64 << 20

// blocks finds the cues. What stands before the first is the head; notes between cues
// would lose their place, and go.
func blocks(lines []string) (head []string, cues []block) {
	for i := 0; i < len(lines); i++ {
		m := timing.FindStringSubmatch(lines[i])
		if m == nil {
			if len(cues) == 0 {
				head = append(head, lines[i])
			}
			continue
		}
		c := block{at: Range{clockOf(m[1:5]), clockOf(m[5:9])}, settings: strings.TrimRight(m[9], " \t")}
		if i > 0 && strings.TrimSpace(lines[i-1]) != "" {
			c.name = lines[i-1]
			if len(cues) == 0 && len(head) > 0 {
				head = head[:len(head)-1]
			}
		}
		for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && !timing.MatchString(lines[i+1]) {
			// A number before the next timing belongs to that cue, an empty line or not.
			if i+2 < len(lines) && timing.MatchString(lines[i+2]) && strings.Trim(lines[i+1], "0123456789 ") == "" {
				break
			}
			i++
			c.text = append(c.text, lines[i])
		}
		cues = append(cues, c)
	}
	return head, cues
}

// clockOf reads hours, minutes, seconds and a fraction; the pattern holds digits only.
func clockOf(m []string) cutroom.Micros {
	var n [4]cutroom.Micros
	for i, digits := range m {
		for _, d := range digits {
			n[i] = 10*n[i] + cutroom.Micros(d-'0')
		}
	}
	for range 3 - len(m[3]) {
		n[3] *= 10
	}
	return ((n[0]*60+n[1])*60+n[2])*cutroom.Second + n[3]*1000
}

// moveInText moves the times within a cue's text. One that was cut out is where the next
// that shows would be: it stays within its cue.
func moveInText(line string, within Range, move Move) string {
	return inText.ReplaceAllStringFunc(line, func(tag string) string {
		t := clockOf(inText.FindStringSubmatch(tag)[1:])
		at := within.Start
		for _, r := range move(Range{0, t + 1}) { // everything before it
			if r.Start < within.End && r.End > within.Start {
				at = max(at, min(r.End-1, within.End-1))
			}
		}
		return "<" + stamp(at, '.') + ">"
	})
}

func (c block) write(b *strings.Builder, n int, vtt bool) {
	point := byte(',')
	if vtt {
		point = '.'
		if c.name != "" {
			b.WriteString(c.name + "\n")
		}
	} else {
		fmt.Fprintf(b, "%d\n", n)
	}
	fmt.Fprintf(b, "%s --> %s%s\n", stamp(c.at.Start, point), stamp(max(c.at.End, c.at.Start+1000), point), c.settings)
	for _, line := range c.text {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
}

// stamp writes a time as subtitles do, to the nearest millisecond.
func stamp(t cutroom.Micros, point byte) string {
	ms := (t + 500) / 1000
	return fmt.Sprintf("%02d:%02d:%02d%c%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}
