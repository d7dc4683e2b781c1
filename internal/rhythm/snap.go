package rhythm

import (
	"slices"

	"cutroom"
)

// Snapped is a time, and where it came to lie.
type Snapped struct {
	From  cutroom.Micros
	To    cutroom.Micros // From itself when nothing was near enough
	Moved bool           // a target was near enough; To may still equal From
}

// Snap moves each time to the nearest target that is at most tolerance away; of two
// equally near ones to the earlier. Targets may come in any order. The answer has as
// many entries as times, in their order; two times may land on one target.
func Snap(times, targets []cutroom.Micros, tolerance cutroom.Micros) []Snapped {
	sorted := slices.Clone(targets)
	slices.Sort(sorted)
	out := make([]Snapped, len(times))
	for i, t := range times {
		out[i] = Snapped{From: t, To: t}
		at, _ := slices.BinarySearch(sorted, t)
		best := tolerance
		for k := max(0, at-1); k < min(len(sorted), at+1); k++ {
			d := max(sorted[k]-t, t-sorted[k])
			if d < best || d == best && !out[i].Moved {
				best, out[i] = d, Snapped{From: t, To: sorted[k], Moved: true}
			}
		}
	}
	return out
}
