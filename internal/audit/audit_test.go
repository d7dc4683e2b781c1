package audit

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// opened is a log over a database of the test's, with a file of anchors.
func opened(t *testing.T, open storetest.Open) *Log {
	t.Helper()
	db := open()
	return New(Options{
		Open:    func(context.Context) (*sql.DB, error) { return db, nil },
		Anchors: filepath.Join(t.TempDir(), "audit.anchors"), Key: bytes.Repeat([]byte{7}, 32),
	})
}

// deed is an event that differs from every other.
func deed(n int) cutroom.AuditEvent {
	return cutroom.AuditEvent{
		Type: cutroom.AuditInvoke, Call: fmt.Sprintf("call%d", n), Principal: cutroom.Agent, Tool: "edit.cut", Revision: 3, Kind: cutroom.Execute,
		Input: cutroom.DigestOf([]byte(fmt.Sprint(n))), Output: cutroom.DigestOf(nil), Decision: "allow", Reason: "an agent may write new files",
		Outcome: cutroom.OutcomeOK, Run: cutroom.DigestOf([]byte("run")), Elapsed: 1500 * time.Millisecond, Detail: "ends \\ \"quoted\" <&> ü 漢 \U0001F3AC",
	}
}

func record(t *testing.T, l *Log, events ...cutroom.AuditEvent) {
	t.Helper()
	for _, e := range events {
		if err := l.Record(t.Context(), e, nil); err != nil {
			t.Fatal(err, cutroom.AsError(err).Err)
		}
	}
}

func valid(t *testing.T, l *Log, rows int64) Report {
	t.Helper()
	r, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err, cutroom.AsError(err).Err)
	}
	if !r.Valid || r.Rows != rows || r.Last != rows {
		t.Fatalf("%+v, want %d valid rows", r, rows)
	}
	return r
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		want := deed(1)
		want.At = time.UnixMilli(1_800_000_000_123).UTC()
		record(t, l, want)
		got, err := l.Query(t.Context(), cutroom.AuditFilter{})
		if err != nil || len(got) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		want.Seq, want.Hash = 1, got[0].Hash
		if got[0] != want {
			t.Errorf("read %+v\nwant %+v", got[0], want)
		}
		valid(t, l, 1)
	})
}

// TestTextsAreMadePlain: what a caller chose cannot carry what a database, a terminal
// or a reader stumbles over.
func TestTextsAreMadePlain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		l.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
		e := deed(1)
		e.Tool = "no\x00such\x1b[31m\u202etool\xff hunter2" + strings.Repeat("ü", 100)
		e.Principal.Name = "\x00" + strings.Repeat("漢", 50)
		e.Input = "not a digest"
		e.Reason = "hunter2"
		record(t, l, e)
		got, err := l.Query(t.Context(), cutroom.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		g := got[0]
		if !strings.HasPrefix(g.Tool, "nosuch[31mtool [redacted]ü") || len(g.Tool) > maxName || !strings.HasSuffix(g.Tool, "ü…") ||
			len(g.Principal.Name) > maxName || g.Input != "" || g.Reason != "[redacted]" {
			t.Errorf("%+v", g)
		}
		valid(t, l, 1)
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		for n := range 6 {
			e := deed(n)
			e.At = time.UnixMilli(int64(1000 * (n + 1)))
			switch n {
			case 1:
				e.Tool, e.Outcome = "edit_cut", "denied"
			case 2:
				e.Principal, e.Parent = cutroom.Operator, "call0"
			case 3:
				e.Type, e.Run = cutroom.AuditKeyRotated, ""
			case 4:
				e.Tool = "edit.join"
			}
			record(t, l, e)
		}
		for _, row := range []struct {
			f    cutroom.AuditFilter
			want string
		}{
			{cutroom.AuditFilter{}, "6 5 4 3 2 1"},
			{cutroom.AuditFilter{Max: 2}, "6 5"},
			{cutroom.AuditFilter{Before: 3}, "2 1"},
			{cutroom.AuditFilter{Since: time.UnixMilli(2000), Until: time.UnixMilli(4000)}, "3 2"},
			{cutroom.AuditFilter{Tool: "edit.*"}, "6 5 4 3 1"},
			{cutroom.AuditFilter{Tool: "edit_*"}, ""},
			{cutroom.AuditFilter{Tool: "edit_cut"}, "2"},
			{cutroom.AuditFilter{Outcome: "denied"}, "2"},
			{cutroom.AuditFilter{Principal: "operator", Role: cutroom.RoleOperator}, "3"},
			{cutroom.AuditFilter{Type: cutroom.AuditKeyRotated}, "4"},
			{cutroom.AuditFilter{Run: "c%"}, ""},
			{cutroom.AuditFilter{Run: cutroom.DigestOf([]byte("run")).Short(), Max: 1}, "6"},
			{cutroom.AuditFilter{Call: "call0"}, "3 1"},
			{cutroom.AuditFilter{Tool: "' or 1=1 --"}, ""},
		} {
			list, err := l.Query(t.Context(), row.f)
			if err != nil {
				t.Fatal(err, cutroom.AsError(err).Err)
			}
			var got []string
			for _, e := range list {
				got = append(got, fmt.Sprint(e.Seq))
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("%+v: rows %v, want %s", row.f, got, row.want)
			}
		}
	})
}

