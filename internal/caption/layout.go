package caption

import (
	"math"
	"strings"

	"cutroom"
)

// Layout is cues as they are drawn.
type Layout struct {
	Report Report
	o      Options
	main   Face
	events []event
	cues   []Cue // as they were given
	edge   edge
}

// event is one caption on the screen.
type event struct {
	cue        int // of the cues
	start, end cutroom.Micros
	size       float64 // pixels
	lines      []line
	height     float64 // pixels
	width      float64
	x, y       float64 // where its anchor stands
	stamps     []stamp
}

// line is one line of a caption.
type line struct {
	text     string
	faces    []stretch
	offset   int // where it begins in the text of its cue
	backward bool
}

// text is a cue while it is laid out.
type text struct {
	cue   int
	whole string // on one line
	faces []stretch
	hard  [][2]int // the source's own lines, in whole
	atoms []atom
	need  float64 // least width of MaxLines lines, for a size of 1; 0: not known yet
	tall  float64
	clock *clock
}

// Lay lays cues out. They are in order of their starts, closed and inside the
// recording. The error is missing_dependency where no font draws the text, and invalid
// where the safe area holds no line of it.
func Lay(cues []Cue, fonts Fonts, o Options) (*Layout, error) {
	if len(cues) == 0 {
		return nil, errNothing()
	}
	if o.Width <= 0 || o.Height <= 0 {
		return nil, cutroom.Errorf(cutroom.Internal, "captions need the size of the frame")
	}
	o.MaxLines = max(1, o.MaxLines)
	l := &Layout{o: o, cues: cues}
	l.edge = edge{o.Style.Outline * l.unit(), o.Style.Shadow * l.unit()}
	p, err := newPalette(fonts, cues, &l.o, &l.Report)
	if err != nil {
		return nil, err
	}
	l.main = p.main
	texts := make([]text, 0, len(cues))
	for i := range cues {
		t, err := l.read(i, p)
		if err != nil {
			return nil, err
		}
		if t.whole != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return nil, errNothing()
	}
	size, floor, err := l.sizes(texts)
	if err != nil {
		return nil, err
	}
	l.Report.Cues = len(texts)
	for i := range texts {
		if err := l.set(&texts[i], size, floor); err != nil {
			return nil, err
		}
	}
	if err := l.stack(); err != nil {
		return nil, err
	}
	l.Report.Used = math.Round(l.Report.Pixels/l.unit()*100) / 100
	l.Report.Percent = math.Round(l.Report.Pixels/float64(o.Height)*1000) / 10
	l.Report.Unchanged = l.unchanged()
	return l, nil
}

// read prepares a cue: its text on one line, its faces, where it may break.
func (l *Layout) read(i int, p *palette) (text, error) {
	lines := linesOf(l.cues[i].Text)
	whole, faces, err := p.paint(unbroken(lines))
	if err != nil {
		return text{}, err
	}
	t := text{cue: i, whole: whole, faces: faces, tall: tallest(faces)}
	at := 0
	for _, h := range lines {
		j := strings.Index(whole[at:], h)
		if j < 0 { // an emoji was left out of it
			t.hard = nil
			break
		}
		t.hard = append(t.hard, [2]int{at + j, at + j + len(h)})
		at += j + len(h)
	}
	t.atoms = atomsOf(whole, !l.o.Measured, widthOf(whole, faces))
	return t, nil
}

// need is the least width of the lines of a cue that does not fit a width, for a size
// of 1; 0 when it fits. A tenth more is spent where that saves a phrase.
func (l *Layout) need(t *text, width float64) float64 {
	if n := fewest(t.atoms, width); n > 0 && n <= l.o.MaxLines {
		return 0
	}
	if t.need > 0 {
		return t.need
	}
	t.need = narrowest(t.atoms, l.o.MaxLines)
	limit := 1.1 * t.need
	if n := fewest(t.atoms, limit); n > 1 {
		widest, from := 0.0, 0
		for _, end := range breakLines(t.atoms, n, limit) {
			widest = max(widest, span(t.atoms, from, end))
			from = end
		}
		t.need = max(t.need, widest)
	}
	return t.need
}

// unit is one unit of [Grid] in pixels.
func (l *Layout) unit() float64 { return float64(min(l.o.Width, l.o.Height)) / Grid }

// area is the part of the frame that captions may touch, in pixels.
type area struct{ left, top, right, bottom float64 }

func (l *Layout) area() area {
	w, h, m := float64(l.o.Width), float64(l.o.Height), l.o.Style.Margin*l.unit()
	s := l.o.Safe
	if k := l.o.Style.Position.alignment(); k%3 == 2 { // what is centred stands in the middle of the frame
		s.Left, s.Right = max(s.Left, s.Right), max(s.Left, s.Right)
	}
	return area{max(s.Left*w, m), max(s.Top*h, m), w - max(s.Right*w, m), h - max(s.Bottom*h, m)}
}

// rim is how far what is drawn overhangs the letters: outline, shadow, the box.
func (l *Layout) rim() float64 {
	s := l.o.Style
	r := (s.Outline + s.Shadow) * l.unit()
	if s.Box {
		r = max(r, boxPadding*s.Size*l.unit())
	}
	return math.Ceil(r) + 1
}

// boxPadding is how far a box reaches beyond its text, for a size of 1.
const boxPadding = 0.2

// room is what is left for letters.
func (l *Layout) room() (width, height float64) {
	a, rim := l.area(), l.rim()
	return a.right - a.left - 2*rim, a.bottom - a.top - 2*rim
}

