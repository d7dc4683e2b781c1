package evidence

import (
	"cmp"
	"slices"

	"cutroom"
)

// Sample is a frame that was looked at in the decode pass: its time and the block
// means of its small grey picture ([BlockMeans]), rows from top to bottom. All
// samples of one clip have the same number of blocks.
type Sample struct {
	At   cutroom.Micros
	Grid []byte
}

// ChooseInput is what [Choose] decides on. Start and End are the times of the
// first and the last frame of the range; the rest may be empty or zero.
type ChooseInput struct {
	Start, End cutroom.Micros
	Samples    []Sample       // in any order; those outside the range are ignored
	Cuts       []Cut          // in any order; likewise
	Max        int            // most frames wanted; 0 means 12
	MinGap     cutroom.Micros // frames stand at least so far apart; 0 means range/(4·Max), at most 1 s
	Floor      cutroom.Micros // no longer gap than this while the picture changes; 0 means 2·range/Max
	Tolerance  int            // blocks that differ by at most this are equal; 0 means 6
}

// Choice is one frame to extract, and why.
type Choice struct {
	At  cutroom.Micros `json:"timestamp_seconds" min:"0" unit:"s" doc:"Time of the frame."`
	Why string         `json:"why" enum:"first,middle,last,scene,floor,change" doc:"first, middle, last: always there. scene: the first frames of a shot. floor: so that no gap is too long. change: the picture differs most from its neighbours."`
}

// Chosen is the result of [Choose].
type Chosen struct {
	Frames  []Choice // in order of time
	Method  string   // scene, change or even: the best that the evidence allowed
	Dropped int      // frames left out because nothing differs from a neighbour
}

// The methods of [Choose].
const (
	ByScene  = "scene"  // cuts, the time floor and changes inside the shots
	ByChange = "change" // no cut was found: the time floor and changes
	ByTime   = "even"   // no picture was measured: even steps
)

const (
	defaultFrames    = 12
	defaultTolerance = 6
)

// Choose picks the frames that show the most. First, last and middle frame come
// first (with Max 1 the middle, with 2 first and last). Then gaps longer than the
// floor are halved, at a new shot when one is near; then the strongest cuts; then
// the frames that differ most from their neighbours.
//
// A frame that equals a chosen neighbour in every block is left out, so that a
// still picture costs three frames; one block that differs is a difference, so
// that a small moving subject counts. Equal input gives equal output.
func Choose(in ChooseInput) Chosen {
	c := newChooser(in)
	c.anchors()
	if len(c.samples) == 0 && len(in.Cuts) == 0 {
		c.even()
		return c.result(ByTime)
	}
	c.fillGaps()
	c.shots()
	c.changes()
	if len(c.cuts) > 0 {
		return c.result(ByScene)
	}
	if len(c.samples) == 0 {
		return c.result(ByTime)
	}
	return c.result(ByChange)
}

// chooser is the state of one choice.
type chooser struct {
	ChooseInput
	step    cutroom.Micros // the floor that the caller asked for, 0 for none
	samples []Sample
	cuts    []Cut
	picked  []picked // by time
	dropped int
}

// picked is a chosen frame and the sample nearest to it, -1 without samples.
type picked struct {
	Choice
	sample int
}

