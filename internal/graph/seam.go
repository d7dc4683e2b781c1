package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// seam is how clip i takes over from the one before.
func (g *Graph) seam(i int) Transition {
	switch {
	case i <= 0 || i >= len(g.Clips):
		return Transition{}
	case g.Clips[i].Enter != nil:
		return *g.Clips[i].Enter
	}
	return g.Transition
}

// meets reports whether a clip takes over by more than a cut.
func (g *Graph) meets() bool {
	for i := range g.Clips {
		if g.seam(i).on() {
			return true
		}
	}
	return false
}

// over is how many units of the timeline clip i shares with the one before: frames of a
// rate, or samples.
func (g *Graph) over(i int, rate ffmpeg.Rational) int64 {
	t := g.seam(i)
	if !t.on() {
		return 0
	}
	return max(1, round(int64(t.Length), rate, micro))
}

// tooShort refuses a clip that its transitions would fill.
func (g *Graph) tooShort(i int, length, before, after int64, shows cutroom.Micros) error {
	if length >= 1 && (before+after == 0 || length > before+after) {
		return nil
	}
	if before+after == 0 {
		return cutroom.Errorf(cutroom.Invalid, "clip %d (%s) shows no frame", i+1, g.Sources[g.Clips[i].Source].Name).
			WithHint("choose times that hold a frame; `cutroom probe` says how long the recording is and how many frames it has in a second")
	}
	longest := max(g.seam(i).Length, g.seam(i+1).Length)
	return cutroom.Errorf(cutroom.Invalid, "clip %d (%s) lasts %s s, too short for transitions of %s s", i+1, g.Sources[g.Clips[i].Source].Name, shows, longest).
		WithHint("a clip has to be longer than two transitions; shorten them or leave it out")
}

// runs are the groups of parts that follow each other by plain cuts: [from, to).
func (c *compiler) runs() (list [][2]int) {
	from := 0
	for i := 1; i <= len(c.line.parts); i++ {
		if i == len(c.line.parts) || c.overlap(i) > 0 {
			list = append(list, [2]int{from, i})
			from = i
		}
	}
	return list
}

// overlap is how many units part i shares with the one before.
func (c *compiler) overlap(i int) int64 {
	p, q := c.line.parts[i-1], c.line.parts[i]
	return p.at + p.length - q.at
}

// chainPicture joins the pictures of the parts, which are [p0], [p1] …, and goes on with
// end.
func (c *compiler) chainPicture(end string) {
	runs := c.runs()
	links := make([]string, len(runs))
	for n, r := range runs {
		links[n] = fmt.Sprintf("p%d", r[0])
		if r[1]-r[0] == 1 {
			continue
		}
		var in strings.Builder
		for i := r[0]; i < r[1]; i++ {
			fmt.Fprintf(&in, "[p%d]", i)
		}
		// Counted anew: where a clip ends concat guesses from the distance of its frames, and
		// a single frame has none.
		join := fmt.Sprintf("%sconcat=n=%d:v=1:a=0,settb=%s,setpts=N", in.String(), r[1]-r[0], c.rate.Inverse())
		if len(runs) == 1 {
			c.chains = append(c.chains, join+end)
			return
		}
		links[n] = fmt.Sprintf("r%d", n)
		c.chains = append(c.chains, fmt.Sprintf("%s[%s]", join, links[n]))
	}
	if len(runs) == 1 {
		c.chains = append(c.chains, "["+links[0]+"]null"+end)
		return
	}
	prev := links[0]
	for n := 1; n < len(runs); n++ {
		i := runs[n][0]
		next := fmt.Sprintf("[x%d]", n)
		if n == len(runs)-1 {
			next = end
		}
		c.chains = append(c.chains, fmt.Sprintf("[%s][%s]xfade=transition=%s:duration=%s:offset=%s%s", prev, links[n], c.g.seam(i).Kind,
			c.line.time(c.overlap(i)), c.line.time(c.line.parts[i].at), next))
		prev = fmt.Sprintf("x%d", n)
	}
}

// chainParts joins the conformed sounds of the parts, which are [label p0] …, into one
// link, whose name it returns.
func (c *compiler) chainParts(t track, label string) (chains []string, link string) {
	runs := c.runs()
	links := make([]string, len(runs))
	for n, r := range runs {
		links[n] = fmt.Sprintf("%sp%d", label, r[0])
		if r[1]-r[0] == 1 {
			continue
		}
		var in strings.Builder
		for i := r[0]; i < r[1]; i++ {
			fmt.Fprintf(&in, "[%sp%d]", label, i)
		}
		links[n] = fmt.Sprintf("%sr%d", label, n)
		chains = append(chains, fmt.Sprintf("%sconcat=n=%d:v=0:a=1[%s]", in.String(), r[1]-r[0], links[n]))
	}
	link = links[0]
	for n := 1; n < len(runs); n++ {
		p, q := c.line.parts[runs[n][0]-1], c.line.parts[runs[n][0]]
		over := c.line.sample(p.at+p.length, t.rate) - c.line.sample(q.at, t.rate)
		next := fmt.Sprintf("%sx%d", label, n)
		chains = append(chains, fmt.Sprintf("[%s][%s]acrossfade=ns=%d[%s]", link, links[n], over, next))
		link = next
	}
	return chains, link
}
