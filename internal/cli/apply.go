package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
)

// planVersion is the form of plan files.
const planVersion = 1

// planFile is what --plan writes and apply reads.
type planFile struct {
	PlanVersion int `json:"plan_version"`
	*engine.Preview
}

// applyCommand is `cutroom apply`: it runs exactly what a plan says, or nothing.
func (a *App) applyCommand() *cobra.Command {
	c := &calling{}
	cmd := &cobra.Command{
		Use: "apply FILE", Short: "Run a plan that --plan wrote, unless anything changed since", GroupID: groupTools, Args: exactly("FILE"),
		Long: "Run a plan that --plan wrote. The inputs have to be the very files that it was made for, by their SHA-256, and the tool, its arguments with the file that it writes, its programs and its settings have to be the same: otherwise nothing runs.",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := a.readPlan(args[0])
			if err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), plan, c)
		},
	}
	cmd.Flags().Var(&c.timeout, "timeout", "deadline of the whole call, such as 90s or 10m (default: the tool's own)")
	return cmd
}

func (a *App) runPlan(ctx context.Context, plan planFile, c *calling) error {
	run, err := cutroom.ParseDigest(plan.Run)
	if err != nil {
		return notAPlan()
	}
	// A plan is a dry run's own document: what ran dry then runs now.
	c.planned = &engine.Planned{Run: run, Sources: plan.Sources, Request: plan.Request}
	return a.invoke(ctx, plan.Tool, undry(plan.Input), a.principal(), c)
}

// undry takes the wish for a dry run out of a request.
func undry(input json.RawMessage) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || string(members["dry_run"]) != "true" {
		return input
	}
	delete(members, "dry_run")
	b, err := json.Marshal(members)
	if err != nil {
		return input
	}
	return b
}

func (a *App) readPlan(name string) (planFile, error) {
	var plan planFile
	raw, err := readLimited(paths{dir: a.Dir}.absolute(name), name)
	if err != nil {
		return plan, err
	}
	if err := json.Unmarshal(raw, &plan); err != nil || plan.Preview == nil || plan.Tool == "" || plan.Sources == nil || plan.Request == "" || len(plan.Input) == 0 {
		return plan, notAPlan()
	}
	if plan.PlanVersion != planVersion {
		return plan, cutroom.Errorf(cutroom.Invalid, "the plan is of version %d; this program reads %d", plan.PlanVersion, planVersion).WithHint("make a new plan with --plan")
	}
	return plan, nil
}

func notAPlan() error {
	return cutroom.Errorf(cutroom.Invalid, "the file is not a plan").WithHint("a command of a tool writes one with --plan FILE")
}
