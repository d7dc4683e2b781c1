package rhythm

import (
	"cmp"
	"slices"

	"cutroom"
)

// Kind is how one picture gives way to another.
type Kind string

// The kinds of change.
const (
	Cut      Kind = "cut"      // from one frame to the next
	Dissolve Kind = "dissolve" // both pictures are seen together for a while
	Fade     Kind = "fade"     // to black or white, from it, or through it
)

// Change is where one picture gives way to another.
type Change struct {
	Kind       Kind
	Start, End cutroom.Micros // equal for a cut: the first frame of the new picture
	At         cutroom.Micros // where the new scene begins: of a gradual change the middle
	Score      float64        // 0–100
	Edge       bool           // a fade at the beginning or the end of the recording: no scene lies before or behind it
}

// PictureOptions are the bounds of what counts. A zero field is its default.
type PictureOptions struct {
	Threshold float64        // least score of a cut; 8
	Ratio     float64        // how far a cut stands out from the frames around it; 3
	MinScene  cutroom.Micros // least distance of two changes; 1 s
	Motion    bool           // follow the camera, for [Pictures.Shots]
}

// Pictures finds changes in the frames of a recording as they come. It keeps the last
// twelve seconds of them, small.
type Pictures struct {
	opts      PictureOptions
	ring      []*kept
	first     int // number of ring[0]
	judged    int // number of the next frame that may be a cut
	cuts      []Change
	soft      []blending // dissolves whose surroundings are not known yet
	dissolves []Change
	blanks    []blankRun
	look      [len(windows)]cutroom.Micros // when each window is tried again
	motion    follower
	all       []Change // once the recording ended
}

const (
	ringFor  = 12 * cutroom.Second
	mostRing = 3000
)

// NewPictures returns an empty reel.
func NewPictures(o PictureOptions) *Pictures {
	if o.Threshold <= 0 {
		o.Threshold = 8
	}
	if o.Ratio <= 0 {
		o.Ratio = 3
	}
	if o.MinScene <= 0 {
		o.MinScene = cutroom.Second
	}
	return &Pictures{opts: o}
}

// Add takes the next frame.
func (p *Pictures) Add(f Frame) {
	k := keep(&f)
	if n := len(p.ring); n > 0 {
		last := p.ring[n-1]
		if k.at <= last.at { // damaged times: frames stay in the order they came
			k.at = last.at + 1
		}
		k.colour = difference(k.v[keptLuma:], last.v[keptLuma:])
	}
	p.ring = append(p.ring, k)
	p.judgeCuts(false)
	p.watchBlank()
	p.tryWindows()
	if p.opts.Motion {
		p.motion.add(&f, k.at)
	}
	p.forget()
}

// last is the number of the latest frame.
func (p *Pictures) last() int { return p.first + len(p.ring) - 1 }

// frame returns a frame by its number, nil when it is forgotten or has not come.
func (p *Pictures) frame(n int) *kept {
	if n < p.first || n > p.last() {
		return nil
	}
	return p.ring[n-p.first]
}

// forget drops frames that nothing asks for any more.
func (p *Pictures) forget() {
	now := p.ring[len(p.ring)-1].at
	drop := 0
	for len(p.ring)-drop > mostRing || len(p.ring)-drop > 64 && now-p.ring[drop].at > ringFor {
		drop++
	}
	if drop > 64 || drop > 0 && len(p.ring) > mostRing {
		p.ring = slices.Delete(p.ring, 0, drop)
		p.first += drop
	}
}

// Changes ends the recording and returns its changes in order.
func (p *Pictures) Changes() []Change {
	if len(p.ring) == 0 {
		return []Change{}
	}
	p.judgeCuts(true)
	p.endBlank()
	p.settle(true)
	all := p.fades()
	for _, d := range p.dissolves {
		if !slices.ContainsFunc(all, func(f Change) bool { return d.Start < f.End && f.Start < d.End }) {
			all = append(all, d)
		}
	}
	gradual := len(all)
	for _, c := range p.cuts {
		if !slices.ContainsFunc(all[:gradual], func(g Change) bool {
			around := max(slack, (g.End-g.Start)/4)
			return c.At > g.Start-around && c.At <= g.End+around
		}) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	p.all = p.apart(all)
	return p.all
}

// slack is how far beyond a gradual change, at least, its own steps are taken for cuts:
// some begin or end with a jump.
const slack = 100 * cutroom.Second / 1000

// apart leaves out cuts that come too soon after the change before. Gradual changes stay:
// they were seen over many frames.
func (p *Pictures) apart(all []Change) []Change {
	out := []Change{}
	for i, c := range all {
		if c.Kind == Cut {
			if n := len(out); n > 0 && c.At-out[n-1].At < p.opts.MinScene {
				continue
			}
			if i+1 < len(all) && all[i+1].Kind != Cut && all[i+1].At-c.At < p.opts.MinScene && all[i+1].Start-c.At < slack {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
