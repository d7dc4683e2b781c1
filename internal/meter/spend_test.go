package meter

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/store/storetest"
)

// TestSpendIsNeverPassed: of many who charge at once, as many get through as there is
// room for, to the byte.
func TestSpendIsNeverPassed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		now := time.Unix(1_800_000_000, 0)
		const processes, each, size = 4, 15, 7
		const bound = 41*size + 3
		var taken, refused atomic.Int64
		var all sync.WaitGroup
		books := make([]Spend, processes)
		for p := range processes {
			db := open()
			books[p] = Spend{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Account: "lens", MaxBytes: bound, Now: func() time.Time { return now }}
			all.Go(func() {
				for range each {
					err := books[p].Charge(t.Context(), provider.Charge{Bytes: size, Cost: 2})
					switch {
					case err == nil:
						taken.Add(1)
					case cutroom.AsError(err).Code == cutroom.Budget:
						refused.Add(1)
					default:
						t.Error(err, cutroom.AsError(err).Err)
					}
				}
			})
		}
		all.Wait()
		if taken.Load() != 41 || refused.Load() != processes*each-41 {
			t.Errorf("%d taken, %d refused", taken.Load(), refused.Load())
		}
		b := books[0]
		spent := func(want provider.Charge) {
			t.Helper()
			got, err := b.Spent(t.Context())
			if err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		spent(provider.Charge{Bytes: 41 * size, Cost: 82})
		if err := b.Settle(t.Context(), provider.Charge{Bytes: -size, Cost: 5}); err != nil {
			t.Fatal(err)
		}
		spent(provider.Charge{Bytes: 40 * size, Cost: 87})
		if err := b.Charge(t.Context(), provider.Charge{Bytes: size}); err != nil {
			t.Errorf("what was given back is refused: %v", err)
		}
		b.MaxCost = 88
		if err := b.Charge(t.Context(), provider.Charge{Cost: 2}); cutroom.AsError(err).Code != cutroom.Budget {
			t.Errorf("beyond the money: %v", err)
		}
		if err := b.Settle(t.Context(), provider.Charge{Bytes: -bound * 2, Cost: -1000}); err != nil {
			t.Fatal(err)
		}
		spent(provider.Charge{})
		now = now.Add(24 * time.Hour)
		if err := b.Charge(t.Context(), provider.Charge{Bytes: bound}); err != nil {
			t.Errorf("on the next day: %v", err)
		}
		other := b
		other.Account = "agent"
		if err := other.Charge(t.Context(), provider.Charge{Bytes: bound}); err != nil {
			t.Errorf("another account: %v", err)
		}
	})
}

func TestSpendWithoutDatabase(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	s := Spend{Open: func(context.Context) (*sql.DB, error) { return nil, gone }, Now: time.Now}
	_, err := s.Spent(t.Context())
	for _, err := range []error{err, s.Charge(t.Context(), provider.Charge{}), s.Settle(t.Context(), provider.Charge{})} {
		if !errors.Is(err, gone) {
			t.Error(err)
		}
	}
}
