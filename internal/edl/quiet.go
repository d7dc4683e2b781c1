package edl

import (
	"slices"

	"cutroom"
)

// Quiet says what of a recording is dead air.
type Quiet struct {
	Whole      Range          // the recording
	Spans      []Range        // where it is quiet, however shortly
	Voices     []Range        // where somebody speaks: never dead air, quiet or not
	Words      []Range        // what is cut out besides: filler words
	MinSilence cutroom.Micros // shorter pauses stay: breaths
	Margin     cutroom.Micros // that stays on the side of what sounds
	MinKeep    cutroom.Micros // a sound shorter than this between two silences is a click
}

// Tightened is what stays of a recording.
type Tightened struct {
	Silences []Range // of at least MinSilence
	Breaths  []Range // quiet spans that are shorter
	Keep     []Range // in order, none touching the next
	Silent   cutroom.Micros
	Worded   cutroom.Micros // further time that Words took
}

// Tighten decides what stays: everything but the silences, less a margin on each side
// that borders on sound, and but the words. What begins or ends the recording has no
// margin there. A sound between two silences that is shorter than MinKeep goes, unless
// somebody speaks in it.
func (q Quiet) Tighten() Tightened {
	var t Tightened
	for _, r := range q.quiet() {
		if r.End-r.Start >= q.MinSilence {
			t.Silences = append(t.Silences, r)
		} else {
			t.Breaths = append(t.Breaths, r)
		}
	}
	var cut []Range
	for _, r := range t.Silences {
		if r.Start > q.Whole.Start {
			r.Start += q.Margin
		}
		if r.End < q.Whole.End {
			r.End -= q.Margin
		}
		if r.Start < r.End {
			cut = append(cut, r)
		}
	}
	keep := slices.DeleteFunc(Without(q.Whole, cut), func(r Range) bool {
		return r.End-r.Start < q.MinKeep && !q.spoken(r)
	})
	kept := Total(keep)
	t.Silent = q.Whole.End - q.Whole.Start - kept
	for _, r := range keep {
		t.Keep = append(t.Keep, Without(r, q.Words)...)
	}
	t.Worded = kept - Total(t.Keep)
	return t
}

// quiet is where it is quiet and nobody speaks.
func (q Quiet) quiet() []Range {
	var out []Range
	for _, r := range Merge(q.Spans) {
		r.Start, r.End = max(r.Start, q.Whole.Start), min(r.End, q.Whole.End)
		if r.Start < r.End {
			out = append(out, Without(r, q.Voices)...)
		}
	}
	return out
}

func (q Quiet) spoken(r Range) bool {
	return slices.ContainsFunc(q.Voices, func(v Range) bool { return v.Start < r.End && r.Start < v.End })
}