// TestAnchors: what lasts is anchored at once, looks by their number.
func TestAnchors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		l.Now = func() time.Time { return time.UnixMilli(50_000) } // within the age of an anchor
		look := deed(0)
		look.Kind = cutroom.Read
		for range anchorRows - 1 {
			record(t, l, look)
		}
		if a, _, err := l.kept(); err != nil || len(a) != 0 {
			t.Fatalf("%v, %v", a, err)
		}
		record(t, l, look, look, deed(1))
		a, bad, err := l.kept()
		if err != nil || len(bad) > 0 || len(a) != 2 || a[0].Seq != anchorRows || a[1].Seq != anchorRows+2 {
			t.Errorf("%+v, %v, %v", a, bad, err)
		}
		if r := valid(t, l, anchorRows+2); r.Anchors != 2 || r.Newest != anchorRows+2 {
			t.Errorf("%+v", r)
		}
		info, err := os.Stat(l.Anchors)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
}

// TestAppendedRowsAreAnchored: what others append in a transaction of their own, a decision
// say, is anchored with the next row, or when it is asked for; a look appended is not.
func TestAppendedRowsAreAnchored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		l.Now = func() time.Time { return time.UnixMilli(50_000) }
		look := deed(0)
		look.Kind = cutroom.Read
		add := func(e cutroom.AuditEvent) {
			db, err := l.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Within(t.Context(), db, func(tx *sql.Tx) error { _, err := l.Append(t.Context(), tx, e); return err }); err != nil {
				t.Fatal(err)
			}
		}
		newest := func(want int64, anchors int) {
			t.Helper()
			if err := l.Anchor(t.Context()); err != nil {
				t.Fatal(err)
			}
			a, bad, err := l.kept()
			if err != nil || len(bad) > 0 || len(a) != anchors || anchors > 0 && a[anchors-1].Seq != want {
				t.Fatalf("%+v, %v, %v; want row %d", a, bad, err, want)
			}
		}
		record(t, l, look)
		add(look)
		newest(0, 0)
		decided := cutroom.AuditEvent{Type: cutroom.AuditGrantChanged, Principal: cutroom.Operator, Outcome: cutroom.OutcomeOK}
		add(decided)
		newest(3, 1)
		newest(3, 1)
		add(decided)
		record(t, l, look)
		newest(5, 2)
		if r := valid(t, l, 5); r.Anchors != 2 || r.Newest != 5 {
			t.Errorf("%+v", r)
		}
	})
}

// TestPolicyChanges: other rules than when somebody last looked are a row, once for each
// workspace and however many processes look.
func TestPolicyChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open()
		look := func(space, rules string) {
			t.Helper()
			l := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Policy: cutroom.DigestOf([]byte(rules)), Space: space})
			if err := l.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range [][2]string{{"a", "one"}, {"a", "one"}, {"b", "one"}, {"a", "two"}, {"b", "one"}, {"a", "two"}} {
			look(l[0], l[1])
		}
		rows, err := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }}).Query(t.Context(), cutroom.AuditFilter{Type: cutroom.AuditPolicyChanged})
		if err != nil || len(rows) != 3 || !strings.HasPrefix(rows[0].Detail, "workspace a: policy ") || !strings.Contains(rows[0].Detail, " in place of ") {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}

// TestFirstRowOfAnother: whoever writes the first row of all begins the chain.
func TestFirstRowOfAnother(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := opened(t, open)
		db, err := l.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Within(t.Context(), db, func(tx *sql.Tx) error {
			_, err := l.Append(t.Context(), tx, deed(1))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		record(t, l, deed(2))
		valid(t, l, 2)
	})
}
