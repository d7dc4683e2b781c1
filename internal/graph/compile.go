package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// compiler turns one graph into one run of ffmpeg.
type compiler struct {
	g         Graph
	a         *ffmpeg.Abilities
	selecting bool
	line      timeline
	ticks     []ffmpeg.Ticks  // of the frames of a source whose times are kept
	rate      ffmpeg.Rational // of the conformed picture; zero: frame times are kept
	out       frame
	notes     []string
	dropped   []string

	inputs   []input  // ffmpeg's inputs, in order
	feeds    []int    // the input of each part; −1: it has none
	chains   []string // of the filter graph
	files    []argv.File
	taps     []tap
	sights   *proof.Video // what has to be seen of what is drawn
	expect   proof.Expectation
	joined   *joining       // the pieces, where there are any
	palette  *argv.Command  // chooses the colours of a GIF, before the encode
	before   []argv.Command // runs before the encode
	unshaken *motionRun     // what finds the shaking of the camera, while its chain is built
	bent     float64        // cd/m² that the tone curve of BT.2390 begins from; 0: it is not used
}

// input is one -i of the run.
type input struct {
	source int // of the graph; −1: a file of ours
	atoms  []argv.Atom
}

func (c *compiler) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(c.notes, n) {
		c.notes = append(c.notes, n)
	}
}

func (c *compiler) drop(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(c.dropped, n) {
		c.dropped = append(c.dropped, n)
	}
}

