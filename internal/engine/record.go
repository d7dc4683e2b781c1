package engine

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/tool"
)

// Audit is where every call is written down, whatever became of it.
type Audit interface {
	// Ready says why nothing can be written down, and what helps.
	Ready(ctx context.Context) error
	// Record writes a row and, in the same transaction, what became of the call's
	// operation, when it had one.
	Record(ctx context.Context, e cutroom.AuditEvent, op *cutroom.Operation) error
	// Query returns the rows that a filter chooses, the newest first.
	Query(ctx context.Context, f cutroom.AuditFilter) ([]cutroom.AuditEvent, error)
}

// newID is a name for a call: unguessable, fit for an address.
func newID() string { return strings.ToLower(rand.Text()[:20]) }

// How long writing a row may take: a look at something does not wait for long, but
// what was done has to be written down.
const (
	lookTime = 2 * time.Second
	longTime = 15 * time.Second
)

// record is step 11: the manifest is the record of the result; a row of the audit, with
// the outcome in the ledger, is that of the call. Then the answer.
func (k *call) record(ctx context.Context, err error) (*Reply, error) {
	k.recorded = true
	fault := cutroom.AsError(k.e.Redact.Error(err))
	if unwritten := k.writeDown(context.WithoutCancel(ctx), fault); unwritten != nil {
		k.e.Log.Warn("a call could not be written down", "tool", k.Tool, "call", k.id, "cause", unwritten)
		if err == nil && k.changes() {
			return nil, cutroom.Errorf(cutroom.Precondition, "%s was done, but that could not be written down: %s", k.tool.Name, cutroom.AsError(unwritten).Msg).
				WithHint("see what it did before you call it again: `cutroom operations` shows it once the database can be used").WithCause(unwritten)
		}
	}
	if err != nil {
		return nil, err
	}
	return k.answered(), nil
}

// answered completes the reply.
func (k *call) answered() *Reply {
	k.reply.Elapsed = k.elapsed()
	k.e.Log.Info("call", "tool", k.tool.Name, "principal", k.Principal.Name, "run", k.reply.Run.Short(),
		"reused", k.reply.Reused, "ms", k.reply.Elapsed.Milliseconds())
	return k.reply
}

// broke writes down a call whose tool panicked. Whoever recovers does the rest.
func (k *call) broke(ctx context.Context) {
	if k.recorded {
		return
	}
	if err := k.writeDown(context.WithoutCancel(ctx), cutroom.AsError(errPanic)); err != nil {
		k.e.Log.Warn("a call could not be written down", "tool", k.Tool, "call", k.id, "cause", err)
	}
}

var errPanic = cutroom.Errorf(cutroom.Internal, "the tool broke")

// writeDown writes the row. What was done is tried again for a while: the database may be
// busy, or its disk full.
func (k *call) writeDown(ctx context.Context, fault *cutroom.Error) error {
	if k.e.Audit == nil {
		return nil
	}
	// What may have been done, and what is called done, has to be written down.
	limit, patient := lookTime, k.op != nil || fault == nil && k.changes()
	if patient {
		limit = k.e.doneTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	k.found(ctx)
	event, op := k.event(fault), k.outcome(fault)
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		err := k.e.Audit.Record(ctx, event, op)
		if err == nil || !patient {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// event is the call as a row. What was not reached is empty.
func (k *call) event(fault *cutroom.Error) cutroom.AuditEvent {
	e := cutroom.AuditEvent{
		Type: cutroom.AuditInvoke, Call: k.id, Principal: k.Principal, Tool: k.Tool, Input: k.inputDigest(), Run: k.name.Invocation,
		Decision: string(k.decision.Effect), Reason: k.decision.Reason, Approval: k.approval, Grant: k.grant,
		Outcome: cutroom.OutcomeOK, Elapsed: k.elapsed(),
	}
	if k.parent != nil {
		e.Parent = k.parent.id
	}
	if k.tool != nil {
		e.Tool, e.Revision, e.Kind = k.tool.Name, k.tool.Revision, k.kind()
	}
	if e.Decision == "" && fault != nil && (k.tool == nil || fault.Code == cutroom.Denied) { // refused before the rules were asked
		e.Decision, e.Reason = string(policy.Deny), fault.Msg
	}
	var notes []string
	if k.DryRun {
		notes = append(notes, "dry run")
	}
	switch {
	case fault != nil:
		e.Outcome = string(fault.Code)
	default:
		e.Output, e.Run = cutroom.DigestOf(k.reply.JSON), k.reply.Run
		if k.reply.Reused {
			notes = append(notes, "answered from a record")
		}
		if k.reply.Transient {
			notes = append(notes, "not recorded as a result")
		}
	}
	e.Detail = strings.Join(notes, ", ")
	return e
}

// inputDigest is of the decoded request in canonical form; of the caller's bytes when
// they could not be decoded.
func (k *call) inputDigest() cutroom.Digest {
	if k.in == nil {
		return cutroom.DigestOf(k.Input)
	}
	if k.input == "" {
		text, err := tool.Canonical(k.in)
		if err != nil {
			return cutroom.DigestOf(k.Input)
		}
		k.input = cutroom.DigestOf(text)
	}
	return k.input
}

// decided notes what policy said, for the row.
func (k *call) decided(d policy.Decision) policy.Decision {
	k.decision = d
	return d
}

// view is the audit as a principal may see it.
type view struct {
	e   *Engine
	who cutroom.Principal
}

// Query returns rows, the newest first: to the operator all, to anyone else those of
// its own calls.
func (v view) Query(ctx context.Context, f cutroom.AuditFilter) ([]cutroom.AuditEvent, error) {
	if v.e.Audit == nil {
		return nil, cutroom.Errorf(cutroom.Unavailable, "this process keeps no audit").WithHint("run it with `cutroom`")
	}
	if v.who.Role != cutroom.RoleOperator {
		if f.Principal != "" && f.Principal != v.who.Name {
			return []cutroom.AuditEvent{}, nil
		}
		f.Principal, f.Role = v.who.Name, v.who.Role
	}
	return v.e.Audit.Query(ctx, f)
}
