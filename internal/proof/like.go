package proof

import (
	"fmt"
)

// What a lossy codec may change: the mean difference of one small picture, of 255, and
// of all; how much of the motion has to be left; how far a tenth of a second of sound may be off, in dB, and
// in which share of them. Measured over the encoders here at their poorest useful quality; what replaces, blackens, freezes, doubles or
// mutes lies far outside.
const (
	pictureApart, picturesApart = 30.0, 12.0
	motionLeft, motionCounts    = 0.2, 1.0
	soundApart, soundShare      = 6.0, 0.05
)

// likeness compares what the file shows and sounds with what went into its encoder,
// picture by picture and tenth of a second by tenth of a second.
func (p *Proof) likeness() {
	if v := p.want.Video; v != nil && len(v.Looks) > 0 {
		l := v.Looks.Like(p.got.Looks)
		ok := l.Compare > 0 && l.Worst <= pictureApart && l.Mean <= picturesApart
		p.row("pictures", "video", ok, fmt.Sprintf("as encoded, each within %g of 255, all within %g", pictureApart, picturesApart),
			fmt.Sprintf("%d compared, largest difference %.1f at frame %d, mean %.1f", l.Compare, l.Worst, l.At, l.Mean), "")
		if l.Motion >= motionCounts {
			p.row("motion", "video", l.Other >= motionLeft*l.Motion, fmt.Sprintf("at least %.2f of 255 from frame to frame", motionLeft*l.Motion), fmt.Sprintf("%.2f", l.Other), "")
		}
	}
	for i, a := range p.want.Audio {
		if len(a.Course) == 0 {
			continue
		}
		got := p.got.Courses[i]
		share, at := a.Course.Apart(got, soundApart)
		measured := fmt.Sprintf("%d tenths of a second compared, %.1f %% differ", min(len(got), len(a.Course)), 100*share)
		if at >= 0 {
			measured += fmt.Sprintf(", the first at %.1f s", float64(at)/10)
		}
		p.row("sound", fmt.Sprintf("audio %d", i), share <= soundShare && len(got) > 0, fmt.Sprintf("as encoded, within %g dB for all but %g %%", soundApart, 100*soundShare), measured, "")
	}
}
