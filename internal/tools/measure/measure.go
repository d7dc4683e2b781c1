// Package measure holds the tools that measure a recording and say what was found
// in numbers. Some of them apply what they measured, to a new file.
package measure

import (
	"cutroom"
	"cutroom/internal/tool"
)

// Family is the measure.* tools.
var Family = tool.NewFamily("measure", "Measure pictures and sound", "1.0.0").WithWords()

// Limits bound one measurement.
type Limits struct {
	MaxFileBytes       int64 `json:"max_file_bytes,omitzero" min:"1" max:"8589934592" default:"2147483648" unit:"B" key:"-" doc:"Largest input file."`
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitzero" min:"1" max:"86400" default:"14400" unit:"s" key:"-" doc:"Longest input."`
}

// Bounds is how the engine enforces them.
func (l Limits) Bounds() tool.Bounds {
	return tool.Bounds{FileBytes: l.MaxFileBytes, Duration: cutroom.Micros(l.MaxDurationSeconds) * cutroom.Second}
}
