package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"cutroom"
)

// Aims of [Migrate] besides a schema's own number.
const (
	Newest   = -1 // the schema of this version
	Previous = -2 // one less than the database has
)

// Change is what a migration did.
type Change struct {
	From, To int64
	Newest   bool // To is the schema of this version
}

// Migrate brings the database at place to a schema, up or down; more are its other
// migrations, which it gets with the newest. On the way down what only the newer
// schema has is lost. The next [Open] brings it up again.
func Migrate(ctx context.Context, place string, to int64, more ...Migration) (Change, error) {
	b, db, err := dial(place)
	if err != nil {
		return Change{}, Fault(err)
	}
	c, err := move(ctx, b, db, to, more)
	return c, Fault(errors.Join(err, db.Close()))
}

func move(ctx context.Context, b base, db *sql.DB, to int64, more []Migration) (Change, error) {
	have, err := schemaOf(ctx, b.dialect(), db)
	if err == nil {
		err = known(have)
	}
	if err != nil {
		return Change{}, err
	}
	all, err := schemas()
	if err != nil {
		return Change{}, err
	}
	newest := all[len(all)-1]
	switch {
	case to == Newest:
		to = newest
	case to == Previous:
		to = all[max(slices.Index(all, have)-1, 0)]
	}
	if !slices.Contains(all, to) || to == have && to == 0 {
		return Change{From: have, To: have}, cutroom.Errorf(cutroom.Invalid, "there is no schema to go to").WithHint("this version knows %v, where 0 is an empty database; this one has %d", all, have)
	}
	if to == newest {
		return Change{have, to, true}, update(ctx, b, db, more)
	}
	return Change{From: have, To: to}, lower(ctx, b, db, to)
}

// lower brings a database to a schema that is not the newest, and takes its stamp away.
func lower(ctx context.Context, b base, db *sql.DB, to int64) error {
	unlock, err := b.lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.prepare(ctx, db); err != nil {
		return err
	}
	if err := b.stamp(ctx, db, 0); err != nil {
		return err
	}
	p, err := provider(b.dialect(), db)
	if err != nil {
		return err
	}
	have, err := schemaOf(ctx, b.dialect(), db)
	switch {
	case err != nil:
		return err
	case to < have:
		_, err = p.DownTo(ctx, to)
	default:
		_, err = p.UpTo(ctx, to)
	}
	return err
}

// schemas are the numbers of our migrations in order, and 0, which is none of them.
func schemas() ([]int64, error) {
	files, err := migrations.ReadDir("migration")
	if err != nil {
		return nil, err
	}
	numbers := []int64{0}
	for _, f := range files {
		var n int64
		if _, err := fmt.Sscanf(f.Name(), "%d_", &n); err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", f.Name(), err)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

// newestSchema is the number of the last of our migrations.
func newestSchema() (int64, error) {
	all, err := schemas()
	if err != nil {
		return 0, err
	}
	return all[len(all)-1], nil
}

// schemaOf is the newest of our migrations that a database has; 0 for none.
func schemaOf(ctx context.Context, d Dialect, q querier) (int64, error) {
	text := `select count(*) from sqlite_master where name = 'goose_db_version'`
	if d == Postgres {
		text = `select count(*) from pg_tables where tablename = 'goose_db_version' and schemaname = current_schema()`
	}
	var n int64
	if err := q.QueryRowContext(ctx, text).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err := q.QueryRowContext(ctx, `select coalesce(max(version_id), 0) from goose_db_version`).Scan(&n)
	return n, err
}

// known refuses a database that only a newer version of the program knows.
func known(schema int64) error {
	newest, err := newestSchema()
	if err == nil && schema > newest {
		err = cutroom.Errorf(cutroom.Precondition, "the database is of a newer version of cutroom: its schema is %d, and this version knows %d", schema, newest).
			WithHint("use that version, or a later one; its `cutroom db migrate --to %d` makes the database fit for this one", newest)
	}
	return err
}
