package caption

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"cutroom"
)

// ASS is the script that draws the captions, on a grid of the frame's own pixels.
func (l *Layout) ASS() []byte {
	var b bytes.Buffer
	s, u := l.o.Style, l.unit()
	b.WriteString(scriptHead(l.o.Width, l.o.Height))
	primary, secondary := s.Color, s.Color
	if k := l.o.Karaoke; k != nil {
		secondary = orElse(k.Upcoming, s.Color)
		primary = secondary
		if !k.WordOnly {
			primary = k.Highlight
		}
	}
	border, outline, shadow := 1, s.Outline*u, s.Shadow*u
	back := l.seen(0x80) + bgr(s.OutlineBy)
	if s.Box { // libass draws one box behind all lines, and pads it by the shadow
		border, shadow, back = 4, boxPadding*l.Report.Pixels, l.seen(0x40)+bgr(s.OutlineBy)
	}
	l.edge = edge{outline, shadow}
	fmt.Fprintf(&b, "Style: Default,%s,%s,%s,%s,%s,%s,%d,0,0,0,100,100,0,0,%d,%s,%s,%d,0,0,0,-1\n\n", l.main.Family(), decimal(l.Report.Pixels),
		l.seen(0)+bgr(primary), l.seen(0)+bgr(secondary), l.seen(0)+bgr(s.OutlineBy), back, -number01(s.Bold), border, decimal(outline), decimal(shadow), s.Position.alignment())
	b.WriteString(eventsHead)
	for i := range l.events {
		e := &l.events[i]
		fmt.Fprintf(&b, "Dialogue: 0,%s,%s,Default,,0,0,0,,%s\n", assTime(e.start), assTime(e.end), l.text(e))
	}
	return b.Bytes()
}

// scriptHead is what a script has before its styles.
func scriptHead(width, height int) string {
	return fmt.Sprintf("[Script Info]\nScriptType: v4.00+\nPlayResX: %d\nPlayResY: %d\nWrapStyle: 2\nScaledBorderAndShadow: yes\nKerning: yes\nYCbCr Matrix: None\n\n", width, height) +
		"[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n"
}

// eventsHead is what a script has before its events.
const eventsHead = "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"

// seen is how far something is seen through, as the beginning of a colour: of that
// alpha (0 is opaque) where the captions are opaque.
func (l *Layout) seen(alpha int) string {
	if o := l.o.Opacity; o > 0 && o < 1 {
		alpha = 255 - int(math.Round(float64(255-alpha)*o))
	}
	return fmt.Sprintf("&H%02X", alpha)
}

// text is an event's text with its tags.
func (l *Layout) text(e *event) string {
	tags := l.motion(e)
	if e.size != l.Report.Pixels {
		tags += `\fs` + decimal(e.size)
	}
	return "{" + tags + "}" + l.letters(e)
}

// letters is an event's text: its lines, each with the faces that draw it.
func (l *Layout) letters(e *event) string {
	var b strings.Builder
	family := l.main.Family()
	lit := newLighter(l.o.Karaoke, l.o.Style.Color, e)
	for i, ln := range e.lines {
		if i > 0 {
			b.WriteString(`\N`)
		}
		if first := firstStrong(ln.text); ln.backward && first >= 0 {
			b.WriteRune(rightMark)
		} else if !ln.backward && first < 0 {
			b.WriteRune(leftMark)
		}
		for _, s := range ln.faces {
			if f := s.face.Family(); f != family && s.emoji == nil {
				b.WriteString(`{\fn` + f + "}")
				family = f
			}
			from := s.from
			for _, p := range lit.within(ln.offset+s.from, ln.offset+s.to) {
				at := max(s.from, p.offset-ln.offset)
				b.WriteString(escape(ln.text[from:at]))
				b.WriteString(lit.tag(p))
				from = at
			}
			if s.emoji != nil {
				b.WriteString(l.gap(&s, ln.text[s.from:s.to], e.size))
			} else {
				b.WriteString(escape(ln.text[from:s.to]))
			}
		}
	}
	return b.String()
}

// motion is where an event stands and how it comes and goes. It is whole and in place
// but for at most a quarter of its time at each end, and never leaves its place.
func (l *Layout) motion(e *event) string {
	quarter := (e.end - e.start) / 4
	ms := func(most int) int { return min(most, int(quarter/1000)) }
	x, y := decimal(e.x), decimal(e.y)
	place := fmt.Sprintf(`\pos(%s,%s)`, x, y)
	switch {
	case l.o.FadeIn > 0 || l.o.FadeOut > 0:
		return place + fmt.Sprintf(`\fad(%d,%d)`, l.o.FadeIn/1000, l.o.FadeOut/1000)
	case l.o.Animate == Fade:
		return place + fmt.Sprintf(`\fad(%d,%d)`, ms(200), ms(200))
	case l.o.Animate == Pop:
		return place + fmt.Sprintf(`\fscx70\fscy70\t(0,%d,\fscx100\fscy100)\fad(%d,%d)`, ms(140), ms(80), ms(80))
	case l.o.Animate == Slide:
		// Towards the place from the middle of the frame, which is free.
		from := e.y - e.size/2
		if l.o.Style.Position.alignment() >= 7 {
			from = e.y + e.size/2
		}
		return fmt.Sprintf(`\move(%s,%s,%s,%s,0,%d)\fad(%d,%d)`, x, decimal(from), x, y, ms(220), ms(160), ms(160))
	}
	return place
}

