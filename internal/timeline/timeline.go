package timeline

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// Timeline is one cut: clips one behind the other, what is laid under them, and marks.
// All lengths are frames of Rate.
type Timeline struct {
	Name          string
	Rate          ffmpeg.Rational // frames per second, exact
	Drop          bool            // labels are drop-frame
	Start         int64           // the label of the first frame, counted from 00:00:00:00
	Width, Height int             // of the frame; 0: not said
	Sources       []Source
	Clips         []Clip
	Beds          []Bed
	Marks         []Mark
}

// Source is one file that clips come from.
type Source struct {
	Path   string // as it is named: relative, absolute or a URL's path; "" where only Name is known
	Name   string // what people call it
	Start  int64  // the label of its first frame, in frames of the timeline's rate
	Length int64  // frames; 0: not known
	Video  bool
	Audio  bool
}

// Clip is one part of a source.
type Clip struct {
	Source int   // of the timeline
	Lead   int64 // black before it
	// In is the label, in the source, of its first frame: what the source's Start is
	// counted in, too.
	In     int64
	Length int64           // in the timeline, with what it shares with its neighbours
	Speed  ffmpeg.Rational // source frames for each frame; zero is 1
	Enter  Transition      // from the clip before
}

// Transition is how a clip takes over from the one before: both show for Length frames,
// the last of the one and the first of the other.
type Transition struct {
	Kind   string // of edit.join: fade is a dissolve; "" is a cut
	Length int64
}

// Bed is sound laid under the clips.
type Bed struct {
	Source int
	At     int64 // in the timeline
	In     int64 // label in the source
	Length int64 // 0: to the end of either
}

// Mark is a place with a name.
type Mark struct {
	At      int64 // in the timeline
	Title   string
	Chapter bool
}

// Lost says what a file could not carry, once each.
type Lost []string

func (l *Lost) add(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if len(*l) < maxLost && !slices.Contains(*l, s) {
		*l = append(*l, s)
	}
}

// Bounds of what is read: more than an editor holds, less than a bomb.
const (
	MaxText  = 32 << 20 // bytes of a file
	maxClips = 10_000
	maxLost  = 200
	maxFrame = int64(1) << 40
	maxDepth = 64
)

// speed is the clip's speed, 1 when it says none.
func (c Clip) speed() ffmpeg.Rational {
	if !c.Speed.Known() {
		return ffmpeg.Rational{Num: 1, Den: 1}
	}
	return c.Speed.Reduced()
}

// Places are where the clips begin, the leads before them not counted, and the length of
// all.
func (t *Timeline) Places() (at []int64, total int64) {
	for _, c := range t.Clips {
		total += c.Lead - c.Enter.Length
		at = append(at, total)
		total += c.Length
	}
	return at, total
}

// Check refuses a timeline whose parts do not fit each other.
func (t *Timeline) Check() error {
	if !t.Rate.Known() || t.Rate.Float() > 1000 || t.Rate.Float() < 1 {
		return bad("the timeline states no frame rate between 1 and 1000")
	}
	if len(t.Clips) == 0 {
		return bad("the timeline holds no clip")
	}
	if len(t.Clips) > maxClips || len(t.Beds) > maxClips || len(t.Marks) > maxClips {
		return cutroom.Errorf(cutroom.Limit, "the timeline holds more than %d entries", maxClips).WithHint("split it")
	}
	last := int64(0)
	for i, c := range t.Clips {
		switch {
		case c.Source < 0 || c.Source >= len(t.Sources):
			return bad("clip %d has no source", i+1)
		case c.Length < 1 || c.Length > maxFrame || c.In < 0 || c.In > maxFrame || c.Lead < 0 || c.Lead > maxFrame || c.Enter.Length < 0:
			return bad("clip %d has no length, or lies outside of its source", i+1)
		case i == 0 && c.Enter.Length > 0, c.Enter.Length > 0 && c.Lead > 0:
			return bad("clip %d has a transition from nothing", i+1)
		case c.Enter.Length >= c.Length, i > 0 && c.Enter.Length+last >= t.Clips[max(0, i-1)].Length:
			return bad("clip %d is shorter than its transitions", i+1)
		case c.Speed.Num < 0 || c.Speed.Den < 0 || c.Speed.Known() && (c.speed().Float() > 1000 || c.speed().Float() < 0.001):
			return bad("clip %d plays at no speed between 0.001 and 1000", i+1)
		}
		last = c.Enter.Length
	}
	for i, b := range t.Beds {
		if b.Source < 0 || b.Source >= len(t.Sources) || b.At < 0 || b.At > maxFrame || b.In < 0 || b.In > maxFrame || b.Length < 0 || b.Length > maxFrame {
			return bad("the sound %d has no source or no place", i+1)
		}
	}
	return nil
}

