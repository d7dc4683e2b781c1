package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cutroom/internal/ffmpeg"
)

// peakTolerance is what encoders and meters may differ by, in dB.
const peakTolerance = 0.05

func (j *judge) sound() {
	if len(j.audio) == 0 {
		worst, fix := Warn, "add sound with edit.audio, or leave it silent on purpose"
		if j.t.Spec.Audio {
			worst, fix = Fail, "give a file with sound"
		}
		j.add(Row{
			Check: "audio", Value: number(0), Limit: number(1), Unit: "streams", Op: ">=", Reason: "the file has no sound", Fix: fix,
		}, j.f.Document.Kind != ffmpeg.Image || j.t.Spec.Audio, worst, false)
		return
	}
	s := j.audio[0]
	j.audioCodec(s)
	rates := j.t.Spec.SampleRates
	if len(rates) == 0 {
		rates = []int{44100, 48000}
	}
	j.add(Row{
		Check: "sample_rate", Value: number(float64(s.Audio.SampleRate)), LimitText: strings.Trim(strings.ReplaceAll(fmt.Sprint(rates), " ", ", "), "[]"), Unit: "Hz", Op: "in",
		Reason: "the platform converts this sampling rate", Fix: j.export(),
	}, !slices.Contains(rates, s.Audio.SampleRate), Warn, false)
	j.note("channels", number(float64(s.Audio.Channels)), "channels", s.Audio.Layout)
	if len(j.audio) > 1 {
		j.note("audio_tracks", number(float64(len(j.audio))), "tracks", "the first one was measured")
	}
	j.level()
}

func (j *judge) audioCodec(s *ffmpeg.Stream) {
	list := []string{"aac"}
	switch {
	case j.t.Spec.Audio:
		list = []string{"aac", "mp3"}
	case !j.strict():
		j.inform("audio_codec", s.CodecName)
		return
	}
	j.add(Row{
		Check: "audio_codec", ValueText: s.CodecName, LimitText: strings.Join(list, ", "), Op: "in",
		Reason: "the platform may refuse this codec", Fix: j.export(),
	}, !slices.Contains(list, s.CodecName), Warn, false)
}

// aim is the loudness that is wanted, and whether the caller asked for it.
func (j *judge) aim() (lufs, tolerance, peak float64, asked [2]bool, has bool) {
	l := j.t.Spec.Loudness
	lufs, tolerance, peak = l.LUFS, l.Tolerance, l.TruePeak
	if tolerance == 0 {
		tolerance = 2
	}
	if peak == 0 {
		peak = -1
	}
	if j.t.LUFS != nil {
		lufs, asked[0] = *j.t.LUFS, true
	}
	if j.t.TruePeak != nil {
		peak, asked[1] = *j.t.TruePeak, true
	}
	return lufs, tolerance, peak, asked, !j.t.NoLoudness
}

// level judges silence, loudness and true peak.
func (j *judge) level() {
	lufs, tolerance, peak, asked, wanted := j.aim()
	var l *ffmpeg.Loudness
	if s := j.f.Signals; s != nil && s.Audio != nil {
		l = s.Audio.Loudness
	}
	if l == nil {
		if wanted {
			j.unmeasured("loudness", "LUFS", "the sound was not measured")
		}
		return
	}
	silent := l.TruePeak == nil || *l.TruePeak < -90
	worst := Warn
	if wanted && lufs != 0 {
		worst = Fail
	}
	j.add(Row{
		Check: "silent_track", ValueText: map[bool]string{true: "silent", false: "sounds"}[silent], LimitText: "sounds", Op: "==",
		Reason: "the sound track holds digital silence only", Fix: "choose another track, or leave the sound out on purpose",
	}, silent, worst, false)
	if !wanted || silent {
		return
	}
	if l.Integrated == nil {
		j.unmeasured("loudness", "LUFS", "too short or too quiet: nothing is above the gate of -70 LUFS for 400 ms")
	} else if lufs == 0 {
		j.note("loudness", number(*l.Integrated), "LUFS", "")
	} else {
		j.add(Row{
			Check: "loudness", Value: number(*l.Integrated), Limit: number(lufs), Tolerance: tolerance, Unit: "LUFS", Op: "==", Kind: Judgement,
			Reason: off(*l.Integrated - lufs), Fix: fmt.Sprintf("write a file of %g LUFS with measure.loudness_apply: `cutroom loudness FILE --lufs %g -o OUT`", lufs, lufs),
		}, math.Abs(*l.Integrated-lufs) > tolerance, Fail, asked[0])
	}
	j.add(Row{
		Check: "true_peak", Value: number(*l.TruePeak), Limit: number(peak), Tolerance: peakTolerance, Unit: "dBTP", Op: "<=", Kind: Judgement,
		Reason: "peaks distort when the platform encodes it again", Fix: fmt.Sprintf("write a file whose peaks lie lower with measure.loudness_apply: `cutroom loudness FILE --tp %g -o OUT`", peak),
	}, *l.TruePeak > peak+peakTolerance, Fail, asked[1])
}

func (j *judge) unmeasured(check, unit, why string) {
	j.rows = append(j.rows, Row{Check: check, Status: Warn, Unit: unit, Kind: Judgement, Reason: why, Fix: "listen to it"})
}

func off(lu float64) string {
	if lu < 0 {
		return fmt.Sprintf("it is %.1f LU quieter than the platform plays it", -lu)
	}
	return fmt.Sprintf("it is %.1f LU louder than the platform plays it", lu)
}
