package media

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/lens"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// MostCommands is how many programs for transcribing the operator may name.
const MostCommands = 8

// asrProgram is the toolchain's name of the n-th endpoint's program, counted from 1.
func asrProgram(n int) string { return fmt.Sprintf("%s%d", ASRProgram, n) }

// ASRProgram is what the toolchain's names of the operator's programs for transcribing
// begin with; their number in lens.asr follows.
const ASRProgram = "asr-"

// Transcribe lets a program of the operator's own listen.
var Transcribe = tool.Add(Family, tool.Spec[TranscribeInput, TranscribeOutput]{
	Name:        "media.transcribe",
	Summary:     "Transcribe a recording with a program of the operator's own",
	Description: "Let one of the programs that the operator named under lens.asr listen to a recording, in the sandbox and without network. Use media.read_audio, which tries them in order.",
	Kind:        cutroom.Read,
	Exact:       tool.Cached,
	Revision:    1,
	Timeout:     30 * time.Minute,
	Needs:       tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: commands()},
	Formats:     readFormats(lens.Audio),
	Examples:    []TranscribeInput{{Source: "call.mp3", Endpoint: 1}},
	Plan:        planTranscribe,
	Interpret:   readTranscribed,
})

func commands() []tool.Optional {
	var list []tool.Optional
	for n := range MostCommands {
		list = append(list, tool.Optional{Program: asrProgram(n + 1), When: fmt.Sprintf("number %d of lens.asr, when that is a program", n+1)})
	}
	return list
}

// TranscribeInput is the request.
type TranscribeInput struct {
	Source   cutroom.InPath `json:"source" doc:"The recording."`
	Endpoint int            `json:"endpoint" min:"1" max:"8" doc:"Which of lens.asr, counted from 1, the command first."`
	Language string         `json:"language,omitempty" max:"35" doc:"Language spoken, as a BCP 47 tag."`
	video.Range
}

// Validate checks the range.
func (in TranscribeInput) Validate() error { return in.Range.Check() }

// TranscribeOutput is the answer.
type TranscribeOutput struct {
	cutroom.Output
	Engine string      `json:"engine" doc:"The program."`
	Lines  []lens.Line `json:"lines" doc:"What was said, in order of time."`
}

const asrFile = "speech.wav"

func planTranscribe(f tool.Facts, in TranscribeInput) (tool.Plan, error) {
	program := asrProgram(in.Endpoint)
	t, ok := f.Settings.ASRCommand(program)
	if !ok || !f.Has(program) {
		return tool.Plan{}, cutroom.Errorf(cutroom.MissingDependency, "number %d of lens.asr is no program that is pinned on this machine", in.Endpoint).
			WithHint("name it under lens.asr in cutroom.yaml and run `cutroom setup`")
	}
	file, _ := f.First()
	o := ffmpeg.AudioOptions{SampleRate: 16000, Channels: 1, Start: in.Start, File: asrFile}
	if in.End != nil {
		o.End = *in.End
	}
	cut, err := ffmpeg.ExtractAudio(file.Index, file.Format, file.Media, o)
	if err != nil {
		return tool.Plan{}, err
	}
	listen, err := t.Command("listen", asrFile, in.Language)
	return tool.Plan{State: cut, Steps: []argv.Command{cut.Command, listen}}, err
}

func readTranscribed(f tool.Facts, in TranscribeInput, r tool.Results) (TranscribeOutput, error) {
	out := TranscribeOutput{Engine: asrProgram(in.Endpoint), Lines: []lens.Line{}}
	t, _ := f.Settings.ASRCommand(out.Engine)
	out.Engine = t.Name
	res, _ := r.Step("listen")
	lines, err := transcribed(res.Stdout)
	if err != nil {
		return out, cutroom.Errorf(cutroom.ToolFailed, "%s wrote no transcript that can be read", t.Name).WithCause(err).
			WithHint("it has to write JSON segments, SRT, VTT or lines with times to its standard output")
	}
	shift := r.State().(ffmpeg.Extraction).StartOffset
	for _, l := range lines {
		l.Start += shift
		if l.End != nil {
			end := *l.End + shift
			l.End = &end
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}
