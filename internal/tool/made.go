package tool

import (
	"cmp"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
)

// Writing is what every input has whose call can write a file: it is embedded.
type Writing struct {
	Output    cutroom.OutPath `json:"output,omitempty" doc:"File to write. Without it, a name made of the input's, beside it. Never an input, and never an existing file without overwrite."`
	Overwrite bool            `json:"overwrite,omitempty" key:"-" doc:"Replace the output when it exists already."`
	DryRun    bool            `json:"dry_run,omitempty" key:"-" cli:"-" doc:"Answer what would run; nothing runs and nothing is written."`
}

// Intent is what an input says about writing.
func (w Writing) Intent() Writing { return w }

// Writer is an input that embeds [Writing].
type Writer interface{ Intent() Writing }

// Made is what every measuring, editing and reviewing tool answers besides its own
// fields: it is embedded in place of [cutroom.Output]. The engine fills File, DryRun
// and Commands.
type Made struct {
	cutroom.Output
	File     *string            `json:"output,omitempty" doc:"The file that was written, as this call named it; absent when none was."`
	DryRun   bool               `json:"dry_run" doc:"Nothing ran: the commands are what would."`
	Commands []string           `json:"commands" doc:"The command lines, in order. Inputs are named as they lie in the workspace, other files lie in a private folder."`
	Probe    *ffmpeg.Document   `json:"probe,omitempty" doc:"What the written file is."`
	Verified []cutroom.Verified `json:"verified" doc:"What was measured on the written file before it was published."`
	EditMap  *edl.Map           `json:"edit_map,omitempty" doc:"Which part of which source the written file shows when."`
	Dropped  []string           `json:"dropped_streams,omitempty" doc:"Streams of the input that are not in the output, and why."`
	Notes    []string           `json:"notes,omitempty" doc:"Choices that were made, in words."`
}

// AsMade is how the engine reaches the part that it fills.
func (m *Made) AsMade() *Made { return m }

// Maker is an output that embeds [Made].
type Maker interface{ AsMade() *Made }

// Recorded fills the shared fields.
func (m *Made) Recorded(r cutroom.Record) {
	m.Output.Recorded(r)
	if m.Commands == nil {
		m.Commands = []string{}
	}
	if m.Verified == nil {
		m.Verified = []cutroom.Verified{}
	}
}

// NameAfter returns the name that an output gets when the caller gave none: the
// input's, in its folder, with _what before the suffix; suffix "" keeps the input's. Of a
// kind of file that cannot be written .mkv is made, and the suffix stays a part of the
// name: talk.ts and talk.mpg have results of their own, beside that of talk.mkv.
func NameAfter(in cutroom.InPath, what, suffix string) cutroom.OutPath {
	ext := filepath.Ext(string(in))
	stem := strings.TrimSuffix(string(in), ext)
	if _, err := graph.ContainerOf(ext); err != nil && len(ext) > 1 {
		stem += "_" + ext[1:]
		suffix = cmp.Or(suffix, ".mkv")
	}
	return cutroom.OutPath(stem + "_" + what + cmp.Or(suffix, ext))
}
