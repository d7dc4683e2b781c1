package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/job"
	"cutroom/internal/tool"
)

// jobsCommand is the queue for people: what agents do with the job.* tools, and what
// only a shell can do. The commands that a tool serves call it, so that one policy
// holds for both.
func (a *App) jobsCommand() *cobra.Command {
	var in struct {
		States []string `json:"states,omitempty"`
		Max    int      `json:"max"`
	}
	cmd := &cobra.Command{
		Use: "jobs", Short: "List, follow, stop and work long calls", GroupID: groupProgram, Args: a.unknownCommand,
		Long: "A call that an agent's host does not wait for goes on as a job, in the process that began it. When that process ends, the job waits for the next one that works in the same workspace: `cutroom mcp`, or `cutroom jobs work`.\n\n" +
			"Without a command the jobs of this workspace are listed, the newest first. Ended jobs are listed for 7 days; their results stay as long as `cutroom prune` lets them.",
		Example: "  cutroom jobs\n  cutroom jobs --state running\n  cutroom jobs submit media.watch --input request.json\n  cutroom jobs work\n  cutroom jobs result k3v5q7x2m4n6p8r0s1t9",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range in.States {
				if !slices.Contains(cutroom.JobStates, cutroom.JobState(s)) {
					return usagef("--state: %q is none of %v", short(s), cutroom.JobStates)
				}
			}
			return a.callJobs(cmd.Context(), "job.list", in)
		},
	}
	cmd.Flags().StringSliceVar(&in.States, "state", nil, "only jobs in these states: queued, running, completed, failed, canceled")
	cmd.Flags().IntVar(&in.Max, "max", 20, "most jobs to list")
	cmd.AddCommand(
		a.jobCommand("get", "Say how a job is", func(ctx context.Context, id string) error { return a.callJobs(ctx, "job.get", jobID{id}) }),
		a.jobCommand("cancel", "Stop a job and every program that it runs", func(ctx context.Context, id string) error { return a.callJobs(ctx, "job.cancel", jobID{id}) }),
		a.jobCommand("result", "Print the result of a completed job", a.jobResult),
		a.jobWaitCommand(), a.jobWorkCommand(), a.jobSubmitCommand(),
	)
	return cmd
}

// jobID is the input of the tools that speak of one job.
type jobID struct {
	ID string `json:"id"`
}

// callJobs calls a job tool as any other and prints what it says.
func (a *App) callJobs(ctx context.Context, id string, in any) error {
	raw, err := tool.Encode(in)
	if err != nil {
		return err
	}
	return a.invoke(ctx, id, raw, a.principal(), &calling{})
}

func (a *App) jobCommand(name, what string, run func(ctx context.Context, id string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: what, Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args[0]) },
	}
}

// jobResult prints what the call of a job answered, as the call itself would have.
func (a *App) jobResult(ctx context.Context, id string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	reply, err := i.Jobs.Result(ctx, a.principal(), id)
	if err != nil {
		return err
	}
	return a.showReply(reply)
}

func (a *App) jobWaitCommand() *cobra.Command {
	var timeout duration
	cmd := &cobra.Command{
		Use: "wait ID", Short: "Wait until a job ended, and say how", Args: exactly("ID"),
		Long: "Wait until a job ended. The exit code is 0 when it completed, that of its error when it failed, 130 when it was canceled, and 124 when it did not end in time.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Duration(timeout))
				defer cancel()
			}
			err := a.jobWait(ctx, args[0])
			if timeout > 0 && errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() == nil {
				return cutroom.Errorf(cutroom.Timeout, "the job %s did not end within %s", short(args[0]), time.Duration(timeout)).
					WithHint("it goes on; wait again, or stop it with `cutroom jobs cancel`")
			}
			return err
		},
	}
	cmd.Flags().Var(&timeout, "timeout", "longest wait, such as 90s or 10m (default: until it ends)")
	return cmd
}

