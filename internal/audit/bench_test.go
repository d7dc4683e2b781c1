package audit

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// TestVerifyMany: a long chain is verified in seconds, on both databases.
func TestVerifyMany(t *testing.T) {
	t.Parallel()
	rows := 10_000
	if testenv.Soak() {
		rows = 100_000
	}
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		db, err := l.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fill(t, l, db, rows)
		began := time.Now()
		valid(t, l, int64(rows))
		t.Logf("%d rows verified in %v", rows, time.Since(began).Round(time.Millisecond))
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`update audit_event set detail = 'x' where seq = %d`, rows-1)); err != nil {
			t.Fatal(err)
		}
		if r, err := l.Verify(t.Context()); err != nil || found(r) != fmt.Sprintf("changed@%d", rows-1) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// fill writes a chain of so many rows, many with one statement.
func fill(t *testing.T, l *Log, db *sql.DB, rows int) {
	t.Helper()
	var chain string
	if err := db.QueryRowContext(t.Context(), `select chain from audit_head`).Scan(&chain); err != nil {
		t.Fatal(err)
	}
	const width, at = 21, 50
	before := genesis(chain)
	for from := 1; from <= rows; from += at {
		var marks []string
		var args []any
		for n := from; n < from+at; n++ {
			r := l.rowOf(deed(n))
			r.Seq = int64(n)
			text, err := r.canonical()
			if err != nil {
				t.Fatal(err)
			}
			before = link(before, text)
			one := make([]string, width)
			for i := range one {
				one[i] = fmt.Sprintf("$%d", len(args)+i+1)
			}
			marks = append(marks, "("+strings.Join(one, ", ")+")")
			args = append(args, append(r.fields(), before)...)
		}
		if _, err := db.ExecContext(t.Context(), `insert into audit_event (`+columns+`) values `+strings.Join(marks, ", "), args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), `update audit_head set seq = $1, hash = $2`, rows, before); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, kind := range []cutroom.Kind{cutroom.Read, cutroom.Execute} {
		b.Run(string(kind), func(b *testing.B) {
			db := storetest.At(b, filepath.Join(b.TempDir(), store.Name))
			l := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Anchors: filepath.Join(b.TempDir(), "a"), Key: []byte("k")})
			e := deed(1)
			e.Kind = kind
			for b.Loop() {
				if err := l.Record(b.Context(), e, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
