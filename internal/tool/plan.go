package tool

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
)

// Input is one opened input of a call.
type Input struct {
	Index   int    // what argv.Command.Inputs counts
	Text    string // the path as the caller wrote it, or the artifact's path
	Name    string // base name, for suffixes and sidecars
	Locator string // where the file is, safe to show and to record; empty for artifacts and text
	Digest  cutroom.Digest
	Size    int64
	Beside  bool                 // found beside the first input, not named by the caller
	Frame   *cutroom.ArtifactRef // set when the input is a recorded artifact
	Source  cutroom.Digest       // the media the input came from; Digest itself for a file
	Format  ffmpeg.Format        // what the content is; zero when it was not probed
	Media   *ffmpeg.Document     // nil when it was not probed
	Plain   bool                 // not media: never probed
	Inline  bool                 // text given in the call itself
	Content string               // the inline text
	Head    []byte               // the first bytes of a file, at most HeadLen
}

// HeadLen is how much of a file is known before anything is planned.
const HeadLen = 64 << 10

// Facts is what is known before planning.
type Facts struct {
	Inputs    []Input
	Programs  map[string]string // pinned programs: name → version line
	Abilities ffmpeg.Abilities  // of the pinned ffmpeg
	Languages []string          // OCR languages installed
	Fonts     caption.Fonts     // installed fonts; nil where there are none
	Maps      []RecordedMap     // edit maps of the recorded results that the call names
	// Settings are the operator's choices that tools may see.
	Settings Settings
}

// Settings are operator choices that reach tools; they are part of the key.
type Settings struct {
	SpeechModel  string           `json:"speech_model,omitempty"`  // base or tiny
	SpeechEngine *speech.Template `json:"speech_engine,omitempty"` // of the operator's own
	// SpeechService lists the languages of the operator's speech service, nil when
	// there is none; an empty list is any.
	SpeechService *[]string `json:"speech_service,omitempty"`
	// ASR are the programs for transcribing that the operator named, by the toolchain's
	// names of them.
	ASR []speech.Template `json:"asr,omitempty"`
}

// ASRCommand returns the program for transcribing that the toolchain has by that name.
func (s Settings) ASRCommand(program string) (speech.Template, bool) {
	for _, t := range s.ASR {
		if t.Program == program {
			return t, true
		}
	}
	return speech.Template{}, false
}

// RecordedMap is the edit map of a recorded result.
type RecordedMap struct {
	Run cutroom.Digest
	Map edl.Map
}

// Map returns the edit map of the recorded result that ref names. A result without one
// is an error for the caller.
func (f Facts) Map(ref cutroom.Ref) (*edl.Map, error) {
	for i := range f.Maps {
		if strings.HasPrefix(string(f.Maps[i].Run), ref.Run) {
			return &f.Maps[i].Map, nil
		}
	}
	return nil, cutroom.Errorf(cutroom.Invalid, "the result %s has no edit map", ref.Run).
		WithHint("name the run of the cut, join or other edit that made the input (its invocation_sha256)")
}

// Has says whether a program is pinned.
func (f Facts) Has(program string) bool { _, ok := f.Programs[program]; return ok }

// First returns the first input that the caller named.
func (f Facts) First() (Input, bool) {
	i := slices.IndexFunc(f.Inputs, func(in Input) bool { return !in.Beside })
	if i < 0 {
		return Input{}, false
	}
	return f.Inputs[i], true
}

// Artifact returns the input that a recorded artifact was opened as.
func (f Facts) Artifact(ref cutroom.ArtifactRef) (Input, bool) {
	i := slices.IndexFunc(f.Inputs, func(in Input) bool {
		return in.Frame != nil && in.Frame.RelativePath == ref.RelativePath && in.Frame.SHA256 == ref.SHA256
	})
	if i < 0 {
		return Input{}, false
	}
	return f.Inputs[i], true
}

// Plan is what a tool is going to do: steps of one phase, and what follows once
// they ran.
type Plan struct {
	// Files are written into the private folder before the first step runs.
	Files []argv.File
	Steps []argv.Command
	// Later are the steps that follow once these ran, as far as they can be told before:
	// a dry run shows them. What a measuring step supplies is an [argv.Hole].
	Later []argv.Command
	// Then plans the next phase from what the steps so far left behind; nil when
	// nothing follows. It is pure.
	Then func(Results) (Plan, error)
	// State is handed to Then and Interpret unchanged.
	State any
	// Expect is what has to be true of the files afterwards.
	Expect []Expectation
}

// Expectation is one thing to prove of a file in the private folder. A zero field
// is not checked.
type Expectation struct {
	File          string
	Width, Height int            // exact size of a picture
	MaxWidth      int            // a picture is at most this wide
	SampleRate    int            // of a WAV file
	Channels      int            // of a WAV file
	Duration      cutroom.Micros // of a WAV file
	Tolerance     cutroom.Micros // for Duration
}

// Results is what the steps of a call left behind.
type Results interface {
	// Step returns what the run of that name left.
	Step(name string) (argv.Result, bool)
	// State returns the State of the latest plan.
	State() any
	// ReadInput reads an input whole, at most max bytes (limit beyond that).
	ReadInput(index int, max int64) ([]byte, error)
	// ReadFile reads a file of the private folder whole, at most max bytes.
	ReadFile(name string, max int64) ([]byte, error)
	// OpenFile opens a file of the private folder.
	OpenFile(name string) (io.ReadCloser, error)
	Keeper
}

