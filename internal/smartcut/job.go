package smartcut

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Span is a part of the source that is kept, on the public axis. A zero end is the end
// of the file.
type Span struct{ Start, End cutroom.Micros }

// Target is the file that is written.
type Target struct {
	File      string // name in the private folder
	Container string // mp4, mov, mkv or webm
}

// demuxer is what reads the target's container.
func (t Target) demuxer() string {
	if t.Container == "mkv" || t.Container == "webm" {
		return "matroska"
	}
	return "mov"
}

// base is the time base of the output's picture.
func (t Target) base(v *ffmpeg.Stream) ffmpeg.Rational {
	if t.demuxer() == "matroska" {
		return ffmpeg.Rational{Num: 1, Den: 1000}
	}
	return v.TimeBase
}

// ticks is a time of the source in ticks of the output.
func (t Target) ticks(v *ffmpeg.Stream, at ffmpeg.Ticks) ffmpeg.Ticks {
	if t.base(v) == v.TimeBase {
		return at
	}
	return ffmpeg.TicksOf(at.Micros(v.TimeBase), t.base(v))
}

// slack is how far a frame's time may lie off by rounding, in ticks of the output.
func (t Target) slack(v *ffmpeg.Stream) ffmpeg.Ticks {
	if t.base(v) == v.TimeBase {
		return 0
	}
	return 1
}

// Options change how a cut is made.
type Options struct {
	// Copy keeps packets only and encodes nothing: parts begin with a key frame.
	Copy bool
}

// Job makes one cut: it reads where the packets lie, copies and encodes the parts, joins
// them, and compares the result with the source. It is a tool.Script. When it finds
// that the cut cannot be made or proved so, it ends early and Reason says why.
type Job struct {
	src    Source
	spans  []Span
	target Target
	opts   Options
	a      *ffmpeg.Abilities

	state   state
	retried bool
	x       *index
	opens   map[ffmpeg.Ticks]bool // key frames with which copying can begin; true: an open group
	looks   []argv.Command        // runs that find them
	cuts    []cut
	tracks  []track
	runs    []argv.Command // that make the pieces
	firsts  []opener       // pictures that were changed, in the order of their pieces
	prober  *ffmpeg.Prober
	rounds  []round
	round   int
	proof   proof
	reason  string
	dropped []string
	notes   []string
	edits   *edl.Map
}

type state int

const (
	reading state = iota
	looking
	making
	joining
	probing
	comparing
	done
)

// New plans a cut of spans out of src. What a caller asked wrongly is an error; what
// only makes copying impossible is the job's Reason.
func New(src Source, spans []Span, t Target, o Options, a ffmpeg.Abilities) (*Job, error) {
	j := &Job{src: src, spans: spans, target: t, opts: o, a: &a}
	if j.reason = src.Unfit(); j.reason == "" && !src.holdsPicture(t.Container) {
		j.reason = fmt.Sprintf("%s cannot hold %s pictures", t.Container, src.video().CodecName)
	}
	if j.reason == "" && src.video().Video.Turned() && !ffmpeg.KeepsTurn(t.Container) {
		j.reason = fmt.Sprintf("the picture is turned by a mark of its file, and %s has none", t.Container)
	}
	if j.reason != "" {
		j.state = done
		return j, nil
	}
	j.tracks, j.dropped = src.tracks(t.Container, j.a)
	j.dropped = append(j.dropped, src.dropped(t)...)
	if src.layered() {
		j.notes = append(j.notes, "the Dolby Vision layer is left out; its base, "+strings.ToUpper(src.video().Video.HDR)+", stays as it is")
	}
	for _, t := range j.tracks {
		if t.note != "" {
			j.notes = append(j.notes, t.note)
		}
	}
	return j, nil
}

// Reason says why the cut has to be encoded as a whole; "" when it was made.
func (j *Job) Reason() string { return j.reason }

