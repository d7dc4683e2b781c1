package cli

import (
	"time"

	"cutroom"
)

// boundary is said wherever somebody decides without a passphrase.
const boundary = "No passphrase is set, so this is not a boundary against a program with your shell. `cutroom approvals passphrase` sets one; for that boundary its server has to run as a user of its own."

// showSheet shows what is decided about. It goes to the terminal, whatever the flags
// say: nobody decides without it.
func (a *App) showSheet(r cutroom.Approval, s cutroom.Sheet, wrapped bool) {
	row := func(name, value string) { a.say("%-12s%s", name, clean(value)) }
	for _, v := range s.Rows() {
		row(v.Name, v.Value)
	}
	row("Workspace", r.Workspace)
	row("Until", "the request waits until "+r.Expires.Local().Format(time.DateTime)+"; an approval is good for exactly this call, once")
	if !wrapped {
		a.say("")
		a.say("%s", boundary)
	}
	a.say("")
}
