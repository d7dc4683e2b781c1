package run

import (
	"context"
	"database/sql"
	"errors"

	"cutroom"
	"cutroom/internal/store"
)

// Purse is a run with what it may spend: a run's own, and those of the runs that it was
// delegated by, up to the first.
type Purse struct {
	RunID string
	Most  Amounts
}

// Charge takes amounts from all purses, or from none. over names the bound that would be
// exceeded, "" when none is.
func (l *Log) Charge(ctx context.Context, purses []Purse, a Amounts) (over string, err error) {
	db, err := l.Open(ctx)
	if err != nil {
		return "", err
	}
	err = store.Within(ctx, db, func(tx *sql.Tx) error {
		for i := len(purses); i > 0 && over == ""; i-- { // the first run's before its children's: no two wait for each other
			p := purses[i-1]
			var now Amounts
			err := tx.QueryRowContext(ctx, `update run set steps = steps + $2, tokens = tokens + $3, cost = cost + $4, bytes = bytes + $5
				where id = $1 returning steps, tokens, cost, bytes`, p.RunID, a.Steps, a.Tokens, a.Cost, a.Bytes).
				Scan(&now.Steps, &now.Tokens, &now.Cost, &now.Bytes)
			if err != nil {
				return err
			}
			over = now.over(p.Most, a)
		}
		if over != "" {
			return errOver
		}
		return nil
	})
	if errors.Is(err, errOver) {
		return over, nil
	}
	return "", store.Fault(err)
}

var errOver = errors.New("over a bound")

// over names the first bound that is exceeded by what was added.
func (a Amounts) over(most, added Amounts) string {
	for _, b := range []struct {
		name             string
		now, most, added int64
	}{
		{"steps", a.Steps, most.Steps, added.Steps},
		{"tokens", a.Tokens, most.Tokens, added.Tokens},
		{"cost", a.Cost, most.Cost, added.Cost},
		{"bytes", a.Bytes, most.Bytes, added.Bytes},
	} {
		if b.most > 0 && b.added > 0 && b.now > b.most {
			return b.name
		}
	}
	return ""
}

// Settle corrects what was charged; amounts may be negative. It never refuses.
func (l *Log) Settle(ctx context.Context, purses []Purse, a Amounts) error {
	db, err := l.Open(ctx)
	if err != nil {
		return err
	}
	err = store.Within(ctx, db, func(tx *sql.Tx) error {
		for i := len(purses); i > 0; i-- {
			if _, err := tx.ExecContext(ctx, `update run set steps = `+added("steps", 2)+`, tokens = `+added("tokens", 3)+`, cost = `+added("cost", 4)+`, bytes = `+added("bytes", 5)+` where id = $1`,
				purses[i-1].RunID, a.Steps, a.Tokens, a.Cost, a.Bytes); err != nil {
				return err
			}
		}
		return nil
	})
	return store.Fault(err)
}

// added is a column with a parameter added, not below zero.
func added(column string, n int) string {
	p := "$" + string(rune('0'+n))
	return `case when ` + column + ` + ` + p + ` < 0 then 0 else ` + column + ` + ` + p + ` end`
}

// Spent is what a run spent by now, with the runs that it delegated to.
func (l *Log) Spent(ctx context.Context, id string) (Amounts, error) {
	i, err := l.Get(ctx, cutroom.Operator, id)
	return i.Spent, err
}
