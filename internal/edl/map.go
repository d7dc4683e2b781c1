package edl

import (
	"slices"

	"cutroom"
)

// Map says which part of which source an edit shows when. Its segments are in order
// of the edit's time and do not overlap there, but for transitions, in which two
// segments show at once.
type Map struct {
	Sources  []Source       `json:"sources" doc:"The media that the edit shows, as segments count them."`
	Segments []Segment      `json:"segments" doc:"The parts, in order of the edit."`
	Seconds  cutroom.Micros `json:"seconds" min:"0" unit:"s" doc:"Length of the edit."`
}

// Source is one medium of an edit.
type Source struct {
	Name    string         `json:"name" doc:"Where the source was, with nothing secret in it."`
	SHA256  cutroom.Digest `json:"sha256" doc:"SHA-256 of its bytes."`
	Seconds cutroom.Micros `json:"seconds,omitempty" unit:"s" doc:"Its whole length."`
}

// Segment is one part of a source in an edit. All times are on public axes; ends are
// not part of it. Its speed is (source_end − source_start) ÷ (end − start).
type Segment struct {
	Source      int            `json:"source" min:"0" doc:"Which source, counted from 0."`
	SourceStart cutroom.Micros `json:"source_start" unit:"s" doc:"Where the part begins in its source."`
	SourceEnd   cutroom.Micros `json:"source_end" unit:"s" doc:"Where it ends there."`
	Start       cutroom.Micros `json:"start" unit:"s" doc:"Where it begins in the edit."`
	End         cutroom.Micros `json:"end" unit:"s" doc:"Where it ends there."`
	Reversed    bool           `json:"reversed,omitempty" doc:"Shown backwards."`
}

// Range is a half-open span of time.
type Range struct{ Start, End cutroom.Micros }

// ToEdit returns where the time t of a source shows in the edit, in order. A cut-out
// time has none; a time in a part that is shown twice has two.
func (m *Map) ToEdit(source int, t cutroom.Micros) []cutroom.Micros {
	var at []cutroom.Micros
	for _, s := range m.Segments {
		if s.Source == source && s.SourceStart <= t && t < s.SourceEnd {
			at = append(at, min(max(s.toEdit(t), s.Start), s.End-1))
		}
	}
	slices.Sort(at)
	return at
}

// ToSource returns what the edit shows at time t: a source and its time. Within a
// transition it is the part that began last. false: the edit shows nothing then.
func (m *Map) ToSource(t cutroom.Micros) (source int, at cutroom.Micros, ok bool) {
	for _, s := range slices.Backward(m.Segments) {
		if s.Start <= t && t < s.End {
			return s.Source, min(max(s.toSource(t), s.SourceStart), s.SourceEnd-1), true
		}
	}
	return 0, 0, false
}

// Ranges returns where the range r of a source shows in the edit: one range for each
// segment that shows some of it, in order of the edit.
func (m *Map) Ranges(source int, r Range) []Range {
	var out []Range
	for _, s := range m.Segments {
		a, b := max(r.Start, s.SourceStart), min(r.End, s.SourceEnd)
		if s.Source != source || a >= b {
			continue
		}
		from, to := s.toEdit(a), s.toEdit(b)
		if from != to {
			out = append(out, Range{min(from, to), max(from, to)})
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return int(a.Start - b.Start) })
	return out
}

func (s Segment) toEdit(t cutroom.Micros) cutroom.Micros {
	if s.Reversed {
		return s.End - scale(t-s.SourceStart, s.End-s.Start, s.SourceEnd-s.SourceStart)
	}
	return s.Start + scale(t-s.SourceStart, s.End-s.Start, s.SourceEnd-s.SourceStart)
}

func (s Segment) toSource(t cutroom.Micros) cutroom.Micros {
	d := scale(t-s.Start, s.SourceEnd-s.SourceStart, s.End-s.Start)
	if s.Reversed {
		return s.SourceEnd - d
	}
	return s.SourceStart + d
}
