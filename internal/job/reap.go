package job

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// watch remembers since when something has looked the same, by this process's own
// clock. Clocks on the wall jump, and a machine that slept finds every heart still:
// what counts is for how long this process was awake and saw no beat.
type watch struct {
	seen  map[string]sighting
	round int64
}

type sighting struct {
	look, round int64
	since       time.Time
}

// still says for how long key has looked like this.
func (w *watch) still(key string, look int64) time.Duration {
	s, ok := w.seen[key]
	if !ok || s.look != look {
		s = sighting{look: look, since: time.Now()}
	}
	s.round = w.round
	w.seen[key] = s
	return time.Since(s.since)
}

// next drops what nobody looked at in this round, and begins another.
func (w *watch) next() {
	for key, s := range w.seen {
		if s.round != w.round {
			delete(w.seen, key)
		}
	}
	w.round++
}

// unended is a job that waits or that a worker holds.
type unended struct {
	id, worker      string
	role            cutroom.Role
	state           cutroom.JobState
	attempt, cancel int64
	beat            sql.NullInt64 // of its worker; null when that left
	ticket          bool          // of a job that waits: River has it to hand out
}

// reap takes the jobs of dead workers from them, and makes new tickets for jobs whose
// tickets went down with a process. However many processes do so at once: each change
// finds its job as it was seen, once.
func (q *Queue) reap(ctx context.Context) error {
	jobs, err := q.unended(ctx)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for _, t := range q.held() {
		held[t.job] = true
	}
	defer q.watch.next()
	for _, j := range jobs {
		if held[j.id] {
			continue // obey tells this process what becomes of it
		}
		if !q.abandoned(j) {
			continue
		}
		if err := store.Within(ctx, q.db, func(tx *sql.Tx) error { return q.rescue(ctx, tx, j) }); err != nil {
			return err
		}
	}
	return nil
}

// abandoned says that nobody is at a job, nor will be.
func (q *Queue) abandoned(j unended) bool {
	switch {
	case j.state == cutroom.JobQueued:
		// Without a ticket it is in the hands of a process that is about to claim it.
		return !j.ticket && q.watch.still(j.id, j.attempt) >= q.pace.dead
	case j.worker == q.id:
		// This process just claims it, or could not store its end.
		return q.watch.still(j.id, j.attempt) >= q.pace.dead
	}
	return !j.beat.Valid || q.watch.still(j.worker, j.beat.Int64) >= q.pace.dead
}

// unended reads the jobs of the space that have not ended.
func (q *Queue) unended(ctx context.Context) ([]unended, error) {
	rows, err := q.db.QueryContext(ctx, `select j.id, j.worker, j.principal_role, j.state, j.attempt, j.cancel, w.beat,
			j.state = $1 and j.id in (select r.args ->> 'id' from river_job r where r.queue in ($2, $5) and r.state in ('available', 'retryable', 'scheduled'))
		from job j left join worker w on w.id = j.worker where j.space = $3 and j.state in ($1, $4)`,
		cutroom.JobQueued, q.lane(cutroom.RoleAgent), q.Space, cutroom.JobRunning, q.lane(cutroom.RoleOperator))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []unended
	for rows.Next() {
		var j unended
		if err := rows.Scan(&j.id, &j.worker, &j.role, &j.state, &j.attempt, &j.cancel, &j.beat, &j.ticket); err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, rows.Err()
}

// rescue gives an abandoned job to the next worker, unless it was canceled or has cost
// too many workers their lives.
func (q *Queue) rescue(ctx context.Context, tx *sql.Tx, j unended) error {
	state, finished, failure := cutroom.JobQueued, int64(0), ""
	switch {
	case j.cancel == 1:
		state, finished = cutroom.JobCanceled, q.ms()
	case j.attempt >= attempts:
		state, finished = cutroom.JobFailed, q.ms()
		failure = failureText(cutroom.Errorf(cutroom.ToolFailed, "%d processes ended while they worked on this job", j.attempt).
			WithHint("look at what the file does to the machine; `cutroom doctor` says what works here"))
	}
	// The row is locked before anything is asked: a statement of PostgreSQL sees what was
	// committed when it began, and of two processes that find a job without a ticket the
	// second has to see the one that the first made.
	if _, err := tx.ExecContext(ctx, `update job set attempt = attempt where id = $1`, j.id); err != nil {
		return err
	}
	var id string
	err := tx.QueryRowContext(ctx, `update job set state = $1, worker = '', finished = $2, failure = $3, progress = '', input = case when $1 = $4 then input else '' end, started = case when $1 = $4 then 0 else started end
		where id = $5 and worker = $6 and attempt = $7 and state = $8
			and not (state = $4 and exists (select 1 from river_job r where r.queue in ($9, $11) and r.state in ('available', 'retryable', 'scheduled') and r.args ->> 'id' = job.id))
			and not exists (select 1 from worker w where w.id = job.worker and w.beat <> $10)
		returning id`,
		state, finished, failure, cutroom.JobQueued, j.id, j.worker, j.attempt, j.state, q.lane(cutroom.RoleAgent), j.beat.Int64, q.lane(cutroom.RoleOperator)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // another process was faster, or the worker lives after all
	}
	if err == nil && state == cutroom.JobQueued {
		q.Log.Info("an abandoned job waits again", "job", j.id, "attempt", j.attempt)
		err = q.enqueue(ctx, tx, j.id, j.role)
	}
	return err
}

// sweep removes what nobody asks for any more: jobs that ended long ago, and workers
// that have been silent as long.
func (q *Queue) sweep(ctx context.Context) error {
	old := q.ms() - keepFor.Milliseconds()
	if _, err := q.db.ExecContext(ctx, `delete from worker where beat < $1`, old); err != nil {
		return err
	}
	_, err := q.db.ExecContext(ctx, `delete from job where finished > 0 and finished < $1`, old)
	return err
}

// leave hands back what this process still holds, and takes its worker away.
func (q *Queue) leave(ctx context.Context) error {
	return store.Within(ctx, q.db, func(tx *sql.Tx) error {
		for _, t := range q.held() {
			if _, err := q.handBack(ctx, tx, t); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `delete from worker where id = $1`, q.id)
		return err
	})
}
