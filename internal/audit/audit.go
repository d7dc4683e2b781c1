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
	"sync/atomic"
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
	// Policy identifies the rules that hold in Space, the workspace's short name: a change
	// of them is a row. "" is not looked at.
	Policy cutroom.Digest
	Space  string
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

	owed    atomic.Int64 // rows that have to last and were appended since the last anchor
	opening sync.Mutex
	db      *sql.DB   // once it is open
	failed  time.Time // when opening failed last
	why     error     // … and why
	broken  error     // why nothing can be added to the chain
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
	db, broken, err := l.look(ctx)
	if err == nil {
		err = broken
	}
	if err == nil {
		err = l.usable()
	}
	return db, err
}

// open opens the database for one who reads: also where nothing can be written.
func (l *Log) open(ctx context.Context) (*sql.DB, error) {
	db, _, err := l.look(ctx)
	return db, err
}

// look opens the database once, and says why nothing can be added to the chain. Both
// are tried again by the next call.
func (l *Log) look(ctx context.Context) (db *sql.DB, broken, err error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	switch {
	case l.db != nil && l.broken == nil:
		return l.db, nil, nil
	case l.db == nil && l.why != nil && l.Now().Sub(l.failed).Abs() < retryAfter:
		return nil, nil, l.why
	}
	if l.db == nil {
		opened, err := l.Open(ctx)
		if err != nil {
			if err = store.Fault(err); ctx.Err() == nil {
				l.failed, l.why = l.Now(), err
			}
			return nil, nil, err
		}
		l.db = opened
	}
	l.broken = store.Fault(l.begin(ctx, l.db))
	return l.db, l.broken, nil
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
		if err := store.Within(ctx, db, func(tx *sql.Tx) error { return start(ctx, tx) }); err != nil {
			return err
		}
	case fits != 1:
		return cutroom.Errorf(cutroom.Precondition, "the audit does not end where its chain ends: somebody changed the database").
			WithHint("`cutroom audit verify` names the rows; put a backup of the database back, or move it and audit.anchors away together")
	}
	if err := l.policy(ctx, db); err != nil {
		return err
	}
	return l.sweep(ctx, db)
}

// policy writes a row when other rules hold than when somebody last looked.
func (l *Log) policy(ctx context.Context, db *sql.DB) error {
	name := "policy " + l.Space
	var was string
	err := db.QueryRowContext(ctx, `select coalesce(max(value), '') from audit_mark where name = $1`, name).Scan(&was)
	if err != nil || l.Policy == "" || was == string(l.Policy) {
		return err
	}
	return l.write(ctx, db, true, func(tx *sql.Tx) (*Anchor, error) {
		res, err := tx.ExecContext(ctx, `insert into audit_mark (name, value) values ($1, $2)
			on conflict (name) do update set value = excluded.value where audit_mark.value <> excluded.value`, name, l.Policy)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return nil, err // another process wrote the row
		}
		detail := "workspace " + l.Space + ": policy " + l.Policy.Short()
		if was != "" {
			detail += " in place of " + cutroom.Digest(was).Short()
		}
		_, a, err := l.append(ctx, tx, cutroom.AuditEvent{
			Type: cutroom.AuditPolicyChanged, Principal: cutroom.Principal{Name: "cutroom"}, Outcome: cutroom.OutcomeOK, Detail: detail,
		}, true)
		return a, err
	})
}
