package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
)

func openT(t *testing.T, path string, more ...Migration) *sql.DB {
	t.Helper()
	db, err := Open(t.Context(), path, more...)
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestOnlyItsUserReadsIt: a job holds what somebody asked, and for whom.
func TestOnlyItsUserReadsIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", Name)
	db := openT(t, path)
	if _, err := db.Exec(`insert into worker (id, space, beat) values ('a', 's', 1)`); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Dir(path), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMigrationsRunOnce: an up-to-date database is not looked at again, one of another
// version is.
func TestMigrationsRunOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	ran := 0
	more := func(name string) Migration {
		return Migration{name, func(context.Context, *sql.DB) error { ran++; return nil }}
	}
	for i, c := range []struct {
		name string
		want int
	}{{"one", 1}, {"one", 1}, {"two", 2}, {"one", 3}} {
		db := openT(t, path, more(c.name))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if ran != c.want {
			t.Errorf("open %d: ran %d times, not %d", i, ran, c.want)
		}
	}
}

// TestAMigrationThatFailsIsTriedAgain: what is half made is not taken for done.
func TestAMigrationThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	fail := errors.New("not today")
	m := Migration{"m", func(context.Context, *sql.DB) error { return fail }}
	if _, err := Open(t.Context(), path, m); !errors.Is(err, fail) {
		t.Fatal(err)
	}
	fail = nil
	openT(t, path, m)
}

// TestUnusable: the error says what is wrong and what helps, and no path.
func TestUnusable(t *testing.T) {
	t.Parallel()
	damage := func(t *testing.T, path string, at int64) {
		t.Helper()
		if err := openT(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(strings.Repeat("no database ", 500)), at); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		msg  string
	}{
		"head":    {func(t *testing.T, path string) { damage(t, path, 0) }, "is damaged"},
		"schema":  {func(t *testing.T, path string) { damage(t, path, 100) }, "is damaged"},
		"no file": {func(t *testing.T, path string) { must(t, os.MkdirAll(path, 0o700)) }, "cannot be used"},
		"link":    {func(t *testing.T, path string) { must(t, os.Symlink("/dev/null", path)) }, "cannot be used"},
		"a folder": {func(t *testing.T, path string) {
			must(t, os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state", Name)
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			c.make(t, path)
			_, err := Open(t.Context(), path)
			e := cutroom.AsError(err)
			if e == nil || e.Code != cutroom.Precondition || !strings.Contains(e.Msg, c.msg) || e.Hint == "" || strings.Contains(e.Error(), filepath.Dir(path)) {
				t.Errorf("%v", err)
			}
		})
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
