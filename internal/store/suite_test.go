package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// columnsOf lists what our migrations and their like have made.
func columnsOf(t *testing.T, db *sql.DB) []string {
	t.Helper()
	text := `select m.name || '.' || c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite%'`
	if store.DialectOf(db) == store.Postgres {
		text = `select table_name || '.' || column_name from information_schema.columns where table_schema = current_schema()`
	}
	rows, err := db.QueryContext(t.Context(), text)
	must(t, err)
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		if !strings.HasPrefix(s, "goose") && !strings.HasPrefix(s, "store_stamp") {
			list = append(list, s)
		}
	}
	must(t, rows.Err())
	slices.Sort(list)
	return list
}

// bare opens what is at place as it is.
func bare(t *testing.T, place string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(place, "postgres:") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, place)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func schema(t *testing.T, place string) int64 {
	t.Helper()
	f, err := store.Look(t.Context(), place)
	must(t, err)
	return f.Schema
}

// TestUpAndDown: each migration goes both ways, and what is made again is the same.
func TestUpAndDown(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		ctx := t.Context()
		first := columnsOf(t, storetest.At(t, place))
		newest := schema(t, place)
		if len(first) == 0 || newest < 1 {
			t.Fatalf("schema %d: %v", newest, first)
		}
		steps := []int64{newest}
		for have := newest; have > 0; {
			c, err := store.Migrate(ctx, place, store.Previous)
			if err != nil || c.From != have || c.To >= have || schema(t, place) != c.To {
				t.Fatalf("down from %d: %+v, %v", have, c, err)
			}
			have = c.To
			steps = append(steps, have)
		}
		if left := columnsOf(t, bare(t, place)); len(left) != 0 {
			t.Errorf("left of schema 0: %v", left)
		}
		if _, err := store.Migrate(ctx, place, store.Previous); cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("below 0: %v", err)
		}
		if _, err := store.Migrate(ctx, place, newest+1); cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("above the newest: %v", err)
		}
		slices.Reverse(steps)
		for _, to := range steps[1:] {
			if _, err := store.Migrate(ctx, place, to); err != nil || schema(t, place) != to {
				t.Fatalf("up to %d: %v", to, err)
			}
		}
		if _, err := store.Migrate(ctx, place, 0); err != nil || schema(t, place) != 0 {
			t.Fatalf("down at once: %v", err)
		}
		if diff := cmp.Diff(first, columnsOf(t, storetest.At(t, place))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNewerDatabase: a database that a later version migrated is not touched.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		db := storetest.At(t, place)
		_, err := db.ExecContext(t.Context(), `insert into goose_db_version (version_id, is_applied) values (900, true)`)
		must(t, err)
		more := store.Migration{Name: "other", Run: func(context.Context, *sql.DB) error { t.Error("it was migrated"); return nil }}
		_, err1 := store.Open(t.Context(), place, more)
		_, err2 := store.Migrate(t.Context(), place, store.Newest)
		_, err3 := store.Backup(t.Context(), place, time.Now(), new(strings.Builder))
		_, err4 := store.Look(t.Context(), place)
		for _, err := range []error{err1, err2, err3, err4} {
			if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Precondition || !strings.Contains(e.Msg, "newer version") {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestWritersAtOnce: what many write at once through many handles is all there.
func TestWritersAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		dbs := []*sql.DB{open(), open(), open()}
		_, err := dbs[0].ExecContext(t.Context(), `insert into worker (id, space, beat) values ('sum', 's', 0)`)
		must(t, err)
		const writers, each = 12, 20
		var all sync.WaitGroup
		for w := range writers {
			db := dbs[w%len(dbs)]
			all.Go(func() {
				for i := range each {
					tx, err := db.BeginTx(t.Context(), nil)
					if err == nil {
						_, err = tx.ExecContext(t.Context(), `insert into worker (id, space, beat) values ($1, 's', $2)`, fmt.Sprint(w, "/", i), i)
					}
					if err == nil {
						_, err = tx.ExecContext(t.Context(), `update worker set beat = beat + 1 where id = 'sum'`)
					}
					if err == nil {
						err = tx.Commit()
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		var sum, rows int
		must(t, dbs[0].QueryRowContext(t.Context(), `select beat, (select count(*) from worker) from worker where id = 'sum'`).Scan(&sum, &rows))
		if sum != writers*each || rows != writers*each+1 {
			t.Errorf("sum %d, %d rows", sum, rows)
		}
	})
}

// TestTransactions: what is rolled back never was, and what is committed others see.
func TestTransactions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		one, two := open(), open()
		seen := func() (n int) {
			must(t, two.QueryRowContext(t.Context(), `select count(*) from worker`).Scan(&n))
			return n
		}
		for i, keep := range []bool{false, true} {
			tx, err := one.BeginTx(t.Context(), nil)
			must(t, err)
			_, err = tx.ExecContext(t.Context(), `insert into worker (id, space, beat) values ('a', 's', 1)`)
			must(t, err)
			if n := seen(); n != 0 {
				t.Errorf("%d: %d rows before the end", i, n)
			}
			want := 0
			if keep {
				want = 1
				must(t, tx.Commit())
			} else {
				must(t, tx.Rollback())
			}
			if n := seen(); n != want {
				t.Errorf("%d: %d rows after the end", i, n)
			}
		}
	})
}

// TestContextEndsWaiting: a transaction that waits for another's lock stops when its
// context ends, with that as the error. It has changed nothing, then or later, and the
// handle goes on.
func TestContextEndsWaiting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		one, two := open(), open()
		_, err := one.ExecContext(t.Context(), `insert into worker (id, space, beat) values ('a', 's', 1)`)
		must(t, err)
		tx, err := one.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), `update worker set beat = 2`)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		late, err := two.BeginTx(ctx, nil)
		if err == nil {
			_, err = late.ExecContext(ctx, `update worker set beat = 3`)
		}
		if took := time.Since(begun); took > 10*time.Second || !errors.Is(store.Fault(err), context.DeadlineExceeded) {
			t.Errorf("after %s: %v", took, err)
		}
		must(t, tx.Commit())
		_, err = two.ExecContext(t.Context(), `update worker set beat = beat + 40`)
		must(t, err)
		var beat int
		must(t, one.QueryRowContext(t.Context(), `select beat from worker`).Scan(&beat))
		if beat != 42 {
			t.Errorf("beat %d", beat)
		}
	})
}

