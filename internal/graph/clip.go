package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// Fill is a picture of one colour, or of several that run into each other.
type Fill struct {
	Colors []string // in ffmpeg's words; one, or up to eight from one end to the other
	Angle  float64  // of several: 0 runs from left to right, 90 from top to bottom
	Radial bool     // of several: they run from the middle outwards
}

// Repeat shows all clips again and again. The zero value is once.
type Repeat struct {
	Times  int            // 0: as often as Length needs
	Length cutroom.Micros // of the edit; it may end within a pass. 0: Times passes
}

func (r Repeat) on() bool { return r.Times > 1 || r.Length > 0 }

// What one run holds in memory and opens at most. A decoder of 1080p keeps some 16 MB.
const (
	maxHeld  = 256 << 20 // bytes of pictures that a filter keeps
	maxFeeds = 40        // inputs of a run that could be several
	maxOpen  = 230       // inputs of one that cannot
	soundRun = 60 * cutroom.Second
	heldLead = 2 * cutroom.Second // decoded before a held frame, so that the one on screen is found
)

// plain reports whether a clip is a range of its source and nothing else.
func (c Clip) plain() bool {
	return !c.Exact && c.Lead == 0 && !c.Reverse && !c.Frozen && !c.silent() && c.Motion == nil && c.Wave == nil && c.Ramp == nil && c.speed() == ffmpeg.Rational{Num: 1, Den: 1}
}

// silent reports whether nothing of the source is heard during a clip.
func (c Clip) silent() bool { return c.Hold > 0 || c.Fill != nil }

// units is how long a clip of the source's range from a to b shows, at per a second.
func (c Clip) units(a, b cutroom.Micros, per ffmpeg.Rational) int64 {
	if c.silent() {
		return round(int64(c.Hold), per, micro)
	}
	sp := c.speed()
	return round(int64(c.Lead)*sp.Num+int64(b-a)*sp.Den, ffmpeg.Rational{Num: per.Num, Den: per.Den * sp.Num}, micro)
}

// lasts is how long it shows.
func (c Clip) lasts(a, b cutroom.Micros) cutroom.Micros {
	if c.silent() {
		return c.Hold
	}
	return c.Lead + stretched(b-a, c.speed())
}

// still is the span of a clip that shows one frame: the frame's own, as far as the
// source's rate tells.
func (c Clip) still(s *Source) (a, b cutroom.Micros, err error) {
	v := s.Media.FirstVideo()
	if c.Fill != nil || v == nil || v.Video.StillImage {
		return 0, 1, nil
	}
	end := s.Media.DurationSeconds
	if v.EndSeconds > 0 {
		end = v.EndSeconds
	}
	if c.Start < 0 || end > 0 && c.Start >= end {
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "the time %s s lies outside %s, which is %s s long", c.Start, s.Name, end).WithHint("choose a time within the file")
	}
	step := cutroom.Second / 25
	if v.Video.FrameRate.Known() {
		step = frameTime(v.Video.FrameRate)
	}
	return c.Start, c.Start + step, nil
}

// OnFrame returns where the frame that is on screen at t begins, for a picture of even
// frames; t itself for others, whose times the container alone knows.
func OnFrame(d *ffmpeg.Document, t cutroom.Micros) cutroom.Micros {
	v := d.FirstVideo()
	if v == nil || v.Video.VFR.Variable || !v.Video.FrameRate.Known() || t <= v.StartSeconds {
		return t
	}
	r := v.Video.FrameRate
	n := int64(t-v.StartSeconds+1) * r.Num / (r.Den * 1_000_000)
	return v.StartSeconds + cutroom.Micros(round(n, ffmpeg.Rational{Num: 1_000_000, Den: 1}, r.Inverse()))
}

// expanded is g as its runs are made of it: what is played backwards in pieces that fit
// into memory, and repetitions that do not fit as clips of their own.
func (g Graph) expanded() (Graph, error) {
	var clips []Clip
	for _, c := range g.Clips {
		list := []Clip{c}
		if c.Reverse {
			var err error
			if list, err = g.backwards(c); err != nil {
				return g, err
			}
		}
		clips = append(clips, list...)
	}
	g.Clips = clips
	if g.inPieces() {
		return g, nil
	}
	if err := g.unrolled(); err != nil {
		return g, err
	}
	if n := g.feeds(); n > maxOpen {
		return g, cutroom.Errorf(cutroom.Limit, "the edit needs %d parts that are open at once; %d are allowed", n, maxOpen).
			WithHint("edit it in parts and join them, or make the picture smaller first (`cutroom fit --height 480`)")
	}
	return g, nil
}

