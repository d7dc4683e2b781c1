// Package store opens the database of this installation, SQLite or PostgreSQL, and
// brings it up to date. It promises that any number of processes may do so at once,
// that one SQL text does for both, and that its errors say what helps and hold no
// secret. It knows tables, and must never know what a job or a call is.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
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

// Exists says whether there may be a database at place, without opening it. A server
// is not asked.
func Exists(place string) bool {
	if remote(place) {
		return true
	}
	info, err := os.Lstat(place)
	return err == nil && info.Size() > 0
}

// Open opens the database at place and migrates it; more are run after our own
// migrations. A place is the path of an SQLite file, made when it is not there and
// readable by this user alone, or the address of a PostgreSQL database
// (postgres://user@host/name), which has to be there.
func Open(ctx context.Context, place string, more ...Migration) (*sql.DB, error) {
	b, db, err := dial(place)
	if err != nil {
		return nil, Fault(err)
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if err := update(ctx, b, db, more); err != nil {
		return nil, Fault(errors.Join(err, db.Close()))
	}
	return db, nil
}

// base is what the two kinds of database differ in while they are opened.
type base interface {
	dialect() Dialect
	// stamped is the stamp of the migrations that the database has; 0 when it has none.
	stamped(ctx context.Context, db *sql.DB) (int32, error)
	stamp(ctx context.Context, db *sql.DB, n int32) error
	// lock waits until no other process migrates the database.
	lock(ctx context.Context, db *sql.DB) (unlock func(), err error)
	// prepare is done under the lock, before any migration.
	prepare(ctx context.Context, db *sql.DB) error
}

func dial(place string) (base, *sql.DB, error) {
	if remote(place) {
		db, err := connectPostgres(place)
		return postgresBase{}, db, err
	}
	if err := create(place); err != nil {
		return nil, nil, err
	}
	db, err := connect(place, "busy_timeout(20000)", "synchronous(NORMAL)", "foreign_keys(1)", "secure_delete(1)")
	return sqliteBase{place}, db, err
}

// Dialect is a kind of database, by its name.
type Dialect string

// The dialects that there are.
const (
	SQLite   Dialect = "SQLite"
	Postgres Dialect = "PostgreSQL"
)

// DialectOf says what kind of database db is. One SQL text does for both; this is for
// what only one of them has.
func DialectOf(db *sql.DB) Dialect {
	if _, ok := db.Driver().(*sqlite.Driver); ok {
		return SQLite
	}
	return Postgres
}

// update migrates a database that was not stamped with these very migrations. One
// process does it at a time: libraries look for their tables before they make them.
func update(ctx context.Context, b base, db *sql.DB, more []Migration) error {
	want, err := stampOf(more)
	if err != nil {
		return err
	}
	if have, err := b.stamped(ctx, db); err != nil || have == want {
		return err
	}
	unlock, err := b.lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	if have, err := b.stamped(ctx, db); err != nil || have == want {
		return err
	}
	have, err := schemaOf(ctx, b.dialect(), db)
	if err == nil {
		err = known(have)
	}
	if err != nil {
		return err
	}
	if err := b.prepare(ctx, db); err != nil {
		return err
	}
	ours := Migration{"store", func(ctx context.Context, db *sql.DB) error { return migrate(ctx, b.dialect(), db) }}
	for _, m := range append([]Migration{ours}, more...) {
		if err := m.Run(ctx, db); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	return b.stamp(ctx, db, want)
}

// stampOf is a number for a set of migrations; never 0, which a new database has.
func stampOf(more []Migration) (int32, error) {
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

func migrate(ctx context.Context, d Dialect, db *sql.DB) error {
	p, err := provider(d, db)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func provider(d Dialect, db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migration")
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectSQLite3
	if d == Postgres {
		dialect = goose.DialectPostgres
	}
	return goose.NewProvider(dialect, db, dir)
}
