package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/setup"
)

// agentCommand is runs of agents for people: started, followed, stopped and gone on with.
func (a *App) agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "Have a model plan and make calls for a goal, within bounds", GroupID: groupProgram, Args: a.unknownCommand,
		Long: "A run has a goal, tools that it may call, and a budget. A model that the operator configured plans and calls; every call takes the path that all calls take, so the policy, approvals and the audit hold for it. What happens is stored before it is shown: a run goes on in another process, and others can look on.\n\ndocs/agent.md explains runs; docs/recipes has goals that are tested.",
		RunE: a.help,
	}
	cmd.AddCommand(a.agentRunCommand(), a.agentResumeCommand(), a.agentListCommand(), a.agentShowCommand(), a.agentEventsCommand(), a.agentAbortCommand())
	return cmd
}

// agentFlags are those of `agent run`.
type agentFlags struct {
	goal, role  string
	constraints []string
	tools       []string
	kinds       []string
	models      []string
	planFirst   bool
	delegate    bool
	width       int
	onApproval  string
	steps       amount
	tokens      amount
	bytes       amount
	cost        money
	time        duration
}

// amount is a flag that takes 200000, 200k or 1.5M.
type amount int64

func (n *amount) Set(text string) error {
	v, err := multiple(text)
	if err != nil || v < 1 || v != math.Trunc(v) || v > 1<<53 {
		return usagef("%q is no number of at least 1, such as 40, 200k or 1.5M", short(text))
	}
	*n = amount(v)
	return nil
}

func (n *amount) String() string { return "" }
func (n *amount) Type() string   { return "number" }

// multiple reads a number with a k, M or G behind it.
func multiple(text string) (float64, error) {
	by := 1.0
	for suffix, times := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, by = rest, times
			break
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return math.Round(v*by*1e6) / 1e6, err
}

// money is a flag that takes an amount of the currency that prices are in, as millionths.
type money int64

func (m *money) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 1e-6) || v > 1e9 {
		return usagef("%q is no amount of money, such as 0.50", short(text))
	}
	*m = money(math.Round(v * 1e6))
	return nil
}

func (m *money) String() string { return "" }
func (m *money) Type() string   { return "amount" }

// micros is d in microseconds, rounded up: a bound that is short is no missing one.
func (d duration) micros() cutroom.Micros {
	return cutroom.Micros((time.Duration(d) + time.Microsecond - 1).Microseconds())
}

func (a *App) agentRunCommand() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use: "run [FILE...] --goal TEXT --tools GLOBS", Short: "Start a run and show it until it ends",
		Long: "Start a run and show what it does: what the model says, each call with what it would do, what was refused, what was spent. The model's last words go to standard output, all else to standard error. With --json every event is one line of JSON on standard output.\n\n" +
			"FILEs are named to the model behind the goal. --model script:FILE has a script play the model, which needs no key and no network.\n\n" +
			"Ctrl-C stops the run and all that its calls started; `cutroom agent resume` goes on with it. The exit code is 0 when the run completed, 4 when a budget stopped it or a person has to decide about a call, 130 when it was stopped, else that of the error.",
		Example: "  cutroom agent run talk.mp4 --goal \"Cut the silences out\" --tools 'measure.silence*,review.look' --max-steps 20\n" +
			"  cutroom agent run bug.mov --goal \"When does the error appear?\" --tools 'media.*' --kinds read --model local/qwen --max-time 10m\n" +
			"  cutroom agent run talk.mp4 --goal \"Make a clip for TikTok\" --tools 'edit.*,review.check' --plan-first",
		RunE: func(cmd *cobra.Command, files []string) error { return a.agentRun(cmd.Context(), f, files) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.goal, "goal", "", "what shall be done; - reads standard input")
	fl.StringSliceVar(&f.tools, "tools", nil, "ids of tools that the run may call, * for any letters: 'video.*,measure.*,edit.cut'")
	fl.StringSliceVar(&f.kinds, "kinds", nil, "kinds of call that it may make: read, preview, propose, execute (default: all of these)")
	fl.StringArrayVar(&f.models, "model", nil, "PROVIDER/MODEL of models in cutroom.yaml, or script:FILE; repeated: tried in this order (default: the first of models)")
	fl.BoolVar(&f.planFirst, "plan-first", false, "only look at first, and end with a plan; `cutroom agent resume ID` has it carried out")
	fl.StringVar(&f.role, "role", "", "who the model is, in a few words")
	fl.StringArrayVar(&f.constraints, "constraint", nil, "what it has to keep to; may be repeated")
	fl.Var(&f.steps, "max-steps", "most requests to a model")
	fl.Var(&f.tokens, "max-tokens", "most tokens of requests and answers together, such as 200k")
	fl.Var(&f.bytes, "max-bytes", "most bytes that are sent to models, such as 20M")
	fl.Var(&f.cost, "max-cost", "most that models may cost, in the currency of their prices")
	fl.Var(&f.time, "max-time", "longest that it may work, such as 10m")
	fl.BoolVar(&f.delegate, "delegate", false, "let it delegate parts to runs of its own, within its bounds")
	fl.IntVar(&f.width, "width", 0, "most runs that it may delegate to (default 4)")
	fl.StringVar(&f.onApproval, "on-approval", agent.Wait, "what a call does that a person has to decide about: wait stops the run until then, tell has the model go on without it")
	return cmd
}

