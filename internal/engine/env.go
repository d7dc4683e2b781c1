package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// env is what a Run or Compose body sees of its call.
type env struct{ k *call }

func (v *env) Facts() tool.Facts                              { return v.k.facts }
func (v *env) Run() cutroom.Digest                            { return v.k.name.Invocation }
func (v *env) ReadInput(index int, max int64) ([]byte, error) { return v.k.readInput(index, max) }

func (v *env) Keep(name, mediaType string, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	return v.k.keep(name, mediaType, at)
}

func (v *env) Deliver(name, mediaType, field string) (cutroom.ArtifactRef, error) {
	return v.k.deliverable(name, mediaType, field)
}

func (v *env) Put(name, mediaType string, data []byte, at *cutroom.Micros) (cutroom.ArtifactRef, error) {
	return v.k.put(name, mediaType, data, at)
}

// Key is the server's own name for what the call does.
func (v *env) Key() string {
	if v.k.ledgerKey != "" {
		return v.k.ledgerKey
	}
	key, err := v.k.operationKey()
	if err != nil {
		return string(v.k.name.Invocation)
	}
	return key
}

// Progress reports what the body is doing.
func (v *env) Progress(p cutroom.Progress) {
	v.k.mu.Lock()
	defer v.k.mu.Unlock()
	v.k.progress(p)
}

// Call invokes another tool for this call: same principal, same deadline.
func (v *env) Call(ctx context.Context, id string, in any) (tool.Reply, error) {
	raw, err := tool.Encode(in)
	if err != nil {
		return tool.Reply{}, err
	}
	r, err := v.k.e.invoke(ctx, Call{Tool: id, Input: raw, Principal: v.k.Principal, Progress: v.k.inTurn(), Within: v.k.Within}, v.k)
	if err != nil {
		return tool.Reply{}, err
	}
	v.k.mu.Lock() // calls may be made side by side
	defer v.k.mu.Unlock()
	for _, origin := range strings.Fields(r.Record.Provenance.NetworkDestination) {
		v.k.reached(origin)
	}
	t, ok := r.Output.(interface{ Transient() bool })
	recorded := !ok || !t.Transient()
	if recorded && !slices.Contains(v.k.parents, r.Run) {
		v.k.parents = append(v.k.parents, r.Run)
	}
	return reply(r), nil
}

// inTurn reports the progress of calls that are made side by side one after another.
func (k *call) inTurn() func(cutroom.Progress) {
	if k.Progress == nil {
		return nil
	}
	return func(p cutroom.Progress) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.Progress(p)
	}
}

func reply(r *Reply) tool.Reply {
	return tool.Reply{Tool: r.Tool, Output: r.Output, Run: r.Run, Reused: r.Reused, Seconds: cutroom.Micros(r.Elapsed.Microseconds()), Record: r.Record}
}

// Jobs is the queue as the caller may see it.
func (v *env) Jobs() tool.Jobs {
	if v.k.e.Jobs == nil {
		return noJobs{}
	}
	return v.k.e.Jobs.For(v.k.Principal)
}

// Audit is what was done and refused, as the caller may see it.
func (v *env) Audit() tool.Audit { return view{v.k.e, v.k.Principal} }

// Registry lists the tools that the caller may see.
func (v *env) Registry() []*tool.Tool { return v.k.e.Tools(v.k.Principal) }

// ReadArtifact reads an artifact of a recorded result.
func (v *env) ReadArtifact(ctx context.Context, ref cutroom.ArtifactRef, max int64) ([]byte, error) {
	run, path, ok := v.k.e.split(ref.RelativePath)
	if !ok {
		return nil, notEvidence(ref.RelativePath)
	}
	r, err := v.k.openResult(ctx, run)
	if err != nil {
		return nil, err
	}
	f, err := r.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f, max)
	if err != nil {
		return nil, err
	}
	if cutroom.DigestOf(data) != ref.SHA256 {
		return nil, notEvidence(ref.RelativePath)
	}
	return data, nil
}

// Recorded returns the recorded results of one tool about one source.
func (v *env) Recorded(ctx context.Context, source cutroom.Digest, name string) ([]tool.Reply, error) {
	var replies []tool.Reply
	for _, m := range v.k.e.recorded(ctx, source, name) {
		r, err := v.ReadResult(ctx, cutroom.Ref{Run: string(m.Invocation)})
		if err != nil {
			continue // not readable for this principal, or not valid: no evidence
		}
		replies = append(replies, r)
	}
	return replies, nil
}

