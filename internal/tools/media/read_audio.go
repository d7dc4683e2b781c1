package media

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// ReadAudio says what is said and heard in a recording.
var ReadAudio = tool.Add(Family, tool.Spec[ReadAudioInput, ReadOutput]{
	Name:        "media.read_audio",
	Summary:     "Hear a recording through a model: who says what when",
	Description: "Hear a recording through a reader: a model that the operator configured, else speech recognition of the operator's own, else that of this machine. Answers what is said, verbatim and with times and speakers, who read it and everything that was tried. Nothing leaves the machine unless the operator allowed uploads, or a person approves this call (send).",
	Kind:        cutroom.Read,
	Risk:        tool.MediumRisk,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Short:       "read-audio",
	Timeout:     time.Hour,
	Network:     true,
	Sends:       func(in ReadAudioInput) bool { return in.Send },
	Needs:       tool.Needs{Readers: true},
	Calls:       []string{"video.probe", "video.transcript", "media.prepare", "media.transcribe"},
	Formats:     readFormats(lens.Audio),
	Examples:    []ReadAudioInput{{Source: "call.mp3"}, {Source: "podcast.m4a", Prompt: "who disagrees?", Range: video.Range{Start: 60 * cutroom.Second}}},
	Probes:      func(tool.Facts, ReadAudioInput) bool { return false },
	Compose:     readAudio,
})

// ReadAudioInput is the request.
type ReadAudioInput struct {
	Source   cutroom.InPath `json:"source" doc:"The recording."`
	Prompt   string         `json:"prompt,omitempty" max:"4000" doc:"What you want to know above all."`
	Language string         `json:"language,omitempty" max:"35" doc:"Language spoken, as a BCP 47 tag."`
	video.Range
	LocalOnly bool `json:"local_only,omitempty" doc:"Ask nobody outside of this machine."`
	Send      bool `json:"send,omitempty" doc:"Ask for this recording to be sent to the configured services: a person has to approve that, unless the operator allows uploads."`
}

// Reads is what the call may send.
func (in ReadAudioInput) Reads() lens.Medium { return lens.Audio }

// Validate refuses a contradiction and an empty range.
func (in ReadAudioInput) Validate() error {
	if err := sendOrKeep(in.Send, in.LocalOnly); err != nil {
		return err
	}
	return in.Range.Check()
}

func readAudio(ctx context.Context, env tool.Env, in ReadAudioInput) (ReadOutput, error) {
	r := newReading(ctx, env, lens.Audio, asked{source: in.Source, prompt: in.Prompt, language: in.Language, Range: in.Range, localOnly: in.LocalOnly})
	err := r.open()
	if err != nil {
		return *r.out, err
	}
	found, by, err := r.hear(r.row.Chain, "")
	switch {
	case err != nil:
	case by != "":
		err = r.done(by, found)
	default:
		err = r.metadata()
	}
	return *r.out, err
}
