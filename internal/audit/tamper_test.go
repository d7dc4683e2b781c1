package audit

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// found is the faults of a report, in short.
func found(r Report) string {
	var list []string
	for _, f := range r.Faults {
		list = append(list, fmt.Sprintf("%s@%d", f.Fault, f.Seq))
	}
	if r.Valid != (len(list) == 0) {
		list = append(list, "valid and faults disagree")
	}
	return strings.Join(list, " ")
}

// swap exchanges the rows of two places.
func swap(a, b int) []string {
	return []string{
		fmt.Sprintf(`update audit_event set seq = 1000000 where seq = %d`, a),
		fmt.Sprintf(`update audit_event set seq = %d where seq = %d`, a, b),
		fmt.Sprintf(`update audit_event set seq = %d where seq = 1000000`, b),
	}
}

// tampering is what somebody who can write the database may do to 12 rows, of which 5
// and 10 are anchored, and what is found.
var tampering = []struct {
	name string
	do   []string
	want string
}{
	{"nothing", nil, ""},
	{"one byte of a text", []string{`update audit_event set outcome = 'ol' where seq = 7`}, "changed@7"},
	{"one byte of a reason in the first row", []string{`update audit_event set reason = 'b' || substr(reason, 2) where seq = 1`}, "changed@1"},
	{"a time by a millisecond", []string{`update audit_event set at = at + 1 where seq = 12`}, "changed@12"},
	{"the principal", []string{`update audit_event set principal_name = 'operator' where seq = 3`}, "changed@3"},
	{"a hash", []string{`update audit_event set hash = '0' || substr(hash, 2) || '0' where seq = 6`}, "changed@6"},
	{"the hash of an anchored row", []string{`update audit_event set hash = '0' || substr(hash, 2) || '0' where seq = 5`}, "anchor@5 changed@5"},
	{"an empty hash at the end", []string{`update audit_event set hash = '' where seq = 12`}, "changed@12 head@12"},
	{"two rows", []string{`update audit_event set tool = 'x' where seq in (2, 9)`}, "changed@2 changed@9"},
	{"two rows in a row", []string{`update audit_event set tool = 'x' where seq in (8, 9)`}, "changed@8 changed@9"},
	{"a row is removed", []string{`delete from audit_event where seq = 7`}, "missing@7"},
	{"the first row is removed", []string{`delete from audit_event where seq = 1`}, "missing@1"},
	{"three rows are removed", []string{`delete from audit_event where seq in (2, 3, 8)`}, "missing@2 missing@8"},
	{"a row is removed and the others move up", []string{
		`delete from audit_event where seq = 7`,
		`update audit_event set seq = -seq where seq > 7`, `update audit_event set seq = -seq - 1 where seq < 0`,
		`update audit_head set seq = 11`,
	}, "changed@7 moved@8 moved@9 anchor@10 moved@10 changed@11"},
	{"neighbours are swapped", swap(6, 7), "moved@6 moved@7"},
	{"the last two are swapped", swap(11, 12), "moved@11 moved@12 head@12"},
	{"two far apart are swapped", swap(3, 8), "moved@3 moved@8"},
	{"a row is put in twice", []string{
		`insert into audit_event select 13, at, type, call_id, parent_id, principal_name, principal_role, tool, revision, kind, input, output, decision, reason, approval_id, grant_id, outcome, run, elapsed_ms, detail, hash from audit_event where seq = 12`,
	}, "extra@13 changed@13"},
	{"a row is put in before the first", []string{
		`insert into audit_event select 0, at, type, call_id, parent_id, principal_name, principal_role, tool, revision, kind, input, output, decision, reason, approval_id, grant_id, outcome, run, elapsed_ms, detail, hash from audit_event where seq = 12`,
	}, "extra@0"},
	{"the tail is cut", []string{`delete from audit_event where seq > 9`}, "cut@10 cut@10"},
	{"the tail is cut, and the head told so", []string{
		`delete from audit_event where seq > 8`,
		`update audit_head set seq = 8, hash = (select hash from audit_event where seq = 8)`,
	}, "cut@9"},
	{"the tail is cut after the last anchor, and the head told so", []string{
		`delete from audit_event where seq > 10`,
		`update audit_head set seq = 10, hash = (select hash from audit_event where seq = 10)`,
	}, ""}, // what no anchor knows: why one is kept elsewhere, and for what matters at once
	{"everything is removed", []string{`delete from audit_event`}, "cut@1 cut@1"},
	{"everything is removed, and the head told so", []string{`delete from audit_event`, `update audit_head set seq = 0, hash = ''`}, "cut@1 head@0"},
	{"everything is removed, the head too", []string{`delete from audit_event`, `delete from audit_head`}, "head@0 cut@1"},
	{"the head is removed", []string{`delete from audit_head`}, "head@0"},
	{"the head is ahead", []string{`update audit_head set seq = 14`}, "cut@13"},
	{"the head is behind", []string{`update audit_head set seq = 11`}, "extra@12"},
	{"the head has another hash", []string{`update audit_head set hash = 'x'`}, "head@12"},
	{"the chain has another name", []string{`update audit_head set chain = 'other'`}, "anchor@10 changed@1 foreign@0"},
}

