package graph

import (
	"cmp"
	"slices"
)

// EncoderNeed is an encoder of ffmpeg that only some edits use.
type EncoderNeed struct {
	Encoder string // ffmpeg's name
	When    string // what the written file has to hold for it to be used
}

// EncoderNeeds are all encoders that an edit may use, sorted by name.
func EncoderNeeds() []EncoderNeed {
	var all []EncoderNeed
	for codec, list := range encoders {
		for i, e := range list {
			n := EncoderNeed{e.name, "pictures written as " + codec}
			if i > 0 {
				n.When += ", without " + list[0].name
			}
			all = append(all, n)
		}
	}
	for codec, name := range audioEncoders {
		all = append(all, EncoderNeed{name, "sound written as " + codec})
	}
	slices.SortFunc(all, func(a, b EncoderNeed) int { return cmp.Compare(a.Encoder, b.Encoder) })
	return all
}
