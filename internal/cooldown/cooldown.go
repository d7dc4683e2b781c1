// Package cooldown keeps in the store which keys of providers rest, and until when, so
// that every process of an installation knows it, and the next one, too.
//
// It promises that neither a key nor an address is kept, only a fingerprint of both, and
// that what is no longer true is forgotten. It must never know why a key rests.
package cooldown

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"cutroom/internal/provider"
	"cutroom/internal/store"
)

// kept is how long a rest that is over stays in the table.
const kept = 24 * time.Hour

// Book is the rests of one database. It is a provider.Cooldowns.
type Book struct {
	// Open opens the database when it is first needed.
	Open func(context.Context) (*sql.DB, error)
	// Exists says whether there may be a database at all; nil: there may. Where there is
	// none nobody rests, and none is made to learn it.
	Exists func() bool
}

var _ provider.Cooldowns = Book{}

// Resting returns until when targets rest, or rested; others are left out.
func (b Book) Resting(ctx context.Context, targets []provider.Target) (map[provider.Target]time.Time, error) {
	resting := map[provider.Target]time.Time{}
	if b.Exists != nil && !b.Exists() {
		return resting, nil
	}
	db, err := b.Open(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		var until int64
		err := db.QueryRowContext(ctx, `select until from cooldown where provider = $1 and model = $2 and key = $3`, t.Provider, t.Model, t.Key).Scan(&until)
		switch {
		case err == nil:
			resting[t] = time.UnixMilli(until)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, store.Fault(err)
		}
	}
	return resting, nil
}

// Rest lets a target rest; the last word counts.
func (b Book) Rest(ctx context.Context, t provider.Target, until time.Time) error {
	db, err := b.Open(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `insert into cooldown (provider, model, key, until) values ($1, $2, $3, $4)
		on conflict (provider, model, key) do update set until = excluded.until`, t.Provider, t.Model, t.Key, until.UnixMilli())
	if err == nil { // what was over long before this begins is of no use
		_, err = db.ExecContext(ctx, `delete from cooldown where until < $1`, until.Add(-longest-kept).UnixMilli())
	}
	return store.Fault(err)
}

// longest is the longest rest that there is: what a new one ends at lies that far ahead
// of now at most.
const longest = 31 * 24 * time.Hour

// Wake ends a target's rest.
func (b Book) Wake(ctx context.Context, t provider.Target) error {
	db, err := b.Open(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `delete from cooldown where provider = $1 and model = $2 and key = $3`, t.Provider, t.Model, t.Key)
	return store.Fault(err)
}
