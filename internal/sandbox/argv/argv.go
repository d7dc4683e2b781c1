// Package argv says what one run of an external program is: its name, typed
// arguments and what becomes of its output.
//
// It promises that an argument is built from typed atoms only, and that [Check]
// re-reads the finished strings independently of how they were built. It is pure:
// it starts nothing and opens nothing, and must never know a tool or a policy.
package argv

import (
	"encoding/json"
	"io"
	"time"

	"cutroom"
)

// Atom is one typed argument.
type Atom interface{ atom() }

type (
	// Word is a literal of the program's table: an option name or one of its fixed
	// values ("-map", "0:a:0", "passthrough").
	Word string
	// Int is a bounded whole number.
	Int struct{ N, Min, Max int64 }
	// Decimal is a plain decimal number ("12.5", "-0.04"), such as a time in
	// seconds made from ticks.
	Decimal string
	// In is the n-th granted input; it is rendered as a path to its descriptor
	// (`file:/proc/self/fd/N` for ffmpeg and ffprobe, `/proc/self/fd/N` for others).
	In int
	// Out is a file of the private folder, by a generated safe name. It may name a
	// file that an earlier step left there.
	Out string
	// Pipe is the n-th output pipe: 0 is standard output, 1 and up are extra
	// descriptors that [Command.Consume] reads ("pipe:N").
	Pipe int
	// Graph is a filter graph of known filters, with no text or path of a user in it.
	Graph string
	// Hole is a value that an earlier step measures, named for what it is. It shows as
	// `<measured>` in a dry run; a command with one never starts.
	Hole string
	// Data is a pinned data file of the program (a model, a library), by its name in
	// the toolchain; it is rendered as the real path.
	Data string
)

func (Word) atom()    {}
func (Int) atom()     {}
func (Decimal) atom() {}
func (In) atom()      {}
func (Out) atom()     {}
func (Pipe) atom()    {}
func (Graph) atom()   {}
func (Data) atom()    {}
func (Hole) atom()    {}

// Words returns each of ws as a [Word].
func Words(ws ...string) []Atom {
	atoms := make([]Atom, len(ws))
	for i, w := range ws {
		atoms[i] = Word(w)
	}
	return atoms
}

// Ins returns the first n granted inputs.
func Ins(n int) []Atom {
	atoms := make([]Atom, n)
	for i := range atoms {
		atoms[i] = In(i)
	}
	return atoms
}

// Outs returns each of names as an [Out].
func Outs(names []string) []Atom {
	atoms := make([]Atom, len(names))
	for i, name := range names {
		atoms[i] = Out(name)
	}
	return atoms
}

// Consumer reads one output of a program while it runs, in constant memory, and
// returns what it made of it. It must read to the end; an error stops the program.
type Consumer func(io.Reader) (any, error)

// Command is one run of one pinned program in the sandbox. Its working folder is
// the call's private folder, the only place it can write.
type Command struct {
	Step    string // unique in a plan; names the result
	Program string // name in the toolchain: ffmpeg, ffprobe, tesseract, speech, ocr, object …
	Args    []Atom // without the program itself
	Inputs  []int  // indices of the call's inputs that this run is granted; In(n) counts these

	// Consume reads the outputs: element 0 standard output, element k the pipe
	// Pipe(k). A nil or missing element 0 means that standard output is kept, at most
	// StdoutCap bytes.
	Consume []Consumer
	// Report, when set, is the pipe on which ffmpeg writes its progress (-progress): the
	// engine reads it. Total is how long the output is going to be.
	Report *Report
	// Files are small files of our own making, written into the private folder before
	// the run: lists, caption scripts, chapter marks.
	Files []File
	// Outputs are files that the run must leave in the private folder.
	Outputs []string
	Limits  Limits
	// Env adds variables from the program's own table, e.g. OMP_THREAD_LIMIT=1.
	Env map[string]string
	// Stage says in words what this run does, for progress lines.
	Stage string
	// MayFail keeps the plan going when the program exits with another code than 0;
	// Interpret sees the code.
	MayFail bool
	// Memo, when set, lets what the run finds be kept: the same run of the same program
	// over the same content answers from there, and nothing is started.
	Memo *Memo
}

// Memo writes down what a run found, and reads it again. It is for runs that only
// measure: one with Outputs has no memo.
type Memo struct {
	// Save writes the values of a run that went well; nil writes nothing.
	Save func(values []any) ([]byte, error)
	// Load is the values again.
	Load func([]byte) ([]any, error)
}

// Remember is the memo of a run whose one value that counts is a T, kept as JSON.
func Remember[T any]() *Memo {
	return &Memo{
		Save: func(values []any) ([]byte, error) {
			v, ok := Value[T](Result{Values: values})
			if !ok {
				return nil, nil
			}
			return json.Marshal(v)
		},
		Load: func(text []byte) ([]any, error) {
			var v T
			if err := json.Unmarshal(text, &v); err != nil {
				return nil, err
			}
			return []any{v}, nil
		},
	}
}

// File is a small file of our own making.
type File struct {
	Name string // generated, in the private folder
	Data []byte
}

// Report says where a program reports how far it is.
type Report struct {
	Pipe  int // of Consume; the engine fills that element
	Total cutroom.Micros
}

// Limits bound one run. A zero field means the sandbox's default.
type Limits struct {
	Wall      time.Duration // wall-clock time
	CPU       time.Duration // processor time
	Memory    int64         // address space, bytes
	FileSize  int64         // largest single file, bytes
	Written   int64         // all bytes in the private folder
	OpenFiles int
	StdoutCap int64 // kept bytes of standard output when nothing consumes it
}

// Result is what one run left behind.
type Result struct {
	Exit   int
	Stdout []byte // when nothing consumed it; cut at StdoutCap
	Cut    bool   // Stdout reached its cap
	Values []any  // what each Consumer returned
	// Complaints are the classified lines of standard error: how many errors the
	// program reported, and of what sort. The text itself never leaves the sandbox
	// package.
	Complaints Complaints
	Wall, CPU  cutroom.Micros
	MaxRSS     int64 // bytes
}

// Complaints counts what a program said on standard error.
type Complaints struct {
	Lines int            // lines in all
	Kinds map[string]int // by class, e.g. "decode_error", "truncated", "no_stream"
}
