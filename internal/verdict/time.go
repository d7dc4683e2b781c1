package verdict

import (
	"fmt"
	"math"

	"cutroom/internal/ffmpeg"
)

// How far picture and sound may lie apart. ITU-R BT.1359 puts what viewers notice at
// about a tenth of a second; at the end a codec frame and a picture are ordinary.
const (
	mostSkew  = 0.1
	worstSkew = 1.0
)

func (j *judge) rate() {
	v := j.video.Video
	if v.StillImage || !v.FrameRate.Known() {
		return
	}
	r := Row{
		Check: "frame_rate", Value: number(v.FrameRate.Float()), Unit: "fps", Op: "<=", Kind: Judgement,
		Reason: "the platform drops frames at this rate", Fix: "lower it with edit.fit, fps",
	}
	if most := j.t.Spec.MaxRate; most.Known() {
		r.Limit = number(most.Float())
		j.add(r, v.FrameRate.Float() > most.Float()*1.0001, Fail, false)
	} else {
		j.note("frame_rate", r.Value, "fps", "")
	}
	j.add(Row{
		Check: "constant_rate", ValueText: map[bool]string{true: "variable", false: "constant"}[v.VFR.Variable], LimitText: "constant", Op: "==",
		Reason: "frames are unevenly spaced (" + v.VFR.Evidence + "): editors and platforms let sound and picture drift apart", Fix: "conform it with edit.fit, fps",
	}, v.VFR.Variable, Warn, false)
	if v.FieldOrder != "" && v.FieldOrder != "progressive" {
		j.add(Row{
			Check: "scan", ValueText: "interlaced (" + v.FieldOrder + ")", LimitText: "progressive", Op: "==",
			Reason: "moving edges show combs", Fix: j.export(),
		}, j.t.Spec.Name != "broadcast", Warn, false)
	}
}

// frames compares how many frames came out with how many the file says it has, and with
// how many its length and rate make. The length alone proves nothing: a file can say
// 15 s and hold the frames of 75.
func (j *judge) frames() {
	s, v := j.video, j.video.Video
	if j.f.Signals == nil || j.f.Signals.Video == nil || v.StillImage {
		return
	}
	got, stated := j.f.Signals.Video.Frames, s.Frames
	hidden := s.CodecName == "vp8" || s.CodecName == "vp9" // packets that show nothing are ordinary
	length := (s.EndSeconds - s.StartSeconds).Seconds()
	due := int64(0)
	if !v.VFR.Variable && v.FrameRate.Known() && length > 0 {
		due = int64(math.Round(length * v.FrameRate.Float()))
	}
	if n := j.f.Signals.Video.Crowded; n > 0 {
		worst := Warn
		if n > max(2, got/100) {
			worst = Fail
		}
		j.add(Row{
			Check: "frame_times", Value: number(float64(n)), Limit: number(0), Unit: "frames", Op: "<=",
			Reason: "frames start less than 1 ms after the one before: the parts of a join overlap, or times were lost", Fix: "make it anew from its sources with edit.join",
		}, true, worst, false)
	}
	near := func(n int64) bool { return abs(got-n) <= max(2, n/100) }
	r := Row{Check: "frames", Value: number(float64(got)), Unit: "frames", Op: "==", Fix: "copy or download the file again, or make it anew from its source"}
	status := Pass
	switch {
	case stated == 0 && due == 0:
		j.note("frames", r.Value, "frames", "")
		return
	case stated > 0 && !hidden && got < stated-1 && due > 0 && near(due):
		r.Limit, status = number(float64(stated)), Warn
		r.Reason = fmt.Sprintf("an edit list hides about %d of the frames: players that ignore it show them", stated-got)
		r.Fix = "cut it again with edit.cut, which leaves nothing hidden"
	case stated > 0 && !hidden && got < stated-1:
		r.Limit, status = number(float64(stated)), Fail
		r.Reason = "fewer frames decode than the file says it has"
	case due > 0 && !near(due):
		r.Limit, status = number(float64(due)), Fail
		r.Reason = fmt.Sprintf("%d frames decode; %.3f s at this rate are %d", got, length, due)
	case stated > 0 && !hidden:
		r.Limit, r.Tolerance = number(float64(stated)), 1
	default:
		r.Limit, r.Tolerance = number(float64(due)), float64(max(2, due/100))
	}
	j.add(r, status != Pass, status, false)
}

func abs(n int64) int64 { return max(n, -n) }

func (j *judge) length() {
	d := j.f.Document
	if d.Kind == ffmpeg.Image {
		return
	}
	if d.DurationSeconds <= 0 {
		j.rows = append(j.rows, Row{Check: "duration", Status: Warn, Kind: Format, Unit: "s", Reason: "the length is not known", Fix: j.export()})
		return
	}
	most, asked := j.t.Spec.MaxLength(), false
	if j.t.MaxLength > 0 {
		most, asked = j.t.MaxLength, true
	}
	r := Row{Check: "duration", Value: number(d.DurationSeconds.Seconds()), Unit: "s", Op: "<=", Kind: Judgement, Reason: "it is too long for this platform", Fix: "shorten it with edit.cut"}
	if most == 0 {
		j.note("duration", r.Value, "s", "")
		return
	}
	r.Limit = number(most.Seconds())
	j.add(r, d.DurationSeconds > most, Fail, asked)
}

// together says whether picture and sound begin and end at the same time.
func (j *judge) together() {
	if j.video == nil || j.video.Video.StillImage {
		return
	}
	for i, a := range j.audio {
		stream := ""
		if len(j.audio) > 1 {
			stream = fmt.Sprintf("audio %d", i)
		}
		start := (a.StartSeconds - j.video.StartSeconds).Seconds()
		j.skew("start_skew", stream, start, word(start, "the sound begins %.3f s after the picture", "the sound begins %.3f s before the picture"))
		if a.EndSeconds == 0 || j.video.EndSeconds == 0 {
			continue
		}
		end := (a.EndSeconds - j.video.EndSeconds).Seconds()
		j.skew("end_skew", stream, end, word(end, "the sound goes on %.3f s after the last picture", "the picture goes on %.3f s after the sound"))
	}
}

func word(v float64, after, before string) string {
	if v < 0 {
		return fmt.Sprintf(before, -v)
	}
	return fmt.Sprintf(after, v)
}

func (j *judge) skew(check, stream string, v float64, reason string) {
	worst := Warn
	if math.Abs(v) > worstSkew {
		worst = Fail
	}
	j.add(Row{
		Check: check, Value: number(v), Limit: number(0), Tolerance: mostSkew, Unit: "s", Op: "==", Kind: Judgement, Stream: stream,
		Reason: reason, Fix: "pad or cut the shorter one with edit.audio, or cut the end off with edit.cut",
	}, math.Abs(v) > mostSkew+1e-9, worst, false)
}
