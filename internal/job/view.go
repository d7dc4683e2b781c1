package job

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/tool"
)

// For returns the jobs that a principal may see: its own, for an operator all of the
// workspace.
func (q *Queue) For(who cutroom.Principal) tool.Jobs { return &View{q, who} }

// View is the queue as one principal sees it.
type View struct {
	q   *Queue
	who cutroom.Principal
}

// Get returns a job. One that the principal may not see does not exist.
func (v *View) Get(ctx context.Context, id string) (cutroom.Job, error) {
	gone := cutroom.Errorf(cutroom.NotFound, "there is no job %q", id).WithHint("job_list shows the jobs of this workspace")
	if !v.q.Stored() {
		return cutroom.Job{}, gone
	}
	if err := v.q.open(ctx); err != nil {
		return cutroom.Job{}, err
	}
	j, err := v.q.read(ctx, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return cutroom.Job{}, gone
	case err != nil:
		return cutroom.Job{}, store.Fault(err)
	case v.who.Role != cutroom.RoleOperator && j.Principal != v.who:
		return cutroom.Job{}, gone
	}
	return j, nil
}

// Times between two looks at a job that is waited for.
const (
	lookFirst = 50 * time.Millisecond
	lookLast  = 500 * time.Millisecond
)

// Wait returns when the job ended, or after d with its state then.
func (v *View) Wait(ctx context.Context, id string, d time.Duration) (cutroom.Job, error) {
	late := time.NewTimer(d)
	defer late.Stop()
	for look := lookFirst; ; look = min(2*look, lookLast) {
		j, err := v.Get(ctx, id)
		if err != nil || j.State.Final() {
			return j, err
		}
		select {
		case <-ctx.Done():
			return j, ctx.Err()
		case <-late.C:
			return j, nil
		case <-time.After(look):
		}
	}
}

// stopTime is how long a cancel waits for the job to be stopped.
const stopTime = 3 * time.Second

// Cancel stops a job, and returns its state after that. One that ended stays as it is.
func (v *View) Cancel(ctx context.Context, id string) (cutroom.Job, error) {
	j, err := v.Get(ctx, id)
	if err != nil || j.State.Final() {
		return j, err
	}
	// One that waits ends here; one that runs is stopped by whoever is at it.
	if _, err := v.q.db.ExecContext(ctx, `update job set cancel = 1,
		finished = case when state = $1 then $2 else finished end, state = case when state = $1 then $3 else state end, input = case when state = $1 then '' else input end
		where id = $4 and state in ($1, $5)`, cutroom.JobQueued, v.q.ms(), cutroom.JobCanceled, id, cutroom.JobRunning); err != nil {
		return j, store.Fault(err)
	}
	for _, t := range v.q.held() {
		if t.job == id {
			t.cancel(errCanceled)
		}
	}
	return v.Wait(ctx, id, stopTime)
}

// List returns the newest jobs first.
func (v *View) List(ctx context.Context, most int, states ...cutroom.JobState) ([]cutroom.Job, error) {
	if !v.q.Stored() {
		return []cutroom.Job{}, nil
	}
	if err := v.q.open(ctx); err != nil {
		return nil, err
	}
	for _, s := range states {
		if !slices.Contains(cutroom.JobStates, s) {
			return nil, cutroom.Errorf(cutroom.Invalid, "there is no state %q", s)
		}
	}
	jobs, err := v.q.list(ctx, v.who, most, states)
	return jobs, store.Fault(err)
}
