package cooldown

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cutroom/internal/provider"
	"cutroom/internal/store/storetest"
)

func bookOf(db *sql.DB) Book {
	return Book{Open: func(context.Context) (*sql.DB, error) { return db, nil }}
}

// TestBookIsAMap: whatever is done to two handles on one database, both know the same as
// a map does.
func TestBookIsAMap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		books := []Book{bookOf(open()), bookOf(open())}
		now := time.UnixMilli(1_800_000_000_000)
		var all []provider.Target
		for _, p := range []string{"a", "b"} {
			for _, m := range []string{"m", "ü'\""} {
				for _, k := range []string{"1", "2"} {
					all = append(all, provider.Target{Provider: p, Model: m, Key: k})
				}
			}
		}
		want := map[provider.Target]time.Time{}
		rapid.Check(t, func(rt *rapid.T) {
			b := rapid.SampledFrom(books).Draw(rt, "book")
			target := rapid.SampledFrom(all).Draw(rt, "target")
			if rapid.Bool().Draw(rt, "rest") {
				until := now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(rt, "for")) * time.Second)
				if err := b.Rest(t.Context(), target, until); err != nil {
					rt.Fatal(err)
				}
				want[target] = until
			} else {
				if err := b.Wake(t.Context(), target); err != nil {
					rt.Fatal(err)
				}
				delete(want, target)
			}
			for _, b := range books {
				got, err := b.Resting(t.Context(), all)
				if err != nil || !maps.EqualFunc(got, want, time.Time.Equal) {
					rt.Fatalf("%v, %v; want %v", got, err, want)
				}
			}
		})
	})
}

// TestOldRestsAreForgotten: the table does not grow with the years.
func TestOldRestsAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open()
		b, now := bookOf(db), time.UnixMilli(1_800_000_000_000)
		for i := range 50 {
			target := provider.Target{Provider: "p", Model: "m", Key: string(rune('A' + i))}
			if err := b.Rest(t.Context(), target, now.AddDate(0, i, 0)); err != nil {
				t.Fatal(err)
			}
		}
		var n int
		if err := db.QueryRowContext(t.Context(), `select count(*) from cooldown`).Scan(&n); err != nil || n > 3 {
			t.Errorf("%d are kept, %v", n, err)
		}
	})
}

func TestBookWithoutDatabase(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	opened := 0
	b := Book{Open: func(context.Context) (*sql.DB, error) { opened++; return nil, gone }, Exists: func() bool { return false }}
	target := provider.Target{Provider: "p"}
	if m, err := b.Resting(t.Context(), []provider.Target{target}); err != nil || len(m) != 0 || opened != 0 {
		t.Errorf("%v, %v, opened %d times", m, err, opened)
	}
	b.Exists = nil
	_, err := b.Resting(t.Context(), nil)
	for _, err := range []error{err, b.Rest(t.Context(), target, time.Now()), b.Wake(t.Context(), target)} {
		if !errors.Is(err, gone) {
			t.Error(err)
		}
	}
}
