// Package tool says what a tool is: one value that holds its facts, its typed
// input and output, and its body. Commands, schemas, contract entries, reference
// pages and sandbox grants all derive from that value.
//
// It promises that a registry is complete and checked before anything runs, that
// input is decoded strictly, and that a fact which can be derived is never stated
// twice. It starts nothing and opens nothing, and must never know a door or the
// engine.
package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"cutroom"
)

// Exact says what two runs of one request have in common.
type Exact string

// The grades of repeatability.
const (
	BitExact             Exact = "bit_exact"             // the same bytes
	ContentEquivalent    Exact = "content_equivalent"    // the same content, perhaps other bytes
	Cached               Exact = "cached"                // the same because the first is kept
	EnvironmentDependent Exact = "environment_dependent" // depends on the machine
)

// Risk grades what a wrong call can cost.
type Risk string

// The grades of risk.
const (
	LowRisk    Risk = "low"
	MediumRisk Risk = "medium"
	HighRisk   Risk = "high"
)

// Replay says whether a call whose outcome is unknown may be made again.
type Replay string

// The two answers.
const (
	ReplaySafe  Replay = "safe"
	ReplayNever Replay = "never"
)

// Spec holds the facts of a tool and exactly one body: Plan with Interpret for a
// tool that runs programs, Run for a pure one, Compose for one made of tools.
type Spec[In, Out any] struct {
	Name        string // folder.file, e.g. "video.probe"
	Summary     string // one line, no full stop
	Description string // what it is for, when to use it; the first sentence sells it
	Kind        cutroom.Kind
	Risk        Risk   // derived when empty: see [Add]
	Replay      Replay // derived when empty: see [Add]
	Scope       string // what an API token has to hold; default tool:<id>
	Exact       Exact
	Revision    int // raised when the same input would give another result
	Contract    string
	Short       string        // explicit short command, if any
	Timeout     time.Duration // one deadline for the whole call
	Network     bool          // can reach out, by an approval bound to the destination
	Live        bool          // answers what is so now: neither recorded nor answered from a record
	Actual      bool          // its steps run to be judged: a dry run is refused
	Inner       bool          // for runs of agents alone: nobody else is offered it
	Pictures    bool          // its answer is shown with pictures; where a host would drop them beside structured content, it has none
	Needs       Needs
	Calls       []string // ids a Compose body may call
	CheckWith   []string // tools that verify this one's output
	Formats     []string // suffixes it takes
	Video       bool     // refuses a first input without moving or still pictures: "input has no video stream"
	// Groups of members of the input: of each Exclusive one at most one may be given, of
	// each OneOf one at least one. They are enforced, after Validate.
	Exclusive, OneOf [][]string
	MaxFrames        int // operating budget of frames, 0 for none
	Examples         []In

	// Names, when set, fills in the outputs that the caller left open, from the names of
	// the inputs.
	Names func(In) In

	Plan      func(Facts, In) (Plan, error)
	Interpret func(Facts, In, Results) (Out, error)
	Run       func(context.Context, Env, In) (Out, error)
	Compose   func(context.Context, Env, In) (Out, error)

	// Deadline, when set, replaces Timeout for this input.
	Deadline func(In) time.Duration
	// Probes, when set, says whether the inputs have to be probed first, given what is
	// known of them unprobed. Without it they are when the tool needs ffprobe.
	Probes func(Facts, In) bool
	// Beside, when set, names further inputs that lie in the folder of the first
	// one, given the names in that folder (sidecar transcripts).
	Beside func(in In, names []string) []string
	// Expand, when set, completes an input by the files that it names: a project file says
	// what else is read. The paths in what comes back are opened like the caller's own, and
	// the policy is asked about them. It is pure but for what it reads.
	Expand func(In, Reading) (In, error)
	// Key, when set, is what two calls share that are one operation, in place of their
	// whole input: it counts for a tool whose Replay is never.
	Key func(In) string
	// Sends, when set, says whether this call of a tool with Network reaches out on its
	// own demand, so that an approval has to allow it.
	Sends func(In) bool
	// Available, when set, refuses a call that this installation cannot serve, after
	// policy was asked and before anything is planned.
	Available func(In) error
}

