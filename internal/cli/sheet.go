package cli

import (
	"fmt"
	"strings"
	"time"

	"cutroom"
)

// boundary is said wherever somebody decides without a passphrase.
const boundary = "No passphrase is set, so this is not a boundary against a program with your shell. `cutroom approvals passphrase` sets one; for that boundary its server has to run as a user of its own."

// showSheet shows what is decided about. It goes to the terminal, whatever the flags
// say: nobody decides without it.
func (a *App) showSheet(r cutroom.Approval, s cutroom.Sheet, wrapped bool) {
	row := func(name, format string, args ...any) {
		a.say("%-12s%s", name, clean(fmt.Sprintf(format, args...)))
	}
	row("Call", "%s: %s (%s, %s risk)", s.ToolID, s.Summary, s.Kind, s.Risk)
	row("Who", "%s (%s), in %s", s.Who.Name, s.Who.Role, r.Workspace)
	row("Why you", "%s", s.Why)
	for n, f := range s.Inputs {
		row(only(n, "Reads"), "%s  %s, sha256 %s", f.Path, bytesText(f.Size), f.SHA256.Short())
	}
	for n, o := range s.Outputs {
		if o.Replaces == "" {
			row(only(n, "Writes"), "%s  (new)", o.Path)
			continue
		}
		row(only(n, "Writes"), "%s  REPLACES a file of %s, sha256 %s", o.Path, bytesText(o.Size), o.Replaces.Short())
	}
	if s.Destination != "" {
		row("Network", "%s, at most %s", s.Destination, bytesText(s.MaxBytes))
	} else {
		row("Network", "none")
	}
	row("Cost", "%s", s.Cost)
	for n, v := range s.Arguments {
		row(only(n, "Arguments"), "%s = %s", v.Name, v.Value)
	}
	for n, c := range s.Commands {
		row(only(n, "Plan"), "%s", c)
	}
	for _, c := range s.Calls {
		row("  calls", "%s", c)
	}
	if s.More != "" {
		row("", "%s", s.More)
	}
	row("Until", "the request waits until %s; an approval is good for exactly this call, once", r.Expires.Local().Format(time.DateTime))
	if !wrapped {
		a.say("")
		a.say("%s", boundary)
	}
	a.say("")
}

// only is a name for the first of several rows.
func only(n int, name string) string {
	if n == 0 {
		return name
	}
	return ""
}

// bytesText is a size for people.
func bytesText(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	units := []string{"kB", "MB", "GB", "TB"}
	v := float64(n)
	for _, u := range units {
		if v /= 1000; v < 1000 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + u
		}
	}
	return fmt.Sprintf("%.0f TB", v)
}
