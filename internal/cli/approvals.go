package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// approvalsCommand is the book of requests for people.
func (a *App) approvalsCommand() *cobra.Command {
	var states []string
	var max int
	list := func(cmd *cobra.Command, _ []string) error { return a.listApprovals(cmd.Context(), states, max) }
	cmd := &cobra.Command{
		Use: "approvals", Short: "List what waits for you or was decided, and take approvals back", GroupID: groupProgram, Args: a.unknownCommand,
		Long:    "A call that the policy does not allow by itself asks: it is refused with the id of a request. Without a command the requests are listed, the newest first; those that ended for 30 days.",
		Example: "  cutroom approvals\n  cutroom approvals show k3v5q7x2m4n6p7ra\n  cutroom approvals revoke --before now\n  cutroom approvals passphrase",
		RunE:    list,
	}
	listing := &cobra.Command{Use: "list", Short: "List the requests, the newest first", Args: noArgs, RunE: list}
	for _, c := range []*cobra.Command{cmd, listing} {
		c.Flags().StringSliceVar(&states, "state", nil, "only requests in these states: pending, approved, denied, spent, revoked, expired, void")
		c.Flags().IntVar(&max, "max", 20, "most requests to list")
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Show a request with its sheet", Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.callJobs(cmd.Context(), "approval.list", approvalQuery{ID: args[0], Sheets: true})
		},
	}
	cmd.AddCommand(listing, show, a.revokeCommand(), a.passphraseCommand())
	return cmd
}

// approvalQuery is the input of approval.list.
type approvalQuery struct {
	States []string `json:"states,omitempty"`
	ID     string   `json:"id,omitempty"`
	Max    int      `json:"max,omitempty"`
	Sheets bool     `json:"sheets,omitempty"`
}

func (a *App) listApprovals(ctx context.Context, states []string, max int) error {
	raw, err := tool.Encode(approvalQuery{States: states, Max: max})
	if err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	reply, err := i.Engine.Invoke(ctx, engine.Call{Tool: "approval.list", Input: raw, Principal: a.principal()})
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.printRaw(reply.JSON)
	}
	var out struct {
		Approvals []struct {
			ID        string `json:"approval_id"`
			State     string `json:"state"`
			Tool      string `json:"tool_id"`
			Principal string `json:"principal"`
			Why       string `json:"why"`
			Expires   string `json:"expires"`
		} `json:"approvals"`
	}
	if err := json.Unmarshal(reply.JSON, &out); err != nil {
		return err
	}
	if len(out.Approvals) == 0 {
		a.remark("no requests")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tWHO\tTOOL\tUNTIL\tWHY")
	for _, r := range out.Approvals {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", clean(r.ID), r.State, clean(r.Principal), clean(r.Tool), r.Expires, clean(r.Why))
	}
	return w.Flush()
}

func (a *App) revokeCommand() *cobra.Command {
	var before string
	cmd := &cobra.Command{
		Use: "revoke [ID]", Short: "Take an approval back, or all up to a time", Args: atMostOne("ID"),
		Long:    "Take back a request or an approval that was not used yet. With --before everything that was approved or asked for up to then, in every workspace, is taken back at once, grants as well. What runs already goes on.\n\nIt takes no terminal: it can only narrow what is allowed.",
		Example: "  cutroom approvals revoke k3v5q7x2m4n6p7ra\n  cutroom approvals revoke --before now",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "taking approvals back", args...); err != nil {
				return err
			}
			if (len(args) == 1) == (before != "") {
				return usagef("name one request, or give --before").withHint("cutroom approvals revoke ID, or --before now")
			}
			in := decision{Decision: cutroom.SayRevoke}
			if before == "" {
				in.ID = args[0]
				return a.decide(cmd.Context(), in)
			}
			t, err := a.moment(before)
			if err != nil {
				return err
			}
			in.Before = t.UTC().Format(time.RFC3339Nano)
			return a.decide(cmd.Context(), in)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", "take back everything up to now, or up to a time such as 2026-01-02T15:04:05Z")
	return cmd
}

// moment reads now or a time.
func (a *App) moment(text string) (time.Time, error) {
	if text == "now" {
		if a.Now != nil {
			return a.Now(), nil
		}
		return time.Now(), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usagef("%q is not a time", short(text)).withHint("use now, or a time such as 2026-01-02T15:04:05Z")
	}
	return t, nil
}

// passphraseCommand sets what `cutroom approve` asks for.
func (a *App) passphraseCommand() *cobra.Command {
	var remove, reset bool
	cmd := &cobra.Command{
		Use: "passphrase", Short: "Set, change or remove the passphrase that approving takes", Args: noArgs,
		Long: "The passphrase wraps the key that approvals are signed with: without it a program with your shell can approve what it likes. A lost one cannot be found again; --reset makes a new key, and nothing that was approved or granted before counts then.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if remove && reset {
				return usagef("--remove and --reset exclude each other")
			}
			return a.setPassphrase(cmd.Context(), remove, reset)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the passphrase off")
	cmd.Flags().BoolVar(&reset, "reset", false, "make a new key: everything approved and granted is void")
	return cmd
}

// keyKept is what a no leaves behind.
const keyKept = "the key and its passphrase are as they were; run `cutroom approvals passphrase` again to change them"

func (a *App) setPassphrase(ctx context.Context, remove, reset bool) error {
	t, err := a.person(ctx, "setting the passphrase")
	if err != nil {
		return err
	}
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	keys := i.Approvals.Keys()
	if reset {
		fmt.Fprint(a.Stderr, "Nothing that was approved or granted before will count. Type yes: ")
		if err := confirmed(t, keyKept); err != nil {
			return err
		}
		if err := i.Approvals.Reset(ctx, a.principal()); err != nil {
			return err
		}
	}
	if err := i.Approvals.Lost(ctx); err != nil {
		return err
	}
	_, wrapped, err := keys.Present()
	if err != nil {
		return err
	}
	var old, next []byte
	if wrapped {
		if old, err = a.passphrase(t, "Present passphrase: ", keyKept); err != nil {
			return err
		}
	}
	if !remove {
		if next, err = a.passphrase(t, "New passphrase: ", keyKept); err != nil {
			return err
		}
		again, err := a.passphrase(t, "Once more: ", keyKept)
		if err != nil {
			return err
		}
		if string(again) != string(next) {
			return cutroom.Errorf(cutroom.Invalid, "the two are not the same").WithHint("run `cutroom approvals passphrase` again")
		}
	}
	if err := a.noted(ctx, cutroom.AuditEvent{Type: cutroom.AuditKeyRotated, Kind: cutroom.Approve}, func() (string, error) {
		return "passphrase of the key of approvals", keys.SetPassphrase(old, next)
	}); err != nil {
		return a.refused(ctx, err)
	}
	if a.flags.json {
		a.printJSON(struct {
			Passphrase bool `json:"passphrase"`
		}{!remove})
		return nil
	}
	a.remark("done")
	return nil
}
