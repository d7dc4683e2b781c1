package engine

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/tool"
)

// Approvals keeps what a person has to decide, and what was decided.
type Approvals interface {
	// Find returns what allows exactly this call; without any, why what comes near does
	// not count.
	Find(context.Context, approval.Candidate) (approval.Pass, string, error)
	// File asks the person.
	File(context.Context, approval.Request) (cutroom.Approval, error)
	// Spend uses a pass up; it succeeds once.
	Spend(context.Context, approval.Candidate, approval.Pass) error
	// List and Decide are for the tools of the family approval.
	List(ctx context.Context, who cutroom.Principal, workspace string, max int, states ...cutroom.ApprovalState) ([]cutroom.Approval, error)
	Decide(ctx context.Context, who cutroom.Principal, v cutroom.Verdict) (cutroom.Approval, int64, error)
}

// consent finds what allows a call that the policy asks about, or asks. A dry run does
// nothing, so it needs no approval.
func (k *call) consent(ctx context.Context) error {
	if k.asks == "" || k.DryRun {
		return nil
	}
	if k.tool.Sometimes() { // what was sent once, by an approval, is not sent again to be answered
		if r, gone, err := k.lookup(ctx); err == nil && r != nil && !gone {
			k.byRecord = true
			return nil
		}
	}
	why := ""
	if k.e.Approvals != nil {
		candidate, err := k.candidate(ctx)
		if err != nil {
			return err
		}
		if k.pass, why, err = k.e.Approvals.Find(ctx, candidate); err != nil || k.pass.ID != "" {
			return err
		}
		if err := k.free(ctx); err != nil {
			return err
		}
	}
	a, err := k.file(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		why = "; " + why
	}
	return cutroom.Errorf(cutroom.NeedsApproval, "%s: %s%s", k.tool.Name, k.asks, why).
		WithHint("have the operator run `cutroom approve %s` on a terminal, then make the same call again", a.ID).WithApproval(a.ID)
}

// free refuses a call that a file stands in the way of: nobody is asked about what
// cannot be done. A recorded result may be what stands there.
func (k *call) free(ctx context.Context) error {
	err := k.refuseExisting()
	if err == nil {
		return nil
	}
	if r, _, lookErr := k.lookup(ctx); lookErr != nil || r != nil {
		return nil
	}
	return err
}

// file asks the person for this call, with its plan: what cannot be planned is not
// asked about.
func (k *call) file(ctx context.Context) (cutroom.Approval, error) {
	if k.e.Approvals == nil {
		return cutroom.Approval{}, cutroom.Errorf(cutroom.NeedsApproval, "%s: %s", k.tool.Name, k.asks).
			WithHint("this process cannot record approvals, so the call stays closed: run it with `cutroom`")
	}
	sheet, err := k.sheet(ctx)
	if err != nil {
		return cutroom.Approval{}, err
	}
	kept, err := k.maskedSheet(*sheet)
	if err != nil {
		return cutroom.Approval{}, err
	}
	return k.e.Approvals.File(ctx, approval.Request{Bound: k.bound, Input: k.Input, PlanFirst: k.PlanFirst, Why: k.asks, Sheet: kept})
}

// maskedSheet is the sheet as it is kept and shown to whoever asks: the operator's own
// is made anew.
func (k *call) maskedSheet(s cutroom.Sheet) (cutroom.Sheet, error) {
	raw, err := tool.Encode(s)
	if err != nil {
		return s, err
	}
	var kept cutroom.Sheet
	err = json.Unmarshal(k.e.Redact.JSON(raw), &kept)
	return kept, err
}

// spend uses up what allows the call, just before something is done. Of several equal
// calls at once one gets past this.
func (k *call) spend(ctx context.Context) error {
	if k.pass.ID == "" || k.approval != "" || k.grant != "" {
		return nil
	}
	candidate, err := k.candidate(ctx)
	if err != nil {
		return err
	}
	if err := k.e.Approvals.Spend(ctx, candidate, k.pass); err != nil {
		return err
	}
	if k.pass.Grant() {
		k.grant = k.pass.ID
	} else {
		k.approval = k.pass.ID
	}
	return nil
}

// candidate is the call as approvals and grants look at it.
func (k *call) candidate(ctx context.Context) (approval.Candidate, error) {
	c := approval.Candidate{PlanFirst: k.PlanFirst}
	var err error
	if k.bound.Tool == "" {
		if k.bound, err = k.binds(ctx); err != nil {
			return c, err
		}
	}
	c.Bound = k.bound
	if c.Input, err = tool.Encode(k.in); err != nil {
		return c, err
	}
	c.Files = k.inputPaths()
	for _, o := range k.outlets {
		c.Files = append(c.Files, filepath.Join(o.root, o.rel))
	}
	return c, nil
}

