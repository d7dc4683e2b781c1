// Package video holds the eight video.* tools: the typed contracts, version 1.2.0,
// by which an agent perceives a recording step by step. Every tool answers with
// evidence that is recorded and can be cited; none calls a model.
//
// Members and values that 1.2.0 did not have are marked `since` and appear only in
// answers to requests that use one of them (detail full above all).
package video

import (
	"path"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// Family is the video.* tools.
var Family = tool.NewFamily("video", "Perceive a recording step by step, as evidence", cutroom.ContractVersion)

// Formats that the contracts name.
var (
	mediaFormats      = []string{"mp4", "mov", "m4v", "webm", "mkv", "avi", "mpeg", "mpg", "mp3", "m4a", "wav", "flac", "ogg", "opus"}
	transcriptFormats = []string{"vtt", "srt", "txt", "md"}
	frameFormats      = []string{"jpg", "jpeg", "png", "webp"}
	timelineFormats   = []string{"json", "md"}
)

// Limits bound one call. The defaults are the operating budget, the maxima the
// contract's ceilings; neither is a permission.
type Limits struct {
	MaxFileBytes       int64 `json:"max_file_bytes,omitzero" min:"1" max:"8589934592" default:"2147483648" unit:"B" key:"-" doc:"Largest input file."`
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitzero" min:"1" max:"86400" default:"14400" unit:"s" key:"-" doc:"Longest input."`
	MaxFrames          int   `json:"max_frames,omitzero" min:"1" max:"240" default:"48" doc:"Most frames of one call."`
	MaxTranscriptBytes int64 `json:"max_transcript_bytes,omitzero" min:"1" max:"33554432" default:"8388608" unit:"B" key:"-" doc:"Largest transcript."`
}

// Bounds is how the engine enforces them.
func (l Limits) Bounds() tool.Bounds {
	return tool.Bounds{
		FileBytes: l.MaxFileBytes, Duration: cutroom.Micros(l.MaxDurationSeconds) * cutroom.Second,
		Frames: l.MaxFrames, TranscriptBytes: l.MaxTranscriptBytes,
	}
}

// localOnly refuses every source but a file of the workspace.
func localOnly(s cutroom.Source, name string) error { return only(s, name, cutroom.LocalFile) }

func only(s cutroom.Source, name string, kinds ...cutroom.SourceKind) error {
	var words []string
	for _, k := range kinds {
		if s.Kind == k {
			return nil
		}
		words = append(words, string(k))
	}
	return cutroom.Errorf(cutroom.Invalid, "%s takes a source of kind %s, not %s", name, strings.Join(words, " or "), s.Kind)
}

// suffix is the lower-case suffix of a name without its dot.
func suffix(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// Range is the part of a recording that a call looks at.
type Range struct {
	Start cutroom.Micros  `json:"start,omitzero" min:"0" unit:"s" since:"1.3" doc:"Where to begin; zero is where playback starts. Also as hh:mm:ss.mmm."`
	End   *cutroom.Micros `json:"end,omitempty" min:"0" unit:"s" since:"1.3" doc:"Where to stop; without it, at the end. Also as hh:mm:ss.mmm."`
}

// Check refuses a range that is empty or upside down.
func (r Range) Check() error {
	if r.End != nil && *r.End <= r.Start {
		return cutroom.Errorf(cutroom.Invalid, "end (%s s) has to lie after start (%s s)", r.End, r.Start)
	}
	return nil
}

// within clips the range to a duration, and refuses one that lies outside.
func (r Range) within(duration cutroom.Micros) (start, end cutroom.Micros, err error) {
	end = duration
	if r.End != nil {
		end = min(end, *r.End)
	}
	if duration > 0 && r.Start >= duration {
		return 0, 0, cutroom.Errorf(cutroom.Invalid, "start %s s lies beyond the end: the file lasts %s s", r.Start, duration).
			WithHint("give a start below %s", duration)
	}
	return r.Start, end, nil
}

// Detail chooses between the answer of 1.2.0 and the whole one.
type Detail string

const (
	basic Detail = "basic"
	full  Detail = "full"
)