// spec is what a run is created with.
func (f agentFlags) spec(a *App, i *setup.Installation, files []string) (agent.Spec, error) {
	goal := f.goal
	if goal == "-" {
		raw, err := limited(a.Stdin, "standard input")
		if err != nil {
			return agent.Spec{}, err
		}
		goal = strings.TrimSpace(string(raw))
	}
	s := agent.Spec{
		Role: f.role, Constraints: f.constraints, Capabilities: f.tools, PlanFirst: f.planFirst,
		Actor: run.Actor{Principal: cutroom.Agent},
		Settings: run.Settings{
			SubagentsEnabled: f.delegate, Width: f.width, OnApproval: f.onApproval,
			Budget: run.Amounts{
				Steps: int64(f.steps), Tokens: int64(f.tokens), Bytes: int64(f.bytes), Cost: int64(f.cost),
				Time: f.time.micros(),
			},
		},
	}
	if strings.TrimSpace(goal) == "" {
		return s, usagef("a run needs a goal").withHint("say with --goal what shall be done")
	}
	at := paths{dir: a.Dir, root: i.Workspace, roots: i.Config.Roots, agent: true} // what a run may read
	for n, name := range files {
		path, err := at.named(name)
		if err != nil {
			return s, err
		}
		files[n] = path
	}
	s.Goal = script.WithFiles(goal, files)
	for _, k := range f.kinds {
		if !slices.Contains(cutroom.Kinds, cutroom.Kind(k)) {
			return s, usagef("--kinds: %q is none of read, preview, propose, execute", short(k))
		}
		s.Actor.Kinds = append(s.Actor.Kinds, cutroom.Kind(k))
	}
	if f.onApproval != agent.Wait && f.onApproval != agent.Tell {
		return s, usagef("--on-approval: %q is none of %s, %s", short(f.onApproval), agent.Wait, agent.Tell)
	}
	var err error
	s.Models, err = a.agentModels(f.models)
	return s, err
}

// named is the path of a file that a goal names. It comes to stand in what the model is told
// by a person, so it has to be there, and must not look like another line of it.
func (p paths) named(name string) (string, error) {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return "", usagef("the name %q holds a line break or another control character", short(name)).withHint("rename the file")
	}
	path, err := p.convert(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(p.absolute(name)); err != nil {
		return "", cutroom.Errorf(cutroom.NotFound, "cannot open %q", short(name)).WithHint("check the path")
	}
	return path, nil
}

