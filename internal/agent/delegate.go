package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// delegation is one call of a run, as the tool that delegates sees it.
type delegation struct {
	s *session
	c call
}

var _ tool.Agents = (*delegation)(nil)

// childRole is who the model of a delegated run is.
const childRole = "You do one task for another agent, which goes on from your last word alone."

// Delegate has a run of its own do a task. The same call, made again after an end of the
// process or a person's decision, goes on with the same run.
func (d *delegation) Delegate(ctx context.Context, t tool.Task) (tool.Delegated, error) {
	var out tool.Delegated
	x, err := d.child(ctx, t)
	if err != nil {
		return out, err
	}
	o, err := d.work(ctx, x)
	if err != nil {
		return out, err
	}
	if o.State == run.Waiting {
		return out, cutroom.Errorf(cutroom.NeedsApproval, "the run %s waits for a person's approval", x.id).
			WithHint("have the operator run `cutroom approve %s` on a terminal, then resume the run", strings.Join(o.Approvals, " ")).WithApproval(o.Approvals[0])
	}
	out = tool.Delegated{
		Run: x.id, State: string(o.State), Reason: string(o.Reason), Text: o.Text, Steps: o.Spent.Steps, Tokens: o.Spent.Tokens, Calls: o.Usage.Calls,
	}
	return out, nil
}

// child is the run of the call: created, within every bound, or the one that there is.
func (d *delegation) child(ctx context.Context, t tool.Task) (*Run, error) {
	d.s.delegating.Lock()
	defer d.s.delegating.Unlock()
	spec := d.s.info.Spec
	if !spec.Settings.SubagentsEnabled || spec.Depth >= maxDepth {
		return nil, cutroom.Errorf(cutroom.Denied, "this run may not delegate").WithHint("do the task yourself")
	}
	id := childID(d.s.info.ID, d.c.turn, d.c.index)
	children, err := d.s.Log.Children(ctx, d.s.info.ID)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(children, func(i run.Info) bool { return i.ID == id }) {
		return d.s.Open(ctx, spec.Actor.Principal, id)
	}
	width := spec.Settings.Width
	if width == 0 {
		width = defaultWidth
	}
	if len(children) >= width {
		return nil, cutroom.Errorf(cutroom.Limit, "this run has delegated %d tasks, and no more than %d are allowed", len(children), width).WithHint("do the task yourself")
	}
	return d.s.CreateRun(ctx, d.spec(id, t))
}

// spec narrows: a child has no tool, kind or budget that its parent has not.
func (d *delegation) spec(id string, t tool.Task) Spec {
	s := d.s
	actor := s.info.Spec.Actor
	actor.Kinds = slices.DeleteFunc(slices.Clone(s.kinds), func(k cutroom.Kind) bool { return len(t.Kinds) > 0 && !slices.Contains(t.Kinds, k) })
	settings := s.info.Spec.Settings
	settings.Budget = run.Amounts{Steps: t.Steps, Tokens: t.Tokens}
	c := Spec{
		RunID: id, Role: childRole, Goal: t.Goal, Capabilities: t.Tools, Settings: settings, Actor: actor,
		Models: s.info.Spec.Models, SessionDir: s.info.Spec.SessionDir, parent: s, call: fmt.Sprintf("%d/%d", d.c.turn, d.c.index),
	}
	if len(c.Capabilities) == 0 {
		c.Capabilities = s.info.Spec.Tools
	}
	return c
}

// childID is the same for the same call of the same run.
func childID(parent string, turn, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", parent, turn, index))
	return hex.EncodeToString(sum[:10])
}

// work works the child until it stops, and gives it back.
func (d *delegation) work(ctx context.Context, x *Run) (o Outcome, err error) {
	w, err := d.s.Log.Take(ctx, x.id)
	if err != nil {
		return o, err
	}
	defer func() {
		if e := w.Close(ctx); err == nil {
			err = e
		}
	}()
	if done, ok, err := d.s.ended(ctx, x.id); ok || err != nil {
		return done, err
	}
	n, err := x.PendingOperations(ctx)
	if err != nil {
		return o, err
	}
	if o, err = d.s.Runtime.work(ctx, w, d.s, "", n > 0); err != nil && ctx.Err() != nil && d.s.ctx.Err() == nil {
		return d.late(ctx, w, x.id)
	}
	return o, err
}

// late ends a child whose call has taken longer than the operator allows.
func (d *delegation) late(ctx context.Context, w *run.Writer, id string) (o Outcome, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	h, err := d.s.Runtime.history(ctx, id)
	if err != nil {
		return o, err
	}
	err = w.Turn(ctx, run.Failed, run.Error, append(h.canceled(), run.Broken{
		Reason: run.Error, Code: cutroom.Timeout, Message: "the task took longer than a call may", Usage: h.usage,
	})...)
	return Outcome{State: run.Failed, Reason: run.Error, Usage: h.usage}, err
}

// ended is the outcome of a child that ended before.
func (r *Runtime) ended(ctx context.Context, id string) (o Outcome, ended bool, err error) {
	h, err := r.history(ctx, id)
	if err != nil {
		return o, false, err
	}
	switch b := h.last.(type) {
	case run.Done:
		return Outcome{State: run.Completed, Text: b.Text, Usage: b.Usage, Spent: b.Spent}, true, nil
	case run.Broken:
		return Outcome{State: run.Failed, Reason: b.Reason, Usage: b.Usage, Spent: b.Spent}, true, nil
	}
	return o, false, nil
}