// Tool is a registered tool with its types erased.
type Tool struct {
	Name, Summary, Description string
	Kind                       cutroom.Kind
	Risk                       Risk
	Replay                     Replay
	Scope                      string
	Exact                      Exact
	Revision                   int
	Contract                   string
	Short                      string
	Network, Live, Pictures    bool
	Inner, Actual              bool
	Needs                      Needs
	Calls, CheckWith, Formats  []string
	Video                      bool
	Exclusive, OneOf           [][]string
	MaxFrames                  int
	Timeout                    time.Duration
	Examples                   []any

	family  *Family
	file    string // source file that registered it
	in, out reflect.Type
	body    Body
	fault   error // what Add found wrong; NewRegistry reports it

	plan      func(Facts, any) (Plan, error)
	interpret func(Facts, any, Results) (any, error)
	run       func(context.Context, Env, any) (any, error)
	deadline  func(any) time.Duration
	probes    func(Facts, any) bool
	beside    func(any, []string) []string
	key       func(any) string
	expand    func(any, Reading) (any, error)
	available func(any) error
	sends     func(any) bool
	names     func(any) any
}

// Body says which sort of body a tool has.
type Body string

// The three bodies.
const (
	BodyPlan    Body = "plan"
	BodyRun     Body = "run"
	BodyCompose Body = "compose"
)

