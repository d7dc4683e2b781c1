package caption

import (
	"cmp"
	"math"
	"slices"

	"cutroom"
)

// box is where an event stands, with its rim.
type box struct {
	end         cutroom.Micros
	start       cutroom.Micros
	event       int
	top, bottom float64
}

// stack gives every event its place: the position asked for, and beside what is shown
// at the same time. Where nothing of the safe area is left, the caption that has stood
// longest ends.
func (l *Layout) stack() error {
	order := make([]int, len(l.events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.events[a].start, l.events[b].start) })
	var shown []box
	for _, i := range order {
		e := &l.events[i]
		shown = slices.DeleteFunc(shown, func(b box) bool { return b.end <= e.start })
		top, ok := l.free(shown, e)
		for !ok {
			old := 0
			for k, b := range shown {
				if b.start < shown[old].start {
					old = k
				}
			}
			if len(shown) == 0 || shown[old].start >= e.start {
				return cutroom.Errorf(cutroom.Invalid, "at %s s more captions are shown at once than the free part of the frame holds", e.start).
					WithHint("lower size, or give fewer cues at a time")
			}
			l.events[shown[old].event].end = e.start
			l.Report.Cut++
			shown = slices.Delete(shown, old, old+1)
			top, ok = l.free(shown, e)
		}
		shown = append(shown, box{e.end, e.start, i, top, top + e.height + 2*l.rim()})
		l.anchor(e, top)
	}
	return nil
}

// free finds the top of a free place for e among what is shown, the nearest to where it
// belongs.
func (l *Layout) free(shown []box, e *event) (top float64, ok bool) {
	a := l.area()
	h := e.height + 2*l.rim()
	fits := func(top float64) bool {
		if top < a.top-0.5 || top+h > a.bottom+0.5 {
			return false
		}
		return !slices.ContainsFunc(shown, func(b box) bool { return top < b.bottom-0.01 && b.top < top+h-0.01 })
	}
	home := a.bottom - h
	switch l.o.Style.Position.alignment() {
	case 4, 5, 6:
		home = math.Round((a.top + a.bottom - h) / 2)
	case 7, 8, 9:
		home = a.top
	}
	best, ok := home, fits(home)
	if ok {
		return home, true
	}
	for _, b := range shown {
		for _, t := range []float64{b.top - h, b.bottom} {
			if fits(t) && (!ok || math.Abs(t-home) < math.Abs(best-home)) {
				best, ok = t, true
			}
		}
	}
	return best, ok
}

// anchor turns the top of an event's place into the point that its alignment means.
func (l *Layout) anchor(e *event, top float64) {
	a, rim := l.area(), l.rim()
	k := l.o.Style.Position.alignment()
	switch k {
	case 1, 4, 7:
		e.x = a.left + rim
	case 3, 6, 9:
		e.x = a.right - rim
	default:
		e.x = (a.left + a.right) / 2
	}
	switch {
	case k <= 3:
		e.y = top + rim + e.height
	case k <= 6:
		e.y = top + rim + e.height/2
	default:
		e.y = top + rim
	}
}
