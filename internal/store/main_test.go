package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// What the test binary is when these are in the environment: a process that opens the
// database there, or one that restores the backup of the second into it.
const (
	asOpener   = "CUTROOM_TEST_OPENER"
	asRestorer = "CUTROOM_TEST_RESTORER"
	startSign  = "CUTROOM_TEST_START"  // file that says when to start
	backupPath = "CUTROOM_TEST_BACKUP" // what is restored
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asOpener) != "":
		exitWith(opens(os.Getenv(asOpener)))
	case os.Getenv(asRestorer) != "":
		exitWith(restores(os.Getenv(asRestorer)))
	}
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err, cutroom.AsError(err).Err)
		os.Exit(1)
	}
	os.Exit(0)
}

func opens(place string) error {
	for { // all at once, as well as processes can
		if _, err := os.Stat(os.Getenv(startSign)); err == nil {
			break
		}
	}
	db, err := store.Open(context.Background(), place, unkind())
	if err == nil {
		_, err = db.Exec(`insert into worker (id, space, beat) values ($1, 's', 1)`, fmt.Sprint(os.Getpid()))
	}
	return err
}

// restores says on standard output that it begins.
func restores(place string) error {
	f, err := os.Open(os.Getenv(backupPath))
	if err != nil {
		return err
	}
	fmt.Println("go")
	_, err = store.Restore(context.Background(), place, f, true)
	return err
}

// again starts the test binary as something else.
func again(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	return c
}

// unkind makes a table as libraries do: it looks first, and then takes its time.
func unkind() store.Migration {
	return store.Migration{Name: "unkind", Run: func(ctx context.Context, db *sql.DB) error {
		catalog := map[store.Dialect]string{store.SQLite: `sqlite_master where name`, store.Postgres: `pg_tables where tablename`}[store.DialectOf(db)]
		var n int
		if err := db.QueryRowContext(ctx, `select count(*) from `+catalog+` = 'unkind'`).Scan(&n); err != nil || n > 0 {
			return err
		}
		<-time.After(20 * time.Millisecond)
		_, err := db.ExecContext(ctx, `create table unkind (n integer)`)
		return err
	}}
}

// TestTwentyOpeners: any number of processes may make the same database at once.
func TestTwentyOpeners(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		sign := filepath.Join(t.TempDir(), "start")
		const openers = 20
		var all []*exec.Cmd
		for range openers {
			c := again(t, asOpener+"="+place, startSign+"="+sign)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		must(t, os.WriteFile(sign, nil, 0o600))
		for _, c := range all {
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
		db := storetest.At(t, place, unkind())
		var n int
		if err := db.QueryRow(`select count(*) from worker`).Scan(&n); err != nil || n != openers {
			t.Errorf("%d of %d wrote, %v", n, openers, err)
		}
		if store.DialectOf(db) == store.SQLite {
			var mode string
			if err := db.QueryRow(`pragma journal_mode`).Scan(&mode); err != nil || mode != "wal" {
				t.Errorf("journal %s, %v", mode, err)
			}
		}
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err, cutroom.AsError(err).Err)
		}
	}
}