// windows are the stretches of the file that the cuts need, on the file's timeline; nil
// is all of it.
func (j *Job) windows() []window {
	if j.retried {
		return nil
	}
	var list []window
	for _, s := range j.spans {
		w := window{start: s.Start + j.src.Media.ZeroSeconds - lead}
		if s.End > 0 {
			w.end = s.End + j.src.Media.ZeroSeconds + trail
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b window) int { return int(a.start - b.start) })
	merged := list[:1]
	for _, w := range list[1:] {
		last := &merged[len(merged)-1]
		if last.end == 0 || w.start <= last.end {
			if last.end != 0 && (w.end == 0 || w.end > last.end) {
				last.end = w.end
			}
			continue
		}
		merged = append(merged, w)
	}
	if len(merged) == 1 && merged[0].start <= 0 && merged[0].end == 0 {
		return nil
	}
	return merged
}

// Next returns the next run.
func (j *Job) Next() (argv.Command, bool) {
	switch j.state {
	case reading:
		return j.src.read(j.windows()), true
	case looking:
		return j.looks[0], true
	case making:
		return j.runs[0], true
	case joining:
		c := j.src.join(j.target, j.cuts, j.tracks, j.edits, j.opts.Copy)
		c.Files = append(c.Files, j.firstFiles()...)
		return c, true
	case probing:
		if c, ok := j.prober.Next(); ok {
			return c, true
		}
		j.state = comparing
		return j.src.compare(j.target, j.rounds[0], 0, j.cuts, j.tracks), true
	case comparing:
		return j.src.compare(j.target, j.rounds[j.round], j.round, j.cuts, j.tracks), true
	}
	return argv.Command{}, false
}

// Feed takes what that run left behind.
func (j *Job) Feed(r argv.Result) error {
	switch j.state {
	case reading:
		return j.feedIndex(r)
	case looking:
		return j.feedStarts(r)
	case making:
		j.takeFirst(r)
		if j.runs = j.runs[1:]; len(j.runs) == 0 {
			j.state = joining
		}
	case joining:
		j.prober = ffmpeg.NewProber(0, ffmpeg.MadeFormat(j.target.File, j.target.demuxer()), 0)
		j.rounds = rounds(sights(j.x, j.cuts), j.cuts)
		j.state = probing
	case probing:
		return j.prober.Feed(r)
	case comparing:
		return j.feedCompare(r)
	}
	return nil
}

// give up says why the cut cannot be made by packets.
func (j *Job) giveUp(format string, args ...any) error {
	j.reason, j.state = fmt.Sprintf(format, args...), done
	return nil
}

func (j *Job) feedIndex(r argv.Result) error {
	x, ok := argv.Value[*index](r)
	if !ok || len(x.packets) == 0 {
		if j.retried || j.windows() == nil {
			return j.giveUp("the picture's packets cannot be read")
		}
		j.retried = true
		return nil
	}
	j.x = x
	enough, err := j.place()
	switch {
	case err != nil:
		return err
	case !enough && !x.whole:
		j.retried = true // a demuxer that does not reach the time it is asked for
		return nil
	case !enough:
		return j.giveUp("the picture begins with frames that cannot be decoded")
	}
	if closed, _ := j.src.opening(); closed == "" {
		return j.divide()
	}
	for _, c := range j.cuts {
		if from, to, ok := j.candidates(c); ok {
			j.looks = append(j.looks, j.src.starts(from, to))
		}
	}
	j.opens = map[ffmpeg.Ticks]bool{}
	if j.state = looking; len(j.looks) == 0 {
		return j.divide()
	}
	return nil
}

// place finds the frames of each span. enough is false when the packets that were read
// do not reach from a key frame before a span to behind its end.
func (j *Job) place() (enough bool, err error) {
	v := j.src.video()
	shown := j.x.shown()
	if len(shown) == 0 {
		return false, nil
	}
	j.cuts = nil
	for n, s := range j.spans {
		from, to := ffmpeg.TickRange(s.Start+j.src.Media.ZeroSeconds, s.End+j.src.Media.ZeroSeconds, v.TimeBase)
		if s.Start == 0 {
			from = -maxTicks
		}
		if s.End == 0 {
			to = maxTicks
		}
		a, _ := slices.BinarySearch(shown, from)
		b, _ := slices.BinarySearch(shown, to)
		if !j.x.whole && (!j.x.reaches(from, to) || b == len(shown) && s.End != 0) {
			return false, nil
		}
		if a >= b {
			return true, cutroom.Errorf(cutroom.Invalid, "segment %d, from %s s to %s s, holds no frame", n+1, s.Start, cmp.Or(s.End, v.EndSeconds, j.src.Media.DurationSeconds)).
				WithHint("make it longer than a frame, and within the file")
		}
		c := cut{from: shown[a], frames: shown[a:b], asked: j.src.Media.Time(v, shown[a])}
		if b < len(shown) {
			c.to = shown[b]
		} else {
			c.to = shown[b-1] + j.x.last(shown, v)
		}
		if k := len(j.cuts) - 1; k >= 0 && j.cuts[k].to == c.from { // one goes on where the other ends
			i, _ := slices.BinarySearch(shown, j.cuts[k].from)
			j.cuts[k].to, j.cuts[k].frames = c.to, shown[i:b]
			continue
		}
		j.cuts = append(j.cuts, c)
	}
	return true, nil
}

