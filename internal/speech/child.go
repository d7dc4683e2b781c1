package speech

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"cutroom"
	"cutroom/internal/onnx"
)

// files are the paths of what the child loads.
type files struct{ Library, Detector, Encoder, Decoder, Vocabulary string }

// request is the child's command line.
type request struct {
	files
	Recording string // path of the WAV file; "-" is standard input
	Model     Model
	Threads   int
	VoiceOnly bool // find speech, do not transcribe it
	Pauses    bool // every pause ends a segment
}

// message is one line of the child's standard output; one field is set.
type message struct {
	Segment *Segment         `json:"segment,omitempty"`
	Summary *summary         `json:"summary,omitempty"`
	Failure *cutroom.Failure `json:"failure,omitempty"`
}

// summary is the last line of a run that went well.
type summary struct {
	Duration  cutroom.Micros `json:"duration_seconds"`
	Speech    cutroom.Micros `json:"speech_seconds"`
	Segments  int            `json:"segments"`
	Truncated bool           `json:"truncated,omitempty"`
	Runtime   string         `json:"runtime"`
}

// Child is the main function of the sandboxed child. args are what [Command] writes
// (without the program's name); it prints a line per segment as soon as it is known,
// in order of time, and a summary. A failure is one line too, beside the exit code
// of its kind.
func Child(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	lines := json.NewEncoder(stdout)
	lines.SetEscapeHTML(false)
	err := runChild(args, stdin, lines)
	if err == nil {
		return 0
	}
	e := cutroom.AsError(err)
	failure := e.Failure()
	fmt.Fprintf(stderr, "cutroom-speech: %v\n", err)
	if err := lines.Encode(message{Failure: &failure}); err != nil {
		fmt.Fprintf(stderr, "cutroom-speech: %v\n", err)
	}
	return e.Code.Facts().Exit
}

func runChild(args []string, stdin io.Reader, lines *json.Encoder) error {
	q, err := parseRequest(args)
	if err != nil {
		return err
	}
	recording := stdin
	if q.Recording != "-" {
		f, err := os.Open(q.Recording)
		if err != nil {
			return cutroom.Errorf(cutroom.NotFound, "the recording cannot be opened").WithCause(err)
		}
		defer f.Close()
		recording = f
	}
	wave, err := openWave(recording)
	if err != nil {
		return err
	}
	ort, err := onnx.Open(q.Library)
	if err != nil {
		return err
	}
	detector, err := newDetector(ort, q.Detector)
	if err != nil {
		return err
	}
	defer detector.close()
	l := &listener{wave: wave, probability: detector.probability, workers: q.Threads, pauses: q.Pauses}
	if !q.VoiceOnly {
		model, err := newMoonshine(ort, q.Model, q.files, 1)
		if err != nil {
			return err
		}
		defer model.close()
		l.hear = model.transcribe
	}
	s, err := l.run(func(s Segment) error {
		return lines.Encode(message{Segment: &s})
	})
	if err != nil {
		return err
	}
	s.Runtime = "onnxruntime " + ort.Version()
	return lines.Encode(message{Summary: &s})
}

func parseRequest(args []string) (request, error) {
	var q request
	f := flag.NewFlagSet("cutroom-speech", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&q.Recording, "wav", "", "")
	f.StringVar(&q.Library, "lib", "", "")
	f.StringVar(&q.Detector, "vad", "", "")
	f.StringVar(&q.Encoder, "encoder", "", "")
	f.StringVar(&q.Decoder, "decoder", "", "")
	f.StringVar(&q.Vocabulary, "vocabulary", "", "")
	f.StringVar((*string)(&q.Model), "model", string(Base), "")
	f.IntVar(&q.Threads, "threads", 0, "")
	f.BoolVar(&q.VoiceOnly, "voice-only", false, "")
	f.BoolVar(&q.Pauses, "pauses", false, "")
	if err := f.Parse(args); err != nil {
		return q, cutroom.Errorf(cutroom.Invalid, "cutroom-speech: %w", err)
	}
	var missing error
	switch {
	case f.NArg() > 0:
		missing = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case q.Recording == "" || q.Library == "" || q.Detector == "":
		missing = errors.New("--wav, --lib and --vad are needed")
	case !q.VoiceOnly && (q.Encoder == "" || q.Decoder == "" || q.Vocabulary == ""):
		missing = errors.New("--encoder, --decoder and --vocabulary are needed")
	case q.Threads < 0 || q.Threads > maxThreads:
		missing = fmt.Errorf("--threads is between 0 and %d", maxThreads)
	}
	if missing != nil {
		return q, cutroom.Errorf(cutroom.Invalid, "cutroom-speech: %w", missing)
	}
	if q.Threads == 0 {
		q.Threads = min(runtime.NumCPU(), defaultThreads)
	}
	return q, nil
}
