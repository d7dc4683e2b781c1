// Package agent is the runtime of agents: a loop in which a model plans and calls tools,
// durable, bounded, and under the authority of whoever started it.
//
// It promises that an event is stored before anybody sees it; that a run goes on in another
// process from what was stored; that what must not be done twice is not; that no call is
// made which a budget does not allow; that a model is offered the tools of its run and gets
// no other, whatever it or a medium says; and that a run which another one delegated can
// do, see and spend no more than that one.
//
// It calls tools through the engine alone and models through provider's chain alone. It must
// never know a door, nor what a tool does.
package agent

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/provider"
	"cutroom/internal/redact"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// Engine makes the calls.
type Engine interface {
	// Tools lists the tools that a principal may call, Inner those for runs alone.
	Tools(who cutroom.Principal) []*tool.Tool
	Inner(who cutroom.Principal) []*tool.Tool
	Invoke(ctx context.Context, c engine.Call) (*engine.Reply, error)
	// Reject writes down a call that was refused before it was made.
	Reject(ctx context.Context, c engine.Call, why error)
	// Picture reads a picture of a recorded result.
	Picture(ctx context.Context, who cutroom.Principal, ref cutroom.ArtifactRef, max int64) ([]byte, error)
}

// Models are the models that runs may ask.
type Models interface {
	// Resolve returns them by name, as they are configured at this moment, with their keys.
	// No names are those that the operator named first.
	Resolve(ctx context.Context, names []string) ([]Model, error)
	// Chain is what they are asked by. Its ledger is the run's own.
	Chain() provider.Chain
}

// Model is a model that a run may ask.
type Model struct {
	Name     string // provider/model, or script:FILE
	Endpoint provider.Endpoint
	// Ask answers in the place of the endpoint, of which the name and model count then.
	Ask      func(context.Context, provider.Request) (provider.Reply, error)
	Fault    error         // why it cannot be asked now; nil: it can
	Local    bool          // on this machine: what it is shown leaves nothing
	Pictures bool          // it takes pictures, and may be shown them
	Images   int           // pictures of one request; 0: 12
	Context  int64         // tokens of a request and its answer together; 0 is not known: 128000
	Output   int           // tokens of an answer; 0 is not known
	Timeout  time.Duration // of one request; 0: the client's times
}

// Options are the parts a runtime works with.
type Options struct {
	Log       *run.Log
	Engine    Engine
	Models    Models
	Sessions  string // absolute; folder of the transcripts where a spec names none
	Workspace string // absolute; taken out of what models are told
	Redact    *redact.Redactor
	Progress  func(runID string, p cutroom.Progress) // may be nil
	Parallel  int                                    // read-only calls at once; 0: 4
	Logger    *slog.Logger
	Now       func() time.Time
}

// Runtime creates runs and opens them again. It may be used by many goroutines.
type Runtime struct{ Options }

// New returns a runtime.
func New(o Options) *Runtime {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	return &Runtime{o}
}

// Spec is what a run is created with.
type Spec struct {
	RunID        string // "" makes one
	Role         string // who the model is, in a few words; "" is the usual one
	Goal         string
	Constraints  []string
	SystemPrompt string   // "" builds one of role, goal and constraints
	Capabilities []string // globs over ids of tools; expanded now, and stored
	Settings     run.Settings
	Actor        run.Actor // no kinds are read, preview, propose and execute
	Models       []string  // in the order in which they are tried
	PlanFirst    bool      // the first round may read, preview and propose, and ends with a plan
	SessionDir   string    // absolute; "" is the runtime's

	parent *session // that delegates
	call   string   // of the parent
}

// Bounds of what a run is created with.
const (
	maxGoal        = 32 << 10 // bytes of a goal
	maxPrompt      = 64 << 10 // bytes of the instructions in all
	maxConstraints = 64
	maxDepth       = 2 // of runs that delegate: a run, one it delegated to, and one more
	defaultWidth   = 4
	maxWidth       = 16
)

