package graph

import (
	"fmt"

	"cutroom/internal/ffmpeg"
)

// Motion moves over a picture that is held: from one view to another, evenly.
type Motion struct{ From, To View }

// View is a part of a picture of the frame's shape.
type View struct {
	Zoom float64 // 1 shows all of it, 2 half its width
	X, Y float64 // where the part lies in the room that is left: 0 left or top, 1 right or bottom
}

// moved is the chain that moves over one frame: it is brought to the frame's shape at
// the size that the closest view needs, then each frame of the output is a view of it,
// placed to a 256th of a pixel.
func (c *compiler) moved(m *Motion, p part, v *ffmpeg.Stream, tag string) string {
	big := c.out
	times := 2
	if c.out.width*times > 8192 || c.out.height*times > 8192 {
		times = 1
	}
	big.width, big.height, big.kept, big.sar = c.out.width*times, c.out.height*times, false, ffmpeg.Rational{}
	at := "0"
	if p.length > 1 {
		at = fmt.Sprintf("min(in/%d,1)", p.length-1)
	}
	between := func(from, to float64) string {
		if from == to {
			return number(from)
		}
		return fmt.Sprintf("(%s+(%s)*%s)", number(from), number(to-from), at)
	}
	// Zooming evenly means that the part's width changes evenly.
	share := between(1/m.From.Zoom, 1/m.To.Zoom)
	left := fmt.Sprintf("(1-%s)*%s", share, between(m.From.X, m.To.X))
	top := fmt.Sprintf("(1-%s)*%s", share, between(m.From.Y, m.To.Y))
	chain := c.look(v.Video, big, tag) + c.atRate(p.length)
	chain += fmt.Sprintf(",perspective=sense=source:eval=frame:interpolation=cubic:x0='W*(%[1]s)':y0='H*(%[2]s)':x1='W*(%[1]s+%[3]s)':y1='H*(%[2]s)':x2='W*(%[1]s)':y2='H*(%[2]s+%[3]s)':x3='W*(%[1]s+%[3]s)':y3='H*(%[2]s+%[3]s)'", left, top, share)
	return chain + fmt.Sprintf(",scale=%d:%d:flags=bicubic,format=%s,setsar=1%s", c.out.width, c.out.height, c.out.format, c.setColors(c.out))
}
