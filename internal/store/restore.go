package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"cutroom"
)

// Restore puts what a backup holds into the database at place, which is made or
// migrated first; more are its other migrations. A database that holds anything is
// refused unless overwrite is set; then what it held is gone.
//
// The backup is first built up apart from the database, as one of its own version, and
// migrated from there. So whatever is wrong with it is found before anything changes,
// and the change is one transaction: whoever looks sees the old content or the new.
func Restore(ctx context.Context, place string, r io.Reader, overwrite bool, more ...Migration) (Content, error) {
	// A database without a name lies in memory and, where that is too little, in a file
	// that nobody sees: a killed process leaves nothing of it.
	built, err := connect("")
	if err != nil {
		return Content{}, err
	}
	defer built.Close()
	c, err := build(ctx, built, r)
	if err != nil {
		return c, err
	}
	db, err := Open(ctx, place, more...)
	if err != nil {
		return c, err
	}
	return c, Fault(errors.Join(replace(ctx, db, built, overwrite), db.Close()))
}

// build makes a database of a backup and migrates it to our version.
func build(ctx context.Context, db *sql.DB, r io.Reader) (Content, error) {
	b := newBackupReader(r)
	h, err := b.head()
	if err != nil {
		return Content{}, err
	}
	c := Content{From: h.From, Schema: h.Schema, Made: time.UnixMilli(h.Made)}
	if err := raise(ctx, db, h.Schema); err != nil {
		return c, err
	}
	if err := Within(ctx, db, func(tx *sql.Tx) error {
		c.Tables, err = b.fill(ctx, tx)
		return err
	}); err != nil {
		return c, err
	}
	newest, err := newestSchema()
	if err != nil {
		return c, err
	}
	if err := raise(ctx, db, newest); err != nil {
		return c, cutroom.Errorf(cutroom.Invalid, "what the backup holds cannot be brought to this version").WithCause(err).
			WithHint("use another backup")
	}
	return c, nil
}

// fill reads the tables of a backup into a database of its version.
func (b *backupReader) fill(ctx context.Context, tx *sql.Tx) ([]TableRows, error) {
	tables, err := tablesOf(ctx, tx)
	if err == nil {
		err = wipe(ctx, tx, tables)
	}
	if err != nil {
		return nil, err
	}
	fill := filler{q: tx}
	return b.read(tables, func(t table) error {
		err := fill.flush(ctx)
		fill.t = t
		return b.refused(err)
	}, func(row []any) error { return b.refused(fill.add(ctx, row)) })
}

// refused is an error about rows that the tables do not take.
func (b *backupReader) refused(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := b.broken("a row up to here is not as its table asks")
	return errors.Join(e, err)
}

// replace makes the content of db that of built, in one transaction.
func replace(ctx context.Context, db, built *sql.DB, overwrite bool) error {
	newest, err := newestSchema()
	if err != nil {
		return err
	}
	tables, own, err := tablesAt(ctx, newest)
	if err != nil {
		return err
	}
	return Within(ctx, db, func(tx *sql.Tx) error {
		if err := exclude(ctx, DialectOf(db), tx, tables); err != nil {
			return err
		}
		have, err := count(ctx, tx, tables)
		if err != nil {
			return err
		}
		for name, n := range have {
			if n > own[name] && !overwrite {
				return cutroom.Errorf(cutroom.Precondition, "the database is not empty: %d rows in %s", n, name).
					WithHint("`cutroom db backup FILE` keeps what it holds; then repeat the command with --overwrite")
			}
		}
		if err := wipe(ctx, tx, tables); err != nil {
			return err
		}
		for _, t := range tables {
			fill := filler{q: tx, t: t}
			if err := t.each(ctx, built, func(row []any) error { return fill.add(ctx, row) }); err != nil {
				return err
			}
			if err := fill.flush(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// exclude keeps other writers out until the transaction ends. Those of SQLite are out
// already.
func exclude(ctx context.Context, d Dialect, tx *sql.Tx, tables []table) error {
	for _, t := range tables {
		if d != Postgres {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `lock table `+quote(t.name)+` in exclusive mode`); err != nil {
			return err
		}
	}
	return nil
}

func wipe(ctx context.Context, tx *sql.Tx, tables []table) error {
	for _, t := range tables {
		if _, err := tx.ExecContext(ctx, `delete from `+quote(t.name)); err != nil {
			return err
		}
	}
	return nil
}
