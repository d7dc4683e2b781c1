package measure

import (
	"fmt"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/align"
)

// Alignment is how one recording lies to the reference.
type Alignment struct {
	Matched    bool            `json:"matched" doc:"Whether there is a confident match. Without one nothing else here is to be relied on."`
	Reason     string          `json:"reason,omitempty" doc:"Why there is no match."`
	Offset     *cutroom.Micros `json:"offset_seconds,omitempty" unit:"s" doc:"Where on the reference's time the recording begins. Positive: it was started later. Absent without a match."`
	Confidence float64         `json:"confidence" min:"0" max:"1" doc:"How far the best answer lies above the second best, and above chance. From 0.6 on it is a match."`
	Score      float64         `json:"score" doc:"Standard deviations of the best answer above chance."`
	Meaning    string          `json:"meaning" doc:"The same in words."`
	RunnerUp   *Rival          `json:"runner_up,omitempty" doc:"The second best answer."`
	Drift      *Drift          `json:"drift,omitempty" doc:"How the clocks differ; absent without a match."`
	Method     string          `json:"method,omitempty" enum:"waveform,spectrum" doc:"What the answer rests on: the waveforms, exact to less than a millisecond, or where they have nothing in common the course of the spectrum, exact to some milliseconds."`
	Windows    int             `json:"windows,omitempty" doc:"Stretches whose waveforms were compared."`
	Agreeing   int             `json:"windows_agreeing,omitempty" doc:"Of them, how many lie within a millisecond of the answer."`
	Scatter    cutroom.Micros  `json:"scatter_seconds,omitempty" unit:"s" doc:"Root mean square of their distances from it."`
	Inverted   bool            `json:"inverted,omitempty" doc:"The recording's polarity is the opposite of the reference's."`
	Warnings   []string        `json:"warnings,omitempty" doc:"What is unusual."`
}

// Rival is an answer that was not the best.
type Rival struct {
	Offset     cutroom.Micros `json:"offset_seconds" unit:"s" doc:"Where it would begin."`
	Confidence float64        `json:"confidence" min:"0" max:"1" doc:"How far this answer lies above chance alone."`
	Score      float64        `json:"score" doc:"Standard deviations above chance."`
}

// Drift is how two clocks differ.
type Drift struct {
	PPM         float64        `json:"ppm" unit:"ppm" doc:"By how many millionths the recording's clock runs faster than the reference's; negative: slower."`
	Uncertainty float64        `json:"uncertainty_ppm" unit:"ppm" doc:"Standard deviation of that."`
	Residual    cutroom.Micros `json:"residual_at_end_seconds" unit:"s" doc:"How much too late the recording is at the end of the overlap when the offset alone is applied; negative: too early."`
	Over        cutroom.Micros `json:"measured_over_seconds" unit:"s" doc:"Length of the overlap that it was measured over."`
	Meaning     string         `json:"meaning" doc:"The same in words."`
}

// aligned says what m is. most bounds the offsets that are accepted; 0 is none.
func aligned(m align.Match, most cutroom.Micros) Alignment {
	a := Alignment{
		Matched: m.Found, Reason: m.Reason, Confidence: rounded(m.Confidence, 3), Score: rounded(m.Score, 1),
		Windows: m.Windows, Agreeing: m.Agreeing, Scatter: cutroom.MicrosOf(m.Scatter),
	}
	if r := m.RunnerUp; r != nil {
		a.RunnerUp = &Rival{cutroom.MicrosOf(r.Offset), rounded(r.Confidence, 3), rounded(r.Score, 1)}
	}
	offset := cutroom.MicrosOf(m.Offset)
	if m.Found && most > 0 && max(offset, -offset) > most {
		a.Matched = false
		a.Reason = fmt.Sprintf("the best answer, %s s, lies beyond the accepted %s s", offset, most)
	}
	if !a.Matched {
		a.Meaning = "no confident match: " + strings.TrimPrefix(a.Reason, "no confident match: ")
		return a
	}
	a.Offset, a.Inverted = &offset, m.Inverted
	a.Method = "spectrum"
	if m.ByWaves {
		a.Method = "waveform"
	}
	switch {
	case offset > 0:
		a.Meaning = fmt.Sprintf("the recording was started %s s after the reference", offset)
	case offset < 0:
		a.Meaning = fmt.Sprintf("the recording was started %s s before the reference", -offset)
	default:
		a.Meaning = "both were started at the same time"
	}
	if m.Elsewhere > m.Agreeing/4 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d stretches fit elsewhere: samples may have been lost in one of the recordings, or it was edited", m.Elsewhere, m.Windows))
	}
	if m.Inverted {
		a.Warnings = append(a.Warnings, "the waveforms have opposite signs: mixed together they cancel each other")
	}
	a.Drift = drifting(m)
	return a
}

func drifting(m align.Match) *Drift {
	d := &Drift{PPM: rounded(m.Drift*1e6, 2), Uncertainty: rounded(m.DriftDoubt*1e6, 2), Over: cutroom.MicrosOf(m.To - m.From)}
	d.Residual = cutroom.MicrosOf(m.Offset + m.Second(m.To) - m.To)
	switch {
	case math.Abs(d.PPM) <= 2*d.Uncertainty:
		d.Meaning = "no difference of the clocks was measured"
	case d.PPM > 0:
		d.Meaning = fmt.Sprintf("the recording's clock runs fast: by %s s at the end", d.Residual)
	default:
		d.Meaning = fmt.Sprintf("the recording's clock runs slow: by %s s at the end", -d.Residual)
	}
	return d
}

func rounded(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}