// recorded lists the results of one tool about one source, the oldest first.
func (e *Engine) recorded(ctx context.Context, source cutroom.Digest, name string) []stage.Manifest {
	var runs []stage.Manifest
	for r, err := range e.Stage.List(ctx) {
		if err == nil && r.Manifest.Source == source && r.Manifest.Tool == name {
			runs = append(runs, r.Manifest)
		}
	}
	slices.SortFunc(runs, func(a, b stage.Manifest) int { return a.Created.Compare(b.Created) })
	return runs
}

// ReadResult returns the typed output of a recorded result.
func (v *env) ReadResult(ctx context.Context, ref cutroom.Ref) (tool.Reply, error) {
	r, err := v.k.openResult(ctx, ref.Run)
	if err != nil {
		return tool.Reply{}, err
	}
	t, ok := v.k.e.Registry.Find(r.Manifest.Tool)
	if !ok {
		return tool.Reply{}, cutroom.Errorf(cutroom.NotFound, "the result %s was made by %s, which is not part of this installation", ref.Run, r.Manifest.Tool)
	}
	out, err := t.DecodeOutput(r.Manifest.Output)
	if err != nil {
		return tool.Reply{}, cutroom.Errorf(cutroom.Conflict, "the recorded result %s has another shape than its tool", ref.Run).WithCause(err).
			WithHint("run `cutroom prune --invalid`, then call again")
	}
	rec := cutroom.Record{Run: r.Manifest.Invocation}
	rec.Provenance.SourceIdentity = cutroom.SourceIdentity{SHA256: r.Manifest.Source}
	return tool.Reply{Tool: t.Name, Output: out, Run: r.Manifest.Invocation, Reused: true, Record: rec}, nil
}

// Preview is what a dry run shows: the steps of the first phase, and what a call
// of other tools would be.
type Preview struct {
	Status  cutroom.Status  `json:"status"`
	Tool    string          `json:"tool"`
	Run     string          `json:"run"`
	Input   json.RawMessage `json:"input"`          // as the call gave it
	Request cutroom.Digest  `json:"request_sha256"` // of all arguments, with the paths of outputs
	Sources []PlannedSource `json:"sources"`        // with their whole hashes
	Steps   []PreviewStep   `json:"steps"`
	// Commands are the steps as command lines: inputs as they lie in the workspace, and
	// <measured> where an earlier step supplies a value.
	Commands []string `json:"commands"`
	Output   string   `json:"output,omitempty"` // where the result would go
	DryRun   bool     `json:"dry_run"`
	Calls    []string `json:"calls,omitempty"`
	More     string   `json:"more,omitempty"`
	// Approval is what a person has to decide before the plan runs.
	Approval *PlanApproval `json:"approval,omitempty"`
}

// PlanApproval is the request that a plan waits for.
type PlanApproval struct {
	ID      string                `json:"approval_id"`
	State   cutroom.ApprovalState `json:"state"`
	Why     string                `json:"why"`
	Command string                `json:"command"` // what the operator runs
}

// PreviewStep is one planned run of a program.
type PreviewStep struct {
	Step    string   `json:"step"`
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Stage   string   `json:"stage,omitempty"`
}

// preview answers a dry run.
func (k *call) preview() error {
	p := &Preview{
		Status: cutroom.Completed, Tool: k.tool.Name, Run: string(k.name.Invocation), Input: k.Input, Request: k.requestDigest(), Sources: k.planned(),
		Steps: []PreviewStep{}, Commands: []string{}, DryRun: true, Calls: k.tool.Calls,
	}
	for _, o := range k.outlets {
		if o.field == "output" {
			p.Output = o.text
		}
	}
	if k.tool.Body() == tool.BodyPlan {
		plan, err := k.tool.Plan(k.facts, k.in)
		if err != nil {
			return err
		}
		for _, s := range append(plan.Steps, plan.Later...) {
			p.Commands = append(p.Commands, k.line(s))
			p.Steps = append(p.Steps, PreviewStep{s.Step, s.Program, showArgs(s), s.Stage})
		}
		if plan.Then != nil {
			p.More = "further steps depend on <measured> values of these"
		}
	}
	raw, err := tool.Encode(p)
	if err != nil {
		return err
	}
	k.reply = &Reply{Tool: k.tool.Name, JSON: k.e.Redact.JSON([]byte(strings.TrimSpace(string(raw)))), Run: k.name.Invocation, Plan: p}
	return nil
}
