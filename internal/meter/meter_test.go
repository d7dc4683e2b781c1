package meter

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"cutroom/internal/store/storetest"
)

func TestEachLearnsAnotherNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		now := time.Unix(1_800_000_000, 0)
		const processes, calls = 4, 15
		var mu sync.Mutex
		seen := map[int64]int{}
		var all sync.WaitGroup
		for p := range processes {
			db := open()
			m := Meter{Open: func(context.Context) (*sql.DB, error) { return db, nil }}
			keys := []string{"agent/a", "agent/b"}
			if p%2 == 1 {
				keys[0], keys[1] = keys[1], keys[0]
			}
			all.Go(func() {
				for range calls {
					n, err := m.Count(t.Context(), keys, now)
					if err != nil || n["agent/a"] != n["agent/b"] {
						t.Errorf("%v, %v", n, err)
						return
					}
					mu.Lock()
					seen[n["agent/a"]]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if len(seen) != processes*calls || seen[0] != 1 || seen[processes*calls-1] != 1 {
			t.Errorf("%d numbers of %d calls", len(seen), processes*calls)
		}
		db := open()
		m := Meter{Open: func(context.Context) (*sql.DB, error) { return db, nil }}
		used := func(at time.Time, key string) int64 {
			t.Helper()
			n, err := m.Used(t.Context(), []string{key}, at)
			if err != nil {
				t.Fatal(err)
			}
			return n[key]
		}
		if n := used(now, "agent/a"); n != processes*calls {
			t.Errorf("%d are counted", n)
		}
		if n := used(now.Add(time.Hour), "agent/a") + used(now, "agent/c"); n != 0 {
			t.Errorf("%d are counted in another hour, or under another key", n)
		}
		if _, err := m.Count(t.Context(), []string{"agent/c"}, now.Add(30*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n := used(now, "agent/a"); n != 0 {
			t.Errorf("after a day %d are kept", n)
		}
	})
}

func TestMeterWithoutDatabase(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	m := Meter{Open: func(context.Context) (*sql.DB, error) { return nil, gone }}
	if _, err := m.Used(t.Context(), []string{"a"}, time.Unix(0, 0)); !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := m.Count(t.Context(), []string{"a"}, time.Unix(0, 0)); !errors.Is(err, gone) {
		t.Error(err)
	}
}
