package measure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// LoudnessApply brings a recording to a loudness.
var LoudnessApply = tool.Add(Family, tool.Spec[LoudnessApplyInput, LoudnessApplyOutput]{
	Name:        "measure.loudness_apply",
	Summary:     "Bring a recording to a loudness, with its peaks below a ceiling",
	Description: "Bring a sound track to an integrated loudness (EBU R 128) with no true peak above a ceiling. The track is measured first; gain alone is used where the peaks allow it, a limiter that looks between the samples where they do not. The picture is copied. The written file is measured again, and made anew where the encoder's peaks overshoot. A silent track, and one shorter than 0.4 s, stay as they are and are named.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Timeout:     2 * time.Hour,
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "alimiter", When: "the peaks have to be limited"},
		{Filter: "loudnorm", When: "lra: a wider loudness range is compressed"},
	}},
	CheckWith: []string{"measure.loudness", "measure.probe", "review.check"},
	Examples:  []LoudnessApplyInput{{Input: "talk.mp4", Writing: tool.Writing{Output: "talk_loudnorm.mp4"}}},
	Names: func(in LoudnessApplyInput) LoudnessApplyInput {
		if in.Output == "" {
			in.Output = tool.NameAfter(in.Input, "loudnorm", "")
		}
		return in
	},
	Plan:      planLoudnessApply,
	Interpret: readLoudnessApply,
})

// LoudnessApplyInput is the request.
type LoudnessApplyInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording."`
	tool.Writing
	AudioStream int `json:"audio_stream,omitzero" min:"0" max:"255" doc:"Which audio stream is brought to the loudness, counted from 0; the others keep theirs."`
	LoudnessTarget
	AudioBitrate int    `json:"audio_bitrate,omitzero" min:"16000" max:"512000" unit:"bit/s" doc:"Bit rate of the sound; without it, one that fits the channels, raised where the peaks ask for it."`
	SampleRate   int    `json:"sample_rate,omitzero" min:"8000" max:"192000" unit:"Hz" doc:"Sampling rate; without it, the recording's."`
	Limits       Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Bounds are the limits of the call.
