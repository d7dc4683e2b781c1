package evidence

import (
	"slices"

	"cutroom"
)

// Shift moves s in time, its words too. Nothing starts before zero, and nothing ends
// before it starts.
func (s *Segment) Shift(by cutroom.Micros) {
	shift(&s.Start, s.End, by)
	for i := range s.Words {
		shift(&s.Words[i].Start, s.Words[i].End, by)
	}
}

func shift(start, end *cutroom.Micros, by cutroom.Micros) {
	*start = max(0, *start+by)
	if end != nil {
		*end = max(*start, *end+by)
	}
}

// Clip returns the segments that share time with the range from start to end, nil
// being the end of the recording. A segment without times stays.
func Clip(segments []Segment, start cutroom.Micros, end *cutroom.Micros) []Segment {
	return slices.DeleteFunc(segments, func(s Segment) bool {
		if s.Untimed {
			return false
		}
		until := s.Start
		if s.End != nil {
			until = *s.End
		}
		return end != nil && s.Start >= *end || until < start || until == start && s.Start < start
	})
}
