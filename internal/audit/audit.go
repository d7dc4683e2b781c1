// Package audit writes down what was done and what was refused, and remembers what
// must not be done twice.
//
// It promises that the rows of all processes form one chain in which any change, gap
// or cut is found; that a row, what the ledger says of its call and what belongs
// beside it are written together or not at all; and that an operation which may not
// be done twice is in the ledger before it is done. Anchors, which lie outside of the
// database, hold the end of the chain: they show that a tail was cut off.
//
// It knows the nouns and the database, and must never know an engine, a tool or a
// door.
package audit

import (
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Options are the parts a log works with.
type Options struct {
	// Open returns the database, migrated: a handle that is not the log's to close. It is
	// called when it is first needed, and again after it failed.
	Open func(context.Context) (*sql.DB, error)
	// Anchors is the file of anchors, in the user's state folder; "" keeps none.
	Anchors string
	// Key marks anchors as this installation's; it lies outside of the database.
	Key []byte
	// Redact takes secrets out of a text before it is written; nil leaves it.
	Redact func(string) string
	// Beside, when set, writes what belongs beside a row in the row's own transaction.
	Beside func(context.Context, *sql.Tx, cutroom.AuditEvent) error
	Log    *slog.Logger
	Now    func() time.Time
}

// Log is one process's way to the audit and the ledger. Nothing is opened before it is
// needed.
type Log struct {
	Options

	opening sync.Mutex
	db      *sql.DB
	failed  time.Time // when opening failed last
	why     error
	broken  error // why nothing can be added to the chain
}

// New returns a log that has done nothing yet.
func New(o Options) *Log {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{Options: o}
}

// NewID is a name for a call or a chain: unguessable, fit for an address.
func NewID() string { return strings.ToLower(rand.Text()[:20]) }

// retryAfter is how long a database that could not be opened is left alone: every call
// asks for it.
const retryAfter = time.Second

// Ready opens the database when it is not open yet. Its error says why nothing can be
// written down, and what helps.
func (l *Log) Ready(ctx context.Context) error {
	_, err := l.writable(ctx)
	return err
}

// writable opens the database for one who is going to write.
func (l *Log) writable(ctx context.Context) (*sql.DB, error) {
	db, err := l.open(ctx)
	if err == nil {
		err = l.broken
	}
	return db, err
}

func (l *Log) open(ctx context.Context) (*sql.DB, error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	switch {
	case l.db != nil:
		return l.db, nil
	case l.why != nil && l.Now().Sub(l.failed) < retryAfter:
		return nil, l.why
	}
	db, err := l.Open(ctx)
	if err == nil {
		err = l.begin(ctx, db)
	}
	if err != nil {
		l.failed, l.why = l.Now(), store.Fault(err)
		return nil, l.why
	}
	l.db, l.why = db, nil
	return db, nil
}

// begin makes the head of the chain where there is none, looks whether the chain ends
// where it should, and writes down what was cut off.
func (l *Log) begin(ctx context.Context, db *sql.DB) error {
	var heads, fits, rows int64
	// One statement, so that a writer beside us is seen whole or not at all.
	const look = `select (select count(*) from audit_head),
		(select count(*) from audit_head h where h.seq = (select coalesce(max(seq), 0) from audit_event)
			and (h.seq = 0 or h.hash = (select e.hash from audit_event e where e.seq = h.seq))),
		(select count(*) from (select 1 from audit_event limit 1) some_row)`
	if err := db.QueryRowContext(ctx, look).Scan(&heads, &fits, &rows); err != nil {
		return err
	}
	switch {
	case heads == 0 && rows == 0:
		chain := NewID()
		if _, err := db.ExecContext(ctx, `insert into audit_head (id, chain, seq, hash, anchored, anchored_at) values (1, $1, 0, $2, 0, 0)
			on conflict (id) do nothing`, chain, genesis(chain)); err != nil {
			return err
		}
	case fits != 1:
		l.broken = cutroom.Errorf(cutroom.Precondition, "the audit does not end where its chain ends: somebody changed the database").
			WithHint("`cutroom audit verify` names the rows; put a backup of the database back, or move it and audit.anchors away together")
		return nil
	}
	return l.sweep(ctx, db)
}
