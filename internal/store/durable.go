package store

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
)

// Within runs f in one transaction, which is rolled back when f fails.
func Within(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Durable runs f in one transaction that outlasts a loss of power once Durable
// returned, with all that was committed before it. What [Within] commits to SQLite
// outlasts the end of the process, and no more.
func Durable(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	if _, isSQLite := db.Driver().(*sqlite.Driver); !isSQLite {
		return Within(ctx, db, f) // PostgreSQL waits for its log by itself
	}
	// The setting belongs to the connection (sqlite.org/pragma.html#pragma_synchronous).
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `pragma synchronous = full`); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), `pragma synchronous = normal`) }() // slower, were it to fail
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
