package timeline

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// The comments that carry what a list in CMX 3600 form has no place for. The first two
// are common; the rest are ours.
const (
	fromClip    = "* FROM CLIP NAME:"
	toClip      = "* TO CLIP NAME:"
	sourceFile  = "* SOURCE FILE:"
	commentRate = "* FRAME RATE:"
	commentSize = "* FRAME SIZE:"
	commentRun  = "* SPEED:"
	commentFrom = "* SOURCE STARTS:"
	commentLong = "* SOURCE FRAMES:"
	commentMark = "* LOC:"
)

// writeEDL writes a list of events. A dissolve begins with its event: the clip before
// ends where it begins, and goes on beneath it.
func writeEDL(t *Timeline) ([]byte, Lost, error) {
	var b strings.Builder
	var lost Lost
	fmt.Fprintf(&b, "TITLE: %s\nFCM: %s\n%s %s\n", clip70(line(t.Name)), map[bool]string{true: "DROP FRAME", false: "NON-DROP FRAME"}[t.Drop], commentRate, t.Rate)
	if t.Width > 0 && t.Height > 0 {
		fmt.Fprintf(&b, "%s %dx%d\n", commentSize, t.Width, t.Height)
	}
	at, total := t.Places()
	if len(t.Clips) > 999 {
		return nil, nil, cutroom.Errorf(cutroom.Invalid, "a CMX 3600 list has at most 999 events, and the timeline %d clips", len(t.Clips)).WithHint("export it as .otio or .fcpxml")
	}
	if day := int64(t.base()) * 86400; t.Start+total > day {
		return nil, nil, cutroom.Errorf(cutroom.Invalid, "the timeline goes past 24 hours, where timecode begins again").WithHint("export it as .otio or .fcpxml")
	}
	reels := reelsOf(t.Sources)
	if n := t.Clips[0].Lead; n > 0 {
		fmt.Fprintf(&b, "000  BL       V     C        %s %s %s %s\n", t.label(0), t.label(n), t.label(t.Start), t.label(t.Start+n))
	}
	for i, c := range t.Clips {
		writeEvent(&b, &lost, t, i, at, reels)
		if s := c.speed(); s != one {
			fmt.Fprintf(&b, "M2   %-8s       %05.1f                %s\n%s %s\n", reels[c.Source], t.Rate.Float()*s.Float(), t.label(c.In), commentRun, s)
		}
		writeNames(&b, t, i)
	}
	for _, m := range t.Marks {
		color := "RED   "
		if m.Chapter {
			color = "GREEN "
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", commentMark, t.label(t.Start+m.At), color, line(m.Title))
	}
	for _, bed := range t.Beds {
		lost.add("the sound %s beneath the clips", nameOf(t.Sources[bed.Source].Path))
	}
	return []byte(b.String()), lost, nil
}

// writeEvent writes the lines of clip i's event.
func writeEvent(b *strings.Builder, lost *Lost, t *Timeline, i int, at []int64, reels []string) {
	c := t.Clips[i]
	channel := "V"
	if s := t.Sources[c.Source]; s.Audio && s.Video {
		channel = "AA/V"
	} else if s.Audio {
		channel = "AA"
	}
	length := c.Length
	if i+1 < len(t.Clips) {
		length -= t.Clips[i+1].Enter.Length
	}
	span := func(in, n, where int64) string {
		return fmt.Sprintf("%s %s %s %s", t.label(in), t.label(in+n), t.label(t.Start+where), t.label(t.Start+where+n))
	}
	kind := "C        "
	if c.Enter.Length > 0 {
		kind = fmt.Sprintf("D    %03d ", c.Enter.Length)
		if c.Enter.Kind != "" && c.Enter.Kind != "fade" {
			lost.add("the transition %s is written as a dissolve", c.Enter.Kind)
		}
		p := t.Clips[i-1]
		out := p.In + times(p.Length-c.Enter.Length, p.speed())
		fmt.Fprintf(b, "%03d  %-8s %-4s  C        %s\n", i+1, reels[p.Source], channel, span(out, 0, at[i]))
	}
	source := times(length, c.speed())
	fmt.Fprintf(b, "%03d  %-8s %-4s  %s%s %s %s %s\n", i+1, reels[c.Source], channel, kind,
		t.label(c.In), t.label(c.In+source), t.label(t.Start+at[i]), t.label(t.Start+at[i]+length))
}

// writeNames writes what the event's source is called.
func writeNames(b *strings.Builder, t *Timeline, i int) {
	c := t.Clips[i]
	s := t.Sources[c.Source]
	if c.Enter.Length > 0 {
		fmt.Fprintf(b, "%s %s\n%s %s\n", fromClip, label(t.Sources[t.Clips[i-1].Source]), toClip, label(s))
	} else {
		fmt.Fprintf(b, "%s %s\n", fromClip, label(s))
	}
	fmt.Fprintf(b, "%s %s\n", sourceFile, line(s.Path))
	if s.Start > 0 {
		fmt.Fprintf(b, "%s %s\n", commentFrom, t.label(s.Start))
	}
	if s.Length > 0 {
		fmt.Fprintf(b, "%s %d\n", commentLong, s.Length)
	}
}

func label(s Source) string {
	if s.Name != "" {
		return line(s.Name)
	}
	return nameOf(s.Path)
}

// clip70 keeps a title as short as the form allows.
func clip70(s string) string {
	if r := []rune(s); len(r) > 70 {
		return string(r[:70])
	}
	return s
}

// reelsOf are names of eight capitals and digits, each its own.
func reelsOf(sources []Source) []string {
	reels := make([]string, len(sources))
	seen := map[string]bool{"AX": true, "BL": true}
	for i, s := range sources {
		name := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return r - 'a' + 'A'
			case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.TrimSuffix(nameOf(s.Path), path.Ext(s.Path)))
		name = name[:min(8, len(name))]
		for n := i + 1; name == "" || seen[name]; n++ {
			tail := strconv.Itoa(n)
			name = ("REEL" + name)[:min(8-len(tail), 4+len(name))] + tail
		}
		seen[name] = true
		reels[i] = name
	}
	return reels
}

