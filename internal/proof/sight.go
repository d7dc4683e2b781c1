package proof

import (
	"fmt"
	"slices"

	"cutroom/internal/ffmpeg"
)

// timesMore is how much more of its place something that is drawn has to change than
// encoding changes elsewhere, and mostOutside which share of the picture may differ
// where nothing is drawn: what encoding does to hard edges.
const (
	timesMore   = 3.0
	edge        = 64
	mostOutside = 0.0005
)

// StillsOf are the frames that the sights need, steady where they are taken out of a
// graph.
func (v *Video) StillsOf(width, height int, steady bool) ffmpeg.StillsOf {
	s := ffmpeg.StillsOf{Width: width, Height: height, Steady: steady}
	for _, x := range v.Sights {
		if !slices.Contains(s.Frames, x.Frame) {
			s.Frames = append(s.Frames, x.Frame)
		}
	}
	slices.Sort(s.Frames)
	return s
}

// sights demands that what was drawn can be seen on the decoded frames, and nothing
// beside it.
func (p *Proof) sights() {
	v := p.want.Video
	if v == nil || len(v.Sights) == 0 {
		return
	}
	var names []string
	looks, seen, share, last := map[string]int{}, map[string]int{}, map[string]float64{}, map[string]Sight{}
	outside := 0.0
	for _, s := range v.Sights {
		if !slices.Contains(names, s.What) {
			names = append(names, s.What)
			share[s.What] = 1
		}
		looks[s.What]++
		last[s.What] = s
		c := p.got.Stills.Apart(v.Bare, s.Frame, v.Width, v.Height, s.Place, v.Area, s.Least, s.Hue)
		if c.Inside >= max(s.Share, timesMore*c.Outside) && c.Inside > 0 {
			seen[s.What]++
		}
		share[s.What] = min(share[s.What], c.Inside)
		outside = max(outside, p.got.Stills.Apart(v.Bare, s.Frame, v.Width, v.Height, s.Place, v.Area, edge, false).Outside)
	}
	for _, n := range names {
		need := looks[n]
		if last[n].Once {
			need = 1
		}
		p.row(last[n].Check, n, seen[n] >= need, fmt.Sprintf("seen at %d of %d moments at least", need, looks[n]), fmt.Sprintf("seen at %d, %.1f %% of its place differs at least", seen[n], 100*share[n]), "")
	}
	p.row("rest_unchanged", "video", outside <= mostOutside, fmt.Sprintf("at most %.2f %% differs where nothing is drawn", 100*mostOutside), fmt.Sprintf("%.3f %%", 100*outside), "")
}