// anchored is a log with 12 rows of which 5 and 10 are anchored.
func anchored(t *testing.T, open storetest.Open) (*Log, *sql.DB) {
	t.Helper()
	l := opened(t, open)
	db, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := l.Anchors
	for n := 1; n <= 12; n++ {
		l.Anchors = ""
		if n == 5 || n == 10 {
			l.Anchors = kept
		}
		record(t, l, deed(n))
	}
	l.Anchors = kept
	if r := valid(t, l, 12); r.Anchors != 2 {
		t.Fatalf("%+v", r)
	}
	return l, db
}

// TestTampering: whatever is done to the rows is found, and named by its place.
func TestTampering(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		tables := []string{"audit_event", "audit_head"}
		for _, name := range tables {
			must(t, db, `create table kept_`+name+` as select * from `+name)
		}
		for _, row := range tampering {
			for _, q := range row.do {
				must(t, db, q)
			}
			r, err := l.Verify(t.Context())
			if err != nil {
				t.Fatal(row.name, err, cutroom.AsError(err).Err)
			}
			if got := sorted(found(r)); got != sorted(row.want) {
				t.Errorf("%s: found %q, want %q\n%+v", row.name, got, sorted(row.want), r.Faults)
			}
			for _, name := range tables {
				must(t, db, `delete from `+name)
				must(t, db, `insert into `+name+` select * from kept_`+name)
			}
		}
		valid(t, l, 12)
	})
}

// sorted brings faults into one order.
func sorted(faults string) string {
	list := strings.Fields(faults)
	slices.Sort(list)
	return strings.Join(list, " ")
}

func must(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TestEveryColumnIsUnderTheHash: no column can be changed unseen, not even to nothing or
// to something of another type.
func TestEveryColumnIsUnderTheHash(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		for _, column := range strings.FieldsFunc(columns, func(r rune) bool { return strings.ContainsRune(", \n\t", r) }) {
			change := column + ` || 'x'`
			switch column {
			case "seq":
				continue
			case "at", "revision", "elapsed_ms":
				change = column + ` + 1`
				if store.DialectOf(db) == store.SQLite {
					must(t, db, `update audit_event set `+column+` = 'text' where seq = 4`)
					if r, err := l.Verify(t.Context()); err != nil || found(r) != "changed@4" {
						t.Errorf("text in %s: %v, %v", column, r.Faults, err)
					}
					must(t, db, `update audit_event set `+column+` = (select `+column+` from audit_event where seq = 6) where seq = 4`)
				}
			}
			must(t, db, `create table kept as select `+column+` as old from audit_event where seq = 6`)
			must(t, db, `update audit_event set `+column+` = `+change+` where seq = 6`)
			r, err := l.Verify(t.Context())
			if err != nil || !strings.Contains(found(r), "changed@6") {
				t.Errorf("%s: %v, %v", column, r.Faults, err)
			}
			must(t, db, `update audit_event set `+column+` = (select old from kept) where seq = 6`)
			must(t, db, `drop table kept`)
		}
	})
}

// TestRewritten: whoever can compute hashes can write a whole new chain; anchors still
// know the old one.
func TestRewritten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		must(t, db, `delete from audit_event`)
		var chain string
		if err := db.QueryRowContext(t.Context(), `select chain from audit_head`).Scan(&chain); err != nil {
			t.Fatal(err)
		}
		must(t, db, `update audit_head set seq = 0, hash = '`+genesis(chain)+`'`)
		forger := New(Options{Open: l.Open})
		for n := 1; n <= 12; n++ {
			e := deed(n)
			e.Principal = cutroom.Operator
			record(t, forger, e)
		}
		if r, err := forger.Verify(t.Context()); err != nil || !r.Valid {
			t.Fatalf("the forged chain is not whole: %+v, %v", r, err)
		}
		if r, err := l.Verify(t.Context()); err != nil || found(r) != "anchor@5 anchor@10" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestAnchorsAreChecked: a file of anchors that somebody wrote into says so.
