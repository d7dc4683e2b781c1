package run

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"cutroom/internal/store"
)

// pageSize is how many events are read at once. No transaction is open while somebody
// looks at them.
const pageSize = 500

// Read returns the events of a run from a seq on, in order, at most most of them.
func (l *Log) Read(ctx context.Context, id string, from int64, most int) ([]Event, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `select seq, type, at, payload from agent_run_event where run_id = $1 and seq >= $2 order by seq limit $3`, id, from, most)
	if err != nil {
		return nil, store.Fault(err)
	}
	list, err := store.Collect(rows, func(s interface{ Scan(...any) error }) (Event, error) {
		e := Event{RunID: id}
		var ms int64
		var payload string
		err := s.Scan(&e.Seq, &e.Type, &ms, &payload)
		e.At, e.Payload = time.UnixMilli(ms), []byte(payload)
		return e, err
	})
	return list, store.Fault(err)
}

// All returns the events of a run from a seq on that are stored by now.
func (l *Log) All(ctx context.Context, id string, from int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			page, err := l.Read(ctx, id, from, pageSize)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			from = page[len(page)-1].Seq + 1
		}
	}
}

// followPace is how often a follower looks for what another process wrote.
const followPace = 200 * time.Millisecond

// Follow returns the events of a run from a seq on, first those that are stored, then each
// as it comes, whichever process writes it. It ends when the run was closed: nobody holds
// it, and it is neither about to begin nor cut off. A slow caller is waited for by nobody.
func (l *Log) Follow(ctx context.Context, id string, from int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		next := max(from, 1)
		for {
			wake := l.wake(id)
			closed, err := l.isClosed(ctx, id)
			if err != nil {
				yield(Event{}, err)
				return
			}
			n := 0
			for e, err := range l.All(ctx, id, next) {
				if !yield(e, err) || err != nil {
					return
				}
				next, n = e.Seq+1, n+1
			}
			switch {
			case n > 0:
				continue // more may have come while the caller looked at these
			case closed:
				return
			}
			select {
			case <-wake:
			case <-time.After(followPace):
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// isClosed says that no event will come before somebody opens the run again.
func (l *Log) isClosed(ctx context.Context, id string) (bool, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return false, err
	}
	var worker, state string
	err = db.QueryRowContext(ctx, `select worker, state from run where id = $1 and space = $2`, id, l.Space).Scan(&worker, &state)
	if err == sql.ErrNoRows {
		return false, missing(id)
	}
	return worker == "" && State(state) != Created && State(state) != Running, store.Fault(err)
}
