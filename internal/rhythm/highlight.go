package rhythm

import (
	"cmp"
	"slices"

	"cutroom"
)

// Rank is what makes a scene a highlight.
type Rank string

// The ranks.
const (
	ByAudio    Rank = "audio"    // loud scenes first
	ByDuration Rank = "duration" // long scenes first
)

// HighlightOptions say how many highlights and how long. A zero field is no bound.
type HighlightOptions struct {
	Count    int
	By       Rank
	Target   cutroom.Micros // length of all together, at most
	MaxScene cutroom.Micros // length of one, at most
}

// Stretch is a part of a recording.
type Stretch struct{ Start, End cutroom.Micros }

// Highlights chooses stretches of the scenes between bounds and returns them in order of
// time. A scene that is too long gives its loudest part.
func Highlights(bounds []cutroom.Micros, l *Levels, o HighlightOptions) []Stretch {
	type scene struct {
		Stretch
		level float64
	}
	var scenes []scene
	for i := 1; i < len(bounds); i++ {
		rms, _ := l.Between(bounds[i-1], bounds[i])
		scenes = append(scenes, scene{Stretch{bounds[i-1], bounds[i]}, rms})
	}
	slices.SortStableFunc(scenes, func(a, b scene) int {
		if o.By == ByDuration {
			return cmp.Compare(b.End-b.Start, a.End-a.Start)
		}
		return cmp.Compare(b.level, a.level)
	})
	scenes = scenes[:min(len(scenes), max(0, o.Count))]
	out := []Stretch{}
	left := o.Target
	for i, s := range scenes {
		length := s.End - s.Start
		if o.MaxScene > 0 {
			length = min(length, o.MaxScene)
		}
		if o.Target > 0 { // what is left is shared by those that are still to come
			length = min(length, left/cutroom.Micros(len(scenes)-i))
		}
		if length <= 0 {
			continue
		}
		left -= length
		at := l.Loudest(s.Start, s.End, length)
		out = append(out, Stretch{at, at + length})
	}
	slices.SortFunc(out, func(a, b Stretch) int { return cmp.Compare(a.Start, b.Start) })
	return out
}
