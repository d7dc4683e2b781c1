package graph

import (
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// Compiled is a graph as runs of ffmpeg.
type Compiled struct {
	Commands []argv.Command
	Expect   proof.Expectation
	Map      edl.Map
	Notes    []string // choices that were made
	Dropped  []string // streams that are left out, and why

	joined *joining // where it is encoded in pieces
}

// Result is what a run of a graph ended with.
type Result struct {
	Verified []cutroom.Verified
	Probe    *ffmpeg.Document
	Map      *edl.Map
	Notes    []string
	Dropped  []string
	Loudness *Leveled         // nil where no loudness was asked for
	Heard    *ffmpeg.Loudness // of the written file's first track, where that was measured
}

// Render runs a graph: where frame times are kept it reads them first, where a loudness
// is asked for it measures the sound of the edit, then it encodes, then it proves what
// was written. It is a tool.Script.
type Render struct {
	g      Graph
	a      *ffmpeg.Abilities
	frames []ffmpeg.Ticks // nil until they are read
	done   *Compiled      // compiled for real, or assumed while times are not read yet
	state  int
	step   int // of the encode's commands
	level  *leveler
	proof  *proof.Proof
}

// The states of a render.
const (
	readTimes = iota
	measure
	encode
	prove
)

// NewRender compiles g for the ffmpeg that a describes. What cannot be done is an
// error for the caller: a container that cannot hold a codec, an encoder that is not
// there.
func NewRender(g Graph, a ffmpeg.Abilities) (*Render, error) {
	r := &Render{g: g, a: &a, state: encode, level: newLeveler(g)}
	if r.level != nil {
		r.state = measure
	}
	if r.keepsTimes() {
		r.state = readTimes
	}
	if err := r.compile(); err != nil || r.state != measure {
		return r, err
	}
	return r, r.level.plan(g, nil, r.a)
}

// compile compiles the graph as it is known so far.
func (r *Render) compile() (err error) {
	g := r.g
	if r.level != nil {
		g = r.level.graph(g)
	}
	r.done, err = compile(g, r.frames, r.a)
	r.step = 0
	return err
}

// keepsTimes reports whether the frames of one source keep their own times.
func (r *Render) keepsTimes() bool {
	return r.g.Picture != nil && !r.g.Picture.Copy && r.g.selecting()
}

// Planned returns the runs of the encode, for a dry run. Where frame times are read
// first, those of a constant rate stand in for them.
func (r *Render) Planned() []argv.Command {
	var list []argv.Command
	if r.state == readTimes {
		list = append(list, r.times())
	}
	if r.level != nil {
		if m, err := compileLevel(r.g, r.frames, r.a, nil); err == nil { // it compiled before
			list = append(list, m)
		}
	}
	return append(list, r.done.Commands...)
}

// Map says which part of the sources the edit shows when. Where frame times are read
// first, it is what the sources' descriptions say until they are.
func (r *Render) Map() edl.Map { return r.done.Map }

// Ahead returns a time of the edit between the frame that shows at a time and the one
// before it: the first frame from there on is that frame, however a container rounds. It
// is at itself where the render has not read the frames' times.
func (r *Render) Ahead(at cutroom.Micros) cutroom.Micros {
	_, from, ok := r.done.Map.ToSource(at)
	if !ok || len(r.frames) == 0 {
		return at
	}
	s := &r.g.Sources[r.g.Clips[0].Source]
	v := s.Media.FirstVideo()
	i, exact := slices.BinarySearch(r.frames, ffmpeg.TicksOf(from+s.Media.ZeroSeconds, v.TimeBase))
	if !exact {
		i--
	}
	if i < 1 {
		return 0
	}
	return max(0, at-(from-s.Media.Time(v, (r.frames[i-1]+r.frames[i])/2)))
}

// Expect is what must be true of the written file, to be refined before it is proved.
func (r *Render) Expect() *proof.Expectation { return &r.done.Expect }

// Next returns the next run.
func (r *Render) Next() (argv.Command, bool) {
	switch r.state {
	case readTimes:
		return r.times(), true
	case measure:
		return r.level.command, true
	case encode:
		return r.done.Commands[r.step], true
	}
	cmd, ok := r.proof.Next()
	if ok || r.level == nil || !r.level.again(r.proof) {
		return cmd, ok
	}
	if err := r.compile(); err != nil { // it compiled before
		return cmd, false
	}
	r.state = encode
	return r.done.Commands[0], true
}

// Feed takes what that run left behind.
func (r *Render) Feed(res argv.Result) error {
	switch r.state {
	case readTimes:
		frames, ok := argv.Value[[]ffmpeg.Ticks](res)
		if !ok {
			return fmt.Errorf("no times were read")
		}
		r.frames = frames
		if err := r.compile(); err != nil {
			return err
		}
		r.state = encode
		if r.level != nil {
			r.state = measure
			return r.level.plan(r.g, r.frames, r.a)
		}
		return nil
	case measure:
		more, err := r.level.learn(res)
		if err != nil {
			return err
		}
		if more {
			return r.level.plan(r.g, r.frames, r.a)
		}
		r.state = encode
		return r.compile()
	case encode:
		compared(&r.done.Expect, res)
		if j := r.done.joined; j != nil && r.step < len(j.commands) {
			r.done.Expect.Video.Looks = j.look(r.step, res)
		}
		if r.step++; r.step == len(r.done.Commands) {
			r.state = prove
			r.proof = proof.New(r.done.Expect, r.a)
		}
		return nil
	}
	return r.proof.Feed(res)
}

// Result is what the run ended with, or a verification error that names what differs.
func (r *Render) Result() (Result, error) {
	if r.proof == nil {
		return Result{}, fmt.Errorf("the render has not ended")
	}
	return Result{
		Verified: r.proof.Rows(), Probe: r.proof.Probe(), Map: &r.done.Map, Notes: r.done.Notes, Dropped: r.done.Dropped,
		Loudness: r.level.result(r.proof), Heard: r.proof.Loudness(),
	}, r.proof.Err()
}

// times is the run that reads when the frames of the source show.
func (r *Render) times() argv.Command {
	s := &r.g.Sources[r.g.Clips[0].Source]
	return ffmpeg.FrameTimes(s.Input, s.Format, s.Media.FirstVideo())
}
