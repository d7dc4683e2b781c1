package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/run"
)

// runSummary is a run in a list.
type runSummary struct {
	ID       string      `json:"run_id"`
	State    run.State   `json:"state"`
	Reason   run.Reason  `json:"reason,omitzero"`
	Goal     string      `json:"goal"`
	Models   []string    `json:"models"`
	Parent   string      `json:"parent,omitzero"`
	Spent    run.Amounts `json:"spent"`
	Held     bool        `json:"held"`
	Created  time.Time   `json:"created"`
	Started  time.Time   `json:"started,omitzero"`
	Finished time.Time   `json:"finished,omitzero"`
}

func summed(i run.Info) runSummary {
	return runSummary{i.ID, i.State, i.Reason, i.Spec.Goal, i.Spec.Models, i.Spec.Parent, i.Spent, i.Held, i.Created, i.Started, i.Finished}
}

func (a *App) agentListCommand() *cobra.Command {
	var states []string
	var max int
	cmd := &cobra.Command{
		Use: "list", Short: "List the runs of this workspace, the newest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var want []run.State
			for _, s := range states {
				if !slices.Contains(run.States, run.State(s)) {
					return usagef("--state: %q is none of created, running, waiting, planned, completed, failed", short(s))
				}
				want = append(want, run.State(s))
			}
			if max < 1 || max > 1000 {
				return usagef("--max is between 1 and 1000")
			}
			return a.agentList(cmd.Context(), max, want)
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only runs in these states: created, running, waiting, planned, completed, failed")
	cmd.Flags().IntVar(&max, "max", 20, "most runs to list")
	return cmd
}

func (a *App) agentList(ctx context.Context, most int, states []run.State) error {
	agents, _, err := a.agents(ctx, nil)
	if err != nil {
		return err
	}
	runs, err := agents.List(ctx, a.principal(), most, states...)
	if err != nil {
		return err
	}
	if a.flags.json {
		doc := struct {
			Runs []runSummary `json:"runs"`
		}{[]runSummary{}}
		for _, i := range runs {
			doc.Runs = append(doc.Runs, summed(i))
		}
		a.printJSON(doc)
		return nil
	}
	if len(runs) == 0 {
		a.remark("no runs")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tCREATED\tSTEPS\tGOAL")
	for _, i := range runs {
		goal, _, _ := strings.Cut(i.Spec.Goal, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", i.ID, standing(i), i.Created.Local().Format(time.DateTime), i.Spent.Steps, clean(clipped(goal, 60)))
	}
	return w.Flush()
}

// standing is how far a run is, in a word or two.
func standing(i run.Info) string {
	if i.Reason != "" {
		return string(i.State) + " (" + string(i.Reason) + ")"
	}
	if i.State == run.Running && !i.Held {
		return "running (nobody is at it)"
	}
	return string(i.State)
}

func (a *App) agentShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Say how a run stands: its goal, bounds, calls and last words", Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.agentShow(cmd.Context(), args[0]) },
	}
}

// runReport is a run in whole.
type runReport struct {
	runSummary
	Spec      run.Spec   `json:"spec"`
	Pending   int        `json:"pending_operations"`
	Calls     []callLine `json:"calls"`
	Text      string     `json:"text,omitzero"` // the model's last words
	Approvals []string   `json:"approvals,omitempty"`
	Delegated []string   `json:"delegated,omitempty"`
}

// callLine is a call of a run and what became of it.
type callLine struct {
	Tool    string         `json:"tool"`
	Input   string         `json:"input"`
	Outcome string         `json:"outcome"` // succeeded, failed, refused, waits or open
	Code    cutroom.Code   `json:"code,omitzero"`
	Run     cutroom.Digest `json:"result,omitzero"`
	Files   []string       `json:"files,omitempty"`
}

func (a *App) agentShow(ctx context.Context, id string) error {
	agents, _, err := a.agents(ctx, nil)
	if err != nil {
		return err
	}
	x, info, err := a.agentOpen(ctx, agents, id)
	if err != nil {
		return err
	}
	r := runReport{runSummary: summed(info), Spec: info.Spec, Calls: []callLine{}}
	if r.Pending, err = x.PendingOperations(ctx); err != nil {
		return err
	}
	at := map[[2]int]int{}
	for e, err := range agents.Log.All(ctx, id, 1) {
		if err != nil {
			return err
		}
		b, err := e.Body()
		if err != nil {
			return err
		}
		r.take(b, at)
	}
	if a.flags.json {
		a.printJSON(r)
		return nil
	}
	return a.printReport(r)
}

func (r *runReport) take(b run.Body, at map[[2]int]int) {
	line := func(turn, index int) *callLine {
		k := [2]int{turn, index}
		n, ok := at[k]
		if !ok {
			n = len(r.Calls)
			at[k], r.Calls = n, append(r.Calls, callLine{})
		}
		return &r.Calls[n]
	}
	switch b := b.(type) {
	case run.Start:
		*line(b.Turn, b.Index) = callLine{Tool: b.Tool, Input: b.Input, Outcome: "open"}
	case run.End:
		l := line(b.Turn, b.Index)
		l.Outcome, l.Code, l.Run, l.Files = b.Status, b.Code, b.Run, b.Files
		if b.Child != "" {
			r.Delegated = append(r.Delegated, b.Child)
		}
	case run.Rejected:
		l := line(b.Turn, b.Index)
		*l = callLine{Tool: b.Tool, Input: b.Input, Outcome: "refused", Code: b.Code}
		if b.Waits {
			l.Outcome, r.Approvals = "waits", append(r.Approvals, b.Approval)
		}
	case run.Done:
		r.Text = b.Text
	case run.Started:
		r.Approvals = nil
	}
}

func (a *App) printReport(r runReport) error {
	var b strings.Builder
	line := func(what, format string, args ...any) { fmt.Fprintln(&b, clean(row(what, format, args...))) }
	line("run", "%s", r.ID)
	for _, l := range speech("goal", r.Goal) {
		fmt.Fprintln(&b, clean(l))
	}
	state := string(r.State)
	if r.Reason != "" {
		state += " (" + string(r.Reason) + ")"
	}
	if r.State == run.Running && !r.Held {
		state += " (nobody is at it)"
	}
	if r.Pending > 0 {
		state += "; not finished: " + count(int64(r.Pending), "operation")
	}
	line("state", "%s", state)
	line("models", "%s", strings.Join(r.Models, ", "))
	line("tools", "%s", strings.Join(r.Spec.Tools, ", "))
	if most := bounds(r.Spec.Settings.Budget); most != "" {
		line("budget", "%s", most)
	}
	line("spent", "%s", cmpText(bounds(r.Spent), "nothing"))
	for _, c := range r.Calls {
		what := map[string]string{run.Succeeded: "ok", run.CallFailed: "failed"}[c.Outcome]
		text := c.Tool
		if c.Code != "" {
			text += "  " + string(c.Code)
		}
		if c.Run != "" {
			text += "  result " + c.Run.Short()
		}
		if len(c.Files) > 0 {
			text += "  " + c.Files[0]
		}
		line(cmpText(what, c.Outcome), "%s", text)
	}
	for _, id := range r.Delegated {
		line("child", "%s", id)
	}
	for _, id := range r.Approvals {
		line("needs", "`cutroom approve %s`", id)
	}
	if next := r.next(); next != "" {
		line("next", "%s", next)
	}
	if r.Text != "" {
		fmt.Fprintln(&b)
	}
	_, err := a.Stdout.Write([]byte(b.String()))
	a.printText(r.Text)
	return err
}

// next is the command that goes on with a run.
func (r runReport) next() string {
	switch r.State {
	case run.Completed:
		return ""
	case run.Failed:
		if r.Reason == run.Budget {
			return "start a run with a larger budget: that of a run is set once"
		}
	case run.Planned:
		return "`cutroom agent resume " + r.ID + "` carries the plan out"
	case run.Running:
		if r.Held {
			return "`cutroom agent events " + r.ID + " --follow` looks on"
		}
	}
	return "`cutroom agent resume " + r.ID + "` goes on with it"
}

func cmpText(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (a *App) agentEventsCommand() *cobra.Command {
	var from int64
	var follow bool
	cmd := &cobra.Command{
		Use: "events ID [--from N] [--follow]", Short: "Print the events of a run, and those that come", Args: exactly("ID"),
		Long: "Print the stored events of a run from a number on. With --follow those that come are printed, too, until the run ends, whichever process works it. With --json each event is one line of JSON.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if from < 1 {
				return usagef("--from counts from 1")
			}
			return a.agentEvents(cmd.Context(), args[0], from, follow)
		},
	}
	cmd.Flags().Int64Var(&from, "from", 1, "number of the first event to print")
	cmd.Flags().BoolVar(&follow, "follow", false, "print what comes, too, until the run ends")
	return cmd
}

