// Package engine is the single path that every call takes: from a request in JSON
// to a recorded, proved result.
//
// It promises that no tool opens a path, starts a program or publishes a file by
// itself, and that every door gets the same answer to the same call. It must never
// know a door.
package engine

import (
	"context"
	"log/slog"
	"os"
	"time"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/provider"
	"cutroom/internal/redact"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// Runner runs one program with exactly what it was granted.
type Runner interface {
	Run(context.Context, argv.Command, sandbox.Grant) (argv.Result, error)
}

// Jobs is the durable queue, as each principal sees it.
type Jobs interface {
	For(cutroom.Principal) tool.Jobs
}

// Readers are the models and services that may be shown media.
type Readers interface {
	// Now returns them as they are configured at this moment.
	Now(context.Context) (tool.Readers, error)
}

// Toolchain says which programs are pinned.
type Toolchain interface {
	// Fingerprint identifies a program with its libraries and models; "" when it is
	// not pinned.
	Fingerprint(program string) cutroom.Digest
	// Version is the program's version line.
	Version(program string) string
}

// Options are the parts an engine works with.
type Options struct {
	Registry  *tool.Registry
	Workspace string   // absolute; what paths are relative to
	Roots     []string // absolute; further folders that every principal may read, by the operator's own file
	Stage     *stage.Stage
	StageRoot string // the stage's folder, relative to the workspace, forward slashes
	Identity  *stage.IdentityCache
	Facts     string // folder of the probe cache, in the user's state folder
	Runner    Runner
	Toolchain Toolchain
	Abilities func() ffmpeg.Abilities // of the pinned ffmpeg; read when first needed
	Layers    func() []string         // of the sandbox, as the kernel gives them; read when first needed
	Languages []string                // OCR languages installed
	Fonts     caption.Fonts           // what captions are drawn with; nil: none
	Settings  tool.Settings
	Policy    policy.Policy
	Limits    tool.Bounds      // operator's maxima; zero fields are the contract's ceilings
	Timeout   time.Duration    // operator's longest deadline; zero is each tool's own
	Readers   Readers          // nil: nobody is shown media
	Jobs      Jobs             // nil: this process has no queue
	Approvals Approvals        // nil: what needs a person's approval stays closed
	Redact    *redact.Redactor // of what leaves the engine; nil knows forms of secrets only
	Audit     Audit            // nil: only calls that look at something are made
	Ledger    Ledger           // nil: no call is made that must not be made twice
	Meter     Meter            // nil: nobody counts, so a rule on calls per hour allows none
	Log       *slog.Logger
	Now       func() time.Time
}

// Engine invokes tools.
type Engine struct {
	Options
	doneTime time.Duration // how long it is tried to write down what was done
}

// New returns an engine over the given parts.
func New(o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = slog.New(o.Redact.Handler(o.Log.Handler()))
	return &Engine{Options: o, doneTime: longTime}
}

// Call is one request.
type Call struct {
	Tool      string
	Input     []byte // JSON
	Principal cutroom.Principal
	Timeout   time.Duration          // 0: the tool's own deadline
	DryRun    bool                   // plan only: no program of the tool runs, nothing is recorded
	Progress  func(cutroom.Progress) // may be nil
	Planned   *Planned               // the plan that the call has to be, nil for any
	PlanFirst bool                   // runs by an approval of its very plan only, also where the policy would not ask
	// Host shows a picture to the model of the host that makes the call, where the host
	// offers that; nil: it does not.
	Host *Host
	// Given are inputs that lie in no folder, by the path that the input names them by. A
	// door makes those paths up, beneath [Uploads]: the caller sent the content itself.
	// They are there for this call and those it makes; nobody else reads what came of them.
	Given map[string]Opener
	// Within narrows what the call may be, beside the policy; nil narrows nothing. The
	// calls that it makes itself are held to its kinds.
	Within *Within
	// Agents starts runs on behalf of the run that makes the call; nil: no run makes it,
	// and tools that are for runs alone do not exist for it.
	Agents tool.Agents
}

// Within is what an agent's run may do: no more than its principal, and perhaps less.
type Within struct {
	Tools  []string       // ids; what is not among them does not exist
	Kinds  []cutroom.Kind // kinds of call
	Scopes []string       // scopes that are held; none is no bound
}

// Host is the program whose agent makes a call, with a model of its own.
type Host struct {
	Name   string
	Sample func(context.Context, provider.Request) (provider.Reply, error)
}

// Opener opens a file for reading, as often as it is asked to.
type Opener func() (*os.File, error)

// Uploads is the folder, relative to the workspace, that given inputs are named in. It
// does not exist.
const Uploads = ".cutroom/uploads"

// Planned is what a plan was made for: the call runs only when it is still that.
type Planned struct {
	Run     cutroom.Digest
	Sources []PlannedSource
	Request cutroom.Digest // of all arguments, paths of outputs as well; "" compares only what Run is made of
}

// PlannedSource is one input of a plan.
type PlannedSource struct {
	Path   string         `json:"path"` // as the caller wrote it
	SHA256 cutroom.Digest `json:"sha256"`
	Size   int64          `json:"size_bytes"`
}

// Reply is the answer to a call.
type Reply struct {
	Tool   string
	Output any    // pointer to the tool's output type; nil for a dry run
	JSON   []byte // the output as every door shows it
	Run    cutroom.Digest
	Reused bool
	// Approval is the id of the approval or grant that the call used up, "" when it
	// needed none.
	Approval string
	// Transient says that the answer was not recorded: it depends on what may change.
	Transient bool
	Elapsed   time.Duration
	Record    cutroom.Record
	Plan      *Preview // of a dry run
}

// Invoke makes one call. Its steps are the product on one page; each is a method
// of call in its own file.
func (e *Engine) Invoke(ctx context.Context, c Call) (*Reply, error) {
	r, err := e.invoke(ctx, c, nil)
	return r, e.Redact.Error(err)
}

func (e *Engine) invoke(ctx context.Context, c Call, parent *call) (*Reply, error) {
	k := &call{Call: c, e: e, parent: parent, id: newID(), started: e.Now()}
	defer k.close()
	defer k.broke(ctx)
	return k.record(ctx, k.perform(ctx)) // 11: what became of it, in one transaction
}

func (k *call) perform(ctx context.Context) error {
	if err := k.find(); err != nil { // 1, 2: the tool, for this principal; the ceiling
		return err
	}
	if err := k.decode(); err != nil { // 3: strictly, defaults, validation, limits
		return err
	}
	ctx, cancel := k.deadline(ctx)
	defer cancel()
	steps := []func(context.Context) error{
		k.open,      // 4: inputs, beneath the roots, hashed
		k.ready,     // what cannot be written down is not done
		k.authorize, // 5: allow, deny or ask
		k.key,       // 6: identity of the call
		k.consent,   // what a person has to allow is allowed, or asked for
		k.reuse,     // 7: an equal, verified result answers; an equal call in flight is awaited
		k.recall,    // … and what must not be done twice is answered from the ledger
		k.spend,     // from here on the approval is used up
		k.begin,     // from here on the ledger knows that something may be done
		k.run,       // 8: plan and run in the sandbox
		k.prove,     // 9: what was made is what was planned
		k.publish,   // 10: mask secrets, check the schema, publish without overwriting
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return k.failure(ctx, err)
		}
		if k.reply != nil {
			break
		}
	}
	return nil
}
