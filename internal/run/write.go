package run

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/store"
)

// Why the work of a writer ends.
var (
	ErrAborted = errors.New("somebody stopped the run")
	ErrLost    = errors.New("another process has the run")
)

// Writer is the one writer of a run, for as long as it holds the lease.
type Writer struct {
	l       *Log
	db      *sql.DB
	id      string
	attempt int64
	Info    Info // as the run stood when it was taken

	appending sync.Mutex // of events, so that those of one batch stand together

	ctx    context.Context // ends with ErrAborted or ErrLost as its cause
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of the heart
	heart  sync.WaitGroup
}

// Take makes this process the writer of a run. It waits until a writer that ended without
// a word is known to be dead; one that lives is a conflict.
func (l *Log) Take(ctx context.Context, id string) (*Writer, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{l: l, db: db, id: id}
	if _, err := l.Believed(ctx, cutroom.Operator, id); err != nil {
		return nil, err
	}
	if err := w.lease(ctx); err != nil {
		return nil, err
	}
	if w.Info, err = l.Believed(ctx, cutroom.Operator, id); err != nil {
		return nil, err
	}
	w.ctx, w.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	w.heart.Go(func() { w.live(beat) })
	return w, nil
}

// holder is who has a lease, and whether it lives.
type holder struct {
	worker        string
	attempt, beat int64
}

func (w *Writer) holder(ctx context.Context) (h holder, err error) {
	err = w.db.QueryRowContext(ctx, `select worker, attempt, beat from run where id = $1`, w.id).Scan(&h.worker, &h.attempt, &h.beat)
	return h, store.Fault(err)
}

// lease takes the lease. What counts of a heart is that it was seen to stand still, by this
// process's own clock, for as long as a dead one's.
func (w *Writer) lease(ctx context.Context) error {
	first, err := w.holder(ctx)
	if err != nil {
		return err
	}
	since, seen := time.Now(), first
	for seen.worker != "" && time.Since(since) < w.l.Pace.Dead {
		select {
		case <-time.After(w.l.Pace.Look):
		case <-ctx.Done():
			return ctx.Err()
		}
		if seen, err = w.holder(ctx); err != nil {
			return err
		}
		if seen.worker != "" && seen != first {
			return held()
		}
	}
	err = w.db.QueryRowContext(ctx, `update run set worker = $1, attempt = attempt + 1, beat = beat + 1
		where id = $2 and worker = $3 and attempt = $4 and beat = $5 returning attempt`,
		w.l.id, w.id, seen.worker, seen.attempt, seen.beat).Scan(&w.attempt)
	if errors.Is(err, sql.ErrNoRows) {
		return held()
	}
	return store.Fault(err)
}

func held() error {
	return cutroom.Errorf(cutroom.Conflict, "another process is at this run").
		WithHint("`cutroom agent events ID --follow` shows what it does, `cutroom agent abort ID` stops it")
}

// live beats until ctx ends, and obeys who asks the run to stop.
func (w *Writer) live(ctx context.Context) {
	tick := time.NewTicker(w.l.Pace.Look)
	defer tick.Stop()
	beat := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.l.wake(cancelOf(w.id)):
		}
		add := int64(0)
		if time.Since(beat) >= w.l.Pace.Beat {
			add, beat = 1, time.Now()
		}
		if err := w.pulse(ctx, add); err != nil && ctx.Err() == nil {
			w.l.Log.Warn("heartbeat of a run", "run", w.id, "cause", err)
		}
	}
}

// pulse looks at the lease, and beats.
func (w *Writer) pulse(ctx context.Context, add int64) error {
	var cancel int64
	text := `select cancel from run where id = $1 and worker = $2 and attempt = $3`
	if add > 0 {
		text = `update run set beat = beat + 1 where id = $1 and worker = $2 and attempt = $3 returning cancel`
	}
	err := w.db.QueryRowContext(ctx, text, w.id, w.l.id, w.attempt).Scan(&cancel)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		w.cancel(ErrLost)
		return nil
	case err == nil && cancel == 1:
		w.cancel(ErrAborted)
	}
	return err
}

