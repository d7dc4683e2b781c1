package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// table is one of our tables: what a backup holds of it, and in which order.
type table struct {
	name    string
	columns []column
}

// column is one column; there are two types that both kinds of database keep alike.
type column struct {
	name   string
	number bool // bigint; else text
}

// blank returns a database in memory that has our migrations up to a version, and no
// more.
func blank(ctx context.Context, version int64) (*sql.DB, error) {
	db, err := connect(":memory:")
	if err != nil {
		return nil, err
	}
	if err := raise(ctx, db, version); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// raise migrates an SQLite database up to a version.
func raise(ctx context.Context, db *sql.DB, version int64) error {
	p, err := provider(SQLite, db)
	if err != nil || version == 0 {
		return err
	}
	_, err = p.UpTo(ctx, version)
	return err
}

// tablesAt are our tables at a version, by name, with how many rows the migrations
// themselves put into each.
func tablesAt(ctx context.Context, version int64) (tables []table, rows map[string]int64, err error) {
	db, err := blank(ctx, version)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	if tables, err = tablesOf(ctx, db); err != nil {
		return nil, nil, err
	}
	rows, err = count(ctx, db, tables)
	return tables, rows, err
}

// tablesOf reads the tables of a database in which there are none but ours.
func tablesOf(ctx context.Context, q querier) ([]table, error) {
	rows, err := q.QueryContext(ctx, `select m.name, c.name, lower(c.type) from sqlite_master m, pragma_table_info(m.name) c
		where m.type = 'table' and m.name not like 'sqlite\_%' escape '\' and m.name <> 'goose_db_version' order by m.name, c.cid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []table
	for rows.Next() {
		var name, col, kind string
		if err := rows.Scan(&name, &col, &kind); err != nil {
			return nil, err
		}
		if kind != "text" && kind != "bigint" {
			return nil, fmt.Errorf("the column %s of %s is %s: a backup knows text and bigint", col, name, kind)
		}
		if n := len(tables); n == 0 || tables[n-1].name != name {
			tables = append(tables, table{name: name})
		}
		t := &tables[len(tables)-1]
		t.columns = append(t.columns, column{col, kind == "bigint"})
	}
	return tables, rows.Err()
}

// querier is a handle, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

func count(ctx context.Context, q querier, tables []table) (map[string]int64, error) {
	rows := map[string]int64{}
	for _, t := range tables {
		var n int64
		if err := q.QueryRowContext(ctx, `select count(*) from `+quote(t.name)).Scan(&n); err != nil {
			return nil, err
		}
		rows[t.name] = n
	}
	return rows, nil
}

// quote is a name as both databases take it, whatever words they keep for themselves.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (t table) names() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, quote(c.name))
	}
	return names
}

// each calls f with every row, in the order of the first column, which is the key. A
// value is nil, an int64 or a string; f may not keep the slice.
func (t table) each(ctx context.Context, q querier, f func(row []any) error) error {
	rows, err := q.QueryContext(ctx, `select `+strings.Join(t.names(), ", ")+` from `+quote(t.name)+` order by 1`)
	if err != nil {
		return err
	}
	defer rows.Close()
	numbers, texts := make([]sql.NullInt64, len(t.columns)), make([]sql.NullString, len(t.columns))
	into, row := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i, c := range t.columns {
		if into[i] = &texts[i]; c.number {
			into[i] = &numbers[i]
		}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.columns {
			switch row[i] = nil; {
			case c.number && numbers[i].Valid:
				row[i] = numbers[i].Int64
			case !c.number && texts[i].Valid:
				row[i] = texts[i].String
			}
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// maxParams bounds the parameters of one statement: SQLite looks for each by its name in a
// list of them.
const maxParams = 200

// filler inserts rows many at a time.
type filler struct {
	q     querier
	t     table
	queue []any
}

func (f *filler) add(ctx context.Context, row []any) error {
	f.queue = append(f.queue, row...)
	if len(f.queue)+len(row) > maxParams {
		return f.flush(ctx)
	}
	return nil
}

func (f *filler) flush(ctx context.Context) error {
	if len(f.queue) == 0 {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, `insert into %s (%s) values `, quote(f.t.name), strings.Join(f.t.names(), ", "))
	for i := range f.queue {
		switch {
		case i == 0:
			text.WriteString("(")
		case i%len(f.t.columns) == 0:
			text.WriteString("), (")
		default:
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "$%d", i+1)
	}
	text.WriteString(")")
	_, err := f.q.ExecContext(ctx, text.String(), f.queue...)
	f.queue = f.queue[:0]
	return err
}