// edlReader reads a list, line by line.
type edlReader struct {
	t      *Timeline
	shelf  shelf
	total  int64 // where the last clip ends
	lost   Lost
	events []edlEvent
}

// edlEvent is one event, with the comments behind it.
type edlEvent struct {
	reel, channel    string
	kind             string // C, D, W…
	length           int64
	in, out, at, end int64
	from, to, file   string
	speed            ffmpeg.Rational
	start, long      int64
}

func readEDL(text []byte, rate ffmpeg.Rational) (*Timeline, Lost, error) {
	r := &edlReader{t: &Timeline{Rate: rate}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	// The rate says how labels count, so it is looked for first.
	var all []string
	for lines.Scan() {
		s := strings.ToValidUTF8(strings.TrimRight(lines.Text(), "\r \t"), "")
		all = append(all, s)
		if v, ok := strings.CutPrefix(s, commentRate); ok {
			if own, ok := ffmpeg.ParseRational(strings.TrimSpace(v)); ok {
				r.t.Rate = own
			}
		}
		if strings.HasPrefix(s, "FCM:") && !strings.Contains(s, "NON") && strings.Contains(s, "DROP") {
			r.t.Drop = true
		}
	}
	if lines.Err() != nil {
		return nil, nil, bad("the list has lines of more than a megabyte")
	}
	if r.t.Drop && !r.t.Rate.Known() {
		r.t.Rate = ffmpeg.Rational{Num: 30000, Den: 1001}
	}
	if !r.t.Rate.Known() {
		return nil, nil, cutroom.Errorf(cutroom.Invalid, "a CMX 3600 list states no frame rate").WithHint("give fps, such as 25 or 23.976")
	}
	if r.t.Rate.Float() < 1 || r.t.Rate.Float() > 1000 {
		return nil, nil, bad("the list's frame rate is not between 1 and 1000")
	}
	if r.t.Drop && r.t.base()%30 != 0 {
		return nil, nil, bad("drop-frame needs 30 or 60 frames per second")
	}
	for n, s := range all {
		if err := r.line(s); err != nil {
			return nil, nil, bad("line %d: %s", n+1, err)
		}
		if len(r.events) > 2*maxClips {
			return nil, nil, bad("the list has too many events")
		}
	}
	if err := r.build(); err != nil {
		return nil, nil, err
	}
	return r.t, r.lost, nil
}

// line reads one line.
func (r *edlReader) line(s string) error {
	var last *edlEvent
	if n := len(r.events); n > 0 {
		last = &r.events[n-1]
	}
	value := func(prefix string) (string, bool) {
		v, ok := strings.CutPrefix(s, prefix)
		return line(v), ok
	}
	switch {
	case s == "":
		return nil
	case strings.HasPrefix(s, "TITLE:"):
		r.t.Name, _ = value("TITLE:")
		return nil
	case strings.HasPrefix(s, "FCM:"), strings.HasPrefix(s, commentRate):
		return nil
	case strings.HasPrefix(s, commentSize):
		v, _ := value(commentSize)
		w, h, _ := strings.Cut(v, "x")
		r.t.Width, r.t.Height = min(number(w), 16384), min(number(h), 16384)
		return nil
	case strings.HasPrefix(s, commentMark):
		return r.mark(strings.TrimPrefix(s, commentMark))
	case strings.HasPrefix(s, "M2"):
		return r.motion(last, strings.Fields(s))
	case strings.HasPrefix(s, "*"):
		if last != nil {
			r.comment(last, s)
		}
		return nil
	case s[0] >= '0' && s[0] <= '9':
		return r.event(strings.Fields(s))
	}
	word, _, _ := strings.Cut(s, " ")
	r.lost.add("a line that begins with %q", word)
	return nil
}

// comment reads what is said about the event before it.
func (r *edlReader) comment(e *edlEvent, s string) {
	for _, c := range []struct {
		prefix string
		to     *string
	}{{fromClip, &e.from}, {toClip, &e.to}, {sourceFile, &e.file}} {
		if v, ok := strings.CutPrefix(s, c.prefix); ok {
			*c.to = line(v)
			return
		}
	}
	if v, ok := strings.CutPrefix(s, commentRun); ok {
		if sp, ok := ffmpeg.ParseRational(strings.TrimSpace(v)); ok {
			e.speed = sp
		}
	}
	if v, ok := strings.CutPrefix(s, commentFrom); ok {
		e.start, _ = r.count(strings.TrimSpace(v))
	}
	if v, ok := strings.CutPrefix(s, commentLong); ok {
		e.long, _ = strconv.ParseInt(strings.TrimSpace(v), 10, 40)
		e.long = max(0, e.long)
	}
}

// count is the number of the frame with a label.
func (r *edlReader) count(s string) (int64, error) {
	tc, err := ffmpeg.ParseTimecode(s)
	if err != nil {
		return 0, err
	}
	tc.Drop = r.t.Drop
	if tc.Hour > 24 {
		return 0, fmt.Errorf("the timecode %s lies past 24 hours", s)
	}
	return tc.Count(r.t.base())
}

// event reads the line of an event: number, reel, channels, transition, four labels.
func (r *edlReader) event(f []string) error {
	if len(f) < 8 {
		return fmt.Errorf("an event has a number, a reel, channels, a transition and four timecodes")
	}
	e := edlEvent{reel: f[1], channel: f[2], kind: strings.ToUpper(f[3])}
	if n := len(f) - 5; e.kind != "C" && n >= 4 {
		length, err := strconv.ParseInt(f[n], 10, 32)
		if err != nil || length < 0 {
			return fmt.Errorf("the transition %s has no length", e.kind)
		}
		e.length = length
	}
	for i, to := range []*int64{&e.in, &e.out, &e.at, &e.end} {
		n, err := r.count(f[len(f)-4+i])
		if err != nil {
			return err
		}
		*to = n
	}
	if e.out < e.in || e.end < e.at {
		return fmt.Errorf("the event ends before it begins")
	}
	r.events = append(r.events, e)
	return nil
}

// motion reads a change of speed; a comment of ours says it exactly.
func (r *edlReader) motion(e *edlEvent, f []string) error {
	if e == nil || len(f) < 3 {
		return nil
	}
	fps, err := strconv.ParseFloat(f[2], 64)
	if err != nil {
		return fmt.Errorf("the speed %q is no number", f[2])
	}
	if fps <= 0 {
		r.lost.add("a clip that is frozen or plays backwards: it plays as it was recorded")
		return nil
	}
	e.speed = Ratio(fps/r.t.Rate.Float(), 100)
	return nil
}

func (r *edlReader) mark(s string) error {
	f := strings.Fields(s)
	if len(f) == 0 {
		return nil
	}
	n, err := r.count(f[0])
	if err != nil {
		return err
	}
	m := Mark{At: n}
	if len(f) > 1 {
		m.Chapter = f[1] == "GREEN"
		_, rest, _ := strings.Cut(s, f[1])
		m.Title = line(rest)
	}
	r.t.Marks = append(r.t.Marks, m)
	return nil
}

// build makes clips of the events.
func (r *edlReader) build() error {
	first := true
	for i := 0; i < len(r.events); i++ {
		e := r.events[i]
		switch {
		case !strings.Contains(e.channel, "V") && !strings.HasPrefix(e.channel, "B") && !strings.HasPrefix(e.channel, "AA"):
			r.lost.add("an event of channel %s alone", e.channel)
			continue
		case e.end == e.at: // what a dissolve comes from
			continue
		}
		if first {
			r.t.Start, first = e.at, false
		}
		if e.reel == "BL" {
			continue // what comes next says by its place how long it is black
		}
		if err := r.clip(e); err != nil {
			return err
		}
	}
	if len(r.t.Clips) == 0 {
		return bad("the list has no event with a picture")
	}
	r.t.Sources = r.shelf.list
	for i := range r.t.Marks {
		r.t.Marks[i].At -= r.t.Start
	}
	return nil
}

// clip adds the clip of an event.
func (r *edlReader) clip(e edlEvent) error {
	c := Clip{In: e.in, Length: e.end - e.at, Lead: e.at - r.t.Start - r.total}
	if c.Lead < 0 {
		return bad("the events of the list overlap, or are not in order")
	}
	if e.speed.Known() && e.speed.Reduced() != one {
		c.Speed = e.speed.Reduced()
	} else if n := e.out - e.in; n != c.Length && n > 0 {
		c.Speed = ffmpeg.Rational{Num: n, Den: c.Length}.Reduced()
	}
	if e.kind != "C" && e.length > 0 {
		if e.kind[0] != 'D' {
			r.lost.add("the wipe %s is read as a dissolve", e.kind)
		}
		switch {
		case len(r.t.Clips) == 0 || c.Lead > 0:
			r.lost.add("a transition from black")
		case e.length >= c.Length:
			return bad("a dissolve is as long as its clip")
		default:
			c.Enter = Transition{Kind: "fade", Length: e.length}
			r.t.Clips[len(r.t.Clips)-1].Length += e.length // it goes on beneath
		}
	}
	s := Source{Path: pathOf(hrefOf(e.file)), Name: e.from, Start: e.start, Length: e.long, Video: strings.Contains(e.channel, "V") || strings.HasPrefix(e.channel, "B")}
	s.Audio = strings.HasPrefix(e.channel, "AA") || strings.HasPrefix(e.channel, "B")
	if e.kind != "C" && e.to != "" {
		s.Name = e.to
	}
	if s.Path == "" && s.Name == "" {
		s.Name = e.reel
	}
	c.Source = r.shelf.put(s)
	r.t.Clips = append(r.t.Clips, c)
	r.total = e.end - r.t.Start
	return nil
}

// hrefOf makes a URL of a path, so that all paths are read in one way.
func hrefOf(p string) string {
	if p == "" || strings.Contains(p, "://") {
		return p
	}
	return href(p)
}
