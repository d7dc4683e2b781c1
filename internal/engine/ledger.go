package engine

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Ledger remembers what must not be done twice. What is at work is in it, too, so that
// a call which its process did not survive is known.
type Ledger interface {
	// Recall finds an operation; nil when there is none.
	Recall(ctx context.Context, key string) (*cutroom.Operation, error)
	// Begin puts an operation in, for certain; when its key is there already nothing
	// changes, and what is there is returned.
	Begin(ctx context.Context, op cutroom.Operation) (*cutroom.Operation, error)
	// Forget takes out what the call of that id began and did not do.
	Forget(ctx context.Context, key, call string) error
}

// changes says that the call does more than look: it may not be made unless it can be
// written down.
func (k *call) changes() bool {
	if k.tool == nil {
		return false
	}
	kind := k.kind()
	return kind != cutroom.Read && kind != cutroom.Preview && !k.DryRun
}

// ready refuses a call that changes something where nothing can be written down.
func (k *call) ready(ctx context.Context) error {
	if !k.changes() {
		return nil
	}
	if k.e.Audit == nil {
		return cutroom.Errorf(cutroom.Precondition, "%s: this process keeps no audit, and what is not written down is not done", k.tool.Name).
			WithHint("run it with `cutroom`")
	}
	return unwritten(k.tool.Name, k.e.Audit.Ready(ctx))
}

// unwritten is why a call is not made that could not be written down.
func unwritten(name string, err error) error {
	if err == nil {
		return nil
	}
	e := cutroom.AsError(err)
	return cutroom.Errorf(e.Code, "%s was not done, since it could not be written down: %s", name, e.Msg).WithHint("%s", e.Hint).WithCause(err)
}

// recall answers a call that must not be made twice with what it did the first time.
func (k *call) recall(ctx context.Context) error {
	if k.tool.Replay != tool.ReplayNever || k.DryRun {
		return nil
	}
	var err error
	if k.ledgerKey, err = k.operationKey(); err != nil {
		return err
	}
	if k.e.Ledger == nil {
		return cutroom.Errorf(cutroom.Precondition, "%s: this process keeps no ledger of what must not be done twice", k.tool.Name).WithHint("run it with `cutroom`")
	}
	op, err := k.e.Ledger.Recall(ctx, k.ledgerKey)
	if err != nil {
		return unwritten(k.tool.Name, err)
	}
	return k.known(op)
}

// known answers with a recorded outcome; nil does nothing.
func (k *call) known(op *cutroom.Operation) error {
	if op == nil {
		return nil
	}
	switch op.State {
	case cutroom.OperationDone:
		r, err := k.e.Decode(k.tool.Name, op.Output)
		if err != nil {
			return err
		}
		r.Run, r.Reused, r.Record.Run = op.Run, true, op.Run
		k.out, k.reply = r.Output, r
		return nil
	case cutroom.OperationFailed:
		e := &cutroom.Error{Code: cutroom.Internal, Msg: k.tool.Name + " failed before"}
		if f := op.Failure; f != nil {
			e = &cutroom.Error{Code: f.Code, Msg: f.Message, Hint: f.Hint}
		}
		e.Msg += " (so it ended at " + op.Finished.UTC().Format(time.RFC3339) + "; it is not made again)"
		return e
	case cutroom.OperationSettled:
		return cutroom.Errorf(cutroom.Conflict, "%s was done before, as a person found out at %s; it is not made again", k.tool.Name, op.Finished.UTC().Format(time.RFC3339)).
			WithHint("`cutroom operations --all` shows it")
	}
	if k.e.Now().Before(op.Until) {
		return cutroom.Errorf(cutroom.Precondition, "outcome unknown: %s is at work, or its process ended; it is not made twice", k.tool.Name).
			WithHint("query its state, or ask again after %s; `cutroom operations` shows it", op.Until.UTC().Format(time.RFC3339))
	}
	return cutroom.Errorf(cutroom.Precondition, "outcome unknown: the process ended while %s was at work; it is not made twice", k.tool.Name).
		WithHint("query its state; then a person settles it: `cutroom operations settle %s`", op.Call)
}

// begin puts the call into the ledger: from here on something may be done.
func (k *call) begin(ctx context.Context) error {
	if !k.changes() && k.ledgerKey == "" || k.e.Ledger == nil {
		return nil
	}
	op := cutroom.Operation{
		Key: k.ledgerKey, Call: k.id, Tool: k.tool.Name, Revision: k.tool.Revision, Principal: k.Principal,
		Never: k.ledgerKey != "", Input: k.inputDigest(), Until: k.e.Now().Add(graceTime),
	}
	if op.Key == "" {
		op.Key = "call:" + k.id
	}
	if end, ok := ctx.Deadline(); ok {
		op.Until = end.Add(graceTime)
	}
	other, err := k.e.Ledger.Begin(ctx, op)
	if err != nil {
		return unwritten(k.tool.Name, err)
	}
	if other != nil { // another call with this key was faster
		return k.known(other)
	}
	k.op = &op
	return nil
}

// graceTime is how long after its deadline a call that lives has ended for certain.
const graceTime = time.Minute

// operationKey is the server's own name for what the call does: tool, revision and
// content. Neither the caller nor the programs of this machine are in it.
func (k *call) operationKey() (string, error) {
	if own := k.tool.Key(k.in); own != "" {
		return k.tool.Name + ":" + own, nil
	}
	text, err := tool.Canonical([]any{k.normalise(reflect.ValueOf(k.in)).Interface(), k.destinations()})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:v%d:%s", k.tool.Name, k.tool.Revision, cutroom.DigestOf(text)), nil
}

// destinations are the paths that the call writes: the same content elsewhere is
// another operation.
func (k *call) destinations() []string {
	list := []string{}
	for _, o := range k.outlets {
		list = append(list, o.field+"="+o.rel)
	}
	return list
}

// found finds the operation of a call that the stage's record answered, when its own
// process ended before it could say so: now its outcome is known.
func (k *call) found(ctx context.Context) {
	if k.op != nil || k.reply == nil || !k.reply.Reused || k.DryRun || k.tool.Replay != tool.ReplayNever || k.e.Ledger == nil {
		return
	}
	key, err := k.operationKey()
	if err != nil {
		return
	}
	op, err := k.e.Ledger.Recall(ctx, key)
	if err != nil || op == nil || op.State != cutroom.OperationStarted {
		return // the row of this call is all that there is to write
	}
	k.op = op
}

// outcome is what the end of a call means for its operation. Of an error that the
// tool did not mark nobody knows whether something was done: when the tool said what
// went wrong, that is the outcome; when it was stopped or broke, the outcome stays
// unknown.
func (k *call) outcome(err *cutroom.Error) *cutroom.Operation {
	if k.op == nil {
		return nil
	}
	op := *k.op
	op.State, op.Finished = cutroom.OperationDone, k.e.Now()
	if !op.Never {
		return &op
	}
	switch {
	case err == nil:
		op.Run, op.Output = k.reply.Run, k.reply.JSON
	case !k.worked || k.undone:
		op.State = ""
	case err.Code == cutroom.Timeout, err.Code == cutroom.Canceled, err.Code == cutroom.Internal:
		op.State, op.Finished = cutroom.OperationStarted, time.Time{}
	default:
		failure := err.Failure().Error
		op.State, op.Failure = cutroom.OperationFailed, &failure
	}
	return &op
}
