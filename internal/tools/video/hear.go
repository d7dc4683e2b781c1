package video

import (
	"fmt"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
)

// listening is the state of a plan that goes to the recording itself.
type listening struct {
	embedded int // subtitle track being read, -1 for none
	offset   cutroom.Micros
	length   cutroom.Micros
	own      *speech.Template // the operator's engine, when it listens
	service  bool             // the operator's service listens
	reasons  []string
}

// planSpeech extracts the sound and listens to it. What keeps it from listening is
// a reason, not an error: the rest of a watch goes on.
func planSpeech(f tool.Facts, in TranscriptInput, file tool.Input, st *listening) (tool.Plan, error) {
	none := func(format string, args ...any) (tool.Plan, error) {
		st.reasons = append(st.reasons, fmt.Sprintf(format, args...))
		return tool.Plan{State: st}, nil
	}
	own := f.Settings.SpeechEngine
	if own != nil && (!f.Has(SpeechEngine) || !own.Speaks(in.Language)) {
		own = nil
	}
	if speaks := f.Settings.SpeechService; own == nil && speaks != nil && f.Has(SpeechService) {
		st.service = speech.Template{Languages: *speaks}.Speaks(in.Language)
	}
	if (own == nil && !st.service && !f.Has("speech")) || !f.Has("ffmpeg") {
		return none("nobody listened: the speech engine is not installed (run `cutroom doctor`)")
	}
	if len(file.Media.AudioStreams()) == 0 {
		return none("the file has no sound")
	}
	start, end, err := in.Range.within(file.Media.DurationSeconds)
	if err != nil {
		return tool.Plan{}, err
	}
	cut, err := ffmpeg.ExtractAudio(file.Index, file.Format, file.Media, ffmpeg.AudioOptions{
		Stream: in.AudioStream, SampleRate: 16000, Channels: 1, Start: start, End: end, File: "speech.wav",
	})
	if err != nil {
		return none("%s", cutroom.AsError(err).Error())
	}
	st.offset, st.length, st.own = cut.StartOffset, end-cut.StartOffset, own
	listen := speech.Command("speech", "speech.wav", speech.Options{
		Model: speech.Model(f.Settings.SpeechModel), Language: in.Language, Length: st.length,
	})
	if st.service {
		listen = argv.Command{Step: "speech", Program: SpeechService, Args: []argv.Atom{argv.Out("speech.wav"), argv.Word(in.Language)}, Stage: "asking the speech service"}
	}
	if own != nil {
		if listen, err = own.Command("speech", "speech.wav", in.Language); err != nil {
			return tool.Plan{}, err
		}
	}
	return tool.Plan{State: st, Steps: []argv.Command{cut.Command, listen}}, nil
}

// The toolchain's names of what the operator brings.
const (
	SpeechEngine  = "speech-engine"  // a program
	SpeechService = "speech-service" // a service on this machine
)

// speech takes what the engine heard. Words that were not understood stay, marked.
func (out *TranscriptOutput) speech(r tool.Results, in TranscriptInput, st *listening) error {
	res, ran := r.Step("speech")
	if !ran {
		return nil
	}
	t, err := st.result(r, res)
	if err != nil {
		return err
	}
	if t.Captions != nil {
		err := out.parse(t.Captions, evidence.Format(st.own.Format), Speech, -st.offset)
		out.Engine, out.Encoding, out.Format = st.own.Name, "", ""
		return err
	}
	out.Method, out.Engine, out.Language = Speech, t.Model, t.Language
	for _, s := range t.Segments {
		score, end := s.Score, s.End+st.offset
		seg := evidence.Segment{
			Start: s.Start + st.offset, End: &end, Text: s.Text, UntrustedContent: true,
			Confidence: confidence(s), Score: &score, Unreliable: s.Unreliable, Loop: s.Loop,
		}
		out.Segments = append(out.Segments, seg)
	}
	for _, reason := range t.Reasons {
		out.AddReason(reason.Sentence())
	}
	return nil
}

// heard is what an engine answered: a transcript, or captions to be parsed.
type heard struct {
	speech.Transcript
	Captions []byte
}

// result reads what the engine left.
func (st *listening) result(r tool.Results, res argv.Result) (heard, error) {
	if st.service {
		t, err := speech.ReadJSON("speech service", res.Stdout, st.length)
		return heard{Transcript: t}, err
	}
	if st.own == nil {
		t, err := speech.Result(res)
		return heard{Transcript: t}, err
	}
	data := res.Stdout
	if file := st.own.File(); file != "" {
		var err error
		if data, err = r.ReadFile(file, maxOwnTranscript); err != nil {
			return heard{}, err
		}
	}
	d, err := st.own.Read(data, st.length)
	return heard{d.Transcript, d.Captions}, err
}

const maxOwnTranscript = 64 << 20

// confidence grades a segment by the engine's score: clear English lay above -0.3
// in measurements.
func confidence(s speech.Segment) cutroom.Confidence {
	switch {
	case s.Unreliable || s.Loop:
		return cutroom.Low
	case s.Score > -0.3:
		return cutroom.High
	}
	return cutroom.Medium
}
