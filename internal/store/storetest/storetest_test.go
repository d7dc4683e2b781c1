package storetest

import (
	"testing"

	"cutroom/internal/store"
)

// TestEach: both run, each on the database that it is named after, empty and apart
// from the others, and handles see one database.
func TestEach(t *testing.T) {
	t.Parallel()
	for range 2 {
		Each(t, func(t *testing.T, open Open) {
			one, two := open(), open()
			if d := store.DialectOf(one); t.Name() != "TestEach/"+string(d) && t.Name() != "TestEach/"+string(d)+"#01" {
				t.Errorf("%s runs on %s", t.Name(), d)
			}
			if _, err := one.ExecContext(t.Context(), `insert into worker (id, space, beat) values ($1, $2, $3)`, "a", "s", 1); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := two.QueryRowContext(t.Context(), `select count(*) from worker`).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}