// compile turns g into a run. frames are the presentation times of the picture's frames
// of the one source whose times are kept; nil assumes a constant rate.
func compile(g Graph, frames []ffmpeg.Ticks, a *ffmpeg.Abilities) (*Compiled, error) {
	c := &compiler{a: a}
	if err := c.begin(g); err != nil {
		return nil, err
	}
	if err := c.place(frames); err != nil {
		return nil, err
	}
	if !c.g.inPieces() {
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	video, err := c.picture()
	if err != nil {
		return nil, err
	}
	c.toneTable()
	audio, err := c.sound()
	if err != nil {
		return nil, err
	}
	rest := c.streams()
	m := c.g.editMap(c.line)
	cmds := []argv.Command{c.command(slices.Concat(video, audio, rest))}
	if c.palette != nil {
		cmds = append([]argv.Command{*c.palette}, cmds...)
	}
	cmds = append(c.before, cmds...)
	if c.joined != nil {
		cmds = append(c.joined.commands, cmds...)
	}
	return &Compiled{Commands: cmds, Expect: c.expect, Map: m, Notes: c.notes, Dropped: c.dropped, joined: c.joined}, nil
}

// unbroken refuses files that break off where all of them is wanted: what is left of a
// film is not the film, and whoever wants it says so.
func (g *Graph) unbroken() error {
	whole := map[int]bool{}
	for _, cl := range g.Clips {
		whole[cl.Source] = whole[cl.Source] || cl.End == 0
	}
	if g.Picture != nil {
		for _, l := range g.Picture.Layers {
			if l.Script == "" && l.Source >= 0 && l.Source < len(g.Sources) {
				shown := l.From + l.End - l.Start
				whole[l.Source] = whole[l.Source] || l.End == 0 || shown > g.Sources[l.Source].Media.DurationSeconds
			}
		}
	}
	for i, s := range g.Sources {
		if whole[i] && s.Media.Truncated {
			return cutroom.Errorf(cutroom.UnreadableMedia, "%s breaks off: it ends at %s s, before what it promises", s.Name, s.Media.DurationSeconds).
				WithHint("copy or download it again, or first cut out what is there, up to %s", max(0, s.Media.DurationSeconds-cutroom.Second/2))
		}
	}
	return nil
}

// begin checks the graph as a whole.
func (c *compiler) begin(g Graph) error {
	if len(g.Clips) == 0 || len(g.Sources) == 0 || g.Picture == nil && g.Sound == nil {
		return fmt.Errorf("a graph needs a clip, and a picture or sound")
	}
	for _, cl := range g.Clips {
		if cl.Source < 0 || cl.Source >= len(g.Sources) {
			return fmt.Errorf("a clip names source %d of %d", cl.Source, len(g.Sources))
		}
	}
	err := g.unbroken()
	if err != nil {
		return err
	}
	if c.g, err = g.shortened(&c.notes); err != nil {
		return err
	}
	if c.g, err = c.g.expanded(); err != nil {
		return err
	}
	if err := c.checkLayers(); err != nil {
		return err
	}
	c.selecting = c.g.selecting()
	c.fitContainer()
	if c.g.Picture == nil && c.g.Sound == nil {
		return cutroom.Errorf(cutroom.Invalid, "nothing of the input fits into %s", c.g.Target.Container).WithHint("name an output with another suffix")
	}
	if c.copies() && !c.untouched() {
		return fmt.Errorf("a copied stream cannot be cut: the timeline is touched")
	}
	c.recode()
	c.expect = proof.Expectation{File: g.Target.File, Container: g.Target.Container, Faststart: faststart(g.Target.Container), Chapters: -1}
	return nil
}

// copies reports whether a stream of the edit is copied by packets.
func (c *compiler) copies() bool {
	return c.g.Picture != nil && c.g.Picture.Copy || c.g.Sound != nil && c.g.Sound.Copy
}

// stays reports whether the edit leaves the file's timeline to ffmpeg, since its picture
// is copied, or its sound where there is no picture: no time may be touched then.
func (c *compiler) stays() bool {
	if c.g.Picture != nil {
		return c.g.Picture.Copy
	}
	return c.g.Sound.Copy
}

// recode gives up copying the sound where the picture's times move against it: a
// picture that begins late begins at zero once it is encoded.
func (c *compiler) recode() {
	if c.g.Picture == nil || c.g.Picture.Copy || c.g.Sound == nil || !c.g.Sound.Copy {
		return
	}
	m := c.g.Sources[c.g.Clips[0].Source].Media
	if v := m.FirstVideo(); v != nil && (v.StartSeconds != 0 || m.ZeroSeconds != 0 || m.StartSeconds != 0) {
		sound := *c.g.Sound
		sound.Copy = false
		c.g.Sound = &sound
		c.note("the sound is encoded anew: picture and sound of the input do not begin together")
	}
}

// untouched reports whether the edit shows one source from beginning to end.
func (c *compiler) untouched() bool {
	cl := c.g.Clips[0]
	return len(c.g.Clips) == 1 && cl.Start == 0 && cl.End == 0 && cl.plain() && !c.g.Repeat.on()
}

// place lays the clips out on the timeline.
func (c *compiler) place(frames []ffmpeg.Ticks) error {
	var err error
	switch {
	case c.stays():
		c.line = whole(&c.g.Sources[c.g.Clips[0].Source])
		return nil
	case c.g.Picture == nil:
		list, err := c.tracks()
		if err != nil {
			return err
		}
		c.line, err = c.g.soundOnly(list[0].rate)
		return err
	case c.selecting:
		c.line, err = c.g.selected(frames)
		c.ticks = frames
		c.rate = c.g.Picture.Rate
	default:
		c.rate = c.g.Picture.Rate
		if !c.rate.Known() {
			if c.rate, err = c.commonRate(); err != nil {
				return err
			}
		}
		c.line, err = c.g.conformed(c.rate)
	}
	return err
}

// commonRate is the rate of the first clip that has one; clips of other rates are
// conformed to it, which is said.
func (c *compiler) commonRate() (ffmpeg.Rational, error) {
	var rate ffmpeg.Rational
	for _, cl := range c.g.Clips {
		v, err := c.g.Sources[cl.Source].Media.VideoStream()
		if err != nil {
			return rate, err
		}
		r := v.Video.FrameRate
		switch {
		case !r.Known():
		case !rate.Known():
			rate = nominal(r, v.Video.VFR.Variable)
			if v.Video.VFR.Variable {
				c.note("the frames of %s are unevenly spaced: they are brought to %s frames per second", c.g.Sources[cl.Source].Name, rate)
			}
		case nominal(r, v.Video.VFR.Variable) != rate:
			c.note("%s has %s frames per second and is brought to %s, the first clip's rate", c.g.Sources[cl.Source].Name, r, rate)
		}
	}
	if !rate.Known() {
		rate = ffmpeg.Rational{Num: 25, Den: 1}
		c.note("no clip states a frame rate: 25 frames per second are used")
	}
	return rate, nil
}

// nominal is the standard rate at or next above an average, for frames that are
// unevenly spaced: no frame is lost then.
func nominal(r ffmpeg.Rational, variable bool) ffmpeg.Rational {
	if !variable {
		return r
	}
	for _, n := range []ffmpeg.Rational{{Num: 24, Den: 1}, {Num: 25, Den: 1}, {Num: 30, Den: 1}, {Num: 50, Den: 1}, {Num: 60, Den: 1}} {
		if r.Float() <= n.Float()+0.01 {
			return n
		}
	}
	return ffmpeg.Rational{Num: 60, Den: 1}
}

// open decides the inputs of the run: one for a selection, one for each clip
// otherwise, then one for each bed.
func (c *compiler) open() error {
	if c.selecting {
		in, err := c.opened(c.g.Clips[0].Source, c.line.parts[0].start)
		c.inputs = append(c.inputs, in)
		return err
	}
	for _, p := range c.line.parts {
		if p.clip.Fill != nil {
			c.feeds = append(c.feeds, -1)
			continue
		}
		start := p.start
		if p.clip.Hold > 0 || p.clip.Frozen {
			start -= heldLead
		}
		in, err := c.opened(p.clip.Source, start)
		if err != nil {
			return err
		}
		c.feeds = append(c.feeds, len(c.inputs))
		c.inputs = append(c.inputs, in)
	}
	return nil
}

// opened opens a source for decoding from public time start on.
func (c *compiler) opened(source int, start cutroom.Micros) (input, error) {
	s := &c.g.Sources[source]
	args := argv.Words("-noautorotate")
	if c.g.Picture != nil && !c.g.Picture.Copy {
		if v := s.Media.FirstVideo(); v != nil {
			dec, err := v.Decoder(c.a)
			if err != nil {
				return input{}, err
			}
			args = append(args, dec...)
		}
	}
	if t := s.Media.SeekBefore(start); t > 0 && !c.stays() {
		args = append(args, argv.Words("-noaccurate_seek", "-ss")...)
		args = append(args, argv.Decimal(t.String()))
	}
	return input{source: source, atoms: args}, nil
}

// inputOf is the number of the input that part i is read from.
func (c *compiler) inputOf(i int) int {
	if c.selecting {
		return 0
	}
	return c.feeds[i]
}

// head are the options up to the last input, and the call's inputs that the run reads.
func (c *compiler) head() (args []argv.Atom, granted []int) {
	args = argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y")
	if !c.stays() || c.line.parts[0].source.Media.StartSeconds <= 0 {
		// Without it ffmpeg moves the file's start to zero, the start of priming too.
		args = append(args, argv.Word("-copyts"))
	}
	for _, in := range c.inputs {
		args = append(args, in.atoms...)
		if in.source < 0 {
			continue
		}
		s := &c.g.Sources[in.source]
		n := 0
		for _, of := range s.Format.Granted(s.Input) { // a file of the private folder needs no grant
			if n = slices.Index(granted, of); n < 0 {
				n = len(granted)
				granted = append(granted, of)
			}
		}
		args = append(args, s.Format.Input(n)...)
	}
	return args, granted
}

// command assembles the run.
func (c *compiler) command(outputs []argv.Atom) argv.Command {
	args, granted := c.head()
	args = append(args, argv.Words("-progress")...)
	args = append(args, argv.Pipe(1))
	if len(c.chains) > 0 {
		args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(c.chains, ";")))
	}
	args = append(args, outputs...)
	args = append(args, muxer(c.g.Target)...)
	args = append(args, argv.Out(c.g.Target.File))
	consume := []argv.Consumer{nil, argv.Ignore}
	for _, t := range c.taps {
		args = append(append(args, argv.Words("-map", "["+t.label+"]")...), t.form...)
		args = append(args, argv.Pipe(len(consume)))
		consume = append(consume, t.read)
	}
	return argv.Command{
		Step: "encode", Program: "ffmpeg", Inputs: granted, Stage: "writing " + c.g.Target.Container,
		Args: args, Files: c.files, Consume: consume, Outputs: []string{c.g.Target.File},
		Report: &argv.Report{Pipe: 1, Total: c.line.time(c.line.total)},
	}
}