// Context is a context that ends with ctx, and with [ErrAborted] or [ErrLost] as its cause
// when the run is stopped or lost.
func (w *Writer) Context(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })
	return inner, func(cause error) { stop(); cancel(cause) }
}

// Abort stops the work of this writer as [Log.Cancel] does.
func (w *Writer) Abort() { w.cancel(ErrAborted) }

// Append stores events, all or none, and only then shows them to followers. A writer that
// lost its lease stores nothing: its error is [ErrLost].
func (w *Writer) Append(ctx context.Context, bodies ...Body) error {
	return w.append(ctx, "", "", bodies)
}

// Turn is [Writer.Append] with a new state of the run. What is asked of the run by
// [Log.Cancel] is done with once it failed.
func (w *Writer) Turn(ctx context.Context, s State, why Reason, bodies ...Body) error {
	return w.append(ctx, s, why, bodies)
}

func (w *Writer) append(ctx context.Context, s State, why Reason, bodies []Body) error {
	w.appending.Lock()
	defer w.appending.Unlock()
	texts := make([]string, len(bodies))
	within := store.Within
	for i, b := range bodies {
		text, err := json.Marshal(b, jsontext.AllowInvalidUTF8(true)) // what is no text is told as �
		if err != nil {
			return err
		}
		texts[i] = string(text)
		if t := b.Type(); t != TextDelta && t != ThinkingDelta {
			within = store.Durable // what was told before the power went is still there
		}
	}
	err := within(ctx, w.db, func(tx *sql.Tx) error {
		if err := w.fence(ctx, tx, s, why); err != nil {
			return err
		}
		return w.insert(ctx, tx, bodies, texts)
	})
	if err == nil {
		w.l.woken(w.id)
	} else if errors.Is(err, ErrLost) {
		w.cancel(ErrLost)
		return ErrLost
	}
	return store.Fault(err)
}

// fence refuses a writer without the lease, and holds the row until the transaction ends.
func (w *Writer) fence(ctx context.Context, tx *sql.Tx, s State, why Reason) error {
	text, args := `update run set beat = beat + 1 where id = $1 and worker = $2 and attempt = $3`, []any{w.id, w.l.id, w.attempt}
	if s != "" {
		finished := w.l.ms()
		if s == Running || s == Waiting {
			finished = 0
		}
		text = `update run set beat = beat + 1, state = $4, reason = $5, finished = $6, started = case when started = 0 then $7 else started end,
			cancel = case when $8 = 1 then 0 else cancel end where id = $1 and worker = $2 and attempt = $3`
		args = append(args, string(s), string(why), finished, w.l.ms(), flag(s == Failed))
	}
	res, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrLost)
	}
	return nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// insert numbers the events within the transaction that stores them.
func (w *Writer) insert(ctx context.Context, tx *sql.Tx, bodies []Body, texts []string) error {
	if len(bodies) == 0 {
		return nil
	}
	var last int64
	if err := tx.QueryRowContext(ctx, `select coalesce(max(seq), 0) from agent_run_event where run_id = $1`, w.id).Scan(&last); err != nil {
		return err
	}
	now := w.l.ms()
	for i, b := range bodies {
		if _, err := tx.ExecContext(ctx, `insert into agent_run_event (run_id, seq, type, at, payload) values ($1, $2, $3, $4, $5)`,
			w.id, last+int64(i)+1, string(b.Type()), now, texts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the lease back. Followers that have seen all events end.
func (w *Writer) Close(ctx context.Context) error {
	w.stop()
	w.heart.Wait()
	w.cancel(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_, err := w.db.ExecContext(ctx, `update run set worker = '' where id = $1 and worker = $2 and attempt = $3`, w.id, w.l.id, w.attempt)
	w.l.woken(w.id)
	w.l.woken(cancelOf(w.id)) // nobody looks at that any more
	return store.Fault(err)
}

// closeTime bounds the last word to the database.
const closeTime = 5 * time.Second
