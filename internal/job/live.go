package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// live beats this worker's heart until ctx ends. One that is at nothing looks now and
// then whether there is something to do.
func (q *Queue) live(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := error(nil)
		switch {
		case q.working():
			err = q.beat(ctx)
		case n%idleBeats == 0 && q.Serve:
			err = q.look(ctx)
		}
		if err != nil && ctx.Err() == nil {
			q.Log.Warn("heartbeat", "cause", err)
		}
	}
}

const idleBeats = 5

// working says whether others have to know that this worker lives.
func (q *Queue) working() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started || len(q.tasks) > 0
}

// look begins to take queued jobs when there are some.
func (q *Queue) look(ctx context.Context) error {
	if err := q.reap(ctx); err != nil {
		return err
	}
	var waiting int
	if err := q.db.QueryRowContext(ctx, `select count(*) from job where space = $1 and state = $2`, q.Space, cutroom.JobQueued).Scan(&waiting); err != nil || waiting == 0 {
		return err
	}
	return q.take(ctx)
}

// beat says that this worker lives, stores how far its jobs are, obeys cancels, gives
// up what it lost, and takes the jobs of the dead from them.
func (q *Queue) beat(ctx context.Context) error {
	if err := q.alive(ctx); err != nil {
		return err
	}
	for _, t := range q.held() {
		if err := q.tell(ctx, t); err != nil {
			return err
		}
	}
	if err := q.obey(ctx); err != nil {
		return err
	}
	return q.reap(ctx)
}

func (q *Queue) alive(ctx context.Context) error {
	_, err := q.db.ExecContext(ctx, `insert into worker (id, space, beat) values ($1, $2, $3)
		on conflict (id) do update set beat = excluded.beat`, q.id, q.Space, q.ms())
	return err
}

// tell stores the progress of a job that this process is at.
func (q *Queue) tell(ctx context.Context, t *task) error {
	t.mu.Lock()
	p, told := t.progress, t.told
	t.told = true
	t.mu.Unlock()
	if told {
		return nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = q.db.ExecContext(ctx, `update job set progress = $1 where id = $2 and worker = $3 and attempt = $4 and state = $5`,
		string(text), t.job, q.id, t.attempt, cutroom.JobRunning)
	return err
}

// obey stops jobs that somebody canceled, and those that are another's by now: this
// process was stopped for so long that it was taken for dead.
func (q *Queue) obey(ctx context.Context) error {
	held := q.held()
	if len(held) == 0 {
		return nil
	}
	type lease struct{ attempt, cancel int64 }
	mine := map[string]lease{}
	rows, err := q.db.QueryContext(ctx, `select id, attempt, cancel from job where worker = $1 and state = $2`, q.id, cutroom.JobRunning)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var l lease
		if err := rows.Scan(&id, &l.attempt, &l.cancel); err != nil {
			return err
		}
		mine[id] = l
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, t := range held {
		switch l, ok := mine[t.job]; {
		case !ok || l.attempt != t.attempt:
			t.cancel(errLost)
		case l.cancel == 1:
			t.cancel(errCanceled)
		}
	}
	return nil
}

// reap takes the jobs of dead workers: each goes back to the queue, unless it was
// canceled, or has cost too many workers their lives. However many processes do so
// at once, the update finds a job in its dead worker's hands once only.
func (q *Queue) reap(ctx context.Context) error {
	dead, err := q.dead(ctx)
	if err != nil {
		return err
	}
	for _, j := range dead {
		err := q.within(ctx, func(tx *sql.Tx) error {
			state, finished, failure := cutroom.JobQueued, int64(0), ""
			switch {
			case j.cancel == 1:
				state, finished = cutroom.JobCanceled, q.ms()
			case j.attempt >= attempts:
				state, finished = cutroom.JobFailed, q.ms()
				failure = failureText(cutroom.Errorf(cutroom.ToolFailed, "%d processes ended while they worked on this job", j.attempt).
					WithHint("look at what the file does to the machine; `cutroom doctor` says what works here"))
			}
			var id string
			err := tx.QueryRowContext(ctx, `update job set state = $1, worker = '', finished = $2, failure = $3, progress = ''
				where id = $4 and worker = $5 and attempt = $6 and state = $7 returning id`,
				state, finished, failure, j.id, j.worker, j.attempt, cutroom.JobRunning).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return nil // another process was faster
			}
			if err == nil && state == cutroom.JobQueued {
				q.Log.Info("a job is taken from a dead worker", "job", j.id, "attempt", j.attempt)
				err = q.enqueue(ctx, tx, j.id)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return q.sweep(ctx)
}

// orphan is a job in the hands of a worker that does not live.
type orphan struct {
	id, worker      string
	attempt, cancel int64
}

func (q *Queue) dead(ctx context.Context) ([]orphan, error) {
	rows, err := q.db.QueryContext(ctx, `select j.id, j.worker, j.attempt, j.cancel from job j left join worker w on w.id = j.worker
		where j.space = $1 and j.state = $2 and j.worker <> $3 and (w.beat is null or w.beat < $4)`,
		q.Space, cutroom.JobRunning, q.id, q.ms()-deadAfter.Milliseconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []orphan
	for rows.Next() {
		var o orphan
		if err := rows.Scan(&o.id, &o.worker, &o.attempt, &o.cancel); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, rows.Err()
}

// sweep removes what nobody asks for any more: jobs that ended long ago, and workers
// that have been dead as long.
func (q *Queue) sweep(ctx context.Context) error {
	old := q.ms() - keepFor.Milliseconds()
	if _, err := q.db.ExecContext(ctx, `delete from worker where beat < $1`, old); err != nil {
		return err
	}
	_, err := q.db.ExecContext(ctx, `delete from job where finished > 0 and finished < $1`, old)
	return err
}

// For returns the jobs that a principal may see: an agent those of agents, an operator
// all of the workspace.
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
		return cutroom.Job{}, err
	case v.who.Role != cutroom.RoleOperator && j.Principal.Role != v.who.Role:
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
		finished = case when state = $1 then $2 else finished end, state = case when state = $1 then $3 else state end
		where id = $4 and state in ($1, $5)`, cutroom.JobQueued, v.q.ms(), cutroom.JobCanceled, id, cutroom.JobRunning); err != nil {
		return j, err
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
	return v.q.list(ctx, v.who, most, states)
}
