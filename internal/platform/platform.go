// Package platform knows what the places that take media ask of a file, and the
// presets that files for them are made with. Both are data: one document in the
// program, and more of the same form from the operator.
//
// It promises that a document is read strictly, that a name is found by every alias,
// and that a preset never asks for what its platform refuses. It is pure. It must never
// know a tool or a program.
package platform

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"cutroom"
)

// Spec is what one platform asks of a file. A zero number is no limit.
type Spec struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`   // as the platform writes itself
	Aliases []string `json:"aliases"` // further names
	Audio   bool     `json:"audio_only"`

	Width        int      `json:"width"` // of the frame that fits best, in pixels
	Height       int      `json:"height"`
	Rate         Ratio    `json:"frame_rate"`     // what an export conforms to; zero: the source's
	MaxRate      Ratio    `json:"max_frame_rate"` // frames per second
	Aspects      []Ratio  `json:"aspects"`        // that are shown without bars, the best first
	MinShort     int      `json:"min_short_side"` // pixels
	Codecs       []string `json:"codecs"`         // of the picture, in ffmpeg's names
	PixelFormats []string `json:"pixel_formats"`  // that play everywhere there; none: any
	SampleRates  []int    `json:"sample_rates"`   // Hz
	MaxSeconds   float64  `json:"max_seconds"`    // of play
	MaxBytes     int64    `json:"max_bytes"`      // of the file
	SDROnly      bool     `json:"sdr_only"`       // high dynamic range is shown wrongly
	Loudness     Loudness `json:"loudness"`       // target
	Safe         Insets   `json:"safe"`           // what the platform draws over
}

// Ratio is an exact ratio: an aspect (9:16) or a frame rate (30, 30000/1001).
type Ratio struct{ Num, Den int64 }

// Loudness is a target. The zero value is none.
type Loudness struct {
	LUFS      float64 `json:"lufs"`      // integrated; 0 is no target
	Tolerance float64 `json:"tolerance"` // LU to either side
	TruePeak  float64 `json:"true_peak"` // dBTP, at most
}

// Insets are the parts of a frame's sides that a platform draws its own controls
// over, as fractions of the height (Top, Bottom) and the width (Left, Right).
type Insets struct {
	Top    float64 `json:"top"`
	Bottom float64 `json:"bottom"`
	Left   float64 `json:"left"`
	Right  float64 `json:"right"`
}

// MaxLength is MaxSeconds as a time.
func (s Spec) MaxLength() cutroom.Micros {
	return cutroom.Micros(s.MaxSeconds * float64(cutroom.Second))
}

// Known reports whether r says anything.
func (r Ratio) Known() bool { return r.Num > 0 && r.Den > 0 }

// Float returns r as a floating number, 0 when unknown.
func (r Ratio) Float() float64 {
	if !r.Known() {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// String writes an aspect as it is spoken of: 9:16.
func (r Ratio) String() string { return fmt.Sprintf("%d:%d", r.Num, r.Den) }

// UnmarshalText reads "9:16", "30000/1001" or "30".
func (r *Ratio) UnmarshalText(text []byte) error {
	num, den, cut := strings.Cut(strings.ReplaceAll(string(text), "/", ":"), ":")
	if !cut {
		den = "1"
	}
	n, err := strconv.ParseInt(num, 10, 32)
	d, err2 := strconv.ParseInt(den, 10, 32)
	if err != nil || err2 != nil || n <= 0 || d <= 0 {
		return fmt.Errorf("%q is not a ratio: write 9:16, 30 or 30000/1001", text)
	}
	*r = Ratio{n, d}
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (r Ratio) MarshalText() ([]byte, error) {
	if !r.Known() {
		return nil, nil
	}
	return []byte(r.String()), nil
}

//go:embed platform.json
var shippedDocument []byte

// shipped is the catalog that is part of the program.
var shipped = sync.OnceValue(func() Catalog {
	c, err := Parse(shippedDocument)
	if err != nil {
		panic(err) // the document is part of the program, and a test reads it
	}
	return c
})

// Shipped returns the catalog that is part of the program.
func Shipped() Catalog { return shipped() }

// Find returns the shipped platform of that name or alias. Another name is an error
// for the caller, which names the nearest.
func Find(name string) (Spec, error) { return shipped().Find(name) }

// PresetOf returns the shipped preset of that name or alias. Another name is an error
// for the caller, which names the nearest.
func PresetOf(name string) (Preset, error) { return shipped().Preset(name) }
