package graph

import "cutroom"

// Work is what is done with one track's sound, in the order gate, denoise, voice,
// compressor, gain, music and effects, fades, layout, limiter.
type Work struct {
	Gain            float64 // dB
	Voice           string  // light, medium, strong
	Denoise         float64 // dB of reduction; 0: none
	FadeIn, FadeOut cutroom.Micros
	Layout          string // "", stereo, mono: a proper mix
	Replace         *Bed   // in place of the source's sound
	Music, Effects  *Bed
}

// Bed is sound laid under the edit.
type Bed struct {
	Source  int     // of the graph
	Volume  float64 // dB
	Loop    bool
	FadeOut cutroom.Micros
	Offset  cutroom.Micros // where it begins in the edit; negative: its beginning is cut off
}