// jobWait waits through job.wait, a second at a time so that progress is shown.
func (a *App) jobWait(ctx context.Context, id string) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	in, err := tool.Encode(struct {
		ID      string `json:"id"`
		Seconds int    `json:"seconds"`
	}{id, 1})
	if err != nil {
		return err
	}
	show := a.newProgress()
	defer show.finish()
	for {
		reply, err := i.Engine.Invoke(ctx, engine.Call{Tool: "job.wait", Input: in, Principal: a.principal()})
		if err != nil {
			return err
		}
		var j struct {
			State cutroom.JobState       `json:"state"`
			Tool  string                 `json:"tool_id"`
			Stage string                 `json:"stage"`
			Error *cutroom.FailureDetail `json:"error"`
		}
		if err := json.Unmarshal(reply.JSON, &j); err != nil {
			return err
		}
		if !j.State.Final() {
			show.update(cutroom.Progress{Tool: j.Tool, Stage: orState(j.Stage, j.State)})
			continue
		}
		show.finish()
		if err := a.showReply(reply); err != nil {
			return err
		}
		switch {
		case j.State == cutroom.JobCanceled:
			a.exit = cutroom.Canceled.Facts().Exit
		case j.Error != nil:
			a.exit = j.Error.Code.Facts().Exit
		}
		return nil
	}
}

// orState is what a job is doing; one that does not run only has a state.
func orState(stage string, s cutroom.JobState) string {
	if stage == "" {
		return string(s)
	}
	return stage
}

func (a *App) jobWorkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "work", Short: "Work the jobs of this workspace until none is left", Args: noArgs,
		Long: "Work the jobs of this workspace that wait, until none waits or runs. Jobs that another process works on are waited for, and taken over if it dies. An agent works agents' jobs only.\n\nInterrupted, it stops what runs here and hands it back to the queue.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			i.Jobs.Theirs = a.principal().Role != cutroom.RoleOperator
			err = i.Jobs.Work(cmd.Context())
			if err != nil && cmd.Context().Err() == nil {
				return err
			}
			if err := a.stopJobs(cmd.Context(), i.Jobs); err != nil {
				return err
			}
			if err != nil {
				a.exit = cutroom.Canceled.Facts().Exit
				if a.Interrupted != nil {
					a.exit = a.Interrupted()
				}
			}
			return a.showTally(i.Jobs.Tally())
		},
	}
}

// handBackTime bounds the handing back of jobs at the end of a command.
const handBackTime = 10 * time.Second

func (a *App) stopJobs(ctx context.Context, q *job.Queue) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), handBackTime)
	defer cancel()
	return q.Stop(last)
}

func (a *App) showTally(t job.Tally) error {
	if a.flags.json {
		a.printJSON(t)
		return nil
	}
	_, err := fmt.Fprintf(a.Stdout, "%d completed, %d failed, %d canceled, %d handed back\n", t.Completed, t.Failed, t.Canceled, t.HandedBack)
	return err
}

func (a *App) jobSubmitCommand() *cobra.Command {
	var file string
	var timeout duration
	cmd := &cobra.Command{
		Use: "submit TOOL --input FILE|-", Short: "Queue a call of a tool as a job", Args: exactly("TOOL"),
		Long: "Queue a call for the next worker of this workspace: `cutroom jobs work`, or a running `cutroom mcp`. The request is checked now; its files are read when it runs.",
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := a.request(file, "cutroom jobs submit "+args[0])
			if err != nil {
				return err
			}
			return a.submit(cmd.Context(), engine.Call{Tool: args[0], Input: input, Principal: a.principal(), Timeout: time.Duration(timeout)})
		},
	}
	cmd.Flags().StringVarP(&file, "input", "i", "", "file with the JSON of the request; - reads standard input")
	cmd.Flags().Var(&timeout, "timeout", "deadline of the call once it runs, such as 90s or 10m (default: the tool's own)")
	return cmd
}

// submit queues a call that would be accepted now: what is wrong with it is better
// said here than found in a failed job.
func (a *App) submit(ctx context.Context, c engine.Call) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	if t, ok := a.registry.Find(c.Tool); ok && t.Live {
		return usagef("%s answers at once and is no job", t.Name).withHint("cutroom tool invoke %s --input FILE", t.Name)
	}
	trial := c
	trial.DryRun = true
	if _, err := i.Engine.Invoke(ctx, trial); err != nil {
		return err
	}
	if asked, _, err := i.Engine.Propose(ctx, c); err != nil {
		return err
	} else if asked.ID != "" && asked.State != cutroom.ApprovalApproved {
		return cutroom.Errorf(cutroom.NeedsApproval, "%s: %s", c.Tool, asked.Why).WithApproval(asked.ID).
			WithHint("have the operator run `cutroom approve %s` on a terminal, then submit it again", asked.ID)
	}
	j, err := i.Jobs.Submit(ctx, c)
	if err != nil {
		return err
	}
	return a.callJobs(ctx, "job.get", jobID{j.ID})
}
