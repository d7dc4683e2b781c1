package video

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// ExtractAudio writes the sound of a recording as WAV.
var ExtractAudio = tool.Add(Family, tool.Spec[ExtractAudioInput, ExtractAudioOutput]{
	Name:        "video.extract_audio",
	Summary:     "Write the sound of a recording as a WAV file",
	Description: "Get the sound of a recording as PCM for listening or measuring. Surround sound is mixed properly, so that speech in the centre channel is kept. With detail full the answer says by how much the sound starts after the picture, so that times in the WAV map back to the recording.",
	Kind:        cutroom.Read,
	Exact:       tool.BitExact,
	Revision:    1,
	Timeout:     900 * time.Second,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}},
	Formats:     mediaFormats,
	Examples:    []ExtractAudioInput{{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: "talk.mp4"}, Codec: "pcm_s16le", SampleRateHz: 16000, Channels: 1}},
	Plan:        planAudio,
	Interpret:   keepAudio,
})

// ExtractAudioInput is the request.
type ExtractAudioInput struct {
	Source       cutroom.Source `json:"source" doc:"The recording (kind local_file)."`
	Codec        string         `json:"codec,omitempty" enum:"pcm_s16le" default:"pcm_s16le" doc:"Form of the samples: 16-bit little-endian PCM."`
	SampleRateHz int            `json:"sample_rate_hz,omitzero" enum:"16000,22050,44100,48000" default:"16000" unit:"Hz" doc:"Sampling rate."`
	Channels     int            `json:"channels,omitzero" enum:"1,2" default:"1" doc:"Channels after mixing."`
	AudioStream  int            `json:"audio_stream,omitzero" min:"0" max:"255" since:"1.3" doc:"Which audio stream, counted from 0."`
	Range
	Detail Detail `json:"detail,omitempty" enum:"basic,full" default:"basic" since:"1.3" doc:"full adds start_offset_seconds and the length."`
	Limits Limits `json:"limits,omitzero" doc:"Bounds of this call."`
}

// Validate refuses other kinds of source and an empty range.
func (in ExtractAudioInput) Validate() error {
	if err := localOnly(in.Source, "video.extract_audio"); err != nil {
		return err
	}
	return in.Range.Check()
}

// Bounds are the limits of the call.
func (in ExtractAudioInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// ExtractAudioOutput is the answer.
type ExtractAudioOutput struct {
	cutroom.Output
	Audio              cutroom.ArtifactRef `json:"audio" doc:"The WAV file."`
	StartOffsetSeconds *cutroom.Micros     `json:"start_offset_seconds,omitempty" unit:"s" since:"1.3" doc:"Add this to a time in the WAV to get a time in the recording."`
}

const wavFile = "audio.wav"

func planAudio(f tool.Facts, in ExtractAudioInput) (tool.Plan, error) {
	file, _ := f.First()
	start, end, err := in.Range.within(file.Media.DurationSeconds)
	if err != nil {
		return tool.Plan{}, err
	}
	cut, err := ffmpeg.ExtractAudio(file.Index, file.Format, file.Media, ffmpeg.AudioOptions{
		Stream: in.AudioStream, SampleRate: in.SampleRateHz, Channels: in.Channels, Start: start, End: end, File: wavFile,
	})
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Steps: []argv.Command{cut.Command}, State: cut,
		Expect: []tool.Expectation{{File: wavFile, SampleRate: in.SampleRateHz, Channels: in.Channels}},
	}, nil
}

// shortfall is how much less sound there is than the container claims that is still
// rounding: a codec's delay and its last frame.
const shortfall = 200_000

// missing is how much sound the file claims and does not hold.
func missing(file tool.Input, in ExtractAudioInput, cut ffmpeg.Extraction, ref cutroom.ArtifactRef) cutroom.Micros {
	s, err := file.Media.AudioStream(in.AudioStream)
	if err != nil || s.EndSeconds == 0 {
		return 0
	}
	end := s.EndSeconds
	if in.End != nil {
		end = min(end, *in.End)
	}
	const header = 44
	held := cutroom.Micros((ref.SizeBytes - header) * 1_000_000 / int64(in.SampleRateHz*in.Channels*2))
	return end - cut.StartOffset - held
}

func keepAudio(f tool.Facts, in ExtractAudioInput, r tool.Results) (ExtractAudioOutput, error) {
	var out ExtractAudioOutput
	cut := r.State().(ffmpeg.Extraction)
	ref, err := r.Keep(wavFile, "audio/wav", nil)
	if err != nil {
		return out, err
	}
	out.Audio = ref
	if in.Detail == full || in.AudioStream > 0 || in.Range != (Range{}) {
		out.StartOffsetSeconds = &cut.StartOffset
	}
	file, _ := f.First()
	if short := missing(file, in, cut, ref); short > shortfall {
		out.AddReason(fmt.Sprintf("the sound is %s s shorter than the file says", short))
	}
	for _, c := range complaints(r, cut.Command.Step) {
		out.AddReason(c)
	}
	return out, nil
}
