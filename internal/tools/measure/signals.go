package measure

import (
	"encoding/binary"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// Signals measures everything that one decode can give.
var Signals = tool.Add(Family, tool.Spec[SignalsInput, SignalsOutput]{
	Name:        "measure.signals",
	Summary:     "Measure scenes, black, freezes, silence and loudness in one decode",
	Description: "Measure a recording in one pass: changes of scene with their strength, black and frozen pictures, silences, loudness and true peak (EBU R 128). Each stream is decoded once, whatever is asked for.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    3,
	Timeout:     2 * time.Hour,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"scdet", "blackdetect", "freezedetect", "silencedetect", "ebur128"}},
	Examples:    []SignalsInput{{Input: "talk.mp4"}},
	Plan:        planSignals,
	Interpret:   readSignals,
})

// SignalsInput is the request.
type SignalsInput struct {
	Input       cutroom.InPath  `json:"input" doc:"The recording."`
	Start       cutroom.Micros  `json:"start,omitzero" min:"0" unit:"s" doc:"Where to begin. Also as hh:mm:ss.mmm."`
	End         *cutroom.Micros `json:"end,omitempty" min:"0" unit:"s" doc:"Where to stop; without it, at the end."`
	AudioStream int             `json:"audio_stream,omitzero" min:"0" max:"255" doc:"Which audio stream, counted from 0."`
	SceneScore  float64         `json:"scene_score,omitzero" min:"1" max:"100" default:"8" doc:"Least strength of a cut, 0 to 100."`
	SilenceDB   float64         `json:"silence_db,omitzero" min:"-120" max:"-10" default:"-50" unit:"dBFS" doc:"Level below which it is silent."`
	Limits      Limits          `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses an empty range.
func (in SignalsInput) Validate() error {
	if in.End != nil && *in.End <= in.Start {
		return cutroom.Errorf(cutroom.Invalid, "end (%s s) has to lie after start (%s s)", in.End, in.Start).WithHint("give an end behind the start")
	}
	return nil
}

// Bounds are the limits of the call.
func (in SignalsInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// SignalsOutput is the answer.
type SignalsOutput struct {
	tool.Made
	Signals ffmpeg.Signals       `json:"signals" doc:"What was measured. Times count from where playback starts."`
	Samples *cutroom.ArtifactRef `json:"samples,omitempty" doc:"Small grey pictures, at most two a second, by which frames are compared: for each an int64 of microseconds, little-endian, and a grid of block means."`
}

const samplesFile = "samples.bin"

func planSignals(f tool.Facts, in SignalsInput) (tool.Plan, error) {
	file, _ := f.First()
	o := ffmpeg.MeasureOptions{AudioStream: in.AudioStream, Start: in.Start, SceneScore: in.SceneScore, SilenceDB: in.SilenceDB, Abilities: &f.Abilities}
	if in.End != nil {
		o.End = *in.End
	}
	st := &measuring{}
	if v, err := file.Media.VideoStream(); err == nil && !v.Video.StillImage {
		o.Scenes, o.Black, o.Freeze, o.Samples = true, true, true, true
	} else if file.Media.FirstVideo() != nil && err != nil {
		st.reasons = append(st.reasons, "the pictures were not measured: "+cutroom.AsError(err).Error())
	}
	if a, err := file.Media.AudioStream(in.AudioStream); err == nil && a != nil {
		o.Silence, o.Loudness = true, true
	} else if len(file.Media.AudioStreams()) > 0 {
		st.reasons = append(st.reasons, "the sound was not measured: "+cutroom.AsError(err).Error())
	}
	if !o.Scenes && !o.Silence {
		if len(st.reasons) > 0 {
			return tool.Plan{State: st}, nil
		}
		return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "the file has neither moving pictures nor sound to measure").WithHint("give a video or a recording; review.look shows a picture")
	}
	var err error
	if st.job, err = ffmpeg.NewMeasure(file.Index, file.Format, file.Media, o); err != nil {
		return tool.Plan{}, err
	}
	return st.next()
}

// measuring is the state of a plan.
type measuring struct {
	job     *ffmpeg.Measure
	reasons []string
}

func (st *measuring) next() (tool.Plan, error) {
	cmd, ok := st.job.Next()
	if !ok {
		return tool.Plan{State: st}, nil
	}
	return tool.Plan{State: st, Steps: []argv.Command{cmd}, Then: func(r tool.Results) (tool.Plan, error) {
		res, _ := r.Step(cmd.Step)
		if err := st.job.Feed(res); err != nil {
			return tool.Plan{}, err
		}
		return st.next()
	}}, nil
}

func readSignals(_ tool.Facts, _ SignalsInput, r tool.Results) (SignalsOutput, error) {
	var out SignalsOutput
	st := r.State().(*measuring)
	for _, reason := range st.reasons {
		out.AddReason(reason)
	}
	if st.job == nil {
		return out, nil
	}
	out.Signals = *st.job.Signals()
	for _, p := range out.Signals.Problems {
		out.AddReason(p)
	}
	if v := out.Signals.Video; v != nil && len(v.Samples) > 0 {
		ref, err := r.Put(samplesFile, "application/octet-stream", encodeSamples(v.Samples), nil)
		if err != nil {
			return out, err
		}
		out.Samples = &ref
	}
	return out, nil
}

const sampleSize = 8 + ffmpeg.GridWidth*ffmpeg.GridHeight

// encodeSamples writes samples for a later frame choice.
func encodeSamples(samples []ffmpeg.Sample) []byte {
	b := make([]byte, 0, len(samples)*sampleSize)
	for i := range samples {
		b = binary.LittleEndian.AppendUint64(b, uint64(samples[i].Seconds))
		b = append(b, samples[i].Blocks[:]...)
	}
	return b
}

// ReadSamples reads the samples that a measurement recorded.
func ReadSamples(b []byte) ([]evidence.Sample, error) {
	if len(b)%sampleSize != 0 {
		return nil, fmt.Errorf("%d bytes are not whole samples", len(b))
	}
	samples := make([]evidence.Sample, 0, len(b)/sampleSize)
	for ; len(b) > 0; b = b[sampleSize:] {
		samples = append(samples, evidence.Sample{At: cutroom.Micros(binary.LittleEndian.Uint64(b)), Grid: b[8:sampleSize]})
	}
	return samples, nil
}

// Cuts are the changes of scene as the timeline takes them.
func (o *SignalsOutput) Cuts() []evidence.Cut {
	var cuts []evidence.Cut
	if v := o.Signals.Video; v != nil {
		for _, c := range v.Changes {
			cuts = append(cuts, evidence.Cut{At: c.Seconds, Score: c.Score})
		}
	}
	return cuts
}

// LastFrame is the start of the last frame, 0 when there is none.
func (o *SignalsOutput) LastFrame() cutroom.Micros {
	if v := o.Signals.Video; v != nil && v.Frames > 0 {
		return v.LastSeconds
	}
	return 0
}

// Evidence puts what was measured into a timeline.
func (o *SignalsOutput) Evidence(in *evidence.Inputs, id string) {
	in.MeasureSource = id
	in.Scenes = append(in.Scenes, o.Cuts()...)
	if v := o.Signals.Video; v != nil {
		in.Black = append(in.Black, spans(v.Black, 0)...)
		in.Freeze = append(in.Freeze, spans(v.Freeze, shortestFreeze)...)
	}
	if a := o.Signals.Audio; a != nil {
		in.Silences = append(in.Silences, spans(a.Silence, shortestSilence)...)
	}
	in.Duration = max(in.Duration, o.Signals.EndSeconds)
}

// What is shorter is in the measurement but is no event of a timeline: a breath
// between two words, a picture that rests for a moment.
const (
	shortestSilence = cutroom.Second
	shortestFreeze  = 2 * cutroom.Second
)

func spans(list []ffmpeg.Span, shortest cutroom.Micros) []evidence.Span {
	var out []evidence.Span
	for _, s := range list {
		if end := s.EndSeconds; end-s.StartSeconds >= shortest {
			out = append(out, evidence.Span{Start: s.StartSeconds, End: &end})
		}
	}
	return out
}
