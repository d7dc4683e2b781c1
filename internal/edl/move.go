package edl

import (
	"cutroom"
)

// Move says where a range of one timeline lies on another: nowhere, in one place, or in
// several, in order. Ranges that touch there are one.
type Move func(Range) []Range

// Forward returns the move from a source to the edit.
func (m *Map) Forward(source int) Move {
	return func(r Range) []Range { return Merge(m.Ranges(source, r)) }
}

// Back returns the move from the edit to a source: what other sources show has no place
// there.
func (m *Map) Back(source int) Move {
	return func(r Range) []Range {
		var out []Range
		for _, p := range m.Parts(r) {
			if p.Source == source {
				out = append(out, Range{p.SourceStart, p.SourceEnd})
			}
		}
		return Merge(out)
	}
}

// Parts returns what a range of the edit shows, in order of the edit: each segment cut
// to the range. Within a transition there are two at once.
func (m *Map) Parts(r Range) []Segment {
	var out []Segment
	for _, s := range m.Segments {
		a, b := max(r.Start, s.Start), min(r.End, s.End)
		if a >= b {
			continue
		}
		from, to := s.toSource(a), s.toSource(b)
		cut := s
		cut.Start, cut.End = a, b
		cut.SourceStart, cut.SourceEnd = min(from, to), max(from, to)
		if cut.SourceStart < cut.SourceEnd {
			out = append(out, cut)
		}
	}
	return out
}

// Instant moves a time without a length: to every place where it shows.
func (v Move) Instant(t cutroom.Micros) []cutroom.Micros {
	var at []cutroom.Micros
	for _, r := range v(Range{t, t + 1}) {
		at = append(at, r.Start)
	}
	return at
}

// Check returns an error that names what a map from outside says wrongly: a source that
// is not there, a part that ends before it begins, parts out of order.
func (m *Map) Check() error {
	for i, s := range m.Segments {
		switch {
		case s.Source < 0 || s.Source >= len(m.Sources):
			return invalid("segment %d of the edit map is of source %d, and there are %d", i, s.Source, len(m.Sources))
		case s.SourceStart < 0 || s.Start < 0 || s.SourceEnd > cutroom.MaxMicros || s.End > cutroom.MaxMicros:
			return invalid("segment %d of the edit map has a time that no recording has", i)
		case s.SourceEnd <= s.SourceStart || s.End <= s.Start:
			return invalid("segment %d of the edit map ends before it begins", i)
		case i > 0 && s.Start < m.Segments[i-1].Start:
			return invalid("segment %d of the edit map begins before the one ahead of it", i)
		}
	}
	return nil
}