func bad(format string, args ...any) error {
	return cutroom.Errorf(cutroom.Invalid, format, args...).WithHint("export the timeline again, or take another format")
}

// shelf numbers the sources of a timeline that is read, each once.
type shelf struct {
	list []Source
	at   map[Source]int // by path, name and start alone
}

// key is what tells s from other sources.
func (s Source) key() Source {
	if s.Path != "" && s.Name == nameOf(s.Path) {
		s.Name = ""
	}
	return Source{Path: s.Path, Name: s.Name, Start: s.Start}
}

// put returns the number of a source with that path and name, a new one when there is
// none yet.
func (h *shelf) put(s Source) int {
	k := s.key()
	i, ok := h.at[k]
	if !ok {
		if h.at == nil {
			h.at = map[Source]int{}
		}
		i = len(h.list)
		h.at[k] = i
		h.list = append(h.list, k)
	}
	o := &h.list[i]
	o.Length, o.Video, o.Audio = max(o.Length, s.Length), o.Video || s.Video, o.Audio || s.Audio
	return i
}

// base is how many frames a second of a label counts.
func (t *Timeline) base() int { return ffmpeg.Base(t.Rate) }

// label is the timecode of a frame, drop-frame where the timeline is.
func (t *Timeline) label(n int64) string { return ffmpeg.TimecodeOf(n, t.base(), t.Drop).String() }

// times is n·r to the nearest whole number.
func times(n int64, r ffmpeg.Rational) int64 {
	num := new(big.Int).Mul(big.NewInt(n), big.NewInt(r.Num))
	den := big.NewInt(r.Den)
	num.Lsh(num, 1).Add(num, den)
	return num.Div(num, new(big.Int).Lsh(den, 1)).Int64()
}

// Frames is how many frames of the timeline's rate a time is, to the nearest.
func (t *Timeline) Frames(m cutroom.Micros) int64 {
	r := big.NewRat(t.Rate.Num, t.Rate.Den)
	r.Mul(r, big.NewRat(int64(m), 1_000_000))
	return nearest(r)
}

// Time is when frame n of the timeline begins, to the nearest microsecond.
func (t *Timeline) Time(n int64) cutroom.Micros {
	r := big.NewRat(n, 1)
	r.Mul(r, big.NewRat(t.Rate.Den*1_000_000, t.Rate.Num))
	return cutroom.Micros(nearest(r))
}

// nearest is the whole number next to r; what no int64 holds is clamped.
func nearest(r *big.Rat) int64 {
	n := new(big.Int).Lsh(r.Num(), 1)
	n.Add(n, r.Denom())
	n.Div(n, new(big.Int).Lsh(r.Denom(), 1))
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return -1 << 62
	}
	return 1 << 62
}

// Format is a kind of file.
type Format string

// The formats.
const (
	FCPXML Format = "fcpxml"
	EDL    Format = "edl"
	OTIO   Format = "otio"
)

// FormatOf is the format that a file's suffix stands for, "" for none.
func FormatOf(suffix string) Format {
	switch f := Format(strings.ToLower(strings.TrimPrefix(suffix, "."))); f {
	case FCPXML, EDL, OTIO:
		return f
	}
	return ""
}

// Read reads a timeline. rate is of a file that states none, which a list in CMX 3600
// form does not.
func Read(f Format, text []byte, rate ffmpeg.Rational) (*Timeline, Lost, error) {
	if len(text) > MaxText {
		return nil, nil, cutroom.Errorf(cutroom.Limit, "the timeline has %d bytes, more than %d", len(text), MaxText).WithHint("export a shorter one")
	}
	var t *Timeline
	var lost Lost
	var err error
	switch f {
	case FCPXML:
		t, lost, err = readFCPXML(text)
	case EDL:
		t, lost, err = readEDL(text, rate)
	case OTIO:
		t, lost, err = readOTIO(text)
	default:
		return nil, nil, cutroom.Errorf(cutroom.Invalid, "%q is no form of a timeline", f).WithHint("give a file that ends in .fcpxml, .edl or .otio")
	}
	if err == nil {
		err = t.Check()
	}
	return t, lost, err
}

// Write writes a timeline.
func Write(f Format, t *Timeline) ([]byte, Lost, error) {
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	switch f {
	case FCPXML:
		return writeFCPXML(t)
	case EDL:
		return writeEDL(t)
	case OTIO:
		return writeOTIO(t)
	}
	return nil, nil, cutroom.Errorf(cutroom.Invalid, "%q is no form of a timeline", f).WithHint("name an output that ends in .fcpxml, .edl or .otio")
}
