package meter

import (
	"context"
	"database/sql"
	"math"
	"time"

	"cutroom/internal/provider"
	"cutroom/internal/store"
)

// Spend is what may be sent to providers in a day (UTC), for all processes that share a
// database: bytes, and money in millionths of a currency unit. It is a provider.Ledger.
type Spend struct {
	// Open opens the database when it is first needed.
	Open     func(context.Context) (*sql.DB, error)
	Account  string // whose budget it is
	MaxBytes int64  // 0: no bound
	MaxCost  int64  // 0: no bound
	Now      func() time.Time
}

var _ provider.Ledger = Spend{}

func (s Spend) day() int64 { return s.Now().Unix() / 86400 }

// Charge takes a charge if both bounds hold afterwards, whoever else charges at once.
func (s Spend) Charge(ctx context.Context, c provider.Charge) error {
	db, err := s.Open(ctx)
	if err != nil {
		return err
	}
	room := func(bound, charge int64) int64 {
		if bound == 0 {
			return math.MaxInt64
		}
		return bound - charge
	}
	var taken int64
	err = store.Within(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into provider_spend (account, day, bytes, cost) values ($1, $2, 0, 0) on conflict (account, day) do nothing`, s.Account, s.day())
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `update provider_spend set bytes = bytes + $3, cost = cost + $4 where account = $1 and day = $2 and bytes <= $5 and cost <= $6`,
			s.Account, s.day(), c.Bytes, c.Cost, room(s.MaxBytes, c.Bytes), room(s.MaxCost, c.Cost))
		if err == nil {
			taken, err = res.RowsAffected()
		}
		return err
	})
	switch {
	case err != nil:
		return store.Fault(err)
	case taken == 0:
		return provider.OverBudget()
	}
	return nil
}

// Settle corrects what is spent today.
func (s Spend) Settle(ctx context.Context, c provider.Charge) error {
	db, err := s.Open(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `update provider_spend set bytes = case when bytes + $3 < 0 then 0 else bytes + $3 end, cost = case when cost + $4 < 0 then 0 else cost + $4 end
		where account = $1 and day = $2`, s.Account, s.day(), c.Bytes, c.Cost)
	return store.Fault(err)
}

// Spent returns what was charged and settled today.
func (s Spend) Spent(ctx context.Context) (provider.Charge, error) {
	db, err := s.Open(ctx)
	if err != nil {
		return provider.Charge{}, err
	}
	var c provider.Charge
	err = db.QueryRowContext(ctx, `select coalesce(sum(bytes), 0), coalesce(sum(cost), 0) from provider_spend where account = $1 and day = $2`, s.Account, s.day()).Scan(&c.Bytes, &c.Cost)
	return c, store.Fault(err)
}
