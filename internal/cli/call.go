package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// calling are the flags of a command that calls a tool.
type calling struct {
	timeout duration
	dryRun  bool
	first   bool // the plan is approved first
	plan    string
	planned *engine.Planned // of apply
}

// duration is a flag that takes 90, 90s, 10m or 1h30m.
type duration time.Duration

func (d *duration) Set(text string) error {
	v, err := deadline(text)
	*d = duration(v)
	return err
}

func (d *duration) String() string { return "" }
func (d *duration) Type() string   { return "time" }

func (c *calling) declare(cmd *cobra.Command, t *tool.Tool) {
	cmd.Flags().Var(&c.timeout, "timeout", "deadline of the whole call, such as 90s or 10m (default: the tool's own)")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would run; nothing runs and nothing is written")
	if t == nil || t.Writes() || t.Network {
		cmd.Flags().BoolVar(&c.first, "plan-first", false, "show the plan and ask the operator; once it is approved, the same command runs exactly that plan, once")
	}
	if t == nil || t.Body() == tool.BodyPlan {
		cmd.Flags().StringVar(&c.plan, "plan", "", "write the plan of a dry run to a new file")
	}
}

// toolCommand makes the command name beneath parent that calls t. A loose one takes
// plain text for a transcript.
func (a *App) toolCommand(t *tool.Tool, parent, name string, loose bool) *cobra.Command {
	b, c := bind(t), &calling{}
	cmd := &cobra.Command{
		Use: strings.TrimSpace(name + " " + b.words()), Short: t.Summary,
		Long:    t.Summary + "\n\n" + t.Description,
		Example: b.examples(parent + " " + name),
	}
	if under := strings.ReplaceAll(name, "-", "_"); under != name {
		cmd.Aliases = []string{under}
	}
	b.declare(cmd)
	apply := a.applying(b, cmd)
	c.declare(cmd, t)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		i, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		who := a.principal()
		r := reader{paths: paths{dir: a.Dir, root: i.Workspace, roots: i.Config.Roots, agent: who.Role == cutroom.RoleAgent}, stdin: a.Stdin, loose: loose}
		call := b
		if apply.asked(cmd) {
			call = apply.binding
		}
		input, err := call.input(cmd, args, r)
		if err != nil {
			return err
		}
		return call.inWords(a.invoke(cmd.Context(), call.tool.Name, input, who, c), cmd.CommandPath())
	}
	return cmd
}

// invoke makes the call and prints its answer.
func (a *App) invoke(ctx context.Context, id string, input []byte, who cutroom.Principal, c *calling) error {
	i, err := a.open(ctx)
	if err != nil {
		return err
	}
	show := a.newProgress()
	call := engine.Call{
		Tool: id, Input: input, Principal: who, Timeout: time.Duration(c.timeout),
		DryRun: c.dryRun || c.plan != "", Progress: show.update, Planned: c.planned, PlanFirst: c.first,
	}
	reply, err := i.Engine.Invoke(ctx, call)
	show.finish()
	if e := cutroom.AsError(err); c.first && err != nil && e.Code == cutroom.NeedsApproval && e.Approval != "" {
		return a.showProposal(ctx, call, e)
	}
	if err != nil {
		return err
	}
	if reply.Plan != nil {
		return a.showPlan(ctx, reply.Plan, c)
	}
	return a.showReply(reply)
}

// deadline reads 90, 90s, 10m or 1h30m.
func deadline(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if s, ferr := strconv.ParseFloat(text, 64); ferr == nil {
		d, err = time.Duration(s*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > 30*24*time.Hour {
		return 0, usagef("%q is not a length of time: give seconds, or a length such as 90s, 10m or 1h30m", short(text))
	}
	return d, nil
}

// showReply prints an answer and sets the exit code of one that is partial, or that
// says no.
func (a *App) showReply(reply *engine.Reply) error {
	var head struct {
		Status         cutroom.Status `json:"status"`
		PartialReasons []string       `json:"partial_reasons"`
	}
	// A tool's output is our own text: it decodes, or has no status.
	_ = json.Unmarshal(reply.JSON, &head)
	if head.Status == cutroom.Partial {
		a.exit = exitPartial
	}
	if head.Status == cutroom.Blocked {
		a.exit = cutroom.Denied.Facts().Exit
	}
	if j, ok := reply.Output.(tool.Judged); ok && j.Failed() {
		a.exit = cutroom.Verification.Facts().Exit
	}
	bare, isBare := reply.Output.(tool.Bare)
	if p, ok := reply.Output.(tool.Plain); ok && !a.flags.json {
		if lines, asked := p.Plain(); asked {
			for _, r := range head.PartialReasons {
				a.remark("partial: %s", r)
			}
			for _, l := range lines {
				fmt.Fprintln(a.Stdout, clean(l))
			}
			return nil
		}
	}
	if a.flags.json || isBare {
		for _, r := range head.PartialReasons {
			a.remark("partial: %s", r)
		}
		if !isBare {
			return a.printRaw(reply.JSON)
		}
		raw, err := tool.Encode(bare.Bare())
		if err != nil {
			return err
		}
		return a.printRaw(raw)
	}
	return a.render(reply)
}

// exitPartial says that an answer came, but not all of it.
const exitPartial = 3

// showPlan prints the plan of a dry run, and writes it to a new file when asked.
func (a *App) showPlan(ctx context.Context, p *engine.Preview, c *calling) error {
	if c.plan != "" {
		if err := a.writeNew(ctx, c.plan, planFile{planVersion, p}); err != nil {
			return err
		}
	}
	if a.flags.json {
		a.printJSON(p)
		return nil
	}
	a.printPlan(p)
	if c.plan != "" {
		fmt.Fprintf(a.Stdout, "wrote the plan  %s   (`cutroom apply` runs it)\n", clean(c.plan))
	}
	return nil
}
