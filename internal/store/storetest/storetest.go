// Package storetest runs a test on every kind of database that the store can open. It
// promises a real, empty database for each, and must never know what is kept in one.
package storetest

import (
	"database/sql"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/testenv"
)

// Open opens a handle on the database of a test, migrated; it is closed when the test
// ends. Each call gives another handle on the same database, as another process has.
type Open func(more ...store.Migration) *sql.DB

// Each runs body on an empty SQLite file and on an empty database of a real
// PostgreSQL server, as parallel subtests of those names.
func Each(t *testing.T, body func(t *testing.T, open Open)) {
	t.Helper()
	Places(t, func(t *testing.T, place string) {
		body(t, func(more ...store.Migration) *sql.DB { return At(t, place, more...) })
	})
}

// Places is [Each] for tests that hand the place on, to processes for example.
func Places(t *testing.T, body func(t *testing.T, place string)) {
	t.Helper()
	t.Run(string(store.SQLite), func(t *testing.T) {
		t.Parallel()
		body(t, filepath.Join(t.TempDir(), "state", store.Name))
	})
	t.Run(string(store.Postgres), func(t *testing.T) {
		t.Parallel()
		body(t, testenv.Postgres(t))
	})
}

// At opens the database at place until the test ends.
func At(t testing.TB, place string, more ...store.Migration) *sql.DB {
	t.Helper()
	db, err := store.Open(t.Context(), place, more...)
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
