package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/store"
)

func (q *Queue) ms() int64 { return q.Now().UnixMilli() }

// enqueue makes a ticket for a job that waits.
func (q *Queue) enqueue(ctx context.Context, tx *sql.Tx, id string, role cutroom.Role) error {
	_, err := q.river.InsertTx(ctx, tx, ticket{ID: id}, &river.InsertOpts{Queue: q.lane(role), MaxAttempts: maxTickets})
	return err
}

// insert stores a call as a job: one that waits, or one that this process is at.
func (q *Queue) insert(ctx context.Context, id string, c engine.Call, state cutroom.JobState, begun time.Time) error {
	return store.Within(ctx, q.db, func(tx *sql.Tx) error {
		s := stored{id: id, call: c, created: q.ms()}
		worker, attempt, started := "", 0, int64(0)
		if state == cutroom.JobRunning {
			worker, attempt, started = q.id, 1, begun.UnixMilli()
		}
		_, err := tx.ExecContext(ctx, `insert into job (id, space, tool, input, principal_name, principal_role, timeout_ms, state, worker, attempt, created, started, mac)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			id, q.Space, c.Tool, string(c.Input), c.Principal.Name, c.Principal.Role, c.Timeout.Milliseconds(), state, worker, attempt, s.created, started, q.seal(s))
		if err == nil && state == cutroom.JobQueued {
			err = q.enqueue(ctx, tx, id, c.Principal.Role)
		}
		return err
	})
}

// Submit stores a call for any worker of the workspace.
func (q *Queue) Submit(ctx context.Context, c engine.Call) (cutroom.Job, error) {
	if err := q.open(ctx); err != nil {
		return cutroom.Job{}, err
	}
	id := newID()
	if err := q.insert(ctx, id, c, cutroom.JobQueued, time.Time{}); err != nil {
		return cutroom.Job{}, store.Fault(err)
	}
	j, err := q.read(ctx, id)
	return j, store.Fault(err)
}

// claim takes a job that waits; nil when it does not.
func (q *Queue) claim(ctx context.Context, id string) (*task, error) {
	if err := q.alive(ctx); err != nil { // others watch the worker of the job from now on
		return nil, err
	}
	got, attempt, err := q.claimed(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil && got == nil {
		q.count(cutroom.JobFailed)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := newTask(ctx, got.call)
	t.job, t.attempt = id, attempt
	q.hold(t)
	return t, nil
}

// finish stores the end of a job, if this worker still holds it. What it was called with
// may hold secrets, and nobody needs it any more. Handed back, it waits
// for the next worker.
func (q *Queue) finish(ctx context.Context, t *task) error {
	o := t.outcome()
	lost := false
	err := store.Within(ctx, q.db, func(tx *sql.Tx) error {
		if o.state == cutroom.JobQueued {
			state, err := q.handBack(ctx, tx, t)
			o.state, lost = state, state == ""
			return err
		}
		res, err := tx.ExecContext(ctx, `update job set state = $1, run = $2, output = $3, failure = $4, finished = $5, progress = '', input = ''
			where id = $6 and worker = $7 and attempt = $8 and state = $9`,
			o.state, o.run, o.output, o.failure, q.ms(), t.job, q.id, t.attempt, cutroom.JobRunning)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		lost = n == 0
		return err
	})
	switch {
	case err != nil:
		return err
	case lost:
		q.Log.Warn("a job was lost to another worker", "job", t.job)
	default:
		q.count(o.state)
	}
	return nil
}

// handBack makes a job of this process wait for the next worker, if it still holds it.
// The attempt does not count. One that somebody canceled meanwhile ends. The state is
// empty when another has the job.
func (q *Queue) handBack(ctx context.Context, tx *sql.Tx, t *task) (state cutroom.JobState, err error) {
	err = tx.QueryRowContext(ctx, `update job set state = case when cancel = 1 then $1 else $2 end, finished = case when cancel = 1 then cast($3 as bigint) else 0 end,
			worker = '', attempt = attempt - 1, started = case when cancel = 1 then started else 0 end, progress = '', input = case when cancel = 1 then '' else input end
			where id = $4 and worker = $5 and attempt = $6 and state = $7 returning state`,
		cutroom.JobCanceled, cutroom.JobQueued, q.ms(), t.job, q.id, t.attempt, cutroom.JobRunning).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err == nil && state == cutroom.JobQueued {
		err = q.enqueue(ctx, tx, t.job, t.call.Principal.Role)
	}
	return state, err
}

const columns = `id, tool, principal_name, principal_role, state, attempt, created, started, finished, progress, run, failure`

func (q *Queue) read(ctx context.Context, id string) (cutroom.Job, error) {
	row := q.db.QueryRowContext(ctx, `select `+columns+` from job where id = $1 and space = $2`, id, q.Space)
	return scan(row.Scan)
}

// scan reads a row of columns.
func scan(into func(...any) error) (cutroom.Job, error) {
	var j cutroom.Job
	var created, started, finished int64
	var progress, failure string
	err := into(&j.ID, &j.Tool, &j.Principal.Name, &j.Principal.Role, &j.State, &j.Attempt, &created, &started, &finished, &progress, &j.Run, &failure)
	if err != nil {
		return j, err
	}
	j.Created, j.Started, j.Finished = at(created), at(started), at(finished)
	if progress != "" && j.State == cutroom.JobRunning {
		j.Progress = new(cutroom.Progress)
		if err := json.Unmarshal([]byte(progress), j.Progress); err != nil {
			return j, err
		}
	}
	if failure != "" {
		j.Error = new(cutroom.FailureDetail)
		if err := json.Unmarshal([]byte(failure), j.Error); err != nil {
			return j, err
		}
	}
	return j, nil
}

// at is a stored time; zero means none.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// list reads the newest jobs, of one role or of all.
func (q *Queue) list(ctx context.Context, who cutroom.Principal, most int, states []cutroom.JobState) ([]cutroom.Job, error) {
	args := []any{q.Space, most}
	where := `space = $1`
	if who.Role != cutroom.RoleOperator {
		args = append(args, who.Role, who.Name)
		where += fmt.Sprintf(` and principal_role = $%d and principal_name = $%d`, len(args)-1, len(args))
	}
	if len(states) > 0 {
		var marks []string
		for _, s := range states {
			args = append(args, s)
			marks = append(marks, fmt.Sprintf("$%d", len(args)))
		}
		where += ` and state in (` + strings.Join(marks, ", ") + `)`
	}
	rows, err := q.db.QueryContext(ctx, `select `+columns+` from job where `+where+` order by created desc, id limit $2`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	jobs := []cutroom.Job{}
	for rows.Next() {
		j, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}
