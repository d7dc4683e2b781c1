package cli

import (
	"context"
	"os"
	"regexp"
	"time"

	"golang.org/x/term"

	"cutroom"
	"cutroom/internal/setup"
)

// personOnly refuses what only a person may decide. about are the ids that it is about.
func (a *App) personOnly(ctx context.Context, what string, about ...string) error {
	if a.principal().Role != cutroom.RoleAgent {
		return nil
	}
	return a.refused(ctx, cutroom.Errorf(cutroom.Denied, "%s is for a person", what).
		WithHint("ask the operator to run it in a terminal of their own"), about...)
}

// person refuses whoever is no person at a terminal, and returns the terminal.
func (a *App) person(ctx context.Context, what string, about ...string) (*os.File, error) {
	if err := a.personOnly(ctx, what, about...); err != nil {
		return nil, err
	}
	in, ok := a.Stdin.(*os.File)
	out, alsoOK := a.Stderr.(*os.File)
	if !ok || !alsoOK || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, a.refused(ctx, cutroom.Errorf(cutroom.Denied, "%s takes a terminal", what).
			WithHint("run the command by hand on a terminal of your own, without redirecting its input or its error output"), about...)
	}
	return in, nil
}

// refusedTime bounds how long a refusal is tried to be written down.
const refusedTime = 5 * time.Second

// requestID is what the id of a request looks like; other words of the refused are not
// written down.
var requestID = regexp.MustCompile(`^[a-z2-7]{16}$`)

// refused writes down that what is for a person was tried by somebody else, or without
// proof, and returns the refusal. Other errors pass. It stands whether or not the row can
// be written: it allows nothing. The installation is opened anew, as the flags of the
// refused may not say where.
func (a *App) refused(ctx context.Context, err error, about ...string) error {
	e := cutroom.AsError(err)
	if e == nil || e.Code != cutroom.Denied {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, refusedTime)
	defer stop()
	i, fault := setup.Open(ctx, setup.Options{Dir: a.Dir, Registry: a.registry, Redact: a.Redact, Log: a.log(), Now: a.Now})
	if fault == nil {
		defer i.Close()
		row := cutroom.AuditEvent{
			Type: cutroom.AuditDecisionRefused, Principal: a.principal(), Kind: cutroom.Approve,
			Decision: "deny", Reason: e.Msg, Outcome: string(e.Code),
		}
		if len(about) > 0 && requestID.MatchString(about[0]) {
			row.Approval = about[0]
		}
		fault = i.Audit.Record(ctx, row, nil)
	}
	if fault != nil {
		a.log().Warn("a refusal could not be written down", "cause", fault)
	}
	return err
}
