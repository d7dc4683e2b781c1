package rhythm

import (
	"math"
	"slices"

	"cutroom"
)

// Talk is how much a stretch of sound is like speech.
type Talk struct {
	At    cutroom.Micros
	Share float64 // 0 is music or noise, 1 is speech
}

// talkFor is the length of a stretch: long enough for the pauses between words.
const talkFor = 4.0

// talkMeter looks at the courses of energy that the onsets are found in.
type talkMeter struct {
	levels []float64 // of the steps of this stretch, dB
	voice  float64   // energy of the bands of speech
	total  float64
	list   []talkFeatures
}

// talkFeatures are what tells speech from music.
type talkFeatures struct {
	step  int     // at which the stretch ends
	level float64 // dB
	voice float64 // share of the energy between 200 and 4000 Hz
	quiet float64 // share of the steps that lie more than 12 dB below the loud ones
	swing float64 // deviation of the levels of syllables, dB
}

// add takes a step: the energy of all bands, and of those of speech.
func (t *talkMeter) add(total, voice float64, n, perStretch int) {
	t.levels = append(t.levels, 10*math.Log10(total+1e-12))
	t.total, t.voice = t.total+total, t.voice+voice
	if len(t.levels) < perStretch {
		return
	}
	t.close(n)
}

func (t *talkMeter) close(n int) {
	if len(t.levels) == 0 {
		return
	}
	sorted := slices.Clone(t.levels)
	slices.Sort(sorted)
	loud := sorted[len(sorted)*9/10]
	quiet := 0
	for _, v := range sorted {
		if v < loud-12 {
			quiet++
		}
	}
	f := talkFeatures{step: n, level: loud, quiet: float64(quiet) / float64(len(sorted)), swing: syllables(t.levels)}
	if t.total > 0 {
		f.voice = t.voice / t.total
	}
	t.list = append(t.list, f)
	t.levels, t.voice, t.total = t.levels[:0], 0, 0
}

// syllables is how much the level swings about two to eight times a second: the mean
// difference of neighbouring tenths of a second, within 30 dB of the loudest.
func syllables(levels []float64) float64 {
	const w = 8 // steps of 10 ms
	top := slices.Max(levels)
	var last, sum float64
	n := 0
	for i := 0; i+w <= len(levels); i += w {
		var mean float64
		for _, v := range levels[i : i+w] {
			mean += math.Max(v, top-30)
		}
		mean /= w
		if i > 0 {
			sum += math.Abs(mean - last)
			n++
		}
		last = mean
	}
	return sum / float64(max(1, n))
}

// Talk ends the sound and says of each four seconds how much they are like speech:
// speech has pauses, swings with its syllables, and lies between 200 and 4000 Hz. Silent
// stretches are left out. Start is the time of the first sample.
func (o *Onsets) Talk(start cutroom.Micros) []Talk {
	list := []Talk{}
	e := o.env
	e.Start = start
	t := o.talk
	if n := len(e.Onset); len(t.levels)*2 > int(e.steps(talkFor)) || n > 0 && len(t.list) == 0 {
		t.levels = slices.Clone(t.levels)
		t.list = slices.Clone(t.list)
		t.close(n)
	}
	for i, f := range t.list {
		from := 0
		if i > 0 {
			from = t.list[i-1].step
		}
		if f.level < silentTalk {
			continue
		}
		share := ramp(f.voice, 0.3, 0.6) * ramp(f.quiet, 0.12, 0.35) * ramp(f.swing, 2.2, 4)
		list = append(list, Talk{e.at(float64(from)), math.Round(share*100) / 100})
	}
	return list
}

const silentTalk = -60.0 // dB, of a band of frequencies