func (in LoudnessApplyInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// LoudnessApplyOutput is the answer.
type LoudnessApplyOutput struct {
	tool.Made
	Measured Levels         `json:"measured" doc:"The track as it was."`
	Targets  LoudnessTarget `json:"targets" doc:"What was asked for."`
	Result   *Leveled       `json:"result,omitempty" doc:"The track as it was written; absent where its loudness was not changed."`
}

// Brief says what the track was brought from and to.
func (o *LoudnessApplyOutput) Brief() []string {
	lines := []string{"before    " + o.Measured.brief()}
	if o.Result != nil {
		lines = append(lines, "after     "+o.Result.brief()+"; "+o.Result.Note)
	}
	return append(lines, fmt.Sprintf("target    %g LUFS, at most %g dBTP", o.Targets.LUFS, o.Targets.TP))
}

// brief is a track's loudness and peak in words.
func (l Levels) brief() string {
	if l.Integrated == nil || l.TruePeak == nil {
		return "without a loudness: silent, or too short"
	}
	return fmt.Sprintf("%g LUFS, %g dBTP", *l.Integrated, *l.TruePeak)
}

// Leveled are the levels of the written track, and how they came about.
type Leveled struct {
	Levels
	Gain    float64 `json:"gain" unit:"dB" doc:"Gain that was applied."`
	Limited bool    `json:"limited" doc:"Whether peaks were limited."`
	Ceiling float64 `json:"tp_ceiling_used,omitempty" unit:"dBFS" doc:"Where they were limited, so that the encoder stays below the target."`
	Bitrate int     `json:"audio_bitrate_used,omitempty" unit:"bit/s" doc:"Bit rate, where it was raised or asked for."`
	Encodes int     `json:"encodes" min:"1" doc:"How many times the file was made until its peaks were right."`
	Note    string  `json:"note" doc:"What was done, in words."`
}

func planLoudnessApply(f tool.Facts, in LoudnessApplyInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	if _, err := file.Media.AudioStream(in.AudioStream); err != nil {
		return tool.Plan{}, err
	}
	target, err := tool.Target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	target.Audio.Bitrate, target.Audio.Rate = in.AudioBitrate, in.SampleRate
	target.Audio.Name = sameCodec(file.Media.AudioStreams()[in.AudioStream].CodecName, target.Container)
	g := graph.Graph{
		Sources: []graph.Source{file.AsSource()}, Clips: []graph.Clip{{}}, Target: target,
		Sound: &graph.Sound{Stream: in.AudioStream, Loudness: &graph.Loudness{LUFS: in.LUFS, TruePeak: in.TP, Range: in.LRA}},
		Keep:  graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
	}
	if v := file.Media.FirstVideo(); v != nil && !v.Video.StillImage && graph.HoldsPicture(target.Container) {
		g.Picture = &graph.Picture{Copy: true}
	}
	plan, err := tool.Render(f, g)
	return plan, err
}

// sameCodec keeps lossless sound lossless where the container can hold it.
func sameCodec(codec, container string) string {
	switch {
	case container == "mov" && (strings.HasPrefix(codec, "pcm_s") && strings.HasSuffix(codec, "le") || codec == "alac"):
		return codec
	case container == "mp4" && (codec == "flac" || codec == "alac"), container == "m4a" && codec == "alac":
		return codec
	case container == "ogg" && (codec == "opus" || codec == "flac"):
		return codec
	}
	return ""
}

func readLoudnessApply(_ tool.Facts, in LoudnessApplyInput, r tool.Results) (LoudnessApplyOutput, error) {
	out := LoudnessApplyOutput{Targets: in.LoudnessTarget}
	render := r.State().(*graph.Render)
	target, err := tool.Target(in.Output)
	if err != nil {
		return out, err
	}
	if err := out.Rendered(r, render, target); err != nil {
		return out, err
	}
	res, err := render.Result()
	if err != nil {
		return out, err
	}
	l := res.Loudness
	out.Measured = levelsOf(in.AudioStream, l.Before, in.LoudnessTarget)
	switch {
	case out.Measured.Silent:
		out.Notes = append(out.Notes, "the track is silent: it has no loudness, and was left as it is")
	case out.Measured.TooShort:
		out.Notes = append(out.Notes, "the track is shorter than 0.4 s: it has no loudness, and was left as it is")
	case l.Changed:
		out.Result = leveledOf(in, l)
	}
	if out.Measured.Clipped {
		out.Notes = append(out.Notes, fmt.Sprintf("the recording is clipped in %d places: gain does not mend that", out.Measured.Clips))
	}
	return out, nil
}

func leveledOf(in LoudnessApplyInput, l *graph.Leveled) *Leveled {
	v := &Leveled{Gain: round2(l.Gain), Limited: l.Limited, Bitrate: in.AudioBitrate, Encodes: l.Encodes}
	if l.After != nil {
		v.Levels = levelsOf(in.AudioStream, l.After, in.LoudnessTarget)
	}
	if l.Bitrate > 0 {
		v.Bitrate = l.Bitrate
	}
	v.Note = fmt.Sprintf("gain of %+.1f dB", l.Gain)
	if l.Dynamic {
		v.Note = fmt.Sprintf("loudness range brought to %g LU, then %+.1f dB", in.LRA, l.Gain)
	}
	if l.Limited {
		v.Ceiling = round2(l.Limit)
		v.Note += fmt.Sprintf(", peaks limited at %.2f dBFS", l.Limit)
	}
	if l.Encodes > 1 {
		v.Note += fmt.Sprintf("; encoded %d times until the encoder's peaks were below the ceiling", l.Encodes)
	}
	return v
}

func round2(v float64) float64 { return math.Round(v*100) / 100 }
