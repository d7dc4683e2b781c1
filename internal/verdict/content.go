package verdict

import (
	"math"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// What share of a file may be black or silent, and frozen, before it is looked at, and
// from when on nothing else is in it.
const (
	mostBlack   = 10.0 // percent
	mostSilent  = 50.0
	wholly      = 95.0
	mostFrozen  = 30.0
	leastFrozen = 3.0 // seconds
	allFrozen   = 98.0
)

// content judges black, frozen and silent stretches.
func (j *judge) content() {
	s := j.f.Signals
	if s == nil {
		return
	}
	if s.Video != nil && j.video != nil && !j.video.Video.StillImage {
		length := j.stretch(j.video)
		black := share(s.Video.Black, length)
		j.share("black", black, mostBlack, wholly, "the picture is black for part of the time", "cut the black part off with edit.cut, or check the source")
		frozen := share(s.Video.Freeze, length)
		j.share("frozen", frozen, math.Max(mostFrozen, 100*leastFrozen/math.Max(length, 1e-9)), allFrozen, "the picture stands still for part of the time", "look at it with review.look; cut the part off with edit.cut")
	}
	if s.Audio != nil {
		silent := share(s.Audio.Silence, (s.Audio.EndSeconds - s.Audio.StartSeconds).Seconds())
		j.share("silent", silent, mostSilent, wholly, "nothing is to be heard for part of the time (below -50 dBFS)", "cut the silence out with measure.silence, or check the source")
	}
}

func (j *judge) share(check string, v, most, all float64, reason, fix string) {
	worst := Warn
	if v >= all {
		worst = Fail
	}
	j.add(Row{
		Check: check, Value: number(v), Limit: number(math.Min(most, all)), Unit: "%", Op: "<=", Kind: Judgement, Reason: reason, Fix: fix,
	}, v > most || v >= all, worst, true)
}

// stretch is how long a stream lasts, in seconds.
func (j *judge) stretch(s *ffmpeg.Stream) float64 {
	if s.EndSeconds > s.StartSeconds {
		return (s.EndSeconds - s.StartSeconds).Seconds()
	}
	return j.f.Document.DurationSeconds.Seconds()
}

// share is how much of length the spans take, in percent.
func share(spans []ffmpeg.Span, length float64) float64 {
	if length <= 0 {
		return 0
	}
	var sum cutroom.Micros
	for _, s := range spans {
		sum += max(0, s.EndSeconds-s.StartSeconds)
	}
	return math.Min(100, 100*sum.Seconds()/length)
}