// CreateRun stores a run, which then does nothing until it is prompted.
func (r *Runtime) CreateRun(ctx context.Context, s Spec) (*Run, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if len(s.Actor.Kinds) == 0 {
		s.Actor.Kinds = []cutroom.Kind{cutroom.Read, cutroom.Preview, cutroom.Propose, cutroom.Execute}
	}
	tools, err := r.expand(s)
	if err != nil {
		return nil, err
	}
	models, err := r.priced(ctx, s)
	if err != nil {
		return nil, err
	}
	stored := run.Spec{
		Goal: r.Redact.Text(s.Goal), Tools: tools, Actor: s.Actor, Models: models, Settings: s.Settings,
		PlanFirst: s.PlanFirst, SessionDir: s.SessionDir, Call: s.call,
	}
	if stored.SessionDir == "" {
		stored.SessionDir = r.Sessions
	}
	if stored.SystemPrompt = s.SystemPrompt; stored.SystemPrompt == "" {
		stored.SystemPrompt = BuildSystemPrompt(Prompt{Role: s.Role, Goal: s.Goal, Constraints: s.Constraints})
	}
	if stored.SystemPrompt = r.Redact.Text(stored.SystemPrompt); len(stored.SystemPrompt) > maxPrompt {
		return nil, cutroom.Errorf(cutroom.Limit, "the instructions have %d bytes, more than %d", len(stored.SystemPrompt), maxPrompt).WithHint("shorten the role or the constraints")
	}
	if s.parent != nil {
		stored.Parent, stored.Depth = s.parent.info.ID, s.parent.info.Spec.Depth+1
	}
	id := s.RunID
	if id == "" {
		id = run.NewID()
	}
	if err := r.Log.Create(ctx, id, stored); err != nil {
		return nil, err
	}
	return r.Open(ctx, s.Actor.Principal, id)
}

// check refuses what no run can be created with.
func (s Spec) check() error {
	invalid := func(what, hint string) error { return cutroom.Errorf(cutroom.Invalid, "%s", what).WithHint("%s", hint) }
	b := s.Settings.Budget
	switch {
	case strings.TrimSpace(s.Goal) == "":
		return invalid("a run needs a goal", "say with --goal what shall be done")
	case len(s.Goal) > maxGoal:
		return cutroom.Errorf(cutroom.Limit, "the goal has %d bytes, more than %d", len(s.Goal), maxGoal).WithHint("put long material into a file of the workspace, and name it")
	case len(s.Constraints) > maxConstraints:
		return cutroom.Errorf(cutroom.Limit, "%d constraints, more than %d", len(s.Constraints), maxConstraints).WithHint("join some of them")
	case s.RunID != "" && !plainID(s.RunID):
		return invalid("the id of a run is 8 to 64 letters a to z, digits and -", "leave it out")
	case s.Actor.Name == "" || s.Actor.Role != cutroom.RoleAgent:
		return invalid("a run is driven by a model: its actor has the role agent", "name a principal of that role")
	case slices.Contains(s.Actor.Kinds, cutroom.Approve):
		return cutroom.Errorf(cutroom.Denied, "no run may decide about approvals").WithHint("a person decides, with `cutroom approve ID`")
	case slices.ContainsFunc(s.Actor.Kinds, func(k cutroom.Kind) bool { return !slices.Contains(cutroom.Kinds, k) }):
		return invalid("a kind of call that there is not", "the kinds are read, preview, propose and execute")
	case b.Steps < 0 || b.Tokens < 0 || b.Cost < 0 || b.Bytes < 0 || b.Time < 0 || s.Settings.MaxTokens < 0:
		return invalid("a budget is not below zero", "leave a bound out where there shall be none")
	case s.Settings.Width < 0 || s.Settings.Width > maxWidth:
		return invalid("a run delegates to at most 16 others", "choose a width of 0 (the usual 4) to 16")
	case s.Settings.OnApproval != "" && s.Settings.OnApproval != Wait && s.Settings.OnApproval != Tell:
		return invalid("on_approval is wait or tell", "wait stops the run until a person decided, tell has the model go on without")
	case s.SessionDir != "" && !filepath.IsAbs(s.SessionDir):
		return invalid("the folder of the transcript is not absolute", "name it from /")
	}
	return nil
}

// What a run does about a call that a person has to decide.
const (
	Wait = "wait"
	Tell = "tell"
)

func plainID(id string) bool {
	return len(id) >= 8 && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && id[0] != '-'
}

