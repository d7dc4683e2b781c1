package job

import (
	"context"
	"encoding/json"
	"time"

	"cutroom"
)

// live beats this worker's heart until ctx ends. One that is at nothing looks whether
// there is something to do.
func (q *Queue) live(ctx context.Context) {
	tick := time.NewTicker(q.pace.beat / 2)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := q.pulse(ctx, n); err != nil && ctx.Err() == nil {
			q.Log.Warn("heartbeat", "cause", err)
		}
	}
}

// pulse is what the n-th half beat does.
func (q *Queue) pulse(ctx context.Context, n int) error {
	working := len(q.held()) > 0
	switch {
	case n%2 == 1 && working:
		return q.obey(ctx)
	case n%2 == 1:
		return nil
	case n%sweepEvery == 0:
		if err := q.sweep(ctx); err != nil {
			return err
		}
	}
	switch {
	case working:
		return q.beat(ctx)
	case q.Serve:
		return q.look(ctx)
	}
	return q.reap(ctx)
}

// sweepEvery are the half beats between two removals of what is old.
const sweepEvery = 1200

// look begins to take queued jobs when there are some.
func (q *Queue) look(ctx context.Context) error {
	if err := q.reap(ctx); err != nil {
		return err
	}
	var waiting int
	if err := q.db.QueryRowContext(ctx, `select count(*) from job where space = $1 and state = $2 and principal_role <> $3`, q.Space, cutroom.JobQueued, q.passed()).Scan(&waiting); err != nil || waiting == 0 {
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
