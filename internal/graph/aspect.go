package graph

import (
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// ParseAspect reads an aspect: W:H in whole numbers, or W/H.
func ParseAspect(s string) (ffmpeg.Rational, error) {
	w, h, ok := strings.Cut(strings.Replace(s, "/", ":", 1), ":")
	a, err1 := strconv.ParseInt(w, 10, 32)
	b, err2 := strconv.ParseInt(h, 10, 32)
	if !ok || err1 != nil || err2 != nil || a < 1 || b < 1 || a > 100*b || b > 100*a {
		return ffmpeg.Rational{}, cutroom.Errorf(cutroom.Invalid, "%q is not an aspect", s).WithHint("write W:H in whole numbers, such as 16:9, 9:16, 1:1, 4:5, 4:3 or 21:9")
	}
	return ffmpeg.Rational{Num: a, Den: b}.Reduced(), nil
}

// Inside returns the largest frame of an aspect that is no larger than w×h in either
// side, rounded down to even sizes: the side that touches first keeps its size.
func Inside(w, h int, aspect ffmpeg.Rational) (int, int) {
	fw, fh := int64(w), int64(w)*aspect.Den/aspect.Num
	if fh > int64(h) {
		fw, fh = int64(h)*aspect.Num/aspect.Den, int64(h)
	}
	return even(int(fw)), even(int(fh))
}

// Across returns the other side of a frame of an aspect, rounded to the nearest even
// size: the height for a width, and with the inverse aspect the width for a height.
func Across(side int, aspect ffmpeg.Rational) int {
	n := (int64(side)*aspect.Den + aspect.Num) / (2 * aspect.Num)
	return max(2, int(2*n))
}

// Turned returns where a box of a w×h picture lies once the picture is turned
// clockwise, then flipped.
func (b Box) Turned(w, h, turn int, flipX, flipY bool) Box {
	switch turn {
	case 90:
		b, w, h = Box{h - b.Y - b.Height, b.X, b.Height, b.Width}, h, w
	case 180:
		b = Box{w - b.X - b.Width, h - b.Y - b.Height, b.Width, b.Height}
	case 270:
		b, w, h = Box{b.Y, w - b.X - b.Width, b.Height, b.Width}, h, w
	}
	if flipX {
		b.X = w - b.X - b.Width
	}
	if flipY {
		b.Y = h - b.Y - b.Height
	}
	return b
}

// Anchor returns where a crop of a w×h picture to an aspect has to lie so that it keeps
// as much of the boxes as it can, in the terms of [Picture]: 0 is left or top, 1 right
// or bottom. Where several places keep as much, it is the one nearest to the middle of
// the boxes. kept is the share of their area that is kept.
func Anchor(boxes []Box, w, h int, aspect ffmpeg.Rational) (x, y, kept float64) {
	cw, ch := min(w, int(int64(h)*aspect.Num/aspect.Den)), min(h, int(int64(w)*aspect.Den/aspect.Num))
	cw, ch = max(1, cw), max(1, ch)
	xs, ys := make([]span, 0, len(boxes)), make([]span, 0, len(boxes))
	for _, b := range boxes {
		xs, ys = append(xs, span{b.X, b.X + b.Width, b.Height}), append(ys, span{b.Y, b.Y + b.Height, b.Width})
	}
	at := func(list []span, room, size int) (float64, float64) {
		if room <= 0 {
			return 0.5, 1
		}
		n, share := hold(list, room, size)
		return float64(n) / float64(room), share
	}
	x, keptX := at(xs, w-cw, cw)
	y, keptY := at(ys, h-ch, ch)
	return x, y, keptX * keptY // only one of the sides has room
}

// span is a box along one axis; weight is its size across it.
type span struct{ from, to, weight int }

// hold returns where a window of that size, between 0 and room, holds most of the
// spans, and which share. What it holds is linear between the places where an edge of a
// span enters or leaves, so only those matter, and the place in the middle of all.
func hold(list []span, room, size int) (at int, share float64) {
	if len(list) == 0 {
		return room / 2, 1
	}
	lo, hi := list[0].from, list[0].to
	places := []int{0, room}
	for _, s := range list {
		lo, hi = min(lo, s.from), max(hi, s.to)
		places = append(places, s.from, s.to, s.from-size, s.to-size)
	}
	middle := (lo + hi - size) / 2
	places = append(places, middle)
	best, most, all := 0, -1, 0
	for _, s := range list {
		all += (s.to - s.from) * s.weight
	}
	slices.Sort(places)
	for _, p := range places {
		p = min(max(p, 0), room)
		held := 0
		for _, s := range list {
			held += max(0, min(s.to, p+size)-max(s.from, p)) * s.weight
		}
		if held > most || held == most && abs(p-middle) < abs(best-middle) {
			best, most = p, held
		}
	}
	return best, float64(most) / float64(max(1, all))
}

func abs(n int) int { return max(n, -n) }
