package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Append writes one row in a transaction of the caller's, whose own changes stand or
// fall with it. It returns the event as it was written. One that has to last is anchored
// by the next row, or by [Log.Anchor].
func (l *Log) Append(ctx context.Context, tx *sql.Tx, e cutroom.AuditEvent) (cutroom.AuditEvent, error) {
	written, _, err := l.append(ctx, tx, e, false)
	if err == nil && lasting(e) {
		l.owed.Add(1)
	}
	return written, err
}

// Anchor puts the end of the chain into the file, where a row that has to last was
// appended and is not anchored yet. Once it returns, such rows outlast a loss of power.
func (l *Log) Anchor(ctx context.Context) error {
	if l.owed.Load() == 0 || l.Anchors == "" {
		return nil
	}
	db, err := l.writable(ctx)
	if err != nil {
		return err
	}
	return l.write(ctx, db, true, func(tx *sql.Tx) (*Anchor, error) {
		var chain, hash string
		var seq, last int64
		err := tx.QueryRowContext(ctx, `update audit_head set seq = seq where id = 1 returning chain, seq, hash, anchored`).Scan(&chain, &seq, &hash, &last)
		if err != nil || seq == last {
			return nil, err
		}
		a, err := l.anchor(ctx, tx, chain, seq, hash)
		if err == nil {
			_, err = tx.ExecContext(ctx, `update audit_head set anchored = $1, anchored_at = $2 where id = 1`, a.Seq, a.At)
		}
		return a, err
	})
}

// append writes one row; the anchor that is returned is due, or nil.
func (l *Log) append(ctx context.Context, tx *sql.Tx, e cutroom.AuditEvent, anchored bool) (cutroom.AuditEvent, *Anchor, error) {
	r := l.rowOf(e)
	var chain, before string
	var last, when int64
	// The head's row is what writers of all processes wait for.
	take := func() error {
		return tx.QueryRowContext(ctx, `update audit_head set seq = seq + 1 where id = 1 returning chain, seq, hash, anchored, anchored_at`).
			Scan(&chain, &r.Seq, &before, &last, &when)
	}
	err := take()
	if errors.Is(err, sql.ErrNoRows) { // the first row of all
		if err = start(ctx, tx); err == nil {
			err = take()
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return e, nil, cutroom.Errorf(cutroom.Precondition, "the end of the audit's chain is gone from the database").
			WithHint("`cutroom audit verify` says what is left; put a backup of the database back, or move it and audit.anchors away together")
	}
	if err != nil {
		return e, nil, fmt.Errorf("take a place in the audit: %w", err)
	}
	text, err := r.canonical()
	if err != nil {
		return e, nil, err
	}
	hash := link(before, text)
	if _, err := tx.ExecContext(ctx, `insert into audit_event (`+columns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`, append(r.fields(), hash)...); err != nil {
		return e, nil, fmt.Errorf("write a row of the audit: %w", err)
	}
	var a *Anchor
	if l.Anchors != "" && (anchored || r.Seq-last >= anchorRows || l.ms()-when >= anchorAge.Milliseconds()) {
		if a, err = l.anchor(ctx, tx, chain, r.Seq, hash); err != nil {
			return e, nil, err
		}
		last, when = a.Seq, a.At
	}
	if _, err := tx.ExecContext(ctx, `update audit_head set hash = $1, anchored = $2, anchored_at = $3 where id = 1`, hash, last, when); err != nil {
		return e, nil, err
	}
	written := r.event(hash)
	if l.Beside != nil {
		err = l.Beside(ctx, tx, written)
	}
	return written, a, err
}

// anchor is that of a row, behind the newest that is known here.
func (l *Log) anchor(ctx context.Context, tx *sql.Tx, chain string, seq int64, hash string) (*Anchor, error) {
	known, err := l.anchoredHere(ctx, tx)
	if err != nil {
		return nil, err
	}
	a := &Anchor{After: max(known, l.tail(chain)), At: l.ms(), Chain: chain, Seq: seq, Hash: hash}
	a.MAC = l.mac(*a)
	return a, nil
}

// start makes the head of a chain that has no rows yet.
func start(ctx context.Context, tx *sql.Tx) error {
	chain := NewID()
	_, err := tx.ExecContext(ctx, `insert into audit_head (id, chain, seq, hash, anchored, anchored_at) select 1, $1, 0, $2, 0, 0
		where not exists (select 1 from audit_event) on conflict (id) do nothing`, chain, genesis(chain))
	return err
}

// Record writes a row, and with it what became of the operation that the call was,
// when it was one. Both are written or neither.
func (l *Log) Record(ctx context.Context, e cutroom.AuditEvent, op *cutroom.Operation) error {
	db, err := l.writable(ctx)
	if err != nil {
		return err
	}
	return l.write(ctx, db, lasting(e), func(tx *sql.Tx) (*Anchor, error) {
		if op != nil {
			if err := finish(ctx, tx, *op); err != nil {
				return nil, err
			}
		}
		_, a, err := l.append(ctx, tx, e, lasting(e) || l.owed.Load() > 0)
		return a, err
	})
}

// write runs f in one transaction and keeps the anchor that it made: after it is
// certain that its row outlasts a loss of power.
func (l *Log) write(ctx context.Context, db *sql.DB, lasting bool, f func(*sql.Tx) (*Anchor, error)) error {
	within := store.Within
	if lasting {
		within = store.Durable
	}
	var a *Anchor
	owed := l.owed.Load()
	err := within(ctx, db, func(tx *sql.Tx) error {
		var err error
		a, err = f(tx)
		return err
	})
	if err != nil {
		return store.Fault(err)
	}
	if a != nil && !lasting {
		err = store.Durable(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `update audit_head set anchored_at = anchored_at where id = 1`)
			return err
		})
	}
	if a != nil && err == nil {
		err = l.keep(*a)
	}
	if a != nil && err == nil {
		// Only what is in the file is remembered: a process that is killed before that
		// leaves nothing that would be missed.
		err = store.Within(ctx, db, func(tx *sql.Tx) error { return l.remember(ctx, tx, a.Seq) })
	}
	if a != nil && err == nil {
		l.owed.CompareAndSwap(owed, 0) // one that was appended meanwhile is owed still
	}
	if err != nil {
		l.Log.Warn("the audit could not be anchored", "cause", err)
	}
	return nil
}

// lasting says that a row has to outlast a loss of power: what changed something, and
// what a person decided. A look at something is worth no wait for the disk.
func lasting(e cutroom.AuditEvent) bool {
	return e.Type != cutroom.AuditInvoke || e.Outcome == cutroom.OutcomeOK && e.Kind != cutroom.Read && e.Kind != cutroom.Preview
}

func (l *Log) ms() int64 { return l.Now().UnixMilli() }

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
