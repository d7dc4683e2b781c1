// Package approval keeps what a person allowed: requests for approval, decisions
// under the operator's signature, and standing grants.
//
// It promises that an approval is good for exactly the call that the person saw: the
// same tool, arguments, content of inputs, outputs, programs, principal and policy;
// that it is spent once, by whoever comes first of any number of processes, and never
// after its end; that taking approvals back, one or all, holds at once; and that no
// row of the database allows anything without a signature of the operator's key. It
// knows the nouns and the store, and must never know an engine or a door.
package approval

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Options are the parts a book works with.
type Options struct {
	Open   func(context.Context) (*sql.DB, error) // of the database; called when it is first needed, each time anew
	Folder string                                 // of the signing key and the marks, in the user's state folder
	Life   time.Duration                          // of an approval; 0 is an hour, at most a day
	// Note writes a row of the audit in a transaction that decides something; nil: none.
	Note func(context.Context, *sql.Tx, cutroom.AuditEvent) error
	Log  *slog.Logger     // nil drops it
	Now  func() time.Time // nil is time.Now
}

// Bounds of a life.
const (
	NetworkLife = 15 * time.Minute // longest of an approval for a call that reaches the network
	LongestLife = 24 * time.Hour   // longest of any other
	usualLife   = time.Hour
	waitFor     = 24 * time.Hour      // how long a request waits, and how long a no holds
	keepFor     = 30 * 24 * time.Hour // how long what ended is listed
	slack       = 5 * time.Second     // that clocks of one database may lie apart
	maxPending  = 50                  // requests of one principal in one workspace that may wait
)

// Book is the requests, approvals and grants of this user's installation.
type Book struct {
	Options
	keys  Keys
	marks marks
}

// New returns a book. Nothing is opened before it is needed.
func New(o Options) *Book {
	if o.Life == 0 {
		o.Life = usualLife
	}
	o.Life = min(o.Life, LongestLife)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Book{Options: o, keys: Keys{o.Folder}, marks: marks{filepath.Join(o.Folder, "approval")}}
}

// Keys is the signing key's folder.
func (b *Book) Keys() Keys { return b.keys }

// life is how long an approval of that call may live.
func (b *Book) life(network bool) time.Duration {
	if network {
		return min(b.Life, NetworkLife)
	}
	return b.Life
}

// unlock returns the signing key. It is made only where nothing was ever signed.
func (b *Book) unlock(ctx context.Context, passphrase []byte) (*Signer, error) {
	if err := b.Lost(ctx); err != nil {
		return nil, err
	}
	return b.keys.Unlock(passphrase)
}

// Lost is an error when there is no signing key although the database knows that there
// was one: whoever takes it away does not get one without a passphrase in its place. A
// team's database knows the keys of all its machines, and is not asked: what lies beside
// the key is.
func (b *Book) Lost(ctx context.Context) error {
	if present, _, err := b.keys.Present(); present || err != nil {
		return err
	}
	db, err := b.Open(ctx)
	if err != nil {
		return err
	}
	if store.DialectOf(db) != store.SQLite {
		return nil
	}
	var signed int
	err = db.QueryRowContext(ctx, `select (select count(*) from approval where signed_by <> '' and state = $1) + (select count(*) from automation_grant where revoked = 0)`,
		string(cutroom.ApprovalApproved)).Scan(&signed)
	if err != nil {
		return store.Fault(err)
	}
	if present, _, err := b.keys.Present(); signed > 0 && !present { // another process may have made it just now
		return errorsOf(err, lostKey())
	}
	return nil
}

// verifier returns the key that signatures are checked with, nil when nothing was
// ever signed here.
func (b *Book) verifier() (ed25519.PublicKey, error) {
	key, err := b.keys.Public()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}

// within runs f in one transaction, at a time that never runs backwards.
func (b *Book) within(ctx context.Context, f func(*sql.Tx, time.Time) error) error {
	db, err := b.Open(ctx)
	if err != nil {
		return err
	}
	return store.Fault(store.Within(ctx, db, func(tx *sql.Tx) error {
		// One after another, so that no two see the same moment: PostgreSQL by the lock of
		// this row, SQLite by its one writer.
		if _, err := tx.ExecContext(ctx, `update approval_clock set newest = newest where id = 1`); err != nil {
			return err
		}
		now, err := b.now(ctx, tx)
		if err != nil {
			return err
		}
		return f(tx, now)
	}))
}

// querier is what a transaction and a database have in common.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// now is the time that counts: the clock's, or the newest recorded one where the clock
// lies a little before that. A clock that was set back is refused: what expired would
// live again.
func (b *Book) now(ctx context.Context, q querier) (time.Time, error) {
	now := time.UnixMilli(b.Now().UnixMilli())
	var newest int64
	if err := q.QueryRowContext(ctx, `select newest from approval_clock where id = 1`).Scan(&newest); err != nil {
		return now, err
	}
	last := time.UnixMilli(newest)
	if last.Sub(now) > slack {
		return now, cutroom.Errorf(cutroom.Denied, "the clock was set back: it stands %s before a time that was recorded already", last.Sub(now).Round(time.Second)).
			WithHint("set the clock right; when it was wrong before and is right now, `cutroom approvals passphrase --reset` starts anew")
	}
	if last.After(now) {
		now = last
	}
	return now, nil
}

// note writes down what the operator decided, with the decision or not at all.
func (b *Book) note(ctx context.Context, tx *sql.Tx, e cutroom.AuditEvent) error {
	if b.Note == nil {
		return nil
	}
	e.Outcome = cutroom.OutcomeOK
	return b.Note(ctx, tx, e)
}

// Reset makes a new signing key without a passphrase and lets time start anew: nothing
// that was approved or granted before counts any more.
func (b *Book) Reset(ctx context.Context, who cutroom.Principal) error {
	if who.Role != cutroom.RoleOperator {
		return cutroom.Errorf(cutroom.Denied, "only the operator makes a new key")
	}
	db, err := b.Open(ctx)
	if err != nil {
		return err
	}
	now := b.Now().UnixMilli()
	return store.Fault(store.Within(ctx, db, func(tx *sql.Tx) error {
		for _, step := range []struct {
			query string
			args  []any
		}{
			{`update approval_clock set newest = $1 where id = 1`, []any{now}},
			{
				`update approval set state = $1, ended = $2, signature = '', input = '' where state in ($3, $4)`,
				[]any{string(cutroom.ApprovalRevoked), now, string(cutroom.ApprovalPending), string(cutroom.ApprovalApproved)},
			},
			{`update automation_grant set revoked = $1 where revoked = 0`, []any{now}},
		} {
			if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
				return err
			}
		}
		if err := b.note(ctx, tx, cutroom.AuditEvent{Type: cutroom.AuditKeyRotated, Principal: who, Detail: "key of approvals"}); err != nil {
			return err
		}
		// The key goes first: without it no row that is left counts.
		return errorsOf(b.keys.Reset(), b.marks.lower())
	}))
}

// tick records that it was now.
func tick(ctx context.Context, q querier, now time.Time) error {
	_, err := q.ExecContext(ctx, `update approval_clock set newest = $1 where id = 1 and newest < $1`, now.UnixMilli())
	return err
}

// changed says whether a statement changed exactly one row.
func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}
