package ffmpeg

import (
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// FrameOptions says which frames to take and how.
type FrameOptions struct {
	Times     []cutroom.Micros // on the public axis; each names the frame shown at that time
	Width     int              // of the JPEG, at most; 0 is the display width. Never enlarged
	Full      bool             // also write each frame at display size, from the same decode
	Keyframes bool             // take the key frame at or before each time: cheaper, less exact
	Name      string           // tells the files and steps of several jobs of one call apart
}

// Frame is one frame that was taken.
type Frame struct {
	File       string         // JPEG in the private folder
	FullFile   string         // JPEG at display size, when asked for
	Requested  cutroom.Micros // the time that was asked for
	PTS        Ticks          // decoded presentation time, file's timeline
	Time       cutroom.Micros // the same on the public axis
	Width      int            // of File
	Height     int
	FullWidth  int // of FullFile
	FullHeight int
	Notes      []string // e.g. HDR that could not be tone-mapped
}

// SkippedFrame is a time that gave no frame of its own.
type SkippedFrame struct {
	Requested cutroom.Micros
	Reason    string
	Same      *cutroom.Micros // the time asked for earlier that gave this very frame
}

// FrameJob takes frames out of a video by their time. It seeks to all of them in one
// process, or decodes the span once where that is cheaper, and asks again, further
// back, for times where no frame came out: a time names the frame whose presentation
// interval contains it, so the frame may start long before. Drive it as a [Prober].
type FrameJob struct {
	in        int
	format    Format
	doc       *Document
	stream    *Stream
	opts      FrameOptions
	abilities *Abilities
	decoder   []argv.Atom
	small     display
	full      display
	pending   []*target
	batch     []*target
	all       []*target
	rounds    int
	most      int // targets of one run, once a run ended early; 0 is as many as fit
	finished  bool
	seekOnly  bool // tests: never decode through
}

// target is one asked time on its way to a frame.
type target struct {
	n          int // from 1, names the files
	requested  cutroom.Micros
	want       Ticks // the frame starts at or before this tick
	from, to   Ticks // ticks looked at by this attempt: from ≤ PTS ≤ to
	empty      Ticks // no frame starts from here to want, as an attempt that began early enough saw
	tries      int
	pts        Ticks
	found      bool
	exhausted  bool
	unreadable bool
}

// NewFrameJob returns a job over input in of the call. A time beyond the duration is
// an error that names it; a time between the last frame's start and the end, or
// where only the sound goes on, is the last frame.
func NewFrameJob(in int, f Format, d *Document, a *Abilities, o FrameOptions) (*FrameJob, error) {
	s, err := d.VideoStream()
	if err != nil {
		return nil, err
	}
	dec, err := s.decoder(a)
	if err != nil {
		return nil, err
	}
	j := &FrameJob{in: in, format: f, doc: d, stream: s, opts: o, abilities: a, decoder: dec, small: s.Video.display(a, false), full: s.Video.display(a, true)}
	for i, t := range o.Times {
		if t < 0 || t > d.DurationSeconds && t > 0 {
			return nil, cutroom.Errorf(cutroom.Invalid, "time %s s is outside the video, which is %s s long", t, d.DurationSeconds).
				WithHint("ask for times from 0 to %s", d.DurationSeconds)
		}
		tg := &target{n: i + 1, requested: t, want: j.lastTick(t)}
		tg.empty = tg.want + 1
		j.all = append(j.all, tg)
	}
	j.pending = slices.Clone(j.all)
	slices.SortStableFunc(j.pending, func(a, b *target) int { return int(max(-1, min(1, a.want-b.want))) })
	return j, nil
}

// lastTick returns the tick that the frame shown at public time t starts at or before.
func (j *FrameJob) lastTick(t cutroom.Micros) Ticks {
	s := j.stream
	want := LastTick(t+j.doc.ZeroSeconds, s.TimeBase)
	if s.DurationTicks > 0 {
		want = min(want, s.StartTicks+s.DurationTicks-1)
	}
	return max(want, s.StartTicks)
}

// step returns the length of an ordinary frame, 40 ms when unknown.
func (j *FrameJob) step() cutroom.Micros {
	if r := j.stream.Video.FrameRate; r.Known() {
		return max(1000, cutroom.Micros(muldiv(secondMicros, r.Den, r.Num, ceil)))
	}
	return 40_000
}

const secondMicros = int64(cutroom.Second)

// reach returns how far before the wanted tick an attempt looks.
func (j *FrameJob) reach(tries int) cutroom.Micros {
	r := j.step() + 2000 // clocks of a millisecond shift a frame by up to one
	if v := j.stream.Video.VFR; v.Variable {
		r = max(2*j.step(), 200_000)
	}
	for range tries {
		r = max(8*r, cutroom.Second)
	}
	return min(r, maxTime)
}

// seekable reports whether ffmpeg can start in the middle of the file exactly.
func (j *FrameJob) seekable() bool {
	switch {
	case slices.Contains([]string{"image/gif", "image/apng", "video/h264", "video/h265"}, j.doc.MediaType), j.stream.Video.StillImage:
		return false
	}
	return true
}

// Lead is how much earlier than wanted a demuxer must start: MPEG streams have no
// index, so ffmpeg lands near a time, not before it.
func (j *FrameJob) lead(tries int) cutroom.Micros {
	if !slices.Contains([]string{"mpegts", "mpeg"}, j.doc.FormatName) {
		return 0
	}
	l := max(5*cutroom.Second, j.stream.KeyGap+cutroom.Second)
	for range tries {
		l *= 2
	}
	return l
}

// Bounds of one process: inputs each hold a decoder with its reference pictures.
const (
	maxInputs     = 16
	pixelBudget   = 16 * 1920 * 1088
	maxSplit      = 24
	framesPerSeek = 40 // decoded for one seek, about half of an ordinary GOP
)

// FramesOfOneRun is how many frames one run of a [FrameJob] seeks to, of pictures of that
// size.
func FramesOfOneRun(v *VideoFacts) int {
	return max(1, min(maxInputs, pixelBudget/max(1, v.Width*v.Height)))
}

// exitEarly is what ffmpeg exits with when it gave up before all was written, e.g. for
// want of memory. Damage in the media does not end it so.
const exitEarly = 1

// Next returns the next run, and false when every time has its frame or its reason.
func (j *FrameJob) Next() (argv.Command, bool) {
	if len(j.pending) == 0 || j.finished {
		j.finished = true
		return argv.Command{}, false
	}
	j.rounds++
	v := j.stream.Video
	through := !j.opts.Keyframes && j.through()
	n := FramesOfOneRun(v)
	if through {
		n = maxSplit
	}
	if j.most > 0 {
		n = min(n, j.most)
	}
	j.batch = j.pending[:min(n, len(j.pending))]
	for _, t := range j.batch {
		j.window(t)
	}
	return j.command(through), true
}

// window sets which ticks t's next attempt looks at.
func (j *FrameJob) window(t *target) {
	tb := j.stream.TimeBase
	t.to = t.empty - 1
	t.from = t.want - TicksOf(j.reach(t.tries), tb)
	if t.from <= j.stream.StartTicks || j.stream.Video.StillImage {
		t.from, t.exhausted = j.stream.StartTicks-TicksOf(cutroom.Second, tb), true
	}
}

// through decides whether one decode over the span of the batch costs less than a
// seek for each time.
func (j *FrameJob) through() bool {
	if !j.seekable() {
		return true
	}
	if j.seekOnly {
		return false
	}
	batch := j.pending[:min(len(j.pending), maxSplit)]
	if len(batch) < 2 || batch[0].tries > 0 {
		return false
	}
	span := (batch[len(batch)-1].want - batch[0].want).Micros(j.stream.TimeBase)
	perSeek := cutroom.Micros(framesPerSeek) * j.step()
	if j.stream.KeyGap > 0 {
		perSeek = j.stream.KeyGap / 2
	}
	return span < perSeek*cutroom.Micros(len(batch))
}

// Feed takes what the run that Next returned left behind.
func (j *FrameJob) Feed(res argv.Result) error {
	if len(j.batch) == 0 {
		return fmt.Errorf("a result was fed without a run")
	}
	if res.Exit == exitEarly && len(j.batch) > 1 {
		j.most, j.batch = len(j.batch)/2, nil // what it printed need not have been written
		return nil
	}
	found := printedFrames(res.Stdout)
	for _, t := range j.batch {
		if list := found[t.n]; len(list) > 0 {
			last := slices.Max(list)
			t.found = last >= t.from || j.opts.Keyframes
			if t.found {
				t.pts = last
			} else {
				t.empty = t.from // decoding began before the window, which held nothing
			}
		}
		t.tries++
	}
	rest := j.pending[len(j.batch):]
	var again []*target
	for _, t := range j.batch {
		switch early := j.opts.Keyframes && t.found && t.pts > t.want && !t.exhausted; {
		case t.found && !early:
		case t.exhausted || t.tries > 9:
			t.unreadable = !t.found
		default:
			again = append(again, t)
		}
	}
	j.pending, j.batch = append(slices.Clone(rest), again...), nil
	return nil
}

// Frames returns the frames in the order they were asked for, and the times that
// gave none or the same frame as another.
func (j *FrameJob) Frames() ([]Frame, []SkippedFrame) {
	var frames []Frame
	var skipped []SkippedFrame
	seen := map[Ticks]cutroom.Micros{}
	for _, t := range j.all {
		first, twice := seen[t.pts]
		switch {
		case !t.found:
			skipped = append(skipped, SkippedFrame{Requested: t.requested, Reason: "no frame at or before this time can be decoded"})
			continue
		case twice:
			skipped = append(skipped, SkippedFrame{t.requested, fmt.Sprintf("the same frame as at %s s", first), &first})
			continue
		}
		seen[t.pts] = t.requested
		f := Frame{File: j.file(t), Requested: t.requested, PTS: t.pts, Time: max(0, j.doc.Time(j.stream, t.pts))}
		f.Width, f.Height = j.stream.Video.Fit(j.opts.Width)
		if j.opts.Full {
			f.FullFile = j.fullFile(t)
			f.FullWidth, f.FullHeight = j.stream.Video.Fit(0)
		}
		if j.small.fallback {
			f.Notes = append(f.Notes, "HDR colours were not tone-mapped: this ffmpeg lacks zscale or tonemap")
		}
		frames = append(frames, f)
	}
	return frames, skipped
}
