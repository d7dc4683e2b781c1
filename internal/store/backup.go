package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"cutroom"
)

// Content says what a backup holds.
type Content struct {
	From   Dialect // kind of the database that it is of
	Schema int64   // newest migration that it had
	Made   time.Time
	Tables []TableRows // by name
}

// TableRows is how many rows of a table there are.
type TableRows struct {
	Table string
	Rows  int64
}

// Rows is how many rows there are in all.
func (c Content) Rows() int64 {
	var n int64
	for _, t := range c.Tables {
		n += t.Rows
	}
	return n
}

// Backup writes all that our tables in the database at place hold at one moment,
// whoever works with it meanwhile. The database is not migrated. Tickets of the queue
// are not in it: they are made anew from the jobs.
func Backup(ctx context.Context, place string, now time.Time, w io.Writer) (Content, error) {
	if !Exists(place) {
		return Content{}, noDatabase()
	}
	b, db, err := dial(place)
	if err != nil {
		return Content{}, Fault(err)
	}
	c, err := backup(ctx, b.dialect(), db, now, w)
	return c, Fault(errors.Join(err, db.Close()))
}

func noDatabase() error {
	return cutroom.Errorf(cutroom.NotFound, "there is no database yet").WithHint("it is made by the first call that needs it; `cutroom doctor` says where")
}

func backup(ctx context.Context, d Dialect, db *sql.DB, now time.Time, w io.Writer) (Content, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return Content{}, err
	}
	defer conn.Close()
	begin := `begin`
	if d == Postgres {
		begin = `begin isolation level repeatable read read only`
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return Content{}, err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `rollback`) // nothing was written
	schema, err := schemaOf(ctx, d, conn)
	if err != nil {
		return Content{}, err
	}
	if err := known(schema); err != nil {
		return Content{}, err
	}
	if schema == 0 {
		return Content{}, noDatabase()
	}
	tables, _, err := tablesAt(ctx, schema)
	if err != nil {
		return Content{}, err
	}
	return write(ctx, conn, tables, Content{From: d, Schema: schema, Made: now}, w)
}

// write writes the rows of tables as a backup.
func write(ctx context.Context, q querier, tables []table, c Content, w io.Writer) (Content, error) {
	s := newScribe(w)
	if err := s.line(headLine{formVersion, c.Schema, c.From, c.Made.UnixMilli()}); err != nil {
		return c, err
	}
	for _, t := range tables {
		line := tableLine{Table: t.name}
		for _, col := range t.columns {
			line.Columns = append(line.Columns, col.name)
		}
		if err := s.line(line); err != nil {
			return c, err
		}
		before := s.rows
		if err := t.each(ctx, q, func(row []any) error { return s.row(t, row) }); err != nil {
			return c, err
		}
		c.Tables = append(c.Tables, TableRows{t.name, s.rows - before})
	}
	return c, s.end()
}

// BackupFile writes a backup to a new file, readable by this user alone. It never
// writes over a file, and until it is whole nothing has its name.
func BackupFile(ctx context.Context, place, path string, now time.Time) (Content, error) {
	if _, err := os.Lstat(path); err == nil {
		return Content{}, taken()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".cutroom-backup-")
	if err != nil {
		return Content{}, unwritable(err)
	}
	defer os.Remove(f.Name())
	out := &sink{f: f}
	c, err := Backup(ctx, place, now, out)
	if out.err == nil {
		out.err = f.Sync()
	}
	if err2 := f.Close(); out.err == nil {
		out.err = err2
	}
	if out.err != nil {
		return c, unwritable(out.err)
	}
	if err != nil {
		return c, err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, os.ErrExist) {
		return c, taken()
	} else if err != nil {
		return c, unwritable(err)
	}
	return c, nil
}

// sink remembers that the file, not the database, refused.
type sink struct {
	f   *os.File
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.f.Write(b)
	if err != nil {
		s.err = err
	}
	return n, err
}

func taken() error {
	return cutroom.Errorf(cutroom.Conflict, "there is a file of that name").WithHint("name a new one: a backup is never written over another file")
}

func unwritable(err error) error {
	return cutroom.Errorf(cutroom.Unavailable, "the backup cannot be written").WithCause(err).
		WithHint("name a file in a folder that you may write, on a disk with space")
}
