package store

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
)

// Within runs f in one transaction, which is rolled back when f fails.
func Within(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	return transact(ctx, db, f)
}

func transact(ctx context.Context, on interface {
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
}, f func(*sql.Tx) error,
) error {
	tx, err := on.BeginTx(ctx, nil)
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
	return transact(ctx, conn, f)
}

// Collect reads every row of a query by scan, and closes it. Without rows the list is empty.
func Collect[T any](rows *sql.Rows, scan func(interface{ Scan(...any) error }) (T, error)) ([]T, error) {
	defer rows.Close()
	list := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}
