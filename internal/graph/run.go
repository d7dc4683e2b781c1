package graph

import (
	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// Compiled is a graph as runs of ffmpeg.
type Compiled struct {
	Commands []argv.Command // one, but for palettes
	Expect   proof.Expectation
	Map      edl.Map
	Notes    []string // choices that were made
	Dropped  []string // streams that are left out, and why
}

// Result is what a run of a graph ended with.
type Result struct {
	Verified []cutroom.Verified
	Probe    *ffmpeg.Document
	Map      *edl.Map
	Notes    []string
	Dropped  []string
}

// Render runs a graph: it encodes, then proves what was written. It is a tool.Script.
type Render struct{}

// NewRender compiles g for the ffmpeg that a describes. What cannot be done is an
// error for the caller: a container that cannot hold a codec, an encoder that is not
// there.
func NewRender(g Graph, a ffmpeg.Abilities) (*Render, error) {
	return nil, cutroom.Errorf(cutroom.Internal, "not here yet")
}

// Planned returns the runs of the encode, for a dry run.
func (r *Render) Planned() []argv.Command { return nil }

// Next returns the next run.
func (r *Render) Next() (argv.Command, bool) { return argv.Command{}, false }

// Feed takes what that run left behind.
func (r *Render) Feed(argv.Result) error { return nil }

// Result is what the run ended with, or a verification error that names what differs.
func (r *Render) Result() (Result, error) { return Result{}, nil }