func (a *App) agentEvents(ctx context.Context, id string, from int64, follow bool) error {
	agents, _, err := a.agents(ctx, nil)
	if err != nil {
		return err
	}
	if _, _, err = a.agentOpen(ctx, agents, id); err != nil {
		return err
	}
	events := agents.Log.All(ctx, id, from)
	if follow {
		events = agents.Log.Follow(ctx, id, from)
	}
	var lines runLines
	var begun time.Time
	for e, err := range events {
		switch {
		case err != nil:
			return err
		case a.out.err != nil:
			return nil // nobody reads on; that is reported once
		case a.flags.json:
			if err := a.printEvent(e); err != nil {
				return err
			}
			continue
		}
		b, err := e.Body()
		if err != nil {
			return err
		}
		if begun.IsZero() {
			begun = e.At
		}
		for _, l := range append(lines.of(b), lastWords(b)...) {
			fmt.Fprintf(a.Stdout, "%5d %7.1f  %s\n", e.Seq, e.At.Sub(begun).Seconds(), clean(l))
		}
	}
	return nil
}

// lastWords are the model's, at the end of a round.
func lastWords(b run.Body) []string {
	if d, ok := b.(run.Done); ok {
		return speech("answer", d.Text)
	}
	return nil
}

func (a *App) agentAbortCommand() *cobra.Command {
	return &cobra.Command{
		Use: "abort ID", Short: "Stop a run, whichever process works it, and all that its calls started", Args: exactly("ID"),
		Long: "Stop a run and kill what its calls started. It may come from another terminal. `cutroom agent resume` goes on with it.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.agentAbort(cmd.Context(), args[0]) },
	}
}

func (a *App) agentAbort(ctx context.Context, id string) error {
	agents, _, err := a.agents(ctx, nil)
	if err != nil {
		return err
	}
	x, before, err := a.agentOpen(ctx, agents, id)
	if err != nil {
		return err
	}
	if err := errors.Join(x.Abort(ctx), x.Close(ctx)); err != nil {
		return err
	}
	info, err := x.Info(ctx)
	if err != nil {
		return err
	}
	if a.flags.json {
		a.printJSON(summed(info))
		return nil
	}
	if before.State == run.Completed || before.State == run.Failed {
		_, err = fmt.Fprintf(a.Stdout, "the run %s had ended before: %s\n", id, standing(info))
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "the run %s is %s\n", id, standing(info))
	return err
}
