// Package store opens the database of this user's installation and brings it up to
// date. It promises that any number of processes may do so at once, and that its
// errors say what helps. It knows tables, and must never know what a job or a call is.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"cutroom"
)

//go:embed migration/*.sql
var migrations embed.FS

// Name is the database's file in the state folder.
const Name = "cutroom.db"

// openTime bounds opening, the waiting for another process that migrates included.
const openTime = 30 * time.Second

// Migration makes the tables of somebody else's library.
type Migration struct {
	Name string // with its version: a new name is run where the old one ran
	Run  func(context.Context, *sql.DB) error
}

// Exists says whether there is a database at path, without opening it.
func Exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// Open opens the SQLite database at path, made when it is not there and readable by
// this user alone, and migrates it. more are run after our own migrations.
func Open(ctx context.Context, path string, more ...Migration) (*sql.DB, error) {
	if err := create(path); err != nil {
		return nil, Fault(err)
	}
	db, err := connect(path, "busy_timeout(20000)", "synchronous(NORMAL)", "foreign_keys(1)")
	if err != nil {
		return nil, Fault(err)
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if err := update(ctx, db, path, more); err != nil {
		return nil, Fault(errors.Join(err, db.Close()))
	}
	return db, nil
}

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

// update migrates a database that was not stamped with these very migrations. One
// process does it at a time: libraries look for their tables before they make them,
// and going over to a write-ahead log does not wait for others.
func update(ctx context.Context, db *sql.DB, path string, more []Migration) error {
	want, err := stamp(more)
	if err != nil {
		return err
	}
	if have, err := stamped(ctx, db); err != nil || have == want {
		return err
	}
	unlock, err := lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	if have, err := stamped(ctx, db); err != nil || have == want {
		return err
	}
	if _, err := db.ExecContext(ctx, `pragma journal_mode = wal`); err != nil {
		return err
	}
	for _, m := range append([]Migration{{"store", migrate}}, more...) {
		if err := m.Run(ctx, db); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`pragma user_version = %d`, want))
	return err
}

// stamp is a number for a set of migrations; never 0, which a new database has.
func stamp(more []Migration) (int32, error) {
	sum := crc32.NewIEEE()
	err := fs.WalkDir(migrations, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := migrations.ReadFile(path)
		fmt.Fprintf(sum, "%s\x00%s\x00", path, text)
		return err
	})
	for _, m := range more {
		fmt.Fprintf(sum, "%s\x00", m.Name)
	}
	return int32(sum.Sum32()>>1 | 1), err
}

func stamped(ctx context.Context, db *sql.DB) (int32, error) {
	var n int32
	err := db.QueryRowContext(ctx, `pragma user_version`).Scan(&n)
	return n, err
}

// lock waits until no other process migrates the database at path. An empty database
// beside it is the lock: SQLite knows on every system how to hold one that ends with
// its process.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	path += ".lock"
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

func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// SQLite's result codes (sqlite.org/rescode.html), without what their upper bytes add.
const (
	codeBusy    = 5
	codeCorrupt = 11
	codeFull    = 13
	codeNotADB  = 26
)

// Fault is an error of the database as callers see it: what is wrong, and what helps.
// A context's end and what already speaks to callers stay as they are.
func Fault(err error) error {
	if _, marked := errors.AsType[*cutroom.Error](err); err == nil || marked {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code := -1
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	const where = "`cutroom doctor` names the state folder"
	switch code {
	case codeCorrupt, codeNotADB:
		return cutroom.Errorf(cutroom.Precondition, "the database %s is damaged", Name).WithCause(err).
			WithHint("move it and its -wal and -shm files away; only the list of jobs is lost, results are kept elsewhere (%s)", where)
	case codeFull:
		return cutroom.Errorf(cutroom.Unavailable, "the disk of the database %s is full", Name).WithCause(err).
			WithHint("free some space, then repeat the call (%s)", where)
	case codeBusy:
		return cutroom.Errorf(cutroom.Unavailable, "the database %s is busy", Name).WithCause(err).
			WithHint("repeat the call in a moment")
	}
	return cutroom.Errorf(cutroom.Precondition, "the database %s cannot be used", Name).WithCause(err).
		WithHint("check that the state folder is yours, may be written, and lies on a disk with space (%s)", where)
}