// sizes chooses the size for all cues and the least one, in pixels.
func (l *Layout) sizes(texts []text) (size, floor float64, err error) {
	width, height := l.room()
	asked := l.o.Style.Size * l.unit()
	floor = min(asked, l.o.MinSize*l.unit())
	if !l.o.Fit || floor <= 0 {
		floor = asked
	}
	l.Report.Asked = l.o.Style.Size
	tall := 1.0
	for _, t := range texts {
		tall = max(tall, t.tall)
	}
	size = min(asked, height/(float64(l.o.MaxLines)*tall))
	if size < floor || width < 2*floor {
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the free part of the frame is %.0fx%.0f pixels: it does not hold %d lines of captions %.0f pixels high", max(0, width), max(0, height), l.o.MaxLines, floor).
			WithHint("lower max_lines, size or margin")
	}
	if l.o.Fit && !l.o.PerCue {
		for i := range texts {
			if need := l.need(&texts[i], width/size); need > 0 && need*floor <= width {
				size = min(size, width/need)
			}
		}
	}
	return tidy(size, floor), floor, nil
}

// tidy rounds a size down to half pixels, but not below the floor.
func tidy(size, floor float64) float64 { return max(floor, math.Floor(size*2)/2) }

// set makes the events of one cue.
func (l *Layout) set(t *text, size, floor float64) error {
	width, _ := l.room()
	if l.o.Fit && l.o.PerCue {
		if need := l.need(t, width/size); need > 0 && need*floor <= width {
			size = tidy(width/need, floor)
		}
	}
	if size < l.o.Style.Size*l.unit()-0.5 {
		l.Report.Shrunk++
	}
	if l.Report.Pixels == 0 || size < l.Report.Pixels {
		l.Report.Pixels = size
	}
	limit := width / size
	measure := widthOf(t.whole, t.faces)
	for _, a := range t.atoms {
		if a.width > limit {
			l.Report.Overlong++
		}
	}
	atoms, broken := cut(t.whole, t.atoms, limit, measure)
	l.Report.Broken += broken
	if l.keep(t, size, limit) {
		return nil
	}
	n := fewest(atoms, limit)
	if n == 0 {
		return cutroom.Errorf(cutroom.Invalid, "a character of the captions is wider than the free part of the frame").WithHint("lower size or margin")
	}
	ends := []int{len(atoms)}
	if n > l.o.MaxLines {
		ends = shares(atoms, l.o.MaxLines, limit)
		l.Report.Split++
		l.Report.Exhausted++
	}
	l.tell(t, n)
	from := 0
	for _, end := range ends {
		part := atoms[from:end]
		n := fewest(part, limit)
		lines := breakLines(part, n, limit)
		e := l.event(t, part, size, part[0].from, part[len(part)-1].to)
		at := 0
		for _, b := range lines {
			e.lines = append(e.lines, t.line(part[at].from, part[b-1].to))
			if b < len(part) && part[b-1].penalty < 0 {
				l.Report.Phrase++
			}
			at = b
		}
		l.add(e, t, size)
		from = end
	}
	return nil
}

// keep sets a cue with the source's own lines, where they fit.
func (l *Layout) keep(t *text, size, limit float64) bool {
	if len(t.hard) == 0 || len(t.hard) > l.o.MaxLines {
		return false
	}
	measure := widthOf(t.whole, t.faces)
	for _, h := range t.hard {
		if measure(h[0], h[1]) > limit {
			return false
		}
	}
	e := l.event(t, t.atoms, size, 0, len(t.whole))
	for _, h := range t.hard {
		e.lines = append(e.lines, t.line(h[0], h[1]))
	}
	l.add(e, t, size)
	return true
}

// tell counts how the lines differ from the source's.
func (l *Layout) tell(t *text, lines int) {
	switch {
	case len(t.hard) > 1:
		l.Report.Rebalance++
	case lines > 1:
		l.Report.Wrapped++
	}
}

// event begins the event that shows the bytes from … to of a cue's text.
func (l *Layout) event(t *text, atoms []atom, size float64, from, to int) event {
	c := l.cues[t.cue]
	if t.clock == nil {
		t.clock = newClock(c, t.whole, l.o.Progress)
	}
	e := event{cue: t.cue, start: c.Start, end: c.End, size: size}
	if from > 0 {
		e.start = t.clock.at(from)
	}
	if to < len(t.whole) {
		next := to + len(t.whole[to:]) - len(strings.TrimLeft(t.whole[to:], " \t\u3000"))
		e.end = t.clock.at(next)
	}
	if l.o.Karaoke != nil {
		e.stamps = t.clock.stamps(atoms)
	}
	return e
}

// line is a part of the text as a line, with its direction.
func (t *text) line(from, to int) line {
	ln := line{text: t.whole[from:to], offset: from}
	for _, s := range t.faces {
		if a, b := max(from, s.from), min(to, s.to); a < b {
			ln.faces = append(ln.faces, stretch{a - from, b - from, s.face, s.emoji})
		}
	}
	return ln
}

// add finishes an event: its extent and the direction of its lines.
func (l *Layout) add(e event, t *text, size float64) {
	base := direction(t.whole)
	for i := range e.lines {
		ln := &e.lines[i]
		own := base
		if len(t.hard) > 1 && len(e.lines) == len(t.hard) { // each of the source's lines is a paragraph
			if d := direction(ln.text); d != 0 {
				own = d
			}
		}
		ln.backward = own < 0
		e.width = max(e.width, widthOf(ln.text, ln.faces)(0, len(ln.text))*size)
		e.height += tallest(ln.faces) * size
	}
	if e.end > e.start {
		l.events = append(l.events, e)
	}
}

// Lines is how many lines the captions have in all.
func (l *Layout) Lines() int {
	n := 0
	for i := range l.events {
		n += len(l.events[i].lines)
	}
	return n
}