// Keeper adds files to the result.
type Keeper interface {
	// Keep makes a file of the private folder an artifact.
	Keep(name, mediaType string, at *cutroom.Micros) (cutroom.ArtifactRef, error)
	// Put writes data as an artifact.
	Put(name, mediaType string, data []byte, at *cutroom.Micros) (cutroom.ArtifactRef, error)
	// Deliver makes a file of the private folder an artifact that is also published at
	// the path that the input's field (its JSON name) holds; an empty path publishes
	// nothing.
	Deliver(name, mediaType, field string) (cutroom.ArtifactRef, error)
}

// Env is what a Run or Compose body may use.
type Env interface {
	Keeper
	// Facts returns what is known of the call's inputs.
	Facts() Facts
	// ReadInput reads an input of the call whole, at most max bytes.
	ReadInput(index int, max int64) ([]byte, error)
	// Call invokes another tool under the same principal, deadline and budget. The
	// id has to be in the spec's Calls.
	Call(ctx context.Context, id string, in any) (Reply, error)
	// List returns what lies in a folder, sorted by name.
	List(ctx context.Context, folder cutroom.InPath) ([]Listed, error)
	// MakeFolder makes a folder where this principal may write.
	MakeFolder(ctx context.Context, folder cutroom.InPath) error
	// DropFolder removes a folder that is empty.
	DropFolder(ctx context.Context, folder cutroom.InPath) error
	// Withdraw removes the file that a call made by this one wrote, unless something
	// else stands there by now. The record of the call stays.
	Withdraw(ctx context.Context, made Reply) error
	// ReadArtifact reads an artifact of a result that this call made or was given.
	ReadArtifact(ctx context.Context, ref cutroom.ArtifactRef, max int64) ([]byte, error)
	// Recorded returns the recorded results of one tool about one source that this
	// principal may read, the oldest first.
	Recorded(ctx context.Context, source cutroom.Digest, tool string) ([]Reply, error)
	// ReadResult returns the typed output of a recorded result that the call names.
	ReadResult(ctx context.Context, ref cutroom.Ref) (Reply, error)
	// Progress reports what the body is doing.
	Progress(p cutroom.Progress)
	// Run is the invocation id of this call.
	Run() cutroom.Digest
	// Key is the server's own name for what this call does: the same for every call that
	// must not be done again after this one. No caller chooses it.
	Key() string
	// Jobs is the queue as this call's principal may see it.
	Jobs() Jobs
	// Audit is what was done and refused, as this call's principal may see it.
	Audit() Audit
	// Approvals are the requests for a person's approval, as this call's principal may
	// see them.
	Approvals() Approvals
	// Readers are the models and services that may be shown media now.
	Readers() Readers
	// Agents starts runs on behalf of the agent's run that makes this call.
	Agents() Agents
	// ReadTail reads the end of an input, at most max bytes.
	ReadTail(index int, max int64) ([]byte, error)
	// Now is the time.
	Now() time.Time
	// Registry lists the tools of this installation that the principal may see.
	Registry() []*Tool
}

// Listed is what stands under one name in a folder.
type Listed struct {
	Name     string
	Folder   bool
	Plain    bool // a file, and no link to one
	Size     int64
	Modified time.Time
}

// Jobs is the durable queue. An id that the principal may not see does not exist.
type Jobs interface {
	Get(ctx context.Context, id string) (cutroom.Job, error)
	// Wait returns when the job ended, or after d with its state then.
	Wait(ctx context.Context, id string, d time.Duration) (cutroom.Job, error)
	// Cancel asks the job to stop and returns its state after that; a job that ended
	// stays as it is.
	Cancel(ctx context.Context, id string) (cutroom.Job, error)
	// List returns the newest jobs first, at most max, in the given states or in all.
	List(ctx context.Context, max int, states ...cutroom.JobState) ([]cutroom.Job, error)
}

// Audit is what was done and refused.
type Audit interface {
	// Query returns the rows that a filter chooses, the newest first.
	Query(ctx context.Context, f cutroom.AuditFilter) ([]cutroom.AuditEvent, error)
}

// Approvals are requests for a person's approval. An id that the principal may not see
// does not exist.
type Approvals interface {
	// Request asks for a call; the same call is the same request. Without an id in the
	// answer no approval is needed.
	Request(ctx context.Context, id string, input []byte) (cutroom.Approval, error)
	// List returns the newest requests first, at most max, in the given states or in all.
	List(ctx context.Context, max int, states ...cutroom.ApprovalState) ([]cutroom.Approval, error)
	// Decide does what the operator says, and says how many requests that ended.
	Decide(ctx context.Context, v cutroom.Verdict) (cutroom.Approval, int64, error)
}

// Reply is what a call of another tool answered.
type Reply struct {
	Tool    string
	Output  any // pointer to that tool's output type
	Run     cutroom.Digest
	Reused  bool
	Seconds cutroom.Micros
	Record  cutroom.Record
}

// Bounds limit what one call may read and make. Zero fields are unbounded.
type Bounds struct {
	FileBytes       int64
	Duration        cutroom.Micros
	Frames          int
	TranscriptBytes int64
}

// Within returns b lowered to the operator's maxima.
func (b Bounds) Within(o Bounds) Bounds {
	return Bounds{
		FileBytes:       lower(b.FileBytes, o.FileBytes),
		Duration:        lower(b.Duration, o.Duration),
		Frames:          lower(b.Frames, o.Frames),
		TranscriptBytes: lower(b.TranscriptBytes, o.TranscriptBytes),
	}
}

func lower[T int | int64 | cutroom.Micros](a, b T) T {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// Bounded is an input with limits of its own.
type Bounded interface{ Bounds() Bounds }
