package graph

import (
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
)

// Sight is a moment of the edit at which something that is drawn has to be seen. The
// frame as it was before anything was drawn on it leaves the encode beside the file, and
// the proof compares it with what was written.
type Sight struct {
	Check string // as the proof calls it
	What  string // what it is of; the sights of one are judged together
	At    cutroom.Micros
	Box   Box
	Least int     // how many code values a pixel has to differ by
	Hue   bool    // colours count, not brightness alone
	Share float64 // of the box that has to differ at least
	Once  bool    // one of the sights of that name is enough
}

// watched splits the bare frames off the picture before it is drawn on, and says what
// has to be seen. A palette and transparency have no colours of their own to compare.
func (c *compiler) watched() string {
	p := c.g.Picture
	if len(p.Sights) == 0 || c.out.alpha || c.out.rgb() || c.out.format == "pal8" || c.out.sar.Known() {
		return ""
	}
	x := &proof.Video{}
	for _, s := range p.Sights {
		x.Sights = append(x.Sights, proof.Sight{
			Check: s.Check, What: s.What, Frame: c.frameAt(s.At), Place: ffmpeg.Place(s.Box), Least: s.Least, Hue: s.Hue, Share: s.Share, Once: s.Once,
		})
	}
	for _, b := range p.Drawn {
		x.Area = append(x.Area, ffmpeg.Place(b))
	}
	c.sights = x
	of := x.StillsOf(c.out.width, c.out.height, true)
	c.taps = append(c.taps, tap{"bare", ffmpeg.SignatureForm(c.a), of.Read})
	return fmt.Sprintf(",split[draw][look];[look]%s[bare];[draw]null", of.Filter())
}

// frameAt is the frame of the output that begins nearest to a time of the edit.
func (c *compiler) frameAt(at cutroom.Micros) int64 {
	last := c.frames() - 1
	if c.rate.Known() {
		return max(0, min(last, round(int64(at), c.rate, micro)))
	}
	if c.ticks == nil { // assumed, as the timeline is
		s := c.line.parts[0].source
		c.ticks = assumed(s.Media, s.Media.FirstVideo())
	}
	tick := round(int64(at), c.line.unit.Inverse(), micro)
	best, n := int64(0), int64(0)
	var apart int64 = 1 << 62
	for _, p := range c.line.parts {
		i, _ := slices.BinarySearch(c.ticks, p.from)
		for k := range p.frames {
			if d := int64(c.ticks[i+int(k)]-p.from) + p.at - tick; max(d, -d) < apart {
				best, apart = n, max(d, -d)
			}
			n++
		}
	}
	return min(best, last)
}
