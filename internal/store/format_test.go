package store

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

// FuzzBackup: whatever a file holds, it is refused with an error for callers, or it is a
// backup that is written again as it was.
func FuzzBackup(f *testing.F) {
	newest, err := newestSchema()
	if err != nil {
		f.Fatal(err)
	}
	tables := []table{ // made by hand: a database is slow under the fuzzer
		{"job", []column{{"id", false}, {"created", true}}},
		{"worker", []column{{"id", false}, {"space", false}, {"beat", true}}},
	}
	var good bytes.Buffer
	s := newScribe(&good)
	err = errors.Join(s.line(headLine{formVersion, newest, SQLite, 1}),
		s.line(tableLine{"job", []string{"id", "created"}}), s.row(tables[0], []any{"a\"\\", int64(math.MinInt64)}), s.row(tables[0], []any{"", nil}),
		s.line(tableLine{"worker", []string{"id", "space", "beat"}}), s.row(tables[1], []any{"\u2028", "\U0001f39e", int64(0)}), s.end())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte(strings.ReplaceAll(good.String(), "worker", "job")))
	f.Add([]byte(strings.ReplaceAll(good.String(), "[", "[\xff")))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := newBackupReader(bytes.NewReader(text))
		h, err := b.head()
		var again bytes.Buffer
		s := newScribe(&again)
		if err == nil {
			err = s.line(h)
		}
		var now table
		if err == nil {
			_, err = b.read(tables, func(t table) error {
				if now = t; t.name == "" {
					return s.end()
				}
				line := tableLine{Table: t.name}
				for _, c := range t.columns {
					line.Columns = append(line.Columns, c.name)
				}
				return s.line(line)
			}, func(row []any) error { return s.row(now, row) })
		}
		if err != nil {
			if e := cutroom.AsError(err); e.Code != cutroom.Invalid || e.Hint == "" {
				t.Errorf("%v", err)
			}
			return
		}
		// Lines that say the same in other bytes have another sum; all else is equal.
		b = newBackupReader(&again)
		if h2, err := b.head(); err != nil || h2 != h {
			t.Fatalf("%v, %v", h2, err)
		}
		if _, err := b.read(tables, func(table) error { return nil }, func([]any) error { return nil }); err != nil {
			t.Error(cmp.Diff(string(text), again.String()), err)
		}
	})
}

// TestBackupsKnowEveryColumn: a migration that keeps something in a type which backups
// do not know, or that refers from table to table, has to teach them.
func TestBackupsKnowEveryColumn(t *testing.T) {
	t.Parallel()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range all[1:] {
		tables, _, err := tablesAt(t.Context(), version)
		if err != nil || len(tables) == 0 {
			t.Fatal(version, err)
		}
		db, err := blank(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			var refers int
			if err := db.QueryRowContext(t.Context(), `select count(*) from pragma_foreign_key_list($1)`, table.name).Scan(&refers); err != nil || refers > 0 {
				t.Errorf("%s refers to another table: restore has to put rows in their order, %v", table.name, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