// escape makes text safe in an event: nothing in it is a tag or a line end.
func escape(s string) string {
	if !strings.ContainsAny(s, "{}\\\n\r\t\x00") {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '{' || r == '}':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\\': // kept apart from what follows, with which it could be a tag
			b.WriteByte('\\')
			b.WriteRune(wordJoiner)
		case r < ' ':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lighter writes the tags of karaoke.
type lighter struct {
	k      *Karaoke
	color  string
	e      *event
	spoken cutroom.Micros // up to where \k tags have counted
	next   int            // of the stamps
}

func newLighter(k *Karaoke, color string, e *event) *lighter {
	return &lighter{k: k, color: color, e: e, spoken: e.start}
}

// within returns the stamps of the bytes from … to.
func (l *lighter) within(from, to int) []stamp {
	if l.k == nil {
		return nil
	}
	var out []stamp
	for l.next < len(l.e.stamps) && l.e.stamps[l.next].offset < to {
		if s := l.e.stamps[l.next]; s.offset >= from {
			out = append(out, s)
		}
		l.next++
	}
	return out
}

// tag lights the part up that begins at a stamp. The word-only style colours each part
// for its own time; the other one lets libass count on.
func (l *lighter) tag(s stamp) string {
	end := l.e.end
	for _, n := range l.e.stamps {
		if n.offset > s.offset {
			end = n.at
			break
		}
	}
	if l.k.WordOnly {
		base := orElse(l.k.Upcoming, l.color)
		a, z := (s.at-l.e.start)/1000, (end-l.e.start)/1000
		return fmt.Sprintf(`{\1c&H%s&\t(%d,%d,\1c&H%s&)\t(%d,%d,\1c&H%s&)}`, bgr(base), a, a, bgr(l.k.Highlight), z, z, bgr(base))
	}
	// \k counts centiseconds from the event's start; rounding must not add up.
	wait := centi(s.at) - centi(l.spoken)
	length := centi(end) - centi(s.at)
	l.spoken = end
	if wait > 0 {
		return fmt.Sprintf(`{\k%d}{\k%d}`, wait, max(0, length))
	}
	return fmt.Sprintf(`{\k%d}`, max(0, length))
}

func centi(t cutroom.Micros) int64 { return (int64(t) + 5000) / 10_000 }

// assTime writes h:mm:ss.cc, the nearest hundredth.
func assTime(t cutroom.Micros) string {
	c := centi(t)
	return fmt.Sprintf("%d:%02d:%02d.%02d", c/360_000, c/6000%60, c/100%60, c%100)
}

// bgr turns RRGGBB into the order of ASS.
func bgr(c string) string {
	if len(c) != 6 {
		return "FFFFFF"
	}
	return upper(c[4:6] + c[2:4] + c[0:2])
}

func upper(s string) string { return strings.ToUpper(s) }

func decimal(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

func number01(b bool) int {
	if b {
		return 1
	}
	return 0
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// unchanged reads the script back and compares its text with that of the cues.
func (l *Layout) unchanged() bool {
	var given, drawn strings.Builder
	for i := range l.cues {
		given.WriteString(visible(l.cues[i].Text))
	}
	for line := range bytes.Lines(l.ASS()) {
		if t, ok := dialogue(string(line)); ok {
			drawn.WriteString(visible(plain(t)))
		}
	}
	return given.String() == drawn.String()
}

// dialogue returns the text of an event's line.
func dialogue(line string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "Dialogue:")
	if !ok {
		return "", false
	}
	fields := strings.SplitN(rest, ",", 10)
	if len(fields) < 10 {
		return "", false
	}
	return fields[9], true
}

// plain is the text of an event as libass reads it: without tags, escapes resolved.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("Nn", s[i+1]) >= 0:
			b.WriteByte('\n')
			i++
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == 'h':
			b.WriteString("\u00A0")
			i++
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '}'):
			b.WriteByte(s[i+1])
			i++
		case s[i] == '{' && strings.IndexByte(s[i:], '}') > 0:
			tags := s[i+1 : i+strings.IndexByte(s[i:], '}')]
			i += len(tags) + 1
			if comment, _, ok := strings.Cut(tags, `\`); ok && comment != "" { // a picture stands in a gap
				b.WriteString(comment)
				if end := strings.Index(s[i:], `{\p0`); end > 0 {
					i += end - 1
				}
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
