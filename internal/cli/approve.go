package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/engine"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
)

// approveCommand is `cutroom approve`: the one place where a call is allowed.
func (a *App) approveCommand() *cobra.Command {
	var life duration
	cmd := &cobra.Command{
		Use: "approve ID", Short: "Look at a call that waits for you, and allow it once", GroupID: groupProgram, Args: exactly("ID"),
		Long: "Show what a call would do, on which files, with its plan, and allow exactly that, once. It is made for a person: it takes a terminal and, once one is set (`cutroom approvals passphrase`), your passphrase.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.approve(cmd.Context(), args[0], time.Duration(life))
		},
	}
	cmd.Flags().Var(&life, "for", "how long the approval lives, such as 10m (default: approvals.life_minutes; 15m at most for the network)")
	return cmd
}

func (a *App) approve(ctx context.Context, id string, life time.Duration) error {
	t, err := a.person(ctx, "approving", id)
	if err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	who := a.principal()
	request, err := i.Approvals.Get(ctx, who, id)
	if err != nil {
		return err
	}
	if request.State != cutroom.ApprovalPending && request.State != cutroom.ApprovalDenied {
		return cutroom.Errorf(cutroom.Conflict, "the request %s is %s", request.ID, request.State).
			WithHint("a call that is made again asks again; `cutroom approvals` lists what waits")
	}
	sheet, bound, err := a.review(ctx, i, request)
	if err != nil {
		return err
	}
	_, wrapped, err := i.Approvals.Keys().Present()
	if err != nil {
		return err
	}
	a.showSheet(request, sheet, wrapped)
	kept := "the request still waits: `cutroom approvals` lists it"
	if request.State == cutroom.ApprovalDenied {
		kept = "the request stays denied; `cutroom approve` still changes that"
	}
	seal, err := a.seal(ctx, t, i.Approvals, request, bound, kept)
	if err != nil {
		return err
	}
	in := decision{ID: id, Decision: cutroom.SayApprove, Minutes: int64(life / time.Minute)}
	if life > 0 && in.Minutes == 0 {
		in.Minutes = 1
	}
	return a.decide(approval.WithSeal(ctx, seal), in)
}

// review makes the sheet of a request anew, in the workspace that it came from.
func (a *App) review(ctx context.Context, i *setup.Installation, request cutroom.Approval) (cutroom.Sheet, cutroom.Digest, error) {
	at := i.Engine
	if request.Workspace != i.Workspace || request.StageRoot != i.StageRelative {
		o := a.options()
		o.Dir, o.Root, o.Stage = request.Workspace, request.Workspace, request.StageRoot
		other, err := setup.Open(ctx, o)
		if err != nil {
			return cutroom.Sheet{}, "", err
		}
		defer other.Close()
		at = other.Engine
	}
	sheet, bound, err := at.Review(ctx, request)
	if err == nil && bound != request.Bound {
		err = cutroom.Errorf(cutroom.Conflict, "the request %s is another call by now: a file, a program, the policy or a setting changed since", request.ID).
			WithHint("have the call made again: it asks anew")
	}
	return sheet, bound, err
}

// decision is the input of the tool that writes a decision down.
type decision struct {
	ID       string `json:"id,omitempty"`
	Decision string `json:"decision"`
	Minutes  int64  `json:"minutes,omitempty"`
	Before   string `json:"before,omitempty"`
}

// decide calls the tool as any other, so that a decision is written down as every call.
func (a *App) decide(ctx context.Context, in decision) error {
	raw, err := tool.Encode(in)
	if err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	reply, err := i.Engine.Invoke(ctx, engine.Call{Tool: "approval.decide", Input: raw, Principal: a.principal()})
	if err != nil {
		return err
	}
	return a.showReply(reply)
}

// tries is how often a passphrase may be mistyped.
const tries = 3

// seal asks for the passphrase, or for a plain yes where none is set. Each wrong one is
// written down.
func (a *App) seal(ctx context.Context, t *os.File, b *approval.Book, request cutroom.Approval, bound cutroom.Digest, kept string) (*approval.Seal, error) {
	by := a.principal().Name
	_, wrapped, err := b.Keys().Present()
	if err != nil {
		return nil, err
	}
	if !wrapped {
		fmt.Fprint(a.Stderr, "Allow exactly this, once? Type yes: ")
		if err := confirmed(t, kept); err != nil {
			return nil, err
		}
		return b.Seal(nil, bound, by)
	}
	for n := 1; ; n++ {
		pass, err := a.passphrase(t, "Passphrase, to allow exactly this once: ", kept)
		if err != nil {
			return nil, err
		}
		s, err := b.Seal(pass, bound, by)
		if err = a.refused(ctx, err, request.ID); err == nil || n == tries || cutroom.AsError(err).Code != cutroom.Denied {
			return s, err
		}
		a.say("that is not it")
	}
}

// passphrase reads a line that the terminal does not show; an empty one is a no, after
// which things are as kept says. The prompt comes when nothing is shown any more: who
// answers at once does not type into the open.
func (a *App) passphrase(t *os.File, prompt, kept string) ([]byte, error) {
	before, err := term.MakeRaw(int(t.Fd()))
	if err != nil {
		return nil, notConfirmed(err, kept)
	}
	line, err := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t, a.Stderr}, "").ReadPassword(prompt)
	if e := term.Restore(int(t.Fd()), before); err == nil {
		err = e
	}
	if err != nil || line == "" {
		return nil, notConfirmed(err, kept)
	}
	return []byte(line), nil
}

// confirmed reads one line, which has to be yes; else things are as kept says.
func confirmed(t *os.File, kept string) error {
	line, err := bufio.NewReader(t).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return notConfirmed(err, kept)
	}
	return nil
}

func notConfirmed(cause error, kept string) error {
	return cutroom.Errorf(cutroom.Canceled, "nothing was decided").WithHint("%s", kept).WithCause(cause)
}

func (a *App) denyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deny ID", Short: "Refuse a call that waits for you", GroupID: groupProgram, Args: exactly("ID"),
		Long: "Refuse a call. For a day the very same call is refused without asking again; `cutroom approve` still changes that. It takes no terminal: it can only narrow what is allowed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "deciding", args[0]); err != nil {
				return err
			}
			return a.decide(cmd.Context(), decision{ID: args[0], Decision: cutroom.SayDeny})
		},
	}
}

// showProposal prints the plan of a call that now waits to be approved.
func (a *App) showProposal(ctx context.Context, c engine.Call, asked *cutroom.Error) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	c.Progress = nil
	_, plan, err := i.Engine.Propose(ctx, c)
	if err != nil {
		return err
	}
	a.exit = cutroom.NeedsApproval.Facts().Exit
	if a.flags.json {
		a.printJSON(plan)
		return nil
	}
	a.printPlan(plan)
	fmt.Fprintf(a.Stdout, "waits for the operator: %s; then run the same command again\n", plan.Approval.Command)
	a.remark("%s", asked.Msg)
	return nil
}
