package engine

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/audit"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// TestUnwrittenIsNotDone: where nothing can be written down nothing is done, and the
// answer says why and what helps; looking goes on, with a warning.
func TestUnwrittenIsNotDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open func(t *testing.T) func(context.Context) (*sql.DB, error)
		code cutroom.Code
		msg  string
	}{
		"damaged": {func(t *testing.T) func(context.Context) (*sql.DB, error) {
			path := filepath.Join(t.TempDir(), store.Name)
			if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
			return func(ctx context.Context) (*sql.DB, error) { return store.Open(ctx, path) }
		}, cutroom.Precondition, "is damaged"},
		"no folder": {func(t *testing.T) func(context.Context) (*sql.DB, error) {
			return func(ctx context.Context) (*sql.DB, error) {
				return store.Open(ctx, filepath.Join("/dev/null/state", store.Name))
			}
		}, cutroom.Precondition, "cannot be used"},
		"full disk": {func(t *testing.T) func(context.Context) (*sql.DB, error) {
			open := faulty(`pragma max_page_count = 1`)(t) // no page more than there are
			db, err := open(t.Context())
			for n := 0; err == nil; n++ {
				_, err = db.ExecContext(t.Context(), `insert into operation (key, call_id, tool, revision, principal_name, principal_role, never, input, state, started, until, finished, swept, run, output, failure, note)
					values ($1, '', '', 0, '', '', 0, '', 'done', 0, 0, 0, 0, '', '', '', '')`, fmt.Sprint("fill", n))
			}
			return open
		}, cutroom.Unavailable, "is full"},
		"read only": {faulty(`pragma query_only = 1`), cutroom.Precondition, "cannot be written"},
		"server gone": {func(t *testing.T) func(context.Context) (*sql.DB, error) {
			s := testenv.NewPostgres(t)
			db := storetest.At(t, s.Database(t))
			if _, err := db.ExecContext(t.Context(), `select 1`); err != nil {
				t.Fatal(err)
			}
			s.Stop()
			return func(context.Context) (*sql.DB, error) { return db, nil }
		}, cutroom.Unavailable, ""},
		"changed": {faulty(`update audit_head set seq = 7`), cutroom.Precondition, "does not end where its chain ends"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeeds(t, nil)
			var said bytes.Buffer
			log := audit.New(audit.Options{Open: c.open(t)})
			d.Audit, d.Ledger, d.Log = log, log, slog.New(slog.NewTextHandler(&said, nil))
			_, err := d.invoke(`{"input":"a"}`)
			e := cutroom.AsError(err)
			if err == nil || e.Code != c.code || !strings.Contains(e.Msg, "was not done, since it could not be written down") || !strings.Contains(e.Msg, c.msg) || e.Hint == "" {
				t.Errorf("%v (%v), cause %v", err, e.Code, e.Err)
			}
			if d.times.Load() != 0 {
				t.Error("it was done all the same")
			}
			if strings.Contains(e.Error(), "/dev/null") || strings.Contains(e.Error(), "/tmp") {
				t.Errorf("a path is told: %v", e)
			}
			h := build(t, nil)
			h.Audit, h.Ledger, h.Log = log, log, slog.New(slog.NewTextHandler(&said, nil))
			r, err := h.call(`{"input":"a"}`)
			if err != nil || r.Reused {
				t.Errorf("looking ended with it: %+v, %v", r, err)
			}
			// On the full disk a page of the audit had room for one more row.
			if name != "full disk" && !strings.Contains(said.String(), "a call could not be written down") {
				t.Errorf("nothing was said: %s", said.String())
			}
		})
	}
}

// faulty is a database on which something was done that makes it unusable.
func faulty(query string) func(t *testing.T) func(context.Context) (*sql.DB, error) {
	return func(t *testing.T) func(context.Context) (*sql.DB, error) {
		db := storetest.At(t, filepath.Join(t.TempDir(), store.Name))
		if err := audit.New(audit.Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }}).Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
		return func(context.Context) (*sql.DB, error) { return db, nil }
	}
}

// TestDoneButUnwritten: when the disk fills up while something is done, the answer says
// that it was done, and the same call is not made again.
func TestDoneButUnwritten(t *testing.T) {
	t.Parallel()
	d := newDeeds(t, nil)
	path := filepath.Join(t.TempDir(), store.Name)
	db := storetest.At(t, path)
	log := audit.New(audit.Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }})
	d.Audit, d.Ledger, d.doneTime = log, log, 50*time.Millisecond
	d.do = func(ctx context.Context, _ string, _ deedInput) error {
		_, err := db.ExecContext(ctx, `pragma query_only = 1`)
		return err
	}
	d.wants(`{"input":"a"}`, cutroom.Precondition, "was done, but that could not be written down")
	if _, err := db.ExecContext(t.Context(), `pragma query_only = 0`); err != nil {
		t.Fatal(err)
	}
	d.do = nil
	d.wants(`{"input":"a"}`, cutroom.Precondition, "outcome unknown")
	if d.times.Load() != 1 {
		t.Error("it was done again")
	}
}