// candidates is the stretch that holds the first key frames of a cut.
func (j *Job) candidates(c cut) (from, to ffmpeg.Ticks, ok bool) {
	n := 0
	for _, p := range j.x.packets {
		if !p.key || p.pts < c.from || p.pts >= c.to {
			continue
		}
		if n == 0 {
			from = p.pts
		}
		to = p.pts
		if n++; n == maxCandidates {
			break
		}
	}
	if j.opts.Copy {
		from, n = j.x.before(c.from), n+1
		to = max(from, to)
	}
	return from, to, n > 0
}

// maxCandidates is how many key frames are tried as the beginning of what is copied.
const maxCandidates = 6

func (j *Job) feedStarts(r argv.Result) error {
	for n, v := range r.Values {
		times, ok := v.([]ffmpeg.Ticks)
		if !ok {
			continue
		}
		for _, t := range times {
			j.opens[t] = n == 2
		}
	}
	if j.looks = j.looks[1:]; len(j.looks) == 0 {
		return j.divide()
	}
	return nil
}

// divide decides what is copied and what is encoded.
func (j *Job) divide() error {
	mismatch := j.src.mismatch(j.a)
	r := rules{
		begin:   func(t ffmpeg.Ticks) bool { _, ok := j.opens[t]; return ok || j.opens == nil },
		open:    func(t ffmpeg.Ticks) bool { return j.opens[t] },
		least:   j.x.delay + 1,
		encodes: mismatch == "",
	}
	earliest := j.x.suffix()
	if j.opts.Copy {
		return j.keep(r, earliest)
	}
	for i := range j.cuts {
		j.cuts[i] = j.x.take(j.cuts[i], r, i > 0, earliest)
		if j.cuts[i].why != "" && mismatch != "" {
			return j.giveUp("%s", mismatch)
		}
	}
	if !slices.ContainsFunc(j.cuts, func(c cut) bool { return c.why == "" }) {
		return j.giveUp("%s", j.without())
	}
	j.edits = j.src.editMap(j.cuts)
	j.runs = j.src.pieceRuns(j.x, j.cuts)
	j.state = making
	return nil
}

// keep divides into copied packets only.
func (j *Job) keep(r rules, earliest []ffmpeg.Ticks) error {
	shown := j.x.shown()
	for i, c := range j.cuts {
		c = j.x.snap(c, r, i > 0, shown, earliest, j.x.last(shown, j.src.video()))
		if c.why != "" {
			return j.giveUp("segment %d: %s", i+1, c.why)
		}
		j.cuts[i] = c
	}
	j.edits = j.src.editMap(j.cuts)
	j.runs = j.src.pieceRuns(j.x, j.cuts)
	j.state = making
	return nil
}

// without says why nothing can be copied.
func (j *Job) without() string {
	keys := 0
	for _, p := range j.x.packets {
		if p.key && p.pts >= j.cuts[0].from && p.pts < last(j.cuts).to {
			keys++
		}
	}
	if keys > 0 && j.opens != nil && len(j.opens) == 0 {
		return "no IDR picture lies inside the cut: its groups of pictures are open, and copying cannot begin there"
	}
	if keys == 0 {
		return "no key frame lies inside the cut"
	}
	return "no group of pictures lies wholly inside the cut"
}

func last[T any](list []T) T { return list[len(list)-1] }