const scripted = "script:"

// agentModels are the names of models with the files of scripts spelled out. An agent that
// holds a shell may have scripts played: what models cost is the operator's to spend.
func (a *App) agentModels(names []string) ([]string, error) {
	var list []string
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, scripted); ok {
			name = scripted + paths{dir: a.Dir}.absolute(file)
		}
		list = append(list, name)
	}
	played := func(name string) bool { return strings.HasPrefix(name, scripted) }
	if a.principal().Role != cutroom.RoleOperator && (len(list) == 0 || !slices.ContainsFunc(list, played) || slices.ContainsFunc(list, func(n string) bool { return !played(n) })) {
		return nil, cutroom.Errorf(cutroom.Denied, "a run with a model is started by the operator, who pays for it").
			WithHint("have the operator run this command, or call the tools yourself")
	}
	return list, nil
}

// agents is the runtime of runs in this process.
func (a *App) agents(ctx context.Context, progress func(string, cutroom.Progress)) (*agent.Runtime, *setup.Installation, error) {
	i, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return i.Agents(setup.AgentOptions{Script: a.playScript, Progress: progress}), i, nil
}

// playScript opens the scripted model of a file.
func (a *App) playScript(path string) (func(context.Context, provider.Request) (provider.Reply, error), error) {
	if who := a.principal(); who.Role == cutroom.RoleAgent && a.opened != nil {
		p := paths{dir: a.Dir, root: a.opened.Workspace, roots: a.opened.Config.Roots, agent: true}
		if _, err := p.convert(path); err != nil {
			return nil, cutroom.Errorf(cutroom.Denied, "the script %q is outside the workspace", filepath.Base(path)).WithHint("copy it into the workspace")
		}
	}
	raw, err := readLimited(path, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(raw)
	if err != nil {
		return nil, err
	}
	m := &script.Model{Script: s, Name: filepath.Base(path)}
	return m.Reply, nil
}

func (a *App) agentRun(ctx context.Context, f agentFlags, files []string) error {
	view := a.newRunView()
	agents, i, err := a.agents(ctx, view.progress)
	if err != nil {
		return err
	}
	spec, err := f.spec(a, i, files)
	if err != nil {
		return err
	}
	x, err := agents.CreateRun(ctx, spec)
	if err != nil {
		return err
	}
	return a.drive(ctx, x, view, 1, func(ctx context.Context) (agent.Outcome, error) { return x.Prompt(ctx, "") })
}

func (a *App) agentResumeCommand() *cobra.Command {
	var say string
	cmd := &cobra.Command{
		Use: "resume ID [--say TEXT]", Short: "Go on with a run: after a crash, an approval, a plan, a stop", Args: exactly("ID"),
		Long: "Go on with a run where it stood. A run whose process ended goes on from what was stored: what may be done again is, what must not is told to the model as unknown. One that waited for a person makes its call again. One that gave a plan carries it out, and one that completed begins another round, with --say.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.agentResume(cmd.Context(), args[0], say) },
	}
	cmd.Flags().StringVar(&say, "say", "", "what is said to the model first, to a plan or after the end of a round")
	return cmd
}

func (a *App) agentResume(ctx context.Context, id, say string) error {
	view := a.newRunView()
	agents, _, err := a.agents(ctx, view.progress)
	if err != nil {
		return err
	}
	x, info, err := a.agentOpen(ctx, agents, id)
	if err != nil {
		return err
	}
	if _, err := a.agentModels(info.Spec.Models); err != nil {
		return err
	}
	from := int64(1) // what was shown before is not shown again
	for e, err := range agents.Log.All(ctx, x.ID(), 1) {
		if err != nil {
			return err
		}
		from = e.Seq + 1
	}
	begun := info.State != run.Created && info.State != run.Planned && info.State != run.Completed
	switch {
	case info.State == run.Completed && say == "":
		return cutroom.Errorf(cutroom.Precondition, "the run %s completed", x.ID()).WithHint("say what shall be done next: cutroom agent resume %s --say TEXT", x.ID())
	case begun && say != "":
		return cutroom.Errorf(cutroom.Precondition, "the last round of the run %s is not finished", x.ID()).WithHint("resume it without --say")
	}
	return a.drive(ctx, x, view, from, func(ctx context.Context) (agent.Outcome, error) {
		if begun {
			return x.Resume(ctx)
		}
		return x.Prompt(ctx, say)
	})
}

// agentOpen opens a run that whoever calls may see.
func (a *App) agentOpen(ctx context.Context, agents *agent.Runtime, id string) (*agent.Run, run.Info, error) {
	info, err := agents.Log.Get(ctx, a.principal(), id)
	if err != nil {
		return nil, info, err
	}
	x, err := agents.Open(ctx, a.principal(), id)
	return x, info, err
}

// abortPace is how often a run is told to stop until it did: one that only begins may not
// have heard.
const abortPace = 100 * time.Millisecond

// drive works a round of a run and shows its events from a seq on. When ctx ends the run is
// aborted, with all that its calls started.
func (a *App) drive(ctx context.Context, x *agent.Run, view *runView, from int64, work func(context.Context) (agent.Outcome, error)) error {
	on := context.WithoutCancel(ctx)
	worked, aborted, followed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	following, stop := context.WithCancel(on)
	defer stop()
	go func() { followed <- view.follow(following, x, from, worked) }()
	go func() {
		defer close(aborted)
		select {
		case <-worked:
			return
		case <-ctx.Done():
		}
		for {
			_ = x.Abort(on) // the outcome says whether it did
			select {
			case <-worked:
				return
			case <-time.After(abortPace):
			}
		}
	}()
	out, err := work(on)
	if cerr := x.Close(on); err == nil {
		err = cerr
	}
	close(worked)
	<-aborted
	if err != nil {
		stop() // nobody knows whether more will come
		<-followed
		view.end()
		return err
	}
	ferr := <-followed
	view.end()
	if ferr != nil {
		return ferr
	}
	return a.agentEnd(ctx, x.ID(), out)
}

// agentEnd says how a run stands, and sets the exit code.
func (a *App) agentEnd(ctx context.Context, id string, out agent.Outcome) error {
	switch out.State {
	case run.Waiting:
		a.exit = cutroom.NeedsApproval.Facts().Exit
		if !a.flags.json {
			a.showWaiting(ctx, id, out.Approvals)
		}
	case run.Planned:
		if !a.flags.json {
			a.printText(out.Text)
			a.remark("nothing was changed yet: `cutroom agent resume %s` carries it out, with --say TEXT another way", id)
		}
	case run.Completed:
		if !a.flags.json {
			a.printText(out.Text)
		}
	case run.Failed:
		a.exit = cutroom.Internal.Facts().Exit
		if out.Error != nil {
			a.exit = out.Error.Code.Facts().Exit
		}
		if out.Reason == run.Aborted && a.Interrupted != nil && ctx.Err() != nil {
			a.exit = a.Interrupted()
		}
	}
	return nil
}

// printText prints what a model said, line by line.
func (a *App) printText(text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(a.Stdout, clean(strings.TrimRight(line, "\r\n")))
	}
}

// showWaiting shows the sheets of the calls that a run waits for.
func (a *App) showWaiting(ctx context.Context, id string, approvals []string) {
	for _, approval := range approvals {
		if request, err := a.opened.Approvals.Get(ctx, a.principal(), approval); err == nil {
			if sheet, _, err := a.review(ctx, a.opened, request); err == nil {
				_, wrapped, err := a.opened.Approvals.Keys().Present()
				a.showSheet(request, sheet, wrapped || err != nil)
			}
		}
		a.say("waits for you: `cutroom approve %s`, or `cutroom deny %s`", approval, approval)
	}
	a.say("then `cutroom agent resume %s` goes on", id)
}
