package graph

import (
	"fmt"
	"math"
	"strings"
)

// channelsOf returns the channels of a layout in their order, as ffmpeg names them
// (`ffmpeg -layouts`). A layout that has no name, or one that is not known here, is
// taken for the usual one of that many channels.
func channelsOf(layout string, channels int) []string {
	for _, l := range layouts() {
		if l.name == layout && len(l.channels) == channels {
			return l.channels
		}
	}
	for _, l := range layouts() {
		if len(l.channels) == channels && l.usual {
			return l.channels
		}
	}
	return nil
}

type layout struct {
	name     string
	usual    bool // what a stream of that many channels is when nothing else is said
	channels []string
}

func layouts() []layout {
	var list []layout
	for line := range strings.Lines(`
mono FC *
stereo FL+FR *
downmix DL+DR
2.1 FL+FR+LFE
3.0 FL+FR+FC *
3.0(back) FL+FR+BC
4.0 FL+FR+FC+BC
quad FL+FR+BL+BR *
quad(side) FL+FR+SL+SR
3.1 FL+FR+FC+LFE
5.0 FL+FR+FC+BL+BR *
5.0(side) FL+FR+FC+SL+SR
4.1 FL+FR+FC+LFE+BC
5.1 FL+FR+FC+LFE+BL+BR *
5.1(side) FL+FR+FC+LFE+SL+SR
6.0 FL+FR+FC+BC+SL+SR
6.0(front) FL+FR+FLC+FRC+SL+SR
hexagonal FL+FR+FC+BL+BR+BC
6.1 FL+FR+FC+LFE+BC+SL+SR *
6.1(back) FL+FR+FC+LFE+BL+BR+BC
6.1(front) FL+FR+LFE+FLC+FRC+SL+SR
7.0 FL+FR+FC+BL+BR+SL+SR
7.0(front) FL+FR+FC+FLC+FRC+SL+SR
7.1 FL+FR+FC+LFE+BL+BR+SL+SR *
7.1(wide) FL+FR+FC+LFE+BL+BR+FLC+FRC
7.1(wide-side) FL+FR+FC+LFE+FLC+FRC+SL+SR
octagonal FL+FR+FC+BL+BR+BC+SL+SR
`) {
		if f := strings.Fields(line); len(f) > 1 {
			list = append(list, layout{name: f[0], usual: len(f) > 2, channels: strings.Split(f[1], "+")})
		}
	}
	return list
}

// share says how much of a channel goes to the left and the right of a stereo mix:
// ITU-R BS.775-3, table 2, for the channels it has, and by the same reasoning for the
// others. The low-frequency channel is left out, as there.
func share(channel string) (left, right float64) {
	const half = math.Sqrt2 / 2 // −3 dB
	switch channel {
	case "FL", "DL", "WL":
		return 1, 0
	case "FR", "DR", "WR":
		return 0, 1
	case "FC":
		return half, half
	case "FLC":
		return 1, half / 2
	case "FRC":
		return half / 2, 1
	case "BL", "SL":
		return half, 0
	case "BR", "SR":
		return 0, half
	case "BC":
		return 0.5, 0.5
	}
	return 0, 0 // LFE
}

// mixdown returns the filter that turns sound of a layout into stereo or mono, "" when
// nothing is to be done. What goes to one side sums up to one at most, so that no mix
// is ever louder than full scale.
func mixdown(from string, channels int, to string) string {
	if to == "downmix" {
		to = "stereo"
		if channels <= 2 {
			return ""
		}
	}
	switch {
	case to == "stereo" && channels == 2, to == "mono" && channels == 1, to == "":
		return ""
	case to == "stereo" && channels == 1:
		return "pan=stereo|c0=c0|c1=c0"
	case to == "mono" && channels == 2:
		return "pan=mono|c0=0.5*c0+0.5*c1"
	}
	names := channelsOf(from, channels)
	if names == nil { // more channels than any layout here has: ffmpeg's own choice
		return "aformat=channel_layouts=" + to
	}
	var left, right []float64
	for _, n := range names {
		l, r := share(n)
		left, right = append(left, l), append(right, r)
	}
	if to == "mono" {
		for i := range left {
			left[i] += right[i]
		}
		return "pan=mono|c0=" + weights(left, sum(left))
	}
	most := max(sum(left), sum(right)) // the same for both, or the picture would lean
	return "pan=stereo|c0=" + weights(left, most) + "|c1=" + weights(right, most)
}

func sum(w []float64) float64 {
	t := 0.0
	for _, v := range w {
		t += v
	}
	return t
}

// weights writes one side of a mix, divided by total.
func weights(w []float64, total float64) string {
	var parts []string
	for i, v := range w {
		if v != 0 {
			parts = append(parts, fmt.Sprintf("%s*c%d", number(v/total), i))
		}
	}
	return strings.Join(parts, "+")
}
