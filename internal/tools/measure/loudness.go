package measure

import (
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// Loudness measures programme loudness.
var Loudness = tool.Add(Family, tool.Spec[LoudnessInput, LoudnessOutput]{
	Name:        "measure.loudness",
	Summary:     "Measure the loudness and true peak of each sound track",
	Description: "Measure programme loudness (EBU R 128: integrated, range, gate), true peak and clipping of each sound track, in one decode of each. Silence and sounds too short for a loudness are answered as such. measure.loudness_apply brings a recording to a loudness.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Short:       "loudness",
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	Examples:    []LoudnessInput{{Input: "talk.mp4"}, {Input: "song.wav", LoudnessTarget: LoudnessTarget{LUFS: -23}}},
	Plan:        planLoudness,
	Interpret:   readLoudness,
})

// LoudnessTarget is a loudness that is aimed at.
type LoudnessTarget struct {
	LUFS float64 `json:"lufs,omitzero" min:"-60" max:"-5" default:"-14" unit:"LUFS" doc:"Integrated loudness: -14 for most platforms, -16 for podcasts, -23 for broadcast in Europe."`
	TP   float64 `json:"tp,omitempty" min:"-9" max:"0" default:"-1" unit:"dBTP" doc:"Highest true peak."`
	LRA  float64 `json:"lra,omitempty" min:"0" max:"50" default:"0" unit:"LU" doc:"Widest loudness range; a wider one is compressed. 0 leaves the dynamics as they are."`
}

// LoudnessInput is the request.
type LoudnessInput struct {
	Input       cutroom.InPath `json:"input" doc:"The recording."`
	AudioStream *int           `json:"audio_stream,omitempty" min:"0" max:"255" doc:"Only this audio stream, counted from 0; without it, all."`
	LoudnessTarget
	MeasureOnly bool   `json:"measure_only,omitempty" key:"-" doc:"Only measure, whatever else is asked for: nothing is written."`
	Limits      Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Bounds are the limits of the call.
func (in LoudnessInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// LoudnessOutput is the answer.
type LoudnessOutput struct {
	tool.Made
	Measured Levels         `json:"measured" doc:"The first of the measured tracks."`
	Targets  LoudnessTarget `json:"targets" doc:"What target_offset counts to."`
	Streams  []Levels       `json:"streams" doc:"Each measured track."`
}

// Levels are the levels of one track. What does not exist, as of silence, is absent.
type Levels struct {
	Stream       int      `json:"audio_stream" min:"0" doc:"Which of the audio streams, counted from 0."`
	Integrated   *float64 `json:"input_i,omitempty" unit:"LUFS" doc:"Integrated loudness."`
	TruePeak     *float64 `json:"input_tp,omitempty" unit:"dBTP" doc:"True peak."`
	Range        *float64 `json:"input_lra,omitempty" unit:"LU" doc:"Loudness range."`
	Threshold    *float64 `json:"input_thresh,omitempty" unit:"LUFS" doc:"Relative gate of the integrated loudness."`
	Offset       *float64 `json:"target_offset,omitempty" unit:"LU" doc:"How much louder the target is."`
	SamplePeak   *float64 `json:"sample_peak,omitempty" unit:"dBFS" doc:"Largest sample."`
	MaxMomentary *float64 `json:"max_momentary,omitempty" unit:"LUFS" doc:"Loudest 400 ms."`
	MaxShortTerm *float64 `json:"max_short_term,omitempty" unit:"LUFS" doc:"Loudest 3 s."`
	Silent       bool     `json:"silent" doc:"Nothing is above the gate of -70 LUFS: there is no loudness."`
	TooShort     bool     `json:"too_short" doc:"Less than 0.4 s: there is no loudness."`
	Clipped      bool     `json:"clipped" doc:"The sound stands at full scale in places: it was cut off when it was made, which no gain mends."`
	Clips        int64    `json:"clips,omitempty" min:"0" doc:"How many places."`
}

func levelsOf(stream int, l *ffmpeg.Loudness, t LoudnessTarget) Levels {
	v := Levels{
		Stream: stream, Integrated: l.Integrated, TruePeak: l.TruePeak, Range: l.Range, Threshold: l.Threshold, SamplePeak: l.SamplePeak,
		MaxMomentary: l.MaxMomentary, MaxShortTerm: l.MaxShortTerm, Silent: l.Silent, TooShort: l.TooShort, Clipped: l.Clipped > 0, Clips: l.Clipped,
	}
	if l.Integrated != nil {
		offset := round2(t.LUFS - *l.Integrated)
		v.Offset = &offset
	}
	return v
}

// metering is the state of a plan: one measurement for each track.
type metering struct {
	streams []int
	jobs    []*ffmpeg.Measure
}

func planLoudness(f tool.Facts, in LoudnessInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	st := &metering{}
	for n := range max(1, len(file.Media.AudioStreams())) {
		if in.AudioStream != nil {
			n = *in.AudioStream
		}
		m, err := ffmpeg.NewMeasure(file.Index, file.Format, file.Media, ffmpeg.MeasureOptions{Loudness: true, AudioStream: n, Abilities: &f.Abilities})
		if err != nil {
			return tool.Plan{}, err
		}
		st.streams, st.jobs = append(st.streams, n), append(st.jobs, m)
		if in.AudioStream != nil {
			break
		}
	}
	plan, err := st.follow(0)
	for _, m := range st.jobs[1:] {
		if cmd, ok := m.Next(); ok {
			plan.Later = append(plan.Later, cmd)
		}
	}
	return plan, err
}

func (st *metering) follow(n int) (tool.Plan, error) {
	if n == len(st.jobs) {
		return tool.Plan{State: st}, nil
	}
	return tool.Follow(st.jobs[n], st, func(tool.Results) (tool.Plan, error) { return st.follow(n + 1) })
}

func readLoudness(_ tool.Facts, in LoudnessInput, r tool.Results) (LoudnessOutput, error) {
	out := LoudnessOutput{Targets: in.LoudnessTarget}
	st := r.State().(*metering)
	for i, m := range st.jobs {
		s := m.Signals()
		out.Streams = append(out.Streams, levelsOf(st.streams[i], s.Audio.Loudness, in.LoudnessTarget))
		for _, p := range s.Problems {
			out.AddReason(p)
		}
	}
	out.Measured = out.Streams[0]
	return out, nil
}