// TestDuplicate: a key that is taken is told from other refusals.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open(store.Migration{Name: "unique", Run: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, `create table lone (id text primary key, mark text unique, least bigint check (least > 0))`)
			return err
		}})
		for _, c := range []struct {
			text string
			dup  bool
		}{
			{`insert into lone values ('a', 'm', 1)`, false},
			{`insert into lone values ('a', 'n', 1)`, true},
			{`insert into lone values ('b', 'm', 1)`, true},
			{`insert into lone values ('c', 'c', 0)`, false},
			{`insert into nowhere values (1)`, false},
		} {
			if _, err := db.ExecContext(t.Context(), c.text); store.Duplicate(fmt.Errorf("while writing: %w", err)) != c.dup {
				t.Errorf("%s: %v", c.text, err)
			}
		}
		if store.Duplicate(nil) || store.Duplicate(context.Canceled) {
			t.Error("no refusal at all is a duplicate")
		}
	})
}

// TestValues: text and numbers come back as they were, and JSON can be asked.
func TestValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open()
		rapid.Check(t, func(rt *rapid.T) {
			type named string
			text := strings.ReplaceAll(rapid.String().Draw(rt, "text"), "\x00", "")
			n := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64, math.MaxInt32 + 1})).Draw(rt, "n")
			var back, inner string
			var m, sum int64
			if _, err := db.ExecContext(t.Context(), `insert into worker (id, space, beat) values ($1, $2, $3)
				on conflict (id) do update set space = excluded.space, beat = excluded.beat`, "id", named(text), n); err != nil {
				rt.Fatal(err)
			}
			if err := db.QueryRowContext(t.Context(), `select space, beat, count(*) filter (where beat = $1) over () from worker where space = $2 and beat = $1`, n, named(text)).Scan(&back, &m, &sum); err != nil {
				rt.Fatal(err)
			}
			if back != text || m != n || sum != 1 {
				rt.Errorf("%q %d came back as %q %d", text, n, back, m)
			}
			if err := db.QueryRowContext(t.Context(), `select cast('{"a": "x y"}' as json) ->> 'a'`).Scan(&inner); store.DialectOf(db) == store.Postgres && (err != nil || inner != "x y") {
				rt.Errorf("%q, %v", inner, err)
			}
		})
	})
}