// unrolled writes repetitions whose pictures or samples do not fit into memory out as
// clips.
func (g *Graph) unrolled() error {
	if !g.Repeat.on() {
		return nil
	}
	var once cutroom.Micros
	for _, c := range g.Clips {
		a, b, err := c.span(&g.Sources[c.Source], g.Picture != nil)
		if err != nil {
			return err
		}
		once += c.lasts(a, b)
	}
	if once <= 0 {
		return nil
	}
	fits := once <= 10*soundRun
	if v := g.Sources[g.Clips[0].Source].Media.FirstVideo(); g.Picture != nil && v != nil {
		rate := v.Video.FrameRate
		if g.Picture.Rate.Known() {
			rate = g.Picture.Rate
		}
		fits = fits && round(int64(once), rate, micro) <= g.held(v.Video)
	}
	if fits {
		return nil
	}
	r := g.Repeat
	times := int64(r.Times)
	if r.Length > 0 {
		times = (int64(r.Length) + int64(once) - 1) / int64(once)
	}
	if times*int64(g.feeds()) > maxFeeds {
		return cutroom.Errorf(cutroom.Limit, "%d passes of %s s are more than are opened at once", times, once).
			WithHint("repeat it fewer times, make the picture smaller first (`cutroom fit --height 480`), or loop what was looped")
	}
	g.Clips, g.Repeat = slices.Repeat(g.Clips, int(times)), Repeat{}
	if r.Length == 0 {
		return nil
	}
	var err error
	*g, _, err = g.cutOff(r.Length)
	return err
}

// cutOff is g with its clips cut off where the edit reaches most; false where it does
// not.
func (g Graph) cutOff(most cutroom.Micros) (Graph, bool, error) {
	clips := slices.Clone(g.Clips)
	var whole cutroom.Micros
	for i := range clips {
		c := &clips[i]
		a, b, err := c.span(&g.Sources[c.Source], g.Picture != nil)
		if err != nil {
			return g, false, err
		}
		length := c.lasts(a, b)
		if whole+length > most {
			left, sp := most-whole-c.Lead, c.speed()
			if left < cutroom.Second/100 && i > 0 { // less than half a frame
				g.Clips = clips[:i]
				return g, true, nil
			}
			left = max(left, cutroom.Second/100)
			shown := cutroom.Micros(round(int64(left), sp, ffmpeg.Rational{Num: 1, Den: 1}))
			switch {
			case c.silent():
				c.Hold = left
			case c.Reverse:
				c.Start, c.End = max(a, b-shown), b
			default:
				c.Start, c.End = a, a+shown
			}
			g.Clips = clips[:i+1]
			return g, true, nil
		}
		whole += length
		if t := g.seam(i + 1); t.on() {
			whole -= t.Length
		}
	}
	return g, false, nil
}

// feeds is how many inputs the clips need.
func (g *Graph) feeds() (n int) {
	if g.selecting() {
		return 1
	}
	for _, c := range g.Clips {
		if c.Fill == nil {
			n++
		}
	}
	return n
}

// backwards splits a clip that is played backwards into pieces that a filter may hold,
// the last first. Each but the last of them is a whole number of frames long.
func (g *Graph) backwards(c Clip) ([]Clip, error) {
	s := &g.Sources[c.Source]
	a, b, err := c.span(s, g.Picture != nil)
	if err != nil {
		return nil, err
	}
	per, most := ffmpeg.Rational{Num: 1_000_000, Den: 1}, int64(soundRun)
	if g.Picture != nil {
		v, err := s.Media.VideoStream()
		if err != nil {
			return nil, err
		}
		if per = g.Picture.Rate; !per.Known() {
			per = nominal(v.Video.FrameRate, v.Video.VFR.Variable)
		}
		if !per.Known() {
			per = ffmpeg.Rational{Num: 25, Den: 1}
		}
		most = g.held(v.Video)
	}
	sp := c.speed() // a piece is most frames of the output: so many of the source
	step := func(n int64) cutroom.Micros {
		return a + cutroom.Micros(round(n*sp.Num, ffmpeg.Rational{Num: 1_000_000, Den: sp.Den}, per.Inverse()))
	}
	var list []Clip
	for n := int64(0); step(n) < b; n += most {
		piece := c
		piece.Start, piece.End = step(n), min(b, step(n+most))
		if n > 0 && piece.units(piece.Start, b, per) < 2 && piece.End == b { // a rest of a frame joins its neighbour
			list[len(list)-1].End = b
			break
		}
		list = append(list, piece)
	}
	slices.Reverse(list)
	return list, nil
}

// held is how many frames of the output a filter may keep.
func (g *Graph) held(v *ffmpeg.VideoFacts) int64 {
	w, h := v.DisplayWidth, v.DisplayHeight
	if p := g.Picture; p.Width > 0 && p.Height > 0 {
		w, h = p.Width, p.Height
	}
	per := int64(w) * int64(h) * 3 / 2
	if v.BitDepth > 8 || g.Target.Video.Name == "prores" {
		per *= 2
	}
	if v.Alpha || g.Target.Video.Name == "prores" {
		per *= 2
	}
	most := int64(maxHeld)
	if g.Memory > 0 {
		most = g.Memory
	}
	return max(8, most/max(1, per))
}

