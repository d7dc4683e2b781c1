package graph

import (
	"math"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// Work is what is done with one track's sound, in the order of its fields. The layout
// is changed before anything is mixed in, so that stereo music stays stereo under a
// mono voice; as every step after it is the same for all channels, nothing else
// depends on that order.
type Work struct {
	Replace    *Bed // in place of the source's sound
	Hush       *Hush
	Gate       *Gate
	Denoise    float64 // dB of reduction; 0: none
	Voice      string  // light, medium, strong
	Compressor *Compressor
	Gain       float64 // dB
	Layout     string  // "", stereo, mono, downmix (stereo when there are more channels): a proper mix
	Music      *Bed
	Effects    *Bed
	Duck       *Duck // of the music, under the track
	FadeIn     cutroom.Micros
	FadeOut    cutroom.Micros
	Widen      float64 // 0 to 1: the difference of left and right grows by as much; stereo only
	Limiter    *Limiter
}

// Bed is sound laid under the edit.
type Bed struct {
	Source  int // of the graph; its first audio stream, unless Stream says another
	Stream  int
	Volume  float64 // dB
	Loop    bool    // begins again when it ends before the edit does
	FadeOut cutroom.Micros
	Offset  cutroom.Micros // where it begins in the edit; negative: its beginning is cut off
	From    cutroom.Micros // how much of its beginning is left out
	Span    cutroom.Micros // how long it is heard; 0: to its end
	// Speed is how fast its clock runs ([ClockRatio]): it is resampled by that. Zero is 1.
	Speed ffmpeg.Rational
}

// Hush is a time of the edit in which the track is not heard.
type Hush struct{ Start, End cutroom.Micros }

// Gate lets through what is louder than its threshold.
type Gate struct {
	Threshold float64 // dBFS, −60 to 0
	Ratio     float64 // 1 to 9000
	Range     float64 // dB that is taken away at most, −90 to 0
	Attack    float64 // ms, 0.01 to 9000
	Release   float64 // ms, 0.01 to 9000
	Knee      float64 // 1 to 8
}

// Compressor makes loud parts quieter.
type Compressor struct {
	Threshold float64 // dBFS, −60 to 0
	Ratio     float64 // 1 to 20
	Attack    float64 // ms, 0.01 to 2000
	Release   float64 // ms, 0.01 to 9000
	Makeup    float64 // dB, 0 to 36
	Knee      float64 // 1 to 8
}

// Limiter keeps every sample below its ceiling.
type Limiter struct {
	Ceiling float64 // dBFS, −24 to 0
	Attack  float64 // ms, 0.1 to 80
	Release float64 // ms, 1 to 8000
}

// Duck makes the music quieter while the track is louder than a threshold.
type Duck struct {
	Amount    float64 // dB, 0 to 60: this much, however loud the track is
	Threshold float64 // dBFS, −60 to 0
	Attack    float64 // ms, 0.01 to 2000
	Release   float64 // ms, 0.01 to 9000
}

// DefaultGate quietens what lies between words.
func DefaultGate() Gate {
	return Gate{Threshold: -40, Ratio: 10, Range: -40, Attack: 5, Release: 250, Knee: 2.8}
}

// DefaultCompressor evens speech out.
func DefaultCompressor() Compressor {
	return Compressor{Threshold: -20, Ratio: 3, Attack: 10, Release: 200, Knee: 2.8}
}

// DefaultLimiter leaves a decibel of room for what lossy coding adds.
func DefaultLimiter() Limiter { return Limiter{Ceiling: -1, Attack: 5, Release: 50} }

// DefaultDuck keeps music well under speech.
func DefaultDuck() Duck { return Duck{Amount: 12, Threshold: -26, Attack: 20, Release: 400} }

// bound is one number that has to lie in a range.
type bound struct {
	name      string
	value     float64
	low, high float64
	unit      string
}

// sounds reports whether something is heard that is no clip's.
func (w *Work) sounds() bool {
	return w != nil && (w.Replace != nil || w.Music != nil || w.Effects != nil)
}

// check refuses what lies outside the filters' ranges, with the words of the caller's
// options.
func (w *Work) check() error {
	list := []bound{
		{"gain", w.Gain, -60, 60, " dB"},
		{"denoise_strength", w.Denoise, 0, 97, " dB"},
		{"stereo_widen", w.Widen, 0, 1, ""},
		{"fade_in", seconds(w.FadeIn), 0, 3600, " s"},
		{"fade_out", seconds(w.FadeOut), 0, 3600, " s"},
	}
	list = append(list, w.Gate.bounds()...)
	list = append(list, w.Compressor.bounds()...)
	list = append(list, w.Limiter.bounds()...)
	list = append(list, w.Duck.bounds()...)
	list = append(list, w.Music.bounds("music")...)
	list = append(list, w.Effects.bounds("effects")...)
	list = append(list, w.Replace.bounds("replace")...)
	for _, b := range list {
		if math.IsNaN(b.value) || b.value < b.low || b.value > b.high {
			return cutroom.Errorf(cutroom.Invalid, "%s is out of range: %s to %s%s", b.name, number(b.low), number(b.high), b.unit).
				WithHint("give %s a value in that range", b.name)
		}
	}
	switch w.Voice {
	case "", "light", "medium", "strong":
	default:
		return cutroom.Errorf(cutroom.Invalid, "voice is light, medium or strong")
	}
	switch w.Layout {
	case "", "stereo", "mono", "downmix":
	default:
		return cutroom.Errorf(cutroom.Invalid, "the layout is stereo, mono or downmix")
	}
	if w.Duck != nil && w.Music == nil {
		return cutroom.Errorf(cutroom.Invalid, "there is no music to duck").WithHint("give music, or leave duck out")
	}
	return nil
}

func (g *Gate) bounds() []bound {
	if g == nil {
		return nil
	}
	return []bound{
		{"gate_threshold", g.Threshold, -60, 0, " dB"},
		{"gate_ratio", g.Ratio, 1, 9000, ""},
		{"gate_range", g.Range, -90, 0, " dB"},
		{"gate_attack", g.Attack, 0.01, 9000, " ms"},
		{"gate_release", g.Release, 0.01, 9000, " ms"},
		{"gate_knee", g.Knee, 1, 8, ""},
	}
}

func (c *Compressor) bounds() []bound {
	if c == nil {
		return nil
	}
	return []bound{
		{"comp_threshold", c.Threshold, -60, 0, " dB"},
		{"comp_ratio", c.Ratio, 1, 20, ""},
		{"comp_attack", c.Attack, 0.01, 2000, " ms"},
		{"comp_release", c.Release, 0.01, 9000, " ms"},
		{"comp_makeup", c.Makeup, 0, 36, " dB"},
		{"comp_knee", c.Knee, 1, 8, ""},
	}
}

func (l *Limiter) bounds() []bound {
	if l == nil {
		return nil
	}
	return []bound{
		{"limit_ceiling", l.Ceiling, -24, 0, " dB"},
		{"limit_attack", l.Attack, 0.1, 80, " ms"},
		{"limit_release", l.Release, 1, 8000, " ms"},
	}
}

func (d *Duck) bounds() []bound {
	if d == nil {
		return nil
	}
	return []bound{
		{"duck_amount", d.Amount, 0, 60, " dB"},
		{"duck_threshold", d.Threshold, -60, 0, " dB"},
		{"duck_attack", d.Attack, 0.01, 2000, " ms"},
		{"duck_release", d.Release, 0.01, 9000, " ms"},
	}
}

func (b *Bed) bounds(name string) []bound {
	if b == nil {
		return nil
	}
	return []bound{
		{name + "_volume", b.Volume, -60, 30, " dB"},
		{name + "_fade_out", seconds(b.FadeOut), 0, 3600, " s"},
		{name + "_offset", seconds(b.Offset), -86400, 86400, " s"},
	}
}

func seconds(m cutroom.Micros) float64 { return float64(m) / float64(cutroom.Second) }
