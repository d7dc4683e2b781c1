package agent

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/run"
)

// Run is a run of an agent. Its methods may be called by many goroutines; one works it at
// a time.
type Run struct {
	r  *Runtime
	id string

	working sync.Mutex // held while the run is worked
	mu      sync.Mutex
	w       *run.Writer // nil until it is worked; kept until it is closed
	closed  bool
}

// Outcome is how a run stands after it was worked.
type Outcome struct {
	State     run.State              `json:"state"`
	Reason    run.Reason             `json:"reason,omitzero"` // of one that failed
	Text      string                 `json:"text,omitzero"`   // the model's last word
	Usage     run.Usage              `json:"usage"`           // of this run
	Spent     run.Amounts            `json:"spent"`           // with the runs that it delegated to
	Error     *cutroom.FailureDetail `json:"error,omitzero"`  // of one that failed
	Approvals []string               `json:"approvals,omitempty"`
}

// ID is the run's name.
func (x *Run) ID() string { return x.id }

// Info is the run as it stands.
func (x *Run) Info(ctx context.Context) (run.Info, error) {
	return x.r.Log.Get(ctx, cutroom.Operator, x.id)
}

// Events returns the events from a seq on, first those that are stored, then each as it
// comes. They end after the run was closed.
func (x *Run) Events(ctx context.Context, from int64) iter.Seq2[run.Event, error] {
	return x.r.Log.Follow(ctx, x.id, from)
}

// Prompt begins a round and works it until the model is done, a budget is spent, a person
// has to decide, or the run is stopped. The first round begins with the goal; "" says so,
// and later that the plan is accepted, or to go on. When ctx ends the round is left as it
// is: it can be resumed. What becomes of the run is the outcome; an error says that it could
// not be worked.
func (x *Run) Prompt(ctx context.Context, text string) (Outcome, error) {
	return x.work(ctx, text, false)
}

// Resume goes on with a round that was not finished: its process ended, a person had to
// decide, or it failed.
func (x *Run) Resume(ctx context.Context) (Outcome, error) { return x.work(ctx, "", true) }

// PendingOperations is how many operations of the run were begun and not finished: a turn
// of the model, calls of tools. Not 0 says that it has to be resumed, not prompted.
func (x *Run) PendingOperations(ctx context.Context) (int, error) {
	h, err := x.r.history(ctx, x.id)
	if err != nil {
		return 0, err
	}
	return h.pending(), nil
}

// Close gives the run back; its followers end when they have seen all. A run that is being
// worked is closed when that ended.
func (x *Run) Close(ctx context.Context) error {
	x.working.Lock()
	defer x.working.Unlock()
	x.mu.Lock()
	w := x.w
	x.w, x.closed = nil, true
	x.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.Close(ctx)
}

// hold makes this process the run's writer, once.
func (x *Run) hold(ctx context.Context) (*run.Writer, error) {
	x.mu.Lock()
	w, closed := x.w, x.closed
	x.mu.Unlock()
	switch {
	case closed:
		return nil, cutroom.Errorf(cutroom.Precondition, "the run was closed").WithHint("open it again")
	case w != nil:
		return w, nil
	}
	w, err := x.r.Log.Take(ctx, x.id)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.w = w
	return w, nil
}

// Abort stops the run, whichever process is at it, and kills what its calls started. It
// returns when the run has ended, with those that it delegated to; one that has ended before
// stays as it is.
func (x *Run) Abort(ctx context.Context) error {
	if err := x.abort(ctx); err != nil {
		return err
	}
	children, err := x.r.Log.Children(ctx, x.id)
	for _, c := range children {
		if c.State == run.Completed || c.State == run.Failed {
			continue
		}
		child := &Run{r: x.r, id: c.ID}
		err = errors.Join(err, child.Abort(ctx), child.Close(ctx))
	}
	return err
}

func (x *Run) abort(ctx context.Context) error {
	x.mu.Lock()
	w := x.w
	x.mu.Unlock()
	if w != nil && !x.working.TryLock() {
		w.Abort()
		x.working.Lock() // until what was at work is written down
		defer x.working.Unlock()
		return x.abortIdle(ctx, w)
	} else if w != nil {
		defer x.working.Unlock()
		return x.abortIdle(ctx, w)
	}
	running, err := x.r.Log.Cancel(ctx, cutroom.Operator, x.id)
	for err == nil && running {
		ended, err := x.awaitEnd(ctx)
		if err != nil || ended {
			return err
		}
		// Whoever is at it has not obeyed: it is dead, or about to.
		if err = x.abortDead(ctx); err == nil || cutroom.AsError(err).Code != cutroom.Conflict {
			return err
		}
	}
	if err != nil {
		return err
	}
	return x.abortDead(ctx)
}

// abortDead ends a run that no process is at.
func (x *Run) abortDead(ctx context.Context) error {
	if !x.working.TryLock() {
		return nil // it was begun here meanwhile, and sees that it is canceled
	}
	defer x.working.Unlock()
	if info, err := x.Info(ctx); err != nil || info.State == run.Completed || info.State == run.Failed {
		return err
	}
	w, err := x.hold(ctx)
	if err != nil {
		return err
	}
	return x.abortIdle(ctx, w)
}

// abortIdle ends a run that nobody is at.
func (x *Run) abortIdle(ctx context.Context, w *run.Writer) error {
	info, err := x.Info(ctx)
	if err != nil || info.State == run.Completed || info.State == run.Failed {
		return err
	}
	h, err := x.r.history(ctx, x.id)
	if err != nil {
		return err
	}
	info.Spent.Time = cutroom.Micros(h.active.Microseconds()) // that nobody was at it is no work
	return w.Turn(ctx, run.Failed, run.Aborted, append(h.canceled(), run.Broken{
		Reason: run.Aborted, Code: cutroom.Canceled, Message: "the run was stopped", Usage: h.usage, Spent: info.Spent,
	})...)
}

// awaitEnd waits until the process that is at the run has ended it; not ended says that it
// seems to be dead.
func (x *Run) awaitEnd(ctx context.Context) (ended bool, err error) {
	limit := time.Now().Add(x.r.Log.Pace.Dead)
	for {
		info, err := x.Info(ctx)
		if err != nil || info.State != run.Running {
			return true, err
		}
		if time.Now().After(limit) {
			return false, nil
		}
		select {
		case <-time.After(x.r.Log.Pace.Look / 2):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// work takes the run and works one round of it.
func (x *Run) work(ctx context.Context, text string, resume bool) (Outcome, error) {
	x.working.Lock()
	defer x.working.Unlock()
	w, err := x.hold(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return x.r.work(ctx, w, nil, text, resume)
}

// work works one round of a run that this process holds. by is the session that delegated
// it, nil for none.
func (r *Runtime) work(ctx context.Context, w *run.Writer, by *session, text string, resume bool) (Outcome, error) {
	s, err := r.session(ctx, w, by)
	if err != nil {
		return Outcome{}, err
	}
	defer s.end()
	if err := s.begin(text, resume); err != nil {
		return Outcome{}, err
	}
	out, err := s.loop()
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, run.ErrLost):
		return Outcome{}, cutroom.Errorf(cutroom.Conflict, "another process took the run over").WithHint("`cutroom agent events ID --follow` shows what it does")
	}
	return Outcome{}, err
}