func newChooser(in ChooseInput) *chooser {
	in.End = max(in.Start, in.End)
	length := in.End - in.Start
	if in.Max <= 0 {
		in.Max = defaultFrames
	}
	if in.MinGap <= 0 {
		in.MinGap = min(cutroom.Second, length/cutroom.Micros(4*in.Max))
	}
	step := in.Floor
	if in.Floor <= 0 {
		in.Floor = 2 * length / cutroom.Micros(in.Max)
	}
	in.MinGap = max(in.MinGap, 1)
	in.Floor = max(in.Floor, in.MinGap)
	if in.Tolerance <= 0 {
		in.Tolerance = defaultTolerance
	}
	c := &chooser{ChooseInput: in, step: step}
	for _, s := range in.Samples {
		if s.At >= in.Start && s.At <= in.End {
			c.samples = append(c.samples, s)
		}
	}
	slices.SortStableFunc(c.samples, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
	for _, cut := range sortedCuts(in.Cuts) {
		if cut.At > in.Start && cut.At <= in.End {
			c.cuts = append(c.cuts, cut)
		}
	}
	return c
}

// sortedCuts orders cuts by time without changing the input; of several at one
// time the strongest stays.
func sortedCuts(cuts []Cut) []Cut {
	out := slices.Clone(cuts)
	slices.SortStableFunc(out, func(a, b Cut) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.Score, a.Score))
	})
	return slices.CompactFunc(out, func(a, b Cut) bool { return a.At == b.At })
}

// anchors picks first, last and middle, as many as Max allows.
func (c *chooser) anchors() {
	half := c.Start + (c.End-c.Start)/2
	middle := c.snap(half)
	if middle <= c.Start || middle >= c.End { // a clip so short that no sample lies inside
		middle = half
	}
	if c.Max == 1 && c.End > c.Start {
		c.pick(middle, "middle")
		return
	}
	c.pick(c.Start, "first")
	if c.End > c.Start && c.Max > 1 {
		c.pick(c.End, "last")
	}
	if middle > c.Start && middle < c.End && c.Max > 2 {
		c.pick(middle, "middle")
	}
}

// snap returns the time of the sample nearest to t, t itself without samples.
func (c *chooser) snap(t cutroom.Micros) cutroom.Micros {
	if i := c.nearest(t); i >= 0 {
		return c.samples[i].At
	}
	return t
}

// nearest returns the index of the sample nearest to t, the earlier of two; -1
// without samples.
func (c *chooser) nearest(t cutroom.Micros) int {
	i, _ := slices.BinarySearchFunc(c.samples, t, func(s Sample, t cutroom.Micros) int { return cmp.Compare(s.At, t) })
	if i == len(c.samples) || i > 0 && t-c.samples[i-1].At <= c.samples[i].At-t {
		i--
	}
	return i
}

// pick adds a frame, keeping the order of time.
func (c *chooser) pick(at cutroom.Micros, why string) {
	i, found := slices.BinarySearchFunc(c.picked, at, func(p picked, t cutroom.Micros) int { return cmp.Compare(p.At, t) })
	if !found {
		c.picked = slices.Insert(c.picked, i, picked{Choice{at, why}, c.nearest(at)})
	}
}

// full reports whether no more frames are wanted.
func (c *chooser) full() bool { return len(c.picked) >= c.Max }

// room reports whether a frame at t keeps the least distance to its neighbours,
// and returns them (nil at the ends).
func (c *chooser) room(t cutroom.Micros) (before, after *picked, ok bool) {
	i, found := slices.BinarySearchFunc(c.picked, t, func(p picked, t cutroom.Micros) int { return cmp.Compare(p.At, t) })
	if found {
		return nil, nil, false
	}
	if i > 0 {
		before = &c.picked[i-1]
		if t-before.At < c.MinGap {
			return nil, nil, false
		}
	}
	if i < len(c.picked) {
		after = &c.picked[i]
		if after.At-t < c.MinGap {
			return nil, nil, false
		}
	}
	return before, after, true
}

// offer picks a frame at t unless it is too near to another or shows nothing new.
func (c *chooser) offer(t cutroom.Micros, why string) bool {
	before, after, ok := c.room(t)
	if !ok {
		return false
	}
	if s := c.nearest(t); s >= 0 && c.novelty(s, before, after) == 0 {
		c.dropped++
		return false
	}
	c.pick(t, why)
	return true
}

// result copies the choice out.
func (c *chooser) result(method string) Chosen {
	out := Chosen{Method: method, Dropped: c.dropped}
	for _, p := range c.picked {
		out.Frames = append(out.Frames, p.Choice)
	}
	return out
}
