package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
)

// auditRow is a row of audit.query that is printed for people.
type auditRow struct {
	Seq       int64  `json:"seq"`
	At        string `json:"at"`
	Type      string `json:"type"`
	Principal string `json:"principal"`
	ToolID    string `json:"tool_id"`
	Kind      string `json:"kind"`
	Decision  string `json:"decision"`
	Reason    string `json:"reason"`
	Outcome   string `json:"outcome"`
	RunID     string `json:"run_id"`
	Approval  string `json:"approval_id"`
	Grant     string `json:"grant_id"`
	Detail    string `json:"detail"`
}

// queryAudit calls audit.query.
func (a *App) queryAudit(ctx context.Context, input []byte) ([]auditRow, int64, error) {
	i, err := a.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	reply, err := i.Engine.Invoke(ctx, engine.Call{Tool: "audit.query", Input: input, Principal: a.principal()})
	if err != nil {
		return nil, 0, err
	}
	var out struct {
		Rows []auditRow `json:"rows"`
		Next int64      `json:"next_before"`
	}
	return out.Rows, out.Next, json.Unmarshal(reply.JSON, &out)
}

// operationsCommand is the ledger for people. It stands by itself: the commands of
// `cutroom audit` only read, and to settle an operation changes what the next call does.
func (a *App) operationsCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "operations", Short: "List and settle calls of unknown outcome", GroupID: groupResults, Args: a.unknownCommand,
		Long: "A call that must not be made twice is in the ledger before anything is done. When its process ends before the call does, nobody knows whether it was done: the same call is then refused until a person has looked and settled it.\n\n" +
			"Without a command the calls are listed that have no outcome yet: those at work, and those that were cut off.",
		Example: "  cutroom operations\n  cutroom operations settle k3v5q7x2m4n6p8r0s1t9 --happened",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.personOnly(cmd.Context(), "the ledger"); err != nil {
				return err
			}
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			list, err := i.Audit.Operations(cmd.Context(), all, maxOperations)
			if err != nil {
				return err
			}
			return a.showOperations(list)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those whose outcome is known")
	cmd.AddCommand(a.settleCommand())
	return cmd
}

const maxOperations = 200

// operation is an operation as it is printed.
type operation struct {
	ID        string                 `json:"id"`
	Key       string                 `json:"key"`
	ToolID    string                 `json:"tool_id"`
	Principal string                 `json:"principal"`
	State     string                 `json:"state"`
	Replay    string                 `json:"replay"`
	Started   time.Time              `json:"started"`
	Until     time.Time              `json:"until"`
	Finished  *time.Time             `json:"finished,omitempty"`
	RunID     cutroom.Digest         `json:"run_id,omitempty"`
	Error     *cutroom.FailureDetail `json:"error,omitempty"`
	Note      string                 `json:"note,omitempty"`
}

func operationOf(op cutroom.Operation, now time.Time) operation {
	o := operation{
		ID: op.Call, Key: op.Key, ToolID: op.Tool, Principal: op.Principal.Name, State: string(op.State), Replay: "safe",
		Started: op.Started, Until: op.Until, RunID: op.Run, Error: op.Failure, Note: op.Note,
	}
	if op.Never {
		o.Replay = "never"
	}
	if !op.Finished.IsZero() {
		o.Finished = &op.Finished
	}
	switch {
	case op.State == cutroom.OperationStarted && now.Before(op.Until):
		o.State = "at work, or cut off"
	case op.State == cutroom.OperationStarted:
		o.State = "unknown"
	}
	return o
}

func (a *App) showOperations(list []cutroom.Operation) error {
	shown := []operation{}
	for _, op := range list {
		shown = append(shown, operationOf(op, a.now()))
	}
	if a.flags.json {
		a.printJSON(struct {
			Operations []operation `json:"operations"`
		}{shown})
		return nil
	}
	for _, o := range shown {
		fmt.Fprintln(a.Stdout, clean(strings.TrimSpace(fmt.Sprintf("%s  %s  %-10s  %-24s  %s  %s", o.ID, o.Started.Local().Format(time.DateTime), o.Principal, o.ToolID, o.State, o.Note))))
	}
	if len(shown) == 0 {
		a.remark("no call is without an outcome")
	}
	return nil
}

func (a *App) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

func (a *App) settleCommand() *cobra.Command {
	var yes, no bool
	var note string
	cmd := &cobra.Command{
		Use: "settle ID", Short: "Say what became of a call of unknown outcome", Args: exactly("ID"),
		Long: "Say what became of a call that was cut off, once you have looked. With --happened it is never made again; with --not-happened the next such call is made. It is written into the audit.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.personOnly(cmd.Context(), "settling an operation"); err != nil {
				return err
			}
			if yes == no {
				return usagef("say either --happened or --not-happened")
			}
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			op, err := i.Audit.Settle(cmd.Context(), args[0], yes, note, a.principal())
			if err != nil {
				return err
			}
			if a.flags.json {
				a.printJSON(operationOf(op, a.now()))
				return nil
			}
			word := "it may be made again"
			if yes {
				word = "it is never made again"
			}
			fmt.Fprintf(a.Stdout, "settled  %s: %s\n", clean(op.Tool), word)
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&yes, "happened", false, "it was done")
	f.BoolVar(&no, "not-happened", false, "it was not done")
	f.StringVar(&note, "note", "", "how you found out")
	return cmd
}