// Add registers s in f. It is called from a package variable; what is wrong with
// s is reported by [NewRegistry], with the file at fault.
//
// What s leaves open of its authority is derived. Risk: high when it reaches out or
// decides, medium when it writes, else low. Replay: never when what it did cannot be
// read back from the stage (it reaches out, decides, or does something unrecorded),
// else safe.
func Add[In, Out any](f *Family, s Spec[In, Out]) *Tool {
	_, file, _, _ := runtime.Caller(1)
	t := &Tool{
		Name: s.Name, Summary: s.Summary, Description: s.Description, Kind: s.Kind,
		Risk: or(s.Risk, riskOf(s.Kind, s.Network)), Replay: or(s.Replay, replayOf(s.Kind, s.Network, s.Live)),
		Scope: or(s.Scope, "tool:"+s.Name), Exact: s.Exact,
		Revision: s.Revision, Contract: or(s.Contract, f.Contract), Short: s.Short, Network: s.Network, Live: s.Live, Pictures: s.Pictures, Inner: s.Inner, Actual: s.Actual,
		Needs: s.Needs, Calls: s.Calls, CheckWith: s.CheckWith, Formats: s.Formats,
		Video: s.Video, Exclusive: s.Exclusive, OneOf: s.OneOf, MaxFrames: s.MaxFrames, Timeout: s.Timeout,
		family: f, file: file, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
	for _, e := range s.Examples {
		t.Examples = append(t.Examples, e)
	}
	bodies := 0
	if s.Plan != nil || s.Interpret != nil {
		bodies, t.body = bodies+1, BodyPlan
		if s.Plan == nil || s.Interpret == nil {
			t.fault = fmt.Errorf("Plan and Interpret go together")
		}
		t.plan = func(facts Facts, in any) (Plan, error) { return s.Plan(facts, in.(In)) }
		t.interpret = func(facts Facts, in any, r Results) (any, error) {
			out, err := s.Interpret(facts, in.(In), r)
			return &out, err
		}
	}
	for _, b := range []struct {
		kind Body
		f    func(context.Context, Env, In) (Out, error)
	}{{BodyRun, s.Run}, {BodyCompose, s.Compose}} {
		if b.f != nil {
			bodies, t.body = bodies+1, b.kind
			t.run = func(ctx context.Context, env Env, in any) (any, error) {
				out, err := b.f(ctx, env, in.(In))
				return &out, err
			}
		}
	}
	if bodies != 1 {
		t.fault = fmt.Errorf("a tool has exactly one body, Plan with Interpret, Run or Compose; this has %d", bodies)
	}
	t.optional(s.Deadline != nil, func() { t.deadline = func(in any) time.Duration { return s.Deadline(in.(In)) } })
	t.optional(s.Names != nil, func() { t.names = func(in any) any { return s.Names(in.(In)) } })
	t.optional(s.Probes != nil, func() { t.probes = func(f Facts, in any) bool { return s.Probes(f, in.(In)) } })
	t.optional(s.Beside != nil, func() {
		t.beside = func(in any, names []string) []string { return s.Beside(in.(In), names) }
	})
	t.optional(s.Expand != nil, func() {
		t.expand = func(in any, r Reading) (any, error) { return s.Expand(in.(In), r) }
	})
	t.optional(s.Key != nil, func() { t.key = func(in any) string { return s.Key(in.(In)) } })
	t.optional(s.Sends != nil, func() { t.sends = func(in any) bool { return s.Sends(in.(In)) } })
	t.optional(s.Available != nil, func() { t.available = func(in any) error { return s.Available(in.(In)) } })
	f.tools = append(f.tools, t)
	return t
}

func (t *Tool) optional(set bool, install func()) {
	if set {
		install()
	}
}

func riskOf(kind cutroom.Kind, network bool) Risk {
	switch {
	case network, kind == cutroom.Approve:
		return HighRisk
	case kind == cutroom.Execute:
		return MediumRisk
	}
	return LowRisk
}

func replayOf(kind cutroom.Kind, network, live bool) Replay {
	switch kind {
	case cutroom.Read, cutroom.Preview:
		return ReplaySafe
	case cutroom.Approve:
		return ReplayNever
	}
	if network || live {
		return ReplayNever
	}
	return ReplaySafe // the stage's record answers
}

func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

// Body returns which sort of body t has.
func (t *Tool) Body() Body { return t.body }

// Family returns the family t belongs to.
func (t *Tool) Family() *Family { return t.family }

// Verb is the name without its family.
func (t *Tool) Verb() string { return t.Name[strings.IndexByte(t.Name, '.')+1:] }

// MCPName is the name over MCP, where a dot is not allowed.
func (t *Tool) MCPName() string { return strings.ReplaceAll(t.Name, ".", "_") }

// File is the base name of the source file that registered t.
func (t *Tool) File() string { return filepath.Base(t.file) }

// Plan runs the pure planning body on a decoded input.
func (t *Tool) Plan(f Facts, in any) (Plan, error) { return t.plan(f, in) }

// Interpret turns results into the typed output, a pointer to the output type.
func (t *Tool) Interpret(f Facts, in any, r Results) (any, error) { return t.interpret(f, in, r) }

// Run runs a Run or Compose body.
func (t *Tool) Run(ctx context.Context, env Env, in any) (any, error) { return t.run(ctx, env, in) }

// Deadline is how long a call with this input may take.
func (t *Tool) Deadline(in any) time.Duration {
	if t.deadline != nil {
		return t.deadline(in)
	}
	return t.Timeout
}

// Probes says whether the inputs of this call have to be probed.
func (t *Tool) Probes(f Facts, in any) bool {
	if t.probes != nil {
		return t.probes(f, in)
	}
	return t.Needs.has("ffprobe")
}

// Beside names further inputs in the folder of the first one.
func (t *Tool) Beside(in any, names []string) []string {
	if t.beside == nil {
		return nil
	}
	return t.beside(in, names)
}

// LooksBeside says whether t has inputs beside the ones that a call names.
func (t *Tool) LooksBeside() bool { return t.beside != nil }

// Reading reads files that an input names, before the call is authorised: each is opened
// beneath the roots, as this principal may.
type Reading interface {
	// Read returns a file whole, at most max bytes (limit beyond that).
	Read(path cutroom.InPath, max int64) ([]byte, error)
	// Has says whether there is a file of that name; an error when it may not be opened.
	Has(path cutroom.InPath) (bool, error)
	// List returns the names of the plain files in a folder, sorted.
	List(folder cutroom.InPath) ([]string, error)
}

// Expands says whether the input is completed by files that it names.
func (t *Tool) Expands() bool { return t.expand != nil }

// Expand completes an input.
func (t *Tool) Expand(in any, r Reading) (any, error) { return t.expand(in, r) }

// Key is the tool's own name for the operation that a call is; "" where the tool leaves
// that to the engine.
func (t *Tool) Key(in any) string {
	if t.key == nil {
		return ""
	}
	return t.key(in)
}

// Reaches says whether this call reaches out on its own demand.
func (t *Tool) Reaches(in any) bool { return t.Network && (t.sends == nil || t.sends(in)) }

// Sometimes says whether only some calls of a tool with Network reach out.
func (t *Tool) Sometimes() bool { return t.sends != nil }

// Available refuses what this installation cannot serve.
func (t *Tool) Available(in any) error {
	if t.available == nil {
		return nil
	}
	return t.available(in)
}

// Named fills in the outputs that the caller left open.
func (t *Tool) Named(in any) any {
	if t.names == nil {
		return in
	}
	return t.names(in)
}

// NewOutput returns a pointer to a zero output.
func (t *Tool) NewOutput() any { return reflect.New(t.out).Interface() }

// Writes says whether a call can write a file at a path of the caller's.
func (t *Tool) Writes() bool {
	return slices.ContainsFunc(t.Params(), func(p Param) bool { return p.Kind == ParamOut })
}

// SideEffects is derived: what a call does besides answering.
func (t *Tool) SideEffects() []string {
	if t.Live {
		return []string{}
	}
	if t.Network {
		return []string{"network_read", "filesystem_write"}
	}
	return []string{"filesystem_read", "filesystem_write"}
}