func TestAnchorsAreChecked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, _ := anchored(t, open)
		whole, err := os.ReadFile(l.Anchors)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		for name, row := range map[string]struct {
			text []byte
			want string
		}{
			"another seq":     {bytes.Replace(whole, []byte(`"seq":5`), []byte(`"seq":6`), 1), "anchor@5 foreign@0"},
			"another hash":    {bytes.Replace(whole, []byte(`"hash":"`), []byte(`"hash":"0`), 1), "foreign@0 anchor@5"},
			"no anchor":       {append([]byte("{}\n"), whole...), "foreign@0"},
			"no JSON":         {append([]byte("hello\n"), whole...), "foreign@0"},
			"a long line":     {append(bytes.Repeat([]byte("x"), 200_000), append([]byte("\n"), whole...)...), "foreign@0"},
			"cut by a crash":  {append(bytes.Clone(whole), lines[0][:40]...), ""},
			"an empty line":   {append([]byte("\n"), whole...), ""},
			"the newest gone": {lines[0], "anchor@10"},
			"empty":           {nil, "anchor@10"},
		} {
			if err := os.WriteFile(l.Anchors, row.text, 0o600); err != nil {
				t.Fatal(err)
			}
			if r, err := l.Verify(t.Context()); err != nil || found(r) != row.want {
				t.Errorf("%s: %q, %v, want %q", name, found(r), err, row.want)
			}
		}
		if err := os.WriteFile(l.Anchors, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		// The database was replaced by another, whose chain is whole.
		other := opened(t, func(more ...store.Migration) *sql.DB {
			return storetest.At(t, t.TempDir()+"/other.db", more...)
		})
		record(t, other, deed(1), deed(2))
		other.Anchors = l.Anchors
		if r, err := other.Verify(t.Context()); err != nil || found(r) != "foreign@0" {
			t.Errorf("replaced: %+v, %v", r, err)
		}
	})
}

// TestAnchorKeptElsewhere: one that was taken out shows a cut that the state folder does
// not know.
func TestAnchorKeptElsewhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		var b bytes.Buffer
		if err := l.WriteAnchor(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		elsewhere, bad, err := ReadAnchors(&b)
		if err != nil || len(bad) > 0 || len(elsewhere) != 1 || elsewhere[0].Seq != 12 {
			t.Fatalf("%+v, %v, %v", elsewhere, bad, err)
		}
		must(t, db, `delete from audit_event where seq > 10`)
		must(t, db, `update audit_head set seq = 10, hash = (select hash from audit_event where seq = 10)`)
		if r, err := l.Verify(t.Context(), elsewhere...); err != nil || found(r) != "cut@11" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestNothingIsAddedToABrokenEnd: rows that follow a cut would hide it.
func TestNothingIsAddedToABrokenEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		for _, q := range []string{`delete from audit_event where seq > 9`, `delete from audit_head`, `update audit_head set hash = 'x'`} {
			_, db := anchored(t, func(more ...store.Migration) *sql.DB {
				if strings.Contains(t.Name(), string(store.Postgres)) {
					return emptied(t, open(more...))
				}
				return storetest.At(t, t.TempDir()+"/one.db", more...)
			})
			must(t, db, q)
			next := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }})
			for what, err := range map[string]error{"ready": next.Ready(t.Context()), "record": next.Record(t.Context(), deed(13), nil)} {
				if e := cutroom.AsError(err); err == nil || e.Code != cutroom.Precondition || !strings.Contains(e.Hint, "cutroom audit verify") {
					t.Errorf("%s after %s: %v", what, q, err)
				}
			}
			if _, err := next.Query(t.Context(), cutroom.AuditFilter{}); err != nil {
				t.Errorf("the rows cannot be read after %s: %v", q, err)
			}
		}
	})
}

// emptied is a database without rows.
func emptied(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	for _, q := range []string{`delete from audit_event`, `delete from audit_head`} {
		must(t, db, q)
	}
	return db
}
