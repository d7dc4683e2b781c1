package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// Label is how the camera moves in a shot.
type Label string

// The labels. Left and right, up and down, are where the camera turns to: the picture's
// content goes the other way.
const (
	Static   Label = "static"
	PanLeft  Label = "pan-left"
	PanRight Label = "pan-right"
	TiltUp   Label = "tilt-up"
	TiltDown Label = "tilt-down"
	ZoomIn   Label = "zoom-in"
	ZoomOut  Label = "zoom-out"
	Handheld Label = "handheld" // the camera moves to and fro
	Motion   Label = "motion"   // the picture changes, and not as a whole
)

// Shot is a stretch of pictures with the way the camera moves in it.
type Shot struct {
	Start, End cutroom.Micros
	Label      Label
	Flow       float64 // how fast the picture moves as a whole, in widths a second
	Activity   float64 // how much of the change the camera does not explain, 0–1
}

// Upright says how coded pictures are turned and flipped to be shown.
type Upright struct {
	Turn     int // degrees clockwise: 0, 90, 180, 270
	Mirrored bool
}

const (
	restingFlow = 0.012 // widths a second
	restingZoom = 0.012 // growth a second
	steadyShare = 0.6   // of all movement that goes one way
	leastTravel = 0.08  // widths, or growth, in the whole shot
	leastUnlike = 0.004 // of the picture, that differs although the camera was followed
	explained   = 0.6   // of the change is left when the camera explains little
)

// Shots labels the stretches between bounds, which are in order and hold the start and
// the end of the recording, once [Pictures.Changes] ended it. Pictures need
// [PictureOptions].Motion.
func (p *Pictures) Shots(bounds []cutroom.Micros, u Upright) []Shot {
	shots := []Shot{}
	from := 0
	for i := 1; i < len(bounds); i++ {
		s := Shot{Start: bounds[i-1], End: bounds[i], Label: Static}
		for from < len(p.motion.moves) && p.motion.moves[from].since < s.Start {
			from++
		}
		to := from
		for to < len(p.motion.moves) && p.motion.moves[to].at < s.End {
			to++
		}
		s.label(p.within(p.motion.moves[from:to]), u)
		shots = append(shots, s)
	}
	return shots
}

// within leaves out the moves during gradual changes, which are no camera's.
func (p *Pictures) within(moves []move) []move {
	var out []move
	for _, m := range moves {
		if !slices.ContainsFunc(p.all, func(c Change) bool { return c.Kind != Cut && m.at > c.Start && m.since < c.End }) {
			out = append(out, m)
		}
	}
	return out
}

// label sums the moves of a shot up.
func (s *Shot) label(moves []move, u Upright) {
	var time, x, y, zoom, path, zoomPath, before, after, unlike float64
	for _, m := range moves {
		dt := (m.at - m.since).Seconds()
		mx, my := u.shown(m.x, m.y)
		time += dt
		x, y, zoom = x+mx, y+my, zoom+m.zoom
		path += math.Hypot(mx, my)
		zoomPath += math.Abs(m.zoom)
		before, after = before+m.before, after+m.after
		unlike += m.rough / float64(len(moves))
	}
	if time == 0 || len(moves) == 0 {
		return
	}
	round := func(v float64) float64 { return math.Round(v*10_000) / 10_000 }
	s.Flow = round(path / time)
	if unlike > leastUnlike {
		s.Activity = round(math.Min(1, after/before))
	}
	net := math.Hypot(x, y)
	switch turning := path/time > restingFlow && net > steadyShare*path && net > leastTravel; {
	case zoomPath/time > restingZoom && math.Abs(zoom) > steadyShare*zoomPath && math.Abs(zoom) > leastTravel && math.Abs(zoom) > 0.7*net:
		s.Label = pick(zoom > 0, ZoomIn, ZoomOut)
	case turning:
		s.Flow = round(net / time)
		s.Label = pick(y < 0, TiltDown, TiltUp)
		if math.Abs(x) >= math.Abs(y) {
			s.Label = pick(x < 0, PanRight, PanLeft)
		}
	case s.Activity > explained:
		s.Label = Motion
	case path/time > 2*restingFlow:
		s.Label = Handheld
	}
}

func pick(first bool, a, b Label) Label {
	if first {
		return a
	}
	return b
}

// shown turns a movement of the coded picture into one of the picture as it is shown.
func (u Upright) shown(x, y float64) (float64, float64) {
	if u.Mirrored {
		x = -x
	}
	switch ((u.Turn % 360) + 360) % 360 {
	case 90:
		return -y, x
	case 180:
		return -x, -y
	case 270:
		return y, -x
	}
	return x, y
}

// Bounds are where scenes begin and end: the start, every change that separates two of
// them, and the end.
func Bounds(changes []Change, start, end cutroom.Micros) []cutroom.Micros {
	b := []cutroom.Micros{start}
	for _, c := range changes {
		if !c.Edge && c.At > b[len(b)-1] && c.At < end {
			b = append(b, c.At)
		}
	}
	if end > start {
		b = append(b, end)
	}
	return slices.Compact(b)
}
