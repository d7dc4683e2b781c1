// Package verdict judges a finished file: what was probed and measured of it beside what
// a platform asks, row by row, with the numbers.
//
// It promises that a row states what was measured, never what was assumed: what could not
// be measured is a row of its own that says so. It is pure. It must never know a tool, a
// program or how a row is shown.
package verdict

import (
	"fmt"
	"math"
	"strconv"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/platform"
)

// Status is how a row came out.
type Status string

// The states of a row.
const (
	Pass Status = "PASS"
	Warn Status = "WARN"
	Fail Status = "FAIL"
)

// Kind says what is to be done about a row that did not pass.
type Kind string

// The kinds: a fault of the format is mended; a judgement is for the user to make.
const (
	Format    Kind = "format"
	Judgement Kind = "judgement"
)

// Row is one thing that was checked.
type Row struct {
	Check     string   `json:"check" doc:"What was checked: video_codec, aspect, loudness …"`
	Status    Status   `json:"status" enum:"PASS,WARN,FAIL" doc:"How it came out."`
	Value     *float64 `json:"value,omitempty" doc:"What the file has, where that is a number."`
	ValueText string   `json:"value_text,omitempty" doc:"What the file has, where that is no number: a codec, a shape."`
	Limit     *float64 `json:"limit,omitempty" doc:"What it was held against; a row without limit and limit_text only informs."`
	LimitText string   `json:"limit_text,omitempty" doc:"The same where it is no number: a list of codecs."`
	Tolerance float64  `json:"tolerance,omitempty" min:"0" doc:"How far the value may lie from the limit."`
	Unit      string   `json:"unit,omitempty" doc:"Unit of value, limit and tolerance."`
	Op        string   `json:"op,omitempty" enum:"<=,>=,==,in" doc:"How value has to stand to limit. in: one of the list."`
	Fix       string   `json:"fix,omitempty" doc:"What to do about it."`
	Kind      Kind     `json:"kind" enum:"format,judgement" doc:"format: mend it. judgement: decide with the user; a warning only while no platform was named."`
	Reason    string   `json:"reason,omitempty" doc:"Why it did not pass, or what it rests on."`
	Stream    string   `json:"stream,omitempty" doc:"The stream it speaks of, when there are several."`
}

// File is what is known of the file.
type File struct {
	Document *ffmpeg.Document
	Format   ffmpeg.Format
	Head     []byte          // the first bytes of the file
	Signals  *ffmpeg.Signals // nil when nothing could be measured
	Problems []string        // why something was not measured
}

// Target is what the file is held against.
type Target struct {
	Spec    platform.Spec
	Assumed bool // nobody named the platform: judgements warn
	// What the caller asked for in place of the platform's own limits. The zero value asks
	// for nothing.
	MaxLength  cutroom.Micros
	Aspects    []platform.Ratio
	LUFS       *float64
	TruePeak   *float64
	MaxBytes   int64
	NoLoudness bool
	Content    bool // judge black, frozen and silent stretches
}

// Judge returns the rows, in a fixed order: container, picture, time, sound, content.
func Judge(f File, t Target) []Row {
	j := &judge{f: f, t: t, video: f.Document.FirstVideo(), audio: f.Document.AudioStreams()}
	j.container()
	j.decodes()
	if j.video != nil {
		j.codec()
		j.colour()
		j.shape()
		j.rate()
		j.frames()
	}
	j.length()
	j.sound()
	j.together()
	j.extras()
	if t.Content {
		j.content()
	}
	return j.rows
}

// Count returns how many rows failed and warn.
func Count(rows []Row) (failed, warnings int) {
	for _, r := range rows {
		switch r.Status {
		case Fail:
			failed++
		case Warn:
			warnings++
		}
	}
	return failed, warnings
}

// judge collects the rows of one file.
type judge struct {
	f     File
	t     Target
	video *ffmpeg.Stream
	audio []*ffmpeg.Stream
	rows  []Row
}

// add appends a row: passed, or with worst when bad. A judgement about a platform that
// nobody named is a warning at most, unless the caller gave that limit.
func (j *judge) add(r Row, bad bool, worst Status, asked bool) {
	if r.Kind == "" {
		r.Kind = Format
	}
	switch {
	case !bad:
		r.Status, r.Fix, r.Reason = Pass, "", ""
	case r.Kind == Judgement && j.t.Assumed && !asked:
		r.Status = Warn
	default:
		r.Status = worst
	}
	j.rows = append(j.rows, r)
}

// note appends a row that only informs.
func (j *judge) note(check string, v *float64, unit, reason string) {
	j.rows = append(j.rows, Row{Check: check, Status: Pass, Value: v, Unit: unit, Kind: Format, Reason: reason})
}

// inform appends a row that only informs, in words.
func (j *judge) inform(check, text string) {
	j.rows = append(j.rows, Row{Check: check, Status: Pass, ValueText: text, Kind: Format})
}

// number is a number to a thousandth, which is finer than any limit here; nil when it is
// not finite: JSON has no infinity.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if r := math.Round(v*1000) / 1000; !math.IsInf(r, 0) {
		v = r + 0 // no negative zero
	}
	return &v
}

// strict reports whether the platform is one of those that take one narrow form of
// video, which phones play.
func (j *judge) strict() bool { return len(j.t.Spec.PixelFormats) > 0 }

// export names the call that makes a file for the platform.
func (j *judge) export() string {
	if p, err := platform.PresetOf(j.t.Spec.Name); err == nil {
		return "make it with edit.export, preset " + p.Name
	}
	return "make it anew with edit.export"
}

// String is the row on one line.
func (r Row) String() string {
	s := fmt.Sprintf("%s %s", r.Status, r.Check)
	if r.Stream != "" {
		s += " (" + r.Stream + ")"
	}
	if v := said(r.Value, r.ValueText); v != "" {
		s += ": " + v
	}
	if v := said(r.Limit, r.LimitText); v != "" {
		s += fmt.Sprintf(" (wanted %s %s", r.Op, v)
		if r.Tolerance > 0 {
			s += fmt.Sprintf(" ± %g", r.Tolerance)
		}
		s += ")"
	}
	if r.Unit != "" && r.Unit != "%" {
		s += " "
	}
	s += r.Unit
	for _, more := range []string{r.Reason, r.Fix} {
		if more != "" {
			s += "; " + more
		}
	}
	return s
}

func said(n *float64, text string) string {
	if n == nil {
		return text
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
