package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// sqliteBase is the file at path.
type sqliteBase struct{ path string }

func connect(path string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": pragmas}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	// One connection: SQLite has one writer, and waiting in Go is fairer than its locks.
	db.SetMaxOpenConns(1)
	return db, nil
}

// create makes the file with its mode: SQLite would make it as the umask says.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (sqliteBase) dialect() Dialect { return SQLite }

func (sqliteBase) stamped(ctx context.Context, db *sql.DB) (int32, error) {
	var n int32
	err := db.QueryRowContext(ctx, `pragma user_version`).Scan(&n)
	return n, err
}

func (sqliteBase) stamp(ctx context.Context, db *sql.DB, n int32) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(`pragma user_version = %d`, n))
	return err
}

// lock waits on an empty database beside ours: SQLite knows on every system how to
// hold a lock that ends with its process.
func (b sqliteBase) lock(ctx context.Context, _ *sql.DB) (unlock func(), err error) {
	path := b.path + ".lock"
	if err := create(path); err != nil {
		return nil, err
	}
	db, err := connect(path, fmt.Sprintf("busy_timeout(%d)", openTime.Milliseconds()))
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, `begin exclusive`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() { _ = db.Close() }, nil // nothing was written that could fail
}

// prepare goes over to a write-ahead log, which does not wait for others.
func (sqliteBase) prepare(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `pragma journal_mode = wal`)
	return err
}
