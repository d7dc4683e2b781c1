// Package meter counts calls by the hour of the clock, and what is sent to providers by
// the day, for all processes that share a database.
//
// It promises that of many who count at once each learns another number, so that a bound
// on calls, bytes or money is never passed. It keeps nothing of a call but the key that
// it counts under, and must never know a rule or an engine.
package meter

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"cutroom/internal/store"
)

// Meter is the counts of one database.
type Meter struct {
	// Open opens the database when it is first needed.
	Open func(context.Context) (*sql.DB, error)
}

// hour is the hour of the clock that a time lies in, UTC, since 1970.
func hour(at time.Time) int64 { return at.Unix() / 3600 }

// Used returns how many calls were counted under each key in the hour of at.
func (m Meter) Used(ctx context.Context, keys []string, at time.Time) (map[string]int64, error) {
	db, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]int64{}
	for _, k := range keys {
		var n int64
		err := db.QueryRowContext(ctx, `select n from call_count where key = $1 and hour = $2`, k, hour(at)).Scan(&n)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, store.Fault(err)
		}
		used[k] = n
	}
	return used, nil
}

// Count counts one more call under each key and returns how many there were before.
// What is older than a day is forgotten.
func (m Meter) Count(ctx context.Context, keys []string, at time.Time) (map[string]int64, error) {
	db, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	var before map[string]int64
	err = store.Within(ctx, db, func(tx *sql.Tx) error {
		before, err = count(ctx, tx, keys, hour(at))
		return err
	})
	if err != nil {
		return nil, store.Fault(err)
	}
	if slices.ContainsFunc(keys, func(k string) bool { return before[k] == 0 }) { // the first of the hour tidies up
		_, err = db.ExecContext(ctx, `delete from call_count where hour < $1`, hour(at)-24)
	}
	return before, store.Fault(err)
}

// count adds to the keys in one order, so that no two who count wait for each other.
func count(ctx context.Context, tx *sql.Tx, keys []string, hour int64) (map[string]int64, error) {
	before := map[string]int64{}
	for _, k := range slices.Sorted(slices.Values(keys)) {
		var n int64
		err := tx.QueryRowContext(ctx, `insert into call_count (key, hour, n) values ($1, $2, 1)
			on conflict (key, hour) do update set n = call_count.n + 1 returning n`, k, hour).Scan(&n)
		if err != nil {
			return nil, err
		}
		before[k] = n - 1
	}
	return before, nil
}