// binds is everything that an approval of this call is bound to.
func (k *call) binds(ctx context.Context) (approval.Bound, error) {
	request, err := tool.Canonical(k.in)
	if err != nil {
		return approval.Bound{}, err
	}
	b := approval.Bound{
		Workspace: k.e.Workspace, StageRoot: k.e.StageRoot, Principal: k.Principal, Tool: k.tool.Name, Revision: k.tool.Revision,
		Arguments: cutroom.DigestOf(request), Run: k.name.Invocation, Policy: k.e.Policy.Digest(),
	}
	for _, in := range k.inputs {
		b.Inputs = append(b.Inputs, in.Digest)
	}
	for _, o := range k.outlets {
		out := approval.Output{Path: filepath.Join(o.root, o.rel)}
		if o.exists {
			if out.Replaces, _, err = k.standing(ctx, o); err != nil {
				return b, err
			}
		}
		b.Outputs = append(b.Outputs, out)
	}
	if k.tool.Reaches(k.in) {
		b.Destination, b.MaxBytes = strings.Join(slices.Sorted(slices.Values(k.reaching(ctx))), " "), k.bounds.FileBytes
		if b.Destination == "" {
			b.Destination = "unknown"
		}
	}
	return b, nil
}

// standing hashes the file that stands at an output: what is replaced is part of what
// is approved.
func (k *call) standing(ctx context.Context, o outlet) (cutroom.Digest, int64, error) {
	f, _, err := k.e.openBeneath(k.Principal, filepath.Join(o.root, o.rel))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	d, id, err := k.e.Identity.Digest(ctx, f)
	return d, id.Size, err
}

// Propose asks for a call without making it. When nothing has to be asked the answer
// has no id. An approval that is live already is returned as it is.
func (e *Engine) Propose(ctx context.Context, c Call) (cutroom.Approval, *Preview, error) {
	k, err := e.prepare(ctx, c)
	if k != nil {
		defer k.close()
	}
	if err != nil {
		return cutroom.Approval{}, nil, err
	}
	if k.asks == "" {
		return cutroom.Approval{}, nil, nil
	}
	if k.e.Approvals != nil {
		if err := k.free(ctx); err != nil {
			return cutroom.Approval{}, nil, err
		}
	}
	a, err := k.file(ctx)
	if err != nil {
		return a, nil, k.failure(ctx, err)
	}
	plan := k.reply.Plan
	plan.Status = cutroom.Blocked
	plan.Approval = &PlanApproval{ID: a.ID, State: a.State, Why: a.Why, Command: "cutroom approve " + a.ID}
	return a, plan, nil
}

// Review makes the sheet of a request anew, from what lies there now, and says what an
// approval of it is bound to. When that is not what was asked for, the answer is a
// conflict: the call is another one by now.
func (e *Engine) Review(ctx context.Context, a cutroom.Approval) (cutroom.Sheet, cutroom.Digest, error) {
	k, err := e.prepare(ctx, Call{Tool: a.Tool, Input: a.Input, Principal: a.Principal, PlanFirst: a.PlanFirst})
	if k != nil {
		defer k.close()
	}
	if err != nil {
		return cutroom.Sheet{}, "", err
	}
	if k.asks == "" {
		return cutroom.Sheet{}, "", cutroom.Errorf(cutroom.Conflict, "the policy does not ask about this call any more").
			WithHint("the caller can make it without an approval")
	}
	sheet, err := k.sheet(ctx)
	if err != nil {
		return cutroom.Sheet{}, "", k.failure(ctx, err)
	}
	return *sheet, k.bound.Digest(), nil
}

// prepare takes a call as far as it goes without doing anything.
func (e *Engine) prepare(ctx context.Context, c Call) (*call, error) {
	c.DryRun = true
	k := &call{Call: c, e: e, started: e.Now()}
	if err := k.find(); err != nil {
		return k, err
	}
	if err := k.decode(); err != nil {
		return k, err
	}
	for _, step := range []func(context.Context) error{k.open, k.authorize, k.key} {
		if err := step(ctx); err != nil {
			return k, k.failure(ctx, err)
		}
	}
	if k.asks == "" || k.e.Approvals == nil {
		return k, nil
	}
	if _, err := k.candidate(ctx); err != nil {
		return k, k.failure(ctx, err)
	}
	return k, nil
}

// Approvals are the requests as the caller may see them.
func (v *env) Approvals() tool.Approvals { return requests{v.k.e, v.k.Principal} }

// requests is the book for the tools, as one principal sees it.
type requests struct {
	e   *Engine
	who cutroom.Principal
}

func (r requests) none() error {
	return cutroom.Errorf(cutroom.Unavailable, "this process keeps no approvals").WithHint("use `cutroom approvals`")
}

func (r requests) Request(ctx context.Context, id string, input []byte) (cutroom.Approval, error) {
	if r.e.Approvals == nil {
		return cutroom.Approval{}, r.none()
	}
	a, _, err := r.e.Propose(ctx, Call{Tool: id, Input: input, Principal: r.who})
	return a, err
}

func (r requests) List(ctx context.Context, max int, states ...cutroom.ApprovalState) ([]cutroom.Approval, error) {
	if r.e.Approvals == nil {
		return nil, r.none()
	}
	return r.e.Approvals.List(ctx, r.who, r.e.Workspace, max, states...)
}

func (r requests) Decide(ctx context.Context, v cutroom.Verdict) (cutroom.Approval, int64, error) {
	if r.e.Approvals == nil {
		return cutroom.Approval{}, 0, r.none()
	}
	return r.e.Approvals.Decide(ctx, r.who, v)
}