// Open opens a run that exists, as who may see it. Nothing is held until it is worked.
func (r *Runtime) Open(ctx context.Context, who cutroom.Principal, id string) (*Run, error) {
	info, err := r.Log.Get(ctx, who, id)
	if err != nil {
		return nil, err
	}
	return &Run{r: r, id: info.ID}, nil
}

// List returns the newest runs first, at most most, in the given states or in all.
func (r *Runtime) List(ctx context.Context, who cutroom.Principal, most int, states ...run.State) ([]run.Info, error) {
	return r.Log.List(ctx, who, most, states...)
}

// expand turns globs into the ids of tools that the run is offered. A tool that is added
// later is not among them, nor one that decides.
func (r *Runtime) expand(s Spec) ([]string, error) {
	globs := s.Capabilities
	if len(globs) == 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "a run needs tools").WithHint("name some: --tools 'media.*,measure.*'; `cutroom tool list` shows all")
	}
	known := r.Engine.Tools(s.Actor.Principal)
	if s.Settings.SubagentsEnabled && s.depth() < maxDepth {
		known = append(known, r.Engine.Inner(s.Actor.Principal)...)
	}
	within := func(t *tool.Tool) bool {
		if s.parent != nil && !slices.Contains(s.parent.info.Spec.Tools, t.Name) {
			return false
		}
		return t.Kind != cutroom.Approve && slices.Contains(s.Actor.Kinds, t.Kind) && (len(s.Actor.Scopes) == 0 || slices.Contains(s.Actor.Scopes, t.Scope))
	}
	chosen := []string{}
	for _, g := range globs {
		hit := false
		for _, t := range known {
			if !match(g, t.Name) || t.Inner && g != t.Name && !s.Settings.SubagentsEnabled {
				continue
			}
			hit = true
			if within(t) && !slices.Contains(chosen, t.Name) {
				chosen = append(chosen, t.Name)
			}
		}
		if !hit && s.parent == nil {
			return nil, noSuchTool(g, known)
		}
	}
	if s.Settings.SubagentsEnabled { // it is asked for by its own switch
		for _, t := range known {
			if t.Inner && within(t) && !slices.Contains(chosen, t.Name) {
				chosen = append(chosen, t.Name)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, cutroom.Errorf(cutroom.Denied, "none of these tools may be called by this run").WithHint("name others, or allow more kinds: --kinds read,preview,propose,execute")
	}
	slices.Sort(chosen)
	return chosen, nil
}

func (s Spec) depth() int {
	if s.parent == nil {
		return 0
	}
	return s.parent.info.Spec.Depth + 1
}

// match is path.Match over ids; a pattern that is none matches nothing.
func match(glob, name string) bool {
	ok, err := filepath.Match(glob, name)
	return err == nil && ok
}

func noSuchTool(glob string, known []*tool.Tool) error {
	err := cutroom.Errorf(cutroom.NotFound, "no tool is called %q", clip(glob, 80))
	var names []string
	for _, t := range known {
		names = append(names, t.Name)
	}
	if near := tool.Nearest(glob, names); near != "" {
		return err.WithHint("did you mean %s? `cutroom tool list` shows all", near)
	}
	return err.WithHint("`cutroom tool list` shows all")
}

// priced resolves the models once, so that a name which is none is known at once, and
// refuses a bound on cost where a price is not known. It returns their full names.
func (r *Runtime) priced(ctx context.Context, s Spec) ([]string, error) {
	models, err := r.Models.Resolve(ctx, s.Models)
	if err != nil {
		return nil, err
	}
	if len(models) == 0 {
		return nil, cutroom.Errorf(cutroom.Precondition, "no model is configured that could drive a run").WithHint("name one in models of cutroom.yaml, or --model provider/model")
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names, bounded(models, s.Settings.Budget)
}

// bounded refuses a bound on cost where a price is not known.
func bounded(models []Model, most run.Amounts) error {
	for _, m := range models {
		if most.Cost > 0 && m.Ask == nil && m.Endpoint.Price == (provider.Price{}) {
			return cutroom.Errorf(cutroom.Invalid, "what %s costs is not known, so a bound on cost would bound nothing", m.Name).
				WithHint("set its price in models of cutroom.yaml, or bound steps or tokens instead")
		}
	}
	return nil
}
