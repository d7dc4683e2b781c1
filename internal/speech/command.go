package speech

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Options say how the built-in engine runs. The zero value transcribes with the
// base model in a language that is not known.
type Options struct {
	Model    Model  // Base when empty
	Language string // BCP 47 tag of what is spoken; empty when not known
	Threads  int    // stretches transcribed at a time; 0 takes the machine's processors, at most 4
	VADOnly  bool   // find speech, do not transcribe it
	Pauses   bool   // with VADOnly: a pause of 0.3 s ends a segment; otherwise segments are as long as a model hears best
	// Length is that of the recording, as far as it is known: it bounds the run. Zero
	// leaves the sandbox's own bound.
	Length cutroom.Micros
}

// DataFiles returns the toolchain names of what a model needs, for a tool's
// declaration of its needs.
func DataFiles(m Model) []string {
	f := dataFiles(m)
	return []string{f.Library, f.Detector, f.Encoder, f.Decoder, f.Vocabulary}
}

func dataFiles(m Model) files {
	if m == "" {
		m = Base
	}
	dir := "asr/" + string(m) + "/quantized/"
	return files{
		Library: "lib/libonnxruntime.so", Detector: "vad/silero_vad_v6.onnx", Vocabulary: "asr/vocab.txt",
		Encoder: dir + "encoder_model.onnx", Decoder: dir + "decoder_model_merged.onnx",
	}
}

// Memory that the child may address: the runtime's reservations, and for each
// stretch that is transcribed at the same time its working set. Less than 2 GiB in
// all made allocations fail.
const (
	baseMemory      = 2 << 30
	memoryPerThread = 256 << 20
)

// Command runs the built-in engine over wav, a file of the private folder with
// 16 kHz mono signed 16-bit PCM. Read the result with [Result].
//
// For a language that the model does not speak ([Supports]) it only finds the
// speech: the transcript then has segments without text, and the reason.
func Command(step, wav string, o Options) argv.Command {
	if o.Model == "" {
		o.Model = Base
	}
	spoken := Supports(o.Language)
	f := dataFiles(o.Model)
	args := []argv.Atom{
		argv.Word("--wav"), argv.Out(wav),
		argv.Word("--lib"), argv.Data(f.Library),
		argv.Word("--vad"), argv.Data(f.Detector),
		argv.Word("--threads"),
		argv.Int{N: int64(o.Threads), Min: 0, Max: maxThreads},
	}
	if o.VADOnly || !spoken {
		args = append(args, argv.Word("--voice-only"))
		if o.Pauses {
			args = append(args, argv.Word("--pauses"))
		}
	} else {
		args = append(args,
			argv.Word("--model"), argv.Word(o.Model),
			argv.Word("--encoder"), argv.Data(f.Encoder),
			argv.Word("--decoder"), argv.Data(f.Decoder),
			argv.Word("--vocabulary"), argv.Data(f.Vocabulary))
	}
	threads := int64(o.Threads)
	if threads == 0 {
		threads = defaultThreads
	}
	return argv.Command{
		Step: step, Program: "speech", Args: args,
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return consume(r, o) }},
		Limits:  limits(threads, o.Length),
		Stage:   "listening for speech",
		// The child's own words about its failure come through the consumer.
		MayFail: true,
	}
}

// limits bounds a run. One processor alone hears twenty seconds of speech in a
// second; twice the recording's length allows for a busy machine.
func limits(threads int64, length cutroom.Micros) argv.Limits {
	l := argv.Limits{Memory: baseMemory + threads*memoryPerThread}
	if length > 0 {
		l.Wall = 2*time.Minute + 2*time.Duration(length)*time.Microsecond
	}
	return l
}

// Result returns the transcript of a run of [Command].
func Result(r argv.Result) (Transcript, error) {
	if len(r.Values) == 0 {
		return Transcript{}, errStoppedEarly(nil)
	}
	t, ok := r.Values[0].(Transcript)
	if !ok {
		return Transcript{}, errStoppedEarly(nil)
	}
	return t, nil
}

func errStoppedEarly(cause error) *cutroom.Error {
	return cutroom.Errorf(cutroom.ToolFailed, "the speech engine stopped before the end of the recording").
		WithHint("give a shorter range with --start and --end, or take the tiny model").WithCause(cause)
}

// Bounds of what the child may print: it hears hostile recordings, so its words are
// checked like a stranger's.
const (
	maxLine     = 1 << 20
	maxSegments = 200_000 // ten hours of one-word segments
)

// consume reads the child's lines.
func consume(r io.Reader, o Options) (Transcript, error) {
	t := Transcript{Languages: []string{"en"}}
	var end *summary
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return t, errStoppedEarly(err)
		}
		switch {
		case m.Failure != nil:
			return t, failure(m.Failure.Error)
		case end != nil || len(t.Segments) == maxSegments:
			return t, errStoppedEarly(errors.New("unexpected line"))
		case m.Summary != nil:
			end = m.Summary
		case m.Segment != nil:
			if !follows(t.Segments, *m.Segment) {
				return t, errStoppedEarly(errors.New("segment out of order"))
			}
			t.Segments = append(t.Segments, *m.Segment)
			t.SpeechSeconds += m.Segment.End - m.Segment.Start
		}
	}
	if err := lines.Err(); err != nil {
		return t, errStoppedEarly(err)
	}
	if end == nil {
		return t, errStoppedEarly(io.ErrUnexpectedEOF)
	}
	return t.finish(end, o)
}

// follows reports whether s can stand behind segments.
func follows(segments []Segment, s Segment) bool {
	if s.Start < 0 || s.End < s.Start || s.End > cutroom.MaxMicros || !utf8.ValidString(s.Text) {
		return false
	}
	return len(segments) == 0 || s.Start >= segments[len(segments)-1].End
}

// failure is the child's own error. Its message is one of this package's; an
// unknown code counts as ours.
func failure(f cutroom.FailureDetail) *cutroom.Error {
	return &cutroom.Error{Code: f.Code.Facts().Code, Msg: f.Message, Hint: f.Hint}
}

// finish completes a transcript by the child's summary.
func (t Transcript) finish(end *summary, o Options) (Transcript, error) {
	if n := len(t.Segments); end.Segments != n || (n > 0 && t.Segments[n-1].End > end.Duration) {
		return t, errStoppedEarly(errors.New("the summary contradicts the segments"))
	}
	t.Duration = end.Duration
	if end.Truncated {
		t.Reasons = append(t.Reasons, RecordingTruncated)
	}
	switch {
	case !Supports(o.Language):
		t.Model = detectorName
		t.Reasons = append(t.Reasons, LanguageNotSpoken)
	case o.VADOnly:
		t.Model = detectorName
	default:
		t.Model, t.Language = o.Model.engine(), "en"
		t.judge(o.Language != "")
	}
	return t, nil
}

// Names of the engines, as they appear in transcripts.
const detectorName = "silero-vad-v6"

func (m Model) engine() string { return "moonshine-" + string(m) }
