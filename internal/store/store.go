// Package store opens the database of this user's installation and brings it up to
// date. It promises that several processes may do so at once. It knows tables, and
// must never know what a job or a call is.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver

	"cutroom"
)

//go:embed migration/*.sql
var migrations embed.FS

// Name is the database's file in the state folder.
const Name = "cutroom.db"

// openTime bounds opening, the waiting for another process that migrates included.
const openTime = 30 * time.Second

// Exists says whether there is a database at path, without opening it.
func Exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// Open opens the SQLite database at path, made when it is not there and readable by
// this user alone, and migrates it. more are further migrations, run after ours.
func Open(ctx context.Context, path string, more ...func(context.Context, *sql.DB) error) (*sql.DB, error) {
	if err := create(path); err != nil {
		return nil, fault(err)
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(20000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fault(err)
	}
	// One connection: SQLite has one writer, and waiting in Go is fairer than its locks.
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	steps := append([]func(context.Context, *sql.DB) error{migrate}, more...)
	// Another process may migrate at the same time: its tables are in our way, and the
	// next try finds nothing left to do.
	for try := 0; ; try++ {
		err = nil
		for _, step := range steps {
			if err == nil {
				err = step(ctx, db)
			}
		}
		if err == nil {
			return db, nil
		}
		if try == maxTries || ctx.Err() != nil {
			return nil, errors.Join(fault(err), db.Close())
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try+1) * 20 * time.Millisecond):
		}
	}
}

const maxTries = 20

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

// fault says what helps when the database cannot be used.
func fault(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "the database of jobs cannot be used").WithCause(err).
		WithHint("check that the state folder has space and is yours; if %s there is damaged, move it away (`cutroom doctor` names the folder)", Name)
}
