package cutroom

import (
	"fmt"
	"strings"
)

// Rows are the sheet in words, for every surface the same. A row without a name goes on
// with the one before. What stands in one is not yet safe for a terminal.
func (s Sheet) Rows() []SheetValue {
	var rows []SheetValue
	add := func(n int, name, format string, args ...any) {
		if n > 0 {
			name = ""
		}
		rows = append(rows, SheetValue{name, fmt.Sprintf(format, args...)})
	}
	add(0, "Call", "%s: %s (%s, %s risk)", s.ToolID, s.Summary, s.Kind, s.Risk)
	add(0, "Who", "%s (%s)", s.Who.Name, s.Who.Role)
	add(0, "Why you", "%s", s.Why)
	for n, f := range s.Inputs {
		add(n, "Reads", "%s  %s, sha256 %s", f.Path, Bytes(f.Size), f.SHA256.Short())
	}
	for n, o := range s.Outputs {
		if o.Replaces == "" {
			add(n, "Writes", "%s  (new)", o.Path)
			continue
		}
		add(n, "Writes", "%s  REPLACES a file of %s, sha256 %s", o.Path, Bytes(o.Size), o.Replaces.Short())
	}
	if s.Destination == "" {
		add(0, "Network", "none")
	} else {
		add(0, "Network", "%s, at most %s", s.Destination, Bytes(s.MaxBytes))
	}
	add(0, "Cost", "%s", s.Cost)
	for n, v := range s.Arguments {
		add(n, "Arguments", "%s = %s", v.Name, v.Value)
	}
	for n, c := range s.Commands {
		add(n, "Plan", "%s", c)
	}
	for n, c := range s.Calls {
		add(n, "Calls", "%s", c)
	}
	if s.More != "" {
		add(0, "Then", "%s", s.More)
	}
	return rows
}

// Bytes is a size for people, in powers of ten.
func Bytes(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	v := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		if v /= 1000; v < 1000 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + unit
		}
	}
	return fmt.Sprintf("%.1f TB", v/1000)
}