// still is the picture of a clip that shows one frame, from the decoder on: the one on
// screen at the clip's start, and nothing behind it.
func (c *compiler) heldFrame(in int, p part, v *ffmpeg.Stream) string {
	if v.Video.StillImage {
		return fmt.Sprintf("[%d:%d]trim=end_frame=1,setpts=PTS-STARTPTS", in, v.Index)
	}
	d := p.source.Media
	at := max(ffmpeg.LastTick(p.start+d.ZeroSeconds, v.TimeBase), v.StartTicks)
	from := at - ffmpeg.TicksOf(heldLead, v.TimeBase)
	return fmt.Sprintf("[%d:%d]trim=start_pts=%d:end_pts=%d,setpts=PTS-%d", in, v.Index, from, at+1, at)
}

// fill is the picture of a clip that shows a colour: one frame in the form of the
// output, which is then held.
func (c *compiler) fill(f *Fill, tag string) string {
	w, h := c.out.width, c.out.height
	facts := &ffmpeg.VideoFacts{Width: w, Height: h, DisplayWidth: w, DisplayHeight: h, PixelFormat: "gbrp", BitDepth: 8}
	src := fmt.Sprintf("color=c=%s:s=%dx%d:r=25", f.Colors[0], w, h)
	if len(f.Colors) > 1 {
		src = f.gradient(w, h)
	}
	out := c.out
	out.kept = true // it has the frame's size already
	return src + ",trim=end_frame=1,format=gbrp," + c.dressed(facts, out, tag)
}

// dressed is look without what is done to the sources' pictures: a colour is not turned.
func (c *compiler) dressed(v *ffmpeg.VideoFacts, f frame, tag string) string {
	plain := *c
	picture := *c.g.Picture
	picture.Turn, picture.FlipX, picture.FlipY, picture.Crop, picture.Looks = 0, false, false, nil, nil
	plain.g.Picture = &picture
	return plain.look(v, f, tag)
}

// gradient is the source of colours that run into each other: from corner to corner at
// slanted angles, so that each shows.
func (f *Fill) gradient(w, h int) string {
	rad := f.Angle * math.Pi / 180
	dx, dy := math.Cos(rad), math.Sin(rad)
	reach := (math.Abs(dx)*float64(w) + math.Abs(dy)*float64(h)) / 2
	cx, cy := float64(w)/2, float64(h)/2
	x0, y0, x1, y1 := cx-dx*reach, cy-dy*reach, cx+dx*reach, cy+dy*reach
	kind := "linear"
	if f.Radial {
		kind, x0, y0, x1, y1 = "radial", cx, cy, 0, 0
	}
	// The filter counts from its ends, and takes none outside the picture below zero.
	at := func(v float64, most int) int { return min(max(int(math.Round(v)), 0), most-1) }
	var b strings.Builder
	fmt.Fprintf(&b, "gradients=s=%dx%d:r=25:type=%s:n=%d:speed=0.00001:x0=%d:y0=%d:x1=%d:y1=%d", w, h, kind, len(f.Colors), at(x0, w), at(y0, h), at(x1, w), at(y1, h))
	for i, c := range f.Colors {
		fmt.Fprintf(&b, ":c%d=%s", i, c)
	}
	return b.String()
}

// turned is the end of a part's sound, played backwards where that is asked for.
func (c *compiler) turned(p part, end string) string {
	if !p.clip.Reverse {
		return end
	}
	body, label, _ := strings.Cut(end, "[")
	return body + ",areverse,asetpts=N/SR/TB[" + label
}

// repeatPicture shows one pass of the picture as often as the edit has room for it.
func (c *compiler) repeatPicture() string {
	if c.line.once == c.line.total && !c.g.Repeat.on() {
		return ""
	}
	more := (c.line.total - 1) / c.line.once
	return fmt.Sprintf(",trim=end_frame=%d,loop=loop=%d:size=%d,setpts=N,trim=end_frame=%d", c.line.once, more, c.line.once, c.line.total)
}

// repeatSound does the same with the sound, to the sample.
func (c *compiler) repeatSound(t track) string {
	if c.line.once == c.line.total && !c.g.Repeat.on() {
		return ""
	}
	once, total := c.line.sample(c.line.once, t.rate), c.line.sample(c.line.total, t.rate)
	return fmt.Sprintf(",aloop=loop=%d:size=%d,asetpts=N/SR/TB,atrim=end_sample=%d", (total-1)/max(1, once), once, total)
}

// oneSource reports whether all clips show one source, so that its geometry can stay.
func (c *compiler) oneSource() bool {
	for _, cl := range c.g.Clips {
		if cl.Source != c.g.Clips[0].Source {
			return false
		}
	}
	return !c.g.meets()
}

// Length is how long a clip of a source that lasts so long shows.
func (c Clip) Length(source cutroom.Micros) cutroom.Micros {
	end := c.End
	if end == 0 || end > source {
		end = source
	}
	return c.lasts(c.Start, end)
}
